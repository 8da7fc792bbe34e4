"""One fetch of a forage, as it is saved, and the path of visits that led to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from wayhound.page import LinkKind

Tier = Literal["", "goal", "likely"]
"""The certainty of a goal. Pages of the tier `likely` may be goals; they are reported apart, best first."""

Rendering = Literal["", "perhaps", "rendered", "same", "needed"]
"""The part of a browser in a visit: none; a browser may show more links, and the page waits for a second look; the page
was read as a browser shows it; a browser showed no more than the plain page, which was read; the page needs a browser,
and none was used."""

NOT_CLICKS: frozenset[LinkKind] = frozenset({"start", "redirect"})
"""Kinds of links that nobody clicks."""


PAGE_OUTCOMES = ("ok", "duplicate")
"""Reason codes of visits that read a page."""


@dataclass(frozen=True, slots=True)
class ArchiveRef:
    """The position of a response in the archive: a WARC file of the workspace and the record in it, in bytes."""

    file: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Visit:
    """One request and its result, with the link that led there and the model's reading of the page.

    `number` counts the visits of one site from 0. `parent` is the number of the visit whose page held the link
    (for a redirect, the visit that was redirected; for a retry, the parent of the first attempt). `outcome` is a
    reason code: `ok`, `redirect`, `http_404`, `timeout`, `robots`, … `spent` is False if no request was sent;
    such a visit costs no budget.
    """

    site: str
    number: int
    url: str
    outcome: str
    at: float  # seconds since the epoch
    parent: int | None = None
    link_text: str = ""
    link_region: str = ""
    link_kind: LinkKind = "start"
    depth: int = 0
    attempt: int = 1
    score: float = 0.0
    status: int | None = None
    content_type: str = ""
    title: str = ""
    digest: str = ""
    label: str = ""
    goal: float = 0.0  # probability that this is a goal page
    is_goal: bool = False
    spent: bool = True
    wait_seconds: float = 0.0
    # the target of a redirect; of a goal that is a part of its page, the address of that part
    location: str = ""
    robots: str = ""  # the page's robots rules: `noindex`, `nofollow`, both or none
    not_modified: bool = False  # the server said so, and the page is the copy that was saved before
    archived: ArchiveRef | None = None
    tier: Tier = ""  # by all pages of the site together, where a strategy recognises goals so
    probability: float | None = None  # likewise; None: `goal` is all that is known
    why: tuple[tuple[str, float], ...] = ()  # the reasons of a taught model for a goal, strongest first
    rendering: Rendering = ""

    @property
    def address(self) -> str:
        """The URL, with the fragment of the part of the page that is the goal, if there is one."""
        return self.location if self.location and self.outcome != "redirect" else self.url

    @property
    def is_page(self) -> bool:
        """True if a page was read."""
        return self.outcome in PAGE_OUTCOMES

    @property
    def is_failure(self) -> bool:
        """True if there was neither a page nor a redirect, whether a request was sent or not."""
        return is_failure(self.outcome)


def is_failure(outcome: str) -> bool:
    """Return True for a reason code that stands for neither a page nor a redirect."""
    return outcome not in PAGE_OUTCOMES and outcome != "redirect"


def path_to(number: int | None, read: Callable[[int], Visit]) -> tuple[Visit, ...]:
    """Return the visits from the start page to a visit, redirects included; `read` returns a visit by number."""
    visits: list[Visit] = []
    while number is not None:
        visits.append(read(number))
        number = visits[-1].parent
    return tuple(reversed(visits))

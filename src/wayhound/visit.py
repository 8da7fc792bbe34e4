"""One fetch of a forage, as it is written down."""

from __future__ import annotations

from dataclasses import dataclass

from wayhound.page import LinkKind


@dataclass(frozen=True, slots=True)
class ArchiveRef:
    """Where a response stands in the archive: a WARC file of the workspace and the record in it."""

    file: str
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Visit:
    """One request and what came of it, with the link that led there and what the model thought of it.

    `number` counts the visits of one site from 0. `parent` is the number of the visit whose page held the
    link (for a redirect: the visit that was redirected; for another try: the parent of the first try).
    `outcome` is a reason code: `ok`, `redirect`, `http_404`, `timeout`, `robots`, … `spent` is false when
    no request went out, and then the visit costs no budget.
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
    location: str = ""
    robots: str = ""  # what the page asks of robots: `noindex`, `nofollow`, both or nothing
    not_modified: bool = False  # the server said so, and the page is the one that was kept before
    archived: ArchiveRef | None = None
    why: tuple[tuple[str, float], ...] = ()  # of goals by a taught model: what spoke for it, strongest first

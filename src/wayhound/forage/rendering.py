"""Decides which pages of a site are shown to a browser, and learns from what that brought.

Like Crawlee's adaptive crawler, it samples both ways; unlike it, the plain page is always there to compare with, so
that every rendered page is a sample. Its state is a fold over the visits of a site.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Literal, Self

from wayhound.page import Page, Unreadable
from wayhound.pages.scripted import FEW_LINKS, BrowserNeed
from wayhound.visit import Visit

RenderMode = Literal["auto", "never", "always"]

MAX_SAMPLES = 2  # of pages that might need a browser, until one of them did
LOOK_CLOSER = 10  # pages of a site that are scanned for links made by scripts
_PATIENCE = 2  # rendered pages of a template without any gain, after which it is read plainly …
_RECHECK = 20  # … and every so many pages checked again
_MORE_WORDS = 1.5
MORE_LINKS = 3  # fewer are mostly those of notices about cookies

_NUMBERED = re.compile(r"\d|[-_%].*[-_%]")


@dataclass
class RenderMemory:
    """The need of one site's pages for a browser, by page template.

    A browser costs as much CPU as some 400 plain pages, so a page that only may have more links waits for a second
    look until nothing better is left to fetch. Where a browser has once shown more, such pages are rendered at once. So
    are the first ones at a number of clicks at which the lesson had links made by scripts.
    """

    mode: RenderMode = "auto"
    taught_depths: Collection[int] = ()
    _pages: int = 0
    _unmet: int = 0  # pages that need a browser and had none
    _samples: int = 0
    _gains: int = 0
    _gained: set[str] = field(default_factory=set)  # templates of which a browser showed more
    _vain: Counter[str] = field(default_factory=Counter)  # rendered in vain since the last gain, by template
    _passed: Counter[str] = field(default_factory=Counter)  # read plainly since, though they looked scripted

    @classmethod
    def of_site(
        cls,
        mode: RenderMode,
        start: str,
        taught: Iterable[tuple[str, int, str]],
        earlier: Iterable[Visit],
    ) -> Self:
        """Return what is known when a site begins.

        `taught` are pages of lessons with links made by scripts: their site, clicks from its start, and URL. `earlier`
        are the visits of the site in the run that is repeated.
        """
        pages = list(taught)
        memory = cls(mode, {depth for _, depth, _ in pages})
        memory._gained.update(template(url) for site, _, url in pages if site == start)
        for visit in earlier:
            memory._recall(visit)
        return memory

    @property
    def looks_closer(self) -> bool:
        """True while pages should be scanned for links made by scripts."""
        return self._pages < LOOK_CLOSER or bool(self._gained)

    @property
    def lacks_browser(self) -> bool:
        """True if at least half of the pages need a browser, and none was used."""
        return self._unmet > 0 and 2 * self._unmet >= self._pages

    def is_unmet(self, url: str) -> bool:
        """Return True if a page that seems to need a browser is not known to show as much without."""
        return self._vain[template(url)] < _PATIENCE

    def wants(self, url: str, need: BrowserNeed, depth: int = -1) -> bool:
        """Return True if a page so many clicks from the start should be rendered, by the need its markup shows."""
        if self.mode != "auto":
            return self.mode == "always"
        was_taught = depth in self.taught_depths
        if not need and not self._gained and not was_taught:  # as for nearly all pages
            return False
        kind = template(url)
        if self._vain[kind] >= _PATIENCE:
            if need:
                self._passed[kind] += 1
            return bool(need) and self._passed[kind] % _RECHECK == 0
        if need == "needed" or kind in self._gained:
            return True
        return (was_taught or (need == "perhaps" and self._gains > 0)) and self._may_sample

    def waits(self, url: str, need: BrowserNeed) -> bool:
        """Return True if a page that is not rendered now should get a second look."""
        return self.mode == "auto" and need == "perhaps" and self.wants_again(url)

    def wants_again(self, url: str) -> bool:
        """Return True if a page that waits for a second look should get it."""
        kind = template(url)
        return (
            self.mode != "never"
            and self._vain[kind] < _PATIENCE
            and (kind in self._gained or self._may_sample)
        )

    @property
    def _may_sample(self) -> bool:
        return self._samples < MAX_SAMPLES + 2 * self._gains

    def _recall(self, visit: Visit) -> None:
        """Take in a visit of an earlier run of the site: templates that gained are rendered at once, unsampled."""
        if visit.rendering == "rendered":
            self._gained.add(template(visit.url))
        elif visit.rendering == "same":
            self._vain[template(visit.url)] += 1

    def least_gain(self, depth: int) -> int:
        """Return how many links a browser must add to a page: where links by scripts were taught, one will do."""
        return 1 if depth in self.taught_depths else MORE_LINKS

    def learn(self, visit: Visit) -> None:
        """Take in a visit, new or saved."""
        self._pages += 1
        self._unmet += visit.rendering == "needed"
        if visit.rendering not in ("rendered", "same"):
            return
        kind = template(visit.url)
        self._samples += 1
        if visit.rendering == "same":
            self._vain[kind] += 1
        else:
            self._gains += 1
            self._gained.add(kind)
            self._vain[kind] = 0


def template(url: str) -> str:
    """Return the pattern of a URL that pages made alike share: ``/people/*`` for ``/people/ann``."""
    path = url.partition("://")[2].partition("/")[2]
    path, _, query = path.partition("?")
    segments = path.split("/")
    names = [
        "*" if _NUMBERED.search(name) or (at and at == len(segments) - 1) else name
        for at, name in enumerate(segments)
    ]
    if len(segments) == 1 and path:
        names = ["*"]
    keys = sorted(part.partition("=")[0] for part in query.split("&") if part)
    return "/".join(names) + ("?" + "&".join(keys) if keys else "")


def shows_more(
    plain: Page | Unreadable | None, rendered: Page | Unreadable | None, least: int = MORE_LINKS
) -> bool:
    """Return True if a rendered page has clearly more words, or at least so many more links, than the plain one."""
    if not isinstance(rendered, Page):
        return False
    if not isinstance(plain, Page):
        return True
    known = {link.url for link in plain.links}
    new = len({link.url for link in rendered.links} - known - {plain.url})
    if new >= least or (new and len(known) <= FEW_LINKS):
        return True
    return len(rendered.tokens) > _MORE_WORDS * len(plain.tokens) + 5

"""The links of a site that are followed: scope, traps, and documents on goal pages.

When a list of publications is the goal, the papers that it links to are wanted too (`take_files`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from wayhound.forage.scorer import Rated
from wayhound.page import Link
from wayhound.site import Site

MAX_URL_LENGTH = 512
MAX_PATH_SEGMENTS = 16
MAX_PARAMETERS = 6
MAX_REPEATED_SEGMENTS = 3  # /a/b/a/b/a/ is a loop

_DIGITS = re.compile(r"\d+")
_CALENDAR_PAGE = re.compile(
    r"calend|kalend|(?:^|[/?&_-])(?:agenda|month|monat|mois|mes|week|day|date|year|jahr)(?:[=/_-]|$)"
    r"|(?:19|20)\d\d[-/](?:0?[1-9]|1[0-2])(?:\D|$)",
    re.IGNORECASE,
)


def trap_reason(url: str) -> str | None:
    """Return why this URL looks like a crawler trap, or None.

    `url` must be normalised. This runs for every link of every page, so it slices the URL by hand.
    """
    if len(url) > MAX_URL_LENGTH:
        return "long_url"
    location, _, query = url.partition("?")
    segments = location.split("/")[3:]  # after the scheme, nothing, and the host
    if len(segments) > MAX_PATH_SEGMENTS:
        return "deep_path"
    if len(set(segments)) <= len(segments) - (MAX_REPEATED_SEGMENTS - 1) and _loops(segments):
        return "looping_path"
    if query.count("&") >= MAX_PARAMETERS:
        return "many_parameters"
    return None


def _loops(segments: list[str]) -> bool:
    return max(Counter(filter(None, segments)).values(), default=0) >= MAX_REPEATED_SEGMENTS


@dataclass
class TrapLimits:
    """Limits on the number of pages with the same URL pattern, where patterns can repeat for ever.

    Calendar pages (and archives by date) are counted by their URL with the numbers blanked, pages with several
    parameters by their path. A single parameter (`?id=17`) is not counted: many catalogues number their pages so.
    """

    calendar_pages: int = 30
    parameter_mixes: int = 60
    _fetched: Counter[str] = field(default_factory=Counter)

    def refuses(self, url: str) -> str | None:
        """Return the reason if the limit for this URL's pattern is used up."""
        pattern, limit, reason = self._pattern(url)
        return reason if pattern and self._fetched[pattern] >= limit else None

    def count(self, url: str) -> None:
        """Count a URL that is about to be fetched."""
        pattern, _, _ = self._pattern(url)
        if pattern:
            self._fetched[pattern] += 1

    def _pattern(self, url: str) -> tuple[str, int, str]:
        path, _, query = url.partition("?")
        if _CALENDAR_PAGE.search(url.partition("://")[2].partition("/")[2]):
            return _DIGITS.sub("0", url), self.calendar_pages, "calendar"
        if "&" in query:
            return path, self.parameter_mixes, "parameter_mix"
        return "", 0, ""


_NOT_FOLLOWED = frozenset({"canonical"})  # another name of the page itself


def refusal_reason(site: Site, link: Link) -> str:
    """Return the reason code for not following a link, or an empty string."""
    if link.nofollow:
        return "nofollow"
    if link.kind in _NOT_FOLLOWED:
        return "other_name"
    if not site.covers(link.url):
        return "out_of_scope"
    return trap_reason(link.url) or ""


CERTAIN_GOAL = 1.0  # the score of a goal that is certain
_DOCUMENT = re.compile(r"\.(?:pdf|ps|eps|dvi)(?:\.(?:gz|z))?$", re.IGNORECASE)


def leads_to_document(url: str) -> bool:
    """Return True if the URL ends like that of a PDF or PostScript file, compressed or not."""
    return _DOCUMENT.search(urlsplit(url).path) is not None


def is_goal_document(url: str, score: float) -> bool:
    """Return True if a queued link is a document that a goal page linked to."""
    return score >= CERTAIN_GOAL and leads_to_document(url)


ASKED_FOR = 0.5  # of what the score of a link lacks to 1, where people ask for what it names


def asked_first(
    rated: Sequence[Rated], links: Sequence[Link], is_asked_for: Callable[[Link], bool]
) -> list[Rated]:
    """Return the ratings with higher scores for links that people ask for; no score falls."""
    return [
        replace(new, score=1 - ASKED_FOR * (1 - new.score)) if is_asked_for(link) else new
        for link, new in zip(links, rated, strict=True)
    ]


def documents_first(rated: Sequence[Rated], links: Sequence[Link]) -> list[Rated]:
    """Return the ratings with documents at the top score; they say nothing about pages, so they have no group."""
    return [
        replace(rating, score=CERTAIN_GOAL, groups=()) if leads_to_document(link.url) else rating
        for rating, link in zip(rated, links, strict=True)
    ]

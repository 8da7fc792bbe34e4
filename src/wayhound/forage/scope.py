"""Take the documents that goal pages link to: a list of publications is a goal, its papers are what it is for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from wayhound.forage.scorer import Rated
from wayhound.page import Link
from wayhound.site import Site

MAX_URL_LENGTH = 512
MAX_PATH_SEGMENTS = 16
MAX_PARAMETERS = 6
SAME_SEGMENT = 3  # /a/b/a/b/a/ goes in circles

_DIGITS = re.compile(r"\d+")
_PAGE_OF_TIME = re.compile(
    r"calend|kalend|(?:^|[/?&_-])(?:agenda|month|monat|mois|mes|week|day|date|year|jahr)(?:[=/_-]|$)"
    r"|(?:19|20)\d\d[-/](?:0?[1-9]|1[0-2])(?:\D|$)",
    re.IGNORECASE,
)


def trap_reason(url: str) -> str | None:
    """Why no site needs this URL followed, judged by its looks alone; None when it looks harmless.

    `url` is in normal form. This runs for every link of every page, so it takes the URL apart by hand.
    """
    if len(url) > MAX_URL_LENGTH:
        return "long_url"
    location, _, query = url.partition("?")
    segments = location.split("/")[3:]  # after the scheme, nothing, and the host
    if len(segments) > MAX_PATH_SEGMENTS:
        return "deep_path"
    if len(set(segments)) <= len(segments) - (SAME_SEGMENT - 1) and _loops(segments):
        return "looping_path"
    if query.count("&") >= MAX_PARAMETERS:
        return "many_parameters"
    return None


def _loops(segments: list[str]) -> bool:
    return max(Counter(filter(None, segments)).values(), default=0) >= SAME_SEGMENT


@dataclass
class TrapLimits:
    """How many pages of one shape are worth fetching where shapes can go on for ever.

    Pages of time (calendars, archives by date) and pages that combine parameters are counted by their
    shape: the URL with its numbers blanked, or the path with the names of its parameters. A single
    parameter (`?id=17`) is how many catalogues number their pages, so it is not counted.
    """

    pages_of_time: int = 30
    parameter_mixes: int = 60
    _fetched: Counter[str] = field(default_factory=Counter)

    def refuses(self, url: str) -> str | None:
        """The reason when the limit for this URL's shape is used up."""
        shape, limit, reason = self._shape(url)
        return reason if shape and self._fetched[shape] >= limit else None

    def count(self, url: str) -> None:
        """A URL is about to be fetched."""
        shape, _, _ = self._shape(url)
        if shape:
            self._fetched[shape] += 1

    def _shape(self, url: str) -> tuple[str, int, str]:
        path, _, query = url.partition("?")
        if _PAGE_OF_TIME.search(url.partition("://")[2].partition("/")[2]):
            return _DIGITS.sub("0", url), self.pages_of_time, "calendar"
        if "&" in query:
            return path, self.parameter_mixes, "parameter_mix"
        return "", 0, ""


NOT_FOLLOWED = frozenset({"canonical"})  # another name of the page itself


def refusal_reason(site: Site, link: Link) -> str:
    """Why a link is not followed, or an empty string."""
    if link.nofollow:
        return "nofollow"
    if link.kind in NOT_FOLLOWED:
        return "other_name"
    if not site.covers(link.url):
        return "out_of_scope"
    return trap_reason(link.url) or ""


MOST = 1.0  # the score of a goal that is certain
_DOCUMENT = re.compile(r"\.(?:pdf|ps|eps|dvi)(?:\.(?:gz|z))?$", re.IGNORECASE)


def leads_to_document(url: str) -> bool:
    """By its address: PDF and PostScript, packed or not."""
    return _DOCUMENT.search(urlsplit(url).path) is not None


def is_goal_document(url: str, score: float) -> bool:
    """Whether a waiting link is a document that a goal page linked to."""
    return score >= MOST and leads_to_document(url)


def documents_first(rated: Sequence[Rated], links: Sequence[Link]) -> list[Rated]:
    """Nothing is worth more than a document on a goal page. It tells nothing of pages, so it has no group."""
    return [
        replace(each, score=MOST, groups=()) if leads_to_document(link.url) else each
        for each, link in zip(rated, links, strict=True)
    ]

"""Rules that keep a forage out of endless parts of a site: calendars, parameter mazes, looping paths."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

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

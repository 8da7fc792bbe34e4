"""A light guess at the fields of a citation of which only the text is known.

The field models do better and are used where a paper is read; this keeps matching possible without them.
"""

from __future__ import annotations

import re
from dataclasses import replace

from trailmark.organise.citations.citation import Citation

_LABEL = re.compile(r"^\s*(?:\[[^\]]{1,30}\]|\(?\d{1,3}[.)])\s*")
_QUOTED = re.compile(r"[\"“«]|``|''(?=\w)")
_UNQUOTED = re.compile(r"[\"”»]|''")
_YEAR_PART = re.compile(r"\(?\b(?:1[89]|20)\d\d[a-z]?\b\)?[.,:]?")
_PAGES = re.compile(r"(?:\bpp?\.?|\bpages?)\s*(\d+\s*[-–—]+\s*\d+|\d+)|[:,]\s*(\d+\s*[-–—]+\s*\d+)")
_VOLUME = re.compile(
    r"\bvol(?:ume|\.)?\s*(\d+)|(?<=[\s,])(\d{1,4})\s*(?:\(\d+[-–\d]*\))?\s*[:,]\s*(?:pp?\.?\s*)?\d+\s*[-–—]"
)
# A full stop that ends a field: not after an initial or an abbreviation that stands among names.
_STOP = re.compile(r"(?<![\s.][A-Za-z])(?<!^[A-Za-z])(?<!\bal)(?<!\beds)(?<!\bed)[.:?!]['\"”]*\s+(?=\S)")
_NUMBERS = re.compile(r"\bvol|\bpp?\.|\bpages?\b|\d")


def guess_fields(citation: Citation) -> Citation:
    """The citation with authors, title, venue, year, pages and volume as far as its text shows them."""
    text = _LABEL.sub("", " ".join(citation.text.split()))
    authors, title, rest = _cut(text)
    year = _YEAR_PART.search(rest) or _YEAR_PART.search(text)
    pages, volume = _PAGES.search(rest), _VOLUME.search(rest)
    return replace(
        citation,
        authors=authors,
        title=title,
        venue=_venue(rest),
        year=citation.year or (year[0] if year else ""),
        pages=citation.pages or (pages[1] or pages[2] if pages else ""),
        volume=citation.volume or (volume[1] or volume[2] if volume else ""),
    )


def _cut(text: str) -> tuple[str, str, str]:
    """Authors, title and the rest: by quotation marks, by an early year, else by the first full stops."""
    quoted = _QUOTED.search(text)
    if quoted:
        end = _UNQUOTED.search(text, quoted.end())
        stop = end.start() if end else len(text)
        return text[: quoted.start()], text[quoted.end() : stop], text[end.end() if end else stop :]
    year = _YEAR_PART.search(text)
    if year and year.end() < 0.6 * len(text) and not _STOP.search(text[: year.start()].rstrip(" .(")):
        title, rest = _until_stop(text[year.end() :].lstrip(" .,:;)"))
        return text[: year.start()], title, f"{rest} {year[0]}"
    authors, rest = _until_stop(text)
    title, rest = _until_stop(rest)
    return authors, title, rest


def _until_stop(text: str) -> tuple[str, str]:
    stop = _STOP.search(text)
    return (text[: stop.start()], text[stop.end() :]) if stop else (text, "")


def _venue(rest: str) -> str:
    """Up to the first number that is a volume, year or page."""
    found = _NUMBERS.search(rest)
    return rest[: found.start()] if found and found.start() > 3 else rest

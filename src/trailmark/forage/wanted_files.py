"""Take the documents that goal pages link to: a list of publications is a goal, its papers are what it is for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from trailmark.forage.scorer import Rated
from trailmark.page import Link

MOST = 1.0  # the score of a goal that is certain
_DOCUMENT = re.compile(r"\.(?:pdf|ps|eps|dvi)(?:\.(?:gz|z))?$", re.IGNORECASE)


def leads_to_document(url: str) -> bool:
    """By its address: PDF and PostScript, packed or not."""
    return _DOCUMENT.search(urlsplit(url).path) is not None


def is_wanted_file(url: str, score: float) -> bool:
    """Whether a waiting link is a document that a goal page linked to."""
    return score >= MOST and leads_to_document(url)


def files_first(rated: Sequence[Rated], links: Sequence[Link]) -> list[Rated]:
    """Nothing is worth more than a document on a goal page. It tells nothing of pages, so it has no group."""
    return [
        replace(each, score=MOST, groups=()) if leads_to_document(link.url) else each
        for each, link in zip(rated, links, strict=True)
    ]

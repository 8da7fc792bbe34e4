"""Counts the values of facets over all that a query matches."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from trailmark.organise.search.engine import tantivy
from trailmark.organise.search.opened import Opened

MOST_YEARS = 100
_EACH_SEGMENT = 2_000  # values that each file may tell of: enough for the sums to be right


def count_facets(
    opened: Opened, matching: tantivy.Query, names: Iterable[str], count: int
) -> dict[str, list[tuple[str, int]]]:
    """For each facet its commonest values with their counts; years in order, the newest first."""
    known = {"year", *opened.followed.facets}
    asked = {name: _asked(name, count) for name in dict.fromkeys(names) if name in known}
    if not asked:
        return {}
    told = opened.searcher.aggregate(matching, asked)
    return {name: _told(name, told[name]["buckets"]) for name in asked}


def _asked(name: str, count: int) -> dict[str, Any]:
    if name == "year":
        return {"terms": {"field": "year", "size": MOST_YEARS, "order": {"_key": "desc"}}}
    size = max(1, count)
    return {"terms": {"field": f"facet.{name}", "size": size, "segment_size": max(_EACH_SEGMENT, size)}}


def _told(name: str, buckets: list[dict[str, Any]]) -> list[tuple[str, int]]:
    if name == "year":
        return [(str(int(bucket["key"])), bucket["doc_count"]) for bucket in buckets]
    counted = [(str(bucket["key"])[1:], bucket["doc_count"]) for bucket in buckets]
    return sorted(counted, key=lambda entry: (-entry[1], entry[0]))

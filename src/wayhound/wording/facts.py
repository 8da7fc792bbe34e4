"""Facts in words: how the search for them went, for each row and for all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from wayhound.app.facts import ExtractedFacts, FactRow, Wanted, WideRow
from wayhound.wording.quantities import count

FOUND = "found"


def format_extracted(done: ExtractedFacts, wanted: Wanted) -> str:
    """Return `Read 12 pages: 10 descriptions of 9 organisations.`"""
    things = f"{done.entities:,} {(wanted.kind.label if done.entities == 1 else wanted.kind.plural).lower()}"
    stopped = " Stopped: the same command goes on." if done.stopped else ""
    return (
        f"Read {count(done.pages, 'page')}: {count(done.descriptions, 'description')} of {things}.{stopped}"
    )


def format_row(row: FactRow, fields: Sequence[str]) -> str:
    """Return how the search for one row went: `found`, `found, but no phone`, or why there is nothing."""
    missing = row.missing(fields)
    if not missing:
        return FOUND
    if len(missing) < len(fields):
        return f"found, but no {' or '.join(missing)}"
    return f"nothing found ({row.reason})" if row.reason else "nothing found"


def format_wide_row(row: WideRow, fields: Sequence[str], visited: Iterable[str]) -> str:
    """Return how the search for a row of a person's own table went."""
    if not row.start:
        return "no web address in this row"
    if row.facts is not None:
        return format_row(row.facts, fields)
    return "nothing found: no page could be read" if row.start in set(visited) else "not visited yet"

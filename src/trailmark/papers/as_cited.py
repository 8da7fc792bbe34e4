"""What a paper does not say of itself, as those who cite it say: most papers do not print where they appeared."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from trailmark.record import Record, Span, Value
from trailmark.store.papers import PaperStore

AS_CITED = Span("urn:trailmark:as-cited")
"""The place of values that stand in no page of the paper itself."""

_MISSED = ("year", "journal", "booktitle", "institution", "volume", "number", "pages", "publisher")
_VENUES = frozenset({"journal", "booktitle", "institution"})


def as_cited(papers: PaperStore, record: Record) -> Record:
    """The record with year, venue, volume and pages where it lacks them.

    Of several opinions the most frequent is taken. One voice is believed by half, many that agree by more.
    """
    if record.kind != "paper" or not _lacks_something(record):
        return record
    cited = [each.fields for each in papers.cited_by(record.id) if each.paper != record.id]
    has_venue = any(record.fields.get(name) for name in _VENUES)
    found: dict[str, tuple[Value, ...]] = {}
    for name in _MISSED:
        opinions = Counter(fields[name][0].text for fields in cited if fields.get(name))
        if opinions and not record.fields.get(name) and not (name in _VENUES and has_venue):
            text, votes = opinions.most_common(1)[0]
            found[name] = (Value(text, votes / (opinions.total() + 1), AS_CITED),)
            has_venue = has_venue or name in _VENUES
    return replace(record, fields=record.fields | found)


def _lacks_something(record: Record) -> bool:
    return not record.fields.get("year") or not any(record.fields.get(name) for name in _VENUES)

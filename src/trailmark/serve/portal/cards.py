"""A record in a list: enough to know whether it is the one."""

from __future__ import annotations

from dataclasses import dataclass

from trailmark.record import Record
from trailmark.record_kinds import KindSpec
from trailmark.serve.portal.addresses import record_url

_MOST_PEOPLE = 8
_VENUES = ("journal", "booktitle", "institution", "publisher")


@dataclass(frozen=True, slots=True)
class Card:
    """What a list shows of a record. `summary` is the beginning of its longest text."""

    kind: str
    kind_label: str
    id: str
    title: str
    url: str
    people: tuple[str, ...] = ()
    more_people: int = 0
    year: str = ""
    venue: str = ""
    summary: str = ""


def card_of(record: Record, spec: KindSpec, summary_chars: int = 240) -> Card:
    people = [value.text for field in spec.with_role("people") for value in record.fields.get(field.name, ())]
    return Card(
        record.kind,
        spec.label,
        record.id,
        (record.first(spec.title) if spec.title else "") or record.id,
        record_url(record.kind, record.id),
        tuple(people[:_MOST_PEOPLE]),
        max(0, len(people) - _MOST_PEOPLE),
        _first(record, [field.name for field in spec.with_role("date")]),
        _venue(record, spec),
        shortened(_first(record, [field.name for field in spec.with_role("text")]), summary_chars),
    )


def shortened(text: str, most: int) -> str:
    """The beginning of a text, cut at a word."""
    plain = " ".join(text.split())
    return plain if len(plain) <= most else plain[:most].rsplit(" ", 1)[0].rstrip(" ,;:") + " …"


def _venue(record: Record, spec: KindSpec) -> str:
    """Of a paper where it appeared; of anything else what its facets say."""
    if record.kind == "paper":
        return _first(record, _VENUES)
    facets = [record.first(field.name) for field in spec.with_role("facet")]
    return " · ".join(filter(None, facets))


def _first(record: Record, names: list[str] | tuple[str, ...]) -> str:
    return next((text for name in names if (text := record.first(name))), "")

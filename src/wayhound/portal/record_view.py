"""A record as its page shows it: every value with how sure it is and where it was read."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from wayhound.app.papers.works import AS_CITED
from wayhound.portal.addresses import doi_url, field_query, outside_url, record_url, search_url
from wayhound.record import Record, Span, Value
from wayhound.record_kinds import FieldSpec, KindSpec

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


SURE, LIKELY = 0.9, 0.6
_SEARCHED = {"people": "author", "date": "year"}
_SAME_VALUES = 50


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where a value stands. `image_url` shows the page with the place marked, where there are pages."""

    url: str
    page: int
    start: int
    end: int
    box: tuple[float, float, float, float] | None = None
    image_url: str = ""


@dataclass(frozen=True, slots=True)
class ShownValue:
    """A value, what a click on it leads to, how sure it is and where it was read."""

    text: str
    confidence: float
    url: str = ""
    leads_away: bool = False
    evidence: Evidence | None = None
    as_cited: bool = False  # by papers that cite this one

    @property
    def certainty(self) -> str:
        """Confidence as a word."""
        return "sure" if self.confidence >= SURE else "likely" if self.confidence >= LIKELY else "unsure"


@dataclass(frozen=True, slots=True)
class ShownField:
    name: str
    label: str
    role: str
    values: tuple[ShownValue, ...]


def shown_fields(record: Record, spec: KindSpec, has_images: bool) -> tuple[ShownField, ...]:
    """The declared fields in their order, then the others."""
    declared = [field.name for field in spec.fields if field.name in record.fields]
    others = [name for name in record.fields if name not in declared]
    return tuple(
        _field(record, spec.field(name), has_images) for name in (*declared, *others) if record.fields[name]
    )


def _field(record: Record, field: FieldSpec, has_images: bool) -> ShownField:
    values = record.fields[field.name][:_SAME_VALUES]
    shown = tuple(_value(record, field, value, has_images) for value in values)
    return ShownField(field.name, field.shown, field.role, shown)


def _value(record: Record, field: FieldSpec, value: Value, has_images: bool) -> ShownValue:
    away = (
        outside_url(value.text)
        if field.role == "link"
        else doi_url(value.text)
        if field.name == "doi"
        else ""
    )
    within = "" if away else _search_for(field, value.text)
    cited = value.source == AS_CITED
    evidence = _evidence(record, value.source, has_images) if value.source and not cited else None
    confidence = round(value.confidence, 4)
    return ShownValue(value.text, confidence, away or within, bool(away), evidence, cited)


def _search_for(field: FieldSpec, text: str) -> str:
    """People, years and facets lead to all records that share them."""
    if field.role == "facet" and len(text) < 200:
        return search_url(field_query(field.name, text))
    named = _SEARCHED.get(field.role)
    return search_url(field_query(named, text)) if named and text.strip() else ""


def _evidence(record: Record, span: Span, has_images: bool) -> Evidence:
    image = page_image_url(record, span.page, span.box) if has_images and span.page else ""
    return Evidence(outside_url(span.url), span.page, span.start, span.end, span.box, image)


def page_image_url(record: Record, page: int, box: tuple[float, float, float, float] | None = None) -> str:
    base = f"{record_url(record.kind, record.id)}/pages/{page}.png"
    return f"{base}?{urlencode({'box': ','.join(f'{side:.1f}' for side in box)})}" if box else base

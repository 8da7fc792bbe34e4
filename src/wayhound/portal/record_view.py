"""A record as lists and its own page show it: every value with its confidence and where it was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from wayhound.app.papers.works import AS_CITED
from wayhound.pages.prose import shorten
from wayhound.portal.addresses import doi_url, field_query, outside_url, record_url, search_url
from wayhound.record import Record, Span, Value
from wayhound.record_kinds import FieldSpec, KindSpec

_MOST_PEOPLE = 8
_MOST_VALUES = 50
_VENUES = ("journal", "booktitle", "institution", "publisher")
_SEARCHED = {"people": "author", "date": "year"}

SURE, LIKELY = 0.9, 0.6


@dataclass(frozen=True, slots=True)
class Card:
    """A record in a list. `summary` is the beginning of its first text."""

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
    site: str = ""


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
        shorten(_first(record, [field.name for field in spec.with_role("text")]), summary_chars),
        record.site if record.kind == "page" else "",
    )


def _venue(record: Record, spec: KindSpec) -> str:
    """Return where a paper appeared; of other kinds the values of their facets. A page says enough by its site."""
    if record.kind == "paper":
        return _first(record, _VENUES)
    facets = [record.first(field.name) for field in spec.with_role("facet") if not field.fact]
    return "" if record.kind == "page" else " · ".join(filter(None, facets))


def _first(record: Record, names: Sequence[str]) -> str:
    return next((text for name in names if (text := record.first(name))), "")


@dataclass(frozen=True, slots=True)
class Evidence:
    """The place of a value. `image_url` shows the page of a document with the place marked."""

    url: str
    page: int
    start: int
    end: int
    box: tuple[float, float, float, float] | None = None
    image_url: str = ""


@dataclass(frozen=True, slots=True)
class ShownValue:
    """A value, the target of a click on it, its confidence and where it was read."""

    text: str
    confidence: float
    url: str = ""
    leads_away: bool = False
    evidence: Evidence | None = None
    as_cited: bool = False  # by papers that cite this one

    @property
    def certainty(self) -> str:
        """The confidence as a word."""
        return "sure" if self.confidence >= SURE else "likely" if self.confidence >= LIKELY else "unsure"


@dataclass(frozen=True, slots=True)
class ShownField:
    name: str
    label: str
    role: str
    values: tuple[ShownValue, ...]


def shown_fields(record: Record, spec: KindSpec, has_images: bool) -> tuple[ShownField, ...]:
    """Return the declared fields in their order, then the others."""
    declared = [field.name for field in spec.fields if field.name in record.fields]
    others = [name for name in record.fields if name not in declared]
    return tuple(
        _shown_field(record, spec.field(name), has_images)
        for name in (*declared, *others)
        if record.fields[name]
    )


def _shown_field(record: Record, field: FieldSpec, has_images: bool) -> ShownField:
    values = record.fields[field.name][:_MOST_VALUES]
    shown = tuple(_shown_value(record, field, value, has_images) for value in values)
    return ShownField(field.name, field.shown, field.role, shown)


def _shown_value(record: Record, field: FieldSpec, value: Value, has_images: bool) -> ShownValue:
    away = _address(field, value.text)
    cited = value.source == AS_CITED
    evidence = _evidence(record, value.source, has_images) if value.source and not cited else None
    return ShownValue(
        value.text,
        round(value.confidence, 4),
        away or _search_for(field, value.text),
        leads_away=bool(away),
        evidence=evidence,
        as_cited=cited,
    )


def _address(field: FieldSpec, text: str) -> str:
    """Return the web address that a value is or stands for; empty for other values."""
    if field.role == "link":
        return outside_url(text)
    return doi_url(text) if field.name == "doi" else ""


def _search_for(field: FieldSpec, text: str) -> str:
    """Return a search for all records with the same person, year or facet value."""
    if field.role == "facet" and len(text) < 200:
        return search_url(field_query(field.name, text))
    name = _SEARCHED.get(field.role)
    return search_url(field_query(name, text)) if name and text.strip() else ""


def _evidence(record: Record, span: Span, has_images: bool) -> Evidence | None:
    """Return the place of a value; None if it is no more than the page as a whole."""
    if not (span.page or span.end):
        return None
    image = page_image_url(record, span.page, span.box) if has_images and span.page else ""
    return Evidence(outside_url(span.url), span.page, span.start, span.end, span.box, image)


def page_image_url(record: Record, page: int, box: tuple[float, float, float, float] | None = None) -> str:
    base = f"{record_url(record.kind, record.id)}/pages/{page}.png"
    return f"{base}?{urlencode({'box': ','.join(f'{side:.1f}' for side in box)})}" if box else base

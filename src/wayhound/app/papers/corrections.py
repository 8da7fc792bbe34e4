"""What people put right, applied to what was read: a correction outlives every reading."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from wayhound.errors import UsageError
from wayhound.papers.paper import Fields, ReadPaper, derived_fields
from wayhound.papers.tagged import REFERENCE_FIELDS
from wayhound.record import Span, Value
from wayhound.record_kinds import KINDS
from wayhound.store.papers import Correction
from wayhound.text.numbers import parse_year

KIND = "kind"
"""Not a field that is read: what a person says a file is, `paper` or `document`."""

_OF_REFERENCE = re.compile(r"(\d+)\.(\w+)")
_REFERENCE_FIELDS = (*REFERENCE_FIELDS, "year", "number")
_OF_THE_FILE = frozenset({"url", "file", "file_type", "page_count", "remark", "reason"})
_SURE = 1.0
_LONGEST = 20_000  # characters of a value
# Fields worked out from others, and from which.
_REFERENCE_ORIGINS = {
    "year": ("date", "booktitle", "note"),
    "number": ("volume",),
    "venue": ("journal", "booktitle", "tech"),
    "venue_kind": ("journal", "booktitle", "tech", "publisher", "note"),
}


@dataclass(frozen=True, slots=True)
class FieldPath:
    """A field of a paper (`title`), or of one of its references, from 1 (`3.title`)."""

    name: str
    reference: int = 0

    @classmethod
    def read(cls, text: str) -> FieldPath:
        """A sentence says which fields there are, where this is none of them."""
        found = _OF_REFERENCE.fullmatch(text)
        path = cls(found[2], int(found[1])) if found else cls(text)
        known = _REFERENCE_FIELDS if found else paper_fields()
        if path.name not in known or (found and not path.reference):
            of = "a reference" if found else "a paper"
            raise UsageError(
                f"{text!r} is no field of {of} that can be corrected. Fields are {', '.join(known)}; those of "
                "a reference have its number before them, as in 3.title."
            )
        return path


def paper_fields() -> tuple[str, ...]:
    """The fields of a paper that a person may correct."""
    return tuple(spec.name for spec in KINDS["paper"].fields if spec.name not in _OF_THE_FILE)


def checked_values(values: Iterable[str]) -> tuple[str, ...]:
    """Values on one line each, without what cannot be printed; empty ones are left out."""
    lines = ("".join(letter if letter.isprintable() else " " for letter in value) for value in values)
    kept = tuple(text for line in lines if (text := " ".join(line.split())))
    if any(len(text) > _LONGEST for text in kept):
        raise UsageError(f"A value may have {_LONGEST:,} characters at most.")
    return kept


def corrected_paper(read: ReadPaper, corrections: Iterable[Correction]) -> ReadPaper:
    """What was read, with all that people said of it."""
    own, of_references = latest(corrections)
    references = tuple(
        replace(each, fields=corrected_reference(each.fields, of_references.get(number, {})))
        for number, each in enumerate(read.references, start=1)
    )
    return replace(read, fields=corrected_fields(read.fields, own), references=references)


def latest(
    corrections: Iterable[Correction],
) -> tuple[dict[str, tuple[str, ...]], dict[int, dict[str, tuple[str, ...]]]]:
    """The last word on each field that is read: of the paper, and of its references by number."""
    own: dict[str, tuple[str, ...]] = {}
    of_references: dict[int, dict[str, tuple[str, ...]]] = {}
    for each in (each for each in corrections if each.field != KIND):
        path = FieldPath.read(each.field)
        told = of_references.setdefault(path.reference, {}) if path.reference else own
        told[path.name] = each.after
    return own, of_references


def corrected_fields(fields: Fields, told: Mapping[str, tuple[str, ...]]) -> Fields:
    """Fields of a paper, as people say they are; the year follows the date."""
    new = fields | {name: _as_told(fields.get(name, ()), texts) for name, texts in told.items()}
    if "date" in told and "year" not in told:
        years = [replace(value, text=str(year)) for value in new["date"] if (year := parse_year(value.text))]
        new["year"] = tuple(years[:1])
    return {name: values for name, values in new.items() if values}


def corrected_reference(fields: Fields, told: Mapping[str, tuple[str, ...]]) -> Fields:
    """Fields of a reference, as people say they are; what is worked out from them follows."""
    if not told:
        return fields
    new = fields | {name: _as_told(fields.get(name, ()), texts) for name, texts in told.items()}
    derived = derived_fields({name: values for name, values in new.items() if values})
    for name, origins in _REFERENCE_ORIGINS.items():
        if name not in told and not told.keys().isdisjoint(origins):
            new[name] = derived.get(name, ())
    return {name: values for name, values in new.items() if values}


def _as_told(before: Sequence[Value], texts: Sequence[str]) -> tuple[Value, ...]:
    """What people say is sure. It stands where the same text was read, or else where the field was."""
    places: dict[str, Span | None] = {value.text: value.source for value in before}
    somewhere = before[0].source if before else None
    return tuple(Value(text, _SURE, places.get(text, somewhere)) for text in texts)

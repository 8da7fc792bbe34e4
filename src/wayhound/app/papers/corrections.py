"""Corrections of people, applied to what was read; a correction holds for every later reading."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from wayhound.errors import UsageError
from wayhound.papers.paper import Fields, ReadPaper, derived_fields
from wayhound.papers.tagged import REFERENCE_FIELDS
from wayhound.record import Span, Value
from wayhound.record_kinds import KINDS
from wayhound.store.papers import PaperCorrection
from wayhound.text.numbers import parse_year

KIND = "kind"
"""The pseudo-field of a person's decision that a file is a `paper` or a `document`."""

_REFERENCE_FIELD = re.compile(r"(\d+)\.(\w+)")
_REFERENCE_FIELDS = (*REFERENCE_FIELDS, "year", "number")
_FILE_FIELDS = frozenset({"url", "file", "file_type", "page_count", "remark", "reason"})
_CONFIDENCE = 1.0
_MAX_LENGTH = 20_000  # characters of a value
# Derived field → fields that it is derived from.
_DERIVED_FROM = {
    "year": ("date", "booktitle", "note"),
    "number": ("volume",),
    "venue": ("journal", "booktitle", "tech"),
    "venue_kind": ("journal", "booktitle", "tech", "publisher", "note"),
}


FieldTexts = dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class FieldPath:
    """A field of a paper (`title`), or of one of its references, numbered from 1 (`3.title`)."""

    name: str
    reference: int = 0

    @classmethod
    def parse(cls, text: str) -> FieldPath:
        """Return the path of a field. Raises UsageError, with the fields that there are, if it is unknown."""
        match = _REFERENCE_FIELD.fullmatch(text)
        path = cls(match[2], int(match[1])) if match else cls(text)
        fields = _REFERENCE_FIELDS if match else paper_fields()
        if path.name not in fields or (match and not path.reference):
            owner = "a reference" if match else "a paper"
            raise UsageError(
                f"{text!r} is not a field of {owner} that can be corrected. These are {', '.join(fields)}. "
                "For a reference, put its number before the field, as in 3.title."
            )
        return path


def paper_fields() -> tuple[str, ...]:
    """Return the fields of a paper that can be corrected."""
    return tuple(spec.name for spec in KINDS["paper"].fields if spec.name not in _FILE_FIELDS)


def check_values(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values on one line each, without control characters; empty ones are left out.

    Raises UsageError if one is too long.
    """
    lines = ("".join(letter if letter.isprintable() else " " for letter in value) for value in values)
    kept = tuple(text for line in lines if (text := " ".join(line.split())))
    if any(len(text) > _MAX_LENGTH for text in kept):
        raise UsageError(f"A value may have at most {_MAX_LENGTH:,} characters.")
    return kept


def correct_paper(read: ReadPaper, corrections: Iterable[PaperCorrection]) -> ReadPaper:
    """Return what was read with all corrections applied."""
    own, by_reference = latest(corrections)
    references = tuple(
        replace(reference, fields=correct_reference(reference.fields, by_reference.get(number, {})))
        for number, reference in enumerate(read.references, start=1)
    )
    return replace(read, fields=correct_fields(read.fields, own), references=references)


def latest(corrections: Iterable[PaperCorrection]) -> tuple[FieldTexts, dict[int, FieldTexts]]:
    """Return the latest correction of each field: of the paper, and of its references by number."""
    own: FieldTexts = {}
    by_reference: dict[int, FieldTexts] = {}
    for correction in corrections:
        if correction.field != KIND:
            path = FieldPath.parse(correction.field)
            texts = by_reference.setdefault(path.reference, {}) if path.reference else own
            texts[path.name] = correction.after
    return own, by_reference


def correct_fields(fields: Fields, corrections: Mapping[str, tuple[str, ...]]) -> Fields:
    """Return the fields of a paper with corrections; the year is derived again from a corrected date."""
    new = fields | {name: _values(fields.get(name, ()), texts) for name, texts in corrections.items()}
    if "date" in corrections and "year" not in corrections:
        years = [replace(value, text=str(year)) for value in new["date"] if (year := parse_year(value.text))]
        new["year"] = tuple(years[:1])
    return {name: values for name, values in new.items() if values}


def correct_reference(fields: Fields, corrections: Mapping[str, tuple[str, ...]]) -> Fields:
    """Return the fields of a reference with corrections; fields derived from them are derived again."""
    if not corrections:
        return fields
    new = fields | {name: _values(fields.get(name, ()), texts) for name, texts in corrections.items()}
    derived = derived_fields({name: values for name, values in new.items() if values})
    for name, origins in _DERIVED_FROM.items():
        if name not in corrections and not corrections.keys().isdisjoint(origins):
            new[name] = derived.get(name, ())
    return {name: values for name, values in new.items() if values}


def _values(before: Sequence[Value], texts: Sequence[str]) -> tuple[Value, ...]:
    """Return corrected values, with the source of the same text before, or else that of the field."""
    sources: dict[str, Span | None] = {value.text: value.source for value in before}
    field_source = before[0].source if before else None
    return tuple(Value(text, _CONFIDENCE, sources.get(text, field_source)) for text in texts)

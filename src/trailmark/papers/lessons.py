"""Lessons for the models of papers: what a person said of a field becomes labels of its words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from trailmark.extract.documents.document import Document
from trailmark.extract.documents.flow import words_of
from trailmark.extract.documents.headings import is_introduction_heading
from trailmark.extract.papers.field_crf import FieldCRF
from trailmark.extract.papers.find_words import find_words
from trailmark.extract.papers.header_reader import MOST_LINES, read_front
from trailmark.extract.papers.labelling import Hint, Kind
from trailmark.extract.papers.reference_cut import cut_references
from trailmark.extract.papers.sections import find_sections, reference_lines
from trailmark.extract.papers.tagged import HEADER_FIELDS, REFERENCE_FIELDS, Tagged
from trailmark.extract.papers.tokens import TokenLine, all_words, document_lines, reference_line

Told = Mapping[str, tuple[str, ...]]

CERTAIN = 50.0
"""The log odds of what a person said: no model outvotes it."""

LIKELY = 5.0
"""The log odds of what was read, for words that nobody spoke of."""

_BETWEEN = 4  # words between two values of a field that may belong to it: commas, marks, `and`
_NOT_TAUGHT = frozenset({"abstract", "intro", "page"})  # found by headings and layout


@dataclass(frozen=True, slots=True)
class ToldOf:
    """A paper, and what people said of it and of its references."""

    paper: str
    document: Document
    own: Told
    of_references: Mapping[int, Told]


def lessons_of(kind: Kind, told: ToldOf, model: FieldCRF, missing: list[str]) -> Iterator[Tagged]:
    """The texts of a paper that people spoke of, every word with its label."""
    if kind == "header":
        if own := taught(told.own, HEADER_FIELDS):
            lines = header_tokens(told.document)
            yield from _lesson(told.paper, model, lines, own, missing, as_read(told.document, model, lines))
        return
    texts = reference_texts(told.document)
    for number, fields in told.of_references.items():
        known = taught(fields, REFERENCE_FIELDS)
        if known and number <= len(texts):
            lines = [reference_line(texts[number - 1])]
            yield from _lesson(f"{told.paper}, reference {number}", model, lines, known, missing)


def reference_texts(document: Document) -> list[str]:
    raw = cut_references(reference_lines(document), words_of(document.lines))
    return [each.text for each in raw]


def taught(told: Told, fields: Sequence[str]) -> Told:
    return {name: texts for name, texts in told.items() if name in fields and name not in _NOT_TAUGHT}


def header_tokens(document: Document) -> list[TokenLine]:
    """The lines that the header model sees, as `read_front` shows them."""
    end = find_sections(document).header.stop
    if end < len(document.lines) and is_introduction_heading(document.lines[end].text):
        end += 1
    page = document.pages[0]
    return document_lines(document.lines[: min(MOST_LINES, end)], (page.width, page.height))


def as_read(document: Document, model: FieldCRF, lines: Sequence[TokenLine]) -> list[Hint]:
    """What the words were read as, with the help of layout."""
    starts = [
        document.offsets[number] + token.start for number, line in enumerate(lines) for token in line.tokens
    ]
    return [
        Hint(word, found.field, LIKELY)
        for found in read_front(document, model).fields
        for word, start in enumerate(starts)
        if found.start <= start < found.end
    ]


def _lesson(
    name: str,
    model: FieldCRF,
    lines: Sequence[TokenLine],
    told: Told,
    missing: list[str],
    was_read: Sequence[Hint] = (),
) -> Iterator[Tagged]:
    """The likeliest labels among those that agree with what was said.

    A field of which one value is not in the text teaches nothing: its words would pass for those of another
    field.
    """
    words = all_words(lines)
    hints: list[Hint] = []
    for field, texts in told.items():
        places = {text: find_words(words, text) for text in texts}
        missing += [f"{field} {text!r} is not in {name}" for text, place in places.items() if place is None]
        found = [place for place in places.values() if place is not None]
        if len(found) == len(places):
            hints += _hints(field, found, len(words))
    if hints:
        labels = model.label(lines, [*was_read, *hints]).labels
        yield Tagged(tuple(lines), labels)


def _hints(field: str, places: Sequence[range], n_words: int) -> Iterator[Hint]:
    """These words are the field, and no others; what stands between two values is left to the model."""
    inside = {word for place in places for word in place}
    free = _gaps(sorted(inside))
    for word in range(n_words):
        if word in inside:
            yield Hint(word, field, CERTAIN)
        elif word not in free:
            yield Hint(word, field, -CERTAIN)


def _gaps(words: Sequence[int]) -> set[int]:
    pairs = pairwise(words)
    return {
        word for one, next_one in pairs if next_one - one <= _BETWEEN for word in range(one + 1, next_one)
    }

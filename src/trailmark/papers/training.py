"""Models that learn from corrections, in seconds: what a person said of a field becomes labels of its words."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from trailmark.errors import TeachingError
from trailmark.extract.documents.document import Document
from trailmark.extract.documents.flow import words_of
from trailmark.extract.documents.headings import is_introduction_heading
from trailmark.extract.documents.reader import DocumentReader
from trailmark.extract.papers.field_crf import FieldCRF
from trailmark.extract.papers.find_words import find_words
from trailmark.extract.papers.header_reader import MOST_LINES, read_front
from trailmark.extract.papers.labelling import Hint, Kind
from trailmark.extract.papers.paper import Fields, PaperModels, ReadPaper, read_paper
from trailmark.extract.papers.reference_cut import cut_references
from trailmark.extract.papers.sections import find_sections, reference_lines
from trailmark.extract.papers.tagged import HEADER_FIELDS, REFERENCE_FIELDS, Tagged
from trailmark.extract.papers.tokens import TokenLine, all_words, document_lines, token_line
from trailmark.papers.corrections import latest
from trailmark.papers.library import PaperLibrary
from trailmark.papers.models import ModelPlace

Told = Mapping[str, tuple[str, ...]]

CERTAIN = 50.0
"""The log odds of what a person said: no model outvotes it."""

LIKELY = 5.0
"""The log odds of what was read, for words that nobody spoke of."""

_BETWEEN = 4  # words between two values of a field that may belong to it: commas, marks, `and`
_NOT_TAUGHT = frozenset({"abstract", "intro", "page"})  # found by headings and layout
_KINDS: tuple[Kind, ...] = ("header", "reference")


@dataclass(frozen=True, slots=True)
class Trained:
    """How a training went: texts learned from, corrected fields, and how many of those are read right by the
    models before and after; `not_found` are values that stand nowhere in their text.
    """

    lessons: Mapping[Kind, int]
    fields: int
    right_before: int
    right_after: int
    not_found: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class _Told:
    """A paper, and what people said of it and of its references."""

    paper: str
    document: Document
    own: Told
    of_references: Mapping[int, Told]


def train(library: PaperLibrary) -> Trained:
    """Teach the models every correction, from those of the package on, and keep them for the workspace."""
    started = time.monotonic()
    told = list(_all_told(library))
    if not told:
        raise TeachingError("Nothing was corrected yet. First: trailmark papers correct ID FIELD VALUE…")
    missing: list[str] = []
    lessons = {kind: [lesson for each in told for lesson in _lessons(kind, each, library.models, missing)]
               for kind in _KINDS}  # fmt: skip
    before = _right(told, library.models.load())
    for kind, texts in lessons.items():
        if texts:
            taught = ModelPlace.shipped(kind).corrected(texts)
            library.models.save(taught, {"lessons": len(texts)})
    after = _right(told, library.models.load())
    counts = {kind: len(texts) for kind, texts in lessons.items()}
    return Trained(counts, len(before), sum(before), sum(after), tuple(missing), time.monotonic() - started)


def _all_told(library: PaperLibrary) -> Iterator[_Told]:
    corrections = library.papers.corrections()
    with DocumentReader() as reader:
        for paper in dict.fromkeys(each.paper for each in corrections):
            document = reader.read(library.body(paper))
            if isinstance(document, Document):
                yield _Told(paper, document, *latest(each for each in corrections if each.paper == paper))


# Lessons


def _lessons(kind: Kind, told: _Told, models: ModelPlace, missing: list[str]) -> Iterator[Tagged]:
    """The texts of a paper that people spoke of, every word with its label."""
    model = models.load_one(kind)
    if kind == "header":
        own = _taught(told.own, HEADER_FIELDS)
        if own:
            lines = header_tokens(told.document)
            yield from _lesson(told.paper, model, lines, own, missing, _as_read(told.document, model, lines))
        return
    raw = cut_references(reference_lines(told.document), words_of(told.document.lines))
    for number, fields in told.of_references.items():
        known = _taught(fields, REFERENCE_FIELDS)
        if known and number <= len(raw):
            lines = [token_line(raw[number - 1].text)]
            yield from _lesson(f"{told.paper}, reference {number}", model, lines, known, missing)


def _taught(told: Told, fields: Sequence[str]) -> Told:
    return {name: texts for name, texts in told.items() if name in fields and name not in _NOT_TAUGHT}


def header_tokens(document: Document) -> list[TokenLine]:
    """The lines that the header model sees, as `read_front` shows them."""
    end = find_sections(document).header.stop
    if end < len(document.lines) and is_introduction_heading(document.lines[end].text):
        end += 1
    page = document.pages[0]
    return document_lines(document.lines[: min(MOST_LINES, end)], (page.width, page.height))


def _as_read(document: Document, model: FieldCRF, lines: Sequence[TokenLine]) -> list[Hint]:
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
    as_read: Sequence[Hint] = (),
) -> Iterator[Tagged]:
    """The likeliest labels among those that agree with what was said; nothing, if no value is in the text."""
    words = all_words(lines)
    hints: list[Hint] = []
    for field, texts in told.items():
        places = [(text, find_words(words, text)) for text in texts]
        missing += [f"{field} {text!r} is not in {name}" for text, place in places if place is None]
        found = [place for _, place in places if place is not None]
        if found or not texts:
            hints += _hints(field, found, len(words))
    if hints:
        labels = model.label(lines, [*as_read, *hints]).labels
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


# Before and after


def _right(told: Iterable[_Told], models: PaperModels) -> list[bool]:
    """Whether each corrected field is read as people say it is."""
    return [
        right for each in told for right in _right_of(each, read_paper(each.document, models, each.paper))
    ]


def _right_of(told: _Told, read: ReadPaper) -> Iterator[bool]:
    for name, texts in _taught(told.own, HEADER_FIELDS).items():
        yield _same(read.fields, name, texts)
    for number, fields in told.of_references.items():
        if number <= len(read.references):
            for name, texts in _taught(fields, REFERENCE_FIELDS).items():
                yield _same(read.references[number - 1].fields, name, texts)


def _same(fields: Fields, name: str, texts: Sequence[str]) -> bool:
    found = [value.text for value in fields.get(name, ())]
    return [_plain(text) for text in found] == [_plain(text) for text in texts]


def _plain(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())

"""Models that learn from corrections, in seconds, and keep what they could do before."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from wayhound.app.papers.corrections import latest
from wayhound.app.papers.library import PAPER, PaperLibrary
from wayhound.app.papers.models import ModelPlace
from wayhound.documents.document import Document
from wayhound.documents.flow import whole_words
from wayhound.documents.headings import is_introduction_heading
from wayhound.documents.reader import DocumentReader
from wayhound.errors import TeachingError
from wayhound.papers.field_crf import FieldCRF
from wayhound.papers.header_reader import MAX_LINES, read_front_matter
from wayhound.papers.paper import Fields, PaperModels, ReadPaper, read_paper
from wayhound.papers.reference_cut import cut_references
from wayhound.papers.sections import find_sections, reference_lines
from wayhound.papers.spans import find_words
from wayhound.papers.tagged import HEADER_FIELDS, REFERENCE_FIELDS, TaggedText
from wayhound.papers.tokens import Hint, TextKind, TokenLine, all_words, document_lines, reference_line
from wayhound.record import Record

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


def lessons_of(kind: TextKind, told: ToldOf, model: FieldCRF, missing: list[str]) -> Iterator[TaggedText]:
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
    raw = cut_references(reference_lines(document), whole_words(document.lines))
    return [each.text for each in raw]


def taught(told: Told, fields: Sequence[str]) -> Told:
    return {name: texts for name, texts in told.items() if name in fields and name not in _NOT_TAUGHT}


def header_tokens(document: Document) -> list[TokenLine]:
    """The lines that the header model sees, as `read_front_matter` shows them."""
    end = find_sections(document).header.stop
    if end < len(document.lines) and is_introduction_heading(document.lines[end].text):
        end += 1
    page = document.pages[0]
    return document_lines(document.lines[: min(MAX_LINES, end)], (page.width, page.height))


def as_read(document: Document, model: FieldCRF, lines: Sequence[TokenLine]) -> list[Hint]:
    """What the words were read as, with the help of layout."""
    starts = [
        document.offsets[number] + token.start for number, line in enumerate(lines) for token in line.tokens
    ]
    return [
        Hint(word, found.field, LIKELY)
        for found in read_front_matter(document, model).fields
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
) -> Iterator[TaggedText]:
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
        yield TaggedText(tuple(lines), labels)


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


REHEARSED = 20
"""Papers that nobody corrected, and that are to be read as before: where learning changes them, they are
learned along with the corrections."""

WATCHED = 10
"""Papers that nobody corrected and that are not learned from: they tell what else has changed."""

_SURE = 0.98
_ROUNDS = 3
_REFERENCES = 3  # of each such paper
_KINDS: tuple[TextKind, ...] = ("header", "reference")


@dataclass(frozen=True, slots=True)
class Trained:
    """How a training went: texts learned from, corrected fields, and how many of those are read right by the
    models before and after; `not_found` are values that stand nowhere in their text. Of other papers, that
    were not learned from, `unchanged` tells how many of the `watched` are read as by the package's models.
    """

    lessons: Mapping[TextKind, int]
    fields: int
    right_before: int
    right_after: int
    watched: int
    unchanged: int
    not_found: tuple[str, ...]
    seconds: float


def train(library: PaperLibrary) -> Trained:
    """Teach the models every correction, from those of the package on, and keep them for the workspace."""
    started = time.monotonic()
    with DocumentReader() as reader:
        told = list(_all_told(library, reader))
        if not told:
            raise TeachingError("Nothing was corrected yet. First: wayhound papers correct ID FIELD VALUE…")
        others = list(_others(library, reader, {each.paper for each in told}))
    missing: list[str] = []
    before, counts = _right(told, library.models.load()), dict[TextKind, int]()
    for kind in _KINDS:
        model = ModelPlace.shipped(kind)
        texts = [lesson for each in told for lesson in lessons_of(kind, each, model, missing)]
        counts[kind] = len(texts)
        if texts:
            learned = _learned(model, texts, [_Anchor(kind, model, each) for each in others[:REHEARSED]])
            library.models.save(learned, {"lessons": len(texts)})
    after, watched = _right(told, library.models.load()), others[REHEARSED:]
    unchanged = _unchanged(library.models, watched)
    seconds = time.monotonic() - started
    return Trained(
        counts, len(before), sum(before), sum(after), len(watched), unchanged, tuple(missing), seconds
    )


def _all_told(library: PaperLibrary, reader: DocumentReader) -> Iterator[ToldOf]:
    corrections = library.papers.corrections()
    for paper in dict.fromkeys(each.paper for each in corrections):
        document = reader.read(library.body(paper))
        if isinstance(document, Document):
            yield ToldOf(paper, document, *latest(each for each in corrections if each.paper == paper))


def _others(library: PaperLibrary, reader: DocumentReader, told: set[str]) -> Iterator[Document]:
    """Papers that nobody spoke of and of which the model was sure, for the others may have to learn, too.

    Their ids come from digests, so the first are as good as any.
    """
    sure = (record.id for record in library.workspace.stores.records.iterate(PAPER) if _is_sure(record))
    for paper in islice((each for each in sure if each not in told), REHEARSED + WATCHED):
        document = reader.read(library.body(paper))
        if isinstance(document, Document) and find_sections(document).is_paper:
            yield document


def _is_sure(record: Record) -> bool:
    values = [value for name in ("title", "author") for value in record.fields.get(name, ())]
    return bool(record.fields.get("author")) and all(value.confidence >= _SURE for value in values)


class _Anchor:
    """A paper that is to be read as the model reads it now, whatever that model learns."""

    def __init__(self, kind: TextKind, model: FieldCRF, document: Document) -> None:
        self._kind = kind
        self._model = model
        self._document = document
        self._now = _reading(kind, model, document)

    def is_kept(self, model: FieldCRF) -> bool:
        return _reading(self._kind, model, self._document) == self._now

    def lessons(self) -> Iterator[TaggedText]:
        return _tagged(self._kind, self._model, self._document)


def _learned(model: FieldCRF, lessons: Sequence[TaggedText], anchors: Sequence[_Anchor]) -> FieldCRF:
    """The lessons alone move the weights as they please; what that spoils is learned along with them."""
    texts, learned = list(lessons), model.corrected(lessons)
    waiting = list(anchors)
    for _ in range(_ROUNDS):
        spoilt = [anchor for anchor in waiting if not anchor.is_kept(learned)]
        if not spoilt:
            break
        waiting = [anchor for anchor in waiting if anchor not in spoilt]
        texts += [text for anchor in spoilt for text in anchor.lessons()]
        learned = model.corrected(texts)
    return learned


def _tagged(kind: TextKind, model: FieldCRF, document: Document) -> Iterator[TaggedText]:
    """The texts of a paper, labelled as they are read."""
    if kind == "header":
        lines = header_tokens(document)
        yield TaggedText(tuple(lines), model.label(lines, as_read(document, model, lines)).labels)
    else:
        for text in reference_texts(document)[:_REFERENCES]:
            yield TaggedText((reference_line(text),), model.label([reference_line(text)]).labels)


def _reading(kind: TextKind, model: FieldCRF, document: Document) -> list[object]:
    if kind == "header":
        return [(found.field, found.start, found.end) for found in read_front_matter(document, model).fields]
    return [model.label([reference_line(text)]).labels for text in reference_texts(document)[:_REFERENCES]]


def _unchanged(models: ModelPlace, documents: Sequence[Document]) -> int:
    taught_ones = [(kind, models.shipped(kind), models.load_one(kind)) for kind in _KINDS if models.has(kind)]
    return sum(
        all(_reading(kind, old, each) == _reading(kind, new, each) for kind, old, new in taught_ones)
        for each in documents
    )


def _right(told: Iterable[ToldOf], models: PaperModels) -> list[bool]:
    """Whether each corrected field is read as people say it is."""
    return [
        right for each in told for right in _right_of(each, read_paper(each.document, models, each.paper))
    ]


def _right_of(told: ToldOf, read: ReadPaper) -> Iterator[bool]:
    for name, texts in taught(told.own, HEADER_FIELDS).items():
        yield _same(read.fields, name, texts)
    for number, fields in told.of_references.items():
        if number <= len(read.references):
            for name, texts in taught(fields, REFERENCE_FIELDS).items():
                yield _same(read.references[number - 1].fields, name, texts)


def _same(fields: Fields, name: str, texts: Sequence[str]) -> bool:
    found = [value.text for value in fields.get(name, ())]
    return [_plain(text) for text in found] == [_plain(text) for text in texts]


def _plain(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())

"""Models that learn from corrections, in seconds, and keep what they could do before."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from trailmark.errors import TeachingError
from trailmark.extract.documents.document import Document
from trailmark.extract.documents.reader import DocumentReader
from trailmark.extract.papers.field_crf import FieldCRF
from trailmark.extract.papers.header_reader import read_front
from trailmark.extract.papers.labelling import Kind
from trailmark.extract.papers.paper import Fields, PaperModels, ReadPaper, read_paper
from trailmark.extract.papers.sections import find_sections
from trailmark.extract.papers.tagged import HEADER_FIELDS, REFERENCE_FIELDS, Tagged
from trailmark.extract.papers.tokens import reference_line
from trailmark.papers.corrections import latest
from trailmark.papers.lessons import ToldOf, as_read, header_tokens, lessons_of, reference_texts, taught
from trailmark.papers.library import PAPER, PaperLibrary
from trailmark.papers.models import ModelPlace
from trailmark.record import Record

REHEARSED = 20
"""Papers that nobody corrected, and that are to be read as before: where learning changes them, they are
learned along with the corrections."""

WATCHED = 10
"""Papers that nobody corrected and that are not learned from: they tell what else has changed."""

_SURE = 0.98
_ROUNDS = 3
_REFERENCES = 3  # of each such paper
_KINDS: tuple[Kind, ...] = ("header", "reference")


@dataclass(frozen=True, slots=True)
class Trained:
    """How a training went: texts learned from, corrected fields, and how many of those are read right by the
    models before and after; `not_found` are values that stand nowhere in their text. Of other papers, that
    were not learned from, `unchanged` tells how many of the `watched` are read as by the package's models.
    """

    lessons: Mapping[Kind, int]
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
            raise TeachingError("Nothing was corrected yet. First: trailmark papers correct ID FIELD VALUE…")
        others = list(_others(library, reader, {each.paper for each in told}))
    missing: list[str] = []
    before, counts = _right(told, library.models.load()), dict[Kind, int]()
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
    sure = (record.id for record in library.workspace.records.iterate(PAPER) if _is_sure(record))
    for paper in islice((each for each in sure if each not in told), REHEARSED + WATCHED):
        document = reader.read(library.body(paper))
        if isinstance(document, Document) and find_sections(document).is_paper:
            yield document


def _is_sure(record: Record) -> bool:
    values = [value for name in ("title", "author") for value in record.fields.get(name, ())]
    return bool(record.fields.get("author")) and all(value.confidence >= _SURE for value in values)


class _Anchor:
    """A paper that is to be read as the model reads it now, whatever that model learns."""

    def __init__(self, kind: Kind, model: FieldCRF, document: Document) -> None:
        self._kind = kind
        self._model = model
        self._document = document
        self._now = _reading(kind, model, document)

    def is_kept(self, model: FieldCRF) -> bool:
        return _reading(self._kind, model, self._document) == self._now

    def lessons(self) -> Iterator[Tagged]:
        return _tagged(self._kind, self._model, self._document)


def _learned(model: FieldCRF, lessons: Sequence[Tagged], anchors: Sequence[_Anchor]) -> FieldCRF:
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


def _tagged(kind: Kind, model: FieldCRF, document: Document) -> Iterator[Tagged]:
    """The texts of a paper, labelled as they are read."""
    if kind == "header":
        lines = header_tokens(document)
        yield Tagged(tuple(lines), model.label(lines, as_read(document, model, lines)).labels)
    else:
        for text in reference_texts(document)[:_REFERENCES]:
            yield Tagged((reference_line(text),), model.label([reference_line(text)]).labels)


def _reading(kind: Kind, model: FieldCRF, document: Document) -> list[object]:
    if kind == "header":
        return [(found.field, found.start, found.end) for found in read_front(document, model).fields]
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

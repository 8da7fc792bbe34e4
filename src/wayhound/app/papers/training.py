"""Training of the field models of a workspace: from corrections in seconds, or from a folder of tagged texts.

Corrections become headers and references with a label for every word.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

from wayhound.app.papers.corrections import latest
from wayhound.app.papers.library import PAPER, PaperLibrary
from wayhound.app.papers.models import WorkspaceModels
from wayhound.documents.document import Document
from wayhound.documents.flow import whole_words
from wayhound.documents.headings import is_introduction_heading
from wayhound.documents.reader import DocumentReader
from wayhound.errors import TeachingError
from wayhound.papers.header_reader import MAX_LINES, read_front_matter
from wayhound.papers.lexicon import shipped_lexicon
from wayhound.papers.models import KINDS, ModelName, TrainableModel, shipped_model, train_model
from wayhound.papers.paper import Fields, PaperModels, ReadPaper, read_paper
from wayhound.papers.reference_cut import cut_references
from wayhound.papers.sections import find_sections, reference_lines
from wayhound.papers.spans import find_words
from wayhound.papers.tagged import HEADER_FIELDS, REFERENCE_FIELDS, TaggedText
from wayhound.papers.tokens import Hint, TextKind, TokenLine, all_words, document_lines, reference_line
from wayhound.papers.training_data import PaperData
from wayhound.record import Record

FieldTexts = Mapping[str, tuple[str, ...]]

CERTAIN = 50.0
"""Log odds of a correction: no model outvotes it."""

LIKELY = 5.0
"""Log odds of what was read, for words that nobody corrected."""

_MAX_GAP = 4  # words between two values of a field that may belong to it: commas, marks, `and`
_NOT_LEARNED = frozenset({"abstract", "intro", "page"})  # found by headings and layout


@dataclass(frozen=True, slots=True)
class CorrectedPaper:
    """A paper, and the corrections of its own fields and of its references by number."""

    paper: str
    document: Document
    own: FieldTexts
    by_reference: Mapping[int, FieldTexts]


def corrected_papers(library: PaperLibrary, reader: DocumentReader) -> Iterator[CorrectedPaper]:
    """Yield the papers with corrections, except those that cannot be read."""
    corrections = library.papers.corrections()
    for paper in dict.fromkeys(correction.paper for correction in corrections):
        document = reader.read(library.body(paper))
        if isinstance(document, Document):
            own, by_reference = latest(correction for correction in corrections if correction.paper == paper)
            yield CorrectedPaper(paper, document, own, by_reference)


def learnable(corrections: FieldTexts, kind: TextKind) -> FieldTexts:
    """Return the corrections of fields that a model finds."""
    fields = HEADER_FIELDS if kind == "header" else REFERENCE_FIELDS
    return {name: texts for name, texts in corrections.items() if name in fields and name not in _NOT_LEARNED}


def lessons_of(
    kind: TextKind, corrected: CorrectedPaper, model: TrainableModel, missing: list[str]
) -> Iterator[TaggedText]:
    """Yield the corrected header, or the corrected references, with a label for every word.

    A message is added to `missing` for each value that is not in its text.
    """
    if kind == "header":
        if own := learnable(corrected.own, kind):
            lines = header_tokens(corrected.document)
            hints = _hints_from_reading(corrected.document, model, lines)
            lesson = _Lesson(corrected.paper, lines, missing)
            yield from lesson.labelled(model, own, hints)
        return
    texts = reference_texts(corrected.document)
    for number, fields in corrected.by_reference.items():
        own = learnable(fields, kind)
        if own and number <= len(texts):
            lesson = _Lesson(
                f"{corrected.paper}, reference {number}", [reference_line(texts[number - 1])], missing
            )
            yield from lesson.labelled(model, own)


def lessons_as_read(
    kind: TextKind, document: Document, model: TrainableModel, max_references: int
) -> Iterator[TaggedText]:
    """Yield the texts of a paper, labelled as the model reads them."""
    if kind == "header":
        lines = header_tokens(document)
        yield TaggedText(tuple(lines), model.label(lines, _hints_from_reading(document, model, lines)).labels)
    else:
        for text in reference_texts(document)[:max_references]:
            yield TaggedText((reference_line(text),), model.label([reference_line(text)]).labels)


def reference_texts(document: Document) -> list[str]:
    references = cut_references(reference_lines(document), whole_words(document.lines))
    return [reference.text for reference in references]


def header_tokens(document: Document) -> list[TokenLine]:
    """Return the lines that the header model sees in `read_front_matter`."""
    end = find_sections(document).header.stop
    if end < len(document.lines) and is_introduction_heading(document.lines[end].text):
        end += 1
    page = document.pages[0]
    return document_lines(document.lines[: min(MAX_LINES, end)], (page.width, page.height))


def _hints_from_reading(document: Document, model: TrainableModel, lines: Sequence[TokenLine]) -> list[Hint]:
    """Return a hint for each word with the field that it was read as, with the help of layout."""
    starts = [
        document.offsets[number] + token.start for number, line in enumerate(lines) for token in line.tokens
    ]
    return [
        Hint(word, part.field, LIKELY)
        for part in read_front_matter(document, model).fields
        for word, start in enumerate(starts)
        if part.start <= start < part.end
    ]


@dataclass(frozen=True, slots=True)
class _Lesson:
    """One text to label; `name` identifies it in messages."""

    name: str
    lines: Sequence[TokenLine]
    missing: list[str]

    def labelled(
        self, model: TrainableModel, corrections: FieldTexts, hints: Sequence[Hint] = ()
    ) -> Iterator[TaggedText]:
        """Yield the likeliest labels that agree with the corrections, if any of these is in the text.

        A field with a value that is not in the text is left out: its words would be learned as another field.
        """
        words = all_words(self.lines)
        certain: list[Hint] = []
        for field, texts in corrections.items():
            ranges = {text: find_words(words, text) for text in texts}
            self.missing.extend(
                f"{field} {text!r} is not in {self.name}" for text, range_ in ranges.items() if range_ is None
            )
            present = [range_ for range_ in ranges.values() if range_ is not None]
            if len(present) == len(ranges):
                certain += _certain_hints(field, present, len(words))
        if certain:
            yield TaggedText(tuple(self.lines), model.label(self.lines, [*hints, *certain]).labels)


def _certain_hints(field: str, ranges: Sequence[range], n_words: int) -> Iterator[Hint]:
    """Yield hints that these words are the field, and no others; words between two values are left open."""
    inside = {word for words in ranges for word in words}
    open_words = _gaps(sorted(inside))
    for word in range(n_words):
        if word in inside:
            yield Hint(word, field, CERTAIN)
        elif word not in open_words:
            yield Hint(word, field, -CERTAIN)


def _gaps(words: Sequence[int]) -> set[int]:
    return {
        word
        for before, after in pairwise(words)
        if after - before <= _MAX_GAP
        for word in range(before + 1, after)
    }


REHEARSED = 20
"""Uncorrected papers that must be read as before; those that learning changes are learned along with the
corrections."""

WATCHED = 10
"""Uncorrected papers that are not learned from: they show what else has changed."""

_CONFIDENT = {"title": 0.95, "author": 0.98}
_ROUNDS = 3
_REFERENCES = 3  # of each rehearsed or watched paper


@dataclass(frozen=True, slots=True)
class PaperTrainingReport:
    """The result of a training.

    `lessons` counts the corrected texts; `fields` are the corrected fields, of which `right_before` and
    `right_after` were read right; `not_found` are values that are not in their text. Of `watched` other papers,
    `unchanged` are read as with the models of the package. `trained_on` describes the tagged texts of a data
    folder.
    """

    model: ModelName
    lessons: Mapping[TextKind, int]
    fields: int
    right_before: int
    right_after: int
    watched: int
    unchanged: int
    not_found: tuple[str, ...]
    trained_on: Mapping[TextKind, str]
    seconds: float


def train(
    library: PaperLibrary, name: ModelName | None = None, data: PaperData | None = None
) -> PaperTrainingReport:
    """Train the models of a workspace, and read papers with this kind of model from now on.

    Training begins with the models of the package, or with new ones if there is `data`; then all corrections are
    learned. Raises TeachingError if there is nothing to learn from, or the data cannot be read.
    """
    started = time.monotonic()
    name = name or library.models.chosen()
    if data is not None and not any(data.has_texts(kind) for kind in KINDS):
        raise TeachingError(
            f"There are no tagged texts: neither {data.headers} nor {data.references} exists."
        )
    with DocumentReader() as reader:
        corrected = list(corrected_papers(library, reader))
        if not corrected and data is None:
            raise TeachingError("There are no corrections yet.", next_step="papers correct ID FIELD VALUE…")
        others = list(_other_papers(library, reader, {paper.paper for paper in corrected}))
    before = _are_right(corrected, library.models.load(name))
    training = _Training(library.models, name, data)
    for kind in KINDS:
        training.train(kind, corrected, others[:REHEARSED])
    library.models.choose(name)
    after, watched = _are_right(corrected, library.models.load(name)), others[REHEARSED:]
    return PaperTrainingReport(
        model=name,
        lessons=training.lessons,
        fields=len(before),
        right_before=sum(before),
        right_after=sum(after),
        watched=len(watched),
        unchanged=_n_unchanged(library.models, name, watched),
        not_found=tuple(training.not_found),
        trained_on=training.trained_on,
        seconds=time.monotonic() - started,
    )


class _Training:
    """Trains the models of one kind of text after the other, and collects what goes into the report."""

    def __init__(self, models: WorkspaceModels, name: ModelName, data: PaperData | None) -> None:
        self._models = models
        self._name: ModelName = name
        self._data = data
        self.lessons: dict[TextKind, int] = {}
        self.trained_on: dict[TextKind, str] = {}
        self.not_found: list[str] = []

    def train(self, kind: TextKind, corrected: Sequence[CorrectedPaper], others: Sequence[Document]) -> None:
        model = self._base(kind)
        lessons = [lesson for paper in corrected for lesson in lessons_of(kind, paper, model, self.not_found)]
        self.lessons[kind] = len(lessons)
        if lessons:
            model = _learn(model, lessons, [_Anchor(kind, model, document) for document in others])
        if lessons or kind in self.trained_on:
            about = {"lessons": len(lessons), "trained on": self.trained_on.get(kind, "")}
            self._models.save(self._name, model, about)

    def _base(self, kind: TextKind) -> TrainableModel:
        if self._data is None or not self._data.has_texts(kind):
            return shipped_model(self._name, kind)
        model, self.trained_on[kind] = train_model(self._name, kind, self._data, shipped_lexicon())
        return model


def _other_papers(library: PaperLibrary, reader: DocumentReader, corrected: set[str]) -> Iterator[Document]:
    """Yield uncorrected papers that were read with confidence: others may have to change.

    Ids are digests, so the first papers are a random sample.
    """
    records = library.workspace.stores.records.iterate(PAPER)
    confident = (record.id for record in records if _is_confident(record) and record.id not in corrected)
    for paper in islice(confident, REHEARSED + WATCHED):
        document = reader.read(library.body(paper))
        if isinstance(document, Document) and find_sections(document).is_paper:
            yield document


def _is_confident(record: Record) -> bool:
    return bool(record.fields.get("author")) and all(
        value.confidence >= least
        for name, least in _CONFIDENT.items()
        for value in record.fields.get(name, ())
    )


class _Anchor:
    """A paper that should still be read as now, whatever the model learns."""

    def __init__(self, kind: TextKind, model: TrainableModel, document: Document) -> None:
        self._kind: TextKind = kind
        self._model = model
        self._document = document
        self._labels = _labels_of(kind, model, document)

    def is_kept(self, model: TrainableModel) -> bool:
        return _labels_of(self._kind, model, self._document) == self._labels

    def lessons(self) -> Iterator[TaggedText]:
        return lessons_as_read(self._kind, self._document, self._model, _REFERENCES)


def _learn(
    model: TrainableModel, lessons: Sequence[TaggedText], anchors: Sequence[_Anchor]
) -> TrainableModel:
    """Learn the lessons; anchors that change by it are learned along with them, for at most a few rounds."""
    texts = list(lessons)
    learned: TrainableModel = model.corrected(texts)
    kept = list(anchors)
    for _ in range(_ROUNDS):
        changed = [anchor for anchor in kept if not anchor.is_kept(learned)]
        if not changed:
            break
        kept = [anchor for anchor in kept if anchor not in changed]
        texts += [text for anchor in changed for text in anchor.lessons()]
        learned = model.corrected(texts)
    return learned


def _labels_of(kind: TextKind, model: TrainableModel, document: Document) -> list[object]:
    if kind == "header":
        return [(part.field, part.start, part.end) for part in read_front_matter(document, model).fields]
    return [model.label([reference_line(text)]).labels for text in reference_texts(document)[:_REFERENCES]]


def _n_unchanged(models: WorkspaceModels, name: ModelName, documents: Sequence[Document]) -> int:
    pairs = [
        (kind, shipped_model(name, kind), models.load_one(name, kind))
        for kind in KINDS
        if models.is_trained(name, kind)
    ]
    return sum(
        all(_labels_of(kind, old, document) == _labels_of(kind, new, document) for kind, old, new in pairs)
        for document in documents
    )


def _are_right(corrected: Iterable[CorrectedPaper], models: PaperModels) -> list[bool]:
    """Return, for each corrected field, whether it is read as people corrected it."""
    return [
        is_right
        for paper in corrected
        for is_right in _fields_right(paper, read_paper(paper.document, models, paper.paper))
    ]


def _fields_right(corrected: CorrectedPaper, read: ReadPaper) -> Iterator[bool]:
    for name, texts in learnable(corrected.own, "header").items():
        yield _has_texts(read.fields, name, texts)
    for number, fields in corrected.by_reference.items():
        if number <= len(read.references):
            for name, texts in learnable(fields, "reference").items():
                yield _has_texts(read.references[number - 1].fields, name, texts)


def _has_texts(fields: Fields, name: str, texts: Sequence[str]) -> bool:
    read = [value.text for value in fields.get(name, ())]
    return [_letters(text) for text in read] == [_letters(text) for text in texts]


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())

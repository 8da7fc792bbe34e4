"""Training texts from corrections: headers and references with a label for every word, as people corrected them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from wayhound.app.papers.corrections import latest
from wayhound.app.papers.library import PaperLibrary
from wayhound.documents.document import Document
from wayhound.documents.flow import whole_words
from wayhound.documents.headings import is_introduction_heading
from wayhound.documents.reader import DocumentReader
from wayhound.papers.header_reader import MAX_LINES, read_front_matter
from wayhound.papers.models import TrainableModel
from wayhound.papers.reference_cut import cut_references
from wayhound.papers.sections import find_sections, reference_lines
from wayhound.papers.spans import find_words
from wayhound.papers.tagged import HEADER_FIELDS, REFERENCE_FIELDS, TaggedText
from wayhound.papers.tokens import Hint, TextKind, TokenLine, all_words, document_lines, reference_line

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

"""The front matter of a document: the header model and the layout together, with places and confidences.

The abstract is where its heading and layout say, as in section 4.3 of McCallum et al. (2000), which finds it by
regular expressions; what layout says of the title is a hint to the model. The model decides on all the rest.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from trailmark.extract.documents.document import Document, Line
from trailmark.extract.documents.flow import flow, words_of
from trailmark.extract.documents.headings import inline_abstract, is_abstract_heading, is_introduction_heading
from trailmark.extract.documents.places import Place, places_of
from trailmark.extract.papers.fields import MOST_WORDS, FieldSpan, spans_of
from trailmark.extract.papers.front import title_span
from trailmark.extract.papers.labelling import FieldModel, Hint
from trailmark.extract.papers.lexicon import shipped_lexicon
from trailmark.extract.papers.person_names import Person, read_people
from trailmark.extract.papers.sections import Sections, find_sections
from trailmark.extract.papers.shipped import header_model
from trailmark.extract.papers.tokens import TokenLine, document_lines, first_words

_BETWEEN_NAMES = re.compile(r"[,;&·•]|\band\b")
_LONGEST_NAME = 100  # characters

MOST_LINES = 250
"""Of a header; what is longer is a text without headings, and its end tells nothing of its front."""

SURE = 3.0
"""The log odds that a hint adds: what layout says of title and abstract is right in 95 of 100 papers."""


@dataclass(frozen=True, slots=True)
class FrontField:
    """A field of the front matter: the characters [start, end) of `document.text`, and where they stand.

    `places` has a page and box for each line that the field is on.
    """

    field: str
    text: str
    start: int
    end: int
    confidence: float
    places: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands before the introduction, field by field in reading order."""

    fields: tuple[FrontField, ...] = ()

    def named(self, field: str) -> tuple[FrontField, ...]:
        return tuple(found for found in self.fields if found.field == field)

    @property
    def title(self) -> FrontField | None:
        """The title that the model is most sure of."""
        return max(self.named("title"), key=lambda found: found.confidence, default=None)

    @property
    def abstract(self) -> FrontField | None:
        return max(self.named("abstract"), key=lambda found: len(found.text), default=None)

    @property
    def authors(self) -> tuple[Person, ...]:
        """Everyone who is named as an author, once."""
        lexicon = shipped_lexicon()
        people = (one for found in self.named("author") for one in read_people(found.text, lexicon).people)
        return tuple({person.full: person for person in people}.values())


def read_front(
    document: Document, model: FieldModel | None = None, sections: Sections | None = None
) -> FrontMatter:
    """The fields before the introduction; `model` is the shipped one unless another is given."""
    sections = sections or find_sections(document)
    lines = document.lines[: min(MOST_LINES, _header_end(document.lines, sections))]
    page = document.pages[0] if document.pages else None
    size = (page.width, page.height) if page else (0.0, 0.0)
    tokens = first_words(document_lines(lines, size), MOST_WORDS)
    labelling = (model or header_model()).label(tokens, list(_hints(lines, tokens, sections)))
    words = words_of(document.lines)
    spans = spans_of(tokens, document.offsets, labelling)
    return FrontMatter(tuple(_field(document, span, words) for span in spans))


def _header_end(lines: Sequence[Line], sections: Sections) -> int:
    """With the heading of the introduction, which the model has learned to expect."""
    end = sections.header.stop
    return end + 1 if end < len(lines) and is_introduction_heading(lines[end].text) else end


def _hints(lines: Sequence[Line], tokens: Sequence[TokenLine], sections: Sections) -> Iterator[Hint]:
    """One for the first word of each line that layout knows to be title or abstract."""
    abstract = sections.abstract
    above = abstract.start - 1
    heading = above if above >= 0 and is_abstract_heading(lines[above].text) else -1
    head = [n for n in range(min(len(lines), abstract.start or len(lines))) if lines[n].text]
    first, last = title_span([lines[n] for n in head])
    title = set(head[first:last])
    at = 0
    for number, line in enumerate(tokens):
        if len(line) and (number in title or number in abstract or number == heading):
            yield Hint(at, "title" if number in title else "abstract", SURE)
        at += len(line)


def _field(document: Document, span: FieldSpan, words: AbstractSet[str]) -> FrontField:
    start = _after_heading(document, span) if span.field == "abstract" else span.start
    places = places_of(document.lines, document.offsets, start, span.end)
    cut = list(_cut_lines(document, start, span.end))
    text = _names(cut) if span.field == "author" else flow(cut, words).text
    return FrontField(span.field, text, start, span.end, span.confidence, places)


def _after_heading(document: Document, span: FieldSpan) -> int:
    """Where an abstract begins that may have its heading in front."""
    number = bisect_right(document.offsets, span.start) - 1
    text, begins = document.lines[number].text, document.offsets[number]
    if is_abstract_heading(text) and begins + len(text) < span.end:
        return document.offsets[number + 1]
    return min(span.end, max(span.start, begins + inline_abstract(text)))


def _cut_lines(document: Document, start: int, end: int) -> Iterator[Line]:
    """The lines that the characters from `start` up to `end` stand on, without what stands around them."""
    first, last = bisect_right(document.offsets, start) - 1, bisect_right(document.offsets, end - 1)
    for line, at in zip(document.lines[first:last], document.offsets[first:last], strict=True):
        if text := line.text[max(0, start - at) : end - at]:
            yield replace(line, text=text)


def _names(lines: Sequence[Line]) -> str:
    """The names on one line: where one line ends with a whole name and the next begins with one, a comma."""
    text = ""
    for line in lines:
        before = _BETWEEN_NAMES.split(text[-_LONGEST_NAME:])[-1].split()
        after = _BETWEEN_NAMES.split(line.text[:_LONGEST_NAME])[0].split()
        whole = len(before) > 1 and len(after) > 1 and not text.endswith("-")
        text += (", " if whole else " ") + line.text if text else line.text
    return text

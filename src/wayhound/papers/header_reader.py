"""The front matter of a document, by the header model and the layout together, with regions and confidence.

Layout alone finds title and abstract in 95 of 100 papers (section 4.3 of McCallum et al. (2000) finds the
abstract by regular expressions). Its findings are hints to the model, which decides on all fields.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from wayhound.documents.document import Document, Line
from wayhound.documents.flow import PageRegion, flow, regions_of, whole_words
from wayhound.documents.headings import (
    inline_abstract,
    is_abstract_heading,
    is_contents_heading,
    is_introduction_heading,
)
from wayhound.papers.fields import MAX_WORDS, FieldSpan, field_spans
from wayhound.papers.front_layout import label_length, printed_title, stated_lines, title_span, with_subtitle
from wayhound.papers.lexicon import shipped_lexicon
from wayhound.papers.models import shipped_crf
from wayhound.papers.sections import Sections, find_sections
from wayhound.papers.tokens import FieldModel, Hint, TokenLine, document_lines, truncated
from wayhound.text.person_names import PARTICLES, PersonName, parse_names

_BETWEEN_NAMES = re.compile(r"[,;&·•]|\band\b")
_MAX_NAME = 100  # characters
_SAME_SIZE = 0.6  # points
_PERMISSION = re.compile(
    r"permission to (?:make|copy)|copies are not made|all rights reserved", re.IGNORECASE
)
_BEGINNING = 300  # characters
_BETWEEN_AUTHORS = frozenset("and und et y e i och en with mit avec by".split())
_CITED_NAMES = re.compile(r"(?!(?:authors?|autor(?:en)?|by|von)\b)[^:]{5,80}(?=:\s+\S)", re.IGNORECASE)
_ADVISED_BY = re.compile(
    r"\b(?:advised|supervised|examined|betreut)\s+(?:by|von|durch)\W*$|"
    r"^\W*(?:(?:first|second|erste[rn]?|zweite[rn]?|thesis)[- ]?)?(?:advis[oe]rs?|supervisors?|examiners?|referees?|"
    r"betreuer(?:in)?|(?:erst|zweit)?gutachter(?:in)?|(?:ko)?referent(?:in)?)\W*$",
    re.IGNORECASE,
)
_SURE, _PROSE = 0.9, 0.3  # confidence of an author; share of words in lower case

STATED_CONFIDENCE = 0.999
"""Of a title that the file states and prints."""

MAX_LINES = 250
"""Lines of a header that are read; a longer one is text without headings."""

HINT_WEIGHT = 3.0
"""Log odds of a hint: log(.95 / .05), since layout finds title and abstract in 95 of 100 papers."""


@dataclass(frozen=True, slots=True)
class FrontField:
    """A field of the front matter: the characters [start, end) of `document.text`.

    `regions` has a page and box for each line that the field is on.
    """

    field: str
    text: str
    start: int
    end: int
    confidence: float
    regions: tuple[PageRegion, ...]


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields before the introduction, in reading order."""

    fields: tuple[FrontField, ...] = ()

    def named(self, field: str) -> tuple[FrontField, ...]:
        return tuple(part for part in self.fields if part.field == field)

    @property
    def title(self) -> FrontField | None:
        """The title with the highest confidence."""
        return max(self.named("title"), key=lambda part: part.confidence, default=None)

    @property
    def abstract(self) -> FrontField | None:
        """The longest abstract; a permission to copy, set like one in many proceedings, only if there is no other."""
        return max(
            self.named("abstract"),
            key=lambda part: (not _PERMISSION.search(part.text[:_BEGINNING]), len(part.text)),
            default=None,
        )

    @property
    def authors(self) -> tuple[PersonName, ...]:
        """The distinct names of authors."""
        is_first_name = shipped_lexicon().is_first_name
        names = (name for part in self.named("author") for name in parse_names(part.text, is_first_name))
        return tuple({name.full: name for name in names}.values())


def read_front_matter(
    document: Document, model: FieldModel | None = None, sections: Sections | None = None
) -> FrontMatter:
    """Return the fields before the introduction; `model` defaults to the shipped CRF."""
    sections = sections or find_sections(document)
    lines = document.lines[: min(MAX_LINES, _header_end(document.lines, sections))]
    page = document.pages[0] if document.pages else None
    size = (page.width, page.height) if page else (0.0, 0.0)
    tokens = truncated(document_lines(lines, size), MAX_WORDS)
    stated = stated_lines(document, lines)
    hints = list(_hints(lines, tokens, sections, stated))
    labelling = (model or shipped_crf("header")).label(tokens, hints)
    words = whole_words(document.lines)
    spans = _with_whole_title(document, field_spans(tokens, document.offsets, labelling), stated)
    spans = _without_false_authors([span for span in spans if not _is_advisor(document, span)])
    return FrontMatter(tuple(_field(document, span, words) for span in spans))


def _with_whole_title(
    document: Document, spans: Sequence[FieldSpan], stated: range = range(0)
) -> list[FieldSpan]:
    """Return the spans with a title of one print: without smaller lines around it, with lines that go on in it.

    Names of journals above a title and authors below it are set in other sizes. Lines that the title takes are no
    longer of another field. The lines that print the `stated` title are the title.
    """
    spans = [read for span in spans if (read := _as_authors(span)).text]
    title = max(
        (span for span in spans if span.field == "title"), key=lambda span: span.confidence, default=None
    )
    if stated:
        start, final = document.offsets[stated[0]], with_subtitle(document.lines, stated[-1])
        end = document.offsets[final] + len(document.lines[final].text)
        whole = FieldSpan("title", document.text[start:end], start, end, STATED_CONFIDENCE)
    elif title is None:
        return list(spans)
    else:
        own = _lines_of(document, title)
        first, last = printed_title(document.lines, *own)
        # Within the first and the last line of the title, the model decides.
        start = title.start if first == own[0] else document.offsets[first]
        end = title.end if last == own[1] else document.offsets[last] + len(document.lines[last].text)
        whole = replace(title, start=start, end=end, text=document.text[start:end])
    others = (rest for span in spans if span is not title for rest in _outside(document, span, start, end))
    return sorted([*others, whole], key=lambda span: span.start)


def _as_authors(span: FieldSpan) -> FieldSpan:
    """Return a title that is a label of names as the names behind it, and any other field as it is."""
    length = label_length(span.text) if span.field == "title" else 0
    if not length:
        return span
    rest = span.text[length:].lstrip()
    return replace(span, field="author", text=rest, start=span.end - len(rest))


def _without_false_authors(spans: Sequence[FieldSpan]) -> list[FieldSpan]:
    """Return the spans without authors that are sentences, advisors, or below an abstract although others are above it.

    The model has learned from English headers, and takes capitals in German sentences and headings for names. Of
    a line that cites the paper, "Lind: On hops, Journal …", only the names before the colon are authors.
    """
    abstract = next((span.start for span in spans if span.field == "abstract"), None)
    above = [span for span in spans if span.field == "author" and not _is_prose(span)]
    has_above = abstract is not None and any(span.start < abstract for span in above)
    kept = list[FieldSpan]()
    for span in spans:
        if span.field != "author":
            kept.append(span)
        elif not _is_prose(span) and not (has_above and abstract is not None and span.start > abstract):
            cited = _CITED_NAMES.match(span.text)
            end = cited.end() if cited else len(span.text)
            kept.append(replace(span, text=span.text[:end], end=span.start + end))
    return kept


def _is_advisor(document: Document, span: FieldSpan) -> bool:
    """Return True for people below a line such as "advised by" on the cover of a thesis."""
    first = _lines_of(document, span)[0]
    return span.field == "author" and first > 0 and bool(_ADVISED_BY.search(document.lines[first - 1].text))


def _is_prose(span: FieldSpan) -> bool:
    """Return True for a doubtful author with many words in lower case that no name has."""
    words = re.findall(r"[^\W\d_][\w-]+", span.text)
    lower = [word for word in words if word[0].islower() and word not in PARTICLES | _BETWEEN_AUTHORS]
    return span.confidence < _SURE and len(lower) >= max(2, _PROSE * len(words))


def _outside(document: Document, span: FieldSpan, start: int, end: int) -> Iterator[FieldSpan]:
    """Yield what is left of a span without the characters [start, end)."""
    for first, last in ((span.start, min(span.end, start)), (max(span.start, end), span.end)):
        if text := document.text[first:last].strip():
            begin = document.text.index(text, first)
            yield replace(span, start=begin, end=begin + len(text), text=text)


def _lines_of(document: Document, span: FieldSpan) -> tuple[int, int]:
    first, last = (bisect_right(document.offsets, at) - 1 for at in (span.start, span.end - 1))
    return first, last


def _header_end(lines: Sequence[Line], sections: Sections) -> int:
    """Return the end of the header, including the heading of the introduction: the model expects it there.

    A table of contents ends it as well, unless the abstract is below.
    """
    end = sections.header.stop
    contents = (n for n in range(max(1, sections.abstract.stop), end) if is_contents_heading(lines[n].text))
    if (before := next(contents, end)) < end:
        return before
    return end + 1 if end < len(lines) and is_introduction_heading(lines[end].text) else end


def _hints(
    lines: Sequence[Line], tokens: Sequence[TokenLine], sections: Sections, stated: range
) -> Iterator[Hint]:
    """Yield a hint for the first word of each line that is title or abstract by layout."""
    abstract = sections.abstract
    above = abstract.start - 1
    heading = above if 0 <= above < len(lines) and is_abstract_heading(lines[above].text) else -1
    head = [n for n in range(min(len(lines), abstract.start or len(lines))) if lines[n].text]
    first, last = title_span([lines[n] for n in head])
    title = set(stated or head[first:last])
    first_token = 0
    for number, line in enumerate(tokens):
        if len(line) and (number in title or number in abstract or number == heading):
            yield Hint(first_token, "title" if number in title else "abstract", HINT_WEIGHT)
        first_token += len(line)


def _field(document: Document, span: FieldSpan, words: AbstractSet[str]) -> FrontField:
    start = _after_heading(document, span) if span.field == "abstract" else span.start
    regions = regions_of(document.lines, document.offsets, start, span.end)
    cut = list(_cut_lines(document, start, span.end))
    text = _names(_of_one_print(cut)) if span.field == "author" else flow(cut, words).text
    return FrontField(span.field, text, start, span.end, span.confidence, regions)


def _after_heading(document: Document, span: FieldSpan) -> int:
    """Return where the abstract begins after its heading, if it has one."""
    number = bisect_right(document.offsets, span.start) - 1
    text, begins = document.lines[number].text, document.offsets[number]
    if is_abstract_heading(text) and begins + len(text) < span.end:
        return document.offsets[number + 1]
    return min(span.end, max(span.start, begins + inline_abstract(text)))


def _cut_lines(document: Document, start: int, end: int) -> Iterator[Line]:
    """Yield the lines of the characters [start, end), cut to these characters."""
    first, last = bisect_right(document.offsets, start) - 1, bisect_right(document.offsets, end - 1)
    for line, at in zip(document.lines[first:last], document.offsets[first:last], strict=True):
        if text := line.text[max(0, start - at) : end - at]:
            yield replace(line, text=text)


def _of_one_print(lines: Sequence[Line]) -> list[Line]:
    """Return the lines that are set as the first: names in bold with an institute in plain letters between them.

    The rest of a row belongs to it: a comma behind a mark that is set otherwise makes it a line of its own.
    """
    kept = list[Line]()
    for line in lines:
        goes_on = bool(kept) and _is_in_row(kept[-1], line)
        if (line.bold == lines[0].bold or goes_on) and abs(line.size - lines[0].size) < _SAME_SIZE:
            kept.append(line)
    return kept


def _is_in_row(before: Line, line: Line) -> bool:
    """Return True for a line that begins where the one before it ends, at the same height."""
    if not before.box or not line.box or abs(before.box[1] - line.box[1]) >= _SAME_SIZE:
        return False
    return abs(line.box[0] - before.box[2]) < line.size


def _names(lines: Sequence[Line]) -> str:
    """Join names to one line, with a comma where one line ends and the next begins with a whole name."""
    text = ""
    for line in lines:
        before = _BETWEEN_NAMES.split(text[-_MAX_NAME:])[-1].split()
        after = _BETWEEN_NAMES.split(line.text[:_MAX_NAME])[0].split()
        whole = len(before) > 1 and len(after) > 1 and not text.endswith("-")
        text += (", " if whole else " ") + line.text if text else line.text
    return text

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
from wayhound.documents.headings import inline_abstract, is_abstract_heading, is_introduction_heading
from wayhound.papers.fields import MAX_WORDS, FieldSpan, field_spans
from wayhound.papers.lexicon import shipped_lexicon
from wayhound.papers.models import shipped_crf
from wayhound.papers.sections import Sections, find_sections
from wayhound.papers.tokens import FieldModel, Hint, TokenLine, document_lines, truncated
from wayhound.text.person_names import PARTICLE_PATTERN, PersonName, parse_names

_MAX_NAME_LINE = 400  # characters of a line of names
_MARKS = re.compile(r"[\d*∗†‡§¶‖#⋆]+|\s?\([^)]*\)?")
_NAME_SEPARATORS = re.compile(r"\s*(?:,|;|·|•|\band\b|\bund\b|\bet\b|&)\s*", re.IGNORECASE)
_NAME_WORD = rf"(?:(?:[^\W\d_a-z]\.-?)+|[^\W\d_a-z](?:[^\W\d_]|['’-])*\.?|{PARTICLE_PATTERN})"
_NAME = re.compile(rf"(?:By\s)?{_NAME_WORD}(?:[\s-]+{_NAME_WORD}){{1,4}}")
_NO_NAME = re.compile(
    r"universi|institut|depart|laborator|school|college|cent(?:er|re)\b|facult|research|technolog|scienc|engineer|"
    r"\binc\b|\bcorp|\bltd|gmbh|compan|academ|college|hospital|divis|group|unit\b|street|road|avenue|\bst\.|parkway|"
    r"\bbox\b|abstract|proceed|conference|journal|workshop|appear|submitted|copyright|editor|\busa\b|\bu\.s\.a|\buk\b|"
    r"united|kingdom|canada|germany|france|israel|china|japan|india|italy|spain|switzerland|australia|finland|belgium|"
    r"netherlands|austria|sweden|statistic|mathemat|comput|informat|\blabs?\b|google|microsoft|yahoo|\bibm\b|http",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class FrontTexts:
    """Title, authors and abstract as text; empty if not found."""

    title: str = ""
    authors: tuple[str, ...] = ()
    abstract: str = ""


def read_front_by_layout(document: Document, sections: Sections | None = None) -> FrontTexts:
    """Return title, authors and abstract by layout alone: the baseline of the header model."""
    sections = sections or find_sections(document)
    words = whole_words(document.lines)
    before = sections.abstract.start if sections.abstract else sections.header.stop
    head = [line for line in document.lines[:before] if line.text]
    first, last = title_span(head)
    title = flow(head[first:last], words).text
    lines = document.lines[sections.abstract.start : sections.abstract.stop]
    abstract = flow([line for line in lines if line.text], words).text
    return FrontTexts(title, tuple(_authors(head[last:])), abstract[inline_abstract(abstract) :])


def title_span(head: Sequence[Line]) -> tuple[int, int]:
    """Return the range of lines in the largest print; without sizes, the first lines up to an author."""
    sizes = [line.size if sum(map(str.isalpha, line.text)) >= 3 else 0.0 for line in head]
    largest = max(sizes, default=0.0)
    if not largest:
        return 0, next((i for i in range(1, len(head)) if _looks_like_author(head[i])), min(len(head), 1))
    first = sizes.index(largest)
    last = first + 1
    while last < len(head) and head[last].size >= 0.95 * largest and _goes_on(head[last - 1], head[last]):
        last += 1
    return first, last


def _goes_on(above: Line, line: Line) -> bool:
    if not above.box and not line.box:
        return bool(line.text) and line.size == above.size  # a paragraph of a file without positions
    if not above.box or not line.box or above.page != line.page:
        return False
    return line.box[1] - above.box[1] < 2.2 * line.size


def _looks_like_author(line: Line) -> bool:
    return any(True for _ in _names_in(line.text))


def _authors(lines: Sequence[Line]) -> Iterator[str]:
    """Yield the names in the lines below the title; only in bold ones if some lines with names are bold."""
    bold = [line for line in lines if line.bold and _looks_like_author(line)]
    seen: set[str] = set()
    for line in bold or lines:
        for name in _names_in(line.text):
            if name not in seen:
                seen.add(name)
                yield name


def _names_in(text: str) -> Iterator[str]:
    if len(text) > _MAX_NAME_LINE or "@" in text or _NO_NAME.search(text):
        return
    for part in _NAME_SEPARATORS.split(_MARKS.sub(" ", text)):
        name = " ".join(part.split())
        if len(name) >= 4 and _NAME.fullmatch(name):
            yield name.removeprefix("By ")


_BETWEEN_NAMES = re.compile(r"[,;&·•]|\band\b")
_MAX_NAME = 100  # characters

_TITLE_PRINT = 0.85  # of the largest print of a title; smaller lines are of something else
_UNFINISHED_TITLE = re.compile(
    r"\b(?:of|in|on|for|and|the|an?|with|from|by|to|at|as|or|de|la|el|en|del|des|du|der|die|das|und|von|für|im|zur|zum|et|"
    r"les|le|di|e|y)$|[-–:,&]$",
    re.IGNORECASE,
)

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
        return max(self.named("abstract"), key=lambda part: len(part.text), default=None)

    @property
    def authors(self) -> tuple[PersonName, ...]:
        """The distinct names of authors."""
        is_first_name = shipped_lexicon().is_first_name
        names = (
            name for part in self.named("author") for name in parse_names(part.text, is_first_name).names
        )
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
    labelling = (model or shipped_crf("header")).label(tokens, list(_hints(lines, tokens, sections)))
    words = whole_words(document.lines)
    spans = _with_whole_title(document, field_spans(tokens, document.offsets, labelling))
    return FrontMatter(tuple(_field(document, span, words) for span in spans))


def _with_whole_title(document: Document, spans: Sequence[FieldSpan]) -> list[FieldSpan]:
    """Return the spans with a title of one print: without smaller lines around it, with lines that go on in it.

    Names of journals above a title and authors below it are set in other sizes. Lines that the title takes are no
    longer of another field.
    """
    title = max(
        (span for span in spans if span.field == "title"), key=lambda span: span.confidence, default=None
    )
    if title is None:
        return list(spans)
    own = _lines_of(document, title)
    first, last = _printed_title(document, *own)
    # Within the first and the last line of the title, the model decides.
    start = title.start if first == own[0] else document.offsets[first]
    end = title.end if last == own[1] else document.offsets[last] + len(document.lines[last].text)
    whole = replace(title, start=start, end=end, text=document.text[start:end])
    others = [span for span in spans if span is not title and (span.end <= start or span.start >= end)]
    return sorted([*others, whole], key=lambda span: span.start)


def _lines_of(document: Document, span: FieldSpan) -> tuple[int, int]:
    first, last = (bisect_right(document.offsets, at) - 1 for at in (span.start, span.end - 1))
    return first, last


def _printed_title(document: Document, first: int, last: int) -> tuple[int, int]:
    """Return the first and last line of the title as it is printed, given those that the model found."""
    lines = document.lines
    sizes = {n: lines[n].size for n in range(first, last + 1) if sum(map(str.isalpha, lines[n].text)) >= 3}
    largest = max(sizes.values(), default=0.0)
    if not largest or not lines[first].box:
        return first, last
    begin = end = next(n for n, size in sizes.items() if size == largest)
    while begin > first and lines[begin - 1].size >= _TITLE_PRINT * largest:
        begin -= 1
    while end < last and lines[end + 1].size >= _TITLE_PRINT * largest:
        end += 1
    if end < last and lines[end].text.rstrip().endswith((":", ",", "-", "–", "—")):
        end = last  # a subtitle in smaller print
    while end + 1 < len(lines) and _continues_title(lines[end], lines[end + 1]):
        end += 1
    return begin, end


def _continues_title(above: Line, line: Line) -> bool:
    """Return True for a line in the print of the one above, directly below it, that the sentence needs."""
    same_print = abs(above.size - line.size) < 0.3 and above.bold == line.bold and above.column == line.column
    if not (same_print and _goes_on(above, line) and above.box and line.box):
        return False
    is_close = line.box[1] - above.box[1] < 1.4 * line.size
    return is_close and bool(_UNFINISHED_TITLE.search(above.text))


def _header_end(lines: Sequence[Line], sections: Sections) -> int:
    """Return the end of the header, including the heading of the introduction: the model expects it there."""
    end = sections.header.stop
    return end + 1 if end < len(lines) and is_introduction_heading(lines[end].text) else end


def _hints(lines: Sequence[Line], tokens: Sequence[TokenLine], sections: Sections) -> Iterator[Hint]:
    """Yield a hint for the first word of each line that is title or abstract by layout."""
    abstract = sections.abstract
    above = abstract.start - 1
    heading = above if 0 <= above < len(lines) and is_abstract_heading(lines[above].text) else -1
    head = [n for n in range(min(len(lines), abstract.start or len(lines))) if lines[n].text]
    first, last = title_span([lines[n] for n in head])
    title = set(head[first:last])
    first_token = 0
    for number, line in enumerate(tokens):
        if len(line) and (number in title or number in abstract or number == heading):
            yield Hint(first_token, "title" if number in title else "abstract", HINT_WEIGHT)
        first_token += len(line)


def _field(document: Document, span: FieldSpan, words: AbstractSet[str]) -> FrontField:
    start = _after_heading(document, span) if span.field == "abstract" else span.start
    regions = regions_of(document.lines, document.offsets, start, span.end)
    cut = list(_cut_lines(document, start, span.end))
    text = _names(cut) if span.field == "author" else flow(cut, words).text
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


def _names(lines: Sequence[Line]) -> str:
    """Join names to one line, with a comma where one line ends and the next begins with a whole name."""
    text = ""
    for line in lines:
        before = _BETWEEN_NAMES.split(text[-_MAX_NAME:])[-1].split()
        after = _BETWEEN_NAMES.split(line.text[:_MAX_NAME])[0].split()
        whole = len(before) > 1 and len(after) > 1 and not text.endswith("-")
        text += (", " if whole else " ") + line.text if text else line.text
    return text

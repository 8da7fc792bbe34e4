"""The sections of a paper: header, abstract, body and references; and whether a document is a paper.

McCallum et al. (2000, section 2) accept a document as a research paper if regular expressions find the headings
of an abstract or introduction, and of references. Here a list that looks like references is enough: outside computer
science many papers have no heading of an abstract or introduction, and headings have many spellings.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Literal

from wayhound.documents.document import Document, Line
from wayhound.documents.headings import (
    inline_abstract,
    is_abstract_heading,
    is_heading_after_references,
    is_introduction_heading,
    is_references_heading,
)
from wayhound.papers.reference_cut import YEAR_OR_STATUS

_LARGER = 1.12  # times the usual size of a list: the print of a heading, or of a running foot
_SMALLER = 0.82  # times the usual size of a list: footnotes, and labels in figures
_DENSE = 0.1  # lines with a year among those of a list; entries seldom have more than ten lines
_ENOUGH_COUNTED = 4  # labels [1], [2], … that make a list below its heading, though it has no years
_PAGE_LINES = 200  # at most, of a page before a running head
_BEGINNING = 30  # lines of a list by which it is known
_FIRST_ENTRIES = 20  # lines of a list that show its print
_ADDRESS = re.compile(r"://|\bwww\.|^\S{1,200}/\S{1,200}$")
_STAMPED_PAGES = 3
_PAGE_NUMBER = re.compile(r"\W*\d{1,3}\W*")
_FRONT_PAGES = 3  # pages that are searched for abstract and introduction
_FIRST_NUMBERED = re.compile(r"(?:1|I)[.)]?\s+[^\W\d_]\S*")
_AFTER_ABSTRACT = re.compile(
    r"[*∗†‡§¶]\s?\w|key\s?-?words|index terms|categories and subject|general terms|subject class|jel class|"
    r"ams class|mots[- ]cl[ée]s|schl[üu]sselw|palabras clave|pacs|ccs concepts|1998 acm",
    re.IGNORECASE,
)
_LABEL = re.compile(r"\[[^\[\]\s][^\[\]]{0,30}\]|\(?\d{1,3}[.)]\s|•\s")
_CAPTION = re.compile(
    r"(?:fig(?:ure|\.)|table|algorithm)\s*\d+\s*[:.]\s|\([a-h]\)(?:\s.{,40})?$", re.IGNORECASE
)
# Such as [1] Author, 1. Author, or, with the number set above the line, 1A. Author.
_NUMBERED_ENTRY = re.compile(
    r"\s*(?:(?:\[(\d{1,3})\]|(\d{1,3})[.)])\s+\S|(\d{1,3})(?=[^\W\d_a-z](?:\.\s?[^\W\d_]|[^\W\d_]+,)))"
)

Verdict = Literal["paper", "no_front", "no_references", "neither"]

_SENTENCES: dict[Verdict, str] = {
    "paper": "It has an abstract or introduction, and references.",
    "no_front": "It has references, though no heading of an abstract or introduction.",
    "no_references": "It has an abstract or introduction, but no list of references.",
    "neither": "It has neither an abstract or introduction, nor references.",
}


@dataclass(frozen=True, slots=True)
class Sections:
    """Ranges of `document.lines`; empty for a section that was not found.

    `header` ends where the body begins. `abstract` excludes its heading, unless both share a line.
    """

    header: range
    abstract: range
    references: range
    n_lines: int
    has_front: bool

    @property
    def verdict(self) -> Verdict:
        if self.has_front:
            return "paper" if self.references else "no_references"
        return "no_front" if self.references else "neither"

    @property
    def is_paper(self) -> bool:
        """True if there are references: papers of many fields have no heading of an abstract or introduction."""
        return bool(self.references)

    @property
    def reason(self) -> str:
        """A sentence that explains the verdict."""
        return _SENTENCES[self.verdict]

    @property
    def body(self) -> tuple[range, ...]:
        """The lines in which call-outs occur: after the header, before and after the references."""
        if not self.references:
            return (range(self.header.stop, self.n_lines),)
        return (
            range(self.header.stop, max(self.header.stop, self.references.start - 1)),
            range(self.references.stop, self.n_lines),
        )


def find_sections(document: Document) -> Sections:
    lines = document.lines
    references = _references(lines)
    front = _front_lines(lines, references.start if references else len(lines))
    abstract = next((i for i in front if is_abstract_heading(lines[i].text)), None)
    if abstract is None:
        abstract = next((i for i in front if inline_abstract(lines[i].text)), None)
    introduction = next((i for i in front if is_introduction_heading(lines[i].text)), None)
    span = _abstract_span(lines, abstract, introduction, len(front))
    body = introduction
    if body is None:
        body = span.stop or _first_numbered(lines, front, 0) or min(len(front), _page_end(lines))
    has_front = abstract is not None or introduction is not None
    return Sections(range(body), span, references, len(lines), has_front)


def header_lines(document: Document) -> tuple[Line, ...]:
    """Return the lines before the introduction: title, authors, abstract and so on."""
    return document.lines[: find_sections(document).header.stop]


def reference_lines(document: Document) -> tuple[Line, ...]:
    """Return the lines of the list of references, without its heading, page numbers and figures."""
    span = find_sections(document).references
    lines = document.lines[span.start : span.stop]
    return tuple(_without_figures(tuple(_without_margins(lines))))


def _front_lines(lines: tuple[Line, ...], end: int) -> range:
    first = lines[0].page if lines else 1
    stop = next((i for i, line in enumerate(lines) if line.page >= first + _FRONT_PAGES), len(lines))
    if lines and lines[0].page == lines[-1].page:
        stop = min(stop, 400)  # text without pages
    return range(min(stop, end))


def _page_end(lines: tuple[Line, ...]) -> int:
    return sum(line.page == lines[0].page for line in lines[:400]) if lines else 0


def _first_numbered(lines: tuple[Line, ...], front: range, start: int) -> int | None:
    """Return the heading of a first section with another name: numbered, and set as a heading."""
    for i in front[start:]:
        line = lines[i]
        if len(line.text) <= 80 and _FIRST_NUMBERED.match(line.text) and _stands_out(line, lines, i):
            return i
    return None


def _stands_out(line: Line, lines: tuple[Line, ...], i: int) -> bool:
    if not line.box:
        return len(line.text) < 60 and not line.text.endswith((".", ","))
    after = [other.size for other in lines[i + 1 : i + 12]]
    return bool(after) and (line.size > 1.08 * median(after) or line.bold or line.text.isupper())


def _abstract_span(
    lines: tuple[Line, ...], heading: int | None, introduction: int | None, front: int
) -> range:
    """Return the lines up to the introduction or keywords; without introduction, as far as they look alike."""
    if heading is None:
        return range(0)
    start = heading if inline_abstract(lines[heading].text) else heading + 1
    end = introduction if introduction is not None and introduction > start else None
    stop = end or _first_numbered(lines, range(front), start) or min(front, start + 80)
    for i in range(start + 1, stop):
        if _AFTER_ABSTRACT.match(lines[i].text) or is_abstract_heading(lines[i].text):
            return range(start, i)
        if end is None and _leaves_block(lines[start : i + 1]):
            return range(start, i)
    return range(start, max(start, stop))


def _leaves_block(lines: tuple[Line, ...]) -> bool:
    """Return True if the last line is separate from those before it: below a gap, at another edge or size."""
    before, line = lines[-2], lines[-1]
    if not before.box or not line.box:
        return not before.text.strip()
    if before.column != line.column or before.page != line.page:
        return False
    leading = before.size * 1.6
    edge = min(other.box[0] for other in lines[:-1] if other.box and other.column == line.column)
    return line.box[1] - before.box[1] > leading and (
        abs(line.box[0] - edge) > 0.8 * line.size or abs(line.size - before.size) > 0.5
    )


def _references(lines: tuple[Line, ...]) -> range:
    """Return the list below a heading of references with most years, or else a numbered list at the end."""
    starts = list[int]()
    for i, line in enumerate(lines):
        if is_references_heading(line.text) and not (starts and _is_running_head(lines, starts[-1], i)):
            starts.append(i + 1)
    stamps = _stamps(lines)
    below = (
        range(start, _references_end(lines, start, after - 1, stamps))
        for start, after in pairwise([*starts, len(lines) + 1])
    )
    # Only the list counts: the addresses below a list of one reference have no years.
    spans = [
        span
        for span in below
        if _looks_like_references(lines[span.start : min(span.stop, span.start + _BEGINNING)])
    ]
    best = max(spans, key=lambda span: _evidence(lines, span), default=range(0))
    return best if best and _is_dense(lines, best) else _unheaded_references(lines) or best


def _is_running_head(lines: tuple[Line, ...], start: int, at: int) -> bool:
    """Return True for a heading that a list from `start` on repeats at the top of a further page."""
    before = range(max(start, at - _PAGE_LINES), at)
    return lines[at].page > lines[at - 1].page and _years(lines, before) >= 1 and _is_dense(lines, before)


def _evidence(lines: tuple[Line, ...], span: range) -> float:
    """Return the number of lines with a year; less where they are few among many lines, as in the text of a paper."""
    years = _years(lines, span)
    return years if _is_dense(lines, span) else years * years / (_DENSE * max(1, len(span)))


def _is_dense(lines: tuple[Line, ...], span: range) -> bool:
    return _years(lines, span) >= _DENSE * len(span)


def _years(lines: tuple[Line, ...], span: range) -> int:
    return sum(bool(YEAR_OR_STATUS.search(lines[i].text)) for i in span)


def _looks_like_references(lines: tuple[Line, ...]) -> bool:
    years = sum(bool(YEAR_OR_STATUS.search(line.text)) for line in lines)
    labels = sum(bool(_LABEL.match(line.text)) for line in lines)
    counted = _count_up(tuple(line for line in lines if line.text.startswith("[")))
    return counted >= _ENOUGH_COUNTED or (bool(years) and years + labels >= min(4, 0.2 * len(lines)))


def _stamps(lines: tuple[Line, ...]) -> frozenset[str]:
    """Return the texts that several pages repeat, as "Draft" across each of them."""
    counts = Counter(line.text for line in lines)
    return frozenset(text for text, count in counts.items() if count >= _STAMPED_PAGES)


def _references_end(lines: tuple[Line, ...], start: int, end: int, stamps: AbstractSet[str]) -> int:
    """Return the line of the next heading, recognised by its words or its size; `stamps` are none."""
    usual = _usual_size(lines[start : min(end, start + _FIRST_ENTRIES)])
    for i in range(start + 1, end):
        line = lines[i]
        if is_heading_after_references(line.text) and _is_set_as_heading(line, usual):
            return i
        is_larger = usual and line.size > _LARGER * usual and sum(map(str.isalpha, line.text)) >= 4
        is_larger = is_larger and not _ADDRESS.search(line.text)  # which many set in a typewriter font
        if is_larger and line.text not in stamps and not _is_numbered_on(lines, start, i):
            return i
    return end


def _is_numbered_on(lines: tuple[Line, ...], start: int, at: int) -> bool:
    """Return True if the numbers of the list go on after a line, which is then a running foot or head."""
    numbers = [_entry_number(line) for line in lines[max(start, at - 60) : at]]
    last = next((number for number in reversed(numbers) if number), 0)
    return bool(last) and any(_entry_number(line) == last + 1 for line in lines[at + 1 : at + 6])


def _entry_number(line: Line) -> int:
    match = _NUMBERED_ENTRY.match(line.text)
    return int(match[1] or match[2] or match[3]) if match else 0


def _usual_size(lines: tuple[Line, ...]) -> float:
    """Return the size of most letters, so that labels in figures count little."""
    letters = Counter[float]()
    for line in lines:
        letters[line.size] += len(line.text)
    return max(letters, key=letters.__getitem__, default=0.0)


def _without_margins(lines: tuple[Line, ...]) -> Iterator[Line]:
    """Yield the lines but those that the margins of short documents leave: page numbers, and the heading once more."""
    pages = [0, *(line.page for line in lines), 0]
    for i, line in enumerate(lines):
        at_edge = pages[i] != line.page or pages[i + 2] != line.page  # the first or the last line of its page
        if not (at_edge and (_PAGE_NUMBER.fullmatch(line.text) or is_references_heading(line.text))):
            yield line


def _without_figures(lines: tuple[Line, ...]) -> Iterator[Line]:
    """Yield the lines that are not of figures or tables: small print, captions, lines across both columns."""
    usual, in_columns = _usual_size(lines), 2 * sum(line.column > 0 for line in lines) > len(lines)
    caption = kept = None
    for line in lines:
        is_other_print = not _SMALLER * usual <= line.size <= _LARGER * usual
        if line.box and line.size >= 1 and is_other_print and not _ADDRESS.search(line.text):
            continue  # some fonts say that they are smaller than a point
        if _CAPTION.match(line.text) or (caption and _is_below(caption, line)):
            caption = line if line.box else None
        elif in_columns and line.column == 0 and not (kept and _is_below(kept, line)):
            caption = None
        else:
            caption, kept = None, line
            yield line


def _is_below(above: Line, line: Line) -> bool:
    if not above.box or not line.box or above.page != line.page:
        return False
    aligned = abs(above.box[0] - line.box[0]) < 2 * above.size
    return aligned and 0 < line.box[1] - above.box[1] < 1.5 * above.size


def _is_set_as_heading(line: Line, usual: float) -> bool:
    if not line.box:
        return len(line.text) < 50
    return line.bold or line.size > 1.05 * usual or line.text.isupper() or len(line.text) < 25


def _unheaded_references(lines: tuple[Line, ...]) -> range:
    """Return entries numbered from 1 in the second half of the document, most of them with a year."""
    counted: dict[int, int] = {}  # by number: how many entries count up from the next line that has it
    years = 0
    for start in range(len(lines) - 1, len(lines) // 2, -1):
        years += bool(YEAR_OR_STATUS.search(lines[start].text))
        number = _entry_number(lines[start])
        counted[number] = 1 + counted.get(number + 1, 0)
        if number == 1 and counted[1] >= 5 and years >= 0.6 * counted[1]:
            return range(start, _references_end(lines, start, len(lines), _stamps(lines)))
    return range(0)


def _count_up(lines: tuple[Line, ...]) -> int:
    expected = 1
    for line in lines:
        if _entry_number(line) == expected:
            expected += 1
    return expected - 1

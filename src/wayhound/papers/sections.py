"""The parts of a paper: what stands before the introduction, the abstract, the body, the references.

McCallum et al. (2000, section 2) take a document for a research paper when regular expressions find the
headers of an abstract or introduction and of a reference section. So do we, but a heading may be spelled in
many ways, the introduction may bear another name, and a list of references must look like one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
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

_FRONT_PAGES = 3  # on which abstract and introduction are looked for
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
_NUMBERED_ENTRY = re.compile(r"\s*(?:\[(\d{1,3})\]|(\d{1,3})[.)])\s+\S")

Verdict = Literal["paper", "no_front", "no_references", "neither"]

_SENTENCES: dict[Verdict, str] = {
    "paper": "It has an abstract or introduction, and references.",
    "no_front": "It has references, but neither an abstract nor an introduction.",
    "no_references": "It has an abstract or introduction, but no list of references.",
    "neither": "It has neither an abstract or introduction, nor references.",
}


@dataclass(frozen=True, slots=True)
class Sections:
    """Ranges of `document.lines`; an empty range where a part was not found.

    `header` ends where the body begins. `abstract` is without its heading, unless both share a line.
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
        return self.verdict == "paper"

    @property
    def reason(self) -> str:
        """The verdict as a sentence."""
        return _SENTENCES[self.verdict]

    @property
    def body(self) -> tuple[range, ...]:
        """Where call-outs are looked for: after the header, before and after the references."""
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
    found = abstract is not None or introduction is not None
    return Sections(range(body), span, references, len(lines), found)


def header_lines(document: Document) -> tuple[Line, ...]:
    """The lines before the introduction, in reading order: title, authors, abstract and their like."""
    return document.lines[: find_sections(document).header.stop]


def reference_lines(document: Document) -> tuple[Line, ...]:
    """The lines of the list of references, without its heading and without figures that stand among them."""
    span = find_sections(document).references
    return tuple(_without_floats(document.lines[span.start : span.stop]))


def _front_lines(lines: tuple[Line, ...], end: int) -> range:
    first = lines[0].page if lines else 1
    stop = next((i for i, line in enumerate(lines) if line.page >= first + _FRONT_PAGES), len(lines))
    if lines and lines[0].page == lines[-1].page:
        stop = min(stop, 400)  # text without pages
    return range(min(stop, end))


def _page_end(lines: tuple[Line, ...]) -> int:
    return sum(line.page == lines[0].page for line in lines[:400]) if lines else 0


def _first_numbered(lines: tuple[Line, ...], front: range, start: int) -> int | None:
    """A first section that is called something else than introduction: numbered, and set as a heading."""
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
    """Up to the introduction or keywords; without the former, as far as the lines look alike."""
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
    """Whether the last line stands apart from those before it: further down than a line, at another edge."""
    before, line = lines[-2], lines[-1]
    if not before.box or not line.box:
        return not before.text.strip()
    if before.column != line.column or before.page != line.page:
        return False
    leading = before.size * 1.6
    edge = min(each.box[0] for each in lines[:-1] if each.box and each.column == line.column)
    return line.box[1] - before.box[1] > leading and (
        abs(line.box[0] - edge) > 0.8 * line.size or abs(line.size - before.size) > 0.5
    )


def _references(lines: tuple[Line, ...]) -> range:
    """The list of references with a heading that has most years, or else a numbered list at the end."""
    starts = [i + 1 for i, line in enumerate(lines) if is_references_heading(line.text)]
    spans = [
        range(start, _references_end(lines, start, after - 1))
        for start, after in pairwise([*starts, len(lines) + 1])
        if _looks_like_references(lines[start : start + 30])
    ]
    return max(spans, key=lambda span: _years(lines, span), default=None) or _unheaded_references(lines)


def _years(lines: tuple[Line, ...], span: range) -> int:
    return sum(bool(YEAR_OR_STATUS.search(lines[i].text)) for i in span)


def _looks_like_references(lines: tuple[Line, ...]) -> bool:
    years = sum(bool(YEAR_OR_STATUS.search(line.text)) for line in lines)
    labels = sum(bool(_LABEL.match(line.text)) for line in lines)
    return bool(years) and years + labels >= min(4, 0.2 * len(lines))


def _references_end(lines: tuple[Line, ...], start: int, end: int) -> int:
    """The next heading: by its words, or by being larger than all references are."""
    usual = _usual_size(lines[start : min(end, start + 60)])
    for i in range(start + 1, end):
        line = lines[i]
        if is_heading_after_references(line.text) and _is_set_as_heading(line, usual):
            return i
        if usual and line.size > 1.12 * usual and sum(map(str.isalpha, line.text)) >= 4:
            return i
    return end


def _usual_size(lines: tuple[Line, ...]) -> float:
    """Of most letters, so that labels in figures do not count for much."""
    letters = Counter[float]()
    for line in lines:
        letters[line.size] += len(line.text)
    return max(letters, key=letters.__getitem__, default=0.0)


def _without_floats(lines: tuple[Line, ...]) -> Iterator[Line]:
    """Figures and tables among references: small print, captions, lines across two columns of references."""
    usual, in_columns = _usual_size(lines), 2 * sum(line.column > 0 for line in lines) > len(lines)
    caption = kept = None
    for line in lines:
        if line.box and line.size < 0.8 * usual:
            continue
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
    """Entries numbered from 1 upwards in the last part of the document, most of them with a year."""
    for start in range(len(lines) - 1, len(lines) // 2, -1):
        found = _NUMBERED_ENTRY.match(lines[start].text)
        if found and (found[1] or found[2]) == "1":
            entries = _count_up(lines[start:])
            years = sum(bool(YEAR_OR_STATUS.search(line.text)) for line in lines[start:])
            if entries >= 5 and years >= 0.6 * entries:
                return range(start, _references_end(lines, start, len(lines)))
    return range(0)


def _count_up(lines: tuple[Line, ...]) -> int:
    expected = 1
    for line in lines:
        found = _NUMBERED_ENTRY.match(line.text)
        if found and int(found[1] or found[2]) == expected:
            expected += 1
    return expected - 1

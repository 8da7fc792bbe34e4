"""Title, authors and abstract by layout alone: the floor that a learned header model has to beat."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trailmark.extract.documents.document import Document, Line
from trailmark.extract.documents.flow import flow, words_of
from trailmark.extract.documents.headings import inline_abstract
from trailmark.extract.papers.sections import Sections, find_sections

_LONGEST_LINE = 400  # characters; a line of names is shorter
_SIGNS = re.compile(r"[\d*∗†‡§¶‖#⋆]+|\s?\([^)]*\)?")
_BETWEEN_NAMES = re.compile(r"\s*(?:,|;|·|•|\band\b|\bund\b|\bet\b|&)\s*", re.IGNORECASE)
_PARTICLE = r"van|von|de[rnl]?|di|da|dos|du|la|le|bin|el|al"
_NAME_WORD = rf"(?:(?:[^\W\d_a-z]\.-?)+|[^\W\d_a-z](?:[^\W\d_]|['’-])*\.?|{_PARTICLE})"
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
class Front:
    """What stands at the front of a paper; "" and () for what was not found."""

    title: str = ""
    authors: tuple[str, ...] = ()
    abstract: str = ""


def read_front(document: Document, sections: Sections | None = None) -> Front:
    sections = sections or find_sections(document)
    words = words_of(document.lines)
    before = sections.abstract.start if sections.abstract else sections.header.stop
    head = [line for line in document.lines[:before] if line.text]
    first, last = title_span(head)
    title = flow(head[first:last], words).text
    lines = document.lines[sections.abstract.start : sections.abstract.stop]
    abstract = flow([line for line in lines if line.text], words).text
    return Front(title, tuple(_authors(head[last:])), abstract[inline_abstract(abstract) :])


def title_span(head: Sequence[Line]) -> tuple[int, int]:
    """The lines in the largest print; where print has no size, the first lines up to an author."""
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
    if not above.box or not line.box or above.page != line.page:
        return False
    return line.box[1] - above.box[1] < 2.2 * line.size


def _looks_like_author(line: Line) -> bool:
    return any(True for _ in _names_in(line.text))


def _authors(lines: Sequence[Line]) -> Iterator[str]:
    """Names in the lines below the title; where some lines are bold, only those can hold them."""
    bold = [line for line in lines if line.bold and _looks_like_author(line)]
    seen: set[str] = set()
    for line in bold or lines:
        for name in _names_in(line.text):
            if name not in seen:
                seen.add(name)
                yield name


def _names_in(text: str) -> Iterator[str]:
    if len(text) > _LONGEST_LINE or "@" in text or _NO_NAME.search(text):
        return
    for part in _BETWEEN_NAMES.split(_SIGNS.sub(" ", text)):
        name = " ".join(part.split())
        if len(name) >= 4 and _NAME.fullmatch(name):
            yield name.removeprefix("By ")

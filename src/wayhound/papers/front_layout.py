"""The front matter by layout alone: title, authors and abstract by size, style and place of lines.

It is the baseline of the header model, and its second witness: which lines are the title as it is printed is decided
here, given those that the model found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from wayhound.documents.document import Document, Line
from wayhound.documents.flow import flow, whole_words
from wayhound.documents.headings import (
    inline_abstract,
    is_abstract_heading,
    is_introduction_heading,
    is_references_heading,
)
from wayhound.papers.sections import Sections, find_sections
from wayhound.text.person_names import PARTICLE_PATTERN
from wayhound.text.words import letters_and_digits

_TITLE_PRINT = 0.85  # of the largest print of a title; smaller lines are of something else
_UNFINISHED_TITLE = re.compile(
    r"\b(?:of|in|on|for|and|the|an?|with|from|by|to|at|as|or|de|la|el|en|del|des|du|der|die|das|und|von|für|im|zur|zum|et|"
    r"les|le|di|e|y)$|[-–:,&]$",
    re.IGNORECASE,
)
_MIN_STATED = 8  # letters of a stated title; shorter ones may be words of the page by chance
_COVER_LINES, _MAX_COVER = 20, 60  # with words; with numbers of drawings
# Gap below the name of a series by its size; its size by that of the title.
_SERIES_GAP, _SERIES_PRINT = 3.5, 1.5
_MAX_TITLE_LINES = 8
_MIN_LETTERS = 3  # of a line of a title; page numbers and marks have fewer
_BELOW_KICKER = 6  # lines
_GAP, _WIDE_GAP = 2.2, 3.2  # between the tops of two lines of a title, by their size
_USUAL_LINES = 200  # from the beginning, whose median size is that of the body
_LARGE = 1.2  # times the usual size: large enough for a title that reads like the name of a venue
_KIND_OF_WORK = re.compile(
    r"\W*(?:"
    r"(?:(?:original|research|review|regular|full|short|invited|survey|technical|case|brief|rapid|data|software|white|"
    r"methodology|tutorial|feature|position|discussion|working|conference|seminar|term)\s+)"
    r"(?:article|paper|report|communication|note|letter|study|contribution|proposal)s?|"
    r"article|editorial|perspective|commentary|preprint|accepted manuscript|author manuscript|open access|"
    r"supplementary (?:material|information)|(?:(?:first|preliminary|working)\s+)?draft|"
    r"(?:(?:bachelor|master|doctoral|diploma|ph\.?\s?d\.?)(?:['’]?s)?[- ]+)?(?:thesis|dissertation)|"
    r"(?:bachelor|master|magister|diplom|doktor|seminar|haus|abschluss|studien)arbeit|forschungsbericht|"
    r"arbeitsbericht|diskussionspapier|originalarbeit|aufsatz|"
    r"article de recherche|rapport (?:de recherche|technique)|m[ée]moire|th[èe]se(?: de doctorat)?|"
    r"art[íi]culo(?: original| de investigaci[óo]n)?|tesis(?: doctoral)?|tesi di (?:laurea|dottorato)|"
    r"artigo(?: original)?"
    r")(?:\s*[,:–—|-]?\s*(?:no\.?|nr\.?|#)?\s*[\d/.-]*|\s+open access)\W*",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?:[^\W\d_]+\s+){0,4}(?:author(?:\(s\)|s)?|autor(?:en)?|auteurs?)\s*(?::|$)|"
    r"(?:authors?|autor(?:en)?)\s+(?=(?-i:[A-Z])[^\W\d_]+\s(?-i:[A-Z]))",
    re.IGNORECASE,
)
# Such as: Volume 12 Number 3 1985.
_ISSUE = re.compile(r"\W*vol(?:ume|\.)?\s*\d[\d ]*[,.]?\s*(?:no\.?|number|issue)\s*\d", re.IGNORECASE)
_OF_VENUE = re.compile(
    r"\W*(?:proceedings|proc\.|transactions|annals|bulletin|journal)\s+of\s", re.IGNORECASE
)
# Notices that are set across a page in very large print.
_NOTICE = re.compile(
    r"\W*(?:©|\(c\)\s|copyright\b|all rights reserved\b|do not (?:distribute|cite|quote|copy)\b|"
    r"(?:draft|confidential|preprint|uncorrected proof)\W*$)",
    re.IGNORECASE,
)
_BY = re.compile(
    r"\W*(?:(?:written|submitted|presented|vorgelegt|eingereicht|verfasst)\s+)?(?:by|von|par)\W*",
    re.IGNORECASE,
)
_NEAR_TITLE = 3  # lines
_MAX_NAME_LINE = 400  # characters of a line of names
_MARKS = re.compile(r"[\d*∗†‡§¶‖#⋆]+|\s?\([^)]*\)?")
_RANK = re.compile(
    r",\s*(?:(?:student|senior|life)\s+)?(?:member|fellow)(?:,\s*[A-Z]{2,5})?(?=,|\s+and\b|$)", re.IGNORECASE
)
# What follows the name in: A. Lind (lind@example.org) – Institute.
_MAIL_AND_AFTER = re.compile(r"\s*[(<][^()<>@]{1,60}@[^()<>]{1,60}[)>].*|\s+\S{1,60}@\S{1,60}$")
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
    sizes = _sizes(head)
    largest = max(sizes, default=0.0)
    if not largest:
        return 0, next((i for i in range(1, len(head)) if _looks_like_author(head[i])), min(len(head), 1))
    first = sizes.index(largest)
    if series := _below_series(head, sizes, first):
        first, largest = series, sizes[series]
    last = first + 1
    while last < len(head) and head[last].size >= 0.95 * largest and _is_joined(head[last - 1], head[last]):
        last += 1
    while last > first + 1 and is_kicker(head[last - 1].text):
        last -= 1  # a draft
    return first, last


def _below_series(head: Sequence[Line], sizes: Sequence[float], first: int) -> int:
    """Return the largest line below the name of a series on a cover: one line in large print, far above all others.

    Return 0 if the largest print is no such name.
    """
    below = [n for n in range(first + 1, len(head)) if sizes[n]]
    if sum(map(bool, sizes)) > _COVER_LINES or not below:
        return 0
    second = max(below, key=lambda n: sizes[n])
    box, tops = head[first].box, [other.box[1] for n in below if (other := head[n]).box]
    is_far = bool(box and tops) and min(tops) - (box[3] if box else 0.0) > _SERIES_GAP * sizes[first]
    is_title = sizes[second] > 1.2 * median(filter(None, sizes)) and not _looks_like_author(head[second])
    return second if is_far and is_title and sizes[first] > _SERIES_PRINT * sizes[second] else 0


def _goes_on(above: Line, line: Line) -> bool:
    if not above.box and not line.box:
        return bool(line.text) and line.size == above.size  # a paragraph of a file without positions
    if not above.box or not line.box or above.page != line.page:
        return False
    return line.box[1] - above.box[1] < _GAP * line.size


def _looks_like_author(line: Line) -> bool:
    return any(True for _ in _names_in(line.text))


def _authors(lines: Sequence[Line]) -> Iterator[str]:
    """Yield the names in the lines below the title; only in bold ones if some lines with names are bold.

    The names below "by" are all, as on the cover of a thesis. Where no line has names alone, the first ones may begin
    with a name: "Anna Lind, Example Labs, May 2007".
    """
    bold = [line for line in lines if line.bold and _looks_like_author(line)]
    below = [line for above, line in pairwise(lines) if _BY.fullmatch(above.text)][:1]
    seen: set[str] = set()
    for line in below or bold or lines:
        for name in _names_in(line.text):
            if name not in seen:
                seen.add(name)
                yield name
    if not seen:
        leading = (line.text.partition(",")[0] for line in lines[:_NEAR_TITLE] if "," in line.text)
        yield from next(filter(None, (list(_names_in(text)) for text in leading)), [])


def _names_in(text: str) -> Iterator[str]:
    text = _RANK.sub("", _MAIL_AND_AFTER.sub("", text[: _MAX_NAME_LINE + 1]))
    if len(text) > _MAX_NAME_LINE or "@" in text or _NO_NAME.search(text):
        return
    for part in _NAME_SEPARATORS.split(_MARKS.sub(" ", text)):
        name = " ".join(part.split())
        if len(name) >= 4 and _NAME.fullmatch(name):
            yield name.removeprefix("By ")


def stated_lines(document: Document, lines: Sequence[Line]) -> range:
    """Return the lines that print the title which the file states about itself; empty if none do.

    Programs state file names and templates as well, but those are not printed in lines of their own.
    """
    stated = letters_and_digits(dict(document.stated).get("title", ("",))[0])
    if len(stated) < _MIN_STATED or is_introduction_heading(stated) or is_abstract_heading(stated):
        return range(0)
    letters = [letters_and_digits(line.text) for line in lines]
    for first in range(len(lines)):
        spelled = ""
        for last in range(first, min(len(lines), first + _MAX_TITLE_LINES)):
            spelled += letters[last]
            if spelled.rstrip("0123456789") == stated.rstrip("0123456789"):  # a number may refer to a note
                return range(first, last + 1)
            if not stated.startswith(spelled):
                break
    return range(0)


def with_subtitle(lines: Sequence[Line], last: int) -> int:
    """Return the last line of a title that ends with a colon, with the line below, as it announces."""
    if not lines[last].text.rstrip().endswith(":") or last + 1 == len(lines):
        return last
    below = lines[last + 1]
    return last + 1 if _goes_on(lines[last], below) and not _looks_like_author(below) else last


def label_length(text: str) -> int:
    """Return the length of what stands before names, as "Package author(s):"; 0 if nothing does."""
    match = _LABEL.match(text)
    return match.end() if match else 0


def is_kicker(text: str) -> bool:
    """Return True for a line above a title that names the kind of work, as "Research Article" or "Seminararbeit"."""
    return len(text) <= 60 and bool(_KIND_OF_WORK.fullmatch(text))


def printed_title(lines: Sequence[Line], first: int, last: int) -> tuple[int, int]:
    """Return the first and last line of the title as it is printed, given those that the model found."""
    if not lines[first].box:
        return first, last
    if named := _named_below_series(lines, first):
        return named, named
    blocks = [block for block in _blocks(lines, first, last) if not _is_heading_alone(lines, block)]
    if not blocks:
        below = range(last + 1, min(len(lines), last + 1 + _BELOW_KICKER))
        own, end = title_span([lines[n] for n in below if lines[n].page == lines[last].page])
        return (last + 1 + own, last + end) if end > own else (first, last)
    block = max(blocks, key=lambda block: sum(_letters(lines[n]) for n in block))
    begin, end = block[0], block[-1]
    if end < last and lines[end].text.rstrip().endswith((":", ",", "-", "–", "—")):
        end = last  # a subtitle in smaller print
    while end + 1 < len(lines) and (
        _continues_title(lines[end], lines[end + 1]) or _is_above_authors(lines, end + 1)
    ):
        end += 1
    while end > begin and is_kicker(lines[end].text):
        end -= 1  # a draft
    return begin, end


def _named_below_series(lines: Sequence[Line], first: int) -> int:
    """Return the line of the title below the name of a series, if that is what the model found; else 0."""
    start = next(n for n in range(first + 1) if lines[n].page == lines[first].page)
    cover = [line for line in lines[start : start + _MAX_COVER] if line.page == lines[first].page]
    sizes, at = _sizes(cover), first - start
    is_largest = at < len(sizes) and sizes[at] == max(sizes)
    series = _below_series(cover, sizes, at) if is_largest else 0
    return start + series if series else 0


def _blocks(lines: Sequence[Line], first: int, last: int) -> Iterator[range]:
    """Yield the runs of lines in about the largest print, each directly below the one before it, up to authors."""
    largest = max(_sizes(lines[first : last + 1]), default=0.0)
    start = first
    for n in range(first, last + 1):
        if lines[n].size < _TITLE_PRINT * largest:
            yield range(start, n)
            start = n + 1
        elif n > start and _ends_title(lines[n - 1], lines[n]):
            yield range(start, n)
            return
        elif n > start and _is_apart(lines[n - 1], lines[n]):
            yield range(start, n)
            start = n
    yield range(start, last + 1)


def _is_apart(above: Line, line: Line) -> bool:
    """Return True after a kicker, a gap too wide even for double spacing, or a smaller one with a change of style."""
    if is_kicker(above.text) or above.page != line.page:
        return True
    if not above.box or not line.box:
        return False
    same_style = (above.bold, above.italic) == (line.bold, line.italic)
    return line.box[1] - above.box[1] > (_WIDE_GAP if same_style else _GAP) * line.size


def _is_joined(above: Line, line: Line) -> bool:
    return _goes_on(above, line) and not _ends_title(above, line)


def _ends_title(above: Line, line: Line) -> bool:
    """Return True for the heading of an abstract, plain names below bold print, and names in capitals below others."""
    if is_abstract_heading(line.text):
        return True
    is_set_apart = (above.bold and not line.bold) or (line.text.isupper() and not above.text.isupper())
    return is_set_apart and _looks_like_author(line)


def _is_heading_alone(lines: Sequence[Line], block: range) -> bool:
    """Return True for blocks that are no title: empty, a kicker, the heading of an abstract, the name of a venue."""
    if not block or all(_is_heading(lines[n].text) for n in block):
        return True
    above = block[0] - 1
    begins = [block[0], above] if above >= 0 and _goes_on(lines[above], lines[block[0]]) else [block[0]]
    usual = median(line.size for line in lines[:_USUAL_LINES])
    return any(_OF_VENUE.match(lines[n].text) and lines[n].size < _LARGE * usual for n in begins)


def _is_heading(text: str) -> bool:
    if is_kicker(text) or _ISSUE.match(text) or _NOTICE.match(text):
        return True
    return is_abstract_heading(text) or is_references_heading(text)


def _sizes(lines: Sequence[Line]) -> list[float]:
    """Return the size of each line that may be of a title, and 0 for the others: kickers, unless all are, and marks."""
    sizes = [line.size if _letters(line) >= _MIN_LETTERS else 0.0 for line in lines]
    named = [0.0 if _is_heading(line.text) else size for line, size in zip(lines, sizes, strict=True)]
    return named if any(named) else sizes


def _is_above_authors(lines: Sequence[Line], number: int) -> bool:
    """Return True for a line in the bold print of the title above it, with authors in another print below it."""
    if number + 1 >= len(lines):
        return False
    above, line, below = lines[number - 1 : number + 2]
    is_title = above.bold and line.bold and abs(above.size - line.size) < 0.3 and _is_close(above, line)
    is_other = not below.bold and below.size < line.size and _looks_like_author(below)
    return is_title and is_other and above.column == line.column


def _is_close(above: Line, line: Line) -> bool:
    if not above.box or not line.box or not _goes_on(above, line):
        return False
    return line.box[1] - above.box[1] < 1.4 * above.size


def _letters(line: Line) -> int:
    """Return the number of letters in words, without those of numbers such as IMECE2021-0003."""
    words = (word for word in line.text.split() if not any(map(str.isdigit, word)))
    return sum(letter.isalpha() for word in words for letter in word)


def _continues_title(above: Line, line: Line) -> bool:
    """Return True for a line in the print of the one above, directly below it, that the sentence needs."""
    if above.column != line.column or not _is_close(above, line):
        return False
    if abs(above.size - line.size) < 0.3 and above.bold == line.bold:
        return bool(_UNFINISHED_TITLE.search(above.text))
    # A name in another font is set smaller: "without an additional / biber run".
    return line.size >= _TITLE_PRINT * above.size and line.text[:1].islower()

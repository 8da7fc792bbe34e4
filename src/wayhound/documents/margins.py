"""Running heads, running feet and page numbers, recognised by position and repetition."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from wayhound.documents.document import DocumentPage, Line

_EDGE = 0.12  # share of the page height, at top and bottom, that is searched
_ROWS = 3  # rows at either end that are searched
_SAME_ROW = 4.0  # points
_REPEATED = 0.3  # share of pages with the same running head; it may be on left or right pages only
_PAGE_NUMBER = re.compile(
    r"[\[(–—-]?\s*(?:p(?:age|\.)?\s*)?(?:(\d{1,5})|([ivxlc]{1,7}))(?:\s*(?:of|/)\s*\d{1,5})?\s*[\])–—-]?",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"\d+|\b[ivxlc]+\b")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@dataclass(frozen=True, slots=True)
class _Repetitions:
    """Number of pages with each running head, and with each difference of printed and counted page number."""

    heads: Counter[tuple[str, int]]
    differences: Counter[tuple[str, int]]
    n_pages: int


def mark_margins(pages: Sequence[DocumentPage]) -> tuple[DocumentPage, ...]:
    """Return the pages with the role `margin` for such lines; no line is dropped."""
    edges = [list(_edge_lines(page)) for page in pages]
    heads = Counter(key for lines in edges for key in {key for line, _ in lines for key in _head_keys(line)})
    differences = Counter(
        difference
        for lines in edges
        for difference in {_number_difference(line) for line, alone in lines if alone}
        if difference
    )
    repetitions = _Repetitions(heads, differences, len(pages))
    return tuple(_marked(page, lines, repetitions) for page, lines in zip(pages, edges, strict=True))


def _marked(page: DocumentPage, edge: list[tuple[Line, bool]], repetitions: _Repetitions) -> DocumentPage:
    margin = {id(line) for line, alone in edge if _is_margin(line, alone, repetitions)}
    if not margin:
        return page
    lines = tuple(replace(line, role="margin") if id(line) in margin else line for line in page.lines)
    return replace(page, lines=lines)


def _is_margin(line: Line, alone: bool, repetitions: _Repetitions) -> bool:
    enough = max(2.0, _REPEATED * repetitions.n_pages)
    if any(repetitions.heads[key] >= enough for key in _head_keys(line)):
        return True
    difference = _number_difference(line) if alone else None
    return difference is not None and (repetitions.differences[difference] > 1 or repetitions.n_pages == 1)


def _head_keys(line: Line) -> Iterator[tuple[str, int]]:
    """Yield the text without numbers, with its row; twice, because rounding may put it in either row."""
    key = " ".join(_NUMBERS.sub("", line.text.lower()).split())
    if sum(map(str.isalpha, key)) >= 4:
        row = int(line.box[1] / _SAME_ROW) if line.box else 0
        yield key, row
        yield key, row + 1


def _number_difference(line: Line) -> tuple[str, int] | None:
    """Return the printed minus the counted page number, which is constant over pages; None if no number."""
    match = _PAGE_NUMBER.fullmatch(line.text.strip())
    if not match:
        return None
    if match[1]:
        return "arabic", int(match[1]) - line.page
    return "roman", _roman(match[2].lower()) - line.page


def _roman(numeral: str) -> int:
    values = [_ROMAN[letter] for letter in numeral]
    return sum(-a if a < b else a for a, b in zip(values, [*values[1:], 0], strict=True))


def _edge_lines(page: DocumentPage) -> Iterable[tuple[Line, bool]]:
    """Return the lines near the top and bottom of the page, and for each whether it is alone in its row."""
    if page.height and any(line.box for line in page.lines):
        return _edge_by_position(page)
    lines = [line for line in page.lines if line.text]
    outermost = {id(line): line for line in [*lines[:_ROWS], *lines[-_ROWS:]]}
    return [(line, line is lines[0] or line is lines[-1]) for line in outermost.values()]


def _edge_by_position(page: DocumentPage) -> Iterator[tuple[Line, bool]]:
    tops = sorted((line.box[1], i) for i, line in enumerate(page.lines) if line.box and line.role == "text")
    upper, lower = _EDGE * page.height, (1 - _EDGE) * page.height
    for end in (tops[: 3 * _ROWS], tops[: -3 * _ROWS - 1 : -1]):
        row, row_top = 0, -1e9
        for at, (top, i) in enumerate(end):
            if abs(top - row_top) > _SAME_ROW:
                row, row_top = row + 1, top
            if row > _ROWS or upper <= top <= lower:
                break
            alone = at == 0 and (len(end) == 1 or abs(end[1][0] - top) > _SAME_ROW)
            yield page.lines[i], alone

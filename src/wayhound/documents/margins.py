"""Running heads, running feet and page numbers: told by their place and by coming again, and set aside."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from wayhound.documents.document import DocumentPage, Line

_EDGE = 0.12  # the share of the page's height, above and below, in which margins are looked for
_ROWS = 3  # at most so many lines from either end
_SAME_ROW = 4.0  # points
_OFTEN = 0.3  # the share of pages on which a running head is seen, if it stands on left or right pages alone
_PAGE_NUMBER = re.compile(
    r"[\[(–—-]?\s*(?:p(?:age|\.)?\s*)?(?:(\d{1,5})|([ivxlc]{1,7}))(?:\s*(?:of|/)\s*\d{1,5})?\s*[\])–—-]?",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"\d+|\b[ivxlc]+\b")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@dataclass(frozen=True, slots=True)
class _Seen:
    """On how many pages each running head was seen, and each distance of a printed from a counted number."""

    heads: Counter[tuple[str, int]]
    distances: Counter[tuple[str, int]]
    n_pages: int


def set_margins_aside(pages: Sequence[DocumentPage]) -> tuple[DocumentPage, ...]:
    """The pages with the role of such lines changed; no line is dropped."""
    edges = [list(_edge_lines(page)) for page in pages]
    heads = Counter(key for lines in edges for key in {key for line, _ in lines for key in _heads(line)})
    distances = Counter(
        each for lines in edges for each in {_distance(line) for line, alone in lines if alone} if each
    )
    seen = _Seen(heads, distances, len(pages))
    return tuple(_marked(page, lines, seen) for page, lines in zip(pages, edges, strict=True))


def _marked(page: DocumentPage, edge: list[tuple[Line, bool]], seen: _Seen) -> DocumentPage:
    margin = {id(line) for line, alone in edge if _is_margin(line, alone, seen)}
    if not margin:
        return page
    lines = tuple(replace(line, role="margin") if id(line) in margin else line for line in page.lines)
    return replace(page, lines=lines)


def _is_margin(line: Line, alone: bool, seen: _Seen) -> bool:
    often = max(2.0, _OFTEN * seen.n_pages)
    if any(seen.heads[key] >= often for key in _heads(line)):
        return True
    distance = _distance(line) if alone else None
    return distance is not None and (seen.distances[distance] > 1 or seen.n_pages == 1)


def _heads(line: Line) -> Iterator[tuple[str, int]]:
    """What stays the same from page to page, with its height, which may lie on either side of a rounding."""
    key = " ".join(_NUMBERS.sub("", line.text.lower()).split())
    if sum(map(str.isalpha, key)) >= 4:
        row = int(line.box[1] / _SAME_ROW) if line.box else 0
        yield key, row
        yield key, row + 1


def _distance(line: Line) -> tuple[str, int] | None:
    """The number a page bears minus its place in the file, which is the same for all pages."""
    found = _PAGE_NUMBER.fullmatch(line.text.strip())
    if not found:
        return None
    if found[1]:
        return "arabic", int(found[1]) - line.page
    return "roman", _roman(found[2].lower()) - line.page


def _roman(numeral: str) -> int:
    values = [_ROMAN[letter] for letter in numeral]
    return sum(-a if a < b else a for a, b in zip(values, [*values[1:], 0], strict=True))


def _edge_lines(page: DocumentPage) -> Iterable[tuple[Line, bool]]:
    """The lines near an end of the page, and whether each is alone in its row."""
    if page.height and any(line.box for line in page.lines):
        return _edge_by_place(page)
    lines = [line for line in page.lines if line.text]
    at_an_end = {id(line): line for line in [*lines[:_ROWS], *lines[-_ROWS:]]}
    return [(line, line is lines[0] or line is lines[-1]) for line in at_an_end.values()]


def _edge_by_place(page: DocumentPage) -> Iterator[tuple[Line, bool]]:
    placed = sorted((line.box[1], i) for i, line in enumerate(page.lines) if line.box and line.role == "text")
    upper, lower = _EDGE * page.height, (1 - _EDGE) * page.height
    for end in (placed[: 3 * _ROWS], placed[: -3 * _ROWS - 1 : -1]):
        row, row_top = 0, -1e9
        for at, (top, i) in enumerate(end):
            if abs(top - row_top) > _SAME_ROW:
                row, row_top = row + 1, top
            if row > _ROWS or upper <= top <= lower:
                break
            alone = at == 0 and (len(end) == 1 or abs(end[1][0] - top) > _SAME_ROW)
            yield page.lines[i], alone

"""Running heads, running feet, page numbers and line numbers, recognised by position and repetition."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from wayhound.documents.document import DocumentPage, Line

_EDGE = 0.12  # share of the page height, at top and bottom, that is searched
_ROWS = 3  # rows at either end that are searched
_SAME_ROW = 4.0  # points
_REPEATED = 0.3  # share of pages with the same running head; it may be on left or right pages only
# Without regard to case, i would also be the Turkish ı and İ, which are no numerals: hence (?a:…).
_PAGE_NUMBER = re.compile(
    r"[\[(–—-]?\s*(?:p(?:age|\.)?\s*)?(?:(\d{1,5})|((?a:[ivxlc]{1,7})))(?:\s*(?:of|/)\s*\d{1,5})?\s*[\])–—-]?",
    re.IGNORECASE,
)
_NUMBERS = re.compile(r"\d+|\b[ivxlc]+\b")
_LINE_NUMBER = re.compile(r"(\d{1,4})(?:\s+|$)")
_LINE_STEPS = (1, 2, 5, 10)  # manuscripts number each line, or every second, fifth or tenth
_MIN_LINE_NUMBERS = 12
_MAX_SKIPPED = 4  # numbers that may be missing: at formulas they are not at the beginning of a line
_MIN_NUMBERED = 0.3  # share of all lines that are counted
_SAME_COVERAGE = 0.8
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}


@dataclass(frozen=True, slots=True)
class _Repetitions:
    """Number of pages with each running head, and with each difference of printed and counted page number."""

    heads: Counter[tuple[str, int]]
    differences: Counter[tuple[str, int]]
    n_pages: int


def without_line_numbers(pages: Sequence[DocumentPage]) -> list[DocumentPage]:
    """Return the pages of a manuscript without the numbers of its lines, which else would begin them."""
    numbered = [
        (at, line, int(match[1]))
        for at, line in enumerate(line for page in pages for line in page.lines)
        if (match := _LINE_NUMBER.match(line.text))
    ]
    chains = {step: _line_numbers(numbered, step) for step in _LINE_STEPS}
    # Where every line is numbered, each fifth number is counted as well: the finest step that covers as much is right.
    covered = {step: step * len(chains[step]) for step in _LINE_STEPS}
    step = next(step for step in _LINE_STEPS if covered[step] >= _SAME_COVERAGE * max(covered.values()))
    chosen = {id(line) for line in chains[step]}
    if step * len(chosen) < _MIN_NUMBERED * sum(len(page.lines) for page in pages) or not chosen:
        return list(pages)  # none, or those of a listing
    return [_without_numbers(page, chosen) for page in pages]


def _line_numbers(numbered: list[tuple[int, Line, int]], step: int) -> list[Line]:
    """Return the lines whose numbers count up by `step`, one in about `step` lines; none if they are too few.

    Counting may begin anew on each page. A list whose entries are numbered has more lines between two numbers.
    """
    chain, distances, last = list[Line](), list[int](), (0, 0, 0)  # the last line, its page and number
    for at, line, number in numbered:
        begins_page = line.page > last[1] and number == step
        if number % step or not (0 < number - last[2] <= _MAX_SKIPPED * step or begins_page):
            continue
        if number == last[2] + step and last[1] == line.page:
            distances.append(at - last[0])
        chain.append(line)
        last = (at, line.page, number)
    usual = sorted(distances)[len(distances) // 2] if distances else 0
    is_usual = len(chain) >= _MIN_LINE_NUMBERS * (2 if step == 1 else 1) and usual <= 1.4 * step
    return chain if is_usual else []


def _without_numbers(page: DocumentPage, chosen: AbstractSet[int]) -> DocumentPage:
    edges = Counter[tuple[int, float]](
        (line.column, round(line.box[0], 1)) for line in page.lines if line.box and id(line) not in chosen
    )
    lines, before = list[Line](), 0
    for line in page.lines:
        kept = _without_number(line, before, edges) if id(line) in chosen else line
        lines.append(kept)
        before = kept.column if kept.text else before
    return replace(page, lines=tuple(lines))


def _without_number(line: Line, column: int, edges: Counter[tuple[int, float]]) -> Line:
    """Return the line without its number, at the usual edge of its column if its words have no boxes."""
    match = _LINE_NUMBER.match(line.text)
    assert match
    if match.end() == len(line.text):
        return replace(line, role="margin")
    words = line.words[1:] if line.words and line.words[0].text == match[1] else line.words
    column = line.column or column
    usual = max((edge for edge in edges if edge[0] == column), key=edges.__getitem__, default=(0, 0.0))[1]
    box = line.box
    if box:
        left = (
            words[0].box[0] if words else usual or box[0] + (box[2] - box[0]) * match.end() / len(line.text)
        )
        box = (min(max(box[0], left), box[2]), *box[1:])
    shift = match.end()
    raised = tuple((start - shift, end - shift) for start, end in line.superscripts if start >= shift)
    return replace(line, text=line.text[shift:], words=words, box=box, column=column, superscripts=raised)


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

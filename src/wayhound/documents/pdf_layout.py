"""The lines of a PDF page, made of text runs: joined, assigned to columns, and put in reading order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from wayhound.documents.document import Box, Line, Word
from wayhound.documents.letters import repair_text
from wayhound.documents.pdf_text import PlacedWord, TextRun

# Distances in ems.
_MAX_BLANK = 1.0  # between words of a joined line
_MAX_OVERLAP = 0.8  # after an upper index, text may continue at the lower one, left of where the upper ended
_GUTTER = 1.5  # a gap that separates columns, or authors in a row
_MAX_STRETCH = 3.0  # of a blank in a justified line, if both sides are in one column
_LOOSE = 0.7  # mean width of a letter; a wider run must contain gaps
# Shares of the page width.
_MIDDLE = (0.3, 0.7)  # range in which a gutter is searched
_BINS = 100
_SURROGATE = re.compile("[\ud800-\udfff]")  # half of a letter beyond U+FFFF


def are_loose(runs: Sequence[TextRun]) -> bool:
    """Return True if many runs are too wide for their letters, so that they may span two columns."""
    long = [run for run in runs if len(run.text) >= 20 and not run.rotated]
    loose = [run for run in long if run.right - run.left > _LOOSE * run.size * len(run.text)]
    return len(loose) >= max(3, 0.15 * len(long))


def join_runs(runs: Sequence[TextRun]) -> list[TextRun]:
    """Return lines in the order of the file: runs cut at wide gaps, and joined if an index separated them."""
    lines: list[TextRun] = []
    for run in (part for whole in runs for part in _cut_at_gaps(whole)):
        if lines and _continues(lines[-1], run):
            _append(lines[-1], run)
        else:
            lines.append(run)
    return lines


def _cut_at_gaps(run: TextRun) -> list[TextRun]:
    cuts = [
        number
        for number, (word, after) in enumerate(pairwise(run.words), start=1)
        if after.box[0] - word.box[2] > _GUTTER * run.size
    ]
    if not cuts or run.rotated:
        return [run]
    if cuts[0] == 1 and run.words[0].end <= 5:  # the label of a list entry and its tab
        cuts = cuts[1:]
    edges = [0, *cuts, len(run.words)]
    return [_part(run, run.words[a:b], cut=a > 0) for a, b in pairwise(edges)]


def _part(run: TextRun, words: list[PlacedWord], *, cut: bool) -> TextRun:
    start, end = words[0].start, words[-1].end
    marks = [(a - start, b - start) for a, b in run.superscripts if a >= start and b <= end]
    moved = [word._replace(start=word.start - start, end=word.end - start) for word in words]
    return TextRun(
        run.text[start:end],
        words[0].box[0],
        run.top,
        words[-1].box[2],
        run.bottom,
        run.size,
        bold=run.bold,
        italic=run.italic,
        hyphen=run.hyphen and end == len(run.text),
        start=run.start + start,
        superscripts=marks,
        words=moved,
        cut=cut,
    )


def _continues(line: TextRun, run: TextRun) -> bool:
    if line.hyphen or line.rotated != run.rotated or line.rotated:
        return False
    size = max(line.size, run.size)
    overlap = min(line.bottom, run.bottom) - max(line.top, run.top)
    beside = -_MAX_OVERLAP * size <= run.left - line.right <= _MAX_BLANK * size and run.right > line.right
    return beside and overlap >= 0.4 * min(line.height, run.height)


def _append(line: TextRun, run: TextRun) -> None:
    blank = " " if run.left - line.right > 0.15 * line.size else ""
    shift = len(line.text) + len(blank)
    line.superscripts += [(a + shift, b + shift) for a, b in run.superscripts]
    raised = run.size < 0.85 * line.size and run.bottom < line.bottom - 0.1 * line.size
    if raised and run.text[:1].isdigit():
        line.superscripts.append((shift, shift + len(run.text)))
    line.words += [word._replace(start=word.start + shift, end=word.end + shift) for word in run.words]
    if run.size > line.size:
        line.size, line.top, line.bottom = run.size, run.top, run.bottom
    line.text += blank + run.text
    line.right, line.hyphen = max(line.right, run.right), run.hyphen


def find_gutter(pages: Iterable[tuple[float, Sequence[TextRun]]]) -> float | None:
    """Return the position of the gutter between two columns as a share of the width; None with one column.

    For each position, the letters of lines that cross it, end before it and begin after it are counted over
    all pages; few may cross, and enough must be on either side.
    """
    crossing, before, after = [0] * (_BINS + 2), [0] * (_BINS + 2), [0] * (_BINS + 2)
    for width, lines in pages:
        for line in lines:
            if width <= 0 or line.rotated:
                continue
            letters = len(line.text)
            first, last = _bin(line.left / width), _bin(line.right / width)
            before[last] += letters
            after[first] += letters
            if last > first:
                crossing[first + 1] += letters
                crossing[last] -= letters
    return _best_gutter(crossing, before, after)


def _bin(share: float) -> int:
    low, high = _MIDDLE
    return max(0, min(_BINS + 1, 1 + int((share - low) / (high - low) * _BINS)))


def _best_gutter(crossing: list[int], before: list[int], after: list[int]) -> float | None:
    total = sum(before)
    best, best_at, across, ended, begun = total + 1, list[int](), 0, 0, 0
    for at in range(1, _BINS + 1):
        across += crossing[at]
        ended += before[at - 1]
        begun = sum(after[at + 1 :])
        if min(ended, begun) < 0.15 * total:
            continue
        if across < best:
            best, best_at = across, []
        if across == best:
            best_at.append(at)
    if not best_at or best > 0.25 * total:
        return None
    low, high = _MIDDLE
    return low + (best_at[len(best_at) // 2] - 0.5) / _BINS * (high - low)


def page_lines(joined: list[TextRun], page: int, width: float, gutter: float | None) -> tuple[Line, ...]:
    """Return the lines of a page in reading order, with column and indent. `joined` is from `join_runs`."""
    at = gutter * width if gutter is not None and not _mostly_across(joined, gutter * width) else None
    runs = _rejoined(joined, at)
    columns = [_column(run, at) for run in runs]
    order: Sequence[int] = range(len(runs))
    if _disordered(runs, columns):
        order = _by_position(runs, columns)
    edges = {column: _left_edge(runs, columns, column) for column in set(columns)}
    return tuple(_line(runs[i], page, columns[i], edges[columns[i]]) for i in order)


def _rejoined(runs: Sequence[TextRun], gutter: float | None) -> list[TextRun]:
    """Return the lines, joined again where a gap was only a blank, stretched to justify the line."""
    lines: list[TextRun] = []
    for run in runs:
        line = lines[-1] if lines else None
        if (
            line
            and run.cut
            and run.left - line.right <= _MAX_STRETCH * run.size
            and (_column(line, gutter) == _column(run, gutter))
        ):
            _append(line, run)
        else:
            lines.append(run)
    return lines


def _mostly_across(runs: Sequence[TextRun], gutter: float) -> bool:
    letters = sum(len(run.text) for run in runs)
    across = sum(len(run.text) for run in runs if run.left < gutter - 2 and run.right > gutter + 2)
    return across > 0.7 * letters


def _column(run: TextRun, gutter: float | None) -> int:
    if gutter is None or run.rotated or (run.left < gutter - 2 and run.right > gutter + 2):
        return 0
    return 1 if (run.left + run.right) / 2 < gutter else 2


def _disordered(runs: Sequence[TextRun], columns: Sequence[int]) -> bool:
    """Return True if the order of the file, which groups authors and formulas well, is not reading order."""
    long = [(run, column) for run, column in zip(runs, columns, strict=True)
            if len(run.text) >= 20 and not run.rotated]  # fmt: skip
    steps = list(pairwise(long))
    back = sum(
        (a[1] == b[1] and b[0].bottom < a[0].top) or (a[1] == 2 and b[1] == 1)
        for a, b in steps
    )  # fmt: skip
    return back > max(2, 0.1 * len(steps))


def _by_position(runs: Sequence[TextRun], columns: Sequence[int]) -> Sequence[int]:
    """Return the order by bands between lines across the gutter; in each, left column before right column."""
    keys: dict[int, tuple[int, int, float, float]] = {}
    band, last_column = 0, 0
    down = sorted(range(len(runs)), key=lambda i: (runs[i].top + runs[i].bottom, runs[i].left))
    row = 0.0
    for i in down:
        if (columns[i] == 0) != (last_column == 0):
            band += 1
        last_column = columns[i]
        if runs[i].top > row + 0.4 * runs[i].size:
            row = runs[i].top
        keys[i] = (band, columns[i], row, runs[i].left)
    return sorted(range(len(runs)), key=keys.__getitem__)


def _left_edge(runs: Sequence[TextRun], columns: Sequence[int], column: int) -> float:
    """Return the leftmost position at which several lines begin."""
    lefts = sorted(p.left for p, c in zip(runs, columns, strict=True) if c == column and not p.rotated)
    enough = max(2, len(lefts) // 20)
    for i, left in enumerate(lefts):
        if i + enough <= len(lefts) and lefts[i + enough - 1] <= left + 2:
            return left
    return lefts[0] if lefts else 0.0


def _line(run: TextRun, page: int, column: int, edge: float) -> Line:
    raw = run.text + "-" if run.hyphen else run.text
    return Line(
        clean(raw).strip(),
        page,
        rounded((run.left, run.top, run.right, run.bottom)),
        tenth(run.size),
        run.bold,
        run.italic,
        column=column,
        indent=tenth((run.left - edge) / run.size) if run.size > 0 else 0.0,
        role="margin" if run.rotated else "text",
        superscripts=_superscripts(raw, run.superscripts) if run.superscripts else (),
        words=_words(raw, run.words) if run.words else (),
    )


def _superscripts(raw: str, superscripts: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    return tuple((len(clean(raw[:start])), len(clean(raw[:end]))) for start, end in sorted(superscripts))


def _words(raw: str, placed: list[PlacedWord]) -> tuple[Word, ...]:
    if raw.isascii() and raw.isprintable():  # nothing to repair, as in most lines
        return tuple(Word(raw[start:end], rounded(box), tenth(size)) for start, end, box, size in placed)
    words = (Word(clean(raw[start:end]), rounded(box), tenth(size)) for start, end, box, size in placed)
    return tuple(word for word in words if word.text)


def clean(raw: str) -> str:
    if not raw.isascii() and _SURROGATE.search(raw):
        raw = raw.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return repair_text(raw)


def rounded(box: Box) -> Box:
    left, top, right, bottom = box
    return (
        (10 * left + 0.5) // 1 / 10,
        (10 * top + 0.5) // 1 / 10,
        (10 * right + 0.5) // 1 / 10,
        (10 * bottom + 0.5) // 1 / 10,
    )


def tenth(value: float) -> float:
    """Round to one decimal. `round` takes five times as long, and there are many lines and words."""
    return (10 * value + 0.5) // 1 / 10

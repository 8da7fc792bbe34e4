"""From pieces to the lines of a page: sewn together, told apart by column, in reading order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from wayhound.documents.document import Box, Line, Word
from wayhound.documents.letters import repaired
from wayhound.documents.pdf_pieces import Piece, PlacedWord

_WIDEST_BLANK = 1.0  # in ems: wider than this is not a blank between words of a sewn line
_STACKED = (
    0.8  # in ems: what follows an upper index may begin at the lower one, left of where the upper ended
)
_GUTTER = 1.5  # in ems: a gap that parts columns, or authors in a row
_WIDEST_STRETCH = 3.0  # in ems: up to this it may still be a blank, where both sides are in one column
_LOOSE = 0.7  # mean width of a letter, in ems, beyond which there must be wide gaps
_MIDDLE = (0.3, 0.7)  # where, as a share of the page's width, a gutter may be
_BINS = 100
_SURROGATE = re.compile("[\ud800-\udfff]")  # half of a letter beyond U+FFFF


def stretched(pieces: Sequence[Piece]) -> bool:
    """Whether many pieces are too wide for their letters, so that columns may have been run together."""
    long = [piece for piece in pieces if len(piece.text) >= 20 and not piece.rotated]
    loose = [piece for piece in long if piece.right - piece.left > _LOOSE * piece.size * len(piece.text)]
    return len(loose) >= max(3, 0.15 * len(long))


def sewn(pieces: Sequence[Piece]) -> list[Piece]:
    """Lines of the page in the order of the file: cut at wide gaps, sewn where a small index broke them."""
    lines: list[Piece] = []
    for piece in (part for whole in pieces for part in _cut_at_gaps(whole)):
        if lines and _continues(lines[-1], piece):
            _append(lines[-1], piece)
        else:
            lines.append(piece)
    return lines


def _cut_at_gaps(piece: Piece) -> list[Piece]:
    cuts = [
        number
        for number, (word, after) in enumerate(pairwise(piece.words), start=1)
        if after.box[0] - word.box[2] > _GUTTER * piece.size
    ]
    if not cuts or piece.rotated:
        return [piece]
    if cuts[0] == 1 and piece.words[0].end <= 5:  # the label of an entry in a list, with its tabulator
        cuts = cuts[1:]
    edges = [0, *cuts, len(piece.words)]
    return [_part(piece, piece.words[a:b], cut=a > 0) for a, b in pairwise(edges)]


def _part(piece: Piece, words: list[PlacedWord], *, cut: bool) -> Piece:
    start, end = words[0].start, words[-1].end
    marks = [(a - start, b - start) for a, b in piece.superscripts if a >= start and b <= end]
    moved = [word._replace(start=word.start - start, end=word.end - start) for word in words]
    return Piece(
        piece.text[start:end],
        words[0].box[0],
        piece.top,
        words[-1].box[2],
        piece.bottom,
        piece.size,
        piece.bold,
        piece.italic,
        hyphen=piece.hyphen and end == len(piece.text),
        start=piece.start + start,
        superscripts=marks,
        words=moved,
        cut=cut,
    )


def _continues(line: Piece, piece: Piece) -> bool:
    if line.hyphen or line.rotated != piece.rotated or line.rotated:
        return False
    size = max(line.size, piece.size)
    overlap = min(line.bottom, piece.bottom) - max(line.top, piece.top)
    beside = -_STACKED * size <= piece.left - line.right <= _WIDEST_BLANK * size and piece.right > line.right
    return beside and overlap >= 0.4 * min(line.height, piece.height)


def _append(line: Piece, piece: Piece) -> None:
    blank = " " if piece.left - line.right > 0.15 * line.size else ""
    shift = len(line.text) + len(blank)
    line.superscripts += [(a + shift, b + shift) for a, b in piece.superscripts]
    raised = piece.size < 0.85 * line.size and piece.bottom < line.bottom - 0.1 * line.size
    if raised and piece.text[:1].isdigit():
        line.superscripts.append((shift, shift + len(piece.text)))
    line.words += [word._replace(start=word.start + shift, end=word.end + shift) for word in piece.words]
    if piece.size > line.size:
        line.size, line.top, line.bottom = piece.size, piece.top, piece.bottom
    line.text += blank + piece.text
    line.right, line.hyphen = max(line.right, piece.right), piece.hyphen


def find_gutter(pages: Iterable[tuple[float, Sequence[Piece]]]) -> float | None:
    """Where, as a share of the width, the gutter between two columns runs; None with one column.

    Letters are counted over all pages: those of lines that cross a place, end before it, begin after it.
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


def lines_of_page(pieces: list[Piece], page: int, width: float, gutter: float | None) -> tuple[Line, ...]:
    """The sewn lines of a page in reading order, with column and indent."""
    at = gutter * width if gutter is not None and not _runs_across(pieces, gutter * width) else None
    pieces = _mended(pieces, at)
    columns = [_column(piece, at) for piece in pieces]
    order: Sequence[int] = range(len(pieces))
    if _disordered(pieces, columns):
        order = _by_place(pieces, columns)
    edges = {column: _left_edge(pieces, columns, column) for column in set(columns)}
    return tuple(_line(pieces[i], page, columns[i], edges[columns[i]]) for i in order)


def _mended(pieces: Sequence[Piece], gutter: float | None) -> list[Piece]:
    """Lines that were cut at a gap which turned out to be a blank, stretched to fill the column."""
    lines: list[Piece] = []
    for piece in pieces:
        line = lines[-1] if lines else None
        if (
            line
            and piece.cut
            and piece.left - line.right <= _WIDEST_STRETCH * piece.size
            and (_column(line, gutter) == _column(piece, gutter))
        ):
            _append(line, piece)
        else:
            lines.append(piece)
    return lines


def _runs_across(pieces: Sequence[Piece], gutter: float) -> bool:
    letters = sum(len(piece.text) for piece in pieces)
    across = sum(len(piece.text) for piece in pieces if piece.left < gutter - 2 and piece.right > gutter + 2)
    return across > 0.7 * letters


def _column(piece: Piece, gutter: float | None) -> int:
    if gutter is None or piece.rotated or (piece.left < gutter - 2 and piece.right > gutter + 2):
        return 0
    return 1 if (piece.left + piece.right) / 2 < gutter else 2


def _disordered(pieces: Sequence[Piece], columns: Sequence[int]) -> bool:
    """Whether the file's own order, which groups authors and formulas well, is not that of a reader."""
    long = [(piece, column) for piece, column in zip(pieces, columns, strict=True)
            if len(piece.text) >= 20 and not piece.rotated]  # fmt: skip
    steps = list(pairwise(long))
    back = sum(
        (a[1] == b[1] and b[0].bottom < a[0].top) or (a[1] == 2 and b[1] == 1)
        for a, b in steps
    )  # fmt: skip
    return back > max(2, 0.1 * len(steps))


def _by_place(pieces: Sequence[Piece], columns: Sequence[int]) -> Sequence[int]:
    """Bands between lines that cross the gutter; in each the left column, then the right one."""
    keys: dict[int, tuple[int, int, float, float]] = {}
    band, last_column = 0, 0
    down = sorted(range(len(pieces)), key=lambda i: (pieces[i].top + pieces[i].bottom, pieces[i].left))
    row = 0.0
    for i in down:
        if (columns[i] == 0) != (last_column == 0):
            band += 1
        last_column = columns[i]
        if pieces[i].top > row + 0.4 * pieces[i].size:
            row = pieces[i].top
        keys[i] = (band, columns[i], row, pieces[i].left)
    return sorted(range(len(pieces)), key=keys.__getitem__)


def _left_edge(pieces: Sequence[Piece], columns: Sequence[int], column: int) -> float:
    """The leftmost place at which several lines begin."""
    lefts = sorted(p.left for p, c in zip(pieces, columns, strict=True) if c == column and not p.rotated)
    enough = max(2, len(lefts) // 20)
    for i, left in enumerate(lefts):
        if i + enough <= len(lefts) and lefts[i + enough - 1] <= left + 2:
            return left
    return lefts[0] if lefts else 0.0


def _line(piece: Piece, page: int, column: int, edge: float) -> Line:
    raw = piece.text + "-" if piece.hyphen else piece.text
    return Line(
        clean(raw).strip(),
        page,
        rounded((piece.left, piece.top, piece.right, piece.bottom)),
        tenth(piece.size),
        piece.bold,
        piece.italic,
        column,
        tenth((piece.left - edge) / piece.size) if piece.size > 0 else 0.0,
        "margin" if piece.rotated else "text",
        _marks(raw, piece.superscripts) if piece.superscripts else (),
        _words(raw, piece.words) if piece.words else (),
    )


def _marks(raw: str, superscripts: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    return tuple((len(clean(raw[:start])), len(clean(raw[:end]))) for start, end in sorted(superscripts))


def _words(raw: str, placed: list[PlacedWord]) -> tuple[Word, ...]:
    if raw.isascii() and raw.isprintable():  # nothing to clean, as in most lines
        return tuple(Word(raw[start:end], rounded(box), tenth(size)) for start, end, box, size in placed)
    words = (Word(clean(raw[start:end]), rounded(box), tenth(size)) for start, end, box, size in placed)
    return tuple(word for word in words if word.text)


def clean(raw: str) -> str:
    if not raw.isascii() and _SURROGATE.search(raw):
        raw = raw.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return repaired(raw)


def rounded(box: Box) -> Box:
    left, top, right, bottom = box
    return (
        (10 * left + 0.5) // 1 / 10,
        (10 * top + 0.5) // 1 / 10,
        (10 * right + 0.5) // 1 / 10,
        (10 * bottom + 0.5) // 1 / 10,
    )


def tenth(value: float) -> float:
    """To one decimal; `round` takes five times as long, and lines and words are many."""
    return (10 * value + 0.5) // 1 / 10

"""Accents that a PDF sets as glyphs of their own, brought to the letters that they stand above.

TeX sets an accent before its letter, which `repair` knows. Above capitals, and where an accent is drawn after
its word, PDFium's text has it behind the letter or even at the end of the line; its place on the page tells
where it belongs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice

from trailmark.extract.documents.document import Box
from trailmark.extract.documents.repair import composed

_MARK = re.compile("[\u00b4\u00a8\u02c6\u02dc\u02c7\u02da]")
_FURTHEST = 120  # characters between an accent and its letter
_MOST = 500  # accents of a page that are looked after; with more it is no text
_GAP = 0.2  # in heights of a letter: what is wider is a blank
_ABOVE = 0.6  # in heights of a letter: how far above it an accent may be

Boxes = Callable[[int], Box]
"""The ink of a character: left, bottom, right and top in PDF's own points, which grow upwards."""


def reseated(text: str, box_at: Boxes) -> list[int] | None:
    """In which order the characters of `text` are meant; blanks that an accent made are left out.

    None where all is well, as in most pages.
    """
    seats = dict[int, int]()  # from an accent to the letter before which it belongs
    for found in islice(_MARK.finditer(text), _MOST):
        seat = _seat(text, found.start(), box_at)
        if seat is not None:
            seats[found.start()] = seat
    if not seats:
        return None
    blanks = (blank for mark, seat in seats.items() for blank in _made_blanks(text, mark, seat, box_at))
    dropped = {*seats, *blanks}
    marks = {letter: mark for mark, letter in seats.items()}
    return list(_ordered(len(text), dropped, marks))


def _ordered(length: int, dropped: set[int], marks: dict[int, int]) -> Iterator[int]:
    for index in range(length):
        if index in marks:
            yield marks[index]
        if index not in dropped:
            yield index


def _seat(text: str, mark: int, box_at: Boxes) -> int | None:
    """The letter below an accent; None where it stands before its letter already, or has none."""
    box = box_at(mark)
    following = mark + 1 + (text[mark + 1 : mark + 2] == " ")
    if _is_above(box, text, following, box_at):
        return following if following > mark + 1 and composed(text[following], text[mark]) else None
    if _is_above(box, text, mark - 1, box_at):
        return mark - 1 if composed(text[mark - 1], text[mark]) else None
    away = (mark + sign * step for step in range(2, _FURTHEST) for sign in (-1, 1))
    fitting = (index for index in away if 0 <= index < len(text) and composed(text[index], text[mark]))
    return next((index for index in fitting if _is_above(box, text, index, box_at)), None)


def _is_above(box: Box, text: str, index: int, box_at: Boxes) -> bool:
    if not (0 <= index < len(text) and text[index].isalpha()):
        return False
    left, bottom, right, top = box_at(index)
    middle = (box[0] + box[2]) / 2
    return left <= middle <= right and bottom < box[1] <= top + _ABOVE * (top - bottom)


def _made_blanks(text: str, mark: int, seat: int, box_at: Boxes) -> Iterator[int]:
    """The blanks around an accent that are there only because it was read for a word."""
    before, after = mark - 1, mark + 1
    if seat == after + 1:
        yield after
    if text[before:mark] == " " and (seat != after + 1 or _touch(text, before - 1, seat, box_at)):
        yield before
    elif seat == before and text[after : after + 1] == " " and _touch(text, seat, after + 1, box_at):
        yield after


def _touch(text: str, left: int, right: int, box_at: Boxes) -> bool:
    """Whether two characters are parts of one word."""
    if left < 0 or right >= len(text) or text[left].isspace() or text[right].isspace():
        return False
    first, second = box_at(left), box_at(right)
    return second[0] - first[2] < _GAP * (second[3] - second[1])

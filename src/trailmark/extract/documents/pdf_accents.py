"""Accents that a PDF sets as glyphs of their own, brought to the letters that they stand above.

TeX sets an accent before its letter, which `repair` knows. Above capitals, and where an accent is drawn after
its word, PDFium's text has it behind the letter or even at the end of the line; its place on the page tells
where it belongs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from trailmark.extract.documents.document import Box
from trailmark.extract.documents.repair import combining, composed

_MARK = re.compile("[\u00b4\u00a8\u02c6\u02dc\u02c7\u02da]")
_FURTHEST = 120  # characters between an accent and its letter
_MOST = 500  # accents of a page that are looked after; with more it is no text
_GAP = 0.2  # in heights of a letter: what is wider is a blank
_ABOVE = 0.6  # in heights of a letter: how far above it an accent may be

Boxes = Callable[[int], Box]
"""The ink of a character: left, bottom, right and top in PDF's own points, which grow upwards."""


class Reseated(NamedTuple):
    """A text with its accents where they belong; `order` says which character of the text before each is."""

    text: str
    order: list[int]


def reseated(text: str, box_at: Boxes) -> Reseated | None:
    """The text as it is meant; blanks that an accent made are left out. None where all is well.

    An accent on a letter with which it makes no character of its own, as in formulas, becomes a combining one.
    """
    seats = dict[int, int]()  # from an accent to the letter that it stands above
    for found in islice(_MARK.finditer(text), _MOST):
        seat = _seat(text, found.start(), box_at)
        if seat is not None:
            seats[found.start()] = seat
    return _moved(text, seats, box_at) if seats else None


def _moved(text: str, seats: Mapping[int, int], box_at: Boxes) -> Reseated:
    onto = {letter: mark for mark, letter in seats.items() if composed(text[letter], text[mark])}
    dropped = {
        *onto.values(),
        *(blank for mark in onto.values() for blank in _made_blanks(text, mark, box_at)),
    }
    for mark in seats.keys() - dropped:
        text = text[:mark] + combining(text[mark]) + text[mark + 1 :]
    parts, order, at = list[str](), list[int](), 0
    for index in sorted(dropped | onto.keys()):
        ours = [*([onto[index]] if index in onto else []), *([] if index in dropped else [index])]
        parts += [text[at:index], *(text[each] for each in ours)]
        order += [*range(at, index), *ours]
        at = index + 1
    return Reseated("".join([*parts, text[at:]]), [*order, *range(at, len(text))])


def _seat(text: str, mark: int, box_at: Boxes) -> int | None:
    """The letter below an accent; None where it stands right before its letter already, or has none."""
    box = box_at(mark)
    following = mark + 1 + (text[mark + 1 : mark + 2] == " ")
    if _is_above(box, text, following, box_at):
        return following if following > mark + 1 and composed(text[following], text[mark]) else None
    if _is_above(box, text, mark - 1, box_at):
        return mark - 1
    away = (mark + sign * step for step in range(2, _FURTHEST) for sign in (-1, 1))
    fitting = (index for index in away if 0 <= index < len(text) and composed(text[index], text[mark]))
    return next((index for index in fitting if _is_above(box, text, index, box_at)), None)


def _is_above(box: Box, text: str, index: int, box_at: Boxes) -> bool:
    if not (0 <= index < len(text) and text[index].isalpha()):
        return False
    left, bottom, right, top = box_at(index)
    middle = (box[0] + box[2]) / 2
    return left <= middle <= right and bottom < box[1] <= top + _ABOVE * (top - bottom)


def _made_blanks(text: str, mark: int, box_at: Boxes) -> Iterator[int]:
    """The blanks around an accent that are there only because it was read for a word."""
    blanks = [index for index in (mark - 1, mark + 1) if text[index : index + 1] == " "]
    if blanks:
        left = mark - 1 - (mark - 1 in blanks)
        right = mark + 1 + (mark + 1 in blanks)
        yield from blanks if _touch(text, left, right, box_at) else blanks[1:]


def _touch(text: str, left: int, right: int, box_at: Boxes) -> bool:
    """Whether no blank belongs between two characters: they are of one word, or a line begins or ends."""
    if left < 0 or right >= len(text) or text[left].isspace() or text[right].isspace():
        return True
    first, second = box_at(left), box_at(right)
    return second[0] - first[2] < _GAP * max(first[3] - first[1], second[3] - second[1])

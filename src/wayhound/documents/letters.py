"""Accents that a PDF sets as glyphs of their own, brought to the letters that they stand above.

TeX sets an accent before its letter, which `repair` knows. Above capitals, and where an accent is drawn after
its word, PDFium's text has it behind the letter or even at the end of the line; its place on the page tells
where it belongs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from wayhound.documents.document import Box

_LIGATURES = {
    "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl",
    "\ufb05": "st", "\ufb06": "st",
}  # fmt: skip
# Fonts of TeX often tell no more than the places of their letters. Below the blank these are, in the
# encodings OT1 (0x0b to 0x0f, and accents) and T1 (0x1b to 0x1f, quotation marks and dashes); where the two
# differ, we take what English and names need: the quotation marks of T1, the accents of OT1.
_TEX = {
    "\x0b": "ff", "\x0c": "fi", "\r": "fl", "\x0e": "ffi", "\x0f": "ffl",
    "\x1b": "ff", "\x1c": "fi", "\x1d": "fl", "\x1e": "ffi", "\x1f": "ffl",
    "\x10": "“", "\x11": "”", "\x12": "\u02cb", "\x13": "\u00b4", "\x14": "\u02c7", "\x15": "–", "\x16": "—",
    "\x7f": "\u00a8",
}  # fmt: skip
_BLANKS = dict.fromkeys(
    "\t\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u3000", " "
)
_INVISIBLE = dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff\ufffe\uffff", "")
_BRACKET_PARTS = {chr(code): "" for code in range(0xF8E5, 0xF8FF)}  # of which tall brackets are built
_CONTROLS = {chr(code): "" for code in range(0x20)}
_PLAIN = str.maketrans({**_CONTROLS, **_BLANKS, **_INVISIBLE, **_BRACKET_PARTS, **_LIGATURES, **_TEX})

_COMBINING = {
    "\u00a8": "\u0308", "\u00b4": "\u0301", "\u02ca": "\u0301", "\u02cb": "\u0300", "\u02c6": "\u0302",
    "\u02dc": "\u0303", "\u02c7": "\u030c", "\u02d8": "\u0306", "\u02d9": "\u0307", "\u02da": "\u030a",
    "\u02dd": "\u030b", "\u00af": "\u0304", "\u00b8": "\u0327", "\u02db": "\u0328",
}  # fmt: skip
_MARKS_ABOVE = "".join(mark for mark in _COMBINING if mark not in "\u00b8\u02db")
_BEFORE = re.compile(
    rf"([{_MARKS_ABOVE}])\s?([A-Za-z\u0131])"
)  # TeX sets the accent, then steps back for the letter
_AFTER = re.compile(r"([A-Za-z])\s?([\u00b8\u02db])")  # marks below are set after it
_SPACES = re.compile(r" {2,}")


def repaired(text: str) -> str:
    """The text with ligatures as letters, accents on their letters, and neither controls nor odd blanks."""
    if not (text.isascii() and text.isprintable()):
        text = text.translate(_PLAIN)
        text = _BEFORE.sub(lambda found: composed(found[2], found[1]) or found[0], text)
        text = _AFTER.sub(lambda found: composed(found[1], found[2]) or found[0], text)
        text = unicodedata.normalize("NFC", text)
    return _SPACES.sub(" ", text) if "  " in text else text


def combining(mark: str) -> str:
    """The accent as a character that joins the letter before it."""
    return _COMBINING[mark]


@lru_cache(maxsize=4096)
def composed(letter: str, mark: str) -> str:
    """The letter with its accent as one character, or "" where there is none such."""
    letter = "i" if letter == "\u0131" else letter
    together = unicodedata.normalize("NFC", letter + _COMBINING[mark])
    return together if len(together) == 1 and letter.isalpha() else ""


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

"""Repair of extracted text: ligatures, odd blanks and control characters, and accents drawn as glyphs.

TeX draws an accent before its letter, which `repair_text` handles. Above capitals, and if an accent is drawn
after its word, PDFium's text has it after the letter or even at the end of the line. `reseat_accents` then
finds its letter by the position on the page.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from wayhound.documents.document import Box
from wayhound.text.words import normalised

_LIGATURES = {
    "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl",
    "\ufb05": "st", "\ufb06": "st",
}  # fmt: skip
# TeX fonts often come without a map to Unicode, so that a letter is known only by its position in the font.
# Below the space these are, in the encodings OT1 (0x0b to 0x0f, and accents) and T1 (0x1b to 0x1f, quotation
# marks and dashes). Where the two differ, the quotation marks of T1 and the accents of OT1 are taken, because
# English text and names need these.
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
_BRACKET_PARTS = {chr(code): "" for code in range(0xF8E5, 0xF8FF)}  # parts of tall brackets
_CONTROLS = {chr(code): "" for code in range(0x20)}
_PLAIN = str.maketrans({**_CONTROLS, **_BLANKS, **_INVISIBLE, **_BRACKET_PARTS, **_LIGATURES, **_TEX})

_COMBINING = {
    "\u00a8": "\u0308", "\u00b4": "\u0301", "\u02ca": "\u0301", "\u02cb": "\u0300", "\u02c6": "\u0302",
    "\u02dc": "\u0303", "\u02c7": "\u030c", "\u02d8": "\u0306", "\u02d9": "\u0307", "\u02da": "\u030a",
    "\u02dd": "\u030b", "\u00af": "\u0304", "\u00b8": "\u0327", "\u02db": "\u0328",
}  # fmt: skip
_MARKS_ABOVE = "".join(mark for mark in _COMBINING if mark not in "\u00b8\u02db")
_ACCENT_BEFORE = re.compile(rf"([{_MARKS_ABOVE}])\s?([A-Za-z\u0131])")  # TeX draws the accent first
_ACCENT_AFTER = re.compile(r"([A-Za-z])\s?([\u00b8\u02db])")  # but marks below the letter after it
_SPACES = re.compile(r" {2,}")


def repair_text(text: str) -> str:
    """Return the text with plain letters for ligatures, composed accents, and no control characters."""
    if not (text.isascii() and text.isprintable()):
        text = text.translate(_PLAIN)
        text = _ACCENT_BEFORE.sub(lambda match: composed(match[2], match[1]) or match[0], text)
        text = _ACCENT_AFTER.sub(lambda match: composed(match[1], match[2]) or match[0], text)
        text = normalised("NFC", text)
    return _SPACES.sub(" ", text) if "  " in text else text


@lru_cache(maxsize=4096)
def composed(letter: str, mark: str) -> str:
    """Return the letter with its accent as one character, or "" if Unicode has none."""
    letter = "i" if letter == "\u0131" else letter
    together = unicodedata.normalize("NFC", letter + _COMBINING[mark])
    return together if len(together) == 1 and letter.isalpha() else ""


_MARK = re.compile("[\u00b4\u00a8\u02c6\u02dc\u02c7\u02da]")
_MAX_DISTANCE = 120  # characters between an accent and its letter
_MAX_ACCENTS = 500  # of a page; a page with more is no text
_WORD_GAP = 0.2  # a wider gap is a blank, in heights of a letter
_MAX_HEIGHT = 0.6  # of an accent above its letter, in heights of the letter

GlyphBox = Callable[[int], Box]
"""Returns the ink of a character: left, bottom, right and top in PDF coordinates, which grow upwards."""


class ReseatedText(NamedTuple):
    """Text with accents before their letters; `order` maps each character to its index in the original."""

    text: str
    order: list[int]


def reseat_accents(text: str, box_at: GlyphBox) -> ReseatedText | None:
    """Return the text with each accent before its letter, or None if no accent is out of place.

    Blanks caused by an accent are removed. An accent that forms no single character with its letter, as in
    formulas, becomes a combining character.
    """
    seats = dict[int, int]()  # index of an accent → index of the letter below it
    for match in islice(_MARK.finditer(text), _MAX_ACCENTS):
        seat = _seat(text, match.start(), box_at)
        if seat is not None:
            seats[match.start()] = seat
    return _moved(text, seats, box_at) if seats else None


def _moved(text: str, seats: Mapping[int, int], box_at: GlyphBox) -> ReseatedText:
    onto = {letter: mark for mark, letter in seats.items() if composed(text[letter], text[mark])}
    dropped = {
        *onto.values(),
        *(blank for mark in onto.values() for blank in _blanks_around(text, mark, box_at)),
    }
    for mark in seats.keys() - dropped:
        text = text[:mark] + _COMBINING[text[mark]] + text[mark + 1 :]
    parts, order, position = list[str](), list[int](), 0
    for index in sorted(dropped | onto.keys()):
        kept = [*([onto[index]] if index in onto else []), *([] if index in dropped else [index])]
        parts += [text[position:index], *(text[original] for original in kept)]
        order += [*range(position, index), *kept]
        position = index + 1
    return ReseatedText("".join([*parts, text[position:]]), [*order, *range(position, len(text))])


def _seat(text: str, mark: int, box_at: GlyphBox) -> int | None:
    """Return the index of the letter below an accent; None if it directly follows the accent or is missing."""
    box = box_at(mark)
    following = mark + 1 + (text[mark + 1 : mark + 2] == " ")
    if _is_above(box, text, following, box_at):
        return following if following > mark + 1 and composed(text[following], text[mark]) else None
    if _is_above(box, text, mark - 1, box_at):
        return mark - 1
    away = (mark + sign * step for step in range(2, _MAX_DISTANCE) for sign in (-1, 1))
    fitting = (index for index in away if 0 <= index < len(text) and composed(text[index], text[mark]))
    return next((index for index in fitting if _is_above(box, text, index, box_at)), None)


def _is_above(box: Box, text: str, index: int, box_at: GlyphBox) -> bool:
    if not (0 <= index < len(text) and text[index].isalpha()):
        return False
    left, bottom, right, top = box_at(index)
    middle = (box[0] + box[2]) / 2
    return left <= middle <= right and bottom < box[1] <= top + _MAX_HEIGHT * (top - bottom)


def _blanks_around(text: str, mark: int, box_at: GlyphBox) -> Iterator[int]:
    """Yield the blanks around an accent that PDFium inserted because it took the accent for a word."""
    blanks = [index for index in (mark - 1, mark + 1) if text[index : index + 1] == " "]
    if blanks:
        left = mark - 1 - (mark - 1 in blanks)
        right = mark + 1 + (mark + 1 in blanks)
        yield from blanks if _touch(text, left, right, box_at) else blanks[1:]


def _touch(text: str, left: int, right: int, box_at: GlyphBox) -> bool:
    """Return True if no blank belongs between two characters: one word, or the start or end of a line."""
    if left < 0 or right >= len(text) or text[left].isspace() or text[right].isspace():
        return True
    first, second = box_at(left), box_at(right)
    return second[0] - first[2] < _WORD_GAP * max(first[3] - first[1], second[3] - second[1])

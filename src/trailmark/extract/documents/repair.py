"""Letters as they were meant: ligatures taken apart, loose accents put back on, odd blanks made plain."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

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
_ABOVE = "".join(mark for mark in _COMBINING if mark not in "\u00b8\u02db")
_BEFORE = re.compile(
    rf"([{_ABOVE}])\s?([A-Za-z\u0131])"
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

"""Text in plain small letters, so that accents, entities and ligatures do not part what is the same."""

from __future__ import annotations

import html
import re
import unicodedata

_SPECIAL = str.maketrans(
    {"ß": "ss", "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "–": "-", "—": "-", "’": "'"}
)
_WORD = re.compile(r"[^\W_]+")
_TEX = re.compile(r"\\[a-zA-Z]+\s*|\\.|[{}$]")
_APOSTROPHE = re.compile(r"(?<=\w)['’`](?=\w)")


def fold(text: str) -> str:
    """The text in small letters without accents, entities or TeX's marks."""
    if "&" in text:
        text = html.unescape(text)
    if "\\" in text or "{" in text:
        text = _TEX.sub("", text)
    text = text.lower()
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", text.translate(_SPECIAL))
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def plain_words(text: str) -> list[str]:
    """The words of a folded text; an apostrophe inside a word does not part it."""
    return _WORD.findall(_APOSTROPHE.sub("", fold(text)))

"""Accent and case folding, so that spellings of one word compare equal."""

from __future__ import annotations

import html
import re
import unicodedata

# Letters that Unicode does not decompose into a base letter and a mark.
_UNDECOMPOSED = str.maketrans(
    {"ß": "ss", "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th"}
)
_PUNCTUATION = str.maketrans({"–": "-", "—": "-", "’": "'"})
_WORD = re.compile(r"[^\W_]+")
_TEX = re.compile(r"\\[a-zA-Z]+\s*|\\.|[{}$]")
_APOSTROPHE = re.compile(r"(?<=\w)['’`](?=\w)")


def without_accents(text: str) -> str:
    """Return lower-case text with accented letters and ligatures replaced by plain letters."""
    decomposed = unicodedata.normalize("NFKD", text.translate(_UNDECOMPOSED))
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def fold(text: str) -> str:
    """Return the text in lower case without accents, HTML entities or TeX commands; dashes become hyphens."""
    if "&" in text:
        text = html.unescape(text)
    if "\\" in text or "{" in text:
        text = _TEX.sub("", text)
    text = text.lower()
    return text if text.isascii() else without_accents(text.translate(_PUNCTUATION))


def plain_words(text: str) -> list[str]:
    """Return the words of the folded text; an apostrophe inside a word does not split it."""
    return _WORD.findall(_APOSTROPHE.sub("", fold(text)))


def letters_and_digits(text: str, keep: str = "") -> str:
    """Return only the letters and digits, folded, and the characters in `keep`.

    >>> letters_and_digits("Müller-Lüdenscheidt, 1997a")
    'mullerludenscheidt1997a'
    """
    # Folded twice: some capitals, such as those of mathematical fonts, appear only after decomposition.
    folded = without_accents(text.casefold()).casefold()
    return "".join(letter for letter in folded if letter.isalnum() or letter in keep)

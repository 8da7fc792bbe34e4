"""Words: splitting text, folding accents and case, and singulars.

One spelling each for pages, links, queries, papers and topics, so that what one part stores the others find.
"""

from __future__ import annotations

import codecs
import html
import re
import unicodedata
from functools import lru_cache
from typing import Literal

_LONG_RUN, _MOST_MARKS = 100, 30  # the second as in Unicode's stream-safe text format (UAX #15, section 13)
# Combining marks, and other signs beyond ASCII that are no letters; the two letters become marks in NFKC and NFKD.
_SIGNS = re.compile(rf"(?:[^\w\x00-\x7f]|[\uff9e\uff9f]){{{_LONG_RUN},}}")
# Scripts without spaces between words: Thai, Lao, Myanmar, Khmer, kana, Han.
_UNSPACED = re.compile(
    "[\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0eff\u1000-\u109f\u1780-\u17dd\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]+"
)
# Lower-case letters and digits; everything else becomes a space. Bytes above 127 stay, and so do the separators
# 1C to 1F, which are white space to `str.split`: callers use them as markers.
_KEPT = range(0x1C, 0x20)
_ASCII = bytes(b if b > 127 or b in _KEPT or chr(b).isalnum() else 32 for b in range(256)).lower()


def normalised(form: Literal["NFC", "NFKC", "NFKD"], text: str) -> str:
    """Return the text in a normal form of Unicode, with at most 30 combining marks in a row if there are too many.

    Python sorts the marks of a letter in quadratic time: 100,000 take minutes.
    """
    if len(text) >= _LONG_RUN and not text.isascii():
        text = _SIGNS.sub(_few_marks, text)
    return unicodedata.normalize(form, text)


def _few_marks(signs: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for sign in signs[0]:
        is_mark = unicodedata.category(sign)[0] == "M" or sign in "\uff9e\uff9f"
        marks = marks + 1 if is_mark else 0
        if marks <= _MOST_MARKS:
            kept.append(sign)
    return "".join(kept)


def words(text: str) -> list[str]:
    """Return the words of a text in reading order and lower case: runs of letters and digits.

    Apostrophes, hyphens and full stops separate words, so ``l'équipe`` and ``faculty's`` contain ``équipe`` and
    ``faculty``. Scripts without spaces give overlapping pairs of characters.
    """
    return spaced(text).split()


def spaced(text: str) -> str:
    """Return the words of a text with white space between them. The separators 1C to 1F stay in place."""
    if not text.isascii():
        text = normalised("NFC", text)
    return text.encode("ascii", _ERROR_HANDLER).translate(_ASCII).decode("utf-8")


def _handle_non_ascii(beyond_ascii: UnicodeError) -> tuple[bytes, int]:
    """Normalise a run that is not ASCII. The encoder finds these faster than a regular expression would."""
    assert isinstance(beyond_ascii, UnicodeEncodeError)
    run = beyond_ascii.object[beyond_ascii.start : beyond_ascii.end]
    return (_normalise_cached(run) if len(run) < 40 else _normalise(run)).encode(), beyond_ascii.end


_ERROR_HANDLER = "wayhound.text.words"
codecs.register_error(_ERROR_HANDLER, _handle_non_ascii)


def _normalise(run: str) -> str:
    folded = normalised("NFKC", _letters(run.replace("\u00ad", ""))).lower()
    folded = folded.replace("i\u0307", "i")  # lower case of the Turkish dotted capital I
    return _UNSPACED.sub(_pairs, _letters(folded))


# Dashes, quotation marks and accented letters occur again and again.
_normalise_cached = lru_cache(maxsize=4096)(_normalise)


def _letters(run: str) -> str:
    """Return letters and digits with their combining marks; everything else becomes a space."""
    kept = " "
    for char in run:
        belongs = char.isalnum() or (kept[-1] != " " and unicodedata.category(char)[0] == "M")
        kept += char if belongs else " "
    return kept[1:]


def _pairs(run: re.Match[str]) -> str:
    chars = run[0]
    if len(chars) == 1:
        return f" {chars} "
    return f" {' '.join([chars[at : at + 2] for at in range(len(chars) - 1)])} "


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
    decomposed = normalised("NFKD", text.translate(_UNDECOMPOSED))
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
    folded = fold(text)
    if "'" in folded or "’" in folded or "`" in folded:  # most texts have none, and looking behind is slow
        folded = _APOSTROPHE.sub("", folded)
    # in a quarter of the time of the pattern
    return folded.encode().translate(_ASCII).decode().split() if folded.isascii() else _WORD.findall(folded)


def letters_and_digits(text: str, keep: str = "") -> str:
    """Return only the letters and digits, folded, and the characters in `keep`.

    >>> letters_and_digits("Müller-Lüdenscheidt, 1997a")
    'mullerludenscheidt1997a'
    """
    # Folded twice: some capitals, such as those of mathematical fonts, appear only after decomposition.
    folded = without_accents(text.casefold()).casefold()
    return "".join(letter for letter in folded if letter.isalnum() or letter in keep)


ENDINGS_OF_SINGULARS = ("ss", "us", "is", "ics")


def singular(word: str, singular_endings: tuple[str, ...] = ENDINGS_OF_SINGULARS) -> str:
    """Return the singular of a lower-case English plural; other words are returned unchanged.

    Words with one of `singular_endings` count as singulars.

    >>> [singular(word) for word in ("studies", "classes", "papers", "campus", "gas")]
    ['study', 'class', 'paper', 'campus', 'gas']
    """
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith("sses"):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(singular_endings):
        return word[:-1]
    return word

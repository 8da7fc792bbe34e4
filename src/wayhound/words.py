"""Cut text into the words that pages, links and questions are compared by, the same way everywhere."""

from __future__ import annotations

import codecs
import re
import unicodedata
from functools import lru_cache

# Scripts that put no space between words: Thai, Lao, Myanmar, Khmer, kana, Han.
_UNSPACED = re.compile(
    "[\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0eff\u1000-\u109f\u1780-\u17dd\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f]+"
)
# Letters in lower case, digits as they are, all else a space; bytes of other scripts are left alone, and so
# are the separators 1C to 1F, white space to `str.split`, so that callers can mark places with them.
_KEPT = range(0x1C, 0x20)
_ASCII = bytes(b if b > 127 or b in _KEPT or chr(b).isalnum() else 32 for b in range(256)).lower()


def words(text: str) -> list[str]:
    """The words of a text in reading order and lower case: runs of letters and digits.

    Apostrophes, hyphens and points part words, so that ``l'équipe`` and ``faculty's`` hold the words
    ``équipe`` and ``faculty``. Scripts without spaces give overlapping pairs of characters.
    """
    return spaced(text).split()


def spaced(text: str) -> str:
    """The words of a text with white space between them. The separators 1C to 1F stay in their places."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return text.encode("ascii", _TIDY).translate(_ASCII).decode("utf-8")


def _tidy(beyond_ascii: UnicodeError) -> tuple[bytes, int]:
    """Tidy a run that is not ASCII. The encoder finds these faster than a regular expression would."""
    assert isinstance(beyond_ascii, UnicodeEncodeError)
    run = beyond_ascii.object[beyond_ascii.start : beyond_ascii.end]
    return (_tidied_before(run) if len(run) < 40 else _tidied(run)).encode(), beyond_ascii.end


_TIDY = "wayhound.words"
codecs.register_error(_TIDY, _tidy)


def _tidied(run: str) -> str:
    plain = unicodedata.normalize("NFKC", _letters_of(run.replace("\u00ad", ""))).lower()
    plain = plain.replace("i\u0307", "i")  # what Unicode makes of the Turkish capital letter
    return _UNSPACED.sub(_pairs, _letters_of(plain))


# Dashes, quotation marks and accented letters come again and again.
_tidied_before = lru_cache(maxsize=4096)(_tidied)


def _letters_of(run: str) -> str:
    """Letters and digits with the marks that belong to them; all else a space."""
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

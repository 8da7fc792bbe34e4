"""Where a text stands among the words of some lines, whatever their case, accents, marks and line ends."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_NO_LETTER = re.compile(r"[\W_]+")
_MARKS = re.compile(r"^[\W\d_]+|[\W\d_]+$")  # footnote marks and commas around a name


def find_words(words: Sequence[str], text: str, start: int = 0) -> range | None:
    """The words that say the text, from `start` on; None where nothing does.

    >>> find_words(["A", "Mini-", "malist’s", "Guide*"], "a minimalist's guide")
    range(0, 4)
    """
    wanted = [letters for word in text.split() if (letters := _letters(word))]
    if not wanted:
        return None
    plain = [_letters(word) for word in words]
    for first in range(start, len(words)):
        if plain[first] and (stop := _match(plain, first, "".join(wanted))):
            return range(first, stop)
    return None


def _match(plain: Sequence[str], first: int, wanted: str) -> int | None:
    """The end of the words from `first` on that spell out the letters wanted, and no more."""
    at = first
    while wanted and at < len(plain):
        said = plain[at]
        if not wanted.startswith(said):
            said = _MARKS.sub("", said)
            if not said or not wanted.startswith(said):
                return None
        wanted = wanted.removeprefix(said)
        at += 1
    return at if not wanted else None


def _letters(word: str) -> str:
    folded = unicodedata.normalize("NFKD", word).casefold()
    return _NO_LETTER.sub("", folded)

"""Cut documents and questions into the same terms, so that what is written differently is found all the same."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from trailmark.words import spaced

LONGEST_TERM = 64  # characters; what is longer is cut, in documents and questions alike

_SPECIAL = str.maketrans({"ß": "ss", "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th"})


def terms(text: str) -> list[str]:
    """Words in small letters without accents, in reading order. None is left out and none is stemmed."""
    plain = spaced(text)
    found = plain.split()
    if not plain.isascii():
        found = [
            part for word in found for part in ([word] if word.isascii() else without_accents(word).split())
        ]
    if max(map(len, found), default=0) > LONGEST_TERM:
        found = [term[:LONGEST_TERM] for term in found]
    return found


@lru_cache(maxsize=20_000)  # the same few words with accents come again and again
def without_accents(text: str) -> str:
    apart = unicodedata.normalize("NFKD", text.translate(_SPECIAL))
    return "".join(letter for letter in apart if not unicodedata.combining(letter))

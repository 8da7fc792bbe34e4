"""Whether text that came out of a file is text at all, or the codes of fonts that nobody can read."""

from __future__ import annotations

import re
from math import hypot

_SAMPLE = 4_000  # characters from the beginning, and as many from the middle on
_LATIN = re.compile(r"[a-z]+")
# Controls, private use, and the boxes, dingbats and circled letters that stand for codes without meaning.
_UNREADABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2460-\u27bf\ue000-\uf8ff\ufffd]")
# The commonest small words of the languages that most papers are in; a page of any of them has many.
_SMALL_WORDS = frozenset(
    "the of and to in is that for with as by on are we this be from an at which "
    "der die das und ist von mit den des im für auf "
    "le la les et des une est dans que pour par sur "
    "el los las en es una por con del se "
    "il di che un per non sono della "
    "o os as um uma em para com não "
    "het een van dat niet zijn op".split()
)
_USUAL = {
    "e": 12.5, "t": 8.5, "a": 8.5, "i": 7.5, "o": 7.3, "n": 7.2, "s": 6.8, "r": 6.5, "h": 4.2, "l": 4.2,
    "d": 3.8, "c": 3.3, "u": 3.2, "m": 2.7, "p": 2.2, "f": 2.0, "g": 1.8, "w": 1.4, "y": 1.4, "b": 1.3,
    "v": 1.2, "k": 0.8, "z": 0.5, "x": 0.3, "j": 0.3, "q": 0.3,
}  # fmt: skip
"""How often each letter comes, in per cent."""


def is_garbled(text: str) -> bool:
    """A long text is garbled when it has too few letters, or Latin letters that form no language.

    Text in another script, or too short to judge, passes.
    """
    middle = len(text) // 2
    sample = _dense(text[:middle]) + " " + _dense(text[middle:])
    printed = "".join(sample.split())
    if len(printed) < 300:
        return False
    unreadable, letters = len(_UNREADABLE.findall(printed)), sum(map(str.isalpha, printed))
    if unreadable > 0.1 * len(printed) or letters < 0.25 * len(printed):
        return True
    return _is_no_language(sample.lower(), len(printed))


def _dense(text: str) -> str:
    """A sample with single blanks, since text that keeps its layout may be mostly blank."""
    return " ".join(text[: 10 * _SAMPLE].split())[:_SAMPLE]


def _is_no_language(sample: str, n_printed: int) -> bool:
    words = _LATIN.findall(sample)
    latin = "".join(words)
    if len(latin) < 0.4 * n_printed:
        return False
    if len(latin) > 20 * len(words):
        return True  # blanks are lost
    if len(words) < 100:
        return False
    small = sum(word in _SMALL_WORDS for word in words) / len(words)
    return small < 0.06 and _likeness(latin) < 0.72


def _likeness(letters: str) -> float:
    """The cosine of how often each letter comes with how often it does in European languages.

    0.98 for English, 0.76 to 0.84 for Polish, Turkish, Hungarian and Finnish, 0.5 to 0.7 for shifted English.
    """
    counts = {letter: letters.count(letter) for letter in _USUAL}
    together = sum(_USUAL[letter] * count for letter, count in counts.items())
    return together / (hypot(*_USUAL.values()) * hypot(*counts.values()))

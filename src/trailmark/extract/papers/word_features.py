"""Features of a single word, the same for headers and references: its form, and the lists that hold it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from trailmark.extract.papers.lexicon import Lexicon, core, word_classes

LONGEST_WORD = 100
"""Characters of a word that are looked at; what is longer is no word, and may be meant to keep us busy."""

_RUN = re.compile(r"(.)\1+")
_FORMS = (
    ("email", re.compile(r"\S+@\S+\.\S+")),
    ("at", re.compile(r"\S*@")),
    ("url", re.compile(r"(?i).*(?:https?:|ftp[.:]|www\.)|~|.*\.html?\W*$")),
    ("year", re.compile(r"\W*(?:19|20)\d\d[a-z]?\W*$")),
    ("apostrophe-year", re.compile(r"['’`]\d\d\W*$")),
    ("zip", re.compile(r"\W*(?:[A-Z]{1,2}-?)?\d{4,6}(?:-\d{3,4})?\W*$")),
    ("small-number", re.compile(r"\W*\d{1,2}\W*$")),
    ("number", re.compile(r"\W*\d+\W*$")),
    ("range", re.compile(r"\W*\d+\s*[-–]+\s*\d+")),
    ("issue", re.compile(r"\W*\d+\W*\(\d")),
    ("phone-number", re.compile(r".*(?:\d{3}[-.)/ ]*\d{3,4}|\+\d+|\(\d{2,3}\))")),
    ("report-number", re.compile(r"\W*[A-Z]+\w*[-/.]\w*\d+(?:[-/.]\w+)*\W*$")),
    ("digit", re.compile(r".*\d")),
    ("initial", re.compile(r"(?:[A-Z]\.-?)+,?$")),
    ("bare-initial", re.compile(r"[A-Z],?$")),
    ("capital", re.compile(r"\W*[A-Z]")),
    ("capitals", re.compile(r"\W*[A-Z][A-Z'-]{2,}\W*$")),
    ("small", re.compile(r"\W*[a-z]")),
    ("mark", re.compile(r"(?:[*†‡§¶]|\d|[a-z])$")),
    ("no-word", re.compile(r"\W+$")),
)


@dataclass(frozen=True, slots=True)
class WordFeatures:
    """`core` is the bare word; `own` are features of the word alone, `kinds` those worth telling
    neighbours.
    """

    core: str
    own: tuple[str, ...]
    kinds: tuple[str, ...]
    last: str


def shape(token: str) -> str:
    """Capitals, small letters and digits as X, x and d, each run once: `McCallum,` is `XxXx,`."""
    signs = (_sign(letter) for letter in token[:30])
    return _RUN.sub(r"\1", "".join(signs))[:10]


@lru_cache(maxsize=20_000)
def word_features(token: str, lexicon: Lexicon) -> WordFeatures:
    token = token[:LONGEST_WORD]
    bare, last = core(token), token[-1] if not token[-1].isalnum() else "a"
    lower = token.lower()
    own = [f"w={lower[:25]}", f"c={bare[:25]}", f"s={shape(token)}"]
    own += [f"p{n}={lower[:n]}" for n in (2, 3, 4)] + [f"x{n}={lower[-n:]}" for n in (2, 3, 4)]
    own += [f"first={token[0] if not token[0].isalnum() else 'a'}", f"last={last}"]
    kinds = [name for name, pattern in _FORMS if pattern.match(token)]
    kinds += [f"L:{name}" for name in word_classes(bare)]
    kinds += [f"N:{code}" for code in lexicon.of(bare)]
    return WordFeatures(bare, tuple(own), tuple(kinds), last)


def _sign(letter: str) -> str:
    if letter.isdigit():
        return "d"
    if letter.isupper():
        return "X"
    return "x" if letter.isalpha() else letter

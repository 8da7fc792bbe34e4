"""What the words of a reference are judged by: themselves, their neighbours, and what came before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trailmark.extract.papers.lexicon import Lexicon
from trailmark.extract.papers.tokens import TokenLine, all_words
from trailmark.extract.papers.word_features import WordFeatures, shape, word_features

_OPEN_QUOTE = re.compile(r"[\"“]|``")
_CLOSE_QUOTE = re.compile(r".*(?:[\"”]|'')[.,;:]*$")
_STOP = re.compile(r".*(?:[a-z0-9)\]”\"][.][\"”)]?|[,.][\"”])$")
_WHOLE = (
    ("quotes", re.compile(r"[\"“]|``")),
    ("editors", re.compile(r"(?i)\beds?\b|\beditors?\b")),
    ("meeting", re.compile(r"(?i)\bproc|conference|symposium|workshop")),
    ("thesis", re.compile(r"(?i)thesis|technical report|tech\.? rep")),
    ("issue", re.compile(r"\d\s*\(\d+\)")),
    ("in", re.compile(r"[.,\"”]\s+[Ii]n:?\s+[A-Z]")),
)
_MARKS = {"year": "year", "L:pages": "pages", "range": "pages", "L:editor": "editor", "L:meeting": "meeting",
          "L:volume": "volume", "L:thesis": "thesis"}  # fmt: skip


class ReferenceFeatures:
    """Features of every word of a reference; line ends mean nothing in it."""

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon

    def __call__(self, lines: Sequence[TokenLine]) -> list[list[str]]:
        tokens = all_words(lines)
        words = [word_features(token, self.lexicon) for token in tokens]
        whole = [name for name, pattern in _WHOLE if pattern.search(" ".join(tokens))]
        before = list(_before(tokens, words))
        return [
            [
                *words[at].own, *words[at].kinds, *_form(tokens[at]), *_neighbours(words, at),
                *_place(at, len(words)), *before[at], *(f"whole={name}" for name in whole),
                *(f"whole={name}|{mark}" for name in whole for mark in before[at] if mark.startswith("after")),
            ]
            for at in range(len(words))
        ]  # fmt: skip


def _form(token: str) -> Iterator[str]:
    """The exact spelling at both ends, and the shape letter by letter."""
    for length in (1, 2, 3, 4):
        yield f"P{length}={token[:length]}"
        yield f"X{length}={token[-length:]}"
    yield "S=" + "".join(shape(letter) for letter in token[:8])


def _neighbours(words: Sequence[WordFeatures], at: int) -> Iterator[str]:
    for offset in (-3, -2, -1, 1, 2, 3):
        if not 0 <= at + offset < len(words):
            yield f"{offset}:none"
            continue
        there = words[at + offset]
        yield f"{offset}:c={there.core}"
        yield f"{offset}:last={there.last}"
        if abs(offset) < 3:
            yield f"{offset}:{there.own[2]}"
        for kind in there.kinds:
            if abs(offset) < 3 or kind.startswith("L:"):
                yield f"{offset}:{kind}"
    if at:
        yield f"pair={words[at - 1].core}|{words[at].core}"
        yield f"turn={words[at - 1].last}|{words[at].own[2]}"
    if at + 1 < len(words):
        yield f"next={words[at].core}|{words[at + 1].core}"


def _place(at: int, n_words: int) -> Iterator[str]:
    yield f"part={10 * at // n_words}"
    yield f"at={min(at, 12)}"
    yield f"left={min(n_words - at, 8)}"


def _before(tokens: Sequence[str], words: Sequence[WordFeatures]) -> Iterator[list[str]]:
    """What has been met so far: quotes, years, pages; and how many stretches have ended."""
    quoted, closed, stretch = False, False, 0
    seen: set[str] = set()
    for token, word in zip(tokens, words, strict=True):
        if _OPEN_QUOTE.match(token):
            quoted = True
        state = ["quoted"] if quoted else ["after-quote"] if closed else []
        yield [*state, f"stretch={min(stretch, 6)}", *(f"after={mark}" for mark in sorted(seen))]
        if quoted and _CLOSE_QUOTE.match(token):
            quoted, closed = False, True
        seen.update(_MARKS[kind] for kind in word.kinds if kind in _MARKS)
        stretch += _STOP.match(token) is not None and "initial" not in word.kinds

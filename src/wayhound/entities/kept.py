"""Answers about texts that are kept: the pages of a site share most of their lines."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar, TypeVarTuple

MAX_KEPT = 8_192
MAX_KEPT_CHARS = 500
"""Longer texts are prose, which pages do not share, and a hostile page could fill the memory with them."""

_Rest = TypeVarTuple("_Rest")
_Answer = TypeVar("_Answer")


class _Kept(dict[str, _Answer]):
    """Answers by text; a missing one is asked for. All are forgotten when there are too many."""

    def __init__(self, function: Callable[[str], _Answer], most: int) -> None:
        super().__init__()
        self._function, self._most = function, most

    def __missing__(self, text: str) -> _Answer:
        answer = self._function(text)
        if len(text) <= MAX_KEPT_CHARS:
            if len(self) >= self._most:
                self.clear()
            self[text] = answer
        return answer


def keep(function: Callable[[str], _Answer], most: int = MAX_KEPT) -> Callable[[str], _Answer]:
    """Return a function that keeps its answers for `most` texts at a time, but for those of long ones.

    It is the lookup of a dictionary, which takes a third of the time of `lru_cache`: that one moves each answer to the
    front, and the answers beside it are anywhere in memory.
    """
    return _Kept(function, most).__getitem__


def keep_beside(function: Callable[[str, *_Rest], _Answer]) -> Callable[[str, *_Rest], _Answer]:
    """Return a function of a text and more that keeps its latest answers, but for those of long texts."""
    kept = lru_cache(maxsize=MAX_KEPT)(function)

    @wraps(function)
    def answer(text: str, /, *rest: *_Rest) -> _Answer:
        return kept(text, *rest) if len(text) <= MAX_KEPT_CHARS else function(text, *rest)

    return answer

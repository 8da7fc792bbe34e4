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


def keep(function: Callable[[str, *_Rest], _Answer]) -> Callable[[str, *_Rest], _Answer]:
    """Return a function that keeps its answers for the latest texts, but for those of long ones."""
    kept = lru_cache(maxsize=MAX_KEPT)(function)

    @wraps(function)
    def answer(text: str, /, *rest: *_Rest) -> _Answer:
        return kept(text, *rest) if len(text) <= MAX_KEPT_CHARS else function(text, *rest)

    return answer

"""Token sets as sparse rows: which tokens have a column, and which column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Self

import numpy as np
from scipy.sparse import csr_array

from wayhound.errors import NotFitted


class TokenVocabulary:
    """A column for each token that occurs in enough groups; other tokens are ignored.

    After `fit`: `columns_`, the column of each token.
    """

    def __init__(self, min_groups: int = 2) -> None:
        self.min_groups = min_groups

    def fit(self, sets: Iterable[Collection[str]], groups: Iterable[str]) -> Self:
        """Keep the tokens of at least `min_groups` groups: a word of one site says nothing about others."""
        by_group: dict[str, set[str]] = {}
        for tokens, group in zip(sets, groups, strict=True):
            by_group.setdefault(group, set()).update(tokens)
        counts = Counter(token for tokens in by_group.values() for token in tokens)
        kept = sorted(token for token, count in counts.items() if count >= self.min_groups)
        self.columns_: Mapping[str, int] = {token: column for column, token in enumerate(kept)}
        return self

    @classmethod
    def from_tokens(cls, tokens: Sequence[str]) -> Self:
        """Return a vocabulary of these tokens, in their order, such as one that was fitted and saved."""
        vocabulary = cls()
        vocabulary.columns_ = {token: column for column, token in enumerate(tokens)}
        return vocabulary

    def rows(self, sets: Sequence[Collection[str]]) -> csr_array:
        """Return a matrix (len(sets), len(columns_)) with 1 where a token is in a set."""
        if not hasattr(self, "columns_"):
            raise NotFitted("This vocabulary has not been fitted: call fit first.")
        columns, ends = [], [0]
        for tokens in sets:
            columns += sorted(
                [column for token in tokens if (column := self.columns_.get(token)) is not None]
            )
            ends.append(len(columns))
        shape = (len(sets), len(self.columns_))
        return csr_array(
            (np.ones(len(columns)), np.array(columns, dtype=np.int64), np.array(ends)), shape=shape
        )

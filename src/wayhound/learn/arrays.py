"""Array types, vocabularies that number their columns, and operations that several estimators share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from wayhound.errors import NotFitted

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def log_sum_exp(terms: Floats, axis: int = 1) -> Floats:
    """Return log Σ exp(terms) along an axis. Minus infinity everywhere gives minus infinity."""
    top = terms.max(axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        total = np.log(np.exp(terms - top).sum(axis=axis))
    return np.asarray(total + np.squeeze(top, axis=axis), dtype=np.float64)


def softmax(scores: Floats) -> Floats:
    """Return rows of log scores (n, classes) as probabilities that sum to one."""
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True), dtype=np.float64)


def log_softmax(scores: Floats) -> Floats:
    """Return the logarithms of `softmax`, computed without underflow."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def divide(part: Floats, whole: Floats) -> Floats:
    """Return part / whole, broadcast, and 0 where the whole is not positive."""
    part, whole = np.broadcast_arrays(part, whole)
    return np.asarray(np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0))


def scale_columns(rows: csr_array, scales: Floats) -> csr_array:
    """Return rows with every column multiplied by its scale.

    Under a Gaussian prior, a column of a larger scale needs a smaller weight: the same as a wider prior for it.
    """
    return csr_array((rows.data * scales[rows.indices], rows.indices, rows.indptr), shape=rows.shape)


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

"""Array types, and the few operations on logarithms, ratios and sparse rows that several estimators share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

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

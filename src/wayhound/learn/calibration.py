"""Makes confidences honest: one temperature, learned from labels that the model was not shown."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy.optimize import minimize_scalar

from wayhound.errors import NotFitted
from wayhound.learn.naive_bayes import Floats, softmax

_RANGE = (-4.0, 1.0)  # of the logarithm of the scale: naive Bayes is too sure by far, hardly ever too modest


class Temperature:
    """Scales the logarithms of joint probabilities so that held-out labels become most likely.

    After `fit`: `scale_`, below 1 where the model was too sure. The order of the classes stays.
    """

    def fit(self, joint: Floats, labels: Floats) -> Self:
        """Learn from log P(c, d) (n, C) and P(c | d) (n, C), of documents that did not teach the model."""

        def surprise(log_scale: float) -> float:
            posterior = softmax(np.exp(log_scale) * joint)
            return -float((labels * np.log(np.maximum(posterior, 1e-300))).sum())

        found = minimize_scalar(surprise, bounds=_RANGE, method="bounded") if labels.any() else None
        self.scale_ = float(np.exp(found.x)) if found is not None else 1.0
        return self

    def predict(self, joint: Floats) -> Floats:
        """P(c | d), as sure as it should be."""
        if not hasattr(self, "scale_"):
            raise NotFitted("The confidences have not been calibrated yet.")
        return softmax(self.scale_ * joint)


def reliability(confidences: Floats, right: Floats, n_bins: int = 10) -> list[tuple[float, float, int]]:
    """For each band of confidence that occurs: its mean, the share that was right, and how many they were."""
    bands = np.minimum((confidences * n_bins).astype(int), n_bins - 1)
    return [
        (
            float(confidences[bands == band].mean()),
            float(right[bands == band].mean()),
            int((bands == band).sum()),
        )
        for band in np.unique(bands)
    ]


def calibration_error(confidences: Floats, right: Floats) -> float:
    """How far confidence is from the share that is right, on average over documents."""
    rows = reliability(confidences, right)
    return sum(count * abs(said - found) for said, found, count in rows) / max(len(right), 1)

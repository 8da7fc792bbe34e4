"""The pair classifier that comes with the package, and how such a one is written down: plain JSON."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import numpy as np

from trailmark.errors import ModelError
from trailmark.learn.pair_classifier import PairClassifier
from trailmark.organise.citations.features import FEATURES

FORMAT = "trailmark citation matcher"
VERSION = 1
FILE_NAME = "matcher.json"


def shipped_classifier() -> PairClassifier:
    """Made by `scripts/train_citation_matcher.py`, which also says from what."""
    file = resources.files("trailmark.organise.citations") / FILE_NAME
    return classifier_from_json(file.read_text("utf-8"))


def classifier_to_json(classifier: PairClassifier, trained_on: str) -> str:
    weights = dict(zip(FEATURES, classifier.weights_.round(6).tolist(), strict=True))
    data = {"format": FORMAT, "version": VERSION, "trained_on": trained_on}
    return json.dumps({**data, "bias": round(classifier.bias_, 6), "weights": weights}, indent=1) + "\n"


def classifier_from_json(text: str) -> PairClassifier:
    data = _object(text)
    if data.get("format") != FORMAT or data.get("version") != VERSION:
        raise ModelError("This is no citation matcher, or one of another version of Trailmark.")
    try:
        weights = [float(data["weights"][name]) for name in FEATURES]
        bias = float(data["bias"])
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"The citation matcher is damaged: {error!r}. Train it again.") from None
    classifier = PairClassifier()
    classifier.weights_, classifier.bias_ = np.array(weights), bias
    return classifier


def _object(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise ModelError(f"The citation matcher is not JSON: {error}.") from None
    if not isinstance(data, dict):
        raise ModelError("The citation matcher is not a JSON object.")
    return data

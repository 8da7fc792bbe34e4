"""What was learned from taught trails: labels, a judge that tells them, and what links to each are worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wayhound.errors import ModelError, UsageError
from wayhound.learn.chain import Floats
from wayhound.learn.crf import ChainCRF, Rules
from wayhound.learn.vocabulary import TokenVocabulary
from wayhound.media import PAGE
from wayhound.paths.features import is_of_page
from wayhound.paths.labellers import (
    Arrays,
    EdgeCrfLabeller,
    IndependentLabeller,
    Labeller,
    PairedCrfLabeller,
    pair_rules,
)
from wayhound.paths.settings import PathSettings
from wayhound.trail import GOAL

FIELD = "path-learner"
APART = ("maxent", "naive-bayes", "focused")


@dataclass(frozen=True)
class ForageModel:
    """A taught strategy. `rewards` (labels,) is what a link to a page of each label is worth, in shares of a
    goal; `strategy` names the scorer that it is meant for; nothing but `goal_kinds` (see `Page.kind`) is a goal."""

    strategy: str
    settings: PathSettings
    labels: tuple[str, ...]
    vocabulary: TokenVocabulary
    judge: Labeller
    rewards: Floats
    goal_kinds: tuple[str, ...] = (PAGE,)

    @property
    def n_labels(self) -> int:
        return len(self.labels)

    @property
    def goal(self) -> int:
        return self.labels.index(GOAL)

    def strongest(self, label: str, n: int) -> list[tuple[str, float]]:
        """The tokens, of pages and of links to them, that speak most for a label against all others."""
        if label not in self.labels:
            raise UsageError(f"The model knows no label {label!r}; it knows {', '.join(self.labels)}.")
        number = self.labels.index(label)
        tokens = list(self.vocabulary.columns_)
        of_page = np.array([is_of_page(token) for token in tokens], dtype=bool)
        pages, links = (
            centred(each)[:, number] for each in (self.judge.page_weights(), self.judge.link_weights())
        )
        weights = np.where(of_page, pages, links)
        return [(tokens[at], float(weights[at])) for at in np.argsort(-weights, kind="stable")[:n]]

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Arrays and JSON from which `unpack` makes the model again."""
        meta = {
            "strategy": self.strategy,
            "settings": self.settings.to_json(),
            "labels": list(self.labels),
            "tokens": list(self.vocabulary.columns_),
            "goal_kinds": list(self.goal_kinds),
        }
        return {**self.judge.arrays(), "rewards": self.rewards}, meta


def unpack(arrays: Arrays, meta: Mapping[str, Any]) -> ForageModel:
    """The model that was packed; one that does not hold together is told in a sentence."""
    strategy = meta.get("strategy")
    if strategy != FIELD and strategy not in APART:
        raise ModelError(f"The model is for a strategy that this version does not know ({strategy!r}).")
    settings = PathSettings.from_json(meta.get("settings", {}))
    labels, tokens = _names(meta, "labels"), _names(meta, "tokens")
    if GOAL not in labels:
        raise ModelError(f"The model has no label {GOAL}, so it knows nothing to look for.")
    checked = _Checked(arrays, len(tokens), len(labels))
    judge = checked.field(settings) if strategy == FIELD else checked.apart()
    rewards = checked.take("rewards", len(labels))
    kinds = _names({"goal_kinds": [PAGE], **meta}, "goal_kinds")  # older models know pages alone
    return ForageModel(str(strategy), settings, labels, TokenVocabulary.of(tokens), judge, rewards, kinds)


@dataclass(frozen=True)
class _Checked:
    """The arrays of a model, each with the shape that it must have."""

    arrays: Arrays
    n_tokens: int
    n_labels: int

    def take(self, name: str, *shape: int) -> Floats:
        array = self.arrays.get(name)
        if array is None or array.shape != shape or array.dtype != np.float64:
            found = "missing" if array is None else f"of shape {array.shape} and type {array.dtype}"
            raise ModelError(f"The model is damaged: {name} is {found}, and should be of shape {shape}.")
        if not np.isfinite(array).all():
            raise ModelError(f"The model is damaged: {name} holds what is not a number.")
        return array

    def field(self, settings: PathSettings) -> Labeller:
        n, tokens = self.n_labels, self.n_tokens
        pairs = settings.topology == "pairs"
        states = 2 * n if pairs else n
        field = ChainCRF(pair_rules(n) if pairs else Rules.free(n), settings.prior_variance)
        field.state_weights_ = self.take("state_weights", tokens, states)
        field.step_weights_ = self.take("step_weights", states, states)
        field.edge_weights_ = (
            np.zeros((0, states, states)) if pairs else self.take("edge_weights", tokens, n, n)
        )
        return PairedCrfLabeller(field) if pairs else EdgeCrfLabeller(field)

    def apart(self) -> Labeller:
        n, tokens = self.n_labels, self.n_tokens
        return IndependentLabeller(
            self.take("page_weights", tokens, n),
            self.take("page_bias", n),
            self.take("link_weights", tokens, n),
            self.take("link_bias", n),
        )


def centred(weights: Floats) -> Floats:
    """What a token says for a label, against what it says for all: (tokens, labels)."""
    return np.asarray(weights - weights.mean(axis=1, keepdims=True))


def _names(meta: Mapping[str, Any], key: str) -> tuple[str, ...]:
    names = meta.get(key)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ModelError(f"The model is damaged: its {key} are not a list of names.")
    if len(set(names)) != len(names):
        raise ModelError(f"The model is damaged: one of its {key} comes twice.")
    return tuple(names)

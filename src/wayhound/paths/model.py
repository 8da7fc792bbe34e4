"""Trained models: labels, a labeller for pages and links, and the reward of links to each label.

The model of the strategy `adaptive` is a path model with more models of goal pages, and a prior for links.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from wayhound.errors import ModelError, UsageError
from wayhound.learn.arrays import Floats, TokenVocabulary
from wayhound.learn.chain import Rules
from wayhound.learn.crf import ChainCRF
from wayhound.learn.model_file import Arrays
from wayhound.media import PAGE
from wayhound.paths.features import is_page_token
from wayhound.paths.labellers import (
    EdgeCrfLabeller,
    IndependentLabeller,
    Labeller,
    PairedCrfLabeller,
    pair_rules,
)
from wayhound.paths.page_names import TaughtNames
from wayhound.paths.settings import PathSettings
from wayhound.paths.site_recognition import LessonFacts
from wayhound.paths.trait_model import LinkPrior, TraitModel
from wayhound.trail import GOAL

ADAPTIVE_STRATEGY = "adaptive"
CRF_STRATEGY = "path-learner"
INDEPENDENT_STRATEGIES = ("maxent", "naive-bayes", "focused")


@dataclass(frozen=True)
class ForageModel:
    """A trained strategy.

    `strategy` names the scorer that it is for. `rewards` (labels,) is the value of a link to a page of each
    label, where a goal is 1. Only pages and files of `goal_kinds` (see `Page.kind`) can be goals.
    """

    strategy: str
    settings: PathSettings
    labels: tuple[str, ...]
    vocabulary: TokenVocabulary
    labeller: Labeller
    rewards: Floats
    goal_kinds: tuple[str, ...] = (PAGE,)

    @property
    def n_labels(self) -> int:
        return len(self.labels)

    @property
    def goal(self) -> int:
        """The number of the goal's label."""
        return self.labels.index(GOAL)

    def strongest(self, label: str, n: int) -> list[tuple[str, float]]:
        """Return the n page and link tokens with the largest weights for a label, relative to all labels.

        Raises UsageError if the model has no such label.
        """
        if label not in self.labels:
            raise UsageError(f"The model has no label {label!r}. Its labels are {', '.join(self.labels)}.")
        number = self.labels.index(label)
        tokens = list(self.vocabulary.columns_)
        on_page = np.array([is_page_token(token) for token in tokens], dtype=bool)
        pages = centred(self.labeller.page_weights())[:, number]
        links = centred(self.labeller.link_weights())[:, number]
        weights = np.where(on_page, pages, links)
        return [(tokens[at], float(weights[at])) for at in np.argsort(-weights, kind="stable")[:n]]

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return arrays and JSON metadata from which `unpack` restores the model."""
        meta = {
            "strategy": self.strategy,
            "settings": self.settings.to_json(),
            "labels": list(self.labels),
            "tokens": list(self.vocabulary.columns_),
            "goal_kinds": list(self.goal_kinds),
        }
        return {**self.labeller.arrays(), "rewards": self.rewards}, meta


@dataclass(frozen=True, kw_only=True)
class AdaptiveModel(ForageModel):
    """A path model with two more models of goal pages, and a prior for links.

    `from_trails` is learned from the pages of trails, `from_sites` also from unlabelled pages of the taught sites.
    Without `use_urls`, traits and concepts of URLs are not used.
    """

    from_trails: TraitModel
    from_sites: TraitModel
    prior: LinkPrior
    lesson: LessonFacts
    names: TaughtNames = field(default_factory=TaughtNames)  # older models have none
    use_urls: bool = True

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        arrays, meta = super().pack()
        for name, model in (("from_trails", self.from_trails), ("from_sites", self.from_sites)):
            arrays[f"{name}_weights"] = np.array([*model.weights.values(), model.bias])
            meta[name] = list(model.weights)
        meta["prior"] = asdict(self.prior)
        meta["lesson"] = asdict(self.lesson)
        meta["names"] = {"goals": self.names.goals, "others": self.names.others}
        meta["use_urls"] = self.use_urls
        return arrays, meta


def unpack(arrays: Arrays, meta: Mapping[str, Any]) -> ForageModel:
    """Return the packed model. Raises ModelError if it is incomplete, inconsistent or of an unknown strategy."""
    if meta.get("strategy") == ADAPTIVE_STRATEGY:
        return _unpack_adaptive(arrays, meta)
    strategy = meta.get("strategy")
    if strategy != CRF_STRATEGY and strategy not in INDEPENDENT_STRATEGIES:
        raise ModelError(f"The model is for a strategy that this version does not have ({strategy!r}).")
    settings = PathSettings.from_json(meta.get("settings", {}))
    labels, tokens = _names(meta, "labels"), _names(meta, "tokens")
    if GOAL not in labels:
        raise ModelError(f"The model has no label {GOAL}, so it has nothing to look for. Train it again.")
    checked = _CheckedArrays(arrays, len(tokens), len(labels))
    labeller = checked.crf_labeller(settings) if strategy == CRF_STRATEGY else checked.independent_labeller()
    return ForageModel(
        strategy=str(strategy),
        settings=settings,
        labels=labels,
        vocabulary=TokenVocabulary.from_tokens(tokens),
        labeller=labeller,
        rewards=checked.take("rewards", len(labels)),
        goal_kinds=_names({"goal_kinds": [PAGE], **meta}, "goal_kinds"),  # older models name none
    )


def _unpack_adaptive(arrays: Arrays, meta: Mapping[str, Any]) -> AdaptiveModel:
    path = unpack(arrays, {**meta, "strategy": CRF_STRATEGY})
    try:
        prior, lesson = meta["prior"], meta["lesson"]
        return AdaptiveModel(
            **{part.name: getattr(path, part.name) for part in fields(path)}
            | {"strategy": ADAPTIVE_STRATEGY},
            from_trails=_trait_model(arrays, meta, "from_trails"),
            from_sites=_trait_model(arrays, meta, "from_sites"),
            prior=LinkPrior(
                _weights(prior["weights"]),
                float(prior["strength"]),
                _weights(prior.get("near", {})),  # older models have none
            ),
            lesson=LessonFacts(
                sites=int(lesson["sites"]),
                goals=int(lesson.get("goals", 0)),  # older models do not say
                one_goal=bool(lesson["one_goal"]),
                single=float(lesson.get("single", lesson["one_goal"])),
                named=float(lesson.get("named", 0.0)),
                told_by_name=bool(lesson.get("told_by_name", False)),
                name_trust=float(lesson.get("name_trust", 0.0)),
            ),
            names=TaughtNames(*(_sites_names(meta, kind) for kind in ("goals", "others"))),
            use_urls=bool(meta["use_urls"]),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ModelError(f"The model is damaged: {error} cannot be read. Train it again.") from None


def _weights(named: Mapping[str, Any]) -> dict[str, float]:
    return {str(name): float(weight) for name, weight in named.items()}


def _sites_names(meta: Mapping[str, Any], kind: str) -> list[list[str]]:
    """Return the names of taught pages by site; older models have none."""
    return [[str(name) for name in names] for names in meta.get("names", {}).get(kind, [])]


def _trait_model(arrays: Arrays, meta: Mapping[str, Any], name: str) -> TraitModel:
    names, weights = _names(meta, name), arrays[f"{name}_weights"]
    if weights.shape != (len(names) + 1,) or not np.isfinite(weights).all():
        raise ModelError(f"The model is damaged: its weights {name} do not fit their names. Train it again.")
    *values, bias = weights.tolist()
    return TraitModel(dict(zip(names, values, strict=True)), bias)


@dataclass(frozen=True)
class _CheckedArrays:
    """The arrays of a model, each checked for the shape that it must have."""

    arrays: Arrays
    n_tokens: int
    n_labels: int

    def take(self, name: str, *shape: int) -> Floats:
        array = self.arrays.get(name)
        if array is None or array.shape != shape or array.dtype != np.float64:
            actual = "missing" if array is None else f"of shape {array.shape} and type {array.dtype}"
            raise ModelError(f"The model is damaged: {name} is {actual}, and should be of shape {shape}.")
        if not np.isfinite(array).all():
            raise ModelError(f"The model is damaged: {name} holds what is not a number.")
        return array

    def crf_labeller(self, settings: PathSettings) -> Labeller:
        n, tokens = self.n_labels, self.n_tokens
        paired = settings.topology == "pairs"
        states = 2 * n if paired else n
        crf = ChainCRF(pair_rules(n) if paired else Rules.free(n), settings.prior_variance)
        crf.state_weights_ = self.take("state_weights", tokens, states)
        crf.transition_weights_ = self.take("step_weights", states, states)
        crf.edge_weights_ = (
            np.zeros((0, states, states)) if paired else self.take("edge_weights", tokens, n, n)
        )
        return PairedCrfLabeller(crf) if paired else EdgeCrfLabeller(crf)

    def independent_labeller(self) -> Labeller:
        n, tokens = self.n_labels, self.n_tokens
        return IndependentLabeller(
            page_table=self.take("page_weights", tokens, n),
            page_bias=self.take("page_bias", n),
            link_table=self.take("link_weights", tokens, n),
            link_bias=self.take("link_bias", n),
        )


def centred(weights: Floats) -> Floats:
    """Return weights (tokens, labels) relative to each token's mean over the labels."""
    return np.asarray(weights - weights.mean(axis=1, keepdims=True))


def _names(meta: Mapping[str, Any], key: str) -> tuple[str, ...]:
    names = meta.get(key)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ModelError(f"The model is damaged: its {key} are not a list of names.")
    if len(set(names)) != len(names):
        raise ModelError(f"The model is damaged: one of its {key} occurs twice.")
    return tuple(names)

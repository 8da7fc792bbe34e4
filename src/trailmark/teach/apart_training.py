"""Teach the baselines that judge every page and link by itself, on the same tokens as the path learner.

Sections 4.3.2 and 4.4.2 of Vydiswaran & Sarawagi (2005).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from trailmark.learn.chain import Floats, Ints
from trailmark.learn.naive_bayes import NaiveBayes
from trailmark.learn.path_judges import ApartJudge
from trailmark.learn.path_model import ForageModel
from trailmark.learn.path_settings import Settings
from trailmark.learn.softmax import Softmax
from trailmark.teach.path_rewards import harvest_rewards
from trailmark.teach.path_samples import Sample, Sampling, labels_of, scaled, trust_of, vocabulary_of
from trailmark.trail import GOAL, Trail

LogLinear = tuple[Floats, Floats]
"""Weights (tokens, labels) and biases (labels,)."""


@dataclass(frozen=True)
class _Examples:
    """Rows (n, tokens), their labels (n,) and weights (n,); how far each token is trusted (tokens,)."""

    rows: csr_array
    classes: Ints
    weights: Floats
    n_labels: int
    trust: Floats


Learner = Callable[[_Examples, Settings], LogLinear]


def maxent(trails: Sequence[Trail], settings: Settings) -> ForageModel:
    """A field without steps: the exponential model of each page and each link."""
    return _taught("maxent", trails, settings, _softmax)


def naive_bayes(trails: Sequence[Trail], settings: Settings) -> ForageModel:
    """Multinomials over tokens with Laplace smoothing."""
    return _taught("naive-bayes", trails, settings, _multinomials)


def focused(trails: Sequence[Trail], settings: Settings) -> ForageModel:
    """The simplified accelerated focused crawler (4.4.2): a link is worth what it is likely to be a goal."""
    plain = replace(settings, neighbours=0.0, within_site=False)
    model = _taught("focused", trails, plain, _softmax)
    return replace(model, rewards=np.array([float(label == GOAL) for label in model.labels]))


def _taught(strategy: str, trails: Sequence[Trail], settings: Settings, learner: Learner) -> ForageModel:
    samples = Sampling(settings).of(trails)
    labels, vocabulary = labels_of(samples), vocabulary_of(samples, settings)
    learned = []
    for kind in (0, 1):
        sets, names, weights = _positions(samples, kind)
        classes = np.array([labels.index(name) for name in names], dtype=np.int64)
        trust = trust_of(vocabulary, settings)
        examples = _Examples(vocabulary.rows(sets), classes, np.array(weights), len(labels), trust)
        learned.append(learner(examples, settings))
    judge = ApartJudge(*learned[0], *learned[1])
    rewards = harvest_rewards(samples, labels, settings.sharpness)
    return ForageModel(strategy, settings, labels, vocabulary, judge, rewards)


def _positions(samples: Sequence[Sample], kind: int) -> tuple[list[frozenset[str]], list[str], list[float]]:
    """All pages (0) or links (1) with their labels; what comes again with the same label counts in sum."""
    counts: dict[tuple[frozenset[str], str], float] = {}
    for sample in samples:
        if sample.ends_in_link and not kind:
            continue  # its pages come again on the whole trail
        positions = list(zip(sample.tokens, sample.labels, strict=True))[kind::2]
        for position in positions[-1:] if sample.ends_in_link else positions:
            counts[position] = counts.get(position, 0.0) + sample.weight
    return [tokens for tokens, _ in counts], [label for _, label in counts], list(counts.values())


def _softmax(taught: _Examples, settings: Settings) -> LogLinear:
    fitted = Softmax(taught.n_labels, settings.prior_variance)
    fitted.fit(scaled(taught.rows, taught.trust), taught.classes, taught.weights)
    return fitted.weights_ * taught.trust[:, None], fitted.bias_


def _multinomials(taught: _Examples, settings: Settings) -> LogLinear:  # noqa: ARG001
    memberships = np.zeros((len(taught.classes), taught.n_labels))
    memberships[np.arange(len(taught.classes)), taught.classes] = taught.weights
    fitted = NaiveBayes().fit(taught.rows, memberships)
    return np.ascontiguousarray(fitted.log_words_.T), fitted.log_priors_

"""Training of token CRFs by CRFsuite, and learning from single corrections without it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal, Self

import numpy as np

from wayhound.errors import MissingExtra, NotFitted, TeachingError
from wayhound.learn.arrays import Floats, Ints
from wayhound.papers.crf_weights import BEGIN, INSIDE, CrfWeights, with_begins
from wayhound.papers.tokens import Labelling

Features = Sequence[Sequence[str]]
Algorithm = Literal["lbfgs", "ap"]


class TokenCRF:
    """A linear-chain CRF from named features to labels.

    `algorithm` is "lbfgs" (likelihood with L1 and L2 penalties `c1`, `c2`) or "ap", the averaged
    perceptron: ten times as fast, a little less accurate, without probabilities worth the name. With
    `begins`, the first word of a field is a state of its own: so the model can learn where fields begin.
    After `fit`: `weights_`.
    """

    def __init__(
        self,
        *,
        algorithm: Algorithm = "lbfgs",
        c1: float = 0.1,
        c2: float = 0.1,
        max_iterations: int = 100,
        begins: bool = True,
    ) -> None:
        self.algorithm = algorithm
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations
        self.begins = begins

    def fit(self, examples: Iterable[tuple[Features, Sequence[str]]]) -> Self:
        """Learn from pairs of features and labels, which may come from a generator."""
        try:
            import pycrfsuite  # noqa: PLC0415 - an extra, needed for training alone
        except ImportError as error:
            raise MissingExtra("Training", "python-crfsuite", "papers") from error
        trainer = pycrfsuite.Trainer(self.algorithm, self._parameters(), verbose=False)
        n_examples = 0
        for features, labels in examples:
            trainer.append(pycrfsuite.ItemSequence(features), with_begins(labels) if self.begins else labels)
            n_examples += 1
        if not n_examples:
            raise TeachingError("There are no tagged texts to learn from.")
        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder) / "model")
            trainer.train(file)
            tagger = pycrfsuite.Tagger()
            tagger.open(file)
            dump = tagger.info()
            tagger.close()
        self.weights_ = _exported(dump.labels, dump.state_features, dump.transitions, begins=self.begins)
        return self

    def label(self, features: Features) -> Labelling:
        return self._fitted().label(features)

    def _parameters(self) -> dict[str, float]:
        shared: dict[str, float] = {"max_iterations": self.max_iterations}
        return {**shared, "c1": self.c1, "c2": self.c2} if self.algorithm == "lbfgs" else shared

    def _fitted(self) -> CrfWeights:
        if not hasattr(self, "weights_"):
            raise NotFitted("This token model has not been taught yet.")
        return self.weights_


def corrected(
    model: CrfWeights,
    examples: Sequence[tuple[Features, Sequence[str]]],
    *,
    rounds: int = 10,
    most: float = 0.5,
    known: float = 1.0,
) -> CrfWeights:
    """The model after learning from a few corrected texts, in seconds and without the texts it was trained
    on.

    Passive-aggressive updates (Crammer et al. 2006, PA-I with aggressiveness `most`): where a text comes
    out wrong, the weights move as little as makes the right labelling win by the number of words in which
    the two differ. Where `known` is below 1, features that the model has weights for move less by that factor
    than those that are new to it, and other texts are rather left as they are.
    """
    learner = _Corrector(model, most, known)
    texts = [(features, learner.model.states_of(labels)) for features, labels in examples]
    for _ in range(rounds):
        if not sum([learner.learn(features, truth) for features, truth in texts]):
            break
    return learner.model


class _Corrector:
    """A copy of a model that grows features as it meets them."""

    def __init__(self, model: CrfWeights, most: float, known: float) -> None:
        self.model = CrfWeights(model.states, dict(model.rows), model.weights.copy(), model.steps.copy())
        self.most = most / known
        self.known = known
        self.n_known = len(model.rows)

    def learn(self, features: Features, truth: Ints) -> bool:
        """Move the weights for one text; false where it comes out right by a margin already."""
        self._grow(features)
        scores = self.model.scores(features)
        tempting = scores + (np.arange(len(self.model.states)) != truth[:, None])
        guess = self.model.best_states(tempting)
        wrong = np.flatnonzero(guess != truth)
        loss = len(wrong) + self._value(scores, guess) - self._value(scores, truth)
        if not len(wrong) or loss <= 0:
            return False
        touched, by_feature = self._feature_differences(features, truth, guess, wrong)
        by_step = self._step_differences(truth, guess)
        ease = np.where(touched < self.n_known, self.known, 1.0)[:, None]
        length = float((ease * by_feature**2).sum() + self.known * (by_step**2).sum())
        if not length:
            return False  # nothing to tell the two apart by
        rate = min(self.most, loss / length)
        self.model.weights[touched] += rate * ease * by_feature
        self.model.steps += rate * self.known * by_step
        return True

    def _feature_differences(
        self, features: Features, truth: Ints, guess: Ints, wrong: Ints
    ) -> tuple[Ints, Floats]:
        """The rows of features in places that came out wrong, and how often the truth has each, less the guess."""
        rows = [(self.model.rows[name], place) for place in wrong.tolist() for name in features[place]]
        where = np.array(rows, dtype=np.int64).reshape(-1, 2)
        touched, local = np.unique(where[:, 0], return_inverse=True)
        counts = np.zeros((len(touched), len(self.model.states)))
        np.add.at(counts, (local, truth[where[:, 1]]), 1.0)
        np.add.at(counts, (local, guess[where[:, 1]]), -1.0)
        return touched, counts

    def _step_differences(self, truth: Ints, guess: Ints) -> Floats:
        counts = np.zeros_like(self.model.steps)
        np.add.at(counts, (truth[:-1], truth[1:]), 1.0)
        np.add.at(counts, (guess[:-1], guess[1:]), -1.0)
        return counts

    def _value(self, scores: Floats, states: Ints) -> float:
        steps = self.model.steps[states[:-1], states[1:]].sum()
        return float(scores[np.arange(len(states)), states].sum() + steps)

    def _grow(self, features: Features) -> None:
        new = sorted({name for names in features for name in names} - self.model.rows.keys())
        self.model.rows.update({name: len(self.model.rows) + n for n, name in enumerate(new)})
        room = np.zeros((len(new), len(self.model.states)))
        self.model.weights = np.vstack([self.model.weights, room])


def _exported(
    labels: Iterable[str],
    state_features: dict[tuple[str, str], float],
    transitions: dict[tuple[str, str], float],
    *,
    begins: bool,
) -> CrfWeights:
    fields = {label.removeprefix(BEGIN).removeprefix(INSIDE) for label in labels}
    both = {prefix + field for field in fields for prefix in (BEGIN, INSIDE)} if begins else fields
    states = {label: number for number, label in enumerate(sorted(both))}
    rows = {name: row for row, name in enumerate(sorted({name for name, _ in state_features}))}
    weights, steps = np.zeros((len(rows), len(states))), np.zeros((len(states), len(states)))
    for (name, label), weight in state_features.items():
        weights[rows[name], states[label]] = weight
    for (before, after), weight in transitions.items():
        steps[states[before], states[after]] = weight
    return CrfWeights(tuple(states), rows, weights, steps)

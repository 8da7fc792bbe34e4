"""Conditional random fields for headers and references: training with CRFsuite, and learning from corrections.

CRFsuite trains the weights, but is not needed to use them: scoring, decoding and marginals are numpy, so that weights
can be pruned, corrected and saved as data.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from wayhound.errors import MissingExtra, ModelError, NotFitted, TeachingError
from wayhound.learn.arrays import Floats, Ints
from wayhound.learn.chain import Posteriors, TransitionScores, backward, best_path, forward, log_total
from wayhound.learn.model_file import array_to_text, text_to_array
from wayhound.papers.lexicon import Lexicon
from wayhound.papers.tagged import TaggedText
from wayhound.papers.token_features import HeaderFeatures, ReferenceFeatures
from wayhound.papers.tokens import Hint, Labelling, Segment, TextKind, TokenLine, label_runs, parse_kind

BEGIN, INSIDE = "B-", "I-"


@dataclass
class CrfWeights:
    """A linear chain over `states` (`B-title`, `I-title`, … or bare labels).

    `rows` maps a feature to its row in `weights` (F, S), the weights of features in states; `steps` (S, S) are
    the weights of transitions.
    """

    states: tuple[str, ...]
    rows: dict[str, int]
    weights: Floats
    steps: Floats

    def scores(self, features: Sequence[Sequence[str]]) -> Floats:
        """Return the score of each state at each word by its features, (L, S). Unknown features are ignored."""
        scores = np.zeros((len(features), len(self.states)))
        for word, names in enumerate(features):
            rows = [row for name in names if (row := self.rows.get(name)) is not None]
            scores[word] = self.weights[rows].sum(axis=0)
        return scores

    def label(self, features: Sequence[Sequence[str]], hints: Sequence[Hint] = ()) -> Labelling:
        """Return the best labelling, with the exact probability of each of its segments."""
        if not features:
            return Labelling((), ())
        scores = self.scores(features)
        for hint in hints:
            states = [self.field_of(state) == hint.field for state in range(len(self.states))]
            scores[hint.word, states] += hint.weight
        labels = tuple(self.field_of(state) for state in self.best_states(scores))
        return Labelling(labels, self._segments(labels, scores[None]))

    def best_states(self, scores: Floats) -> Ints:
        """Return the states of the best path, (L,), for scores (L, S)."""
        path: Ints = best_path(scores[None], self._transitions(), self._starts(), self._ends())[0]
        return path

    def marginals(self, features: Sequence[Sequence[str]]) -> Floats:
        """Return the probability of each state at each word, (L, S)."""
        scores = self.scores(features)[None]
        states: Floats = Posteriors.infer(scores, self._transitions(), self._starts(), self._ends()).states[0]
        return states

    def field_of(self, state: int) -> str:
        return self.states[state].removeprefix(BEGIN).removeprefix(INSIDE)

    def states_of(self, labels: Sequence[str]) -> Ints:
        """Return the states of a labelling, (L,). Raises TeachingError for a field that the model lacks."""
        numbers = {state: number for number, state in enumerate(self.states)}
        names = with_begins(labels) if self.states[0].startswith((BEGIN, INSIDE)) else labels
        if unknown := set(names) - numbers.keys():
            raise TeachingError(f"This model has no field {min(unknown).removeprefix(BEGIN)!r}.")
        return np.array([numbers[name] for name in names], dtype=np.int64)

    def _starts(self) -> Floats:
        return np.array([-np.inf if state.startswith(INSIDE) else 0.0 for state in self.states])

    def _ends(self) -> Floats:
        return np.zeros(len(self.states))

    def _transitions(self) -> TransitionScores:
        """Return `steps`, with minus infinity where a field would continue without a beginning, or begin twice."""
        allowed = [[_may_follow(before, after) for after in self.states] for before in self.states]
        return TransitionScores(np.where(allowed, self.steps, -np.inf))

    def _segments(self, labels: tuple[str, ...], scores: Floats) -> tuple[Segment, ...]:
        """Return the segments of a labelling.

        The probability of a segment is the weight of all paths that stay in its field from its first to its last
        word, as a share of the weight of all paths.
        """
        transitions, ends = self._transitions(), self._ends()
        alpha, beta = forward(scores, transitions, self._starts()), backward(scores, transitions, ends)
        total = float(log_total(alpha, ends)[0])
        fields = np.array([self.field_of(state) for state in range(len(self.states))])
        segments = []
        for field, first, last in label_runs(labels):
            inside = np.flatnonzero(fields == field)
            within = TransitionScores(transitions.log[np.ix_(inside, inside)])
            # α, without the score of the first word.
            entry = alpha[0, first, inside] - scores[0, first, inside]
            staying = forward(scores[:, first:last][:, :, inside], within, entry)
            log_share = float(log_total(staying, beta[0, last - 1, inside])[0]) - total
            segments.append(Segment(field, first, last, min(1.0, float(np.exp(log_share)))))
        return tuple(segments)


def with_begins(labels: Sequence[str]) -> list[str]:
    """Return labels with a prefix that distinguishes the first word of each field."""
    return [
        (INSIDE if word and labels[word - 1] == label else BEGIN) + label for word, label in enumerate(labels)
    ]


def _may_follow(before: str, after: str) -> bool:
    if after.startswith(INSIDE):
        return before[2:] == after[2:]
    return not after.startswith(BEGIN) or before[2:] != after[2:]


def pruned(model: CrfWeights, least: float) -> CrfWeights:
    """Return the model without weights smaller than `least`, and without features that have no other weight."""
    weights = np.where(np.abs(model.weights) < least, 0.0, model.weights)
    kept = {name: row for name, row in model.rows.items() if weights[row].any()}
    rows = {name: number for number, name in enumerate(sorted(kept))}
    return CrfWeights(model.states, rows, weights[[kept[name] for name in rows]], model.steps)


def to_arrays(model: CrfWeights) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Return arrays and metadata for a model file. Weights keep three digits, which changes no label."""
    order = sorted(model.rows)
    weights = model.weights[[model.rows[name] for name in order]]
    row, column = np.nonzero(weights)
    arrays: dict[str, NDArray[Any]] = {
        "features": text_to_array("\n".join(order)),
        "n_weights": np.bincount(row, minlength=len(order)).astype(np.uint8),
        "column": column.astype(np.uint8),
        "value": weights[row, column].astype(np.float16),
        "steps": model.steps.astype(np.float32),
    }
    return arrays, {"states": list(model.states)}


def from_arrays(arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> CrfWeights:
    """Return the model that `to_arrays` was given. Raises ModelError if it is damaged."""
    try:
        states = tuple(str(state) for state in meta["states"])
        names = array_to_text(arrays["features"]).split("\n")
        row = np.repeat(np.arange(len(names)), arrays["n_weights"])
        weights = np.zeros((len(names), len(states)))
        weights[row, arrays["column"]] = arrays["value"]
        steps = arrays["steps"].astype(np.float64).reshape(len(states), len(states))
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise ModelError(f"The token model is damaged: {error}. Train it again.") from error
    if not states or not (np.isfinite(weights).all() and np.isfinite(steps).all()):
        raise ModelError("The token model is damaged: it has no states, or infinite weights. Train it again.")
    return CrfWeights(states, {name: n for n, name in enumerate(names)}, weights, steps)


Features = Sequence[Sequence[str]]
Algorithm = Literal["lbfgs", "ap"]

PENALTY: Mapping[TextKind, float] = {"header": 0.5, "reference": 0.1}
"""Default of `c2`, chosen by cross-validation."""

KNOWN_RATE: Mapping[TextKind, float] = {"header": 0.1, "reference": 1.0}
"""Rate at which a correction moves weights that the model has, relative to new ones. Headers share so many features
that a correction of one would change others; of references of a new kind, all weights may move."""

LEAST_WEIGHT = 0.01
"""Smaller weights are left out of model files, which changes no label."""


class FieldCRF:
    """A CRF over the words of headers or references. After `fit`: `weights_`."""

    FORMAT: ClassVar = "field-crf"
    VERSION: ClassVar = 1

    def __init__(
        self,
        kind: TextKind,
        lexicon: Lexicon,
        *,
        algorithm: Algorithm = "lbfgs",
        c1: float = 0.1,
        c2: float | None = None,
        max_iterations: int = 100,
    ) -> None:
        self.kind = kind
        self.lexicon = lexicon
        self.algorithm: Algorithm = algorithm
        self.c1 = c1
        self.c2 = c2
        self.max_iterations = max_iterations

    @property
    def features(self) -> Callable[[Sequence[TokenLine]], list[list[str]]]:
        return HeaderFeatures(self.lexicon) if self.kind == "header" else ReferenceFeatures(self.lexicon)

    def fit(self, examples: Sequence[TaggedText]) -> Self:
        """Learn from tagged texts: minutes for headers, seconds for references.

        Raises MissingExtra without python-crfsuite, and TeachingError without texts.
        """
        c2 = PENALTY[self.kind] if self.c2 is None else self.c2
        crf = TokenCRF(algorithm=self.algorithm, c1=self.c1, c2=c2, max_iterations=self.max_iterations)
        features = self.features
        crf.fit((features(example.lines), example.labels) for example in examples)
        self.weights_ = crf.weights_
        return self

    def label(self, lines: Sequence[TokenLine], hints: Sequence[Hint] = ()) -> Labelling:
        return self._fitted().label(self.features(lines), hints)

    def corrected(self, examples: Sequence[TaggedText]) -> Self:
        """Return a model that has learned a few corrected texts, in seconds and without its training data."""
        features = self.features
        pairs = [(features(example.lines), example.labels) for example in examples]
        model = copy(self)
        model.weights_ = learn_corrections(self._fitted(), pairs, known_rate=KNOWN_RATE[self.kind])
        return model

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return arrays and metadata for a model file."""
        arrays, meta = to_arrays(pruned(self._fitted(), LEAST_WEIGHT))
        return arrays, {**meta, "kind": self.kind}

    @classmethod
    def from_arrays(
        cls, lexicon: Lexicon, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]
    ) -> Self:
        """Return the model that `to_arrays` saved. Raises ModelError if it is damaged."""
        model = cls(parse_kind(meta.get("kind")), lexicon)
        model.weights_ = from_arrays(arrays, meta)
        return model

    def _fitted(self) -> CrfWeights:
        if not hasattr(self, "weights_"):
            raise NotFitted("This field model has not been trained yet.")
        return self.weights_


class TokenCRF:
    """A linear-chain CRF from named features to labels, trained by CRFsuite.

    `algorithm` is "lbfgs" (likelihood with L1 and L2 penalties `c1`, `c2`) or "ap", the averaged perceptron: ten
    times as fast, slightly less accurate, and without usable probabilities. With `begins`, the first word of a
    field is a state of its own, so that the model learns where fields begin. After `fit`: `weights_`.
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
            import pycrfsuite  # noqa: PLC0415 - an extra, needed only for training
        except ImportError:
            raise MissingExtra("Training a CRF", "python-crfsuite", "papers") from None
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
        self.weights_ = _to_weights(dump.labels, dump.state_features, dump.transitions, begins=self.begins)
        return self

    def label(self, features: Features) -> Labelling:
        if not hasattr(self, "weights_"):
            raise NotFitted("This token model has not been trained yet.")
        return self.weights_.label(features)

    def _parameters(self) -> dict[str, float]:
        shared: dict[str, float] = {"max_iterations": self.max_iterations}
        return {**shared, "c1": self.c1, "c2": self.c2} if self.algorithm == "lbfgs" else shared


def _to_weights(
    labels: Iterable[str],
    state_features: dict[tuple[str, str], float],
    transitions: dict[tuple[str, str], float],
    *,
    begins: bool,
) -> CrfWeights:
    fields = {label.removeprefix(BEGIN).removeprefix(INSIDE) for label in labels}
    names = {prefix + field for field in fields for prefix in (BEGIN, INSIDE)} if begins else fields
    states = {name: number for number, name in enumerate(sorted(names))}
    rows = {name: row for row, name in enumerate(sorted({name for name, _ in state_features}))}
    weights, steps = np.zeros((len(rows), len(states))), np.zeros((len(states), len(states)))
    for (name, label), weight in state_features.items():
        weights[rows[name], states[label]] = weight
    for (before, after), weight in transitions.items():
        steps[states[before], states[after]] = weight
    return CrfWeights(tuple(states), rows, weights, steps)


def learn_corrections(
    model: CrfWeights,
    examples: Sequence[tuple[Features, Sequence[str]]],
    *,
    rounds: int = 10,
    aggressiveness: float = 0.5,
    known_rate: float = 1.0,
) -> CrfWeights:
    """Return a model that has learned a few corrected texts, in seconds and without its training data.

    Passive-aggressive updates (Crammer et al. 2006, PA-I): if a text comes out wrong, the weights change as little
    as lets the right labelling win by the number of words in which the two differ. With a `known_rate` below 1,
    features that the model has change by that factor less than new ones, so that fewer other texts change.
    """
    learner = _CorrectionLearner(model, aggressiveness, known_rate)
    texts = [(features, learner.model.states_of(labels)) for features, labels in examples]
    for _ in range(rounds):
        if not sum([learner.learn(features, truth) for features, truth in texts]):
            break
    return learner.model


class _CorrectionLearner:
    """Updates a copy of a model, which gains the features of the corrected texts."""

    def __init__(self, model: CrfWeights, aggressiveness: float, known_rate: float) -> None:
        self.model = CrfWeights(model.states, dict(model.rows), model.weights.copy(), model.steps.copy())
        self._max_rate = aggressiveness / known_rate
        self._known_rate = known_rate
        self._n_known = len(model.rows)

    def learn(self, features: Features, truth: Ints) -> bool:
        """Update the weights for one text; return False if it already comes out right by the margin."""
        self._add_features(features)
        scores = self.model.scores(features)
        with_margin = scores + (np.arange(len(self.model.states)) != truth[:, None])
        guess = self.model.best_states(with_margin)
        wrong = np.flatnonzero(guess != truth)
        loss = len(wrong) + self._path_score(scores, guess) - self._path_score(scores, truth)
        if not len(wrong) or loss <= 0:
            return False
        rows, by_feature = self._feature_differences(features, truth, guess, wrong)
        by_step = self._step_differences(truth, guess)
        rates = np.where(rows < self._n_known, self._known_rate, 1.0)[:, None]
        length = float((rates * by_feature**2).sum() + self._known_rate * (by_step**2).sum())
        if not length:
            return False  # the two labellings have the same features
        rate = min(self._max_rate, loss / length)
        self.model.weights[rows] += rate * rates * by_feature
        self.model.steps += rate * self._known_rate * by_step
        return True

    def _feature_differences(
        self, features: Features, truth: Ints, guess: Ints, wrong: Ints
    ) -> tuple[Ints, Floats]:
        """Return the rows of the features at wrong words, and their counts in the truth less those in the guess."""
        pairs = [(self.model.rows[name], word) for word in wrong.tolist() for name in features[word]]
        row_and_word = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        rows, local = np.unique(row_and_word[:, 0], return_inverse=True)
        counts = np.zeros((len(rows), len(self.model.states)))
        np.add.at(counts, (local, truth[row_and_word[:, 1]]), 1.0)
        np.add.at(counts, (local, guess[row_and_word[:, 1]]), -1.0)
        return rows, counts

    def _step_differences(self, truth: Ints, guess: Ints) -> Floats:
        counts = np.zeros_like(self.model.steps)
        np.add.at(counts, (truth[:-1], truth[1:]), 1.0)
        np.add.at(counts, (guess[:-1], guess[1:]), -1.0)
        return counts

    def _path_score(self, scores: Floats, states: Ints) -> float:
        steps = self.model.steps[states[:-1], states[1:]].sum()
        return float(scores[np.arange(len(states)), states].sum() + steps)

    def _add_features(self, features: Features) -> None:
        new = sorted({name for names in features for name in names} - self.model.rows.keys())
        self.model.rows.update({name: len(self.model.rows) + n for n, name in enumerate(new)})
        self.model.weights = np.vstack([self.model.weights, np.zeros((len(new), len(self.model.states)))])

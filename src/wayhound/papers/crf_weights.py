"""The weights of a token CRF: scoring, decoding and marginals in numpy, and their form as arrays.

CRFsuite trains the weights, but is not needed to use them: they can be pruned, corrected and saved as data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayhound.errors import ModelError, TeachingError
from wayhound.learn.arrays import Floats, Ints
from wayhound.learn.chain import Posteriors, TransitionScores, backward, best_path, forward, log_total
from wayhound.learn.model_file import array_to_text, text_to_array
from wayhound.papers.tokens import Hint, Labelling, Segment, label_runs

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
            entry = (
                alpha[0, first, inside] - scores[0, first, inside]
            )  # α without the score of the first word
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

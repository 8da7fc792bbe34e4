"""The weights of a token CRF: scoring, decoding and marginals in numpy, and a file that is data and no code.

Trained by CRFsuite, used without it: so a model can be pruned, corrected, and read from a file that cannot do harm.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayhound.errors import ModelError, TeachingError
from wayhound.learn.arrays import Floats, Ints
from wayhound.learn.chain import TransitionScores, backward, best_path, forward, log_total
from wayhound.learn.model_file import array_to_text, text_to_array
from wayhound.papers.tokens import Hint, Labelling, Segment, label_runs

BEGIN, INSIDE = "B-", "I-"


@dataclass
class CrfWeights:
    """A linear chain over `states` (`B-title`, `I-title`, … or bare labels).

    `rows` numbers the features; `weights` (F, S) are those of features in states, `steps` (S, S) of one
    state after another.
    """

    states: tuple[str, ...]
    rows: dict[str, int]
    weights: Floats
    steps: Floats

    def scores(self, features: Sequence[Sequence[str]]) -> Floats:
        """The weight of each state at each word, (L, S), by its features alone."""
        answer = np.zeros((len(features), len(self.states)))
        for place, names in enumerate(features):
            known = [row for name in names if (row := self.rows.get(name)) is not None]
            answer[place] = self.weights[known].sum(axis=0)
        return answer

    def label(self, features: Sequence[Sequence[str]], hints: Sequence[Hint] = ()) -> Labelling:
        """The best labelling, with the exact probability of each of its segments."""
        if not features:
            return Labelling((), ())
        scores = self.scores(features)
        for hint in hints:
            scores[hint.word, [self.field_of(n) == hint.field for n in range(len(self.states))]] += (
                hint.weight
            )
        labels = tuple(self.field_of(state) for state in self.best_states(scores))
        return Labelling(labels, self._segments(labels, scores[None], TransitionScores(self.allowed_steps())))

    def best_states(self, scores: Floats) -> Ints:
        ends = np.zeros(len(self.states))
        path: Ints = best_path(scores[None], TransitionScores(self.allowed_steps()), self.starts(), ends)[0]
        return path

    def marginals(self, features: Sequence[Sequence[str]]) -> Floats:
        """How likely each state is at each word, (L, S)."""
        scores, steps, ends = (
            self.scores(features)[None],
            TransitionScores(self.allowed_steps()),
            np.zeros(len(self.states)),
        )
        alpha = forward(scores, steps, self.starts())
        beta = backward(scores, steps, ends)
        chances: Floats = np.exp(alpha + beta - log_total(alpha, ends)[:, None, None])[0]
        return chances

    def field_of(self, state: int) -> str:
        return self.states[state].removeprefix(BEGIN).removeprefix(INSIDE)

    def states_of(self, labels: Sequence[str]) -> Ints:
        """The states of a labelling: the first of each run begins a field where the model tells that apart."""
        numbers = {state: number for number, state in enumerate(self.states)}
        split = self.states[0].startswith((BEGIN, INSIDE))
        names = with_begins(labels) if split else labels
        if unknown := set(names) - numbers.keys():
            raise TeachingError(f"This model knows no field {min(unknown).removeprefix(BEGIN)!r}.")
        return np.array([numbers[name] for name in names], dtype=np.int64)

    def starts(self) -> Floats:
        return np.array([-np.inf if state.startswith(INSIDE) else 0.0 for state in self.states])

    def allowed_steps(self) -> Floats:
        """`steps` with minus infinity where a field would go on without having begun, or begin twice."""
        allowed = [[_may_follow(before, after) for after in self.states] for before in self.states]
        return np.where(allowed, self.steps, -np.inf)

    def _segments(
        self, labels: tuple[str, ...], scores: Floats, steps: TransitionScores
    ) -> tuple[Segment, ...]:
        ends = np.zeros(len(self.states))
        alpha, beta = forward(scores, steps, self.starts()), backward(scores, steps, ends)
        total = float(log_total(alpha, ends)[0])
        fields = np.array([self.field_of(number) for number in range(len(self.states))])
        segments = []
        for field, first, last in label_runs(labels):
            inside = np.flatnonzero(fields == field)
            within = TransitionScores(steps.log[np.ix_(inside, inside)])
            stretch = forward(
                scores[:, first:last][:, :, inside], within, _entry(alpha, scores, first, inside)
            )
            log_share = float(log_total(stretch, beta[0, last - 1, inside])[0]) - total
            segments.append(Segment(field, first, last, min(1.0, float(np.exp(log_share)))))
        return tuple(segments)


def with_begins(labels: Sequence[str]) -> list[str]:
    """Labels as states that tell the first word of each field apart."""
    return [
        (INSIDE if place and labels[place - 1] == label else BEGIN) + label
        for place, label in enumerate(labels)
    ]


def _entry(alpha: Floats, scores: Floats, first: int, inside: Ints) -> Floats:
    """What α holds for the states `inside` at `first`, without the score of that word itself."""
    entry: Floats = alpha[0, first, inside] - scores[0, first, inside]
    return entry


def _may_follow(before: str, after: str) -> bool:
    if after.startswith(INSIDE):
        return before[2:] == after[2:]
    return not after.startswith(BEGIN) or before[2:] != after[2:]


def pruned(model: CrfWeights, least: float) -> CrfWeights:
    """Without weights smaller than `least`, and without the features that then weigh nothing."""
    weights = np.where(np.abs(model.weights) < least, 0.0, model.weights)
    kept = {name: row for name, row in model.rows.items() if weights[row].any()}
    rows = {name: number for number, name in enumerate(sorted(kept))}
    return CrfWeights(model.states, rows, weights[[kept[name] for name in rows]], model.steps)


def to_arrays(model: CrfWeights) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays and plain data for a file. Weights are kept to three digits: more than they are known to."""
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
    """The model in them; a sentence where there is none, or a damaged one."""
    try:
        states = tuple(str(state) for state in meta["states"])
        names = array_to_text(arrays["features"]).split("\n")
        row = np.repeat(np.arange(len(names)), arrays["n_weights"])
        weights = np.zeros((len(names), len(states)))
        weights[row, arrays["column"]] = arrays["value"]
        steps = arrays["steps"].astype(np.float64).reshape(len(states), len(states))
    except (ValueError, KeyError, IndexError, TypeError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ModelError(f"This token model is damaged: {error}.") from error
    if not states or not (np.isfinite(weights).all() and np.isfinite(steps).all()):
        raise ModelError("This token model is damaged: it has no states, or weights that are no numbers.")
    return CrfWeights(states, {name: n for n, name in enumerate(names)}, weights, steps)

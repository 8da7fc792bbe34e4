"""Hidden Markov models whose states each belong to a class, as section 4.1 of McCallum et al. (2000) has
them.

Our own because no library counts labelled paths, ties states to classes and lets their structure be learned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from wayhound.learn.chain import Floats, Ints, Steps, backward, best_path, forward, log_total
from wayhound.learn.hmm_structure import Structure


@dataclass(frozen=True, slots=True)
class Transitions:
    """Probabilities. `starts` (S,), `steps` (K, S, S) for each kind of gap, `ends` (S,).

    At each word the text ends with `ends`, or goes on to another state: each row of a kind of `steps`,
    together with its entry of `ends`, sums to one, or is empty where a state was never left over such a
    gap.
    """

    starts: Floats
    steps: Floats
    ends: Floats


def full(structure: Structure) -> Transitions:
    """Every transition alike."""
    n_states = structure.n_states
    even = np.full((len(structure.steps), n_states, n_states), 1.0 / (n_states + 1))
    return Transitions(np.full(n_states, 1.0 / n_states), even, np.full(n_states, 1.0 / (n_states + 1)))


def self_loops(structure: Structure) -> Transitions:
    """Staying is as likely as it was in the data; all other transitions are alike."""
    n_states, n_gaps = structure.n_states, len(structure.steps)
    steps = structure.all_steps().toarray()
    staying = _share(np.diagonal(steps), steps.sum(axis=1) + structure.ends)
    each = (1.0 - staying) / n_states
    even = np.repeat(each[:, None], n_states, axis=1)
    np.fill_diagonal(even, staying)
    return Transitions(np.full(n_states, 1.0 / n_states), np.stack([even] * n_gaps), each)


def maximum_likelihood(structure: Structure) -> Transitions:
    """Eq. 5: every transition as likely as it was in the data."""
    return _normalised(structure.starts, _dense(structure), structure.ends)


def smoothed(structure: Structure) -> Transitions:
    """One added to every count, so that no transition is impossible."""
    return _normalised(structure.starts + 1.0, _dense(structure) + 1.0, structure.ends + 1.0)


def shrunk(structure: Structure, strength: float = 0.3) -> Transitions:
    """Counts drawn towards staying, or towards where steps over the same gap lead from all states.

    Adds to each state `strength` steps, half of them to itself. Better than adding one to every count when
    there are many states, and then also the unforeseen order of fields remains possible.
    """
    steps = _dense(structure)
    n_states = structure.n_states
    reached = steps.sum(axis=1) + 1.0 / n_states
    anywhere = reached / reached.sum(axis=1, keepdims=True)
    prior = 0.5 * np.eye(n_states)[None] + 0.5 * anywhere[:, None, :]
    even = strength / n_states
    return _normalised(structure.starts + even, steps + strength * prior, structure.ends + even)


TRANSITIONS: dict[str, Callable[[Structure], Transitions]] = {
    "full": full,
    "self": self_loops,
    "ml": maximum_likelihood,
    "smooth": smoothed,
    "shrunk": shrunk,
}


def _normalised(starts: Floats, steps: Floats, ends: Floats) -> Transitions:
    """Ends are as likely after a word, whatever the gap; the rest is shared among the steps over each gap."""
    ending = _share(ends, steps.sum(axis=(0, 2)) + ends)
    onward = _share(steps, steps.sum(axis=2, keepdims=True)) * (1.0 - ending)[None, :, None]
    return Transitions(starts / starts.sum(), onward, ending)


def _dense(structure: Structure) -> Floats:
    return np.stack([kind.toarray() for kind in structure.steps])


def _share(part: Floats, whole: Floats) -> Floats:
    part, whole = np.broadcast_arrays(part, whole)
    return np.divide(part, whole, out=np.zeros(part.shape), where=whole > 0)


@dataclass(frozen=True, slots=True)
class WordSequence:
    """One sequence: `words` (L,) by number, and `gaps` (L,), the kind of gap before each; the first is not
    used.
    """

    words: Ints
    gaps: Ints

    @classmethod
    def of(cls, words: Sequence[int] | Ints, gaps: Sequence[int] | Ints | None = None) -> Self:
        seen = np.asarray(words, dtype=np.int64)
        return cls(seen, np.zeros_like(seen) if gaps is None else np.asarray(gaps, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True, slots=True)
class GapSteps(Steps):
    """Steps whose scores go by the gap: `log` (K, S, S), one matrix a kind, and `gaps` (N, L)."""

    gaps: Ints

    def into(self, position: int) -> Floats:
        return self.log[self.gaps[:, position]]


@dataclass(frozen=True, slots=True)
class HiddenMarkovModel:
    """Parameters in logarithms: S states, K kinds of gap, V words.

    `classes` (S,) is the class of each state; `starts` (S,), `steps` (K, S, S), `ends` (S,) are log P(q → q')
    from the initial state, between states and into the final state; `emissions` (S, V) are log P(q ↑ σ).
    """

    classes: Ints
    starts: Floats
    steps: Floats
    ends: Floats
    emissions: Floats

    @classmethod
    def of(cls, classes: Ints, transitions: Transitions, emissions: Floats) -> Self:
        """From probabilities; `emissions` (S, V)."""
        with np.errstate(divide="ignore"):
            starts, steps, ends = (
                np.log(transitions.starts),
                np.log(transitions.steps),
                np.log(transitions.ends),
            )
            return cls(classes, starts, steps, ends, np.log(emissions))

    @property
    def n_states(self) -> int:
        return len(self.classes)

    def best_states(self, texts: Sequence[WordSequence]) -> list[Ints]:
        """V(w | M) of each text (Eq. 4), by Viterbi's algorithm."""
        answer: list[Ints] = [np.zeros(0, dtype=np.int64)] * len(texts)
        for numbers, words, gaps in by_length(texts):
            paths = best_path(self.said(words), self.steps_over(gaps), self.starts, self.ends)
            for number, path in zip(numbers, paths, strict=True):
                answer[number] = path
        return answer

    def decode(self, texts: Sequence[WordSequence]) -> list[Ints]:
        """The class of each word: that of the state that says it on the best path."""
        return [self.classes[path] for path in self.best_states(texts)]

    def log_likelihoods(self, texts: Sequence[WordSequence]) -> Floats:
        """log P(w | M) of each text (Eq. 3), (N,), by the forward algorithm."""
        answer = np.zeros(len(texts))
        for numbers, words, gaps in by_length(texts):
            alpha = forward(self.said(words), self.steps_over(gaps), self.starts)
            answer[numbers] = log_total(alpha, self.ends)
        return answer

    def perplexity(self, texts: Sequence[WordSequence]) -> float:
        """exp of the mean surprise a word, the end of each text counted as one (w_{l+1} of Eq. 3)."""
        n_symbols = sum(len(text) + 1 for text in texts)
        return float(np.exp(-self.log_likelihoods(texts).sum() / n_symbols))

    def class_marginals(self, texts: Sequence[WordSequence], n_classes: int) -> list[Floats]:
        """For each text (L, n_classes): how likely each class is at each word, given all words."""
        ties = np.eye(n_classes)[self.classes]
        answer: list[Floats] = [np.zeros((0, n_classes))] * len(texts)
        for numbers, words, gaps in by_length(texts):
            marginals = StatePosteriors.given(self, words, gaps).states @ ties
            for number, row in zip(numbers, marginals, strict=True):
                answer[number] = row
        return answer

    def said(self, words: Ints) -> Floats:
        """log P(q ↑ w) for words (N, L): (N, L, S)."""
        return np.moveaxis(self.emissions[:, words], 0, -1)

    def steps_over(self, gaps: Ints) -> Steps:
        return Steps(self.steps[0]) if len(self.steps) == 1 else GapSteps(self.steps, gaps)


@dataclass(frozen=True, slots=True)
class StatePosteriors:
    """Which states said the words of N texts of one length: `states` (N, L, S), log α (N, L, S), log P(w)
    (N,).

    A text that the model cannot have said leaves all states equally likely.
    """

    states: Floats
    alpha: Floats
    log_total: Floats

    @classmethod
    def given(cls, model: HiddenMarkovModel, words: Ints, gaps: Ints) -> Self:
        scores, steps = model.said(words), model.steps_over(gaps)
        alpha = forward(scores, steps, model.starts)
        total = log_total(alpha, model.ends)
        possible = np.isfinite(total)
        states = np.full(scores.shape, 1.0 / model.n_states)
        beta = backward(scores, steps, model.ends)
        states[possible] = np.exp(alpha[possible] + beta[possible] - total[possible, None, None])
        return cls(states, alpha, total)


def by_length(texts: Sequence[WordSequence]) -> Iterator[tuple[Ints, Ints, Ints]]:
    """For each length but 0: the numbers of its texts (N,), their words (N, L) and gaps (N, L)."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    for length in np.unique(lengths[lengths > 0]):
        numbers = np.flatnonzero(lengths == length)
        chosen = [texts[number] for number in numbers.tolist()]
        yield numbers, np.stack([text.words for text in chosen]), np.stack([text.gaps for text in chosen])

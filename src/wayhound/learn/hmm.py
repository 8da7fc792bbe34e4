"""Hidden Markov models whose states each belong to a class, as in section 4.1 of McCallum et al. (2000).

Our own, because no library counts labelled paths, ties states to classes and lets the structure be learned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from wayhound.learn.arrays import Floats, Ints
from wayhound.learn.chain import Posteriors, TransitionScores, best_path, forward, log_total


@dataclass(frozen=True, slots=True)
class Transitions:
    """Transition probabilities: `starts` (S,), `steps` (K, S, S) for each kind of gap, `ends` (S,).

    After each word the text ends with probability `ends`, or goes on to another state: each row of a kind of
    `steps` sums to one together with its entry of `ends`, or is empty where a state was never left over such
    a gap.
    """

    starts: Floats
    steps: Floats
    ends: Floats


@dataclass(frozen=True, slots=True)
class WordSequence:
    """One text: `words` (L,) by number, and `gaps` (L,), the kind of gap before each; the first is not used."""

    words: Ints
    gaps: Ints

    @classmethod
    def from_words(cls, words: Sequence[int] | Ints, gaps: Sequence[int] | Ints | None = None) -> Self:
        """Return a sequence of these words, with gaps of kind 0 if none are passed."""
        numbers = np.asarray(words, dtype=np.int64)
        return cls(numbers, np.zeros_like(numbers) if gaps is None else np.asarray(gaps, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.words)


@dataclass(frozen=True, slots=True)
class GapTransitionScores(TransitionScores):
    """Transition scores that depend on the gap: `log` (K, S, S), one matrix a kind, and `gaps` (N, L)."""

    gaps: Ints

    def into(self, position: int) -> Floats:
        return self.log[self.gaps[:, position]]


@dataclass(frozen=True, slots=True)
class HiddenMarkovModel:
    """Parameters as logarithms: S states, K kinds of gap, V words.

    `classes` (S,) is the class of each state; `starts` (S,), `steps` (K, S, S) and `ends` (S,) are log P(q → q')
    from the initial state, between states and into the final state; `emissions` (S, V) are log P(q ↑ σ).
    """

    classes: Ints
    starts: Floats
    steps: Floats
    ends: Floats
    emissions: Floats

    @classmethod
    def from_probabilities(cls, classes: Ints, transitions: Transitions, emissions: Floats) -> Self:
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

    def label(self, text: WordSequence, evidence: Floats, n_classes: int) -> tuple[Ints, Floats]:
        """Return the class of each word (L,) and the probability of each class (L, C), of one text.

        `evidence` (L, C) is added to the log scores of the states of each class: knowledge from elsewhere.
        """
        if not len(text):
            return np.zeros(0, dtype=np.int64), np.zeros((0, n_classes))
        scores = self.emission_scores(text.words[None]) + evidence[None][:, :, self.classes]
        transitions = self.transition_scores(text.gaps[None])
        path = best_path(scores, transitions, self.starts, self.ends)[0]
        states = Posteriors.infer(scores, transitions, self.starts, self.ends).states[0]
        return self.classes[path], states @ np.eye(n_classes)[self.classes]

    def best_states(self, texts: Sequence[WordSequence]) -> list[Ints]:
        """Return V(w | M) of each text (Eq. 4), by Viterbi's algorithm."""
        states: list[Ints] = [np.zeros(0, dtype=np.int64)] * len(texts)
        for numbers, words, gaps in by_length(texts):
            scores, transitions = self.emission_scores(words), self.transition_scores(gaps)
            paths = best_path(scores, transitions, self.starts, self.ends)
            for number, path in zip(numbers, paths, strict=True):
                states[number] = path
        return states

    def decode(self, texts: Sequence[WordSequence]) -> list[Ints]:
        """Return the class of each word: that of the state that emits it on the best path."""
        return [self.classes[path] for path in self.best_states(texts)]

    def log_likelihoods(self, texts: Sequence[WordSequence]) -> Floats:
        """Return log P(w | M) of each text (Eq. 3), (N,), by the forward algorithm."""
        logs = np.zeros(len(texts))
        for numbers, words, gaps in by_length(texts):
            alpha = forward(self.emission_scores(words), self.transition_scores(gaps), self.starts)
            logs[numbers] = log_total(alpha, self.ends)
        return logs

    def perplexity(self, texts: Sequence[WordSequence]) -> float:
        """Return the perplexity per word; the end of each text counts as one (w_{l+1} of Eq. 3)."""
        n_symbols = sum(len(text) + 1 for text in texts)
        return float(np.exp(-self.log_likelihoods(texts).sum() / n_symbols))

    def posteriors(self, words: Ints, gaps: Ints, labels: Ints | None = None) -> Posteriors:
        """Run forward–backward over texts of one length, words (N, L) and gaps (N, L).

        With `labels` (N, L), only states of the class of each word are possible.
        """
        scores = self.emission_scores(words)
        if labels is not None:
            scores = np.where(labels[:, :, None] == self.classes, scores, -np.inf)
        return Posteriors.infer(scores, self.transition_scores(gaps), self.starts, self.ends)

    def emission_scores(self, words: Ints) -> Floats:
        """Return log P(q ↑ w) for words (N, L): (N, L, S)."""
        return np.moveaxis(self.emissions[:, words], 0, -1)

    def transition_scores(self, gaps: Ints) -> TransitionScores:
        if len(self.steps) == 1:
            return TransitionScores(self.steps[0])
        return GapTransitionScores(self.steps, gaps)


def by_length(texts: Sequence[WordSequence]) -> Iterator[tuple[Ints, Ints, Ints]]:
    """Yield, for each length but 0, the numbers of its texts (N,), their words (N, L) and gaps (N, L)."""
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    for length in np.unique(lengths[lengths > 0]):
        numbers = np.flatnonzero(lengths == length)
        chosen = [texts[number] for number in numbers.tolist()]
        yield numbers, np.stack([text.words for text in chosen]), np.stack([text.gaps for text in chosen])

"""Estimate the parameters of a hidden Markov model: transitions, emissions, expected counts and adaptation.

Emissions come from few labelled words and many distant ones: absolute discounting, a share for unknown words,
and mixtures weighted by leave-one-out EM. Equations and sections are those of McCallum, Nigam, Rennie & Seymore
(2000), section 4. Counts are (K, V): K classes or states, V words, of which word 0 stands for every word outside
the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from wayhound.learn.arrays import Floats, Ints, divide
from wayhound.learn.chain import expected_transitions, pair_marginals
from wayhound.learn.hmm import HiddenMarkovModel, Transitions, WordSequence, by_length
from wayhound.learn.hmm_structure import Structure

UNKNOWN = 0
_RARE_WORDS, _RARE_STEPS = 50.0, 5.0  # counts below which relative frequencies say little


def uniform_transitions(structure: Structure) -> Transitions:
    """Return the same probability for every transition."""
    n_states = structure.n_states
    even = np.full((len(structure.steps), n_states, n_states), 1.0 / (n_states + 1))
    return Transitions(np.full(n_states, 1.0 / n_states), even, np.full(n_states, 1.0 / (n_states + 1)))


def self_loop_transitions(structure: Structure) -> Transitions:
    """Return the counted probability of staying in a state, and equal shares for all other transitions."""
    n_states, n_gaps = structure.n_states, len(structure.steps)
    steps = structure.all_steps().toarray()
    staying = divide(np.diagonal(steps), steps.sum(axis=1) + structure.ends)
    others = (1.0 - staying) / n_states
    even = np.repeat(others[:, None], n_states, axis=1)
    np.fill_diagonal(even, staying)
    return Transitions(np.full(n_states, 1.0 / n_states), np.stack([even] * n_gaps), others)


def counted_transitions(structure: Structure) -> Transitions:
    """Return the maximum-likelihood transitions (Eq. 5)."""
    return _normalise(structure.starts, _dense(structure), structure.ends)


def smoothed_transitions(structure: Structure) -> Transitions:
    """Return transitions with one added to every count, so that none is impossible."""
    return _normalise(structure.starts + 1.0, _dense(structure) + 1.0, structure.ends + 1.0)


def shrunk_transitions(structure: Structure, strength: float = 0.3) -> Transitions:
    """Return counts shrunk towards staying, and towards where transitions over the same gap lead on average.

    Adds `strength` transitions to each state, half of them to itself. Better than adding one to every count
    when there are many states, and an unseen order of fields stays possible.
    """
    steps = _dense(structure)
    n_states = structure.n_states
    reached = steps.sum(axis=1) + 1.0 / n_states
    anywhere = reached / reached.sum(axis=1, keepdims=True)
    prior = 0.5 * np.eye(n_states)[None] + 0.5 * anywhere[:, None, :]
    even = strength / n_states
    return _normalise(structure.starts + even, steps + strength * prior, structure.ends + even)


TRANSITIONS: dict[str, Callable[[Structure], Transitions]] = {
    "full": uniform_transitions,
    "self": self_loop_transitions,
    "ml": counted_transitions,
    "smooth": smoothed_transitions,
    "shrunk": shrunk_transitions,
}


def _normalise(starts: Floats, steps: Floats, ends: Floats) -> Transitions:
    """Return probabilities of counts. The probability of ending after a word does not depend on the gap."""
    ending = divide(ends, steps.sum(axis=(0, 2)) + ends)
    onward = divide(steps, steps.sum(axis=2, keepdims=True)) * (1.0 - ending)[None, :, None]
    return Transitions(starts / starts.sum(), onward, ending)


def _dense(structure: Structure) -> Floats:
    return np.stack([kind.toarray() for kind in structure.steps])


def count_words(words: Sequence[Ints], labels: Sequence[Ints], n_labels: int, n_words: int) -> Floats:
    """Return N(q ↑ σ), (n_labels, n_words): how often each label emits each word."""
    counts = np.zeros((n_labels, n_words))
    for text, text_labels in zip(words, labels, strict=True):
        np.add.at(counts, (text_labels, text), 1.0)
    return counts


def maximum_likelihood(counts: Floats) -> Floats:
    """Return emissions by Eq. 6; a row without counts stays empty."""
    return divide(counts, counts.sum(axis=1, keepdims=True))


def discount(counts: Floats) -> float:
    """Return the amount taken off every count: n1 / (n1 + 2 n2), after Ney, Essen & Kneser (1994)."""
    once, twice = float((counts == 1).sum()), float((counts == 2).sum())
    return once / (once + 2 * twice) if once and twice else 0.5


def unknown_share(counts: Floats) -> Floats:
    """Return, for each row, the share of its distinct words that occur once and in no other row, (K,)."""
    only_once = (counts == 1) & (counts.sum(axis=0) == 1)
    kinds = (counts > 0).sum(axis=1)
    share: Floats = np.full(len(counts), 0.5)
    np.divide(only_once.sum(axis=1), kinds, out=share, where=kinds > 0)
    return share


def absolute_discounting(counts: Floats) -> Floats:
    """Return the smoothing f of Eq. 7, (K, V): no word of the vocabulary is left without probability.

    What is taken off a row's counts goes to the unknown word by `unknown_share`, and the rest in equal parts to
    the words that the row has never emitted. A row without counts emits all words equally.
    """
    amount = discount(counts)
    totals = counts.sum(axis=1, keepdims=True)
    kept = divide(np.maximum(counts - amount, 0.0), totals)
    freed = 1.0 - kept.sum(axis=1)
    to_unknown = freed * unknown_share(counts)
    unseen = counts == 0
    unseen[:, UNKNOWN] = False
    n_unseen = unseen.sum(axis=1)
    to_unknown = np.where(n_unseen > 0, to_unknown, freed)
    per_word = divide(freed - to_unknown, n_unseen)
    smoothed: Floats = np.where(unseen, per_word[:, None], kept)
    smoothed[:, UNKNOWN] += to_unknown
    return smoothed


def mixture(parts: Sequence[Floats], weights: Floats) -> Floats:
    """Return Eq. 9, (K, V): `parts` (M times K, V) mixed by the `weights` (K, M) of each row."""
    mixed: Floats = np.zeros_like(parts[0])
    for number, part in enumerate(parts):
        mixed += weights[:, [number]] * part
    return mixed


def mixture_weights(counts: Floats, parts: Sequence[Floats], rounds: int = 100) -> Floats:
    """Return the weights (K, 1 + M) of the rows' own words and of `parts`, by EM over the labelled words.

    Each word in turn is left out of its row's maximum-likelihood estimate, so that the row's own words are
    weighted by how well they predict words not yet seen. Words that no part can explain are ignored. A row
    without counts, or with such words alone, weighs its parts equally.
    """
    weights = np.full((len(counts), 1 + len(parts)), 1.0 / (1 + len(parts)))
    for row in range(len(counts)):
        words = np.flatnonzero(counts[row])
        times = counts[row, words]
        own = np.maximum(times - 1.0, 0.0) / max(times.sum() - 1.0, 1.0)
        explained = np.vstack([own, *[part[row, words] for part in parts]])
        weights[row] = em_weights(times, explained, weights[row], rounds)
    return weights


def em_weights(times: Floats, explained: Floats, weights: Floats, rounds: int = 100) -> Floats:
    """Return the mixture weights (M,) that maximise the likelihood of words that occur `times` (W,).

    `explained` (M, W) is the probability of each word under each part, `weights` (M,) the starting point.
    """
    possible = explained.sum(axis=0) > 0
    times, explained = times[possible], explained[:, possible]
    if not times.sum():
        return weights
    for _ in range(rounds):
        joint = weights[:, None] * explained
        total = np.maximum(joint.sum(axis=0), np.finfo(float).tiny)
        weights = (joint / total) @ times / times.sum()
    return weights


@dataclass(frozen=True, slots=True)
class ExpectedHmmCounts:
    """Expected counts over texts: `starts` (S,), `steps` (K, S, S), `ends` (S,), `words` (S, V)."""

    starts: Floats
    steps: Floats
    ends: Floats
    words: Floats
    log_likelihood: float


def expected_counts(
    model: HiddenMarkovModel, texts: Sequence[WordSequence], labels: Sequence[Ints] | None = None
) -> ExpectedHmmCounts:
    """Run the E-step. Texts that the model cannot produce are skipped.

    With `labels`, the class of every word is known, and only the states of that class are counted.
    """
    starts, ends = np.zeros(model.n_states), np.zeros(model.n_states)
    steps, words = np.zeros_like(model.steps), np.zeros_like(model.emissions)
    log_likelihood = 0.0
    for numbers, text_words, gaps in by_length(texts):
        classes = None if labels is None else np.stack([labels[number] for number in numbers.tolist()])
        posteriors = model.posteriors(text_words, gaps, classes)
        possible = np.isfinite(posteriors.log_total)
        states = posteriors.states[possible]
        starts += states[:, 0].sum(axis=0)
        ends += states[:, -1].sum(axis=0)
        np.add.at(words.T, text_words[possible].ravel(), states.reshape(-1, model.n_states))
        _add_steps(steps, model, posteriors.alpha[possible], states, gaps[possible])
        log_likelihood += float(posteriors.log_total[possible].sum())
    return ExpectedHmmCounts(starts, steps, ends, words, log_likelihood)


def _add_steps(counts: Floats, model: HiddenMarkovModel, alpha: Floats, states: Floats, gaps: Ints) -> None:
    transitions = model.transition_scores(gaps)
    if len(model.steps) == 1:
        counts[0] += expected_transitions(alpha, states, transitions)
        return
    for position in range(1, alpha.shape[1]):
        np.add.at(counts, gaps[:, position], pair_marginals(alpha, states, transitions, position))


def adapt(model: HiddenMarkovModel, counts: ExpectedHmmCounts, weight: float) -> HiddenMarkovModel:
    """Return the model with the estimates from a few labelled texts mixed in by `weight`, from 0 to 1.

    A distribution without counts is scaled down all the same, and then sums to less than one. Otherwise the
    classes that are missing from the texts would gain every word that the others have not emitted in them.
    States of one class keep sharing their emissions.
    """
    same_class = (model.classes[:, None] == model.classes).astype(float)
    words = same_class @ counts.words
    emissions = _mix_in(np.exp(model.emissions), words, _RARE_WORDS, weight)
    visits = counts.words.sum(axis=1)
    ends = (1.0 - weight) * np.exp(model.ends) + weight * counts.ends / (visits + _RARE_STEPS)
    steps = _mix_in(np.exp(model.steps), counts.steps, _RARE_STEPS, weight)
    starts = _mix_in(np.exp(model.starts)[None], counts.starts[None], _RARE_STEPS, weight)[0]
    transitions = Transitions(starts, steps, ends)
    return HiddenMarkovModel.from_probabilities(model.classes, transitions, emissions)


def _mix_in(rows: Floats, counts: Floats, rare: float, weight: float) -> Floats:
    """Mix relative frequencies into distributions; rows with fewer counts than `rare` get less of the weight."""
    frequencies = counts / (counts.sum(axis=-1, keepdims=True) + rare)
    return np.asarray((1.0 - weight) * rows + weight * frequencies)

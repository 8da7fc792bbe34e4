"""Estimate the parameters of a hidden Markov model: transitions, emissions, and Baum–Welch on unlabelled texts.

Emissions come from few labelled words and many distant ones: absolute discounting, a share for unknown words,
and mixtures weighted by leave-one-out EM. Equations and sections are those of McCallum, Nigam, Rennie & Seymore
(2000), section 4. Counts are (K, V): K classes or states, V words, of which word 0 stands for every word outside
the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from wayhound.learn.arrays import Floats, Ints, divide
from wayhound.learn.chain import expected_transitions, pair_marginals
from wayhound.learn.hmm import HiddenMarkovModel, Transitions, WordSequence, by_length
from wayhound.learn.hmm_structure import Structure

UNKNOWN = 0


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


def expected_counts(model: HiddenMarkovModel, texts: Sequence[WordSequence]) -> ExpectedHmmCounts:
    """Run the E-step. Texts that the model cannot produce are skipped."""
    starts, ends = np.zeros(model.n_states), np.zeros(model.n_states)
    steps, words = np.zeros_like(model.steps), np.zeros_like(model.emissions)
    log_likelihood = 0.0
    for _, text_words, gaps in by_length(texts):
        posteriors = model.posteriors(text_words, gaps)
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


def reestimate(model: HiddenMarkovModel, counts: ExpectedHmmCounts) -> HiddenMarkovModel:
    """Run the M-step. Events that are never expected keep their probabilities."""
    visits = counts.words.sum(axis=1)
    # the sums may differ in the last digit, so the quotient may exceed 1
    ends = np.minimum(1.0, _ratio(counts.ends, visits, np.exp(model.ends)))
    onward = np.exp(model.steps) / np.maximum(1.0 - np.exp(model.ends), np.finfo(float).tiny)[None, :, None]
    steps = _ratio(counts.steps, counts.steps.sum(axis=2, keepdims=True), onward)
    starts = _ratio(counts.starts, np.array(counts.starts.sum()), np.exp(model.starts))
    words = _ratio(counts.words, visits[:, None], np.exp(model.emissions))
    transitions = Transitions(starts, steps * (1.0 - ends)[None, :, None], ends)
    return HiddenMarkovModel.from_probabilities(model.classes, transitions, words)


def baum_welch(model: HiddenMarkovModel, texts: Sequence[WordSequence], rounds: int) -> HiddenMarkovModel:
    """Run `rounds` of E- and M-step (section 4.3.3); the likelihood of `texts` never falls.

    Words that `texts` never use lose all probability, so mix the result with the initial model.
    """
    for _ in range(rounds):
        model = reestimate(model, expected_counts(model, texts))
    return model


def mix_uniformly(initial: HiddenMarkovModel, trained: HiddenMarkovModel) -> HiddenMarkovModel:
    """Return "BW-uniform" of Table 6: the emissions of each state are half the initial, half the new ones."""
    return _mix(initial, trained, np.full(initial.n_states, 0.5))


def mix_by_state(
    initial: HiddenMarkovModel, trained: HiddenMarkovModel, held_out: Sequence[WordSequence]
) -> HiddenMarkovModel:
    """Return "BW-varied" of Table 6: weights for each state by EM over the words it is expected to emit."""
    counts = expected_counts(mix_uniformly(initial, trained), held_out)
    weights = np.empty(initial.n_states)
    for state, times in enumerate(counts.words):
        explained = np.exp(np.stack([initial.emissions[state], trained.emissions[state]]))
        weights[state] = em_weights(times, explained, np.array([0.5, 0.5]))[0]
    return _mix(initial, trained, weights)


def _mix(initial: HiddenMarkovModel, trained: HiddenMarkovModel, weights: Floats) -> HiddenMarkovModel:
    old, new = np.exp(initial.emissions), np.exp(trained.emissions)
    with np.errstate(divide="ignore"):
        return replace(trained, emissions=np.log(weights[:, None] * old + (1.0 - weights[:, None]) * new))


def _ratio(part: Floats, whole: Floats, otherwise: Floats) -> Floats:
    """Return part / whole, and `otherwise` where the whole is next to nothing."""
    part, whole = np.broadcast_arrays(part, whole)
    usable = whole > 1e-12
    return np.where(usable, np.divide(part, whole, out=np.zeros(part.shape), where=usable), otherwise)

"""Training hidden Markov models on unlabelled texts: Baum-Welch and what is done with its result afterwards.

Section 4.3.3 of McCallum et al. (2000), Table 6. Words that unlabelled texts never use lose all
probability, so the new emissions are mixed with those that training began from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from wayhound.learn.chain import Floats, Ints, expected_steps, pair_marginals
from wayhound.learn.hmm import HiddenMarkovModel, StatePosteriors, Transitions, WordSequence, by_length
from wayhound.learn.hmm_emissions import em_weights


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected counts over texts: `starts` (S,), `steps` (K, S, S), `ends` (S,), `words` (S, V)."""

    starts: Floats
    steps: Floats
    ends: Floats
    words: Floats
    log_likelihood: float


def expected_counts(model: HiddenMarkovModel, texts: Sequence[WordSequence]) -> Expected:
    """The E-step. Texts that the model cannot have said are passed over."""
    starts, ends = np.zeros(model.n_states), np.zeros(model.n_states)
    steps, words = np.zeros_like(model.steps), np.zeros_like(model.emissions)
    log_likelihood = 0.0
    for _, seen, gaps in by_length(texts):
        belief = StatePosteriors.given(model, seen, gaps)
        possible = np.isfinite(belief.log_total)
        states = belief.states[possible]
        starts += states[:, 0].sum(axis=0)
        ends += states[:, -1].sum(axis=0)
        np.add.at(words.T, seen[possible].ravel(), states.reshape(-1, model.n_states))
        _add_steps(steps, model, belief.alpha[possible], states, gaps[possible])
        log_likelihood += float(belief.log_total[possible].sum())
    return Expected(starts, steps, ends, words, log_likelihood)


def _add_steps(counts: Floats, model: HiddenMarkovModel, alpha: Floats, states: Floats, gaps: Ints) -> None:
    steps = model.steps_over(gaps)
    if len(model.steps) == 1:
        counts[0] += expected_steps(alpha, states, steps)
        return
    for position in range(1, alpha.shape[1]):
        np.add.at(counts, gaps[:, position], pair_marginals(alpha, states, steps, position))


def reestimated(model: HiddenMarkovModel, counts: Expected) -> HiddenMarkovModel:
    """The M-step. What was never expected to happen keeps its probabilities."""
    visits = counts.words.sum(axis=1)
    # sums may differ in the last digit
    ends = np.minimum(1.0, _ratio(counts.ends, visits, np.exp(model.ends)))
    onward = np.exp(model.steps) / np.maximum(1.0 - np.exp(model.ends), np.finfo(float).tiny)[None, :, None]
    steps = _ratio(counts.steps, counts.steps.sum(axis=2, keepdims=True), onward)
    starts = _ratio(counts.starts, np.array(counts.starts.sum()), np.exp(model.starts))
    words = _ratio(counts.words, visits[:, None], np.exp(model.emissions))
    moved = Transitions(starts, steps * (1.0 - ends)[None, :, None], ends)
    return HiddenMarkovModel.of(model.classes, moved, words)


def baum_welch(model: HiddenMarkovModel, texts: Sequence[WordSequence], rounds: int) -> HiddenMarkovModel:
    """`rounds` of E- and M-step; the likelihood of `texts` never falls."""
    for _ in range(rounds):
        model = reestimated(model, expected_counts(model, texts))
    return model


def mixed_uniformly(initial: HiddenMarkovModel, trained: HiddenMarkovModel) -> HiddenMarkovModel:
    """ "BW-uniform": the emissions of each state are half the initial, half the new ones."""
    return _mixed(initial, trained, np.full(initial.n_states, 0.5))


def mixed_by_state(
    initial: HiddenMarkovModel, trained: HiddenMarkovModel, held_out: Sequence[WordSequence]
) -> HiddenMarkovModel:
    """ "BW-varied": weights for each state by EM over the words it is expected to have said in `held_out`."""
    counts = expected_counts(mixed_uniformly(initial, trained), held_out)
    weights = np.empty(initial.n_states)
    for state, times in enumerate(counts.words):
        explained = np.exp(np.stack([initial.emissions[state], trained.emissions[state]]))
        weights[state] = em_weights(times, explained, np.array([0.5, 0.5]))[0]
    return _mixed(initial, trained, weights)


def _mixed(initial: HiddenMarkovModel, trained: HiddenMarkovModel, weights: Floats) -> HiddenMarkovModel:
    old, new = np.exp(initial.emissions), np.exp(trained.emissions)
    with np.errstate(divide="ignore"):
        return replace(trained, emissions=np.log(weights[:, None] * old + (1.0 - weights[:, None]) * new))


def _ratio(part: Floats, whole: Floats, otherwise: Floats) -> Floats:
    """part / whole, and `otherwise` where the whole is next to nothing."""
    part, whole = np.broadcast_arrays(part, whole)
    usable = whole > 1e-12
    return np.where(usable, np.divide(part, whole, out=np.zeros(part.shape), where=usable), otherwise)

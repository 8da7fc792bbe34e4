"""Baum-Welch on unlabelled texts: section 4.3.3 and Table 6 of McCallum et al. (2000).

In the benchmarks only: on our headers, as in the paper, it lowers perplexity and raises the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from wayhound.learn.arrays import Floats
from wayhound.learn.hmm import HiddenMarkovModel, Transitions, WordSequence
from wayhound.learn.hmm_parameters import ExpectedHmmCounts, em_weights, expected_counts


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

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.baum_welch import baum_welch, mix_by_state, mix_uniformly, reestimate
from tests.learn.test_hmm import N_STATES, random_model, random_texts
from wayhound.learn.hmm import WordSequence
from wayhound.learn.hmm_parameters import expected_counts


@given(seed=st.integers(0, 10_000), n_gaps=st.integers(1, 3))
@settings(max_examples=25, deadline=None)
def test_no_round_of_baum_welch_makes_the_texts_less_likely(seed: int, n_gaps: int) -> None:
    model, texts = random_model(seed, n_gaps), random_texts(seed, n_gaps, (4, 6, 2, 5, 5))
    before = model.log_likelihoods(texts).sum()
    for _ in range(6):
        model = reestimate(model, expected_counts(model, texts))
        after = model.log_likelihoods(texts).sum()
        assert after >= before - 1e-9
        before = after


def test_baum_welch_keeps_distributions_distributions() -> None:
    trained = baum_welch(random_model(1, 2), random_texts(1, 2), rounds=3)
    rows = np.exp(trained.steps).sum(axis=2) + np.exp(trained.ends)
    assert np.exp(trained.starts).sum() == pytest.approx(1.0)
    assert np.exp(trained.emissions).sum(axis=1) == pytest.approx(np.ones(N_STATES))
    assert rows == pytest.approx(np.ones_like(rows))


def test_uniform_mixing_takes_half_of_the_old_words_and_half_of_the_new() -> None:
    old, texts = random_model(1, 1), [WordSequence.from_words([0, 0, 1])]
    new = baum_welch(old, texts, rounds=2)
    mixed = mix_uniformly(old, new)
    assert np.exp(mixed.emissions) == pytest.approx((np.exp(old.emissions) + np.exp(new.emissions)) / 2)
    assert np.exp(new.emissions)[:, 3] == pytest.approx(np.zeros(N_STATES))
    assert (np.exp(mixed.emissions)[:, 3] > 0).all()


def test_varied_mixing_explains_held_out_words_at_least_as_well_as_uniform() -> None:
    old = random_model(1, 1)
    new = baum_welch(old, random_texts(4, 1), rounds=4)
    held_out = random_texts(9, 1, (6, 6, 6))
    counts = expected_counts(mix_uniformly(old, new), held_out).words
    varied, uniform = mix_by_state(old, new, held_out), mix_uniformly(old, new)
    assert (counts * varied.emissions).sum() >= (counts * uniform.emissions).sum() - 1e-9

"""Hidden Markov models against enumeration of every path of tiny ones."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayhound.learn.hmm import HiddenMarkovModel, Transitions, WordSequence
from wayhound.learn.hmm_parameters import baum_welch, expected_counts, mix_by_state, mix_uniformly, reestimate

N_STATES, N_WORDS, N_CLASSES = 3, 4, 2


def random_model(seed: int, n_gaps: int) -> HiddenMarkovModel:
    """Three states, the first two of class 0; every row a random distribution."""
    rng = np.random.default_rng(seed)
    onward = rng.dirichlet(np.ones(N_STATES + 1), size=(n_gaps, N_STATES))
    ends = onward[0, :, -1]
    steps = onward[:, :, :-1] / onward[:, :, :-1].sum(axis=2, keepdims=True) * (1 - ends)[None, :, None]
    starts = rng.dirichlet(np.ones(N_STATES))
    emissions = rng.dirichlet(np.ones(N_WORDS), size=N_STATES)
    return HiddenMarkovModel.from_probabilities(
        np.array([0, 0, 1]), Transitions(starts, steps, ends), emissions
    )


def random_texts(seed: int, n_gaps: int, lengths: tuple[int, ...] = (3, 1, 3, 5)) -> list[WordSequence]:
    rng = np.random.default_rng(seed + 1000)
    return [
        WordSequence(rng.integers(N_WORDS, size=size), rng.integers(n_gaps, size=size)) for size in lengths
    ]


def all_paths(model: HiddenMarkovModel, text: WordSequence) -> dict[tuple[int, ...], float]:
    """The product of Eq. 3 for every path, multiplied out factor by factor."""
    weights = {}
    for path in itertools.product(range(N_STATES), repeat=len(text)):
        weight = math.exp(model.starts[path[0]])
        for state, word in zip(path, text.words, strict=True):
            weight *= math.exp(model.emissions[state, word])
        for (before, here), gap in zip(itertools.pairwise(path), text.gaps[1:], strict=True):
            weight *= math.exp(model.steps[gap, before, here])
        weights[path] = weight * math.exp(model.ends[path[-1]])
    return weights


@pytest.mark.parametrize("n_gaps", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_likelihood_path_and_classes_agree_with_enumerating_every_path(seed: int, n_gaps: int) -> None:
    model, texts = random_model(seed, n_gaps), random_texts(seed, n_gaps)
    likelihoods, paths = model.log_likelihoods(texts), model.best_states(texts)
    marginals = model.class_marginals(texts, N_CLASSES)
    for text, likelihood, path, marginal in zip(texts, likelihoods, paths, marginals, strict=True):
        weights = all_paths(model, text)
        total = sum(weights.values())
        assert likelihood == pytest.approx(math.log(total))
        assert tuple(path) == max(weights, key=lambda way: weights[way])
        for position in range(len(text)):
            second = sum(w for way, w in weights.items() if model.classes[way[position]] == 1)
            assert marginal[position] == pytest.approx([1 - second / total, second / total])


def test_words_are_given_the_class_of_their_state_on_the_best_path() -> None:
    model, texts = random_model(7, 1), random_texts(7, 1)
    for path, classes in zip(model.best_states(texts), model.decode(texts), strict=True):
        assert classes.tolist() == [[0, 0, 1][state] for state in path]


def test_perplexity_counts_the_end_of_each_text_as_a_word() -> None:
    model, text = random_model(3, 1), WordSequence.from_words([0, 1, 2])
    total = sum(all_paths(model, text).values())
    assert model.perplexity([text]) == pytest.approx(total ** (-1 / 4))


def test_the_probabilities_of_all_texts_sum_to_one() -> None:
    """Eq. 3 is a distribution: summed over all texts up to a length, all but the unfinished mass is there."""
    model = random_model(5, 1)
    total = 0.0
    for length in range(1, 7):
        every = [WordSequence.from_words(words) for words in itertools.product(range(N_WORDS), repeat=length)]
        total += float(np.exp(model.log_likelihoods(every)).sum())
    going_on = np.exp(model.starts)
    for _ in range(6):
        going_on = going_on @ np.exp(model.steps[0])
    assert total == pytest.approx(1.0 - going_on.sum())


def test_an_empty_text_has_no_states_and_an_impossible_one_no_preference() -> None:
    certain = Transitions(np.array([1.0, 0.0]), np.zeros((1, 2, 2)), np.array([1.0, 1.0]))
    model = HiddenMarkovModel.from_probabilities(
        np.array([0, 1]), certain, np.array([[1.0, 0.0], [0.0, 1.0]])
    )
    empty, impossible, possible = (
        WordSequence.from_words([]),
        WordSequence.from_words([1]),
        WordSequence.from_words([0]),
    )
    marginals = model.class_marginals([empty, impossible, possible], 2)
    assert marginals[0].shape == (0, 2)
    assert marginals[1].tolist() == [[0.5, 0.5]]
    assert marginals[2].tolist() == [[1.0, 0.0]]
    assert model.best_states([empty])[0].tolist() == []


@pytest.mark.parametrize("n_gaps", [1, 2])
def test_expected_counts_agree_with_enumerating_every_path(n_gaps: int) -> None:
    model, texts = random_model(2, n_gaps), random_texts(2, n_gaps)
    steps, words = np.zeros_like(model.steps), np.zeros_like(model.emissions)
    for text in texts:
        weights = all_paths(model, text)
        total = sum(weights.values())
        for path, weight in weights.items():
            for state, word in zip(path, text.words, strict=True):
                words[state, word] += weight / total
            for (before, here), gap in zip(itertools.pairwise(path), text.gaps[1:], strict=True):
                steps[gap, before, here] += weight / total
    counts = expected_counts(model, texts)
    assert counts.steps == pytest.approx(steps)
    assert counts.words == pytest.approx(words)
    assert counts.starts.sum() == pytest.approx(len(texts)) == pytest.approx(counts.ends.sum())
    assert counts.log_likelihood == pytest.approx(model.log_likelihoods(texts).sum())


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

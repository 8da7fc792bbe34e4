"""Hidden Markov models against enumeration of every path of tiny ones."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from wayhound.learn.arrays import Floats
from wayhound.learn.hmm import HiddenMarkovModel, Transitions, WordSequence
from wayhound.learn.hmm_parameters import adapt, expected_counts

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


def class_marginals(model: HiddenMarkovModel, text: WordSequence) -> Floats:
    """Return the probability of each class at each word, (L, N_CLASSES), without evidence from elsewhere."""
    return model.label(text, np.zeros((len(text), N_CLASSES)), N_CLASSES)[1]


def all_paths(model: HiddenMarkovModel, text: WordSequence) -> dict[tuple[int, ...], float]:
    """Return the product of Eq. 3 for every path, factor by factor."""
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
    marginals = [class_marginals(model, text) for text in texts]
    for text, likelihood, path, marginal in zip(texts, likelihoods, paths, marginals, strict=True):
        weights = all_paths(model, text)
        total = sum(weights.values())
        assert likelihood == pytest.approx(math.log(total))
        assert tuple(path) == max(weights, key=lambda states: weights[states])
        for position in range(len(text)):
            second = sum(w for states, w in weights.items() if model.classes[states[position]] == 1)
            assert marginal[position] == pytest.approx([1 - second / total, second / total])


def test_words_get_the_class_of_their_state_on_the_best_path() -> None:
    model, texts = random_model(7, 1), random_texts(7, 1)
    for path, classes in zip(model.best_states(texts), model.decode(texts), strict=True):
        assert classes.tolist() == [[0, 0, 1][state] for state in path]


def test_perplexity_counts_the_end_of_each_text_as_a_word() -> None:
    model, text = random_model(3, 1), WordSequence.from_words([0, 1, 2])
    total = sum(all_paths(model, text).values())
    assert model.perplexity([text]) == pytest.approx(total ** (-1 / 4))


def test_the_probabilities_of_all_texts_sum_to_one() -> None:
    """Eq. 3 is a distribution: the texts up to a length have all the mass except that of longer ones."""
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
    marginals = [class_marginals(model, text) for text in (empty, impossible, possible)]
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


def test_with_labels_only_paths_through_their_classes_are_counted() -> None:
    model, text = random_model(1, 2), random_texts(1, 2, lengths=(4,))[0]
    labels = np.array([0, 1, 0, 0])
    weights = {
        path: weight
        for path, weight in all_paths(model, text).items()
        if (model.classes[[*path]] == labels).all()
    }
    expected = np.zeros(N_STATES)
    for path, weight in weights.items():
        expected[path[0]] += weight / sum(weights.values())
    assert expected_counts(model, [text], [labels]).starts == pytest.approx(expected)


def test_evidence_changes_the_class_of_a_word() -> None:
    model, text = random_model(0, 1), random_texts(0, 1, lengths=(3,))[0]
    classes, _ = model.label(text, np.zeros((3, N_CLASSES)), N_CLASSES)
    assert classes.tolist() == model.decode([text])[0].tolist()
    evidence = np.zeros((3, N_CLASSES))
    evidence[1, 1 - classes[1]] = 50.0
    assert model.label(text, evidence, N_CLASSES)[0][1] == 1 - classes[1]


def test_adaptation_makes_the_labels_more_likely_and_scales_all_other_classes_alike() -> None:
    model, text = random_model(2, 2), random_texts(2, 2, lengths=(5,))[0]
    labels = np.zeros(5, dtype=np.int64)
    counts = expected_counts(model, [text], [labels])
    assert np.allclose(adapt(model, counts, 0.0).emissions, model.emissions)
    adapted = adapt(model, counts, 0.3)
    right = expected_counts(adapted, [text], [labels]).log_likelihood - adapted.log_likelihoods([text])[0]
    assert right > counts.log_likelihood - model.log_likelihoods([text])[0]
    assert np.exp(adapted.emissions[2]) == pytest.approx(0.7 * np.exp(model.emissions[2]))  # of class 1

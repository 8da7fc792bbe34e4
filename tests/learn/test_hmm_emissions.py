"""Word distributions: worked examples of discounting, unknown words and mixtures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.errors import NotFitted, TeachingError
from wayhound.learn.hmm import WordSequence
from wayhound.learn.hmm_parameters import (
    UNKNOWN,
    absolute_discounting,
    count_words,
    discount,
    em_weights,
    maximum_likelihood,
    mixture,
    mixture_weights,
    unknown_share,
)
from wayhound.learn.hmm_tagger import TaggerHMM

COUNTS = np.array(
    [
        [0.0, 3.0, 1.0, 0.0, 2.0, 0.0],
        [0.0, 0.0, 1.0, 2.0, 0.0, 1.0],
    ]
)  # both rows emit word 2 once; the second row alone emits word 5, once


def test_words_are_counted_for_the_label_that_emits_them() -> None:
    counts = count_words([np.array([1, 2, 1])], [np.array([0, 1, 0])], 2, 3)
    assert counts.tolist() == [[0, 2, 0], [0, 0, 1]]


def test_the_discount_follows_from_words_seen_once_and_twice() -> None:
    assert discount(COUNTS) == pytest.approx(3 / (3 + 2 * 2))


def test_the_unknown_share_is_that_of_words_met_once_and_nowhere_else() -> None:
    assert unknown_share(COUNTS) == pytest.approx([0.0, 1 / 3])


def test_discounting_by_a_worked_example() -> None:
    taken = 3 / 7
    second = absolute_discounting(COUNTS)[1]
    freed = 3 * taken / 4
    assert second[[2, 3, 5]] == pytest.approx([(1 - taken) / 4, (2 - taken) / 4, (1 - taken) / 4])
    assert second[UNKNOWN] == pytest.approx(freed / 3)
    assert second[[1, 4]] == pytest.approx([freed * (2 / 3) / 2] * 2)


@given(st.lists(st.lists(st.integers(0, 4), min_size=5, max_size=5), min_size=1, max_size=4))
def test_discounting_always_gives_distributions(rows: list[list[int]]) -> None:
    counts = np.array(rows, dtype=float)
    counts[:, UNKNOWN] = 0.0
    assert absolute_discounting(counts).sum(axis=1) == pytest.approx(np.ones(len(rows)))
    assert (absolute_discounting(counts) >= 0).all()


def test_a_row_without_counts_emits_every_word_equally() -> None:
    smoothed = absolute_discounting(np.array([[0.0, 2.0, 1.0], [0.0, 0.0, 0.0]]))
    assert smoothed[1, 1] == smoothed[1, 2]
    assert smoothed[1].sum() == pytest.approx(1.0)


def test_a_mixture_is_the_weighted_sum_of_its_parts() -> None:
    """Eq. 9."""
    own, other = np.array([[0.2, 0.8]]), np.array([[0.6, 0.4]])
    assert mixture([own, other], np.array([[0.25, 0.75]])) == pytest.approx(np.array([[0.5, 0.5]]))


def test_left_out_words_decide_between_own_and_distant_words() -> None:
    """Own words that each occur once predict nothing; own words that repeat predict everything."""
    once, often = [0, 1.0, 1.0, 1.0, 0], [0, 50.0, 0, 0, 0]
    distant = maximum_likelihood(np.array([[0, 1.0, 1.0, 1.0, 7.0], [0, 1.0, 1.0, 1.0, 7.0]]))
    weights = mixture_weights(np.array([once, often]), [distant])
    assert weights[0] == pytest.approx([0.0, 1.0])
    assert weights[1, 0] > 0.99


def test_words_that_no_part_explains_leave_the_weights_alone() -> None:
    weights = mixture_weights(np.array([[0, 1.0, 1.0]]), [np.zeros((1, 3))])
    assert weights.tolist() == [[0.5, 0.5]]


def test_em_finds_the_weights_that_made_the_words() -> None:
    parts = np.array([[0.9, 0.1, 0.0], [0.0, 0.3, 0.7]])
    truth = np.array([0.35, 0.65])
    assert em_weights(1000 * truth @ parts, parts, np.array([0.5, 0.5]), rounds=500) == pytest.approx(truth)


def header(words: str, labels: str) -> tuple[WordSequence, np.ndarray]:
    """Words and classes by letter: a–d title words, w–z author words."""
    return WordSequence.from_words([1 + "abcdwxyz".index(word) for word in words]), np.array(
        [int(label) for label in labels]
    )


TAUGHT = [header("abcw", "0001"), header("bdax", "0001"), header("cay", "001"), header("dacb", "0000")]


@pytest.mark.parametrize("merging", ["one", "neighbour", "v", "search"])
@pytest.mark.parametrize("emissions", ["L", "L+D", "L*D"])
def test_the_tagger_separates_titles_from_authors(merging: str, emissions: str) -> None:
    texts, labels = zip(*TAUGHT, strict=True)
    distant = np.zeros((2, 9))
    distant[1, 5:] = 5.0  # w to z are names; z occurs here only
    tagger = TaggerHMM(2, 9, merging=merging, emissions=emissions)  # type: ignore[arg-type]
    tagger.fit(texts, labels, distant)
    unseen = header("bcaw" if emissions == "L" else "bcaz", "0001")
    assert tagger.predict([unseen[0]])[0].tolist() == unseen[1].tolist()


def test_a_class_with_a_sole_word_emits_nothing_else() -> None:
    texts, labels = zip(*TAUGHT, strict=True)
    tagger = TaggerHMM(2, 9, merging="one", sole_words={1: 8}).fit(texts, labels)
    assert tagger.class_emissions_[1].tolist() == [0.0] * 8 + [1.0]


def test_fitting_twice_gives_the_same_model_and_leaves_the_input_unchanged() -> None:
    texts, labels = zip(*TAUGHT, strict=True)
    before = [text.words.copy() for text in texts]
    one, other = (TaggerHMM(2, 9, merging="search").fit(texts, labels) for _ in range(2))
    assert np.array_equal(one.model_.steps, other.model_.steps)
    assert all(np.array_equal(text.words, words) for text, words in zip(texts, before, strict=True))


def test_an_unfitted_tagger_raises_not_fitted() -> None:
    with pytest.raises(NotFitted):
        TaggerHMM(2, 9).predict([WordSequence.from_words([1])])


def test_nothing_to_learn_from_is_an_error() -> None:
    with pytest.raises(TeachingError):
        TaggerHMM(2, 9).fit([], [])

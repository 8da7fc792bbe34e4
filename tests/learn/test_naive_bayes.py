from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from tests.learn.estimator_checks import EstimatorCase, check_estimator
from wayhound.errors import NotFitted
from wayhound.learn.arrays import Floats, log_sum_exp, softmax
from wayhound.learn.naive_bayes import ExpectationMaximisation, NaiveBayes

# Three words, two classes: the first document is of class 0, the others of class 1.
COUNTS = csr_array(np.array([[2.0, 1, 0], [0, 1, 1], [0, 0, 3]]))
LABELS = np.array([[1.0, 0], [0, 1], [0, 1]])


def test_word_estimates_follow_equation_10_worked_by_hand() -> None:
    model = NaiveBayes().fit(COUNTS, LABELS)
    assert np.exp(model.log_words_) == pytest.approx(np.array([[3 / 6, 2 / 6, 1 / 6], [1 / 8, 2 / 8, 5 / 8]]))


def test_priors_follow_equation_11_worked_by_hand() -> None:
    model = NaiveBayes().fit(COUNTS, LABELS)
    assert np.exp(model.log_priors_) == pytest.approx([2 / 5, 3 / 5])


def test_classification_follows_equation_12_worked_by_hand() -> None:
    model = NaiveBayes().fit(COUNTS, LABELS)
    first = 2 / 5 * 3 / 6 * 1 / 6
    second = 3 / 5 * 1 / 8 * 5 / 8
    posterior = model.predict(csr_array(np.array([[1.0, 0, 1]])))
    assert posterior[0] == pytest.approx([first / (first + second), second / (first + second)])


def test_half_a_label_counts_half() -> None:
    halves = np.array([[0.5, 0.5], [0, 1], [0, 1]])
    model = NaiveBayes().fit(COUNTS, halves)
    assert np.exp(model.log_words_[0]) == pytest.approx([2 / 4.5, 1.5 / 4.5, 1 / 4.5])
    assert np.exp(model.log_priors_) == pytest.approx([1.5 / 5, 3.5 / 5])


def test_a_document_without_a_label_is_ignored() -> None:
    extra = csr_array(np.array([[2.0, 1, 0], [0, 1, 1], [0, 0, 3], [9, 9, 9]]))
    model = NaiveBayes().fit(extra, np.vstack([LABELS, np.zeros(2)]))
    assert np.array_equal(model.log_words_, NaiveBayes().fit(COUNTS, LABELS).log_words_)


def test_an_empty_document_gets_the_priors() -> None:
    model = NaiveBayes().fit(COUNTS, LABELS)
    assert model.predict(csr_array((1, 3)))[0] == pytest.approx([2 / 5, 3 / 5])


def test_a_class_without_documents_keeps_uniform_words() -> None:
    model = NaiveBayes().fit(COUNTS, np.hstack([LABELS, np.zeros((3, 1))]))
    assert np.exp(model.log_words_[2]) == pytest.approx([1 / 3] * 3)


@st.composite
def collections(draw: st.DrawFn) -> tuple[csr_array, Floats]:
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    n, words, classes = draw(st.integers(2, 12)), draw(st.integers(2, 9)), draw(st.integers(2, 4))
    counts = rng.poisson(draw(st.floats(0.1, 3.0)), (n, words)).astype(float)
    labels = np.zeros((n, classes))
    labelled = rng.random(n) < draw(st.floats(0.0, 1.0))
    labels[labelled, rng.integers(0, classes, labelled.sum())] = 1
    return csr_array(counts), labels


@given(collections(), st.sampled_from([0.01, 0.5, 1.0, 2.0]))
def test_em_never_lets_the_log_posterior_fall(collection: tuple[csr_array, Floats], smoothing: float) -> None:
    counts, labels = collection
    model = ExpectationMaximisation(smoothing, max_iterations=15, tolerance=0.0).fit(counts, labels)
    # The first step is not one of EM: it goes from the labelled documents alone to all of them.
    gains = np.diff(model.trace_[1:])
    assert (gains >= -1e-9 * np.abs(model.trace_[-1])).all()


@given(collections())
def test_em_gives_every_document_one_label_in_all(collection: tuple[csr_array, Floats]) -> None:
    model = ExpectationMaximisation().fit(*collection)
    assert model.memberships_.sum(axis=1) == pytest.approx(1)


def test_em_labels_unlabelled_documents_by_words_they_share() -> None:
    counts = csr_array(np.array([[3.0, 0, 0, 0], [0, 0, 0, 3], [2, 2, 0, 0], [0, 0, 2, 2], [0, 3, 0, 0]]))
    labels = np.zeros((5, 2))
    labels[0, 0] = labels[1, 1] = 1
    model = ExpectationMaximisation(smoothing=0.1).fit(counts, labels)
    assert list(model.memberships_.argmax(axis=1)) == [0, 1, 0, 1, 0]
    assert model.converged_


def test_em_before_fit_raises_not_fitted() -> None:
    with pytest.raises(NotFitted, match="not been fitted"):
        ExpectationMaximisation().predict(COUNTS)


@given(st.lists(st.floats(-700, 700), min_size=1, max_size=5))
def test_sums_of_logarithms_agree_with_numpy(row: list[float]) -> None:
    logs = np.array([row])
    assert log_sum_exp(logs)[0] == pytest.approx(np.logaddexp.reduce(row))
    assert softmax(logs)[0].sum() == pytest.approx(1)


@pytest.mark.parametrize("make", [NaiveBayes, ExpectationMaximisation])
def test_the_estimators_keep_their_contract(make: type[NaiveBayes | ExpectationMaximisation]) -> None:
    case = EstimatorCase(
        make,
        {"counts": COUNTS, "labels": LABELS},
        lambda model, inputs, rng: model.fit(inputs["counts"], inputs["labels"]),
        lambda model, inputs: model.predict(inputs["counts"]),
    )
    check_estimator(case)


@given(st.integers(0, 2**32 - 1))
def test_classes_are_those_of_scikit_learn(seed: int) -> None:
    from sklearn.naive_bayes import MultinomialNB

    generator = np.random.default_rng(seed)
    counts = csr_array(generator.poisson(0.8, (30, 12)).astype(float))
    labels = generator.integers(0, 3, 30)
    labels[:3] = [0, 1, 2]
    ours = NaiveBayes().fit(counts, np.eye(3)[labels])
    # Eq. 11 smooths the priors too; scikit-learn does not
    theirs = MultinomialNB(alpha=1.0, class_prior=np.exp(ours.log_priors_)).fit(counts, labels)
    assert ours.log_words_ == pytest.approx(theirs.feature_log_prob_)
    assert ours.predict(counts) == pytest.approx(theirs.predict_proba(counts))

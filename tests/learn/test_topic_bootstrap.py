from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.learn.estimator_checks import EstimatorCase, check_estimator
from wayhound.learn.arrays import Floats, Ints, softmax
from wayhound.learn.shrinkage import Shrinkage
from wayhound.learn.topic_bootstrap import HierarchicalNaiveBayes
from wayhound.learn.topic_links import LinkSpread

# Root 0; node 1 with leaves 2 and 3; leaf 4 beside it.
PATHS = np.array([[2, 1, 0], [3, 1, 0], [4, 0, -1]])


def collection(seed: int = 0, n: int = 400) -> tuple[csr_array, Floats, Ints]:
    """Documents of three topics over 30 words; one in three has a label, and one label in six is wrong."""
    rng = np.random.default_rng(seed)
    themes = rng.dirichlet(np.full(30, 0.2), 3)
    truth = rng.integers(0, 3, n)
    counts = np.stack([rng.multinomial(8, themes[topic]) for topic in truth]).astype(float)
    labels = np.where(rng.random(n) < 1 / 6, rng.integers(0, 3, n), truth)
    start = np.eye(3)[labels] * (rng.random(n) < 1 / 3)[:, None]
    return csr_array(counts), start, truth


def fitted(**settings: float) -> HierarchicalNaiveBayes:
    counts, start, _ = collection()
    return HierarchicalNaiveBayes(PATHS, **settings).fit(counts, start, np.random.default_rng(0))  # type: ignore[arg-type]


def test_unlabelled_documents_find_their_topic() -> None:
    _, start, truth = collection()
    model = fitted()
    unlabelled = start.sum(axis=1) == 0
    assert (model.memberships_.argmax(axis=1) == truth)[unlabelled].mean() > 0.95


def test_em_mends_labels_that_were_wrong() -> None:
    _, start, truth = collection()
    wrong = (start.sum(axis=1) > 0) & (start.argmax(axis=1) != truth)
    assert wrong.sum() > 5
    assert (fitted().memberships_.argmax(axis=1) == truth)[wrong].mean() > 0.8


def test_without_rounds_it_is_naive_bayes_with_shrunk_estimates() -> None:
    """Eq. 12 over Eq. 13, computed by hand from the same parts."""
    counts, start, _ = collection()
    model = HierarchicalNaiveBayes(PATHS, max_iterations=0, n_folds=2)
    model.fit(counts, start, np.random.default_rng(5))
    turns = np.random.default_rng(5).permutation(counts.shape[0]) % 2
    dense = counts.toarray()
    folds = np.stack([start[turns == turn].T @ dense[turns == turn] for turn in (0, 1)])
    words = Shrinkage(PATHS).fit(folds).blend(folds.sum(axis=0))
    priors = (start.sum(axis=0) + 1) / (start.sum() + 3)
    expected = softmax(dense @ np.log(words).T + np.log(priors))
    assert model.memberships_ == pytest.approx(expected)
    assert model.predict(counts) == pytest.approx(expected)


def test_every_round_is_in_the_trace() -> None:
    model = fitted(max_iterations=3, tolerance=0.0)
    assert len(model.trace_) == 4
    assert model.trace_[-1].moved < model.trace_[0].moved
    assert all(np.isfinite(round_.log_likelihood) for round_ in model.trace_)


def test_it_stops_when_no_document_changes_class() -> None:
    model = fitted(max_iterations=50, tolerance=0.01)
    assert model.converged_
    assert len(model.trace_) < 50


def test_a_fixed_document_keeps_its_label_in_every_round() -> None:
    counts, start, truth = collection()
    doubted = np.flatnonzero(start.sum(axis=1) == 0)[:40]
    start[doubted] = np.eye(3)[(truth[doubted] + 1) % 3]
    fixed = np.isin(np.arange(len(start)), doubted)
    free = HierarchicalNaiveBayes(PATHS, hold=0.0).fit(counts, start, np.random.default_rng(0))
    bound = HierarchicalNaiveBayes(PATHS, hold=0.0).fit(counts, start, np.random.default_rng(0), fixed)
    kept = (np.arange(len(start))[doubted], (truth[doubted] + 1) % 3)
    assert bound.memberships_[kept].mean() > free.memberships_[kept].mean()


def test_tempering_lowers_confidence_but_keeps_the_answer() -> None:
    hard, soft = fitted(max_iterations=0), fitted(max_iterations=0, temper=0.3)
    assert soft.memberships_.max(axis=1).mean() < hard.memberships_.max(axis=1).mean()


def test_links_decide_for_a_document_without_words() -> None:
    counts, start, _ = collection()
    n = counts.shape[0]
    extended = csr_array(np.vstack([counts.toarray(), np.zeros((1, counts.shape[1]))]))
    links = np.zeros((n + 1, n + 1))
    friends = np.flatnonzero(start[:, 2])[:6]
    links[n, friends] = links[friends, n] = 1
    model = HierarchicalNaiveBayes(PATHS).fit(
        extended,
        np.vstack([start, np.zeros(3)]),
        np.random.default_rng(0),
        spread=LinkSpread(csr_array(links)),
    )
    assert model.memberships_[n].argmax() == 2
    assert model.memberships_[n, 2] > 0.9


def test_no_labels_at_all_leave_the_classes_open() -> None:
    counts, start, _ = collection()
    model = HierarchicalNaiveBayes(PATHS).fit(counts, np.zeros_like(start), np.random.default_rng(0))
    assert model.memberships_.max() < 0.5


def test_empty_documents_get_the_priors() -> None:
    counts, _, _ = collection()
    model = fitted()
    assert model.predict(csr_array((1, counts.shape[1])))[0] == pytest.approx(np.exp(model.log_priors_))


def test_the_estimator_keeps_its_contract() -> None:
    counts, start, _ = collection(n=60)
    case = EstimatorCase(
        lambda: HierarchicalNaiveBayes(PATHS.copy()),
        {"counts": counts, "start": start},
        lambda model, inputs, rng: model.fit(inputs["counts"], inputs["start"], rng),
        lambda model, inputs: model.predict(inputs["counts"]),
    )
    check_estimator(case)

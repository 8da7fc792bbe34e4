from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from tests.learn.estimator_checks import EstimatorCase, check_estimator
from wayhound.learn.arrays import Floats, softmax
from wayhound.learn.naive_bayes import Temperature, calibration_error, reliability
from wayhound.learn.topic_bootstrap import OutsideLeaves

PATHS = np.array([[2, 1, 0], [3, 1, 0], [4, 0, -1]])
INTERIOR = np.array([[0, -1], [1, 0]])


def too_sure(factor: float, n: int = 4000) -> tuple[Floats, Floats]:
    """Scores that are `factor` times too large for the labels drawn from them."""
    rng = np.random.default_rng(0)
    joint = rng.normal(0, 1.5, (n, 4))
    chosen = (rng.random((n, 1)) > softmax(joint).cumsum(axis=1)).sum(axis=1)
    return factor * joint, np.eye(4)[chosen]


@pytest.mark.parametrize("factor", [1.0, 3.0, 10.0])
def test_the_scale_undoes_overconfidence(factor: float) -> None:
    joint, labels = too_sure(factor)
    assert Temperature().fit(joint, labels).scale_ == pytest.approx(1 / factor, rel=0.1)


def test_calibration_matches_confidence_with_accuracy_and_keeps_the_order() -> None:
    joint, labels = too_sure(4.0)
    right = (joint.argmax(axis=1) == labels.argmax(axis=1)).astype(float)
    calibrated = Temperature().fit(joint, labels).predict(joint)
    assert calibration_error(calibrated.max(axis=1), right) < 0.03
    assert calibration_error(softmax(joint).max(axis=1), right) > 0.15
    assert np.array_equal(calibrated.argmax(axis=1), joint.argmax(axis=1))


def test_without_labels_the_scores_stay_as_they_are() -> None:
    assert Temperature().fit(np.empty((0, 3)), np.empty((0, 3))).scale_ == 1.0


def test_reliability_is_counted_by_bins_of_confidence() -> None:
    rows = reliability(np.array([0.05, 0.96, 1.0, 0.94]), np.array([0.0, 1.0, 1.0, 0.0]))
    assert rows == [(0.05, 0.0, 1), (pytest.approx(0.9667, abs=1e-4), pytest.approx(2 / 3), 3)]


def test_an_extra_leaf_mixes_its_ancestors_with_the_uniform_worked_by_hand() -> None:
    counts = csr_array(np.array([[2.0, 0, 0], [0, 1, 1], [0, 0, 4], [4, 4, 0]]))
    start = np.vstack([np.eye(3), np.zeros(3)])
    model = OutsideLeaves(PATHS, INTERIOR, share=0.2, uniform=0.1)
    model.fit(counts, start, np.random.default_rng(0))
    everywhere = (np.array([6.0, 5, 5]) + 1 / 3) / 17
    node = np.array([2.0, 1, 1]) / 4  # the union of the first two leaves
    extra = np.exp(model.log_words_[3:])
    assert extra[0] == pytest.approx(0.9 * everywhere + 0.1 / 3)
    assert extra[1] == pytest.approx(0.9 * (node + everywhere) / 2 + 0.1 / 3)
    assert np.exp(model.log_priors_).sum() == pytest.approx(1)
    assert np.exp(model.log_priors_[3:]) == pytest.approx([0.1, 0.1])


def test_a_document_of_words_without_a_label_lies_outside() -> None:
    rng = np.random.default_rng(1)
    themes = np.kron(np.eye(4), np.ones(6)) / 6
    of = rng.integers(0, 4, 200)
    counts = csr_array(np.stack([rng.multinomial(8, themes[topic]) for topic in of]).astype(float))
    start = np.eye(4)[of][:, :3] * (np.arange(200) % 2)[:, None]
    outside = OutsideLeaves(PATHS, INTERIOR).fit(counts, start, rng).predict(counts).sum(axis=1)
    assert outside[of == 3].min() > outside[of < 3].max()


def test_the_estimators_keep_their_contract() -> None:
    joint, labels = too_sure(2.0, n=50)
    check_estimator(
        EstimatorCase(
            Temperature,
            {"joint": joint, "labels": labels},
            lambda model, inputs, rng: model.fit(inputs["joint"], inputs["labels"]),
            lambda model, inputs: model.predict(inputs["joint"]),
        )
    )
    counts = csr_array(np.random.default_rng(0).poisson(1.0, (30, 8)).astype(float))
    check_estimator(
        EstimatorCase(
            lambda: OutsideLeaves(PATHS.copy(), INTERIOR.copy()),
            {"counts": counts, "start": np.eye(3)[np.arange(30) % 3]},
            lambda model, inputs, rng: model.fit(inputs["counts"], inputs["start"], rng),
            lambda model, inputs: model.predict(inputs["counts"]),
        )
    )

"""Checks of the contract that every estimator keeps, to be run over each of them."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from wayhound.errors import NotFitted

E = TypeVar("E")
Inputs = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class EstimatorCase(Generic[E]):
    """An estimator, its training inputs, and a prediction that returns an array.

    `fit` gets the estimator, the inputs and a generator for its random draws.
    """

    make: Callable[[], E]
    inputs: Inputs
    fit: Callable[[E, Inputs, np.random.Generator], E]
    predict: Callable[[E, Inputs], NDArray[Any]]

    def fitted(self, seed: int = 0) -> E:
        return self.fit(self.make(), self.inputs, np.random.default_rng(seed))


def check_estimator(case: EstimatorCase[E]) -> None:
    """Raise an `AssertionError` that names the part of the contract which the estimator breaks."""
    for check in (
        check_refuses_before_fit,
        check_fit_returns_self,
        check_same_seed_same_answer,
        check_settings_stay,
        check_inputs_stay,
        check_learned_state_is_all,
    ):
        check(case)


def check_refuses_before_fit(case: EstimatorCase[E]) -> None:
    try:
        case.predict(case.make(), case.inputs)
    except NotFitted:
        return
    raise AssertionError("An estimator that is not fitted must raise NotFitted.")


def check_fit_returns_self(case: EstimatorCase[E]) -> None:
    estimator = case.make()
    fitted = case.fit(estimator, case.inputs, np.random.default_rng(0))
    assert fitted is estimator, "fit must return the estimator itself."


def check_same_seed_same_answer(case: EstimatorCase[E]) -> None:
    first, second = (
        case.predict(case.fitted(), case.inputs),
        case.predict(case.fitted(), case.inputs),
    )
    assert np.array_equal(first, second), "The same seed must give the same answer."
    again = case.fitted()
    case.fit(again, case.inputs, np.random.default_rng(0))
    assert np.array_equal(first, case.predict(again, case.inputs)), "A second fit must forget the first."


def check_settings_stay(case: EstimatorCase[E]) -> None:
    fresh, fitted = settings(case.make()), settings(case.fitted())
    assert _same(fresh, fitted), "fit must leave the settings of __init__ alone."


def check_inputs_stay(case: EstimatorCase[E]) -> None:
    before = copy.deepcopy(dict(case.inputs))
    case.predict(case.fitted(), case.inputs)
    assert _same(before, dict(case.inputs)), "Inputs must stay as they were."


def check_learned_state_is_all(case: EstimatorCase[E]) -> None:
    """A new estimator with the learned attributes must answer as the old one: so it can be saved."""
    fitted, restored = case.fitted(), case.make()
    for name, value in learned(fitted).items():
        setattr(restored, name, copy.deepcopy(value))
    expected, actual = case.predict(fitted, case.inputs), case.predict(restored, case.inputs)
    assert np.array_equal(expected, actual), "Answers must follow from settings and learned attributes alone."


def settings(estimator: object) -> dict[str, Any]:
    return {name: value for name, value in vars(estimator).items() if not name.endswith("_")}


def learned(estimator: object) -> dict[str, Any]:
    return {name: value for name, value in vars(estimator).items() if name.endswith("_")}


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_same(left[key], right[key]) for key in left)
    if isinstance(left, csr_array):
        return left.shape == right.shape and bool(abs(left - right).max() == 0)
    if isinstance(left, np.ndarray):
        return np.array_equal(left, right)
    return bool(left == right)

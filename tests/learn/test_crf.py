"""The chain CRF against enumeration of every path, finite differences, and python-crfsuite."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import numpy as np
import pycrfsuite
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, random_array
from scipy.special import logsumexp

from tests.learn.estimator_checks import EstimatorCase, check_estimator
from wayhound.errors import NotFitted, TeachingError
from wayhound.learn.arrays import Floats, Ints
from wayhound.learn.chain import (
    Chains,
    Rules,
    TransitionScores,
    best_step,
    expected_transitions,
    forward,
    forward_step,
    log_product,
    pair_marginals,
    shift_to_zero,
)
from wayhound.learn.crf import ChainCRF, Likelihood

N_STATES, N_FEATURES, N_EDGE_FEATURES = 3, 5, 2


def tiny_chains(seed: int, lengths: tuple[int, ...] = (3, 1, 3, 4), *, edges: bool = False) -> Chains:
    rng = np.random.default_rng(seed)
    positions = sum(lengths)
    features = csr_array(random_array((positions, N_FEATURES), density=0.5, rng=rng))
    seen = csr_array(random_array((positions, N_EDGE_FEATURES), density=0.6, rng=rng))
    return Chains(features, np.array(lengths), edges=seen if edges else None)


def alternating_rules() -> Rules:
    """State 0 is a page, 1 and 2 are links: pages and links alternate; chains start and end on a page."""
    allowed = np.array([[False, True, True], [True, False, False], [True, False, False]])
    return Rules(allowed, np.array([True, False, False]), np.array([True, False, False]))


def with_random_weights(model: ChainCRF, seed: int, *, edges: bool = False) -> ChainCRF:
    rng = np.random.default_rng(seed)
    model.state_weights_ = rng.normal(size=(N_FEATURES, N_STATES))
    model.transition_weights_ = np.where(model.rules.allowed, rng.normal(size=(N_STATES, N_STATES)), 0.0)
    shape = (N_EDGE_FEATURES if edges else 0, N_STATES, N_STATES)
    model.edge_weights_ = rng.normal(size=shape) * model.rules.allowed
    return model


def all_paths(model: ChainCRF, chains: Chains, number: int) -> dict[tuple[int, ...], float]:
    """Return W · F(x, y) of every labelling that the rules allow, summed term by term."""
    first = int(chains.lengths[:number].sum())
    length = int(chains.lengths[number])
    seen = chains.features.toarray()
    edges = None if chains.edges is None else chains.edges.toarray()
    weights = {}
    for path in itertools.product(range(N_STATES), repeat=length):
        if not (model.rules.starts[path[0]] and model.rules.ends[path[-1]]):
            continue
        if not all(model.rules.allowed[a, b] for a, b in itertools.pairwise(path)):
            continue
        total = sum(float(seen[first + i] @ model.state_weights_[:, y]) for i, y in enumerate(path))
        for i, (a, b) in enumerate(itertools.pairwise(path), start=1):
            total += model.transition_weights_[a, b]
            if edges is not None:
                total += float(edges[first + i] @ model.edge_weights_[:, a, b])
        weights[path] = total
    return weights


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("rules", [Rules.free(N_STATES), alternating_rules()])
@pytest.mark.parametrize("seed", [1, 2])
def test_inference_agrees_with_enumerating_every_path(seed: int, rules: Rules, edges: bool) -> None:
    lengths = (3, 1, 3, 5)
    chains = tiny_chains(seed, lengths, edges=edges)
    model = with_random_weights(ChainCRF(rules), seed, edges=edges)
    marginals, decoded = model.marginals(chains), model.decode(chains)
    best = []
    for number in range(len(chains)):
        paths = all_paths(model, chains, number)
        total = logsumexp(list(paths.values()))
        first = sum(lengths[:number])
        for i in range(lengths[number]):
            for state in range(N_STATES):
                true = sum(np.exp(w - total) for path, w in paths.items() if path[i] == state)
                assert marginals[first + i, state] == pytest.approx(true, abs=1e-10)
        winner = max(paths, key=lambda path: paths[path])
        assert tuple(decoded[first : first + lengths[number]]) == winner
        best.append(paths[winner] - total)
    assert model.log_likelihoods(chains, decoded) == pytest.approx(best, abs=1e-10)


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("rules", [Rules.free(N_STATES), alternating_rules()])
def test_the_gradient_agrees_with_finite_differences(rules: Rules, edges: bool) -> None:
    chains = tiny_chains(3, (3, 1, 3, 5), edges=edges)
    labels = with_random_weights(ChainCRF(rules), 4, edges=edges).decode(chains)
    weights = np.array([1.0, 0.5, 2.0, 1.5])
    problem = Likelihood(chains, labels, weights, rules)
    problem.set_prior(2.0, 5.0)
    point = np.random.default_rng(5).normal(size=problem.size)
    _, gradient = problem.value_and_gradient(point)
    step = 1e-6
    for i in range(problem.size):
        nudge = np.zeros(problem.size)
        nudge[i] = step
        above, below = (problem.value_and_gradient(at)[0] for at in (point + nudge, point - nudge))
        assert gradient[i] == pytest.approx((above - below) / (2 * step), abs=1e-5)


@pytest.mark.parametrize("edges", [False, True])
def test_single_steps_along_a_path_give_the_whole_forward_pass(edges: bool) -> None:
    chains = tiny_chains(6, (4,), edges=edges)
    model = with_random_weights(ChainCRF(Rules.free(N_STATES)), 7, edges=edges)
    scores = model.scores(chains.features)
    alpha, delta = scores[0], scores[0]
    for i in range(1, 4):
        seen = None if chains.edges is None else chains.edges[[i]]
        transitions = model.transitions(seen)
        alpha = shift_to_zero(forward_step(alpha, transitions) + scores[[i]])[0]
        delta = shift_to_zero(best_step(delta, transitions) + scores[[i]])[0]
    assert np.exp(alpha - logsumexp(alpha)) == pytest.approx(model.marginals(chains)[-1], abs=1e-10)
    assert delta.argmax() == model.decode(chains)[-1]
    assert delta.max() == 0.0


def test_steps_to_many_links_are_the_steps_to_each() -> None:
    model = with_random_weights(ChainCRF(Rules.free(N_STATES)), 8)
    rng = np.random.default_rng(9)
    alpha, scores = rng.normal(size=N_STATES), rng.normal(size=(4, N_STATES))
    together = forward_step(alpha, model.transitions()) + scores
    for i in range(4):
        by_hand = logsumexp(alpha[:, None] + model.transitions(), axis=0) + scores[i]
        assert together[i] == pytest.approx(by_hand)


def test_training_reaches_the_objective_of_crfsuite() -> None:
    rng = np.random.default_rng(10)
    lengths = rng.integers(1, 6, size=20)
    features = csr_array((rng.random((lengths.sum(), N_FEATURES)) < 0.4).astype(float))
    labels = rng.integers(0, N_STATES, size=lengths.sum())
    chains = Chains(features, lengths)
    penalty = 0.5
    model = ChainCRF(Rules.free(N_STATES), prior_variance=1 / (2 * penalty), tolerance=1e-7).fit(
        chains, labels
    )
    assert model.objective_ == pytest.approx(crfsuite_objective(chains, labels, penalty), abs=1e-4)


class LossListener(pycrfsuite.Trainer):  # type: ignore[misc]
    """A trainer that keeps the last loss it reports."""

    loss = float("nan")

    def message(self, text: str) -> None:
        if text.startswith("Loss:"):
            self.loss = float(text.split(":")[1])


def crfsuite_objective(chains: Chains, labels: Ints, penalty: float) -> float:
    exact = {"epsilon": 1e-9, "delta": 1e-12, "max_iterations": 1000}
    dense = {"feature.possible_states": True, "feature.possible_transitions": True}
    trainer = LossListener(algorithm="lbfgs", params={"c1": 0.0, "c2": penalty, **exact, **dense})
    seen = [{f"f{k}": float(v) for k, v in enumerate(row) if v} for row in chains.features.toarray()]
    ends = np.cumsum(chains.lengths)
    for first, end in zip(ends - chains.lengths, ends, strict=True):
        trainer.append(pycrfsuite.ItemSequence(seen[first:end]), [str(y) for y in labels[first:end]])
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(str(Path(folder) / "model"))
    return float(trainer.loss)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-2000, 2000), min_size=12, max_size=12), st.booleans())
def test_scores_of_any_size_neither_overflow_nor_vanish(values: list[float], alternate: bool) -> None:
    chains = Chains(csr_array(np.eye(4)[:, :4]), np.array([3, 1]))
    model = ChainCRF(alternating_rules() if alternate else Rules.free(N_STATES))
    model.state_weights_ = np.array(values).reshape(4, N_STATES)
    model.transition_weights_ = np.zeros((N_STATES, N_STATES))
    model.edge_weights_ = np.zeros((0, N_STATES, N_STATES))
    marginals = model.marginals(chains)
    assert np.isfinite(marginals).all()
    assert marginals.sum(axis=1) == pytest.approx(np.ones(4))


def test_entries_that_underflow_in_the_product_are_computed_in_logarithms() -> None:
    rows, matrix = np.array([[0.0, -1000.0]]), np.array([[-np.inf, 0.0], [0.0, -np.inf]])
    assert log_product(rows, matrix) == pytest.approx(np.array([[-1000.0, 0.0]]))


@pytest.mark.parametrize("gap", [500.0, 700.0, 740.0, 745.0])
def test_the_product_keeps_its_digits_where_numbers_nearly_vanish(gap: float) -> None:
    rows, matrix = np.array([[0.0, -gap]]), np.array([[-np.inf, 0.0], [0.5, -np.inf]])
    assert log_product(rows, matrix) == pytest.approx(np.array([[0.5 - gap, 0.0]]), rel=1e-12)


def test_expected_transitions_are_the_sum_of_the_pair_marginals() -> None:
    chains = tiny_chains(11, (4, 4))
    model = with_random_weights(ChainCRF(Rules.free(N_STATES)), 12)
    transitions = TransitionScores(model.transitions())
    alpha = forward(model.scores(chains.features).reshape(2, 4, N_STATES), transitions, model.log_starts)
    marginals = model.marginals(chains).reshape(2, 4, N_STATES)
    added = sum(pair_marginals(alpha, marginals, transitions, i).sum(axis=0) for i in (1, 2, 3))
    assert expected_transitions(alpha, marginals, transitions) == pytest.approx(added)


def test_expected_transitions_are_not_lost_where_exponentials_vanish() -> None:
    transitions = TransitionScores(np.array([[0.0, -2000.0], [-2000.0, 0.0]]))
    alpha = np.array([[[0.0, -800.0], [0.0, -800.0]], [[0.0, 0.0], [0.0, 0.0]]])
    marginals = np.array([[[0.0, 1.0], [0.0, 1.0]], [[0.5, 0.5], [0.5, 0.5]]])
    added = pair_marginals(alpha, marginals, transitions, 1).sum(axis=0)
    assert added == pytest.approx(np.array([[0.5, 0.0], [0.0, 1.5]]))
    assert expected_transitions(alpha, marginals, transitions) == pytest.approx(added)


def test_forbidden_states_have_no_probability() -> None:
    chains = tiny_chains(13, (5, 3))
    model = with_random_weights(ChainCRF(alternating_rules()), 14)
    marginals = model.marginals(chains)
    assert marginals[[0, 2, 4, 5, 7]][:, 1:].max() == 0.0
    assert marginals[[1, 3, 6]][:, 0].max() == 0.0


def test_a_trail_that_breaks_the_rules_is_refused() -> None:
    with pytest.raises(TeachingError, match="do not allow"):
        ChainCRF(alternating_rules()).fit(tiny_chains(1, (2,)), np.array([0, 0]))


def test_no_trails_raises_a_teaching_error() -> None:
    with pytest.raises(TeachingError, match="no trails"):
        ChainCRF(Rules.free(N_STATES)).fit(
            Chains(csr_array((0, 2)), np.array([], dtype=int)), np.array([], dtype=int)
        )


def test_decoding_before_fit_raises_not_fitted() -> None:
    with pytest.raises(NotFitted):
        ChainCRF(Rules.free(N_STATES)).decode(tiny_chains(1))


def test_a_heavier_chain_pulls_the_model_its_way() -> None:
    features = csr_array(np.ones((2, 1)))
    chains, labels = Chains(features, np.array([1, 1])), np.array([0, 1])
    model = ChainCRF(Rules.free(2)).fit(chains, labels, weights=np.array([3.0, 1.0]))
    assert model.marginals(chains)[0, 0] > 0.6


def test_rows_shown_many_times_count_as_if_written_out() -> None:
    chains, shown = tiny_chains(15, (3, 3)), np.array([0, 1, 2, 0, 1, 4])
    labels = np.array([0, 1, 2, 0, 1, 1])
    shared = ChainCRF(Rules.free(N_STATES)).fit(Chains(chains.features, chains.lengths, rows=shown), labels)
    plain = ChainCRF(Rules.free(N_STATES)).fit(Chains(chains.features[shown], chains.lengths), labels)
    assert shared.objective_ == pytest.approx(plain.objective_)
    assert shared.state_weights_ == pytest.approx(plain.state_weights_, abs=1e-4)


def test_the_estimator_keeps_its_contract() -> None:
    rules = Rules.free(N_STATES)
    chains, labels = tiny_chains(3, edges=True), np.array([0, 1, 2, 1, 0, 0, 2, 2, 1, 0, 1])

    def marginals_of(model: ChainCRF, inputs: object) -> Floats:
        return model.marginals(chains)

    check_estimator(
        EstimatorCase(
            lambda: ChainCRF(rules),
            {"features": chains.features, "labels": labels},
            lambda model, inputs, rng: model.fit(chains, inputs["labels"]),
            marginals_of,
        )
    )


def test_positions_that_share_a_row_decode_like_rows_of_their_own() -> None:
    model = with_random_weights(ChainCRF(Rules.free(N_STATES)), 5)
    features = tiny_chains(5, (3,)).features
    shown = np.array([0, 1, 0, 2, 1])
    shared = Chains(features, np.array([3, 2]), rows=shown)
    own = Chains(features[shown], np.array([3, 2]))
    assert model.marginals(shared) == pytest.approx(model.marginals(own))
    assert model.decode(shared).tolist() == model.decode(own).tolist()

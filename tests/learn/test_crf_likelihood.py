"""The training objective of a chain CRF against enumeration of every path, and against logarithms chain by chain."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.special import logsumexp

from wayhound.learn.arrays import Floats, Ints
from wayhound.learn.chain import Chains, Rules
from wayhound.learn.crf import Likelihood
from wayhound.learn.prefixes import Prefixes
from wayhound.paths.labellers import pair_rules

N_ROWS, N_FEATURES, N_EDGE_FEATURES = 4, 3, 2


def some_chains(rng: np.random.Generator, lengths: list[int], *, edges: bool) -> Chains:
    """Return chains of few rows and few edge features, so that chains share prefixes."""
    features = csr_array(rng.integers(0, 3, (N_ROWS, N_FEATURES)).astype(float))
    seen = csr_array((rng.random((sum(lengths), N_EDGE_FEATURES)) < 0.5).astype(float))
    return Chains(features, np.array(lengths), rng.integers(0, 2, sum(lengths)), seen if edges else None)


def allowed_labels(rng: np.random.Generator, chains: Chains, rules: Rules) -> Ints:
    return np.array(
        [
            y
            for length in chains.lengths
            for y in rng.permutation([*allowed_paths(rules, length)])[0]  # any of them
        ]
    )


def allowed_paths(rules: Rules, length: int) -> list[tuple[int, ...]]:
    return [
        path
        for path in itertools.product(range(rules.n_states), repeat=length)
        if rules.starts[path[0]]
        and rules.ends[path[-1]]
        and all(rules.allowed[a, b] for a, b in itertools.pairwise(path))
    ]


def a_problem(
    seed: int, lengths: list[int], rules: Rules, *, edges: bool, size: float = 1.0
) -> tuple[Likelihood, Floats]:
    """Return a problem, and random weights of about that size."""
    rng = np.random.default_rng(seed)
    chains = some_chains(rng, lengths, edges=edges)
    labels = allowed_labels(rng, chains, rules)
    problem = Likelihood(chains, labels, rng.uniform(0.1, 2.0, len(lengths)), rules)
    problem.set_prior(2.0, 0.5)
    return problem, size * rng.normal(size=problem.size)


def objective_by_enumeration(problem: Likelihood, flat: Floats) -> float:
    """Yield every labelling of every chain with its score, summed term by term."""
    state_weights, step_weights, edge_weights = problem.unpack(flat)
    chains, value = problem.chains, float(problem.precision @ flat**2) / 2
    seen = chains.features.toarray()[chains.row_of_position()]
    edges = np.zeros((len(seen), 0)) if chains.edges is None else chains.edges.toarray()
    ends = np.cumsum(chains.lengths)
    for first, end, weight in zip(ends - chains.lengths, ends, problem.weights, strict=True):

        def score(path: tuple[int, ...], first: int = first) -> float:
            own = sum(float(seen[first + i] @ state_weights[:, y]) for i, y in enumerate(path))
            steps = enumerate(itertools.pairwise(path), start=1)
            return own + sum(
                float(step_weights[a, b] + edges[first + i] @ edge_weights[:, a, b]) for i, (a, b) in steps
            )

        total = logsumexp([score(path) for path in allowed_paths(problem.rules, end - first)])
        value -= weight * (score(tuple(problem.labels[first:end])) - total)
    return value


def one_way_rules() -> Rules:
    """Return rules by which states only go forward; chains may end in the last two."""
    allowed = np.triu(np.ones((3, 3), dtype=bool))
    return Rules(allowed, np.array([True, False, False]), np.array([False, True, True]))


RULES = {"free": Rules.free(3), "pages and links in turn": pair_rules(2), "one way": one_way_rules()}
ABOUT = 1e-8


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("rules", RULES.values(), ids=RULES.keys())
@pytest.mark.parametrize("size", [0.1, 3.0, 60.0, 2000.0])
def test_the_objective_is_that_of_enumerating_every_path(size: float, rules: Rules, edges: bool) -> None:
    problem, flat = a_problem(1, [3, 2, 5, 3, 4, 4], rules, edges=edges, size=size)
    by_hand = objective_by_enumeration(problem, flat)
    value, _ = problem.value_and_gradient(flat)
    assert value == pytest.approx(by_hand, rel=ABOUT, abs=ABOUT)


@settings(max_examples=150, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    lengths=st.lists(st.integers(2, 5), min_size=1, max_size=6),
    rules=st.sampled_from(list(RULES.values())),
    edges=st.booleans(),
    size=st.sampled_from([0.01, 1.0, 20.0, 100.0, 500.0]),
)
def test_shared_prefixes_give_what_logarithms_give_chain_by_chain(
    seed: int, lengths: list[int], rules: Rules, edges: bool, size: float
) -> None:
    problem, flat = a_problem(seed, lengths, rules, edges=edges, size=size)
    total, counts = problem.expected_by_logs(flat)
    if (expected := problem.expected_by_prefixes(flat)) is not None:
        assert expected[0] == pytest.approx(total, rel=ABOUT, abs=ABOUT)
        assert expected[1] == pytest.approx(counts, rel=ABOUT, abs=ABOUT)
    else:
        assert size > 1.0  # weights as training meets them never need the long way


@pytest.mark.parametrize("edges", [False, True])
@pytest.mark.parametrize("size", [1.0, 30.0])
def test_chains_of_a_thousand_positions_neither_vanish_nor_overflow(size: float, edges: bool) -> None:
    rng = np.random.default_rng(2)
    chains = some_chains(rng, [1000, 667, 1000], edges=edges)
    labels = np.concatenate([np.arange(length) % 2 * 2 for length in chains.lengths])
    problem = Likelihood(chains, labels, None, pair_rules(2))
    flat = size * rng.normal(size=problem.size)
    expected = problem.expected_by_prefixes(flat)
    assert expected is not None
    total, counts = problem.expected_by_logs(flat)
    assert expected[0] == pytest.approx(total, rel=ABOUT)
    assert expected[1] == pytest.approx(counts, rel=1e-7, abs=1e-7)  # large logarithms lose digits themselves


def test_a_state_that_had_vanished_and_comes_back_is_not_lost() -> None:
    """It is e^-1000 of the other at first, and the only one allowed at the end."""
    rules = Rules(np.eye(2, dtype=bool), np.ones(2, dtype=bool), np.array([False, True]))
    chains = Chains(csr_array(np.array([[1.0], [0.0]])), np.array([3]), np.array([0, 1, 1]))
    problem = Likelihood(chains, np.array([1, 1, 1]), None, rules)
    flat = np.array([1000.0, 0.0, 0.0, 0.0])
    assert problem.expected_by_prefixes(flat) is None
    value, gradient = problem.value_and_gradient(flat)
    assert value == pytest.approx(0.0, abs=ABOUT)
    assert gradient == pytest.approx(np.zeros(4), abs=ABOUT)


def test_the_best_state_may_be_one_that_the_rules_forbid() -> None:
    """Links are e^1000 times likelier than pages, but a chain begins with a page."""
    rules = pair_rules(1)
    chains = Chains(csr_array(np.ones((1, 1))), np.array([3]), np.zeros(3, dtype=np.int64))
    problem = Likelihood(chains, np.array([0, 1, 0]), None, rules)
    expected = problem.expected_by_prefixes(np.array([-500.0, 500.0, 0.0, 0.0]))
    assert expected is not None
    assert expected[0] == pytest.approx(-500.0)
    assert expected[1] == pytest.approx(np.array([2.0, 1.0, 1.0, 1.0]))


@pytest.mark.parametrize("edges", [False, True])
def test_weights_of_any_size_give_a_gradient_that_is_a_number(edges: bool) -> None:
    for size in (1e3, 1e5, 1e8):
        problem, flat = a_problem(3, [4, 3, 4], pair_rules(2), edges=edges, size=size)
        value, gradient = problem.value_and_gradient(flat)
        assert np.isfinite(value)
        assert np.isfinite(gradient).all()


def prefixes_of(chains: Chains) -> Prefixes:
    return Prefixes.from_chains(chains, np.ones(len(chains)), Rules.free(2))


def test_a_shared_prefix_is_processed_once() -> None:
    features = csr_array(np.eye(4))
    shown = np.array([0, 1, 2, 0, 1, 3, 0, 1, 2, 3])
    prefixes = prefixes_of(Chains(features, np.array([3, 3, 4]), shown))
    assert [len(level.parents) for level in prefixes.levels] == [1, 1, 2, 1]
    assert prefixes.passing.tolist() == [3.0, 3.0, 2.0, 1.0, 1.0]
    assert prefixes.ending.tolist() == [0.0, 0.0, 1.0, 1.0, 1.0]


def test_chains_that_differ_in_an_edge_feature_share_no_prefix() -> None:
    features, shown = csr_array(np.eye(2)), np.array([0, 1, 0, 1, 0, 1])
    edges = csr_array(np.array([[1.0], [2.0], [0.0], [3.0], [0.0], [2.0]]))
    prefixes = prefixes_of(Chains(features, np.array([2, 2, 2]), shown, edges))
    assert [len(level.parents) for level in prefixes.levels] == [1, 2]
    assert sorted(prefixes.ending.tolist()) == [0.0, 1.0, 2.0]


@pytest.mark.parametrize("edges", [False, True])
def test_training_by_prefixes_and_by_logarithms_gives_the_same_model(edges: bool) -> None:
    problem, _ = a_problem(4, [4, 3, 5, 4, 5, 3, 2], pair_rules(2), edges=edges)

    def by_logs(flat: Floats) -> tuple[float, Floats]:
        total, counts = problem.expected_by_logs(flat)
        pull = problem.precision * flat
        return total - float(problem.observed @ flat) + float(
            pull @ flat
        ) / 2, counts - problem.observed + pull

    nothing = np.zeros(problem.size)
    by_either = [
        minimize(objective, nothing, jac=True, method="L-BFGS-B", options={"gtol": 1e-9, "ftol": 0.0}).x
        for objective in (problem.value_and_gradient, by_logs)
    ]
    assert problem.expected_by_prefixes(by_either[0]) is not None
    assert by_either[0] == pytest.approx(by_either[1], abs=1e-5)

"""Merging of states, by the examples of the paper and by counting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayhound.learn.arrays import Ints
from wayhound.learn.hmm_parameters import (
    TRANSITIONS,
    counted_transitions,
    self_loop_transitions,
    shrunk_transitions,
)
from wayhound.learn.hmm_structure import (
    Structure,
    _MergeSearch,
    costs_by_size,
    maximally_specific,
    merge_neighbours,
    merge_path,
    merge_to,
    merge_v,
    one_per_class,
)

TITLE, AUTHOR, NOTE, ABSTRACT = range(4)
FIGURE_8 = [
    np.array([TITLE, TITLE, TITLE, AUTHOR, AUTHOR, ABSTRACT]),
    np.array([TITLE, AUTHOR, AUTHOR, NOTE]),
    np.array([NOTE, TITLE, TITLE, AUTHOR]),
    np.array([TITLE, TITLE, AUTHOR, NOTE, NOTE, ABSTRACT]),
]

sequences = st.lists(
    st.lists(st.integers(0, 3), min_size=1, max_size=8).map(np.array),
    min_size=1,
    max_size=6,
)


def log_likelihood(structure: Structure) -> float:
    """Return log P of the counted paths under Eq. 5, by its definition."""
    counts = np.vstack([structure.all_steps().toarray(), structure.starts])
    ends = np.append(structure.ends, 0.0)
    rows = np.column_stack([counts, ends])
    shares = rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-300)
    return float((rows[rows > 0] * np.log(shares[rows > 0])).sum())


def test_the_maximally_specific_model_has_a_state_for_every_word() -> None:
    structure = maximally_specific(FIGURE_8)
    assert structure.n_states == 20
    assert structure.starts.sum() == structure.ends.sum() == 4
    assert structure.all_steps().sum() == 16
    assert structure.classes.tolist() == np.concatenate(FIGURE_8).tolist()


def test_three_adjacent_title_words_become_one_state_that_stays_two_times_in_three() -> None:
    """The worked example of section 4.2.1."""
    merged = merge_neighbours(maximally_specific(FIGURE_8[:1]))
    assert merged.classes.tolist() == [TITLE, AUTHOR, ABSTRACT]
    assert counted_transitions(merged).steps[0, 0, 0] == pytest.approx(2 / 3)


def test_neighbour_merging_leaves_one_state_for_each_run_of_a_class() -> None:
    merged = merge_neighbours(maximally_specific(FIGURE_8))
    assert merged.n_states == 3 + 3 + 3 + 4
    assert merged.all_steps().sum() == 16


def test_v_merging_leaves_one_way_from_the_start_to_each_class() -> None:
    """The title states of figure 8 that follow the initial state become one."""
    merged = merge_v(merge_neighbours(maximally_specific(FIGURE_8)))
    first = merged.classes[merged.starts > 0].tolist()
    assert sorted(first) == [TITLE, NOTE]


def test_v_merging_stops_when_few_enough_states_are_left() -> None:
    neighbours = merge_neighbours(maximally_specific(FIGURE_8))
    assert merge_v(neighbours, max_states=13).n_states == 13
    assert merge_v(neighbours).n_states < 13


@given(sequences)
@settings(deadline=None)
def test_after_v_merging_no_two_states_of_a_class_share_a_neighbour(labels: list[Ints]) -> None:
    merged = merge_v(merge_neighbours(maximally_specific(labels)))
    steps = merged.all_steps().toarray() > 0
    np.fill_diagonal(steps, False)
    fans = [*steps, *steps.T, merged.starts > 0, merged.ends > 0]
    for fan in fans:
        classes = merged.classes[np.flatnonzero(fan)].tolist()
        assert len(classes) == len(set(classes))


@given(sequences, st.integers(1, 2))
@settings(deadline=None)
def test_merging_loses_no_counts_and_mixes_no_classes(labels: list[Ints], n_gaps: int) -> None:
    gaps = [np.arange(len(sequence)) % n_gaps for sequence in labels]
    specific = maximally_specific(labels, gaps, n_gaps)
    for merged in (merge_neighbours(specific), merge_v(specific), one_per_class(specific)):
        assert [kind.sum() for kind in merged.steps] == [kind.sum() for kind in specific.steps]
        assert merged.starts.sum() == merged.ends.sum() == len(labels)
        assert set(merged.classes.tolist()) == set(np.concatenate(labels).tolist())


@given(sequences)
@settings(deadline=None)
def test_the_cost_of_a_merge_is_the_likelihood_that_it_loses(labels: list[Ints]) -> None:
    structure = merge_neighbours(maximally_specific(labels))
    before, search = log_likelihood(structure), _MergeSearch(structure)
    for _, one, other in search._queue:
        groups = np.arange(structure.n_states)
        groups[other] = one
        after = log_likelihood(structure.merged(np.unique(groups, return_inverse=True)[1]))
        assert search.loss(one, other) == pytest.approx(before - after, abs=1e-9)


def test_the_path_of_merges_goes_down_one_state_at_a_time_to_one_a_class() -> None:
    start = merge_neighbours(maximally_specific(FIGURE_8))
    sizes = [structure.n_states for structure in merge_path(start)]
    assert sizes == list(range(13, 3, -1))
    assert merge_to(start, 7).n_states == 7
    assert merge_to(start, 0).n_states == 4


def test_costs_are_computed_for_both_ends_of_the_path() -> None:
    start = merge_neighbours(maximally_specific(FIGURE_8))
    costs = costs_by_size(start, lambda structure: float(structure.n_states), stride=4)
    assert costs == {4: 4.0, 8: 8.0, 12: 12.0, 13: 13.0}


def test_the_first_merge_is_the_one_that_costs_least() -> None:
    start = merge_neighbours(maximally_specific(FIGURE_8))
    best = max(log_likelihood(merge) for merge in _all_single_merges(start))
    assert log_likelihood(merge_to(start, 12)) == pytest.approx(best)


def _all_single_merges(structure: Structure) -> list[Structure]:
    merges = []
    for _, one, other in _MergeSearch(structure)._queue:
        groups = np.arange(structure.n_states)
        groups[other] = one
        merges.append(structure.merged(np.unique(groups, return_inverse=True)[1]))
    return merges


@pytest.mark.parametrize("name", sorted(TRANSITIONS))
@pytest.mark.parametrize("n_gaps", [1, 2])
def test_every_estimate_of_transitions_gives_distributions(name: str, n_gaps: int) -> None:
    gaps = [np.arange(len(sequence)) % n_gaps for sequence in FIGURE_8]
    structure = one_per_class(maximally_specific(FIGURE_8, gaps, n_gaps))
    transitions = TRANSITIONS[name](structure)
    rows = transitions.steps.sum(axis=2)
    assert transitions.starts.sum() == pytest.approx(1.0)
    left = rows > 0
    assert (rows + transitions.ends)[left] == pytest.approx(np.ones(int(left.sum())))
    if name in ("full", "smooth", "shrunk"):
        assert (transitions.steps > 0).all()


def test_the_self_model_keeps_only_how_long_a_class_lasts() -> None:
    transitions = self_loop_transitions(one_per_class(maximally_specific(FIGURE_8)))
    title = transitions.steps[0, TITLE]
    assert title[TITLE] == pytest.approx(4 / 8)
    assert title[AUTHOR] == title[NOTE] == title[ABSTRACT] == transitions.ends[TITLE] == pytest.approx(1 / 8)


def test_shrinking_makes_unseen_transitions_possible_and_stays_near_the_counts() -> None:
    structure = one_per_class(maximally_specific(FIGURE_8))
    plain, drawn = counted_transitions(structure), shrunk_transitions(structure, strength=0.3)
    assert plain.steps[0, AUTHOR, TITLE] == 0.0 < drawn.steps[0, AUTHOR, TITLE]
    assert drawn.steps[0, TITLE] == pytest.approx(plain.steps[0, TITLE], abs=0.03)

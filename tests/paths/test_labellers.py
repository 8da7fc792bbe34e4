"""Beliefs carried along a path, step by step, against inference over the whole chain."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from wayhound.learn.arrays import Floats
from wayhound.learn.chain import Chains, Rules
from wayhound.learn.crf import ChainCRF
from wayhound.paths.labellers import (
    EdgeCrfLabeller,
    IndependentLabeller,
    Labeller,
    PairedCrfLabeller,
    pair_rules,
)

N_LABELS, N_TOKENS, N_PAGES = 3, 6, 4


def seen(n: int, seed: int) -> csr_array:
    return csr_array(random_array((n, N_TOKENS), density=0.5, rng=np.random.default_rng(seed)))


def paired_labeller(seed: int) -> PairedCrfLabeller:
    rng = np.random.default_rng(seed)
    crf = ChainCRF(pair_rules(N_LABELS))
    crf.state_weights_ = rng.normal(size=(N_TOKENS, 2 * N_LABELS))
    crf.transition_weights_ = np.where(crf.rules.allowed, rng.normal(size=(2 * N_LABELS, 2 * N_LABELS)), 0.0)
    crf.edge_weights_ = np.zeros((0, 2 * N_LABELS, 2 * N_LABELS))
    return PairedCrfLabeller(crf)


def edge_labeller(seed: int) -> EdgeCrfLabeller:
    rng = np.random.default_rng(seed)
    crf = ChainCRF(Rules.free(N_LABELS))
    crf.state_weights_ = rng.normal(size=(N_TOKENS, N_LABELS))
    crf.transition_weights_ = rng.normal(size=(N_LABELS, N_LABELS))
    crf.edge_weights_ = rng.normal(size=(N_TOKENS, N_LABELS, N_LABELS))
    return EdgeCrfLabeller(crf)


def independent_labeller(seed: int) -> IndependentLabeller:
    rng = np.random.default_rng(seed)
    table, bias = (N_TOKENS, N_LABELS), N_LABELS
    return IndependentLabeller(*(rng.normal(size=shape) for shape in (table, bias, table, bias)))


def walk(
    labeller: Labeller, pages: csr_array, links: csr_array
) -> tuple[list[Floats], list[Floats], list[int]]:
    """Return the probabilities of every page and link along the path, and the labels of pages by δ."""
    belief, page_probabilities, link_probabilities, best = labeller.start(), [], [], []
    for number in range(pages.shape[0]):
        belief = labeller.read_page(belief, labeller.page_scores(pages[[number]])[0])
        page_probabilities.append(labeller.label_probabilities(belief))
        best.append(labeller.best_label(belief))
        if number < links.shape[0]:
            beliefs = labeller.follow_links(belief, labeller.link_scores(links[[number, 0]]))
            link_probabilities.append(beliefs.probabilities[0])
            belief = beliefs.belief(0)
    return page_probabilities, link_probabilities, best


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_with_paired_states_the_belief_is_the_marginal_of_the_path_so_far(seed: int) -> None:
    labeller, pages, links = paired_labeller(seed), seen(N_PAGES, seed), seen(N_PAGES - 1, seed + 10)
    page_probabilities, link_probabilities, best = walk(labeller, pages, links)
    both = np.empty((2 * N_PAGES - 1, N_TOKENS))
    both[::2], both[1::2] = pages.toarray(), links.toarray()
    for number in range(N_PAGES):
        path = Chains(csr_array(both[: 2 * number + 1]), np.array([2 * number + 1]))
        assert page_probabilities[number] == pytest.approx(labeller.crf.marginals(path)[-1, :N_LABELS])
        assert best[number] == labeller.crf.decode(path)[-1]
    for number in range(N_PAGES - 1):
        path = Chains(csr_array(both[: 2 * number + 2]), np.array([2 * number + 2]))
        assert link_probabilities[number] == pytest.approx(labeller.crf.marginals(path)[-1, N_LABELS:])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_with_edge_features_a_link_is_a_transition_to_a_page_without_tokens(seed: int) -> None:
    labeller, pages, links = edge_labeller(seed), seen(N_PAGES, seed), seen(N_PAGES - 1, seed + 10)
    page_probabilities, link_probabilities, best = walk(labeller, pages, links)
    steps = np.vstack([np.zeros(N_TOKENS), links.toarray()])
    for number in range(N_PAGES):
        shown = pages.toarray()[: number + 1]
        path = Chains(csr_array(shown), np.array([number + 1]), edges=csr_array(steps[: number + 1]))
        assert page_probabilities[number] == pytest.approx(labeller.crf.marginals(path)[-1])
        assert best[number] == labeller.crf.decode(path)[-1]
        if number:
            shown = np.vstack([shown[:-1], np.zeros(N_TOKENS)])
            unread = Chains(csr_array(shown), np.array([number + 1]), edges=csr_array(steps[: number + 1]))
            assert link_probabilities[number - 1] == pytest.approx(labeller.crf.marginals(unread)[-1])


@pytest.mark.parametrize("make", [paired_labeller, edge_labeller, independent_labeller])
def test_the_last_label_of_a_whole_path_is_that_of_delta(make: Callable[[int], Labeller]) -> None:
    for seed in range(5):
        labeller, pages, links = make(seed), seen(N_PAGES, seed), seen(N_PAGES - 1, seed + 10)
        assert walk(labeller, pages, links)[2][-1] == labeller.decode(pages, links)[-1]
        assert len(labeller.decode(pages[[0]], links[:0])) == 1


def test_an_independent_labeller_ignores_the_path() -> None:
    labeller, pages, links = independent_labeller(1), seen(N_PAGES, 1), seen(N_PAGES - 1, 2)
    met = walk(labeller, pages, links)[0][-1]
    alone = labeller.label_probabilities(
        labeller.read_page(labeller.start(), labeller.page_scores(pages[[N_PAGES - 1]])[0])
    )
    assert met == pytest.approx(alone)


def test_belief_stays_finite_on_a_long_path() -> None:
    for labeller in (paired_labeller(4), edge_labeller(4)):
        page_probabilities, link_probabilities, _ = walk(labeller, seen(300, 4), seen(299, 5))
        assert np.isfinite(page_probabilities).all()
        assert np.isfinite(link_probabilities).all()

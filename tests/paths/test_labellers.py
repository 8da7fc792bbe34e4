"""Belief carried along a path, step by step, against the whole chain seen at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from wayhound.learn.chain import Floats
from wayhound.learn.crf import ChainCRF, Chains, Rules
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


def pairs_judge(seed: int) -> PairedCrfLabeller:
    rng = np.random.default_rng(seed)
    field = ChainCRF(pair_rules(N_LABELS))
    field.state_weights_ = rng.normal(size=(N_TOKENS, 2 * N_LABELS))
    field.step_weights_ = np.where(field.rules.allowed, rng.normal(size=(2 * N_LABELS, 2 * N_LABELS)), 0.0)
    field.edge_weights_ = np.zeros((0, 2 * N_LABELS, 2 * N_LABELS))
    return PairedCrfLabeller(field)


def labels_judge(seed: int) -> EdgeCrfLabeller:
    rng = np.random.default_rng(seed)
    field = ChainCRF(Rules.free(N_LABELS))
    field.state_weights_ = rng.normal(size=(N_TOKENS, N_LABELS))
    field.step_weights_ = rng.normal(size=(N_LABELS, N_LABELS))
    field.edge_weights_ = rng.normal(size=(N_TOKENS, N_LABELS, N_LABELS))
    return EdgeCrfLabeller(field)


def apart_judge(seed: int) -> IndependentLabeller:
    rng = np.random.default_rng(seed)
    table, bias = (N_TOKENS, N_LABELS), N_LABELS
    return IndependentLabeller(*(rng.normal(size=shape) for shape in (table, bias, table, bias)))


def walk(judge: Labeller, pages: csr_array, links: csr_array) -> tuple[list[Floats], list[Floats], list[int]]:
    """Chances of every page and every link as they are met, and the labels of pages by δ."""
    belief, of_pages, of_links, best = judge.start(), [], [], []
    for number in range(pages.shape[0]):
        belief = judge.page(belief, judge.page_scores(pages[[number]])[0])
        of_pages.append(judge.chances(belief))
        best.append(judge.best(belief))
        if number < links.shape[0]:
            onward = judge.links(belief, judge.link_scores(links[[number, 0]]))
            of_links.append(onward.chances[0])
            belief = onward.belief(0)
    return of_pages, of_links, best


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_with_two_states_a_label_belief_is_the_marginal_of_the_path_so_far(seed: int) -> None:
    judge, pages, links = pairs_judge(seed), seen(N_PAGES, seed), seen(N_PAGES - 1, seed + 10)
    of_pages, of_links, best = walk(judge, pages, links)
    both = np.empty((2 * N_PAGES - 1, N_TOKENS))
    both[::2], both[1::2] = pages.toarray(), links.toarray()
    for number in range(N_PAGES):
        path = Chains(csr_array(both[: 2 * number + 1]), np.array([2 * number + 1]))
        assert of_pages[number] == pytest.approx(judge.field.marginals(path)[-1, :N_LABELS])
        assert best[number] == judge.field.decode(path)[-1]
    for number in range(N_PAGES - 1):
        path = Chains(csr_array(both[: 2 * number + 2]), np.array([2 * number + 2]))
        assert of_links[number] == pytest.approx(judge.field.marginals(path)[-1, N_LABELS:])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_with_one_state_a_label_a_link_is_a_step_to_a_page_that_shows_nothing(seed: int) -> None:
    judge, pages, links = labels_judge(seed), seen(N_PAGES, seed), seen(N_PAGES - 1, seed + 10)
    of_pages, of_links, best = walk(judge, pages, links)
    steps = np.vstack([np.zeros(N_TOKENS), links.toarray()])
    for number in range(N_PAGES):
        shown = pages.toarray()[: number + 1]
        path = Chains(csr_array(shown), np.array([number + 1]), edges=csr_array(steps[: number + 1]))
        assert of_pages[number] == pytest.approx(judge.field.marginals(path)[-1])
        assert best[number] == judge.field.decode(path)[-1]
        if number:
            shown = np.vstack([shown[:-1], np.zeros(N_TOKENS)])
            unread = Chains(csr_array(shown), np.array([number + 1]), edges=csr_array(steps[: number + 1]))
            assert of_links[number - 1] == pytest.approx(judge.field.marginals(unread)[-1])


@pytest.mark.parametrize("make", [pairs_judge, labels_judge, apart_judge])
def test_the_last_label_of_a_whole_path_is_that_of_delta(make: Callable[[int], Labeller]) -> None:
    for seed in range(5):
        judge, pages, links = make(seed), seen(N_PAGES, seed), seen(N_PAGES - 1, seed + 10)
        assert walk(judge, pages, links)[2][-1] == judge.decode(pages, links)[-1]
        assert len(judge.decode(pages[[0]], links[:0])) == 1


def test_apart_the_path_does_not_matter() -> None:
    judge, pages, links = apart_judge(1), seen(N_PAGES, 1), seen(N_PAGES - 1, 2)
    met = walk(judge, pages, links)[0][-1]
    alone = judge.chances(judge.page(judge.start(), judge.page_scores(pages[[N_PAGES - 1]])[0]))
    assert met == pytest.approx(alone)


def test_belief_stays_finite_on_a_long_path() -> None:
    for judge in (pairs_judge(4), labels_judge(4)):
        of_pages, of_links, _ = walk(judge, seen(300, 4), seen(299, 5))
        assert np.isfinite(of_pages).all()
        assert np.isfinite(of_links).all()

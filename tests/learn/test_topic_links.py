from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from wayhound.learn.arrays import Floats
from wayhound.learn.topic_links import LinkSpread, LinkWeights, NoSpread


def explicit(links: Floats, weights: LinkWeights) -> Floats:
    """Return the matrix S, computed step by step."""
    n = len(links)
    degree = (links > 0).sum(axis=1)
    walk = links / np.maximum(links.sum(axis=1, keepdims=True), 1e-300)
    powers = sum(np.linalg.matrix_power(walk, step) for step in range(1, weights.rounds + 1))
    own = np.where(degree > 0, weights.own, 1.0)
    trust = np.where(degree > 0, degree / (degree + weights.doubt), 0.0)
    return np.diag(own) @ np.eye(n) + np.diag(weights.step * trust) @ powers


@st.composite
def graphs(draw: st.DrawFn) -> Floats:
    n = draw(st.integers(1, 7))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    links = (rng.random((n, n)) < draw(st.floats(0.0, 0.7))).astype(float)
    np.fill_diagonal(links, 0)
    return np.asarray(links + links.T)


@given(graphs(), st.integers(1, 4))
def test_gathering_and_scattering_are_one_matrix_and_its_transpose(links: Floats, rounds: int) -> None:
    weights = LinkWeights(rounds=rounds)
    spread, written = LinkSpread(csr_array(links), weights), explicit(links, weights)
    values = np.random.default_rng(1).random((len(links), 3))
    assert spread.gather(values) == pytest.approx(written @ values)
    assert spread.scatter(values) == pytest.approx(written.T @ values)


def test_a_document_without_links_keeps_its_own_words() -> None:
    links = np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 0]])
    values = np.array([[1.0], [2], [3]])
    assert LinkSpread(csr_array(links)).gather(values)[2, 0] == 3
    assert NoSpread().gather(values) is values


def test_few_links_are_trusted_less_than_many() -> None:
    own, step = LinkWeights(step=1.0, doubt=2.0).by_degree(np.array([0, 1, 2, 8]))
    assert list(own) == [1.0, 0.5, 0.5, 0.5]
    assert step == pytest.approx([0, 1 / 3, 1 / 2, 4 / 5])


def test_a_new_document_scores_as_a_member_without_incoming_links() -> None:
    links = np.array([[0.0, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]])
    with_newcomer = np.zeros((5, 5))
    with_newcomer[:4, :4] = links
    with_newcomer[4, [0, 3]] = 1
    scores = np.random.default_rng(2).random((5, 2))
    as_member = LinkSpread(csr_array(with_newcomer)).gather(scores)[4]
    neighbours = LinkSpread(csr_array(links)).neighbour_scores(scores[:4])[[0, 3]]
    assert LinkWeights().join(scores[4], neighbours) == pytest.approx(as_member)


def test_a_new_document_without_links_has_its_own_words_alone() -> None:
    assert list(LinkWeights().join(np.array([1.0, 2.0]), np.empty((0, 2)))) == [1.0, 2.0]

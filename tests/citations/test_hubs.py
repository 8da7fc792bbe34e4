from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayhound.citations.hubs import ROUNDS, CitationGraph, HubScores, hits

edge_lists = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=25)


def by_definition(n_nodes: int, edges: list[tuple[int, int]]) -> tuple[list[float], list[float]]:
    """Kleinberg's two sums, in plain loops.

    They are made as often: where two parts of a graph are nearly as strong, more rounds give other scores.
    """
    links = {(citing, cited) for citing, cited in edges if citing != cited}
    authority, hub = [0.0] * n_nodes, [1.0] * n_nodes
    for _ in range(ROUNDS if links else 0):
        authority = [sum(hub[citing] for citing, cited in links if cited == node) for node in range(n_nodes)]
        authority = [score / max(authority) for score in authority]
        hub = [sum(authority[cited] for citing, cited in links if citing == node) for node in range(n_nodes)]
        hub = [score / max(hub) for score in hub]
    return authority, hub if links else [0.0] * n_nodes


@settings(deadline=None)
@given(edges=edge_lists)
def test_scores_are_those_of_the_definition(edges: list[tuple[int, int]]) -> None:
    table = np.array(edges, dtype=np.int64).reshape(-1, 2)
    authority, hub = hits(8, table[:, 0], table[:, 1])
    true_authority, true_hub = by_definition(8, edges)
    # it ends earlier if a round changes less than a millionth, so that all others together change a ten thousandth
    assert authority == pytest.approx(true_authority, abs=1e-3)
    assert hub == pytest.approx(true_hub, abs=1e-3)


@settings(deadline=None)
@given(edges=edge_lists)
def test_scores_lie_between_nought_and_one_and_are_the_same_again(edges: list[tuple[int, int]]) -> None:
    table = np.array(edges, dtype=np.int64).reshape(-1, 2)
    first, second = (hits(8, table[:, 0], table[:, 1]) for _ in range(2))
    for one, other in zip(first, second, strict=True):
        assert np.array_equal(one, other)
        assert (one >= 0).all()
        assert (one <= 1).all()


def test_who_is_cited_most_is_the_authority_and_who_cites_the_authorities_the_hub() -> None:
    edges = [("survey", "seminal"), ("survey", "second"), ("note", "seminal"), ("letter", "seminal")]
    scores = CitationGraph.from_edges(edges).scores()
    assert max(scores, key=lambda paper: scores[paper].authority) == "seminal"
    assert max(scores, key=lambda paper: scores[paper].hub) == "survey"
    assert scores["seminal"].hub == scores["survey"].authority == 0.0


def test_a_graph_without_links_has_no_scores_to_give() -> None:
    assert CitationGraph.from_edges([]).scores() == {}
    assert CitationGraph.from_edges([("alone", "alone")]).scores() == {"alone": HubScores(0.0, 0.0)}


def test_the_order_and_number_of_equal_edges_change_nothing() -> None:
    edges = [("a", "b"), ("c", "b"), ("c", "d")]
    assert (
        CitationGraph.from_edges(edges).scores()
        == CitationGraph.from_edges([*reversed(edges), ("a", "b")]).scores()
    )


def test_within_a_topic_only_its_own_papers_count() -> None:
    graph = CitationGraph.from_edges([("a", "b"), ("c", "b"), ("d", "e"), ("f", "e"), ("g", "e")])
    assert graph.subgraph(["a", "b", "c", "e", "unknown"]).scores() == (
        CitationGraph.from_edges([("a", "b"), ("c", "b")]).scores() | {"e": HubScores()}
    )
    assert graph.subgraph([]).scores() == {}

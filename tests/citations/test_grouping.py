from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.citations import WordMatcher
from wayhound.citations.citation import Citation, normalise
from wayhound.citations.grouping import (
    FULL_BLOCK,
    WINDOW,
    CitationMatcher,
    candidate_pairs,
    cluster,
    group_citations,
    training_pairs,
)
from wayhound.citations.pair_model import (
    FEATURES,
    WordWeights,
    classifier_from_json,
    classifier_to_json,
    pair_features,
    shipped_classifier,
)
from wayhound.errors import ModelError

CITATIONS = [
    Citation(
        "Learning the way to goal pages", "A. Lind and B. Wood", "Journal of Trails", "1999", "12-19", "5"
    ),
    Citation("Learning the way to goal pages.", "Lind, A., & Wood, B.", "J. Trails", "(1999)", "pp. 12-19"),
    Citation(text="[4] A. Lind, B. Wood. Learning the way to goal pages. J. of Trails, 5:12-19, 1999."),
    Citation("Topic hierarchies from few keywords", "C. Marsh", "Proc. of Orchards", "2001", "1-8"),
    Citation("Topic hierar chies from few keywords,", "Marsh, C.", "Orchards", "2001"),
    Citation(
        "Landmarks in chains of links", "D. Hill and A. Lind", "Journal of Trails", "1999", "30-41", "5"
    ),
]
PAPERS = [0, 0, 0, 1, 1, 2]


def test_citations_to_one_paper_are_grouped_however_they_are_written() -> None:
    assert group_citations(CITATIONS, shipped_classifier()) == PAPERS


def test_added_one_by_one_they_join_or_found_groups() -> None:
    matcher = CitationMatcher()
    assert [matcher.add(citation) for citation in CITATIONS] == PAPERS
    assert matcher.find(CITATIONS[3]) == 1
    assert matcher.find(Citation("Something else entirely", "E. Dale")) is None


def test_a_matcher_goes_on_where_another_stopped() -> None:
    matcher = CitationMatcher()
    matcher.restore([(CITATIONS[0], 40, "a"), (CITATIONS[3], 41, "b")])
    assert [matcher.add(CITATIONS[at]) for at in (1, 4, 5)] == [40, 41, 42]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (
            "The history of the small towns of the northern coast of Norway",
            "The history of the large towns of the northern coast of Norway",
        ),
        ("Handbook of towns, part I", "Handbook of towns, part II"),
    ],
)
def test_two_entries_of_one_bibliography_are_one_work_only_if_their_titles_agree(
    first: str, second: str
) -> None:
    pair = [Citation(title, "A. Lind and B. Wood", "Journal of Trails", "1999") for title in (first, second)]
    assert group_citations(pair, shipped_classifier(), bibliographies=["a", "b"]) == [0, 0]
    assert group_citations(pair, shipped_classifier(), bibliographies=["a", "a"]) == [0, 1]
    matcher = CitationMatcher()
    assert [matcher.add(citation, "a") for citation in pair] == [0, 1]
    assert matcher.add(pair[0], "a") == 0
    assert matcher.add(Citation(f"{first}: an essay", "A. Lind", year="1999"), "a") == 0


@pytest.mark.parametrize("second", ["V. K. Wood", "D. Hill"])
def test_two_entries_of_one_bibliography_with_one_title_need_the_same_first_author(second: str) -> None:
    title = "A method for comparing two maps of the coast"
    pair = [Citation(title, names, "Journal of Trails", "1983") for names in ("W. J. Wood", second)]
    assert group_citations(pair, shipped_classifier(), bibliographies=["a", "a"]) == [0, 1]
    again = Citation(title, "Wood, W.", "J. Trails", "1983")
    assert group_citations([pair[0], again], shipped_classifier(), bibliographies=["a", "a"]) == [0, 0]


def test_papers_of_one_author_year_and_volume_stay_apart_if_their_titles_have_nothing_in_common() -> None:
    roads = Citation("Roads and their walkers in spring", "A. Lind", "Ann. Trail.", "1996", "2350-2383", "24")
    stones = Citation("Bagging stones", "A. Lind", "Journal of Trails", "1996", "123-140", "24")
    assert group_citations([roads, stones], shipped_classifier()) == [0, 1]
    matcher = CitationMatcher()
    assert [matcher.add(citation) for citation in (roads, stones)] == [0, 1]
    # Physicists leave titles out.
    untitled = Citation("", "A. Lind", "Ann. Trail.", "1996", "2350-2383", "24")
    assert group_citations([roads, untitled], shipped_classifier()) == [0, 0]


def test_the_baseline_groups_by_shared_words() -> None:
    assert WordMatcher(0.6).add_all(CITATIONS[:2] + CITATIONS[5:]) == [0, 0, 2]


@given(st.lists(st.builds(Citation, *[st.text(max_size=12)] * 8), max_size=6))
def test_any_citations_can_be_grouped(citations: Sequence[Citation]) -> None:
    groups = group_citations(citations, shipped_classifier())
    assert len(groups) == len(citations)
    assert sorted(set(groups)) == list(range(len(set(groups))))
    matcher = CitationMatcher()
    assert len([matcher.add(citation) for citation in citations]) == len(citations)


@given(st.integers(0, 5), st.integers(0, 5))
def test_features_do_not_depend_on_the_order_of_a_pair(i: int, j: int) -> None:
    weights, normal = WordWeights(), [normalise(citation) for citation in CITATIONS]
    weights.count(normal)
    features = pair_features(normal[i], normal[j], weights)
    assert features == pair_features(normal[j], normal[i], weights)
    assert len(features) == len(FEATURES)
    assert all(0 <= value <= 1 for value in features)


def test_a_crowded_block_costs_each_member_a_window() -> None:
    many = [normalise(Citation("Same title always here", year=str(1900 + i % 90))) for i in range(400)]
    pairs = candidate_pairs(many)
    assert len(pairs) < 3 * 400 * (WINDOW + FULL_BLOCK)
    assert (pairs[:, 0] < pairs[:, 1]).all()
    assert len(np.unique(pairs, axis=0)) == len(pairs)


def test_one_sure_but_lone_pair_does_not_join_two_groups() -> None:
    within = {(0, 1): 0.9, (0, 2): 0.9, (1, 2): 0.9, (3, 4): 0.9, (3, 5): 0.9, (4, 5): 0.9}
    bridge = {(2, 3): 0.95}
    probabilities = within | bridge
    pairs = np.array(list(probabilities))
    groups = cluster(
        6,
        pairs,
        np.array(list(probabilities.values())),
        lambda more: np.array([probabilities.get(pair, 0.02) for pair in more]),
        0.5,
    )
    assert len({groups[0], groups[1]}) == len({groups[4], groups[5]}) == 1
    assert groups[0] != groups[5]


def test_training_pairs_tell_which_are_the_same() -> None:
    features, same = training_pairs(CITATIONS, [str(paper) for paper in PAPERS])
    assert features.shape == (len(same), len(FEATURES))
    assert same.sum() == 4


def test_weights_survive_being_written_down() -> None:
    shipped = shipped_classifier()
    again = classifier_from_json(classifier_to_json(shipped, "nothing"))
    assert np.allclose(again.weights_, shipped.weights_)
    assert again.bias_ == pytest.approx(shipped.bias_)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "wayhound citation matcher", "version": 1}'])
def test_damaged_weights_are_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(ModelError):
        classifier_from_json(text)

"""Hops to the nearest useful page are what a breadth-first search from the useful pages finds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wayhound.page import Link, Page
from wayhound.paths.taught_site import WebGraph, hop_label, hops_to_nearest


def page(url: str, *targets: str) -> Page:
    return Page(url, links=tuple(map(Link, targets)))


def test_pages_are_labelled_by_clicks_to_the_nearest_useful_one() -> None:
    graph = WebGraph.from_pages(
        [page("home", "list", "news"), page("list", "paper", "home"), page("news"), page("paper")]
    )
    assert hops_to_nearest(graph, ["paper"]) == {"paper": 0, "list": 1, "home": 2}


def test_links_to_pages_that_were_not_visited_and_to_themselves_are_left_out() -> None:
    graph = WebGraph.from_pages([page("a", "a", "unseen", "b", "b"), page("b")])
    assert graph.edges() == [("a", "b")]


def test_a_click_that_was_redirected_is_a_link_too() -> None:
    graph = WebGraph.from_pages([page("a", "old"), page("new")], [("a", "new")])
    assert hops_to_nearest(graph, ["new"]) == {"new": 0, "a": 1}


def test_the_last_label_covers_everything_farther() -> None:
    assert [hop_label(hops) for hops in (0, 1, 4, 9, None)] == ["T0", "T1", "T4", "T4", "T4"]
    assert hop_label(None, states=3) == "T2"


names = st.sampled_from("abcdef")
graphs = st.dictionaries(names, st.lists(names, max_size=4), min_size=1)


@given(graphs, st.sets(names))
def test_hops_are_shortest_paths(links: dict[str, list[str]], useful: set[str]) -> None:
    graph = WebGraph.from_pages([page(url, *targets) for url, targets in links.items()])
    hops = hops_to_nearest(graph, useful)
    for url in links:
        reached, steps = {url}, 0
        while not reached & useful & set(links) and steps <= len(links):
            reached |= {target for source in reached for target in graph.links[source]}
            steps += 1
        assert hops.get(url) == (steps if steps <= len(links) else None)

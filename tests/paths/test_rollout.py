"""Values of links are those of a spider that really walks by the near-optimal policy, page by page."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayhound.page import Link, Page
from wayhound.paths.rollout import RecordedSite, page_values, values_from_goals


def site(links: dict[str, str], goals: str) -> RecordedSite:
    pages = {url: Page(url, links=tuple(map(Link, targets))) for url, targets in links.items()}
    return RecordedSite.closed("site", pages, goals)


def distance(graph: RecordedSite, start: str, goals: set[str]) -> int | None:
    """Clicks from a page to the nearest of these goals, by a search of its own."""
    layer, seen, clicks = [start], {start}, 0
    while layer:
        if goals & set(layer):
            return clicks
        layer = [target for url in layer for target in graph.targets(url) if target not in seen]
        layer = list(dict.fromkeys(layer))
        seen |= set(layer)
        clicks += 1
    return None


def brute_force(graph: RecordedSite, start: str, gamma: float, found: str = "") -> float:
    """Walk the policy of section 3.4 to its end, with every distance computed anew at every step."""
    left, fringe, fetched, value, step = set(graph.goals) - set(found), [start], set(found), 0.0, 0
    while fringe:
        known = {url: distance(graph, url, left) for url in fringe}
        reachable = [url for url in fringe if known[url] is not None]
        if not reachable:
            break
        # the fringe is in the order of discovery, and `min` takes the first of equals
        url = min(reachable, key=lambda url: known[url] or 0) if step else start
        fringe.remove(url)
        fetched.add(url)
        if url in left:
            left.discard(url)
            value += gamma**step
        fringe += [target for target in graph.targets(url) if target not in fetched and target not in fringe]
        step += 1
    return value


def test_figure_4_of_the_paper() -> None:
    # the spider has followed nothing yet; A leads to a reward at once, B to a page with three of them
    graph = site({"h": "ab", "a": "", "b": "xyz", "x": "", "y": "", "z": ""}, "axyz")
    values = page_values(graph, 0.5)
    assert values["h"] == pytest.approx(0.5 + 0.5**3 + 0.5**4 + 0.5**5)  # 0 1 0 1 1 1
    assert values["a"] == 1.0
    assert values["b"] == pytest.approx(0.5 + 0.25 + 0.125)  # 0 1 1 1


def test_a_value_is_not_the_discount_to_the_power_of_the_distance() -> None:
    values = page_values(site({"h": "ab", "a": "", "b": ""}, "ab"), 0.5)
    assert values["h"] == pytest.approx(0.75)


def test_a_goal_pays_once_however_many_links_lead_to_it() -> None:
    values = page_values(site({"h": "agg", "a": "g", "g": "ha"}, "g"), 0.5)
    assert values["g"] == 1.0


def test_without_a_discount_for_the_future_only_the_page_itself_counts() -> None:
    values = page_values(site({"h": "g", "g": "f", "f": ""}, "gf"), 0.0)
    assert values == {"h": 0.0, "g": 1.0, "f": 1.0}


def test_ties_go_to_the_page_fetched_first_then_to_the_earlier_link() -> None:
    # two ways of two clicks: behind the first are two goals, behind the second is one
    first = site({"h": "ab", "a": "xy", "b": "z", "x": "", "y": "", "z": ""}, "xyz")
    second = site({"h": "ba", "a": "xy", "b": "z", "x": "", "y": "", "z": ""}, "xyz")
    assert page_values(first, 0.5)["h"] == pytest.approx(0.5**2 + 0.5**3 + 0.5**5)
    assert page_values(second, 0.5)["h"] == pytest.approx(0.5**2 + 0.5**4 + 0.5**5)


def test_links_to_pages_that_were_not_recorded_do_not_exist() -> None:
    assert page_values(site({"h": "q", "a": ""}, "aq"), 0.5) == {"h": 0.0, "a": 1.0}


def test_a_page_that_links_back_to_the_goal_it_was_reached_from_is_worth_nothing() -> None:
    # h is a home page that was looked for, p one of its own pages, and x another goal
    graph = site({"h": "px", "p": "h", "x": ""}, "hx")
    assert page_values(graph, 0.5)["p"] == pytest.approx(0.5 + 0.25)
    assert values_from_goals(graph, 0.5) == {("h", "p"): 0.0, ("h", "x"): 1.0}


names = st.sampled_from("abcdefgh")


@given(
    st.dictionaries(names, st.lists(names, max_size=5).map("".join), min_size=1, max_size=8),
    st.sets(names, max_size=5),
    st.sampled_from([0.3, 0.5, 0.9]),
)
@settings(max_examples=300)
def test_values_are_those_of_a_walk_by_the_policy(
    links: dict[str, str], goals: set[str], gamma: float
) -> None:
    graph = site(links, "".join(goals))
    values = page_values(graph, gamma)
    for url in graph.pages:
        assert values[url] == pytest.approx(brute_force(graph, url, gamma))


@given(
    st.dictionaries(names, st.lists(names, max_size=5).map("".join), min_size=1, max_size=8), st.sets(names)
)
def test_a_shorter_horizon_cuts_the_sequence_of_rewards(links: dict[str, str], goals: set[str]) -> None:
    graph = site(links, "".join(goals))
    whole, cut = page_values(graph, 0.5), page_values(graph, 0.5, horizon=3)
    for url in graph.pages:
        assert whole[url] - 0.25 <= cut[url] <= whole[url]


@given(
    st.dictionaries(names, st.lists(names, max_size=5).map("".join), min_size=1, max_size=8),
    st.sets(names, max_size=5),
)
@settings(max_examples=200)
def test_values_of_links_on_goals_are_those_of_a_walk_that_has_found_the_goal(
    links: dict[str, str], goals: set[str]
) -> None:
    graph = site(links, "".join(goals))
    for (goal, target), value in values_from_goals(graph, 0.5).items():
        assert value == pytest.approx(brute_force(graph, target, 0.5, goal))

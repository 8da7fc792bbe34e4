"""The frontier, its scores as outcomes revise them, and the goals that are expected from the rest of a site."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis.strategies import floats, lists, sampled_from, tuples

from wayhound.forage.frontier import (
    BARREN_PAGES,
    MAX_LISTS,
    Frontier,
    GoalsLeft,
    GroupMeans,
    QueuedLink,
    RevisedScores,
)
from wayhound.forage.site_program import RouteYields, SiteProgram
from wayhound.visit import Visit

SCORES = floats(0, 1, allow_nan=False)
OFFERS = lists(tuples(sampled_from([f"http://s/{n}" for n in range(12)]), SCORES))


def drain(frontier: Frontier) -> list[str]:
    taken = []
    while link := frontier.best():
        frontier.take(link)
        taken.append(link.url)
    return taken


@given(OFFERS)
def test_every_url_comes_out_once_however_often_it_was_added(offers: list[tuple[str, float]]) -> None:
    frontier = Frontier()
    for url, score in offers:
        frontier.add(QueuedLink(url, score))
    taken = drain(frontier)
    assert sorted(taken) == sorted({url for url, _ in offers})
    assert len(frontier) == 0
    assert frontier.known == len(taken)


@given(OFFERS)
def test_links_come_out_best_first_and_of_ties_the_oldest(offers: list[tuple[str, float]]) -> None:
    frontier = Frontier()
    first: dict[str, float] = {}
    for url, score in offers:
        if frontier.add(QueuedLink(url, score)):
            first[url] = score
    assert drain(frontier) == sorted(first, key=lambda url: (-first[url], list(first).index(url)))


@given(OFFERS, OFFERS)
def test_a_score_that_changes_while_waiting_moves_the_link(
    offers: list[tuple[str, float]], changes: list[tuple[str, float]]
) -> None:
    frontier = Frontier()
    scores: dict[str, float] = {}
    for url, score in offers:
        if frontier.add(QueuedLink(url, score)):
            scores[url] = score
    for url, score in changes:
        if link := frontier.waiting(url):
            frontier.rescore(link, score)
            scores[url] = score
    taken = drain(frontier)
    assert [scores[url] for url in taken] == sorted(scores.values(), reverse=True)
    assert len(taken) == len(scores)


def test_a_taken_link_is_known_but_no_longer_queued() -> None:
    frontier = Frontier()
    frontier.add(QueuedLink("http://s/", 0.5))
    link = frontier.best()
    assert link is not None
    frontier.take(link)
    assert "http://s/" in frontier
    assert frontier.waiting("http://s/") is None
    assert not frontier.add(QueuedLink("http://s/", 0.9))


def test_scores_that_change_repeatedly_take_no_more_memory_and_keep_the_order() -> None:
    frontier = Frontier()
    for number in range(100):
        frontier.add(QueuedLink(f"http://s/{number}", 0.5))
    most = 0
    for turn in range(200):
        for number in range(100):
            link = frontier.waiting(f"http://s/{number}")
            assert link is not None
            frontier.rescore(link, ((number * 7 + turn) % 100) / 100)
            most = max(most, len(frontier._heap))
    assert most == 2 * 100 + 1000  # more would be rare work for much memory, less the other way round
    last = {f"http://s/{number}": ((number * 7 + 199) % 100) / 100 for number in range(100)}
    assert drain(frontier) == sorted(last, key=lambda url: -last[url])


def queued(frontier: Frontier, url: str) -> QueuedLink:
    link = frontier.waiting(url)
    assert link is not None
    return link


def visited(number: int, **changes: object) -> Visit:
    values: dict[str, object] = {"site": "http://s/", "url": f"http://s/{number}", "outcome": "ok", "at": 0.0}
    return Visit(**{**values, "number": number, **changes})  # type: ignore[arg-type]


def test_a_link_is_new_once_and_known_until_the_end() -> None:
    frontier = Frontier()
    assert frontier.add(QueuedLink("http://s/a", 0.5)) is True
    assert frontier.add(QueuedLink("http://s/a", 0.5)) is False
    frontier.add(QueuedLink("http://s/b", 0.4))
    frontier.take(queued(frontier, "http://s/a"))
    assert (len(frontier), frontier.known) == (1, 2)
    assert (frontier.was_taken("http://s/a"), frontier.was_taken("http://s/b")) == (True, False)
    assert ("http://s/a" in frontier, "http://s/b" in frontier, "http://s/c" in frontier) == (
        True,
        True,
        False,
    )


def test_a_retried_link_waits_again_and_is_taken_no_more() -> None:
    frontier = Frontier()
    frontier.add(QueuedLink("http://s/a", 0.5))
    link = queued(frontier, "http://s/a")
    frontier.take(link)
    frontier.requeue(link)
    assert not frontier.was_taken("http://s/a")
    assert (len(frontier), frontier.known) == (1, 1)
    assert drain(frontier) == ["http://s/a"]


def test_the_best_scores_are_those_of_waiting_links() -> None:
    frontier = Frontier()
    for number, score in enumerate((0.1, 0.9, 0.5)):
        frontier.add(QueuedLink(f"http://s/{number}", score))
    frontier.take(queued(frontier, "http://s/1"))
    assert frontier.best_scores(1) == [0.5]
    assert frontier.best_scores(9) == [0.5, 0.1]


def test_the_target_of_a_redirect_takes_the_place_of_its_link() -> None:
    frontier = Frontier()
    frontier.add(
        QueuedLink("http://s/old", 0.5, text="People", groups=("menu",), named=0.3, prior=0.4, redirects=1)
    )
    frontier.add(QueuedLink("http://s/other", 0.5))
    link = queued(frontier, "http://s/old")
    frontier.take(link)
    assert frontier.add_target("http://s/new", link, visited(4, depth=2)) is True
    target = queued(frontier, "http://s/new")
    assert (target.redirects, target.parent, target.depth, target.kind) == (2, 4, 2, "redirect")
    assert (target.text, target.groups, target.named, target.prior) == ("People", ("menu",), 0.3, 0.4)
    assert drain(frontier) == ["http://s/new", "http://s/other"]  # it is as old as the link was
    assert frontier.add_target("http://s/new", link, visited(5)) is False


def test_a_second_look_is_queued_apart_and_its_url_stays_taken() -> None:
    frontier = Frontier()
    frontier.add(QueuedLink("http://s/a", 0.2, groups=("list",)))
    link = queued(frontier, "http://s/a")
    frontier.take(link)
    frontier.add_second_look(link, visited(0, attempt=1), score=0.8)
    again = frontier.best()
    assert again is not None
    assert (again.url, again.score, again.prior, again.groups) == ("http://s/a", 0.8, 0.8, ())
    assert again.attempt == 2
    assert again.first_look == visited(0, attempt=1)
    assert frontier.was_taken("http://s/a")
    assert frontier.members(["list"]) == []


def test_a_link_is_a_member_of_the_groups_that_it_joined_and_met_again() -> None:
    frontier = Frontier()
    frontier.add(QueuedLink("http://s/a", 0.5, groups=("wide", "narrow")))
    frontier.add(QueuedLink("http://s/b", 0.5))
    link, alone = queued(frontier, "http://s/a"), queued(frontier, "http://s/b")
    frontier.meet_again(link, ("wide", "other"))
    assert link.all_groups == ("wide", "narrow", "other")
    assert frontier.members(["other"]) == [link]
    assert frontier.members(["wide", "narrow"]) == [link]
    assert len(frontier._members["wide"]) == 1  # it is no member twice
    frontier.meet_again(link, ("wide", "other"))  # a list that is known
    frontier.meet_again(link, ())
    assert link.other_groups == (("wide", "other"),)
    frontier.meet_again(link, ("third",))
    frontier.meet_again(link, ("fourth",))
    assert 1 + len(link.other_groups) == MAX_LISTS
    frontier.meet_again(alone, ("menu",))
    assert alone.all_groups == ()
    frontier.join(alone, ("menu",))
    assert frontier.members(["menu"]) == [alone]
    frontier.take(alone)
    assert frontier.members(["menu", "nothing"]) == []


def test_names_are_followed_best_first_without_links_that_were_taken() -> None:
    frontier = Frontier()
    frontier.add(QueuedLink("http://s/2", 0.5))
    assert frontier.best_named() is None
    for number, named in enumerate((0.2, 0.9)):
        frontier.add(QueuedLink(f"http://s/{number}", 0.5, named=named))
    frontier.name(queued(frontier, "http://s/0"), 0.1)  # not the best name that it has
    best = frontier.best_named()
    assert best is queued(frontier, "http://s/1")
    frontier.take(best)
    assert frontier.best_named() is queued(frontier, "http://s/0")
    frontier.name(queued(frontier, "http://s/2"), 0.3)
    assert frontier.best_named() is queued(frontier, "http://s/2")
    for link in ("http://s/0", "http://s/2"):
        frontier.take(queued(frontier, link))
    assert frontier.best_named() is None


def test_a_posterior_is_the_mean_of_the_prior_and_what_was_fetched() -> None:
    means = GroupMeans(weight=2.0)
    assert means.revise(0.5, ("wide", "narrow")) == 0.5
    means.learn(("wide", "narrow"), 1.0)
    means.learn(("wide",), 0.0)
    assert means.revise(0.5, ("wide",)) == pytest.approx((2 * 0.5 + 1.0) / 4)
    assert means.revise(0.5, ("wide", "narrow")) == pytest.approx((2 * 0.5 + 1.0) / 3)
    means.learn(("wide",), 0.4, fetched=0)  # a page that turned out to be worth more
    assert means.revise(0.5, ("wide",)) == pytest.approx((2 * 0.5 + 1.4) / 4)


def revised_scores() -> RevisedScores:
    return RevisedScores(Frontier(), RouteYields(SiteProgram(())))


def follow(scores: RevisedScores, url: str, number: int, reward: float, **changes: object) -> None:
    link = queued(scores.frontier, url)
    scores.frontier.take(link)
    scores.learn(link, reward, visited(number, url=url, **changes))


def test_the_lists_on_the_path_gain_by_what_they_led_to_less_with_every_click() -> None:
    scores = revised_scores()
    frontier = scores.frontier
    frontier.add(QueuedLink("http://s/list", 0.5, groups=("lists",), prior=0.5))
    frontier.add(QueuedLink("http://s/other-list", 0.5, groups=("lists",), prior=0.5))
    follow(scores, "http://s/list", 0, reward=0.0)
    assert queued(frontier, "http://s/other-list").score == pytest.approx(2 * 0.5 / 3)
    frontier.add(QueuedLink("http://s/entry", 0.5, groups=("entries",), prior=0.5, parent=0))
    frontier.add(QueuedLink("http://s/entry-2", 0.5, groups=("entries",), prior=0.5, parent=0))
    follow(scores, "http://s/entry", 1, reward=1.0)
    assert queued(frontier, "http://s/entry-2").score == pytest.approx((2 * 0.5 + 1) / 3)
    assert queued(frontier, "http://s/other-list").score == pytest.approx((2 * 0.5 + 0.9) / 3)
    follow(scores, "http://s/entry-2", 2, reward=1.0)  # no better than the first, so the list gains nothing
    assert queued(frontier, "http://s/other-list").score == pytest.approx((2 * 0.5 + 0.9) / 3)


@pytest.mark.parametrize(("worth", "gain"), [(0.86, 0.0), (0.85, 0.05), (0.5, 0.4)])
def test_a_gain_too_small_to_matter_ends_at_the_page_that_it_would_not_move(
    worth: float, gain: float
) -> None:
    scores = revised_scores()
    frontier = scores.frontier
    frontier.add(QueuedLink("http://s/", 0.5, groups=("start",), prior=0.5))
    frontier.add(QueuedLink("http://s/like-start", 0.5, groups=("start",), prior=0.5))
    follow(scores, "http://s/", 0, reward=0.0)
    frontier.add(QueuedLink("http://s/list", 0.5, groups=("lists",), prior=0.5, parent=0))
    frontier.add(QueuedLink("http://s/like-list", 0.5, groups=("lists",), prior=0.5))
    follow(scores, "http://s/list", 1, reward=worth)
    assert queued(frontier, "http://s/like-start").score == pytest.approx((2 * 0.5 + 0.9 * worth) / 3)
    frontier.add(QueuedLink("http://s/entry", 0.5, groups=("entries",), prior=0.5, parent=1))
    follow(scores, "http://s/entry", 2, reward=1.0)  # worth .9 to its list
    assert queued(frontier, "http://s/like-list").score == pytest.approx((2 * 0.5 + worth + gain) / 3)


def test_an_answer_counts_as_three_pages() -> None:
    scores = revised_scores()
    scores.frontier.add(QueuedLink("http://s/a", 0.5, groups=("list",), prior=0.5))
    scores.frontier.add(QueuedLink("http://s/b", 0.5, groups=("list",), prior=0.5))
    follow(scores, "http://s/a", 0, reward=0.0)
    scores.answer("http://s/a", is_goal=True)
    assert queued(scores.frontier, "http://s/b").score == pytest.approx((2 * 0.5 + 3) / 6)
    scores.answer("http://s/unknown", is_goal=True)
    assert queued(scores.frontier, "http://s/b").score == pytest.approx((2 * 0.5 + 3) / 6)


def test_a_link_in_several_lists_is_scored_by_the_best_of_them() -> None:
    scores = revised_scores()
    scores.frontier.add(QueuedLink("http://s/a", 0.5, groups=("good",), prior=0.5))
    scores.frontier.add(QueuedLink("http://s/b", 0.5, groups=("poor",), prior=0.5))
    scores.frontier.meet_again(queued(scores.frontier, "http://s/b"), ("good",))
    follow(scores, "http://s/a", 0, reward=1.0)
    assert queued(scores.frontier, "http://s/b").score == pytest.approx((2 * 0.5 + 1) / 3)


def test_a_page_that_hardly_moves_a_mean_rescores_no_link() -> None:
    scores = revised_scores()
    for number in range(41):
        scores.frontier.add(QueuedLink(f"http://s/{number}", 0.5, groups=("list",), prior=0.5))
    last = queued(scores.frontier, "http://s/40")
    seen = []
    for number in range(40):
        follow(scores, f"http://s/{number}", number, reward=0.0)
        seen.append(last.score)
    assert seen[0] == pytest.approx(2 * 0.5 / 3)
    assert seen == sorted(seen, reverse=True)
    assert len(set(seen)) < 20  # of 40 pages; the mean itself fell with each
    assert last.score == pytest.approx(2 * 0.5 / 42, abs=0.02)


def test_every_second_link_is_followed_by_its_name_after_many_pages_without_a_goal() -> None:
    scores = revised_scores()
    follows = []
    for number in range(BARREN_PAGES + 4):
        scores.frontier.add(QueuedLink(f"http://s/{number}", 0.5))
        follows.append(scores.follows_names)
        follow(scores, f"http://s/{number}", number, reward=0.0)
    assert follows == [False] * BARREN_PAGES + [True, False, True, False]
    scores.frontier.add(QueuedLink("http://s/goal", 0.5))
    follow(scores, "http://s/goal", 98, reward=1.0, is_goal=True)
    assert not scores.follows_names
    scores.frontier.add(QueuedLink("http://s/next", 0.5))
    follow(scores, "http://s/next", 99, reward=0.0)
    assert not scores.follows_names


def expected_after(visits: list[Visit], waiting: list[float], **options: bool) -> list[float | None]:
    """Return the expected goals after each visit, with a hundred pages left."""
    frontier = Frontier()
    for number, score in enumerate(waiting):
        frontier.add(QueuedLink(f"http://s/waiting/{number}", score))
    left = GoalsLeft(frontier, **options)
    seen = []
    for visit in visits:
        left.learn(visit, 100)
        seen.append(left.expected)
    return seen


def test_goals_are_expected_as_waiting_links_promise_and_visited_ones_kept() -> None:
    visits = [visited(0), *(visited(number, parent=0, score=0.5, goal=0.5) for number in range(1, 25))]
    seen = expected_after(visits, [0.9, 0.2])
    assert seen[:19] == [None] * 19  # nothing is said before the twentieth page
    promised = came = 0.0
    for _ in range(1, 20):
        promised, came = 0.98 * promised + 0.5**2.5, 0.98 * came + 0.5
    kept = min(1.0, (came + 10 * 0.1) / (promised + 10))
    assert seen[19] == pytest.approx(kept * (0.9**2.5 + 0.2**2.5))
    assert seen[20] == seen[21] == seen[22] == seen[19]  # looked at with every fourth page
    assert seen[23] != seen[19]


def test_no_more_is_expected_than_links_promise() -> None:
    visits = [visited(number, parent=0, score=0.01, goal=1.0) for number in range(60)]
    assert expected_after(visits, [0.9])[-1] == pytest.approx(0.9**2.5)


def test_the_start_page_was_promised_by_no_link() -> None:
    visits = [visited(number, score=1.0, goal=1.0) for number in range(20)]
    assert expected_after(visits, [1.0])[-1] == pytest.approx(0.1)


def test_where_a_site_has_one_goal_at_most_it_is_expected_until_it_was_found() -> None:
    visits = [
        visited(0),
        visited(1, parent=0, score=1.0, goal=0.75),
        visited(2, parent=0, score=1.0, goal=0.5),
    ]
    seen = expected_after(visits, [1.0] * 50, one_goal=True)
    assert seen[0] is None
    assert seen[1:] == [pytest.approx(0.25), pytest.approx(0.125)]


@pytest.mark.parametrize(("pages_left", "looked_ahead"), [(None, 100), (30, 30), (3, 20)])
def test_no_more_links_are_summed_up_than_pages_are_left(pages_left: int | None, looked_ahead: int) -> None:
    frontier = Frontier()
    for number in range(200):
        frontier.add(QueuedLink(f"http://s/waiting/{number}", 1.0))
    left = GoalsLeft(frontier, one_goal=False)
    for number in range(20):
        left.learn(visited(number), pages_left)
    assert left.expected == pytest.approx(0.1 * looked_ahead)


def test_a_large_frontier_is_summed_up_less_often() -> None:
    frontier = Frontier()
    for number in range(4_000):
        frontier.add(QueuedLink(f"http://s/waiting/{number}", 1.0))
    left = GoalsLeft(frontier)
    looks = []
    for number in range(40):
        before, left.expected = left.expected, None
        left.learn(visited(number), 20)
        looks.append(left.expected is not None)
        left.expected = left.expected if looks[-1] else before
    assert [number + 1 for number, looked in enumerate(looks) if looked] == [20, 26, 32, 38]

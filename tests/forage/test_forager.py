from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis.strategies import (
    SearchStrategy,
    builds,
    fixed_dictionaries,
    integers,
    just,
    lists,
    one_of,
    sampled_from,
)

from tests.forage.world import Answer, Walk, page
from wayhound.fetched import Failed, FailureReason, Fetched
from wayhound.forage.forager import FEW_GOALS_LEFT, ForageLimits, Forager
from wayhound.forage.frontier import BARREN_PAGES
from wayhound.forage.politeness import Politeness
from wayhound.forage.scorer import NO_ANSWERS, GoalPattern, Rated, Reading, Scorer, SiteReport, State
from wayhound.forage.scorers.baselines import BreadthFirst, RandomOrder
from wayhound.page import Link, Page
from wayhound.site import Site

SITE = Site("http://s.example/")
URLS = [f"http://s.example/{name}" for name in ["", "a", "b", "c", "d", "e", "f"]]


def forager(
    limits: ForageLimits | None = None, *, goal: str = "", delay: float = 0.0, site: Site = SITE
) -> Forager:
    return Forager(site, BreadthFirst(GoalPattern(goal)), limits or ForageLimits(), Politeness(delay))


def walk(
    world: dict[str, Answer], limits: ForageLimits | None = None, *, goal: str = "", delay: float = 0.0
) -> Walk:
    return Walk(forager(limits, goal=goal, delay=delay), world).run()


def pages() -> SearchStrategy[Answer]:
    targets = lists(sampled_from(URLS), max_size=4)
    return builds(lambda own, to: page(own, *to), sampled_from(["x", "y", "z", "u", "v", "w", "t"]), targets)


def worlds() -> SearchStrategy[dict[str, Answer]]:
    broken: SearchStrategy[Answer] = one_of(
        just(Failed("", "timeout")),
        just(Failed("", "robots", sent=False)),
        just(Failed("", "robots_unreachable", sent=False, wait_seconds=5.0)),
        just(Fetched("", 503, wait_seconds=2.0)),
        sampled_from(URLS).map(lambda target: Fetched("", 301, location=target)),
    )
    return fixed_dictionaries({url: one_of(pages(), pages(), broken) for url in URLS})


@given(worlds(), integers(0, 9))
def test_a_forage_ends_obeys_its_budget_and_retries_only_transient_failures(
    world: dict[str, Answer], budget: int
) -> None:
    done = walk(world, ForageLimits(budget=budget))
    assert done.reason
    assert sum(visit.spent for visit in done.visits) <= budget
    for url in URLS:
        tries = [visit for visit in done.visits if visit.url == url]
        assert len(tries) <= (5 if tries and tries[0].outcome == "robots_unreachable" else 3)
        assert all(visit.outcome in ("timeout", "http_503", "robots_unreachable") for visit in tries[:-1])


class Grouping(RandomOrder):
    """A random order, with groups of links that are expected to lead to similar pages."""

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]:
        return [replace(rated, groups=("all", len(links))) for rated in super().rate(reading, links)]


SCORERS_TO_STOP = (BreadthFirst(), Grouping(seed=3, goal=GoalPattern("[bd]$")))


@given(worlds(), integers(0, 12), integers(0, 12), sampled_from(SCORERS_TO_STOP))
def test_after_replaying_its_visits_a_forage_continues_as_if_never_stopped(
    world: dict[str, Answer], budget: int, killed_after: int, scorer: Scorer
) -> None:
    whole = Walk(Forager(SITE, scorer, ForageLimits(budget=budget), Politeness(0.0)), world).run()
    again = Walk(Forager(SITE, scorer, ForageLimits(budget=budget), Politeness(0.0)), world)
    for visit in whole.visits[:killed_after]:
        answer = world[visit.url]
        again.forager.replay(visit, answer if isinstance(answer, Page) else None)
    again.run()
    assert whole.urls[:killed_after] + again.urls == whole.urls
    assert again.reason == whole.reason
    assert again.forager.goals == whole.forager.goals


def test_a_saved_visit_whose_link_is_no_longer_found_is_replayed_all_the_same() -> None:
    start, a, b, *_ = URLS
    whole = Walk(forager(goal="/b"), {start: page(start, a), a: page(a, b)}).run(steps=2)
    again = Walk(forager(goal="/b"), {b: page(b)})
    again.forager.replay(whole.visits[0], page(start))  # the link to /a is not read any more
    again.forager.replay(whole.visits[1], page(a, b))
    (last,) = again.run().visits
    assert (last.url, last.parent, last.depth, last.is_goal) == (b, 1, 2, True)


def test_the_pause_between_two_requests_is_kept_also_for_redirects_and_retries() -> None:
    world: dict[str, Answer] = {
        URLS[0]: page("", URLS[1], URLS[2], URLS[3]),
        URLS[1]: Fetched(URLS[1], 302, location=URLS[4]),
        URLS[2]: Failed(URLS[2], "timeout"),
        URLS[3]: Fetched(URLS[3], 200, wait_seconds=7.0),
        URLS[4]: page("d"),
    }
    done = walk(world, delay=1.0)
    times = [at for _, at in done.asked_at]
    assert all(later - earlier >= 1.0 for earlier, later in pairwise(times))


def test_a_host_that_asks_for_a_pause_gets_it() -> None:
    world: dict[str, Answer] = {
        URLS[0]: page("", URLS[1], URLS[2]),
        URLS[1]: Fetched("", 503, wait_seconds=60.0),
    }
    done = walk(world, delay=1.0)
    times = dict(reversed(done.asked_at))
    assert times[URLS[2]] - times[URLS[1]] >= 60.0


def test_a_host_that_asks_for_an_unreasonable_pause_ends_the_site() -> None:
    world: dict[str, Answer] = {
        URLS[0]: page("", URLS[1], URLS[2]),
        URLS[1]: Fetched("", 429, wait_seconds=3600.0),
    }
    assert walk(world).reason.startswith("asked to wait 3600")


def test_a_failing_host_gets_a_longer_pause_after_every_attempt() -> None:
    done = walk({URLS[0]: Fetched("", 503)}, delay=1.0)
    first, second, third = [at for _, at in done.asked_at]
    assert 1.0 < second - first < third - second
    assert done.reason == "start page failed (http_503)"


@pytest.mark.parametrize(("reason", "tries"), [("robots_unreachable", 5), ("connect", 3)])
def test_unsent_requests_are_retried_if_the_failure_is_transient(reason: FailureReason, tries: int) -> None:
    failed = Failed(URLS[0], reason, sent=False, wait_seconds=20.0)
    done = walk({URLS[0]: failed}, ForageLimits(budget=1))
    assert [at for _, at in done.asked_at] == [20.0 * n for n in range(tries)]
    assert (done.forager.spent, done.reason) == (0, f"start page failed ({reason})")


def test_a_refusal_by_robots_costs_no_budget() -> None:
    world: dict[str, Answer] = {
        URLS[0]: page("", URLS[1], URLS[2]),
        URLS[1]: Failed(URLS[1], "robots", sent=False),
        URLS[2]: page("b"),
    }
    done = walk(world, ForageLimits(budget=2))
    assert done.urls == URLS[:3]
    assert done.forager.spent == 2


def test_links_of_duplicate_content_are_not_added_twice() -> None:
    world: dict[str, Answer] = {
        URLS[0]: page("", URLS[1], URLS[2]),
        URLS[1]: page("a", URLS[3], digest="same"),
        URLS[2]: page("b", URLS[4], digest="same"),
        URLS[3]: page("c"),
        URLS[4]: page("d"),
    }
    done = walk(world)
    assert [visit.outcome for visit in done.visits] == ["ok", "ok", "duplicate", "ok"]
    assert URLS[4] not in done.urls


def test_depth_counts_clicks_and_a_redirect_is_not_a_click() -> None:
    world: dict[str, Answer] = {
        URLS[0]: page("", URLS[1]),
        URLS[1]: Fetched("", 301, location=URLS[2]),
        URLS[2]: page("b", URLS[3]),
        URLS[3]: page("c"),
    }
    done = walk(world, ForageLimits(max_depth=1))
    assert [visit.depth for visit in done.visits] == [0, 1, 1]


def test_a_redirect_loop_ends() -> None:
    world: dict[str, Answer] = {URLS[0]: page("", URLS[1]), URLS[1]: Fetched("", 301, location=URLS[2])}
    world[URLS[2]] = Fetched("", 301, location=URLS[1])
    done = walk(world)
    assert done.urls == URLS[:3]
    assert done.reason == "no links left"


def test_an_endless_chain_of_redirects_is_cut() -> None:
    chain = {
        f"http://s.example/{n}": Fetched("", 302, location=f"http://s.example/{n + 1}") for n in range(99)
    }
    world: dict[str, Answer] = {URLS[0]: page("", "http://s.example/0"), **chain}
    done = walk(world)
    assert len(done.visits) == 1 + 9
    assert done.reason == "no links left"


def test_a_redirect_out_of_the_site_is_not_followed() -> None:
    world: dict[str, Answer] = {
        URLS[0]: page("", URLS[1]),
        URLS[1]: Fetched("", 301, location="http://other.example/"),
    }
    done = walk(world)
    assert done.urls == URLS[:2]
    assert done.reason == "no links left"


def test_hosts_under_the_domain_of_the_start_page_belong_to_the_site_whatever_their_names() -> None:
    hosts = ["http://www.s.example/", "http://shop.s.example/", "https://s.example/"]
    world: dict[str, Answer] = {URLS[0]: page("", *hosts, "http://s.other.example/")}
    world |= {host: page(host) for host in hosts}
    assert set(walk(world).urls) == {URLS[0], *hosts}


def test_a_start_page_that_moved_moves_the_site() -> None:
    world: dict[str, Answer] = {
        URLS[0]: Fetched("", 301, location="http://new.test/"),
        "http://new.test/": page("", "http://new.test/contact", "http://third.test/"),
        "http://new.test/contact": page("c"),
    }
    assert walk(world).urls == [URLS[0], "http://new.test/", "http://new.test/contact"]


def test_a_site_that_is_down_ends_with_that_reason() -> None:
    assert walk({URLS[0]: Failed(URLS[0], "dns")}).reason == "start page failed (dns)"
    dead: dict[str, Answer] = {URLS[0]: page("", *[f"http://s.example/p{n}" for n in range(50)])}
    dead |= {f"http://s.example/p{n}": Failed("", "timeout") for n in range(50)}
    done = walk(dead)
    assert done.reason == "site does not answer (timeout)"
    assert len(done.visits) == 7


def test_a_dead_host_does_not_stop_the_rest_of_the_site() -> None:
    dead = [f"http://old.s.example/{n}" for n in range(9)]
    world: dict[str, Answer] = {URLS[0]: page("", *dead, URLS[1]), URLS[1]: page("a")}
    world |= {url: Failed(url, "dns", sent=False) for url in dead}
    done = walk(world)
    assert URLS[1] in done.urls
    assert len(done.visits) == 2 + 6
    assert done.reason == "no links left"


def test_a_forage_stops_when_enough_goals_are_found() -> None:
    world: dict[str, Answer] = {URLS[0]: page(URLS[0], *URLS[1:]), **{url: page(url) for url in URLS[1:]}}
    done = walk(world, ForageLimits(goals_wanted=2), goal="/[bd]$")
    assert done.reason == "goals found"
    assert [visit.url for visit in done.visits if visit.is_goal] == [URLS[2], URLS[4]]
    assert done.urls == URLS[:5]


def test_with_one_goal_wanted_only_a_link_that_outscores_it_is_followed() -> None:
    world: dict[str, Answer] = {URLS[0]: page(URLS[0], *URLS[1:]), **{url: page(url) for url in URLS[1:]}}
    done = walk(world, ForageLimits(best_goal_only=True), goal="/b$")
    assert done.reason == "no link outscores the goal found"
    assert done.urls == URLS[:3]


def test_files_that_a_goal_page_links_to_are_taken_before_enough_is_found() -> None:
    papers = ["http://s.example/one.pdf", "http://s.example/two.ps.gz"]
    world: dict[str, Answer] = {
        URLS[0]: page(URLS[0], URLS[1], URLS[2], "http://s.example/map.pdf"),
        URLS[1]: page(URLS[1], URLS[3], *papers),
        **dict.fromkeys(papers, Fetched("", 200, content_type="application/pdf")),
    }
    done = walk(world, ForageLimits(goals_wanted=1, take_files=True), goal="/a$")
    assert done.urls == [URLS[0], URLS[1], *papers]
    assert done.reason == "goals found"


def test_nofollow_links_and_links_out_of_the_site_are_not_followed() -> None:
    start = Page(
        URLS[0],
        digest="s",
        links=(Link(URLS[1], nofollow=True), Link("http://elsewhere.test/"), Link(URLS[2], kind="canonical")),
    )
    assert walk({URLS[0]: start}).urls == URLS[:1]


class Lists:
    """A scorer with the same prior for every link; a region is a list, and pages of `/goal…` are goals."""

    def start(self, site: Site) -> None:
        return None

    def read(self, state: object, page: Page) -> Reading:
        return Reading(goal=float("goal" in page.url))

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]:
        return [Rated(0.5, groups=(link.region,)) for link in links]

    def combine(self, current: float, new: float) -> float:
        return max(current, new)

    def report(
        self, threshold: float | None = None, *, answers: Mapping[str, bool] = NO_ANSWERS
    ) -> SiteReport:
        return SiteReport((), (), 0.5)


def walk_lists(world: dict[str, Answer]) -> list[str]:
    """Return the names of the pages in the order of a walk by `Lists`, without the start page."""
    linked = [link.url for start in world.values() if isinstance(start, Page) for link in start.links]
    pages: dict[str, Answer] = {url: page(url) for url in linked} | world
    done = Walk(Forager(SITE, Lists(), politeness=Politeness(0.0)), pages).run()
    return [url.removeprefix("http://s.example/") for url in done.urls[1:]]


def test_links_in_the_group_of_a_goal_rise_and_those_in_the_group_of_a_failure_fall() -> None:
    dull = [Link(f"http://s.example/dull{n}", region="ul.a") for n in range(3)]
    good = [Link(f"http://s.example/goal{n}", region="ul.b") for n in range(3)]
    order = walk_lists({URLS[0]: Page(URLS[0], links=(*dull, *good), digest="s")})
    assert order == ["dull0", "goal0", "goal1", "goal2", "dull1", "dull2"]


class Names(Lists):
    """Scores links of `/named…` lowest, though their names recommend them."""

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]:
        named = ["named" in link.url for link in links]
        return [Rated(0.1, named=0.8) if own else Rated(0.5) for own in named]


def names_world() -> dict[str, Page]:
    urls = [f"http://s.example/{name}" for name in ("named0", "named1", *(f"dull{n}" for n in range(20)))]
    return {URLS[0]: page(URLS[0], *urls)} | {url: page(url) for url in urls}


def test_after_many_pages_without_a_goal_every_second_link_is_followed_by_its_name() -> None:
    order = Walk(Forager(SITE, Names(), politeness=Politeness(0.0)), names_world()).run().urls
    named = [number for number, url in enumerate(order) if "named" in url]
    assert named == [BARREN_PAGES, BARREN_PAGES + 2]


@pytest.mark.parametrize("killed_after", [5, BARREN_PAGES, BARREN_PAGES + 1, BARREN_PAGES + 2])
def test_links_followed_by_their_names_are_the_same_after_a_replay(killed_after: int) -> None:
    world = names_world()
    whole = Walk(Forager(SITE, Names(), politeness=Politeness(0.0)), world).run()
    again = Walk(Forager(SITE, Names(), politeness=Politeness(0.0)), world)
    for visit in whole.visits[:killed_after]:
        again.forager.replay(visit, world[visit.url])
    assert whole.urls[:killed_after] + again.run().urls == whole.urls


def test_a_waiting_link_that_is_met_in_a_better_list_rises_with_it() -> None:
    dull = [Link(f"http://s.example/dull{n}", region="ul.a") for n in range(3)]
    late = "http://s.example/goal9"
    start = Page(
        URLS[0],
        links=(*dull, Link(late, region="ul.a"), Link("http://s.example/index", region="ul.b")),
        digest="s",
    )
    listed = [Link(url, region="ul.c") for url in ("http://s.example/goal0", late)]
    index = Page("http://s.example/index", links=tuple(listed), digest="i")
    assert walk_lists({URLS[0]: start, index.url: index}) == [
        "dull0", "index", "goal9", "goal0", "dull1", "dull2"
    ]  # fmt: skip


@dataclass
class Promising:
    """A scorer that recognises sites: pages of `/goal…` are goals, and every link promises as much as it is told."""

    promise: float
    one_goal: bool = False

    def start(self, site: Site) -> State:
        return None

    def read(self, state: State, page: Page) -> Reading:
        return Reading(goal=0.95 if "/goal" in page.url else 0.02)

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]:
        return [Rated(self.promise) for _ in links]

    def combine(self, current: float, new: float) -> float:
        return max(current, new)

    def report(
        self, threshold: float | None = None, *, answers: Mapping[str, bool] = NO_ANSWERS
    ) -> SiteReport:
        return SiteReport((), (), 0.5)


def long_list(kind: str, pages: int = 60) -> dict[str, Answer]:
    urls = [f"{SITE.start}{kind}{number}" for number in range(pages)]
    world: dict[str, Answer] = {url: page(url) for url in urls}
    return world | {SITE.start: page(SITE.start, *urls)}


def few_left(scorer: Promising, world: dict[str, Answer], least: float = 0.3) -> Walk:
    limits = ForageLimits(budget=50, min_goals_left=least)
    return Walk(Forager(SITE, scorer, limits, Politeness(0.0)), world).run()


def test_a_site_ends_when_few_goals_are_expected_from_the_rest_of_the_budget() -> None:
    assert few_left(Promising(0.3), long_list("other")).reason == FEW_GOALS_LEFT
    assert few_left(Promising(0.3), long_list("other"), least=0.0).reason == "budget spent"


def test_a_site_goes_on_while_its_pages_keep_what_links_promise() -> None:
    assert few_left(Promising(0.9), long_list("goal")).reason == "budget spent"
    assert few_left(Promising(0.9), long_list("other")).forager.goals_left is not None


def test_where_one_goal_is_expected_it_ends_the_site() -> None:
    done = few_left(Promising(0.9, one_goal=True), long_list("goal"))
    assert (done.reason, len(done.visits)) == (FEW_GOALS_LEFT, 2)


@pytest.mark.parametrize("kind", ["goal", "other"])
def test_goals_left_are_the_same_after_a_replay(kind: str) -> None:
    world = long_list(kind)
    whole = few_left(Promising(0.5), world, least=0.0)
    again = Forager(SITE, Promising(0.5), ForageLimits(budget=50), Politeness(0.0))
    for visit in whole.visits:
        answer = world[visit.url]
        again.replay(visit, answer if isinstance(answer, Page) else None)
    assert again.goals_left == whole.forager.goals_left

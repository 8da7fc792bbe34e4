"""The program of a site: learned from visits, written as text, read again, followed first, and dropped."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.forage.world import Answer, Walk
from wayhound.errors import UsageError
from wayhound.forage.forager import ForageLimits, Forager
from wayhound.forage.frontier import FOLLOWED_FIRST, Frontier, QueuedLink, RevisedScores
from wayhound.forage.politeness import Politeness
from wayhound.forage.scorer import GoalPattern
from wayhound.forage.scorers.baselines import BreadthFirst
from wayhound.forage.site_program import MIN_YIELD, RouteStep, RouteYields, SiteProgram, learn_program
from wayhound.page import Link, Page
from wayhound.site import Site
from wayhound.visit import Visit

START = "http://s.example/"
SITE = Site(START)
PEOPLE = SiteProgram.parse(
    """# the way to people
in "ul.menu>li>a": follow /people/
in "ul.people>li>a": follow /people/*
"""
)
GOALS = GoalPattern("/people/.")


def page(url: str, *links: Link) -> Page:
    return Page(url, title=url, links=links, digest=url)


def world(people: int = 6) -> dict[str, Answer]:
    menu = [Link(f"{START}{name}/", name, region="body>ul.menu>li>a") for name in ("news", "shop", "people")]
    items = [Link(f"{START}news/{number}", region="body>p>a") for number in range(20)]
    persons = [Link(f"{START}people/p{number}", region="body>ul.people>li>a") for number in range(people)]
    pages = [page(START, *menu), page(menu[0].url, *items), page(menu[1].url), page(menu[2].url, *persons)]
    return {own.url: own for own in [*pages, *(page(link.url) for link in (*items, *persons))]}


def walk(program: SiteProgram, pages: dict[str, Answer], goal: GoalPattern = GOALS) -> Walk:
    forager = Forager(SITE, BreadthFirst(goal), ForageLimits(), Politeness(0.0), program)
    return Walk(forager, pages).run()


def test_a_program_is_learned_from_the_goals_of_a_run() -> None:
    program = learn_program(walk(SiteProgram(), world()).visits)
    assert str(program) == (
        'in "ul.menu>li>a": follow /people/\n'
        'in "ul.people>li>a": follow /people/p*\n'
    )  # fmt: skip


def test_one_goal_makes_no_program() -> None:
    assert not learn_program(walk(SiteProgram(), world(people=1)).visits)
    assert not learn_program([])


def test_confirmed_goals_take_the_place_of_those_that_were_taken_for_goals() -> None:
    visits = walk(SiteProgram(), world()).visits
    program = learn_program(visits, {f"{START}news/1", f"{START}news/2"})
    assert [step.pattern for step in program.routes[0]] == ["/news/", "/news/*"]


def test_a_menu_is_not_followed_as_a_whole_because_two_of_its_entries_led_to_goals() -> None:
    visits = walk(SiteProgram(), world()).visits
    urls = [f"{START}{path}" for path in ("news/1", "news/2", "people/p1", "people/p2")]
    assert {route[0].pattern for route in learn_program(visits, urls).routes} == {"/news/", "/people/"}


def test_the_pages_of_a_long_list_become_one_repeated_step() -> None:
    def list_page(number: int) -> Page:
        more = Link(f"{START}list?page={number + 1}", "next", region="body>div.pages>a")
        own = (Link(f"{START}item/{number}-{at}", region="body>ul.items>li>a") for at in range(2))
        return page(START if number == 0 else f"{START}list?page={number}", more, *own)

    pages: dict[str, Answer] = {own.url: own for own in map(list_page, range(5))}
    pages |= {link.url: page(link.url) for own in map(list_page, range(5)) for link in own.links[1:]}
    visits = walk(SiteProgram(), pages, GoalPattern("/item/")).visits
    program = learn_program(visits)
    assert 'in "div.pages>a": follow /list?page=* repeatedly' in str(program)
    followed = walk(program, pages, GoalPattern("/item/"))
    assert [visit.is_goal for visit in followed.visits].count(True) == 10


def test_a_program_is_followed_first() -> None:
    done = walk(PEOPLE, world())
    assert done.urls[1] == f"{START}people/"
    assert sorted(done.urls[2:8]) == [f"{START}people/p{number}" for number in range(6)]


def test_a_route_that_no_longer_leads_to_goals_is_dropped() -> None:
    pages = world(people=30)
    done = walk(PEOPLE, pages, GoalPattern("/news/."))
    first_news = done.urls.index(f"{START}news/")
    assert 5 < first_news < 15
    assert len(done.urls) == len(pages)


def test_a_replayed_run_with_a_program_continues_in_the_same_order() -> None:
    pages = world(people=30)
    whole = walk(PEOPLE, pages, GoalPattern("/news/."))
    for stopped_after in (1, 4, 9, 20):
        again = Forager(SITE, BreadthFirst(GoalPattern("/news/.")), ForageLimits(), Politeness(0.0), PEOPLE)
        for visit in whole.visits[:stopped_after]:
            again.replay(visit, pages[visit.url] if isinstance(pages[visit.url], Page) else None)  # type: ignore[arg-type]
        assert Walk(again, pages).run().urls == whole.urls[stopped_after:]


def test_yields_of_routes_recover_when_goals_are_found_again() -> None:
    yields, end = RouteYields(PEOPLE), ((0, 2),)
    while yields.leads(end):
        yields.learn(end, 0.0)
    for _ in range(5):
        yields.learn(end, 1.0)
    assert yields.leads(end)
    assert MIN_YIELD < 1


def test_links_on_a_route_come_before_all_others_in_the_order_of_their_scores() -> None:
    scores = RevisedScores(Frontier(), RouteYields(PEOPLE))
    end = ((0, 2),)
    assert [scores.revised(prior, (), end) for prior in (0.0, 0.5, 1.0)] == pytest.approx(
        [FOLLOWED_FIRST, (1 + FOLLOWED_FIRST) / 2, 1.0]
    )
    assert scores.revised(0.5, (), ()) == 0.5
    for _ in range(50):
        scores.yields.learn(end, 0.0)
    assert scores.revised(0.5, (), end) == 0.5


def test_a_route_whose_pages_a_person_rejects_is_followed_first_no_more() -> None:
    scores, end = RevisedScores(Frontier(), RouteYields(PEOPLE)), ((0, 2),)
    for number in range(3):
        url = f"{START}people/p{number}"
        scores.frontier.add(QueuedLink(url, 0.9, position=end))
        link = scores.frontier.best()
        assert link is not None
        scores.frontier.take(link)
        scores.learn(link, 1.0, Visit(START, number, url, "ok", 0.0, goal=1.0, is_goal=True))
        assert scores.yields.leads(end)
    for number in range(3):
        scores.answer(f"{START}people/p{number}", is_goal=False)
    assert not scores.yields.leads(end)


def test_a_redirected_link_is_learned_by_the_url_that_pages_link_to() -> None:
    @dataclass
    class Numbered:
        visits: list[Visit] = field(default_factory=list)

        def add(self, url: str, kind: str = "a", parent: int | None = 0, *, goal: bool = False) -> int:
            number = len(self.visits)
            self.visits.append(
                Visit(START, number, url, "ok", 0.0, parent, link_region="body>ul>li>a",
                      link_kind=kind, is_goal=goal)  # type: ignore[arg-type]
            )  # fmt: skip
            return number

    visits = Numbered()
    visits.add(START, "start", None)
    for name in "ab":
        old = visits.add(f"{START}old/{name}.htm")
        visits.add(f"{START}new/{name}", "redirect", old, goal=True)
    assert str(learn_program(visits.visits)) == 'in "ul>li>a": follow /old/*.htm\n'


@pytest.mark.parametrize(
    "line", ["go /people", "follow people", 'in "ul: follow /x', "in ul: follow /x", 'in "\\q": follow /x']
)
def test_a_line_that_cannot_be_read_is_named(line: str) -> None:
    with pytest.raises(UsageError, match="Line 2 of the program cannot be read"):
        SiteProgram.parse(f"follow /\n{line}")


def test_patterns_match_between_slashes_only_and_on_the_hosts_that_they_name() -> None:
    step = RouteStep("", "/people/*")
    assert step.matches(Link(f"{START}people/ada"), "s.example")
    assert not step.matches(Link(f"{START}people/ada/cv"), "s.example")
    assert not step.matches(Link("http://other.example/people/ada"), "s.example")
    assert RouteStep("", "//other.example/*").matches(Link("http://other.example/ada"), "s.example")


def test_a_region_may_be_any_part_of_a_link_region() -> None:
    link = Link(f"{START}x", region="body>div.main>ul.people>li>a")
    assert RouteStep("ul.people", "/x").matches(link, "s.example")
    assert not RouteStep("ul", "/x").matches(link, "s.example")


_regions = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_patterns = st.text("abc*/?=.-~%é", max_size=15).map(lambda text: f"/{text}")
_steps = st.builds(RouteStep, _regions, _patterns, st.booleans())
_programs = st.builds(
    SiteProgram, st.lists(st.lists(_steps, min_size=1, max_size=4).map(tuple), max_size=4).map(tuple)
)


@given(_programs)
def test_a_program_survives_being_written_and_read(program: SiteProgram) -> None:
    assert SiteProgram.parse(str(program)) == program


@given(st.lists(st.text("ab-1", min_size=1, max_size=6), min_size=2, max_size=6, unique=True))
def test_a_learned_program_leads_to_every_goal_that_it_was_learned_from(names: list[str]) -> None:
    links = [Link(f"{START}list/{name}", region="body>ul>li>a") for name in names]
    pages: dict[str, Answer] = {
        START: page(START, Link(f"{START}all", region="body>nav>a")),
        f"{START}all": page(f"{START}all", *links),
    }
    pages |= {link.url: page(link.url) for link in links}
    program = learn_program(walk(SiteProgram(), pages, GoalPattern("/list/")).visits)
    at = program.advance(program.start, Link(f"{START}all", region="body>nav>a"), "s.example")
    assert all(program.ends(program.advance(at, link, "s.example")) for link in links)

"""Why pages are taken for goals and links for promising, and which links are left alone."""

from __future__ import annotations

import pytest

from wayhound.fetched import Fetched
from wayhound.forage.explain import PATH_REASON, explain, why_page
from wayhound.forage.forager import Fetch, Forager
from wayhound.forage.politeness import Politeness
from wayhound.forage.scope import refusal_reason
from wayhound.forage.scorer import Scorer, StrategyInput
from wayhound.forage.scorers import SCORERS, TAUGHT_STRATEGIES
from wayhound.page import Link, Page
from wayhound.paths.settings import PathSettings
from wayhound.paths.trainers import TRAINERS
from wayhound.site import Site
from wayhound.trail import FAIL, GOAL, Step, Trail


def pages_of(site: str) -> dict[str, Page]:
    people = Link(f"{site}people", "Our people", region="body>ul>li>a")
    news = Link(f"{site}news", "News", region="body>ul>li>a")
    lise, omar = Link(f"{site}~lise", "Lise Lind"), Link(f"{site}~omar", "Omar Oak")
    cake = Link(f"{site}news/cake", "Cake today")
    made = [
        Page(site, "Department", tokens=("welcome",), links=(people, news)),
        Page(people.url, "People", tokens=("faculty", "list"), links=(lise, omar)),
        Page(news.url, "News", tokens=("latest",), links=(cake,)),
        Page(lise.url, "Lise Lind", tokens=("homepage", "professor", "papers")),
        Page(omar.url, "Omar Oak", tokens=("homepage", "professor", "papers")),
        Page(cake.url, "Cake", tokens=("cake", "kitchen")),
    ]
    return {page.url: page for page in made}


def trails_of(site: str) -> list[Trail]:
    pages = pages_of(site)
    start, people, news = pages[site], pages[f"{site}people"], pages[f"{site}news"]
    to_people, to_news = Step(people, start.links[0], "people"), Step(news, start.links[1])
    goals = [Step(pages[link.url], link, GOAL) for link in people.links]
    fail = Step(pages[f"{site}news/cake"], news.links[0], FAIL)
    return [
        *(Trail(site, (Step(start), to_people, goal)) for goal in goals),
        Trail(site, (Step(start), to_news, fail)),
    ]


SITES = ("http://a.example/", "http://b.example/")
NEW = "http://c.example/"
TRAILS = [trail for site in SITES for trail in trails_of(site)]


@pytest.fixture(scope="module", params=TAUGHT_STRATEGIES)
def scorer(request: pytest.FixtureRequest) -> Scorer:
    model = TRAINERS[request.param](TRAILS, PathSettings())
    return SCORERS[request.param](StrategyInput(model=model))


@pytest.fixture(scope="module")
def path_learner() -> Scorer:
    return SCORERS["path-learner"](StrategyInput(model=TRAINERS["path-learner"](TRAILS, PathSettings())))


def test_links_are_rated_the_best_first_with_label_and_reasons(path_learner: Scorer) -> None:
    found = explain(path_learner, Site(NEW), [(None, pages_of(NEW)[NEW])])
    people, news = found.links
    assert (people.link.text, news.link.text) == ("Our people", "News")
    assert people.score > news.score
    assert people.label == "people"
    assert people.why[0][1] > 0


def test_the_ratings_are_those_of_the_strategy(scorer: Scorer) -> None:
    start = pages_of(NEW)[NEW]
    found = explain(scorer, Site(NEW), [(None, start)])
    rated = scorer.rate(scorer.read(scorer.start(Site(NEW)), start), start.links)
    assert [each.score for each in found.links] == sorted((each.score for each in rated), reverse=True)
    assert all(each.label and each.why for each in found.links)


def test_a_page_is_read_at_the_end_of_its_way(path_learner: Scorer) -> None:
    pages = pages_of(NEW)
    to_people, lise = pages[NEW].links[0], pages[f"{NEW}people"].links[0]
    way = [(None, pages[NEW]), (to_people, pages[f"{NEW}people"]), (lise, pages[f"{NEW}~lise"])]
    found = explain(path_learner, Site(NEW), way)
    assert (found.label, found.title) == (GOAL, "Lise Lind")
    assert found.goal > 0.5
    assert PATH_REASON in dict(found.why)
    without_link = explain(path_learner, Site(NEW), [(None, page) for _, page in way])
    assert without_link == found  # the link is found on the page before


def test_nothing_is_told_of_strategies_without_a_model() -> None:
    plain = SCORERS["breadth-first"](StrategyInput())
    page = pages_of(NEW)[NEW]
    assert why_page(plain, plain.start(Site(NEW)), page) == ()
    found = explain(plain, Site(NEW), [(None, page)])
    assert [link.why for link in found.links] == [(), ()]


def test_the_visit_of_a_goal_carries_its_reasons_and_no_other_does(scorer: Scorer) -> None:
    pages = pages_of(NEW)
    forager = Forager(Site(NEW), scorer, politeness=Politeness(0.0))
    visits = []
    while isinstance(action := forager.next_action(0.0), Fetch):
        url = action.link.url
        answer = Fetched(url, 200, content_type="text/html")
        visits.append(forager.tell(action.link, answer, pages[url], now=0.0, at=0.0))
    assert {visit.url for visit in visits if visit.is_goal} == {f"{NEW}~lise", f"{NEW}~omar"}
    assert all(bool(visit.why) == visit.is_goal for visit in visits)


def test_a_target_with_several_links_is_shown_once_by_its_best(path_learner: Scorer) -> None:
    start = pages_of(NEW)[NEW]
    twice = Page(NEW, "Department", tokens=start.tokens, links=(Link(f"{NEW}people", "x"), *start.links))
    found = explain(path_learner, Site(NEW), [(None, twice)])
    assert [rated.link.url for rated in found.links].count(f"{NEW}people") == 1


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        (Link(f"{NEW}in"), ""),
        (Link("http://elsewhere.example/"), "out_of_scope"),
        (Link(f"{NEW}in", nofollow=True), "nofollow"),
        (Link(f"{NEW}in", kind="canonical"), "other_name"),
        (Link(f"{NEW}a/a/a/a/"), "looping_path"),
    ],
)
def test_links_are_left_alone_for_a_reason(link: Link, reason: str) -> None:
    assert refusal_reason(Site(NEW), link) == reason

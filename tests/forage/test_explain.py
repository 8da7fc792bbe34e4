"""Explanations of goals and of links, and the links that are not followed."""

from __future__ import annotations

import pytest

from wayhound.fetched import Fetched
from wayhound.forage.explain import PATH_REASON, RatedLink, explain, why_page
from wayhound.forage.forager import Fetch, Forager
from wayhound.forage.politeness import Politeness
from wayhound.forage.scope import refusal_reason
from wayhound.forage.scorer import Scorer, StrategyInput
from wayhound.forage.scorers import SCORERS, TAUGHT_STRATEGIES
from wayhound.page import Link, Page
from wayhound.paths.settings import PathSettings
from wayhound.paths.spiders import Material, default_settings, train_strategy
from wayhound.paths.trainers import TRAINERS
from wayhound.site import Site
from wayhound.trail import FAIL, GOAL, Step, Trail
from wayhound.wording.reasons import format_main_reason, format_tie


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
    model = train_strategy(request.param, Material(TRAILS), default_settings(request.param))
    return SCORERS[request.param](StrategyInput(model=model))


@pytest.fixture(scope="module")
def path_learner() -> Scorer:
    return SCORERS["path-learner"](StrategyInput(model=TRAINERS["path-learner"](TRAILS, PathSettings())))


def test_links_are_rated_best_first_with_label_and_reasons(path_learner: Scorer) -> None:
    explanation = explain(path_learner, Site(NEW), [(None, pages_of(NEW)[NEW])])
    people, news = explanation.links
    assert (people.link.text, news.link.text) == ("Our people", "News")
    assert people.score > news.score
    assert people.label == "people"
    assert people.why[0][1] > 0


def test_the_ratings_are_those_of_the_strategy(scorer: Scorer) -> None:
    start = pages_of(NEW)[NEW]
    explanation = explain(scorer, Site(NEW), [(None, start)])
    rated = scorer.rate(scorer.read(scorer.start(Site(NEW)), start), start.links)
    assert [rated_link.score for rated_link in explanation.links] == sorted(
        (rated_link.score for rated_link in rated), reverse=True
    )
    assert all(rated_link.label and rated_link.why for rated_link in explanation.links)


def test_a_page_is_read_at_the_end_of_its_path(path_learner: Scorer) -> None:
    pages = pages_of(NEW)
    to_people, lise = pages[NEW].links[0], pages[f"{NEW}people"].links[0]
    path = [(None, pages[NEW]), (to_people, pages[f"{NEW}people"]), (lise, pages[f"{NEW}~lise"])]
    explanation = explain(path_learner, Site(NEW), path)
    assert (explanation.label, explanation.title) == (GOAL, "Lise Lind")
    assert explanation.goal > 0.5
    assert PATH_REASON in dict(explanation.why)
    without_link = explain(path_learner, Site(NEW), [(None, page) for _, page in path])
    assert without_link == explanation  # the link is found on the page before


def test_the_strongest_reason_is_one_sentence_and_a_tie_is_said() -> None:
    weights = (("title papers", 0.4), ("says people", 1.5), ("body law", -3.0))
    assert format_main_reason(weights) == "Mainly because of “people” in the link."
    assert "the way here, the pages and links before it, and because of “papers” in its title." in (
        format_main_reason(((PATH_REASON, 2.0), ("title papers", 0.4)))
    )
    assert format_main_reason((("body law", -3.0),)) == ""
    first, second, third = (
        RatedLink(Link(f"http://s.example/{name}", name), score, "", 0.0, ())
        for name, score in (("People", 0.42), ("News", 0.418), ("Contact", 0.1))
    )
    assert "2 links share the best score (People, News)" in format_tie([first, second, third])
    assert format_tie([first, third]) == format_tie([first]) == format_tie([]) == ""


def test_strategies_without_a_model_give_no_reasons() -> None:
    plain = SCORERS["breadth-first"](StrategyInput())
    page = pages_of(NEW)[NEW]
    assert why_page(plain, plain.start(Site(NEW)), page) == ()
    explanation = explain(plain, Site(NEW), [(None, page)])
    assert [link.why for link in explanation.links] == [(), ()]


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
    explanation = explain(path_learner, Site(NEW), [(None, twice)])
    assert [rated.link.url for rated in explanation.links].count(f"{NEW}people") == 1


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
def test_links_that_are_not_followed_have_a_reason(link: Link, reason: str) -> None:
    assert refusal_reason(Site(NEW), link) == reason

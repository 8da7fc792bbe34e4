"""The contract of a strategy, run over all of them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from tests.forage.world import Answer, Walk
from tests.paths.small_sites import trails_of
from wayhound.errors import UsageError
from wayhound.forage.forager import Forager
from wayhound.forage.politeness import Politeness
from wayhound.forage.scorer import GoalPattern, RecognisingScorer, StrategyInput
from wayhound.forage.scorers import SCORERS, TAUGHT_STRATEGIES
from wayhound.page import Link, Page
from wayhound.paths.spiders import Material, default_settings, train_strategy
from wayhound.site import Site

SITE = Site("http://s.example/")
BRIEF = StrategyInput(keywords=("contact", "address"), seed=3)
TRAILS = [*trails_of("s1"), *trails_of("s2")]


@cache
def brief_for(name: str) -> StrategyInput:
    if name not in TAUGHT_STRATEGIES:
        return BRIEF
    return StrategyInput(model=train_strategy(name, Material(TRAILS), default_settings(name)))


def world() -> dict[str, Answer]:
    names = ["news", "about", "contact", "jobs", "press", "shop"]
    links = tuple(Link(f"http://s.example/{name}", text=name, after=(name, "page")) for name in names)
    pages: dict[str, Answer] = {
        link.url: Page(link.url, title=link.text, tokens=(link.text, "words"), links=links, digest=link.url)
        for link in links
    }
    return {
        "http://s.example/": Page("http://s.example/", tokens=("home",), links=links, digest="h"),
        **pages,
    }


@pytest.mark.parametrize("name", SCORERS)
def test_scores_are_shares_of_a_goal_one_for_each_link(name: str) -> None:
    scorer = SCORERS[name](brief_for(name))
    page = world()["http://s.example/"]
    assert isinstance(page, Page)
    reading = scorer.read(scorer.start(SITE), page)
    rated = scorer.rate(reading, page.links)
    assert len(rated) == len(page.links)
    assert all(0.0 <= link.score <= 1.0 for link in rated)
    assert 0.0 <= reading.goal <= 1.0
    assert scorer.rate(reading, ()) == []


@pytest.mark.parametrize("name", SCORERS)
def test_a_strategy_is_deterministic(name: str) -> None:
    orders = [
        Walk(Forager(SITE, SCORERS[name](brief_for(name)), politeness=Politeness(0.0)), world()).run().urls
        for _ in "ab"
    ]
    assert orders[0] == orders[1]
    assert len(orders[0]) == 7


def test_best_first_follows_its_keywords() -> None:
    done = Walk(Forager(SITE, SCORERS["best-first"](BRIEF), politeness=Politeness(0.0)), world()).run()
    assert done.urls[1] == "http://s.example/contact"


def by_words(*words: str) -> StrategyInput:
    return StrategyInput(GoalPattern.for_words(words), words)


def test_a_search_by_keywords_reports_goals_likely_pages_and_a_verdict() -> None:
    scorer = SCORERS["best-first"](by_words("contact", "address"))
    assert isinstance(scorer, RecognisingScorer)
    Walk(Forager(SITE, scorer, politeness=Politeness(0.0)), world()).run()
    report = scorer.report()
    assert [page.url for page in report.goals] == ["http://s.example/contact"]
    assert 0.0 <= report.none_probability < 0.5
    refused = scorer.report(answers={"http://s.example/contact": False})
    assert "http://s.example/contact" not in [page.url for page in (*refused.goals, *refused.likely)]
    confirmed = scorer.report(answers={"http://s.example/jobs": True})
    assert confirmed.goals[0].url == "http://s.example/jobs"
    assert confirmed.none_probability == 0.0


def test_a_site_on_which_no_keyword_is_has_probably_no_goal() -> None:
    scorer = SCORERS["best-first"](by_words("zeppelin"))
    assert isinstance(scorer, RecognisingScorer)
    Walk(Forager(SITE, scorer, politeness=Politeness(0.0)), world()).run()
    report = scorer.report()
    assert report.goals == ()
    assert report.none_probability > 0.8


def test_entries_of_a_matching_page_are_recognised_without_a_keyword_of_their_own() -> None:
    people = Link("http://s.example/people", text="People", region="nav>a")
    entries = tuple(
        Link(f"http://s.example/~{name}", text=name, region="ul>li>a") for name in ("ada", "alan", "kay")
    )
    other = Link("http://s.example/legal", text="Legal notice", region="nav>a")
    pages: dict[str, Answer] = {
        "http://s.example/": Page("http://s.example/", title="S", links=(people, other), digest="h"),
        people.url: Page(people.url, title="People", links=entries, digest="p"),
        other.url: Page(other.url, title="Legal notice", digest="o"),
        **{
            link.url: Page(link.url, title=link.text, tokens=("home", "page"), digest=link.url)
            for link in entries
        },
    }
    scorer = SCORERS["best-first"](by_words("people"))
    assert isinstance(scorer, RecognisingScorer)
    Walk(Forager(SITE, scorer, politeness=Politeness(0.0)), pages).run()
    report = scorer.report(threshold=0.0)
    rank = {page.url: number for number, page in enumerate((*report.goals, *report.likely))}
    assert max(rank[link.url] for link in entries) < rank[other.url]


@pytest.mark.parametrize(
    "given",
    [
        StrategyInput(GoalPattern("impressum"), ("contact",)),
        StrategyInput(keywords=("contact",)),
        replace(by_words("contact"), examples=(Page("http://s.example/c", title="Contact"),)),
    ],
    ids=["a pattern", "facts", "example pages"],
)
def test_keywords_recognise_no_goals_where_something_else_says_what_they_are(given: StrategyInput) -> None:
    assert not isinstance(SCORERS["best-first"](given), RecognisingScorer)


def test_best_first_without_words_or_examples_says_what_it_needs() -> None:
    with pytest.raises(UsageError, match="needs keywords or example pages"):
        SCORERS["best-first"](StrategyInput())


def test_random_order_depends_on_the_seed_alone() -> None:
    def order(seed: int) -> list[str]:
        scorer = SCORERS["random"](StrategyInput(seed=seed))
        return Walk(Forager(SITE, scorer, politeness=Politeness(0.0)), world()).run().urls

    assert order(1) == order(1)
    assert len({tuple(order(seed)) for seed in range(5)}) > 1


@pytest.mark.parametrize("name", TAUGHT_STRATEGIES)
def test_a_taught_strategy_without_a_model_is_an_error(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} needs a model"):
        SCORERS[name](StrategyInput())

"""The contract of a strategy, run over all of them."""

from __future__ import annotations

import pytest

from tests.forage.world import Answer, Walk
from tests.paths.small_sites import trails_of
from wayhound.errors import UsageError
from wayhound.forage.forager import Forager
from wayhound.forage.politeness import Politeness
from wayhound.forage.scorer import StrategyInput
from wayhound.forage.scorers import SCORERS, TAUGHT_STRATEGIES
from wayhound.page import Link, Page
from wayhound.paths.spiders import Material, default_settings, train_strategy
from wayhound.site import Site

SITE = Site("http://s.example/")
BRIEF = StrategyInput(keywords=("contact", "address"), seed=3)
TRAILS = [*trails_of("s1"), *trails_of("s2")]
BRIEFS = {
    **dict.fromkeys(SCORERS, BRIEF),
    **{
        name: StrategyInput(model=train_strategy(name, Material(TRAILS), default_settings(name)))
        for name in TAUGHT_STRATEGIES
    },
}


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
    scorer = SCORERS[name](BRIEFS[name])
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
        Walk(Forager(SITE, SCORERS[name](BRIEFS[name]), politeness=Politeness(0.0)), world()).run().urls
        for _ in "ab"
    ]
    assert orders[0] == orders[1]
    assert len(orders[0]) == 7


def test_best_first_follows_its_keywords() -> None:
    done = Walk(Forager(SITE, SCORERS["best-first"](BRIEF), politeness=Politeness(0.0)), world()).run()
    assert done.urls[1] == "http://s.example/contact"


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

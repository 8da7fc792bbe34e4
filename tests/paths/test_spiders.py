"""Models of recorded sites and of marked browsing: what they learn, what they need, and that they can be kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tests.paths.small_sites import NAMES, site_pages, trails_of
from wayhound.errors import ModelError, TeachingError, UsageError
from wayhound.forage.scorer import Scorer, StrategyInput
from wayhound.forage.scorers import SCORERS
from wayhound.forage.scorers.q_spider import QSpider
from wayhound.page import Page
from wayhound.paths.hops import HopModel, HopSettings, browsed_sites
from wayhound.paths.page_space import gather_keywords
from wayhound.paths.q_model import QModel, QSettings, count_site, fit_q_model, train_q_spider
from wayhound.paths.rollout import RecordedSite
from wayhound.paths.settings import PathSettings
from wayhound.paths.spiders import (
    SPIDERS,
    Material,
    TrainedModel,
    change_settings,
    default_settings,
    settings_from_json,
    settings_to_json,
    train_strategy,
    unpack_model,
)
from wayhound.site import Site

HOSTS = list(NAMES)
TRAILS = [trail for host in HOSTS[:2] for trail in trails_of(host)]


def recorded(host: str) -> RecordedSite:
    pages = site_pages(host)
    return RecordedSite.closed(
        f"http://{host}.example/", pages, [url for url in pages if "/staff/" in url and url.endswith(".html")]
    )


SITES = [recorded(host) for host in HOSTS[:2]]


def trained(strategy: str, **changes: object) -> TrainedModel:
    settings = change_settings(
        default_settings(strategy), [f"{name}={value}" for name, value in changes.items()]
    )
    return train_strategy(strategy, Material(TRAILS, SITES), settings)


def scores(scorer: Scorer, host: str = "s3") -> dict[str, float]:
    """Scores of the links of a start page by their text."""
    page = site_pages(host)[f"http://{host}.example/"]
    reading = scorer.read(scorer.start(Site(page.url)), page)
    return {
        link.text: rated.score
        for link, rated in zip(page.links, scorer.rate(reading, page.links), strict=True)
    }


@pytest.mark.parametrize("strategy", sorted(SPIDERS))
def test_links_that_lead_to_goals_elsewhere_score_more(strategy: str) -> None:
    model = trained(strategy, **({} if strategy == "q-spider" else {"order": "marginals"}))
    rated = scores(SCORERS[strategy](StrategyInput(model=model)))
    assert rated["Staff"] == max(rated.values())
    assert all(0 <= score <= 1 for score in rated.values())


@pytest.mark.parametrize("strategy", sorted(SPIDERS))
def test_a_model_that_was_kept_scores_the_same(strategy: str) -> None:
    model = trained(strategy)
    again = unpack_model(*model.pack())
    assert again.strategy == strategy
    assert scores(SCORERS[strategy](StrategyInput(model=again))) == pytest.approx(
        scores(SCORERS[strategy](StrategyInput(model=model)))
    )


@pytest.mark.parametrize("strategy", sorted(SPIDERS))
def test_a_damaged_model_is_refused(strategy: str) -> None:
    arrays, meta = trained(strategy).pack()
    for name in arrays:
        with pytest.raises(ModelError):
            unpack_model({key: array for key, array in arrays.items() if key != name}, meta)
    with pytest.raises(ModelError):
        unpack_model({name: np.full_like(array, np.nan) for name, array in arrays.items()}, meta)
    with pytest.raises(ModelError):
        unpack_model(arrays, {**meta, "settings": {"gamma": "much"}})


@pytest.mark.parametrize("strategy", sorted(SPIDERS))
def test_states_and_bins_have_a_worth_and_reasons(strategy: str) -> None:
    model = trained(strategy)
    assert len(model.labels) == len(model.rewards)
    for label in model.labels:
        assert len(model.strongest(label, 3)) == 3
    with pytest.raises(UsageError, match="has no"):
        model.strongest("nothing", 3)


@pytest.mark.parametrize("strategy", sorted(SPIDERS))
def test_settings_survive_a_report(strategy: str) -> None:
    settings = default_settings(strategy)
    assert settings_from_json(strategy, settings_to_json(settings)) == settings
    with pytest.raises(ModelError, match="train it again"):
        settings_from_json(strategy, {"unknown": 1})


@pytest.mark.parametrize("strategy", sorted(SPIDERS))
def test_without_goals_it_says_what_to_add(strategy: str) -> None:
    nothing = [RecordedSite.closed(site.name, site.pages, []) for site in SITES]
    with pytest.raises(TeachingError, match=r"goal|useful"):
        train_strategy(strategy, Material(TRAILS, nothing), default_settings(strategy))


@pytest.mark.parametrize("strategy", sorted(SPIDERS))
def test_without_any_site_it_says_what_to_add(strategy: str) -> None:
    with pytest.raises(TeachingError, match="recorded sites with labels"):
        train_strategy(strategy, Material(), default_settings(strategy))


@pytest.mark.parametrize("strategy", sorted(SPIDERS))
def test_one_site_alone_can_be_learned_from(strategy: str) -> None:
    model = train_strategy(strategy, Material(trails_of("s1"), SITES[:1]), default_settings(strategy))
    assert scores(SCORERS[strategy](StrategyInput(model=model)))


@pytest.mark.parametrize("strategy", sorted(SPIDERS))
def test_a_model_of_another_strategy_is_refused(strategy: str) -> None:
    other = trained(next(name for name in SPIDERS if name != strategy))
    with pytest.raises(UsageError):
        SCORERS[strategy](StrategyInput(model=other))
    with pytest.raises(UsageError, match="needs a model"):
        SCORERS[strategy](StrategyInput())


def test_values_of_bins_are_means_and_rise() -> None:
    model = trained("q-spider")
    assert isinstance(model, QModel)
    assert list(model.values) == sorted(model.values)
    assert model.values[-1] >= 1.0
    assert model.settings.cuts == (0.25, 0.5, 1.0)
    assert model.labels == ("Q ≥ 0", "Q ≥ 0.25", "Q ≥ 0.5", "Q ≥ 1")


def test_a_focused_spider_sees_immediate_rewards_alone() -> None:
    model = train_q_spider(SITES, QSettings(gamma=0.0, bins=2))
    assert model.values.tolist() == [0.0, 1.0]
    assert model.settings.cuts == (1.0,)


def test_lists_can_have_a_bin_of_their_own() -> None:
    model = trained("q-spider", cut_points="lists")
    assert model.labels == ("Q ≥ 0", "Q ≥ 0.5", "Q ≥ 0.9", "Q ≥ 1")
    assert list(model.rewards) == sorted(model.rewards)


def test_counts_of_sites_add_up_to_the_model_of_all() -> None:
    chosen = QSettings()
    together = fit_q_model([count_site(site, chosen) for site in SITES], chosen)
    arrays, meta = train_q_spider(SITES, chosen).pack()
    assert meta == together.pack()[1]
    assert all((arrays[name] == value).all() for name, value in together.pack()[0].items())


def test_within_a_site_links_of_one_list_are_a_group_but_sections_of_the_start_page_are_not() -> None:
    model = trained("q-spider")
    assert isinstance(model, QModel)
    scorer, pages = QSpider(model), site_pages("s3")
    start = pages["http://s3.example/"]
    reading = scorer.read(scorer.start(Site(start.url)), start)
    sections = scorer.rate(reading, start.links)
    assert not any(rated.groups for rated in sections)
    inner = next(page for page in pages.values() if page.url != start.url and page.links)
    assert all(rated.groups for rated in scorer.rate(scorer.read(sections[0].state, inner), inner.links))


@pytest.mark.parametrize("text", ["page", "link", "all"])
def test_every_text_of_links_can_be_used(text: str) -> None:
    rated = scores(SCORERS["q-spider"](StrategyInput(model=trained("q-spider", text=text, min_sites=1))))
    assert rated["Staff"] > rated["Shop"]


def test_a_link_met_on_two_pages_has_the_words_of_both() -> None:
    scorer = SCORERS["q-spider"](StrategyInput(model=trained("q-spider", pooling="sum")))
    pages = site_pages("s3")
    start = pages["http://s3.example/"]
    reading = scorer.read(scorer.start(Site(start.url)), start)
    link = next(link for link in start.links if link.text == "Staff")
    first, second = (scorer.rate(reading, [link])[0].score for _ in range(2))
    assert scorer.combine(first, second) == second
    assert second >= first  # the same good words twice are better evidence


def test_hops_are_learned_from_the_pages_on_trails() -> None:
    sites = browsed_sites(TRAILS)
    assert [site.name for site in sites] == ["http://s1.example/", "http://s2.example/"]
    assert all(len(site.goals) == 2 for site in sites)
    model = train_strategy("hop-hmm", Material(TRAILS), HopSettings(clusters=3))
    assert isinstance(model, HopModel)
    assert model.hmm is not None
    assert model.hmm.emissions_.shape == (5, 3)


def test_fewer_pages_than_clusters_is_an_error_that_names_a_setting() -> None:
    with pytest.raises(TeachingError, match="--set clusters="):
        train_strategy("hop-hmm", Material(trails_of("s1")), HopSettings(clusters=50))


def test_keywords_are_the_users_and_those_of_useful_pages() -> None:
    pages = {
        "a": Page("a", "Professor Ada", keywords=("staff",)),
        "b": Page("b", "Professor Bo"),
        "c": Page("c", "News today"),
    }
    keywords = gather_keywords([RecordedSite.closed("s", pages, "ab")], ["Tea Room"])
    assert {"professor", "tea", "room"} <= keywords.words
    assert "news" not in keywords.words


def test_without_keywords_the_crf_uses_its_other_features() -> None:
    model = trained("hop-crf")
    assert isinstance(model, HopModel)
    assert model.crf is not None
    assert model.crf.edge_weights_.shape == (2 * (5 + 4 + 1), 5, 5)


@pytest.mark.parametrize("features", ["real", "binary"])
def test_the_crf_takes_similarities_as_they_are_or_as_yes_and_no(features: str) -> None:
    assert scores(SCORERS["hop-crf"](StrategyInput(model=trained("hop-crf", features=features))))


def test_pages_that_were_downloaded_already_can_be_used_as_in_the_paper() -> None:
    from wayhound.forage.scorers.hops import Hops

    model = trained("hop-hmm", order="marginals")
    assert isinstance(model, HopModel)
    # of pages with one word each all are equally far from each other: only a goal page is sure to have its own cluster
    goal_page = site_pages("s1")["http://s1.example/staff/0.html"]
    downloaded = site_pages("s3") | {"http://s3.example/staff/": goal_page}
    rated = scores(Hops(model, peek=downloaded.get))
    assert rated["Staff"] > rated["Help"]


@pytest.mark.parametrize("strategy", sorted(SPIDERS))
def test_decisions_are_explained(strategy: str) -> None:
    from wayhound.forage.explain import explain

    scorer = SCORERS[strategy](StrategyInput(model=trained(strategy)))
    pages = site_pages("s3")
    start, staff = pages["http://s3.example/"], pages["http://s3.example/staff/"]
    explanation = explain(scorer, Site(start.url), [(None, start), (start.links[1], staff)])
    assert explanation.links
    assert explanation.why
    assert all(link.why and link.label for link in explanation.links)


def changes(*texts: str) -> Sequence[str]:
    return texts


def test_any_setting_can_be_changed_by_name() -> None:
    assert change_settings(PathSettings(), changes("topology=labels", "window=3")) == PathSettings(
        topology="labels", window=3
    )
    assert change_settings(QSettings(), changes("shrinkage=no", "gamma=0.9")) == QSettings(
        shrinkage=False, gamma=0.9
    )
    assert change_settings(HopSettings(), changes("states=4")) == HopSettings(states=4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("topology", "NAME=VALUE"),
        ("topologie=labels", "the names are"),
        ("topology=ring", "topology"),
        ("window=many", "number"),
        ("within_site=perhaps", "yes or no"),
    ],
)
def test_a_setting_that_cannot_be_is_explained(change: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        change_settings(PathSettings(), [change])


@pytest.mark.parametrize("change", ["gamma=1.5", "bins=9", "text=song", "pooling=none"])
def test_values_of_the_spider_are_checked(change: str) -> None:
    with pytest.raises(UsageError):
        change_settings(QSettings(), [change])

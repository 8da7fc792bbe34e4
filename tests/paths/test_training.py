"""Every taught strategy: what it learns, its explanations, and saving it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.paths.small_sites import SECTIONS, site_pages, trails_of
from wayhound.errors import ModelError, TeachingError, UsageError
from wayhound.fetched import Fetched
from wayhound.forage.forager import Fetch, Forager
from wayhound.forage.politeness import Politeness
from wayhound.forage.scorer import StrategyInput
from wayhound.forage.scorers import PATH_STRATEGIES, SCORERS
from wayhound.forage.scorers.path_learner import PathLearner
from wayhound.paths.features import PageContext, link_tokens, page_tokens
from wayhound.paths.model import ForageModel, unpack
from wayhound.paths.settings import LITERAL, PathSettings
from wayhound.paths.trainers import TRAINERS, train_adaptive
from wayhound.paths.traits import ReachedPage
from wayhound.site import Site
from wayhound.store.model_files import load_model, save_model
from wayhound.trail import FAIL, GOAL

TRAILS = [*trails_of("s1"), *trails_of("s2")]
EASY = PathSettings(prior_variance=3.0)
GOAL_TOKENS = {
    token
    for trail in TRAILS
    if trail.reached_goal
    for token in (
        *page_tokens(trail.steps[2].page, depth=2),
        *page_tokens(
            trail.steps[2].page, added=False, folded=False
        ),  # as the settings of the paper have them
        *link_tokens(trail.steps[1].page.links[0], PageContext.from_page(trail.steps[1].page)),
        *link_tokens(trail.steps[1].page.links[1], PageContext.from_page(trail.steps[1].page)),
    )
}
TESTED = {
    **{name: (name, EASY) for name in PATH_STRATEGIES},
    "one state a label": ("path-learner", replace(EASY, topology="labels")),
    "prefix states": ("path-learner", replace(EASY, states="prefix")),
    "the paper's own": ("path-learner", LITERAL),
    "the paper's own, one state a label": ("path-learner", replace(LITERAL, topology="labels")),
    "two classes": ("maxent", replace(EASY, states="binary")),
}


@pytest.fixture(scope="module", params=list(TESTED), ids=list(TESTED))
def model(request: pytest.FixtureRequest) -> ForageModel:
    strategy, settings = TESTED[request.param]
    return TRAINERS[strategy](TRAILS, settings)


def scores(model: ForageModel) -> list[float]:
    start = site_pages("s3")["http://s3.example/"]
    scorer = PathLearner(model)
    reading = scorer.read(scorer.start(Site(start.url)), start)
    return [link.score for link in scorer.rate(reading, start.links)]


def test_goals_have_the_highest_reward(model: ForageModel) -> None:
    assert model.labels[model.rewards.argmax()] == GOAL
    assert (model.rewards >= 0).all()
    assert (model.rewards <= 1).all()


def test_goals_of_a_new_site_are_recognised(model: ForageModel) -> None:
    pages = site_pages("s3")
    forager = Forager(Site("http://s3.example/"), PathLearner(model), politeness=Politeness(0.0))
    visits = []
    while isinstance(action := forager.next_action(0.0), Fetch):
        url = action.link.url
        visits.append(forager.tell(action.link, Fetched(url, 200), pages[url], now=0.0, at=0.0))
    goals = {visit.url for visit in visits if visit.label == GOAL}
    assert goals == {"http://s3.example/staff/0.html", "http://s3.example/staff/1.html"}


def test_the_strongest_tokens_of_a_label_are_returned(model: ForageModel) -> None:
    strongest = model.strongest(GOAL, 8)
    assert len(strongest) == 8
    assert [weight for _, weight in strongest] == sorted((weight for _, weight in strongest), reverse=True)
    assert strongest[0][1] > 0
    assert {token for token, _ in strongest} <= GOAL_TOKENS
    with pytest.raises(UsageError, match="has no label 'nobody'"):
        model.strongest("nobody", 1)


def test_a_model_that_was_saved_answers_as_before(model: ForageModel, tmp_path: Path) -> None:
    save_model(tmp_path / "m", "forage", 1, *model.pack())
    again = unpack(*load_model(tmp_path / "m", "forage", 1))
    assert (again.strategy, again.settings, again.labels) == (model.strategy, model.settings, model.labels)
    assert scores(again) == scores(model)
    assert again.strongest(FAIL, 5) == model.strongest(FAIL, 5)


def test_links_and_pages_are_explained_by_their_tokens(model: ForageModel) -> None:
    pages = site_pages("s3")
    scorer = PathLearner(model)
    start = pages["http://s3.example/"]
    state = scorer.start(Site(start.url))
    reading = scorer.read(state, start)
    staff = start.links[SECTIONS.index("staff")]
    reasons = scorer.why_link(reading, staff)
    assert "says staff" in dict(reasons)
    assert [abs(weight) for _, weight in reasons] == sorted((abs(w) for _, w in reasons), reverse=True)
    on_the_way = scorer.rate(reading, start.links)[SECTIONS.index("staff")].state
    listing = pages[staff.url]
    to_person = scorer.rate(scorer.read(on_the_way, listing), listing.links)[0].state
    person = pages[listing.links[0].url]
    assert scorer.read(to_person, person).label == GOAL
    assert dict(scorer.why_page(to_person, person))["body office"] > 0


def test_strategies_that_look_ahead_rate_the_path_to_goals_above_others() -> None:
    for name in ("path-learner", "maxent", "naive-bayes"):
        link_scores = scores(TRAINERS[name](TRAILS, EASY))
        assert max(link_scores) == link_scores[SECTIONS.index("staff")]


@pytest.mark.parametrize("name", ["path-learner", "maxent"])
def test_a_word_in_a_link_weighs_more_than_the_same_word_beside_it(name: str) -> None:
    """Both always occur together, so only their scales differ; with the paper's features they weigh the same."""
    for settings, ratio in ((EASY, (2.0 / 0.5) ** 2), (replace(EASY, features="paper"), 1.0)):
        model = TRAINERS[name](TRAILS, settings)
        column, weights = model.vocabulary.columns_, model.labeller.link_weights()
        on_the_way = model.labels.index("<" + GOAL)
        says, near = (weights[column[f"{kind} staff"], on_the_way] for kind in ("says", "near"))
        assert says > 0
        assert says / near == pytest.approx(ratio)


def test_the_focused_crawler_values_nothing_but_goals() -> None:
    model = TRAINERS["focused"](TRAILS, EASY)
    assert dict(zip(model.labels, model.rewards, strict=True))[GOAL] == 1.0
    assert model.rewards.sum() == 1.0
    assert not model.settings.within_site


def test_a_page_without_words_is_labelled_by_the_path_to_it() -> None:
    """Only a CRF can do that: it is the reason to carry beliefs along the path."""
    pages = site_pages("s3")
    start, staff = pages["http://s3.example/"], pages["http://s3.example/staff/"]
    scorer = PathLearner(TRAINERS["path-learner"](TRAILS, EASY))
    home = scorer.read(scorer.start(Site(start.url)), start)
    to_staff = scorer.rate(home, start.links)[SECTIONS.index("staff")]
    person = scorer.rate(scorer.read(to_staff.state, staff), staff.links)[0]
    silent = replace(pages[staff.links[0].url], title="", tokens=())
    assert scorer.read(person.state, silent).goal > 0.5
    assert scorer.read(scorer.start(Site(start.url)), silent).goal < 0.5


def test_scores_of_paths_that_meet_are_added_or_the_best_is_taken() -> None:
    best, added = (
        PathLearner(TRAINERS["path-learner"](TRAILS, replace(EASY, combine=how))) for how in ("max", "sum")
    )
    assert best.combine(0.2, 0.3) == 0.3
    assert added.combine(0.2, 0.3) == 0.5


def test_links_have_groups_only_if_the_settings_allow_it() -> None:
    pages = site_pages("s3")
    staff = pages["http://s3.example/staff/"]
    for within in (True, False):
        scorer = PathLearner(TRAINERS["path-learner"](TRAILS, replace(EASY, within_site=within)))
        start = pages["http://s3.example/"]
        first = scorer.rate(scorer.read(scorer.start(Site(start.url)), start), start.links)
        assert not any(rated.groups for rated in first)
        second = scorer.rate(scorer.read(first[1].state, staff), staff.links)
        assert all(bool(rated.groups) is within for rated in second)


def test_scores_alone_and_shared_have_the_same_mean() -> None:
    alone = scores(TRAINERS["path-learner"](TRAILS, replace(EASY, neighbours=0.0)))
    shared = scores(TRAINERS["path-learner"](TRAILS, replace(EASY, neighbours=0.5)))
    assert np.mean(alone) == pytest.approx(np.mean(shared))
    assert max(shared) - min(shared) < max(alone) - min(alone)


@pytest.mark.parametrize("name", PATH_STRATEGIES)
def test_without_a_goal_nothing_can_be_taught(name: str) -> None:
    with pytest.raises(TeachingError, match="No trail ends at a goal"):
        TRAINERS[name]([trail for trail in TRAILS if not trail.reached_goal], PathSettings())


def test_a_model_is_not_used_for_another_strategy() -> None:
    strategy_input = StrategyInput(model=TRAINERS["maxent"](TRAILS, EASY))
    with pytest.raises(UsageError, match="trained for maxent, not for focused"):
        SCORERS["focused"](strategy_input)


def packed() -> tuple[dict[str, Any], dict[str, Any]]:
    return TRAINERS["path-learner"](TRAILS, EASY).pack()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"strategy": "telepathy"}, "strategy that this version does not have"),
        ({"strategy": None}, "strategy that this version does not have"),
        ({"settings": {"body_tokens": 5}}, "settings are not those"),
        ({"settings": []}, "settings are not those"),
        (
            {"settings": PathSettings().to_json() | {"topology": "rings"}},
            "setting topology cannot be 'rings'",
        ),
        (
            {"settings": PathSettings().to_json() | {"body_tokens": "ten"}},
            "setting body_tokens cannot be 'ten'",
        ),
        ({"settings": PathSettings().to_json() | {"within_site": 1}}, "setting within_site cannot be 1"),
        ({"labels": ["a", "b"]}, "no label Goal"),
        ({"labels": "Goal"}, "labels are not a list of names"),
        ({"labels": [GOAL, GOAL]}, "labels occurs twice"),
        ({"labels": [GOAL, FAIL]}, "state_weights is of shape"),
        ({"tokens": ["title a"]}, "state_weights is of shape"),
        ({"tokens": [1, 2]}, "tokens are not a list of names"),
    ],
)
def test_an_inconsistent_model_raises_a_model_error(change: dict[str, Any], sentence: str) -> None:
    arrays, meta = packed()
    with pytest.raises(ModelError, match=sentence):
        unpack(arrays, meta | change)


def test_missing_or_broken_arrays_raise_a_model_error() -> None:
    arrays, meta = packed()
    with pytest.raises(ModelError, match="step_weights is missing"):
        unpack({name: array for name, array in arrays.items() if name != "step_weights"}, meta)
    with pytest.raises(ModelError, match="rewards holds what is not a number"):
        unpack(arrays | {"rewards": np.full_like(arrays["rewards"], np.nan)}, meta)
    with pytest.raises(ModelError, match=r"rewards is of shape .* and type int64"):
        unpack(arrays | {"rewards": np.zeros(len(arrays["rewards"]), dtype=np.int64)}, meta)


def test_settings_keep_their_values_in_a_file() -> None:
    assert PathSettings.from_json(LITERAL.to_json()) == LITERAL
    assert PathSettings() != LITERAL


def test_sites_with_failures_alone_count_no_more_than_the_sites_with_goals() -> None:
    """Many sites without a goal made every page of a new site look like none."""
    taught = [*trails_of("s1"), *trails_of("s2")]
    failing = [
        replace(trail, site=f"http://other{number}.example/")
        for number in range(40)
        for trail in trails_of("s3")
        if not trail.reached_goal
    ]
    few, many = (train_adaptive(trails, PathSettings()) for trails in (taught, [*taught, *failing]))
    assert many.labels == few.labels
    assert many.lesson.sites == few.lesson.sites == 2
    person = next(page for url, page in site_pages("s3").items() if url.endswith("/staff/0.html"))
    traits = ReachedPage(person, 2).traits()
    assert many.from_trails.log_odds(traits) > few.from_trails.log_odds(traits) - 1

"""The strategy adaptive: what it recognises, in which order it goes, and that a resumed forage is the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.paths.small_sites import site_pages, trails_of
from wayhound.errors import ModelError, UsageError
from wayhound.fetched import Fetched
from wayhound.forage.forager import Fetch, ForageLimits, Forager
from wayhound.forage.politeness import Politeness
from wayhound.forage.scorer import RecognisingScorer, StrategyInput
from wayhound.forage.scorers import SCORERS
from wayhound.forage.scorers.adaptive import MEAN_SHARE, PRIOR_SHARE, Adaptive, PageGroups
from wayhound.page import Link, Page
from wayhound.paths.model import AdaptiveModel, unpack
from wayhound.paths.page_names import NO_MATCH, TaughtNames
from wayhound.paths.settings import PathSettings
from wayhound.paths.site_recognition import LessonFacts
from wayhound.paths.trainers import train_adaptive
from wayhound.paths.trait_model import LinkPrior
from wayhound.paths.traits import Keywords, shared_file_name, trait_concept
from wayhound.site import Site
from wayhound.store.model_files import load_model, save_model
from wayhound.visit import Visit

PAGES = site_pages("s3")
SITE = Site("http://s3.example/")


@pytest.fixture(scope="module")
def model() -> AdaptiveModel:
    return train_adaptive([*trails_of("s1"), *trails_of("s2")], PathSettings())


def forage(scorer: Adaptive, pages: dict[str, Page] = PAGES, most: int = 100) -> list[Visit]:
    forager = Forager(SITE, scorer, ForageLimits(budget=most), Politeness(0.0))
    visits = []
    while isinstance(action := forager.next_action(0.0), Fetch):
        answer = Fetched(action.link.url, 200, content_type="text/html")
        visits.append(forager.tell(action.link, answer, pages[action.link.url], now=0.0, at=0.0))
    return visits


def test_staff_is_found_and_reported_before_anything_else(model: AdaptiveModel) -> None:
    scorer = Adaptive(model)
    visits = forage(scorer)
    assert [visit.url for visit in visits[1:4]] == [
        "http://s3.example/staff/", "http://s3.example/staff/0.html", "http://s3.example/staff/1.html"
    ]  # fmt: skip
    assert {found.url for found in scorer.report(max_doubt=1.0).goals} == {
        "http://s3.example/staff/0.html", "http://s3.example/staff/1.html"
    }  # fmt: skip


def test_keywords_raise_links_that_the_lesson_does_not_name(model: AdaptiveModel) -> None:
    scorer = SCORERS["adaptive"](StrategyInput(model=model, keywords=("news",)))
    page = Page("http://s3.example/", links=(Link("http://s3.example/n.html", "News"),))
    rated, plain = (
        own.rate(own.read(own.start(SITE), page), page.links)[0] for own in (scorer, Adaptive(model))
    )
    assert rated.score > plain.score


def test_without_keywords_the_strongest_concepts_of_the_lesson_are_matched_as_keywords(
    model: AdaptiveModel,
) -> None:
    strongest = model.prior.strongest()
    assert Adaptive(model).keywords.terms == tuple(strongest)
    assert strongest[0] == max(model.prior.near, key=lambda name: model.prior.near[name])
    given = SCORERS["adaptive"](StrategyInput(model=model, keywords=("news",)))
    assert isinstance(given, Adaptive)
    assert given.keywords.terms == ("news",)


def test_probabilities_lie_between_none_and_all_and_come_best_first(model: AdaptiveModel) -> None:
    scorer = Adaptive(model)
    forage(scorer)
    report = scorer.report()
    chances = [found.probability for found in (*report.goals, *report.likely)]
    assert chances == sorted(chances, reverse=True)
    assert all(0 <= chance <= 1 for chance in (*chances, report.none_probability))


def test_a_threshold_takes_the_place_of_the_best_cut(model: AdaptiveModel) -> None:
    scorer = Adaptive(model)
    forage(scorer)
    assert not scorer.report(threshold=1.1).goals
    assert len(scorer.report(threshold=0.0, max_doubt=1.0).goals) == len(PAGES)


def test_a_site_that_probably_has_none_reports_likely_pages_but_no_goals(model: AdaptiveModel) -> None:
    scorer = Adaptive(model)
    forage(scorer)
    report = scorer.report(max_doubt=0.0)
    assert not report.goals
    assert report.likely


def test_replayed_after_a_crash_it_continues_in_the_same_order(model: AdaptiveModel) -> None:
    whole = forage(Adaptive(model))
    for broken_after in (1, 3, 6):
        scorer = Adaptive(model)
        forager = Forager(SITE, scorer, ForageLimits(), Politeness(0.0))
        for visit in whole[:broken_after]:
            forager.replay(visit, PAGES[visit.url])
        again = []
        while isinstance(action := forager.next_action(0.0), Fetch):
            answer = Fetched(action.link.url, 200, content_type="text/html")
            again.append(forager.tell(action.link, answer, PAGES[action.link.url], now=0.0, at=0.0))
        assert [(visit.url, visit.score, visit.goal) for visit in again] == [
            (visit.url, visit.score, visit.goal) for visit in whole[broken_after:]
        ]


def test_answers_rate_links_of_the_same_list_anew_and_are_replayed_where_they_were_given(
    model: AdaptiveModel,
) -> None:
    def run(replayed: list[Visit], after: int, *, is_goal: bool) -> list[Visit]:
        forager, visits = Forager(SITE, Adaptive(model), ForageLimits(), Politeness(0.0)), list(replayed)
        for visit in replayed:
            if visit.number == after:
                forager.answer(visits[after - 1].url, is_goal)
            forager.replay(visit, PAGES[visit.url])
        while True:
            if len(visits) == after:
                forager.answer(visits[after - 1].url, is_goal)
            action = forager.next_action(0.0)
            if not isinstance(action, Fetch):
                return visits
            answer = Fetched(action.link.url, 200, content_type="text/html")
            visits.append(forager.tell(action.link, answer, PAGES[action.link.url], now=0.0, at=0.0))

    changed = False
    for after in (2, 3, 4):
        whole = run([], after, is_goal=False)
        again = run(whole[: after + 2], after, is_goal=False)
        assert [(visit.url, visit.score) for visit in again] == [(visit.url, visit.score) for visit in whole]
        other = run([], after, is_goal=True)
        changed |= [visit.score for visit in other] != [visit.score for visit in whole]
    assert changed


def test_a_link_on_several_pages_is_worth_most_of_the_best_and_some_of_their_mean(
    model: AdaptiveModel,
) -> None:
    scorer = Adaptive(model)
    link = Link("http://s3.example/staff/0.html", text="Ed Fox", region="body>ul>li>a")
    scores = []
    for page in (PAGES["http://s3.example/staff/"], PAGES["http://s3.example/news/"]):
        fresh, used = Adaptive(model), scorer
        alone = fresh.rate(fresh.read(fresh.start(SITE), page), [link])[0].score
        scores.append(alone)
        met = used.rate(used.read(used.start(SITE), page), [link])[0].score
    assert met == pytest.approx(MEAN_SHARE * sum(scores) / 2 + (1 - MEAN_SHARE) * max(scores))
    assert max(scores) > met > sum(scores) / 2


def test_links_below_a_goal_share_a_group_and_files_of_one_name_do_in_all_folders() -> None:
    lists = (("http://s.example/cs1/", "ul>li>a"),)
    page = PageGroups("http://s.example/cs1/", is_goal=True)
    below = page.groups(Link("http://s.example/cs1/homework/one.html"), lists)
    beside = page.groups(Link("http://s.example/people/ann/vita.html"), lists)
    assert below[0] == ("below goals",)
    assert beside[0] == ("shape", "s.example/people/ann/*.html")
    elsewhere = PageGroups("http://s.example/people/all/", is_goal=False)
    other = elsewhere.groups(Link("http://s.example/people/bob/vita.html"), lists)
    assert set(beside) & set(other) == {("file", "vita.html"), *lists}


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("ann/cs372/", "bob/CS304p.html", {("file", "cs9")}),
        ("ann/hw-1.html", "bob/hw_2.html", {("file", "hw9")}),
        ("ann/cs372/", "bob/hw3.html", set()),
        ("ann/372/", "bob/304.html", set()),
        ("ann/ways-to-2-goals.html", "bob/ways-to-3-goals.html", set()),
    ],
)
def test_pages_that_are_numbered_alike_share_a_group_in_all_folders(
    one: str, other: str, shared: set[tuple[str, str]]
) -> None:
    lists = (("http://s.example/", "ul>li>a"),)
    page = PageGroups("http://s.example/courses/", is_goal=False)
    groups = [set(page.groups(Link(f"http://s.example/{path}", region=path), lists)) for path in (one, other)]
    assert groups[0] & groups[1] - set(lists) == shared


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://s.example/a/package-tree.html", "package-tree.html"),
        ("http://s.example/a/index.html", ""),
        ("http://s.example/a/", ""),
        ("http://s.example/a/17.html", ""),
        ("http://s.example/a/how-to-choose-a-board.html", ""),
    ],
)
def test_file_names_that_say_nothing_or_are_a_title_are_not_shared(url: str, name: str) -> None:
    assert shared_file_name(url) == name


def test_concepts_far_from_goals_rate_links_less_than_they_name_pages(model: AdaptiveModel) -> None:
    prior = model.prior
    assert prior.near.keys() <= prior.weights.keys()
    assert replace(prior, near={}).link_weights == prior.weights


@pytest.mark.parametrize("use_urls", [True, False])
def test_entries_in_the_folder_of_a_list_come_before_menus_beside_it(
    model: AdaptiveModel, use_urls: bool
) -> None:
    scorer = Adaptive(replace(model, use_urls=use_urls), Keywords.from_words(["staff"], use_urls=False))
    page = Page("http://s3.example/x/list/", title="Staff")
    start = scorer.read(scorer.start(SITE), PAGES["http://s3.example/"])
    before = scorer.rate(start, [Link(page.url, "Here")])[0].state
    links = [Link(f"http://s3.example/x/{name}/", "Ada") for name in ("list/ada", "ada")]
    entry, beside = scorer.rate(scorer.read(before, page), links)
    assert entry.named > beside.named > 0 if use_urls else entry.named == beside.named > 0


def test_files_are_not_fetched_where_goals_are_pages(model: AdaptiveModel) -> None:
    scorer = Adaptive(model)
    reading = scorer.read(scorer.start(SITE), PAGES["http://s3.example/staff/"])
    links = [
        Link(f"http://s3.example/staff/{name}", text="Ed Fox", region="body>ul>li>a")
        for name in ("a.ps", "a.html")
    ]
    file, page = scorer.rate(reading, links)
    assert file.score == 0.0 < page.score


def test_the_same_lesson_gives_the_same_model_and_order(model: AdaptiveModel) -> None:
    again = train_adaptive([*trails_of("s1"), *trails_of("s2")], PathSettings())
    assert again.from_trails == model.from_trails
    assert [visit.url for visit in forage(Adaptive(again))] == [
        visit.url for visit in forage(Adaptive(model))
    ]


def test_a_model_that_was_kept_in_a_file_goes_the_same_way(model: AdaptiveModel, tmp_path: Path) -> None:
    save_model(tmp_path / "m", "test", 1, *model.pack())
    again = unpack(*load_model(tmp_path / "m", "test", 1))
    assert isinstance(again, AdaptiveModel)
    told = [
        [(visit.url, visit.score, visit.goal) for visit in forage(Adaptive(kept))] for kept in (model, again)
    ]
    assert told[0] == told[1]
    assert Adaptive(again).model.prior == model.prior
    assert again.names == model.names


def test_a_damaged_model_is_refused(model: AdaptiveModel) -> None:
    arrays, meta = model.pack()
    with pytest.raises(ModelError, match="Train it again"):
        unpack(arrays, {**meta, "prior": {}})
    with pytest.raises(ModelError, match="Train it again"):
        unpack(arrays, {**meta, "names": 1})
    with pytest.raises(ModelError, match="do not fit"):
        unpack({**arrays, "from_trails_weights": arrays["from_trails_weights"][1:]}, meta)
    with pytest.raises(ModelError, match="page_weights is missing"):
        unpack(arrays, {**meta, "strategy": "maxent"})
    with pytest.raises(UsageError, match="was trained for maxent, not for adaptive"):
        SCORERS["adaptive"](StrategyInput(model=replace(model, strategy="maxent")))


def test_it_is_a_strategy_that_recognises_and_needs_a_model(model: AdaptiveModel) -> None:
    assert isinstance(SCORERS["adaptive"](StrategyInput(model=model)), RecognisingScorer)
    with pytest.raises(UsageError, match="needs a model"):
        SCORERS["adaptive"](StrategyInput())


def test_one_goal_on_every_taught_site_is_seen_in_the_lesson() -> None:
    singles = [
        trail
        for host in ("s1", "s2")
        for trail in trails_of(host)
        if not trail.reached_goal or "/0." in trail.steps[-1].page.url
    ]
    model = train_adaptive(singles, PathSettings())
    assert model.lesson.one_goal
    scorer = Adaptive(model)
    forage(scorer)
    assert len(scorer.report(max_doubt=1.0).goals) == 1


def test_a_model_that_says_less_about_its_lesson_can_still_be_used(model: AdaptiveModel) -> None:
    arrays, meta = model.pack()
    less = {name: value for name, value in meta.items() if name != "names"}
    older = unpack(arrays, {**less, "lesson": {"sites": 2, "goals": 6, "one_goal": True}})
    assert isinstance(older, AdaptiveModel)
    assert older.lesson == LessonFacts(sites=2, goals=6, one_goal=True, single=1.0)
    assert older.names.match(["staff"]) == NO_MATCH


def test_ignored_concepts_are_in_no_part_of_a_model(model: AdaptiveModel) -> None:
    ignored = frozenset(model.prior.weights)
    blind = train_adaptive([*trails_of("s1"), *trails_of("s2")], PathSettings(), ignored=ignored)
    assert ignored
    assert not blind.prior.weights.keys() & ignored
    assert not {trait_concept(name) for name in blind.from_trails.weights} & ignored
    assert blind.lesson.named == 0.0


def test_concepts_count_less_after_many_goals_unless_the_user_gave_keywords(model: AdaptiveModel) -> None:
    taught = replace(model, lesson=replace(model.lesson, goals=200))
    few, many = Adaptive(model), Adaptive(taught)
    assert few.prior_share == PRIOR_SHARE
    assert few.trusts_names
    assert many.prior_share < PRIOR_SHARE / 5
    assert not many.trusts_names
    asked = Adaptive(taught, Keywords.from_words(["staff"]))
    assert asked.prior_share == PRIOR_SHARE
    assert asked.trusts_names


def test_links_named_like_goals_are_followed_where_the_lexicon_does_not_name_them(
    model: AdaptiveModel,
) -> None:
    names = TaughtNames([["rentals"]] * 3, [["about"]] * 3)
    no_prior = replace(model, names=names, prior=LinkPrior({}))
    start = PAGES["http://s3.example/"]
    links = [Link("http://s3.example/1", "Rental"), Link("http://s3.example/2", "About")]

    def rise(lesson: LessonFacts) -> list[float]:
        """Return by how much each link is rated higher than without names."""
        scores = []
        for taught in (
            replace(no_prior, lesson=lesson),
            replace(no_prior, lesson=lesson, names=TaughtNames()),
        ):
            scorer = Adaptive(taught)
            scores.append(
                [rated.score for rated in scorer.rate(scorer.read(scorer.start(SITE), start), links)]
            )
        return [named - plain for named, plain in zip(*scores, strict=True)]

    trusted = replace(model.lesson, sites=3, named=0.0, name_trust=0.9)
    assert rise(trusted)[0] > 0.2
    assert rise(trusted)[1] == 0.0
    assert rise(replace(trusted, named=0.9)) == [0.0, 0.0]
    assert rise(replace(trusted, name_trust=0.0)) == [0.0, 0.0]
    scorer = Adaptive(replace(no_prior, lesson=trusted))
    reasons = scorer.why_link(scorer.read(scorer.start(SITE), start), links[0])
    assert reasons[0][0] == "@like goals"


def test_a_lesson_says_how_many_of_its_sites_showed_one_goal() -> None:
    trails = [
        trail
        for trail in (*trails_of("s1"), *trails_of("s2"))
        if trail.site != "http://s1.example/" or not trail.reached_goal or "/0." in trail.steps[-1].page.url
    ]
    lesson = train_adaptive(trails, PathSettings()).lesson
    assert (lesson.sites, lesson.one_goal, lesson.single) == (2, False, 0.5)


def test_concepts_that_the_lesson_named_explain_a_link_and_traits_a_page(model: AdaptiveModel) -> None:
    scorer = Adaptive(model)
    start = PAGES["http://s3.example/"]
    state = scorer.start(SITE)
    staff = next(link for link in start.links if link.text == "Staff")
    reasons = scorer.why_link(scorer.read(state, start), staff)
    assert reasons[0][0].startswith("@link ")
    assert reasons[0][1] > 0
    assert {feature[0] for feature, _ in scorer.why_page(state, start)} >= {"#"}

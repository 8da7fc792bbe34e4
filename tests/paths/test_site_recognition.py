"""Recognition of goals by all pages of a site together."""

from __future__ import annotations

import numpy as np
import pytest

from wayhound.paths.page_names import NameMatch
from wayhound.paths.site_recognition import (
    FEATURES,
    FEW_SITES,
    MANY_GOALS,
    MANY_SINGLE,
    MAX_DOUBT,
    MAX_DOUBT_AFTER_MANY,
    MAX_NAMED_DOUBT,
    MIN_SHARE,
    MOST_FITTED_SITES,
    MOSTLY_SINGLE,
    NAMED_LESSON,
    SURE,
    LessonFacts,
    PageEvidence,
    SiteRecogniser,
    best_expected_f1,
    group_means,
)


def recogniser() -> SiteRecogniser:
    """A start page, a list, two pages of it that all models call goals, and five stories that none does."""
    site = SiteRecogniser(LessonFacts(sites=3))
    low, high = (-4.0,) * 3, (4.0,) * 3
    site.add(PageEvidence("/", "", "", 0, "/", low, is_start=True))
    site.add(PageEvidence("/people", "/", "nav", 1, "/", low))
    for number in range(2):
        site.add(PageEvidence(f"/people/{number}", "/people", "ul", 2, "/people", high))
    for number in range(5):
        site.add(PageEvidence(f"/news/{number}", "/", "p", 3, "/news", low))
    return site


def test_pages_that_all_models_call_goals_come_first() -> None:
    ranked = recogniser().ranked(max_doubt=1.0)
    assert set(ranked.order[:2]) == {2, 3}
    assert ranked.goals == 2


def test_each_taught_site_with_one_goal_means_one_goal() -> None:
    site = recogniser()
    site.lesson = LessonFacts(sites=3, one_goal=True, single=1.0)
    assert site.ranked(max_doubt=1.0).goals == 1


def test_nearly_each_taught_site_with_one_goal_means_one_goal_and_likely_ones() -> None:
    site = recogniser()
    site.lesson = LessonFacts(sites=10, single=MOSTLY_SINGLE)
    ranked = site.ranked(max_doubt=1.0)
    assert (ranked.goals, ranked.likely) == (1, 1)


def test_where_most_taught_sites_showed_one_goal_unsure_pages_beside_a_better_one_are_only_likely() -> None:
    site = SiteRecogniser(LessonFacts(sites=3), second_pass=0.0)
    for number, odds in enumerate((-1.2, -1.3, -1.32, -1.34, -6.0, -6.0, -6.0)):
        site.add(PageEvidence(f"/{number}", "/", f"{number}", number, f"{number}", (odds,) * 3))
    many = site.ranked(max_doubt=1.0)
    site.lesson = LessonFacts(sites=3, single=MANY_SINGLE)
    few = site.ranked(max_doubt=1.0)
    assert few.probabilities[0] < SURE
    assert few.goals == 1 < many.goals
    assert few.likely >= many.goals - 1


def test_where_most_taught_sites_showed_one_goal_sure_pages_are_still_goals() -> None:
    site = recogniser()
    site.lesson = LessonFacts(sites=3, single=MANY_SINGLE)
    assert site.ranked(max_doubt=1.0).goals == 2


def test_sites_are_not_doubted_more_the_more_sites_were_taught() -> None:
    few, many = recogniser(), recogniser()
    few.lesson, many.lesson = LessonFacts(sites=MOST_FITTED_SITES), LessonFacts(sites=100)
    assert many.ranked().none_probability == few.ranked().none_probability
    assert many.probabilities() == pytest.approx(few.probabilities())


def test_after_a_lesson_of_named_goals_a_smaller_doubt_silences_a_site() -> None:
    named, unnamed = (LessonFacts(sites=3, named=share) for share in (NAMED_LESSON, NAMED_LESSON - 0.1))
    assert named.max_doubt == MAX_NAMED_DOUBT < MAX_DOUBT == unnamed.max_doubt


def test_names_of_few_sites_leave_the_limit_of_doubt() -> None:
    assert LessonFacts(sites=FEW_SITES, goals=1, named=1.0).max_doubt == MAX_DOUBT


@pytest.mark.parametrize("named", [0.0, 1.0])
def test_after_many_goals_only_a_large_doubt_silences_a_site(named: float) -> None:
    lesson = LessonFacts(sites=3, goals=MANY_GOALS + 1, named=named)
    assert lesson.max_doubt == MAX_DOUBT_AFTER_MANY > MAX_DOUBT


def test_goals_of_a_site_are_only_likely_beyond_the_limit_of_its_lesson() -> None:
    site = recogniser()
    site.lesson = LessonFacts(sites=3, named=1.0)
    ranked = site.ranked()
    assert (ranked.goals > 0) == (ranked.none_probability <= MAX_NAMED_DOUBT)
    assert (
        ranked.goals + ranked.likely == site.ranked(max_doubt=1.0).goals + site.ranked(max_doubt=1.0).likely
    )


def unsure_pages(trust: float) -> SiteRecogniser:
    """A start page and five pages between which the models cannot tell; the third is named like taught goals."""
    site = SiteRecogniser(LessonFacts(sites=3, single=1.0, name_trust=trust))
    site.add(PageEvidence("/", "", "", 0, "/", (-3.0,) * 3, is_start=True))
    for number in range(5):
        likeness = NameMatch(0.9, 0.1) if number == 2 else NameMatch(0.1, 0.2)
        site.add(PageEvidence(f"/{number}", "/", "nav", 1, "/", (-1.0,) * 3, likeness=likeness))
    return site


def test_a_name_like_those_of_taught_goals_tells_the_goal_if_names_told_the_taught_ones() -> None:
    trusted, untrusted = unsure_pages(1.0).probabilities(), unsure_pages(0.0).probabilities()
    assert trusted.argmax() == 3
    assert trusted[3] - trusted[1] > untrusted[3] - untrusted[1]


def test_a_page_has_the_same_likeness_when_it_is_read_and_in_the_report() -> None:
    site = unsure_pages(0.5)
    columns = [FEATURES.index(name) for name in FEATURES if "like" in name or name == "trust"]
    last, mean = site.pages[-1], sum(site.pages[-1].odds) / 3
    assert site.rows()[-1, columns] == pytest.approx(site._row(last, mean)[columns])


def test_translations_of_a_page_are_judged_together() -> None:
    site = recogniser()
    site.add(PageEvidence("/de/people/7", "/news/1", "p", 4, "/de/people", (4.0,) * 3, twin="/people/7"))
    site.add(PageEvidence("/people/7", "/news/2", "p", 4, "/people", (-2.0,) * 3, twin="/people/7"))
    alone = recogniser()
    alone.add(PageEvidence("/de/people/7", "/news/1", "p", 4, "/de/people", (4.0,) * 3))
    alone.add(PageEvidence("/people/7", "/news/2", "p", 4, "/people", (-2.0,) * 3))
    assert site.rows()[-1, 1:4] == pytest.approx([1.0, 1.0, 1.0])
    assert site.probabilities()[-1] > alone.probabilities()[-1]


def offices_and_contact(*, told_by_name: bool) -> SiteRecogniser:
    """A page named like the goal, and a list of people that resemble the offices of another taught site."""
    site = SiteRecogniser(LessonFacts(sites=2, single=0.5, named=0.5, told_by_name=told_by_name))
    site.add(PageEvidence("/", "", "", 0, "/", (-4.0,) * 3, is_start=True))
    site.add(PageEvidence("/contact", "/", "nav", 1, "/", (1.0,) * 3, named=1.0))
    for number in range(8):
        site.add(PageEvidence(f"/people/{number}", "/people", "ul", 2, "/people", (2.0,) * 3))
    return site


def test_a_page_named_like_the_only_goal_of_a_taught_site_is_reported_alone() -> None:
    assert offices_and_contact(told_by_name=False).ranked(max_doubt=1.0).goals > 1
    site = offices_and_contact(told_by_name=True)
    ranked = site.ranked(max_doubt=1.0)
    assert [site.pages[number].url for number in ranked.order[: ranked.goals]] == ["/contact"]


def test_a_confirmed_page_without_the_name_brings_its_list_back() -> None:
    site = offices_and_contact(told_by_name=True)
    before, after = site.probabilities(), site.probabilities({"/people/0": True})
    assert (after[3:] > 5 * before[3:]).all()


def test_agreement_is_the_correlation_of_the_models_and_the_usual_one_before_pages_tell() -> None:
    column, usual, traits = FEATURES.index("agreement"), 0.5, (-3.0, -2.0, -1.0, 2.0)
    for path, correlation in ((traits, 1.0), (traits[::-1], 0.0), ((0.5,) * 4, 0.0)):
        site = SiteRecogniser(LessonFacts(sites=3))
        for number, odds in enumerate(zip(path, traits, traits, strict=True)):
            site.add(PageEvidence(f"/{number}", "/", "ul", 0, "/", odds))
        agreement = site.rows()[:, column]
        assert agreement == pytest.approx([(4 * correlation + 5 * usual) / 9] * 4)


def test_unlikely_pages_are_not_reported_beside_a_far_likelier_one() -> None:
    site = SiteRecogniser(LessonFacts(sites=3))
    site.add(PageEvidence("/", "", "", 0, "/", (-4.0,) * 3, is_start=True))
    site.add(PageEvidence("/jobs", "/", "nav", 1, "/", (4.0,) * 3))
    for number in range(60):
        site.add(PageEvidence(f"/news/{number}", f"/{number}", "p", 2, "/news", (-2.0,) * 3))
    ranked = site.ranked(max_doubt=1.0)
    assert all(p >= MIN_SHARE * ranked.probabilities[0] for p in ranked.probabilities[: ranked.goals])


def test_a_site_without_pages_has_no_goals() -> None:
    ranked = SiteRecogniser(LessonFacts(sites=1)).ranked()
    assert (ranked.order, ranked.goals, ranked.likely) == ((), 0, 0)


def test_an_answer_is_what_the_page_is_and_moves_pages_of_its_list() -> None:
    site = recogniser()
    before = site.probabilities()
    after = site.probabilities({"/people/0": False, "/news/0": True})
    assert (after[2], after[4]) == (0.0, 1.0)
    assert after[3] < before[3]
    assert after[5] > before[5]


def test_answered_pages_are_in_no_tier_or_among_the_goals_whatever_the_verdict() -> None:
    site = recogniser()
    ranked = site.ranked(max_doubt=0.0, answers={"/people/0": False, "/news/0": True})
    reported = [site.pages[number].url for number in ranked.order[: ranked.goals + ranked.likely]]
    assert reported[0] == "/news/0"
    assert ranked.goals
    assert ranked.none_probability == 0.0
    assert "/people/0" not in reported


def test_group_means_come_with_the_size_of_each_group() -> None:
    means, sizes = group_means(np.array([1.0, 3.0, 5.0]), np.array([0, 0, 1]))
    assert means.tolist() == [2.0, 2.0, 5.0]
    assert sizes.tolist() == [2.0, 2.0, 1.0]


@pytest.mark.parametrize(
    ("probabilities", "count"),
    [([0.9, 0.9, 0.01], 2), ([0.4, 0.01, 0.01], 1), ([0.5, 0.5, 0.5], 3), ([], 0)],
)
def test_as_many_are_reported_as_have_the_best_expected_f1(probabilities: list[float], count: int) -> None:
    assert best_expected_f1(np.array(probabilities)) == count

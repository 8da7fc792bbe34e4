from __future__ import annotations

from dataclasses import replace

import pytest

from tests.paths.small_sites import trails_of
from wayhound.errors import TeachingError
from wayhound.forage.scorers import PATH_STRATEGIES
from wayhound.paths.cross_validation import choose_settings, label_scores, leave_one_site_out
from wayhound.paths.settings import PathSettings
from wayhound.trail import FAIL, GOAL

TRAILS = [trail for host in ("s1", "s2", "s3") for trail in trails_of(host)]
EASY = PathSettings(prior_variance=3.0)


def test_precision_recall_and_f1_are_counted_by_label() -> None:
    pairs = [(GOAL, GOAL), (GOAL, GOAL), (GOAL, FAIL), (FAIL, GOAL), (FAIL, FAIL), ("x", FAIL)]
    scores = label_scores(pairs)
    assert (scores.goal.precision, scores.goal.recall, scores.goal.support) == (2 / 3, 2 / 3, 3)
    assert scores.goal.f1 == pytest.approx(2 / 3)
    by_label = {score.label: score for score in scores.by_label}
    assert by_label["x"].f1 == 0.0
    assert by_label[FAIL].precision == 1 / 3
    assert scores.mean.precision == pytest.approx((2 / 3 + 1 / 3 + 0) / 3)


@pytest.mark.parametrize("strategy", PATH_STRATEGIES)
def test_similar_sites_are_labelled_without_having_been_taught(strategy: str) -> None:
    scores = leave_one_site_out(TRAILS, strategy, EASY)
    assert scores.goal.support == 6
    assert scores.goal.f1 == 1.0


def test_progress_is_reported_after_every_model() -> None:
    seen: list[tuple[int, int]] = []
    leave_one_site_out(TRAILS, "naive-bayes", EASY, lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_one_site_cannot_be_held_out() -> None:
    with pytest.raises(TeachingError, match="at least two sites"):
        leave_one_site_out(trails_of("s1"), "maxent", EASY)


def test_settings_are_chosen_by_held_out_sites() -> None:
    seen: list[tuple[int, int]] = []
    chosen = choose_settings(TRAILS, "maxent", lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(seen), len(seen))
    # pages of people and of stories differ in their words alone, and few trails allow of a wide prior here
    assert chosen.body_tokens > 0
    assert chosen.prior_variance == 1.0
    assert replace(chosen, body_tokens=100, prior_variance=0.3) == PathSettings()


def test_a_single_site_keeps_the_default_settings() -> None:
    assert choose_settings(trails_of("s1"), "maxent") == PathSettings()

from __future__ import annotations

import pytest

from wayhound.fetched import TRANSIENT_FAILURES
from wayhound.forage import politeness as manners
from wayhound.visit import Visit

HERE, ELSEWHERE = "http://a.example/x", "http://b.example/y"
MANY = 10_000  # hosts whose pauses a process remembers


def visit(outcome: str = "timeout", url: str = HERE, attempt: int = 1, status: int | None = None) -> Visit:
    return Visit("http://a.example/", 0, url, outcome, 0.0, attempt=attempt, status=status)


@pytest.mark.parametrize(("asked", "pause"), [(0.0, 10.0), (30.0, 30.0)])
def test_the_longer_of_our_pause_and_the_one_asked_for_is_kept(asked: float, pause: float) -> None:
    polite = manners.Politeness(10.0)
    assert polite.ready_at("a.example") == 0.0
    polite.request_ended("a.example", 100.0, asked)
    assert polite.ready_at("a.example") == 100.0 + pause
    assert polite.ready_at("b.example") == 0.0


def test_only_pauses_that_are_over_are_forgotten_by_a_process_of_many_sites() -> None:
    polite = manners.Politeness(10.0)
    for number in range(MANY):
        polite.request_ended(f"h{number}.example", float(number))
    assert polite.ready_at("h0.example") == 10.0  # so many are remembered
    polite.request_ended("last.example", float(MANY))
    assert polite.ready_at("h0.example") == 0.0
    assert polite.ready_at(f"h{MANY - 10}.example") == 0.0, "it ends at this very moment"
    assert polite.ready_at(f"h{MANY - 9}.example") == MANY + 1.0
    assert polite.ready_at("last.example") == MANY + 10.0


def test_a_host_that_failed_too_often_is_down_and_others_are_not() -> None:
    failures = manners.FailureTracker()
    assert not failures.is_down(HERE)
    for _ in range(manners.MAX_CONSECUTIVE_FAILURES - 1):
        failures.failed(visit())
    almost = (failures.is_down(HERE), failures.site_is_down)
    failures.failed(visit())
    assert almost == (False, False)
    assert failures.is_down(HERE)
    assert not failures.is_down(ELSEWHERE)
    assert failures.site_is_down
    assert failures.last == "timeout"


@pytest.mark.parametrize("proof", ["success", "http_404"])
def test_a_success_and_a_permanent_failure_prove_that_a_host_is_up(proof: str) -> None:
    failures = manners.FailureTracker()
    for _ in range(manners.MAX_CONSECUTIVE_FAILURES):
        failures.failed(visit())
        failures.failed(visit(url=ELSEWHERE))
    if proof == "success":
        failures.succeeded(HERE)
    else:
        failures.failed(visit(proof, status=404))
    assert not failures.site_is_down
    assert not failures.is_down(HERE)
    assert failures.is_down(ELSEWHERE)


def test_what_may_pass_is_tried_again_a_few_times() -> None:
    for outcome in TRANSIENT_FAILURES - {"robots_unreachable"}:
        assert manners.may_retry(visit(outcome, attempt=manners.MAX_TRIES - 1))
        assert not manners.may_retry(visit(outcome, attempt=manners.MAX_TRIES))
    for status in manners.TRANSIENT_STATUSES:
        assert manners.may_retry(visit(f"http_{status}", status=status))
    assert not manners.may_retry(visit("http_404", status=404))
    assert not manners.may_retry(visit("ok", status=200))


def test_an_unreachable_robots_txt_is_tried_more_often_than_a_page() -> None:
    outcome = "robots_unreachable"
    assert manners.may_retry(visit(outcome, attempt=manners.MAX_ROBOTS_TRIES - 1))
    assert not manners.may_retry(visit(outcome, attempt=manners.MAX_ROBOTS_TRIES))


def test_pauses_before_retries_double_with_a_jitter_that_the_address_decides() -> None:
    factors = [manners.backoff_factor(f"http://a.example/{number}", 2) for number in range(200)]
    assert all(2.0 <= factor < 6.0 for factor in factors)
    assert len(set(factors)) > 100
    assert max(factors) > 5.5
    assert min(factors) < 2.5
    assert manners.backoff_factor(HERE, 1) == manners.backoff_factor(HERE, 1)
    assert 4.0 <= manners.backoff_factor(HERE, 3) < 12.0

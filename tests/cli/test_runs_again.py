"""Runs as people think of them: failures are tried again, counts agree, and the end names what helps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.servers import Answer, Page, closed_port, serve
from wayhound.app.workers import TimeBound
from wayhound.cli import run
from wayhound.store.protocol import Progress, RunLimits
from wayhound.wording.runs import format_pages, format_time_left

LOOPBACK = ["--allow-private", "--delay", "0", "--render", "never"]
SITE: dict[str, Page] = {
    "/": "<title>Home</title><a href=/contact>Contact</a> <a href=/old>Old</a> <a href=/gone>Gone</a>",
    "/contact": "<title>Contact us</title>Our address",
    "/old": Answer(status=301, headers=(("Location", "/contact"),)),
}


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert run(["init", "mine"]) == 0
    return Path("mine")


def forage(*arguments: str) -> int:
    return run(["forage", *arguments, "-w", "mine"])


def test_a_refused_private_address_is_fetched_by_the_same_command_with_the_option(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(SITE) as server:
        assert forage(f"{server}/", "--keyword", "contact", "--delay", "0") == 1
        said = capsys.readouterr().err
        assert "a private address" in said
        assert "wayhound forage … --allow-private -w mine" in said
        assert forage(f"{server}/", "--keyword", "contact", *LOOPBACK) == 0
        told = capsys.readouterr()
    assert "1 site that could not be fetched: trying again." in told.err
    assert told.out.startswith(f"{server}/contact\t")


def test_a_server_that_was_down_is_asked_again_and_the_run_is_the_same(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pages: dict[str, Page] = {"/": Answer(status=503)}
    with serve(pages.get) as server:
        assert forage(f"{server}/", "--keyword", "contact", *LOOPBACK) == 1
        assert "Next:" in capsys.readouterr().err
        pages |= SITE
        assert forage(f"{server}/", "--keyword", "contact", *LOOPBACK) == 0
    capsys.readouterr()
    assert run(["status", "--json", "-w", "mine"]) == 0
    [only] = json.loads(capsys.readouterr().out)
    assert only["progress"]["outcomes"].get("http_503", 0) == 0
    assert only["sites"][0]["reason"] == "no links left"


def test_where_nobody_answers_the_exit_code_and_the_next_step_say_so(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert forage(f"http://127.0.0.1:{closed_port()}/", "--keyword", "contact", *LOOPBACK) == 1
    assert "the same command again, once the server runs" in capsys.readouterr().err


def test_pages_requests_and_failures_are_counted_alike_everywhere(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(SITE) as server:
        assert forage(f"{server}/", "--keyword", "contact", *LOOPBACK) == 0
    counted = "2 pages (4 requests, 1 failed)"
    assert counted in capsys.readouterr().err
    assert run(["status", "-w", "mine"]) == 0
    assert counted in capsys.readouterr().out
    assert run(["status", "--json", "-w", "mine"]) == 0
    [only] = json.loads(capsys.readouterr().out)
    [site] = only["sites"]
    for counts in (only["progress"], site):
        assert (counts["pages"], counts["spent"], counts["failures"]) == (2, 4, 1)


def test_a_page_a_request_each_is_told_in_one_word() -> None:
    assert format_pages(Progress(spent=3, outcomes={"ok": 2, "duplicate": 1})) == "3 pages"
    assert (
        format_pages(Progress(spent=1, outcomes={"redirect": 1, "dns": 1})) == "0 pages (1 request, 1 failed)"
    )


def test_time_left_is_bounded_before_the_first_page() -> None:
    bound = TimeBound(RunLimits(30), delay_seconds=1.0, at_once=50, domains=100, most_of_a_domain=1)
    assert bound.seconds(Progress(sites=100)) == 90  # two rounds of thirty pages, and sites that begin late
    assert bound.seconds(Progress(sites=1)) == 30
    assert bound.seconds(Progress(sites=1, leased=1, spent=20, spent_in_progress=20)) == 10
    assert bound.seconds(Progress(sites=1, done=1)) is None
    slow = bound.seconds(Progress(sites=1, leased=1, spent=10, spent_in_progress=10), 10, 30.0)
    assert slow == 60  # three seconds a page so far


def test_time_left_is_bounded_by_the_total_budget_and_by_sites_of_one_domain() -> None:
    same = TimeBound(RunLimits(10), delay_seconds=1.0, at_once=50, domains=1, most_of_a_domain=4)
    assert same.seconds(Progress(sites=4)) == 40
    total = TimeBound(RunLimits(10, 12), delay_seconds=1.0, at_once=50, domains=4, most_of_a_domain=1)
    assert total.seconds(Progress(sites=4)) == 10
    none = TimeBound(RunLimits(), delay_seconds=1.0, at_once=50, domains=1, most_of_a_domain=1)
    assert none.seconds(Progress(sites=4)) is None


def test_time_left_is_not_bounded_while_the_sites_wait_for_another_machine() -> None:
    bound = TimeBound(RunLimits(30), delay_seconds=1.0, at_once=50, domains=1, most_of_a_domain=1)
    assert bound.seconds(Progress(sites=1, leased=1, spent=30, spent_in_progress=30)) is None
    held = Progress(sites=1, leased=1, spent=25, spent_in_progress=25)
    assert bound.seconds(held, 0, 4.0) == 5
    assert bound.seconds(held, 0, 6.0) is None


def test_the_bound_is_told_until_something_better_is_known() -> None:
    assert format_time_left(None, 600.0) == "at most 10 min left"
    assert format_time_left(120.0, 600.0) == "about 2 min left"
    assert format_time_left(6000.0, 600.0) == "about 10 min left"
    assert format_time_left(None, None) == ""


def test_export_takes_the_last_run_and_keeps_the_columns_of_ones_own_table(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve(SITE) as server:
        Path("firms.csv").write_text(f"firm,website\nAcme,{server}/\nNobody,\n")
        assert forage(f"{server}/about", "--keyword", "contact", *LOOPBACK) == 1
        assert forage("firms.csv", "--keyword", "contact", *LOOPBACK) == 0
    capsys.readouterr()
    assert run(["export", "goals", "--wide", "--format", "csv", "-w", "mine"]) == 0
    told = capsys.readouterr()
    assert told.err.strip() == "2 rows"  # one of them without a goal
    heading, acme, nobody = told.out.splitlines()
    assert heading == "firm,website,goal,goal_title,probability,status,reason,pages"
    assert acme.startswith(f"Acme,{server}/,{server}/contact,Contact us,")
    assert acme.endswith(",found,,2")
    assert nobody == "Nobody,,,,,no address,,"
    Path("others.csv").write_text(f"name,website\nBit,{server}/\n")
    assert run(["export", "goals", "--wide", "others.csv", "--format", "csv", "-w", "mine"]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("Bit,")
    assert run(["export", "goals", "--wide", "--format", "csv", "-w", "mine"]) == 0
    assert capsys.readouterr().out == told.out  # the table of the run is as it was
    assert run(["export", "sites", "-w", "mine"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    assert run(["export", "sites", "--all-runs", "-w", "mine"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert run(["export", "sites", "--run", "1", "--all-runs", "-w", "mine"]) == 2
    assert "name one of the two options" in capsys.readouterr().err

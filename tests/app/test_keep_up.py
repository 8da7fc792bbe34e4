"""Rounds of `serve --keep-up`: what they run, when, and that they stop."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from threading import Event, Timer

from click.testing import CliRunner

from tests.store.samples import lease, visit_of
from wayhound.app.keep_up import DUE_NAME, LOG_NAME, KeepUp, read_rounds, rounds_until_next, run_until
from wayhound.app.moderate import SITE_LIST_NAME
from wayhound.cli.status import status
from wayhound.site import Site
from wayhound.store.protocol import RunLimits
from wayhound.workspace import Workspace

HOUR = 3600.0


def wait_for_round(folder: Path, number: int) -> None:
    while len(read_rounds(folder)) < number:
        time.sleep(0.05)


def test_a_round_is_run_at_once_and_again_only_when_it_is_due(tmp_path: Path) -> None:
    Workspace.create(tmp_path / "w").close()
    with KeepUp(tmp_path / "w", HOUR):
        wait_for_round(tmp_path / "w", 1)
    (done,) = read_rounds(tmp_path / "w")
    assert [(step.command, step.code, step.message) for step in done.steps] == [
        ("papers add", 0, "There is nothing new to read.")
    ]
    assert not done.stopped
    assert HOUR - 600 < KeepUp(tmp_path / "w", HOUR).seconds_left() <= HOUR
    assert KeepUp(tmp_path / "w", 0.001).seconds_left() == 0
    printed = CliRunner().invoke(status, ["-w", str(tmp_path / "w")]).stdout
    assert "Kept up at" in printed
    assert "papers add: There is nothing new to read." in printed


def test_approved_sites_are_foraged_and_a_failure_is_told_but_ends_nothing(tmp_path: Path) -> None:
    Workspace.create(tmp_path / "w").close()
    (tmp_path / "w" / SITE_LIST_NAME).write_text("https://one.example/\n")
    with KeepUp(tmp_path / "w", HOUR):
        wait_for_round(tmp_path / "w", 1)
    forage, papers = read_rounds(tmp_path / "w")[0].steps
    assert forage.command == "forage"
    assert forage.code != 0  # nothing was taught, so it is not known what to look for
    assert forage.message
    assert papers.code == 0


def forages(*finds: str) -> list[tuple[float, frozenset[str]]]:
    return [(float(number), frozenset(urls)) for number, urls in enumerate(finds)]


def test_a_site_without_news_rests_twice_as_long_each_time_and_news_halves_it() -> None:
    assert rounds_until_next(forages("a")) == 1
    assert rounds_until_next(forages("a", "a")) == 2
    assert rounds_until_next(forages("a", "a", "", "a")) == 8
    assert rounds_until_next(forages(*["a"] * 9)) == 16
    assert rounds_until_next(forages("a", "a", "a", "ab")) == 2
    assert rounds_until_next(forages("a", "ab", "abc")) == 1


def test_a_round_forages_new_sites_and_those_that_are_due(tmp_path: Path) -> None:
    quiet, busy, new = (f"https://{name}.example/" for name in ("quiet", "busy", "new"))
    with Workspace.create(tmp_path / "w") as workspace:
        store, now = workspace.stores.forage, time.time()
        for turn in range(3):
            run = store.open_run({"turn": str(turn)}, RunLimits(), [Site(quiet), Site(busy)], now)
            for _ in range(2):
                job = lease(store, run)
                number = turn if job.site.start == busy else 0
                for visited in range(number + 1):
                    at = now - (3 - turn) * HOUR
                    store.save_visit(job, visit_of(job, visited, is_goal=True, at=at))
                store.finish_site(job, "no links left")
    (tmp_path / "w" / SITE_LIST_NAME).write_text(f"{quiet}\n{busy}\n{new}\n")
    due = KeepUp(tmp_path / "w", HOUR).due_sites(tmp_path / "w" / SITE_LIST_NAME)
    assert due == [busy, new]
    assert KeepUp(tmp_path / "w", HOUR / 24).due_sites(tmp_path / "w" / SITE_LIST_NAME) == [quiet, busy, new]


def test_a_round_that_was_stopped_goes_on_with_the_sites_that_it_had(tmp_path: Path) -> None:
    Workspace.create(tmp_path / "w").close()
    (tmp_path / "w" / SITE_LIST_NAME).write_text("https://one.example/\n")
    (tmp_path / "w" / DUE_NAME).write_text("https://two.example/\n")
    commands = KeepUp(tmp_path / "w", HOUR)._commands()
    assert next(commands)[1] == str(tmp_path / "w" / DUE_NAME)
    assert (tmp_path / "w" / DUE_NAME).read_text() == "https://two.example/\n"
    assert next(commands)[0] == "papers"
    assert not (tmp_path / "w" / DUE_NAME).exists()


def test_a_command_is_asked_to_end_when_the_portal_stops(tmp_path: Path) -> None:
    script = tmp_path / "slow.py"
    script.write_text(
        "import signal, sys, time\n"
        "def end(*_):\n    print('Stopped in good order.', file=sys.stderr)\n    sys.exit(130)\n"
        "signal.signal(signal.SIGTERM, end)\ntime.sleep(600)\n"
    )
    stop = Event()
    Timer(3.0, stop.set).start()
    assert run_until([sys.executable, str(script)], stop) == (130, "Stopped in good order.")


def test_a_damaged_log_counts_as_none(tmp_path: Path) -> None:
    (tmp_path / LOG_NAME).write_text("{")
    assert read_rounds(tmp_path) == []
    (tmp_path / LOG_NAME).write_text(json.dumps([{"started": 1}]))
    assert read_rounds(tmp_path) == []

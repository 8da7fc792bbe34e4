"""Questions while a forage runs: one key each, nothing waits for them, and answers act and outlive a kill."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.taught import LOOPBACK, start_of, true_goals
from wayhound.app.review import answer_question
from wayhound.cli import run
from wayhound.samples import SampleServer
from wayhound.workspace import Workspace

BUDGET = ["--budget", "25"]


def command(workspace: Path, start: str, *more: str) -> list[str]:
    options = ["-w", str(workspace), *LOOPBACK, *BUDGET, "--ask", "2", *more]
    return [sys.executable, "-m", "wayhound", "forage", start, *options]


def exported(workspace: Path, table: str, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert run(["export", table, "-w", str(workspace)]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def wait_for(path: Path, sql: str, process: subprocess.Popen[bytes], seconds: float = 240) -> Any:
    """Return the first row of a query on the database, as soon as there is one."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with sqlite3.connect(path / "wayhound.db", timeout=30) as database:
            row = database.execute(sql).fetchone()
        database.close()
        if row:
            return row
        assert process.poll() is None, "the forage ended without it"
        time.sleep(0.05)
    raise AssertionError(f"no row for {sql}")


WAITING = (
    "SELECT url FROM question JOIN visit USING (site_id, number) WHERE question.state = 'waiting' LIMIT 1"
)


def test_without_anybody_to_answer_questions_wait_and_the_forage_does_not(
    trained: Path, samples: SampleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    start = start_of(samples, "math")
    done = subprocess.run(
        command(trained, start), check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=120
    )
    assert b"Questions that wait for you: 1." in done.stderr
    assert len([row for row in exported(trained, "visits", capsys) if row["spent"]]) == 25


def test_an_answer_at_the_terminal_is_one_key_and_acts_at_once(
    trained: Path, samples: SampleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    goals = true_goals(samples, "math", "course")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        command(trained, start_of(samples, "math")),
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.close(theirs)
    said: dict[str, bool] = {}
    for number in range(2):
        [url] = wait_for(trained, WAITING, process)
        said[url] = url in goals
        os.write(ours, b"y" if said[url] else b"n")
        answered = f"SELECT 1 FROM question WHERE state = 'answered' LIMIT 1 OFFSET {number}"
        wait_for(trained, answered, process)
    out, err = process.communicate(timeout=120)
    os.close(ours)
    assert process.returncode == 0, err.decode()
    assert len(said) == 2
    printed = {line.split("\t")[0] for line in out.decode().splitlines()}
    found = {row["url"]: row["tier"] for row in exported(trained, "goals", capsys)}
    for url, is_goal in said.items():
        assert (found.get(url) == "confirmed") == is_goal
        assert (url in printed) == is_goal


def test_answers_outlive_a_kill_and_are_taken_in_by_the_next_command(
    trained: Path, samples: SampleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    start = start_of(samples, "math")
    process = subprocess.Popen(
        command(trained, start, "--delay", "0.05"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    [url] = wait_for(trained, WAITING, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    with Workspace.open(trained) as workspace:
        [question] = workspace.stores.site_notes.waiting(1)
        answer_question(workspace, question, False, time.time())
        assert workspace.stores.site_notes.waiting(1) == []
    subprocess.run(
        command(trained, start), check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=120
    )
    assert url not in {row["url"] for row in exported(trained, "goals", capsys)}
    tiers = {row["url"]: row["tier"] for row in exported(trained, "visits", capsys)}
    assert tiers[url] == ""
    with sqlite3.connect(trained / "wayhound.db") as database:
        [after] = database.execute("SELECT after FROM review_answer").fetchone()
    database.close()
    assert after is not None


def test_an_answer_about_a_finished_site_sends_it_back_without_a_fetch(
    trained: Path, samples: SampleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    start = start_of(samples, "math")
    for _ in range(2):
        asked = samples.counts.total()
        subprocess.run(
            command(trained, start), check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=120
        )
        with Workspace.open(trained) as workspace:
            for question in workspace.stores.site_notes.waiting(1):
                answer_question(workspace, question, True, time.time())
    assert samples.counts.total() == asked
    confirmed = [row for row in exported(trained, "goals", capsys) if row["tier"] == "confirmed"]
    assert len(confirmed) == 2


VISITS = "SELECT count(*) FROM visit JOIN site ON site.id = site_id WHERE start = '{}' HAVING count(*) >= {}"


def forage_again(workspace: Path, start: str, *more: str) -> None:
    subprocess.run(
        command(workspace, start, *more),
        check=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
    )


SCORE, PROBABILITY = 1, 2


def order_of(workspace: Path, start: str) -> list[tuple[str, float, float | None]]:
    with sqlite3.connect(workspace / "wayhound.db") as database:
        rows = database.execute(
            "SELECT url, score, probability FROM visit JOIN site ON site.id = site_id WHERE start = ? ORDER BY number",
            (start,),
        ).fetchall()
    database.close()
    return rows


def answer_all(workspace: Path, goals: set[str]) -> None:
    with Workspace.open(workspace) as opened:
        for question in opened.stores.site_notes.waiting(1):
            answer_question(opened, question, question.url in goals, time.time())


def forage_until_killed(workspace: Path, start: str) -> None:
    process = subprocess.Popen(
        command(workspace, start, "--into", "1", "--delay", "0.2"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for(workspace, VISITS.format(start, 3), process)
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_answers_teach_the_sites_that_come_after_them_and_a_kill_changes_nothing(
    trained: Path, samples: SampleServer, tmp_path: Path
) -> None:
    first, later = start_of(samples, "math"), start_of(samples, "biology")
    goals = true_goals(samples, "math", "course")
    forage_again(trained, first)
    untaught, begun = (Path(shutil.copytree(trained, tmp_path / name)) for name in ("untaught", "begun"))
    forage_until_killed(begun, later)
    for folder in (trained, begun):
        answer_all(folder, goals)
    killed = Path(shutil.copytree(trained, tmp_path / "killed"))
    forage_until_killed(killed, later)
    for folder in (untaught, trained, begun, killed):
        forage_again(folder, later, "--into", "1")

    def column(workspace: Path, number: int) -> list[Any]:
        return [row[number] for row in order_of(workspace, later)]

    assert order_of(killed, later) == order_of(trained, later)
    assert column(trained, SCORE) != column(untaught, SCORE)
    # a site that had begun keeps its order, and its goals are recognised by what is known at the end
    assert column(begun, SCORE) == column(untaught, SCORE)
    assert column(begun, PROBABILITY) != column(untaught, PROBABILITY)
    with Workspace.open(trained) as workspace:
        assert workspace.stores.site_notes.sites_taught(1) == 1

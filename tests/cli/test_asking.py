"""Questions while a forage runs: one key each, nothing waits for them, and answers act and outlive a kill."""

from __future__ import annotations

import json
import os
import pty
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


def wait_for(path: Path, sql: str, process: subprocess.Popen[bytes], seconds: float = 90) -> Any:
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

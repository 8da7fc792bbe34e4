"""Jobs report their progress and the run they work on; a job whose process died has failed."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from tests.store.old_databases import create_old
from wayhound.store.database import Database
from wayhound.store.forage import ForageStore
from wayhound.store.jobs import JobStore
from wayhound.store.protocol import RunLimits
from wayhound.store.sqlite import SqliteDatabase


def test_a_job_tells_how_far_it_is_and_how_it_ended(database: Database) -> None:
    jobs = JobStore(database)
    number = jobs.begin("train", "Starting.", 1.0)
    jobs.report(number, "Learning.", 2, 5)
    [running] = jobs.running("train")
    assert (running.sentence, running.done, running.total, running.is_running) == (
        "Learning.",
        2,
        5,
        True,
    )
    jobs.end(number, "done", "Learned.", 2.0)
    assert jobs.running() == []
    last = jobs.last("train")
    assert last is not None
    assert (last.state, last.sentence, last.ended_at) == ("done", "Learned.", 2.0)


def test_a_job_that_was_stopped_stays_stopped_whatever_it_says_later(database: Database) -> None:
    jobs = JobStore(database)
    number = jobs.begin("train", "", 1.0)
    jobs.end(number, "stopped", "Stopped by you.", 2.0)
    jobs.report(number, "Learning.", 1, 2)
    jobs.end(number, "done", "Learned.", 3.0)
    job = jobs.get(number)
    assert job is not None
    assert (job.state, job.sentence) == ("stopped", "Stopped by you.")


def test_a_job_whose_process_is_gone_has_failed(database: Database) -> None:
    jobs = JobStore(database)
    alive, dead = jobs.begin("train", "", 1.0), jobs.begin("forage", "", 1.0)
    jobs.set_process(alive, 1)
    jobs.set_process(dead, 2)
    jobs.end_dead(lambda pid, _: pid == 1, 5.0)
    assert [job.id for job in jobs.running()] == [alive]
    ended = jobs.get(dead)
    assert ended is not None
    assert ended.state == "failed"
    assert jobs.get(99) is None


def test_a_job_knows_the_run_that_it_works_on(database: Database) -> None:
    run = ForageStore(database).open_run({"strategy": "random"}, RunLimits(), [], now=0.0)
    jobs = JobStore(database)
    forage, training = (
        jobs.begin("forage", "It begins.", 1.0, run_id=run.id),
        jobs.begin("train", "", 1.0),
    )
    assert [job.run_id for job in jobs.running()] == [run.id, None]
    jobs.end(forage, "failed", "The disk is full.", 2.0)
    last = jobs.last("forage")
    assert last is not None
    assert last.run_id == run.id
    assert training != forage


def test_jobs_of_earlier_versions_get_their_run_from_their_sentence(tmp_path: Path) -> None:
    create_old(tmp_path / "old.db", 15)
    with contextlib.closing(sqlite3.connect(tmp_path / "old.db")) as old:
        for number in (1, 12):
            old.execute(
                "INSERT INTO run (id, identity, created_at, opened_at) VALUES (?, ?, 0, 0)", (number, number)
            )
        sentences = [
            "Run 1: it begins.",
            "Run 12: 3 goals on 12 pages of 4 sites.",
            "The disk is full.",
            "Run 7: x",
        ]
        for sentence in sentences:
            old.execute("INSERT INTO job (kind, sentence, began_at) VALUES ('forage', ?, 0)", (sentence,))
        old.execute("INSERT INTO job (kind, sentence, began_at) VALUES ('train', 'Run 1: no.', 0)")
        old.commit()
    with SqliteDatabase(tmp_path / "old.db") as database:
        assert [job.run_id for job in JobStore(database).running()] == [1, 12, None, None, None]

"""Jobs tell how far they are, and one that died is known to have died."""

from __future__ import annotations

from wayhound.store.database import Database
from wayhound.store.jobs import JobStore


def test_a_job_tells_how_far_it_is_and_how_it_ended() -> None:
    with Database(None) as database:
        jobs = JobStore(database)
        number = jobs.begin("train", "Starting.", 1.0)
        jobs.tell(number, "Learning.", 2, 5)
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


def test_a_job_that_was_stopped_stays_stopped_whatever_it_says_later() -> None:
    with Database(None) as database:
        jobs = JobStore(database)
        number = jobs.begin("train", "", 1.0)
        jobs.end(number, "stopped", "Stopped by you.", 2.0)
        jobs.tell(number, "Learning.", 1, 2)
        jobs.end(number, "done", "Learned.", 3.0)
        job = jobs.get(number)
        assert job is not None
        assert (job.state, job.sentence) == ("stopped", "Stopped by you.")


def test_a_job_whose_process_is_gone_has_failed() -> None:
    with Database(None) as database:
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

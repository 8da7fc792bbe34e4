"""A process that shares a store with others: ``python -m tests.store.worker TASK DATABASE NAME [FOLDER]``."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from tests.store.samples import begin, forage_store, lease, lease_next, visit_of
from wayhound.store.database import Database, open_database
from wayhound.store.forage import ForageStore


def opened(place: str) -> Database:
    """Open the database of a file, or of a server by its URL."""
    return open_database(Path(), place) if "://" in place else open_database(Path(place))


def say(word: object) -> None:
    """Unbuffered, so that what was said before a kill is known."""
    os.write(1, f"{word}\n".encode())


def open_only(store: ForageStore, _: str) -> None:
    say(begin(store, sites=5).id)


def finish_sites(store: ForageStore, name: str) -> None:
    """Lease and finish sites until none waits. A file for each leased domain shows if two held it at once."""
    (run,) = store.runs()
    while store.progress(run.id).waiting:
        if job := lease_next(store, run.id, name, time.time()):
            mark = Path(sys.argv[4]) / job.site.domain
            mark.touch(exist_ok=False)
            say(job.site.start)
            time.sleep(0.002)
            mark.unlink()
            store.finish_site(job, "no links left")


def save_visits(store: ForageStore, name: str) -> None:
    """Save as many visits as the total budget allows, telling each when it is saved."""
    (run,) = store.runs()
    job = lease(store, run, name, time.time())
    number = job.visits
    say("begun")
    while store.reserve_fetch(job):
        store.save_visit(job, visit_of(job, number))
        say(number)
        number += 1
    store.finish_site(job, "total budget spent")


TASKS = {"open": open_only, "finish": finish_sites, "save": save_visits}

if __name__ == "__main__":
    with opened(sys.argv[2]) as database:
        TASKS[sys.argv[1]](forage_store(database), sys.argv[3])

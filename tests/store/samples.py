"""Sites and visits to fill stores with."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from wayhound.site import Site
from wayhound.store.database import Database
from wayhound.store.forage import ForageStore
from wayhound.store.protocol import Run, RunLimits, SiteJob
from wayhound.visit import Visit

BREADTH_FIRST = {"strategy": "breadth-first", "goal": "contact"}


def forage_store(database: Database, clock: Callable[[], float] = time.monotonic) -> ForageStore:
    """Return the store of forages that the stores of a workspace have, with a clock of the test's."""
    if not database.is_server:
        return ForageStore(database, clock)
    from wayhound.store.postgres import PostgresDatabase
    from wayhound.store.server_forage import ServerForageStore

    assert isinstance(database, PostgresDatabase)
    return ServerForageStore(database, clock)


def site(number: int) -> Site:
    return Site(f"https://www.site{number}.example/")


def begin(store: ForageStore, sites: int = 3, **limits: int) -> Run:
    return store.open_run(BREADTH_FIRST, RunLimits(**limits), map(site, range(sites)), now=0.0)


def lease_next(store: ForageStore, run_id: int, worker: str = "here:1:0", now: float = 0.0) -> SiteJob | None:
    """Lease the next site of a run; None if there is none at the moment."""
    return next(iter(store.lease_sites(run_id, worker, now, 1)), None)


def lease(store: ForageStore, run: Run, worker: str = "here:1:0", now: float = 0.0) -> SiteJob:
    job = lease_next(store, run.id, worker, now)
    assert job is not None
    return job


def visit_of(job: SiteJob, number: int, **changes: Any) -> Visit:
    url = f"{job.site.start}{number}" if number else job.site.start
    values: dict[str, Any] = {"url": url, "outcome": "ok", "at": 1_700_000_000.5 + number, **changes}
    return Visit(site=job.site.start, number=number, **values)

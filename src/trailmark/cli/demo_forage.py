"""The forages of the demo, judged by what the sample web knows to be true."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from trailmark.cli.console import count, err, say
from trailmark.cli.forage import forage_with_display
from trailmark.cli.forage_display import closing_table
from trailmark.foraging import Order, open_run
from trailmark.samples import SampleServer, SampleWeb
from trailmark.site import Site
from trailmark.store.forage import RunLimits
from trailmark.url import normalise
from trailmark.visit import Visit
from trailmark.workspace import Workspace

PAUSE_SECONDS = 0.02  # it is our own machine
SHOWN = 8  # goals a job, before the rest is only counted


@dataclass(frozen=True, slots=True)
class Job:
    """One forage of the demo: on which sites, for which pages by the sample web's own labels."""

    kind: str
    label: str
    order: Order
    budget: int


DEPARTMENTS = Job("department", "publication", Order(strategy="path-learner", take_files=True), 90)
COMPANIES = Job(
    "company",
    "contact",
    Order(
        strategy="best-first",
        keywords=("contact", "kontakt", "contacto", "address", "visit", "impressum", "telephone"),
        goal=r"contact|kontakt|impressum|find us|visit",
    ),
    20,
)


def forage_sites(workspace: Workspace, web: SampleWeb, server: SampleServer, job: Job) -> None:
    sites = [Site(normalise(seed)) for seed in server.seeds() if _kind(web, seed) == job.kind]
    fetch = replace(workspace.config.fetch, allow_private=True, delay_seconds=PAUSE_SECONDS)
    config = replace(workspace.config, fetch=fetch)
    run = open_run(workspace, job.order, RunLimits(job.budget), sites, time.time())
    found: list[Visit] = []

    def keep(visit: Visit) -> None:
        if visit.is_goal:
            found.append(visit)
            if len(found) <= SHOWN:
                say(f"{visit.url}  {visit.title}")

    asyncio.run(forage_with_display(workspace, run, config, 1, keep))
    if len(found) > SHOWN:
        err.print(f"… and {len(found) - SHOWN} more")
    err.print(closing_table(workspace.forage_store.sites(run.id)))
    err.print(_judged(found, _true_pages(web, server, job)))


def _kind(web: SampleWeb, seed: str) -> str:
    site = web.site(seed.split("/")[2])
    return site.kind if site else ""


def _true_pages(web: SampleWeb, server: SampleServer, job: Job) -> Mapping[str, str]:
    return {
        normalise(f"http://{site.host}:{server.port}{path}"): site.host
        for site in web.sites
        if site.kind == job.kind
        for path, label in site.labels().items()
        if label == job.label
    }


def _judged(found: list[Visit], true: Mapping[str, str]) -> str:
    right = [visit for visit in found if visit.url in true]
    sites = {true[visit.url] for visit in right}
    return (
        f"By the sample web's own labels, {len(right)} of the {count(len(found), 'page')} found are right, "
        f"on {len(sites)} of the {count(len(set(true.values())), 'site')} that have any."
    )

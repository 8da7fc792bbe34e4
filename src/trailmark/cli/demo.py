"""`trailmark demo`: the main job on the sample web, with nothing to set up and no internet."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import click
from rich.rule import Rule

from trailmark.cli.console import count, err, say
from trailmark.cli.forage import forage_with_display
from trailmark.cli.forage_display import closing_table
from trailmark.errors import UsageError
from trailmark.foraging import Order, open_run
from trailmark.samples import SampleServer, SampleWeb, sample_web, serve_samples
from trailmark.site import Site
from trailmark.store.forage import RunLimits
from trailmark.url import normalise
from trailmark.visit import Visit
from trailmark.workspace import Workspace

MARK = ".trailmark-demo"  # in folders that the demo made, and may make anew
PAUSE_SECONDS = 0.02  # it is our own machine
SHOWN = 12  # goals a job, before the rest is only counted


@dataclass(frozen=True, slots=True)
class Job:
    """One forage of the demo, and what it looks for, in words and by the sample web's own labels."""

    title: str
    kind: str
    label: str
    order: Order
    budget: int


JOBS = (
    Job(
        "The contact pages of six small companies, 20 pages each, most promising links first",
        "company",
        "contact",
        Order(
            strategy="best-first",
            keywords=("contact", "kontakt", "contacto", "address", "visit", "impressum", "telephone"),
            goal=r"contact|kontakt|impressum|find us|visit",
        ),
        20,
    ),
    Job(
        "The publication lists of eight departments, 80 pages each, nearest pages first",
        "department",
        "publications",
        Order(strategy="breadth-first", goal=r"publicat|publikation|papers|veröffentlich"),
        80,
    ),
)


@click.command()
@click.option("--workspace", "folder", type=click.Path(path_type=Path, file_okay=False), default=Path("demo"),
              show_default=True, help="Where the demo keeps what it finds; made anew each time.")  # fmt: skip
def demo(folder: Path) -> None:
    """Forage the sample web into a workspace and show what came of it."""
    _clear(folder)
    web = sample_web()
    with serve_samples(web) as server, Workspace.create(folder) as workspace:
        (folder / MARK).touch()
        err.print(
            f"{count(len(web.sites), 'sample site')} are served on this machine. No internet is used.\n"
        )
        for job in JOBS:
            _forage(workspace, web, server, job)
    _say_what_next(folder)


def _clear(folder: Path) -> None:
    """Take the last demo away; never anything else."""
    if not folder.exists():
        return
    if not (folder / MARK).exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} was not made by the demo. Choose another folder with --workspace.")
    shutil.rmtree(folder)


def _forage(workspace: Workspace, web: SampleWeb, server: SampleServer, job: Job) -> None:
    err.print(Rule(job.title, align="left"))
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
        f"on {len(sites)} of the {count(len(set(true.values())), 'site')} that have any.\n"
    )


def _say_what_next(folder: Path) -> None:
    err.print(Rule("What to try next", align="left"))
    trailmark = _how_to_call_us()
    for command, what in (
        (f"{trailmark} status -w {folder}", "what each run did, and why each site stopped"),
        (
            f"{trailmark} export pages -w {folder} --out pages.csv",
            "every page, with the clicks that led to it",
        ),
        (f"{trailmark} samples --serve", "look at the sample sites in a browser"),
        (f"{trailmark} init mine && {trailmark} forage SEEDS.txt -w mine", "your own list of sites"),
    ):
        err.print(f"  [bold]{command}[/]\n      {what}")


def _how_to_call_us() -> str:
    """`trailmark`, or its path where the environment that holds it is not active."""
    shorter = min(sys.argv[0], os.path.relpath(sys.argv[0]), key=len)
    return "trailmark" if shutil.which("trailmark") else shorter

"""A background job of the studio, in a process of its own: `python -m wayhound.studio.jobs FOLDER ID KIND < JSON`.

Each kind imports what it needs when it runs: all of it together loads four times as long as a forage's part.
"""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from wayhound.app import OnProgress
from wayhound.errors import WayhoundError
from wayhound.store.jobs import JobStore
from wayhound.wording.faults import format_error
from wayhound.workspace import Workspace

if TYPE_CHECKING:
    from wayhound.app.papers.adding import AddedFile

REPORT_SECONDS = 0.2  # between two reports of progress, each of which is a query and a write

JobFunction = Callable[[Workspace, Mapping[str, Any], OnProgress], str]
"""Does a job with its arguments, reports progress, and returns a sentence on how it ended."""


def train_job(workspace: Workspace, arguments: Mapping[str, Any], on_progress: OnProgress) -> str:
    from wayhound.app.train.models import TrainingSource
    from wayhound.app.train.training import LookAround, train_and_measure
    from wayhound.wording.training import format_training

    pages = arguments.get("look_around")
    report = train_and_measure(
        workspace,
        arguments["name"],
        arguments["strategy"],
        arguments["settings"],
        on_progress,
        source=TrainingSource(papers=True) if arguments.get("papers") else None,
        looking_around=LookAround(pages, workspace.config) if pages else None,
    )
    return format_training(report)


def review_job(workspace: Workspace, arguments: Mapping[str, Any], on_progress: OnProgress) -> str:
    from wayhound.app.review import prepare, retrain

    if arguments["retrain"]:
        retrain(workspace, arguments["run"], at=time.time(), on_progress=on_progress)
        return "The model has learned from your answers."
    prepare(workspace, arguments["run"], on_progress=on_progress)
    return "The questions are ready."


def topics_job(workspace: Workspace, arguments: Mapping[str, Any], on_progress: OnProgress) -> str:  # noqa: ARG001
    from wayhound.app.topics import Topics
    from wayhound.wording.papers import training_summary

    training = Topics(workspace).train(with_suggestions=True, on_progress=on_progress)
    return f"Trained. {training_summary(training.history)}."


def papers_job(workspace: Workspace, arguments: Mapping[str, Any], on_progress: OnProgress) -> str:
    """Add files, read all files again, or train on corrections. Every file is saved before the next is read."""
    from wayhound.app.papers.adding import Intake, choose_workers, incoming_files
    from wayhound.app.papers.library import PaperLibrary

    library = PaperLibrary(workspace)
    if arguments["action"] == "train":
        from wayhound.app.papers.training import train as train_papers
        from wayhound.wording.papers import format_trained

        on_progress("learning from corrections", 0, 1)
        return " ".join(format_trained(train_papers(library)))
    if arguments["action"] == "read":
        files = list(library.files.iterate())
        added = Intake(library, choose_workers(None, len(files))).read_again(files)
        return _read_files(added, len(files), on_progress)
    incoming = incoming_files(
        library,
        [Path(path) for path in arguments["paths"]],
        from_forage=arguments["from_forage"],
        run_id=arguments["forage_run"],
    )
    added = Intake(library, choose_workers(None, len(incoming))).add(incoming)
    return _read_files(added, len(incoming), on_progress)


def _read_files(files: Iterable[AddedFile], total: int, on_progress: OnProgress) -> str:
    from wayhound.wording.papers import format_added_files

    done: list[AddedFile] = []
    on_progress("reading files", 0, total)
    for file in files:
        done.append(file)
        on_progress("reading files", len(done), total)
    return format_added_files(done)


def forage_job(workspace: Workspace, arguments: Mapping[str, Any], on_progress: OnProgress) -> str:
    """Forage the sites of a run until they are done or SIGTERM stops it; the run is saved either way.

    If it looks for facts, these are extracted at its end.
    """
    from wayhound.app.order import Order

    sentence = asyncio.run(_forage(workspace, arguments, on_progress))
    run = workspace.stores.forage.run(arguments["run"])
    if facts := Order.from_identity(run.identity).facts:
        sentence += " " + facts_job(workspace, {"facts": facts, "run": run.id}, on_progress)
    return sentence


def facts_job(workspace: Workspace, arguments: Mapping[str, Any], on_progress: OnProgress) -> str:
    """Read the facts of archived pages; those of every site are saved before the next is read."""
    from wayhound.app.facts.extraction import extract_facts
    from wayhound.app.facts.search import parse_wanted
    from wayhound.wording.facts import format_extracted

    wanted = parse_wanted(workspace, arguments["facts"])
    done = extract_facts(
        workspace,
        wanted,
        run_id=arguments.get("run"),
        on_progress=lambda at, of: on_progress("reading facts", at, of),
    )
    return format_extracted(done, wanted)


async def _forage(workspace: Workspace, arguments: Mapping[str, Any], on_progress: OnProgress) -> str:
    from wayhound.app.forage import override_config
    from wayhound.app.workers import TimeBound, forage_run
    from wayhound.wording.quantities import count
    from wayhound.wording.runs import format_progress, format_time_left

    store, run = workspace.stores.forage, workspace.stores.forage.run(arguments["run"])
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)

    config = override_config(workspace.config, delay_seconds=arguments["delay"])
    before, began = store.progress(run.id), time.monotonic()
    bound = TimeBound.of(store, run, config, arguments["workers"])

    async def report() -> None:
        while True:
            progress, elapsed = store.progress(run.id), time.monotonic() - began
            left = bound.seconds(progress, progress.spent - before.spent, elapsed)
            parts = format_progress(run.id, progress), format_time_left(None, left)
            on_progress(", ".join(filter(None, parts)), progress.done, progress.sites)
            await asyncio.sleep(REPORT_SECONDS)

    reporting = asyncio.create_task(report())
    try:
        await forage_run(
            workspace, run, config, workers=arguments["workers"], on_goal=lambda _: None, stop=stop
        )
    finally:
        reporting.cancel()
    progress = store.progress(run.id)
    return f"{format_progress(run.id, progress)} of {count(progress.sites, 'site')}."


def chains_job(workspace: Workspace, arguments: Mapping[str, Any], on_progress: OnProgress) -> str:
    """Extract the instances of a relationship; those of every source page are saved before the next is read."""
    from wayhound.app.chains.relationships import LinkChains
    from wayhound.wording.chains import format_extracted

    with LinkChains.opened(workspace, online=True) as chains:
        sources = list(arguments["sources"])
        if arguments["from_forage"]:
            sources += chains.goal_sources()
        outcome = chains.extract(
            arguments["name"], sources, again=arguments["again"], on_progress=on_progress
        )
    return " ".join(format_extracted(outcome))


JOBS: dict[str, JobFunction] = {
    "chains": chains_job,
    "facts": facts_job,
    "train": train_job,
    "review": review_job,
    "forage": forage_job,
    "topics": topics_job,
    "papers": papers_job,
}


def main(arguments: list[str]) -> int:
    folder, job_id, kind = arguments
    signal.signal(signal.SIGTERM, _exit)
    with Workspace.open(Path(folder)) as workspace:
        return run(workspace, int(job_id), JOBS[kind], json.load(sys.stdin))


def run(workspace: Workspace, job_id: int, function: JobFunction, arguments: Mapping[str, Any]) -> int:
    """Do a job, save how it ended, and return the exit code."""
    jobs = workspace.stores.jobs
    try:
        sentence = function(workspace, arguments, _ProgressWriter(jobs, job_id))
    except WayhoundError as error:
        jobs.end(job_id, "failed", format_error(error, "studio"), time.time())
        return error.exit_code
    except Exception:
        logging.exception("job %d failed", job_id)
        message = "Something went wrong. The terminal in which the studio runs shows the error."
        jobs.end(job_id, "failed", message, time.time())
        return 1
    jobs.end(job_id, "done", sentence, time.time())
    return 0


class _ProgressWriter:
    """Saves progress at most once per REPORT_SECONDS, but always the first and last step of a stage."""

    def __init__(self, jobs: JobStore, job_id: int) -> None:
        self._jobs, self._job_id, self._last_report = jobs, job_id, 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        if time.monotonic() - self._last_report >= REPORT_SECONDS or done in (0, total):
            self._jobs.report(self._job_id, f"{what[:1].upper()}{what[1:]}.", done, total)
            self._last_report = time.monotonic()


def _exit(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    raise SystemExit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

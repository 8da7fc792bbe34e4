"""One job of the studio in a process of its own: `python -m wayhound.studio.job FOLDER ID KIND < JSON`."""

from __future__ import annotations

import json
import logging
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from wayhound.app.held_out import train_and_measure
from wayhound.app.review import prepare, retrain
from wayhound.app.topics import Topics
from wayhound.app.train import OnProgress
from wayhound.errors import WayhoundError
from wayhound.store.jobs import JobStore
from wayhound.studio.forage_job import TELL_SECONDS, forage
from wayhound.wording.topics import training_summary
from wayhound.wording.training import format_training
from wayhound.workspace import Workspace

Work = Callable[[Workspace, Mapping[str, Any], OnProgress], str]
"""Does a job with its arguments, tells how far it is, and says in a sentence how it ended."""


def train_job(workspace: Workspace, given: Mapping[str, Any], on_progress: OnProgress) -> str:
    report = train_and_measure(workspace, given["name"], given["strategy"], given["settings"], on_progress)
    return format_training(report)


def review_job(workspace: Workspace, given: Mapping[str, Any], on_progress: OnProgress) -> str:
    if given["retrain"]:
        retrain(workspace, given["run"], at=time.time(), on_progress=on_progress)
        return "The model has learned from your answers."
    prepare(workspace, given["run"], on_progress=on_progress)
    return "The questions are ready."


def topics_job(workspace: Workspace, given: Mapping[str, Any], on_progress: OnProgress) -> str:  # noqa: ARG001
    training = Topics(workspace).train(with_suggestions=True, on_progress=on_progress)
    return f"Trained. {training_summary(training.history)}."


WORK: dict[str, Work] = {"train": train_job, "review": review_job, "forage": forage, "topics": topics_job}


def main(arguments: list[str]) -> int:
    folder, job_id, kind = arguments
    signal.signal(signal.SIGTERM, _end)
    with Workspace.open(Path(folder)) as workspace:
        return run(workspace, int(job_id), WORK[kind], json.load(sys.stdin))


def run(workspace: Workspace, job_id: int, work: Work, given: Mapping[str, Any]) -> int:
    jobs = workspace.stores.jobs
    try:
        sentence = work(workspace, given, _Telling(jobs, job_id))
    except WayhoundError as error:
        jobs.end(job_id, "failed", str(error), time.time())
        return error.exit_code
    except Exception:
        logging.exception("job %d failed", job_id)
        jobs.end(job_id, "failed", "Something went wrong; the terminal of the studio says what.", time.time())
        return 1
    jobs.end(job_id, "done", sentence, time.time())
    return 0


class _Telling:
    """Writes progress down, not too often, but never keeps the last step of a part to itself."""

    def __init__(self, jobs: JobStore, job_id: int) -> None:
        self._jobs, self._job_id, self._told_at = jobs, job_id, 0.0

    def __call__(self, what: str, done: int, of: int) -> None:
        if time.monotonic() - self._told_at >= TELL_SECONDS or done in (0, of):
            self._jobs.report(self._job_id, f"{what[:1].upper()}{what[1:]}.", done, of)
            self._told_at = time.monotonic()


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    raise SystemExit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

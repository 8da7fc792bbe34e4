"""Unattended growth of a portal: at an interval, forage approved sites that are due, read and place new papers."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import Self

from wayhound.files import write_file
from wayhound.processes import kill_group, python_command, start_process
from wayhound.record_kinds import PAPERS_AND_DOCUMENTS
from wayhound.workspace import Workspace

LOG_NAME = "keep-up.json"
DUE_NAME = "due-sites.txt"
"""The sites of the round under way. It stays after a stop, so that the next round resumes the same forage."""

_LONGEST_REST = 16  # rounds that a site without news is left alone
_JUDGED_FORAGES = 8  # of a site; after them the rest between two is near either end
_KEPT_ROUNDS = 30
_LONGEST_WAIT = 600.0  # seconds; then the clock is read again, since it may have been set
_POLL_SECONDS = 0.2
_STOP_SECONDS = 30.0  # for a command to end in good order
_MAX_MESSAGE = 300  # characters


@dataclass(frozen=True, slots=True)
class KeptStep:
    """A command of a round, its exit code, and the last line that it printed."""

    command: str
    code: int
    message: str


@dataclass(frozen=True, slots=True)
class KeptRound:
    """One round of commands; `started` is in seconds since 1970."""

    started: float
    seconds: float
    steps: tuple[KeptStep, ...] = ()
    stopped: bool = False


def rounds_until_next(finds: Sequence[tuple[float, frozenset[str]]]) -> int:
    """Return how many rounds after its last forage a site is due again.

    `finds` are the end of each forage and the URLs that it found, the oldest first. A forage that finds nothing new
    doubles the time until the next one, up to 16 rounds; one that does halves it.
    """
    rest, known = 1, frozenset[str]()
    for number, (_, urls) in enumerate(finds):
        if number:
            rest = max(1, rest // 2) if urls - known else min(_LONGEST_REST, 2 * rest)
        known |= urls
    return rest


def read_rounds(folder: Path) -> list[KeptRound]:
    """Return the last rounds of a workspace, the newest last; none if the log is missing or damaged."""
    try:
        listed = json.loads((folder / LOG_NAME).read_text("utf-8"))
        return [
            KeptRound(
                one["started"],
                one["seconds"],
                tuple(KeptStep(**step) for step in one["steps"]),
                one["stopped"],
            )
            for one in listed
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return []


@dataclass
class KeepUp:
    """A thread that runs a round whenever the last one began `every_seconds` ago, also before a restart.

    The steps are commands in processes of their own, so that a failure of one harms neither the portal nor the
    others. On exit, the command under way is asked to stop and resumes in the next round.
    """

    folder: Path
    every_seconds: float
    _stop: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        self._thread = Thread(target=self._run, name="keep-up", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(min(_LONGEST_WAIT, self.seconds_left())):
            if not self.seconds_left():
                self._round()

    def seconds_left(self) -> float:
        """Return the time until the next round; 0 if it is due, as after a round that was stopped."""
        last = next(iter(read_rounds(self.folder)[-1:]), None)
        if last is None or last.stopped:
            return 0.0
        return max(0.0, last.started + self.every_seconds - time.time())

    def _round(self) -> None:
        started, steps = time.time(), list[KeptStep]()
        for arguments in self._commands():
            steps.append(self._step(arguments))
            if self._stop.is_set():
                break
        done = KeptRound(started, round(time.time() - started, 1), tuple(steps), self._stop.is_set())
        kept = [*read_rounds(self.folder), done][-_KEPT_ROUNDS:]
        write_file(self.folder / LOG_NAME, json.dumps([asdict(one) for one in kept]).encode())

    def _commands(self) -> Iterator[tuple[str, ...]]:
        from wayhound.app.moderate import SITE_LIST_NAME  # noqa: PLC0415 - `status` needs the log alone, and no numpy
        from wayhound.topics.tree import TREE_NAME  # noqa: PLC0415

        before, due = self._newest_change(), self.folder / DUE_NAME
        if not due.exists() and (sites := self.due_sites(self.folder / SITE_LIST_NAME)):
            write_file(due, "".join(f"{site}\n" for site in sites).encode())
        if due.exists():
            yield ("forage", str(due), "--again", "--files")
            if not self._stop.is_set():
                due.unlink()
        yield ("papers", "add", "--from-forage")
        if (self.folder / TREE_NAME).exists() and self._has_papers_since(before):
            yield ("topics", "train")

    def due_sites(self, path: Path) -> list[str]:
        """Return the start pages of a list of sites that were never foraged, or are due to be foraged again."""
        from wayhound.app.site_list import read_sites  # noqa: PLC0415

        if not path.exists() or not path.read_text("utf-8").strip():
            return []
        # half a round later: a site that was foraged late in its round is due in time all the same
        now = time.time() + self.every_seconds / 2
        with Workspace.open(self.folder) as workspace:
            finds = {
                start: workspace.stores.forage.finds(start, _JUDGED_FORAGES)
                for start in read_sites([str(path)]).sites
            }
        return [
            start
            for start, forages in finds.items()
            if not forages or forages[-1][0] + self.every_seconds * rounds_until_next(forages) <= now
        ]

    def _newest_change(self) -> int:
        with Workspace.open(self.folder) as workspace:
            return workspace.stores.changes.newest()

    def _has_papers_since(self, change: int) -> bool:
        with Workspace.open(self.folder) as workspace:
            return any(workspace.stores.changes.has(kind, change) for kind in PAPERS_AND_DOCUMENTS)

    def _step(self, arguments: Sequence[str]) -> KeptStep:
        command = python_command("wayhound", *arguments, "--workspace", str(self.folder))
        code, message = run_until(command, self._stop)
        name = " ".join(part for part in arguments[:2] if not part.startswith(("/", "-")))
        return KeptStep(name, code, message[:_MAX_MESSAGE])


def run_until(command: list[str], stop: Event) -> tuple[int, str]:
    """Run a command and return its code and last line. Once `stop` is set, it is asked to end, then killed."""
    process = start_process(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    printed = b""
    patience = float("inf")
    while True:
        try:
            _, printed = process.communicate(timeout=_POLL_SECONDS)
            break
        except subprocess.TimeoutExpired:
            if stop.is_set() and patience == float("inf"):
                process.terminate()  # not SIGINT, which a child of a background job ignores
                patience = time.monotonic() + _STOP_SECONDS
            if time.monotonic() > patience:
                kill_group(process)
                break
    said = printed.decode("utf-8", "replace").partition("\nNext:\n")[
        0
    ]  # what a person could do next is left out
    return process.returncode, next(
        (line.strip() for line in reversed(said.splitlines()) if line.strip()), ""
    )

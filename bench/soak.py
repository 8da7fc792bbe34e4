"""A whole installation for an hour, with faults at random: forage, index, portal, export, backup and papers on one
workspace, while processes are killed and stopped, the network is lost or slow, files cannot grow, the disk is slow, and
the clock jumps by hours.

After each round everything is stopped, and the workspace must be sound: `doctor` finds nothing bad, no page is there
twice, every page is in the archive, and backups taken meanwhile can be restored. The disk is slow while another program
writes to it and waits for each block. The clock that the commands see is that of libfaketime (on Debian the package of
that name), whose offset changes while they run; the machine's own clock is left alone.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from bench.kills import BUDGET, Web, damage_in, serving
from bench.report import Bar, Report, add_output_options, finish
from wayhound.app.backup import restore
from wayhound.app.doctor import examine
from wayhound.errors import WayhoundError
from wayhound.workspace import Workspace

ROUND_SECONDS = 120.0
_FILE_BYTES = 300_000  # the largest file that a process on a full disk can write
_SLOW_SECONDS, _BLOCK_BYTES = 3.0, 4_000_000
_INTERRUPTS, _INTERRUPT_SECONDS = 10, 30.0
_FAKETIME = "*/faketime/libfaketimeMT.so.1"  # below /usr/lib
_MOST_JUMP = 2 * 3600.0  # seconds, in either direction
WAYHOUND = [sys.executable, "-m", "wayhound"]


@dataclass
class Installation:
    """A workspace and the commands that run on it, each started again when it ends."""

    folder: Path
    web: Web
    chance: Random
    faketime: Path | None = None
    faults: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    backups: list[Path] = field(default_factory=list)
    _stopping: threading.Event = field(default_factory=threading.Event)
    _running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def workspace(self) -> Path:
        return self.folder / "workspace"

    def commands(self) -> dict[str, list[str]]:
        options = [
            "--budget",
            str(BUDGET),
            "--delay",
            "0",
            "--allow-private",
            "--render",
            "never",
            "--workers",
            "2",
        ]
        backup = self.folder / f"backup-{time.monotonic_ns()}.tar"
        self.backups.append(backup)
        return {
            "forage": ["forage", *self.web.starts(), "--strategy", "breadth-first", *options],
            "index": ["index"],
            "export": ["export", "visits", "--out", str(self.folder / "visits.jsonl")],
            "papers": ["papers", "add", str(self.folder / "papers"), "--workers", "1"],
            "backup": ["workspace", "backup", str(backup)],
            "serve": ["serve", "--port", "0", "--rate", "0", "--workers", "1"],
            "studio": ["studio", "--port", "0", "--no-browser"],
        }

    def run(self, seconds: float) -> None:
        """Run everything for some time, with faults; then let the forage end and stop the rest."""
        self._set_clock(0.0)
        threads = [threading.Thread(target=self._keep_running, args=(name,)) for name in self.commands()]
        for thread in threads:
            thread.start()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self._stopping.wait(self.chance.uniform(0.5, 3.0))
            self._fault()
        self._stopping.set()
        self._interrupt_until_ended(threads)
        self.web.is_lost = False
        self._set_clock(0.0)
        self._finish()

    def _interrupt_until_ended(self, threads: Sequence[threading.Thread]) -> None:
        """Interrupt all commands until they end: a signal can be lost while a process imports its modules."""
        for _ in range(_INTERRUPTS):
            for process in list(self._running.values()):
                _interrupt(process)
            end = time.monotonic() + _INTERRUPT_SECONDS
            for thread in threads:
                thread.join(max(0.0, end - time.monotonic()))
            if not any(thread.is_alive() for thread in threads):
                return
        raise SystemExit(f"A command still runs after {_INTERRUPTS} interrupts.")

    def _keep_running(self, name: str) -> None:
        while not self._stopping.is_set():
            process = self._start(name)
            self._running[name] = process
            try:
                process.wait(300 if name not in ("serve", "studio") else None)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                self.ended["hung"] += 1
            self.ended["by itself" if process.returncode == 0 else "otherwise"] += 1
            self._stopping.wait(1.0)

    def _start(self, name: str) -> subprocess.Popen[bytes]:
        is_full = name != "serve" and self.chance.random() < 0.1
        command = [*WAYHOUND, *self.commands()[name], "-w", str(self.workspace)]
        if is_full:
            self.faults["full disk"] += 1
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                command, stdout=log, stderr=log, start_new_session=True, env=self._environment(),
                preexec_fn=_fill_disk if is_full else None,  # noqa: PLW1509 - two system calls
            )  # fmt: skip

    def _environment(self) -> dict[str, str]:
        if self.faketime is None:
            return {**os.environ}
        return {
            **os.environ,
            "LD_PRELOAD": str(self.faketime),
            "FAKETIME_TIMESTAMP_FILE": str(self._clock),
            "FAKETIME_NO_CACHE": "1",
            "DONT_FAKE_MONOTONIC": "1",  # it does not jump
            "NO_FAKE_STAT": "1",
        }

    @property
    def _clock(self) -> Path:
        return self.folder / "clock"

    def _set_clock(self, seconds: float) -> None:
        """Let the clock of all commands differ from the machine's by so much, from now on."""
        new = self._clock.with_suffix(".new")
        new.write_text(f"{seconds:+.0f}\n")
        new.replace(self._clock)

    def _slow_disk(self) -> None:
        """Write to the disk of the workspace and wait for each block, so that everybody else waits too."""
        end = time.monotonic() + _SLOW_SECONDS
        with (self.folder / "ballast").open("wb") as file:
            while time.monotonic() < end:
                file.seek(0)
                file.write(os.urandom(_BLOCK_BYTES))
                file.flush()
                os.fsync(file.fileno())

    def _fault(self) -> None:
        kinds = ["kill", "kill", "stop", "network loss", "slow web", "slow disk", "visit"]
        kind = self.chance.choice([*kinds, "clock jump"] if self.faketime else kinds)
        _, process = self.chance.choice(list(self._running.items()) or [("", None)])
        if process is None or process.poll() is not None:
            return
        self.faults[kind] += 1
        match kind:
            case "kill":
                os.killpg(process.pid, signal.SIGKILL)
            case "stop":
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGSTOP)
                    self._stopping.wait(self.chance.uniform(0.1, 6.0))
                    os.killpg(process.pid, signal.SIGCONT)
            case "network loss":
                self.web.is_lost = True
                self._stopping.wait(self.chance.uniform(0.1, 2.0))
                self.web.is_lost = False
            case "slow web":
                self.web.delay_seconds = 0.2
                self._stopping.wait(1.0)
                self.web.delay_seconds = 0.01
            case "slow disk":
                self._slow_disk()
            case "clock jump":
                self._set_clock(self.chance.uniform(-_MOST_JUMP, _MOST_JUMP))
            case _:
                self._visit()

    def _visit(self) -> None:
        """Open pages of the portal, whichever port it has at the moment."""
        log = (
            (self.folder / "serve.log").read_text(errors="replace")
            if (self.folder / "serve.log").exists()
            else ""
        )
        for address in re.findall(r"http://127\.0\.0\.1:\d+", log)[-1:]:
            for path in ("/", "/search?q=page", "/topics"):
                with suppress(OSError):
                    urllib.request.urlopen(address + path, timeout=20).read()

    def _finish(self) -> None:
        """Let the forage come to its end without faults."""
        command = [*WAYHOUND, *self.commands()["forage"], "-w", str(self.workspace)]
        done = subprocess.run(command, capture_output=True, check=False, timeout=600)
        if done.returncode:
            raise SystemExit(
                f"The last forage ended with code {done.returncode}: {done.stderr.decode()[-2000:]}"
            )


def _interrupt(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGCONT)
        os.killpg(process.pid, signal.SIGINT)


def _fill_disk() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write then fails as on a full disk


def broken_in(installation: Installation) -> list[str]:
    """Return what is wrong with a workspace after a round."""
    damage = damage_in(installation.workspace, installation.web)
    broken = [f"{name}: {number}" for name, number in vars(damage).items() if number and name != "off_budget"]
    bad = [finding for finding in examine(installation.workspace, mend=True) if finding.state == "bad"]
    if installation.faults["clock jump"]:  # pages of the future are there then, and it is right to say so
        bad = [finding for finding in bad if finding.check != "clock"]
    broken += [f"{finding.check}: {finding.sentence}" for finding in bad]
    for backup in [path for path in installation.backups if path.exists()][-3:]:
        target = installation.folder / "restored"
        try:
            restore(backup, target)
        except WayhoundError as error:
            broken.append(f"backup: {error}")
        shutil.rmtree(target, ignore_errors=True)
    if installation.ended["hung"]:
        broken.append(f"{installation.ended['hung']} commands hung")
    return broken


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_output_options(parser)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--faketime",
        type=Path,
        default=next(iter(sorted(Path("/usr/lib").glob(_FAKETIME))), None),
        help="libfaketime, which makes the clock jump (default: where Debian puts it; without it, none does)",
    )
    arguments = parser.parse_args()
    return finish(_measured(arguments), arguments)


def _measured(arguments: argparse.Namespace) -> Report:
    chance, found = Random(arguments.seed), list[str]()
    rows: list[tuple[int, ...]] = []
    started, faults = time.monotonic(), Counter[str]()
    while (left := 60 * arguments.minutes - (time.monotonic() - started)) > 0:
        with tempfile.TemporaryDirectory() as name, serving() as web:
            installation = Installation(Path(name), web, chance, arguments.faketime)
            Workspace.create(installation.workspace).close()
            _write_papers(Path(name) / "papers")
            installation.run(min(ROUND_SECONDS, left))
            broken = broken_in(installation)
        faults += installation.faults
        found += broken
        rows.append(
            (len(rows) + 1, sum(installation.faults.values()), sum(installation.ended.values()), len(broken))
        )
        print(json.dumps([*rows[-1], dict(installation.faults), broken]), file=sys.stderr, flush=True)
    return Report(
        f"{arguments.minutes:g} minutes of everything with faults",
        ("round", "faults", "commands that ended", "broken"),
        rows,
        [Bar("broken invariants", len(found), most=0), Bar("faults", sum(faults.values()), least=1)],
        {"faults": dict(faults), "broken": found},
    )


def _write_papers(folder: Path) -> None:
    folder.mkdir()
    for number in range(4):
        head = f"A Paper about Number {number}\n\nAda Lind\n\nAbstract\n\nWords.\n\n"
        text = f"{head}References\n\n[1] B. Orr. Hops. 1999.\n"
        (folder / f"{number}.txt").write_text(text)


if __name__ == "__main__":
    raise SystemExit(main())

"""The tests again and again on cores that are busy with something else: they must pass each time, without a retry.

A process a core does nothing but count beside them. With `--resume FILE` the runs in FILE count too, as far as they are
of the same code: every source and test file is part of the name that a run is kept under.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.report import Bar, Report, add_output_options, add_resume_options, finish

ROOT = Path(__file__).parent.parent
PARTS = ("src", "tests", "bench", "pyproject.toml")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Repetition:
    """One run of the tests."""

    code: str
    tests: tuple[str, ...]
    passed: bool
    seconds: float
    summary: str
    failures: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, line: str) -> Repetition:
        kept = json.loads(line)
        return cls(**kept | {"tests": tuple(kept["tests"]), "failures": tuple(kept["failures"])})


def code_name() -> str:
    """Return a digest of everything that the tests run."""
    digest = hashlib.sha256()
    for part in PARTS:
        path = ROOT / part
        files = [path] if path.is_file() else sorted(path.rglob("*"))
        for file in files:
            if file.is_file() and "__pycache__" not in file.parts:
                digest.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@contextmanager
def busy_cores(processes: int) -> Iterator[None]:
    """Keep so many processes counting."""
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def repeat(code: str, tests: Sequence[str], processes: int) -> Repetition:
    """Run the tests once."""
    command = [sys.executable, "-m", "pytest", "-n", str(processes), "-p", "no:cacheprovider", *tests]
    started = time.monotonic()
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = ran.stdout.strip().splitlines() or ran.stderr.strip().splitlines() or [""]
    if ran.returncode:
        print(ran.stdout, ran.stderr, file=sys.stderr)  # why it failed is seen once, or never again
    return Repetition(
        code,
        tuple(tests),
        ran.returncode == 0,
        round(time.monotonic() - started, 1),
        lines[-1],
        tuple(_FAILED.findall(ran.stdout)),
    )


def in_a_row(repetitions: Sequence[Repetition]) -> int:
    """Return how many passed since the last failure."""
    failures = [number for number, run in enumerate(repetitions, start=1) if not run.passed]
    return len(repetitions) - max(failures, default=0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_output_options(parser)
    parser.add_argument("tests", nargs="*", help="files or tests; all without")
    parser.add_argument("--count", type=int, default=20, help="runs that must pass in a row")
    parser.add_argument("--processes", type=int, default=3, help="of pytest")
    parser.add_argument("--burners", type=int, default=os.cpu_count(), help="processes that keep cores busy")
    add_resume_options(parser, "runs")
    arguments = parser.parse_args()
    return finish(_measured(arguments), arguments)


def _measured(arguments: argparse.Namespace) -> Report:
    end = time.monotonic() + 60 * arguments.minutes if arguments.minutes else float("inf")
    code = code_name()
    runs = earlier_runs(arguments.resume, code, tuple(arguments.tests))
    with busy_cores(arguments.burners):
        while in_a_row(runs) < arguments.count and all(run.passed for run in runs) and time.monotonic() < end:
            runs.append(repeat(code, arguments.tests, arguments.processes))
            print(f"{len(runs)}: {runs[-1].summary}", file=sys.stderr, flush=True)
            if arguments.resume:
                with arguments.resume.open("a") as file:
                    file.write(json.dumps(asdict(runs[-1])) + "\n")
    return Report(
        f"The tests, {len(runs)} times beside {arguments.burners} busy processes",
        ("run", "passed", "seconds", "summary", "failures"),
        [
            (number, "yes" if run.passed else "NO", run.seconds, run.summary, " ".join(run.failures))
            for number, run in enumerate(runs, start=1)
        ],
        [Bar("passed in a row", in_a_row(runs), least=arguments.count)],
    )


def earlier_runs(file: Path | None, code: str, tests: tuple[str, ...]) -> list[Repetition]:
    """Return the runs of the same tests of the same code that `file` holds."""
    if file is None or not file.exists():
        return []
    kept = map(Repetition.from_json, file.read_text().splitlines())
    return [run for run in kept if (run.code, run.tests) == (code, tests)]


if __name__ == "__main__":
    raise SystemExit(main())

"""The program of a site: learned by a forage, read, edited and forgotten by people, the start of the next run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.taught import LOOPBACK, start_of, true_goals
from wayhound.cli import run
from wayhound.forage.site_program import SiteProgram
from wayhound.samples import SampleServer
from wayhound.workspace import Workspace


def forage(start: str, workspace: Path, *options: str) -> None:
    assert run(["forage", start, "-w", str(workspace), *LOOPBACK, "--budget", "25", *options]) == 0


def shown(workspace: Path, site: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert run(["program", site, "-w", str(workspace)]) == 0
    return capsys.readouterr().out


def edit(workspace: Path, site: str, text: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "wayhound", "program", site, "--edit", "-w", str(workspace)]
    return subprocess.run(command, check=False, input=text, capture_output=True, text=True, timeout=60)


def visited(workspace: Path, run_id: int, start: str) -> list[str]:
    with Workspace.open(workspace) as opened:
        return [visit.url for visit in opened.stores.forage.visits_of(run_id, start)]


def test_the_next_run_of_a_site_begins_with_its_program(
    trained: Path, samples: SampleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    start, goals = start_of(samples, "math"), true_goals(samples, "math", "course")
    forage(start, trained)
    program = shown(trained, start.split("/")[2], capsys)
    assert program.startswith(f"# {start}, the way to what 'paths' looks for, learned in run 1")
    assert SiteProgram.parse(program).routes
    forage(start, trained, "--new-run")
    first, second = visited(trained, 1, start), visited(trained, 2, start)
    reached = [next(at for at, url in enumerate(urls) if url in goals) for urls in (first, second)]
    assert reached[1] <= reached[0]


def test_a_program_that_a_person_edited_is_not_changed_by_forages(
    trained: Path, samples: SampleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    start = start_of(samples, "math")
    forage(start, trained)
    assert edit(trained, start, "# mine\nfollow /people/*\n").returncode == 0
    forage(start, trained, "--new-run")
    assert shown(trained, start, capsys).splitlines()[1:] == ["follow /people/*"]
    assert run(["program", start, "--forget", "-w", str(trained)]) == 0
    assert run(["program", start, "-w", str(trained)]) == 2
    assert "There is no program" in capsys.readouterr().err
    assert run(["program", "", "-w", str(trained)]) == 2
    assert "Name the site whose program you want" in capsys.readouterr().err


def test_a_program_with_a_mistake_is_refused_with_the_line(
    trained: Path, samples: SampleServer, capsys: pytest.CaptureFixture[str]
) -> None:
    start = start_of(samples, "math")
    forage(start, trained)
    before = shown(trained, start, capsys)
    refused = edit(trained, start, "follow /people/*\nclick on it\n")
    assert refused.returncode == 2
    assert "2" in refused.stderr
    assert shown(trained, start, capsys) == before

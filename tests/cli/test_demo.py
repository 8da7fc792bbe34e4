"""The whole way, once: taught by real clicks, learned, foraged, read, ordered and served."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from wayhound.cli import demo as demo_command
from wayhound.samples import sample_web
from wayhound.workspace import Workspace

UNSEEN = ("math", "informatik", "biology")  # departments with papers that no lesson showed; one is German


def shown(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "wayhound", "demo", "--workspace", str(folder)]
    return subprocess.run(
        command, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=580
    )


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, str]:
    folder = tmp_path_factory.mktemp("demo") / "shown"
    ran = shown(folder)
    assert ran.returncode == 0, ran.stderr
    return folder, ran.stdout, ran.stderr


def test_it_finds_goals_on_sites_that_were_never_taught(demo: tuple[Path, str, str]) -> None:
    """Most of what it takes for papers are papers. On the French site it may find none: no lesson had its words."""
    folder, _, _ = demo
    labels = {
        (site.host, path): label for site in sample_web().sites for path, label in site.labels().items()
    }
    right, found = Counter[str](), Counter[str]()
    with Workspace.open(folder) as workspace:
        run = next(run for run in workspace.stores.forage.runs() if "adaptive" in run.identity["strategy"])
        for site in workspace.stores.forage.sites(run.id):
            for visit in workspace.stores.forage.visits_of(run.id, site.start):
                host, path = re.fullmatch(r"http://([^/:]+)[^/]*(/.*)", visit.url).groups()  # type: ignore[union-attr]
                found[host] += visit.tier == "goal"
                right[host] += visit.tier == "goal" and labels.get((host, path)) == "publication"
    assert all(right[f"{name}.localhost"] for name in UNSEEN), right
    assert right.total() >= 0.85 * found.total()


def test_papers_that_were_found_are_read_and_cited(demo: tuple[Path, str, str]) -> None:
    folder, _, said = demo
    with Workspace.open(folder) as workspace:
        papers = list(workspace.stores.records.iterate("paper"))
    assert len(papers) > 60
    assert all(paper.first("title") and paper.fields.get("author") for paper in papers)
    assert "Physics" in said


def test_facts_of_companies_are_shown_as_a_table(demo: tuple[Path, str, str]) -> None:
    _, _, said = demo
    row = next(line for line in said.splitlines() if line.startswith("Larkin Lanterns"))
    assert "info@lanterns.example" in row
    assert "555-0190" in row


def test_the_portal_answers_for_every_kind_of_page(demo: tuple[Path, str, str]) -> None:
    _, told, _ = demo
    asked = re.findall(r"^  (\d+)  (/\S*)$", told, re.MULTILINE)
    assert len(asked) == 13
    assert {status for status, _ in asked} == {"200"}


def test_a_folder_of_somebody_is_never_cleared(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("three years")
    ran = shown(tmp_path)
    assert ran.returncode == 2
    assert "was not made by the demo" in ran.stderr
    assert (tmp_path / "thesis.txt").read_text() == "three years"


def test_a_demo_that_nobody_touched_is_replaced_and_any_other_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "wayhound.db").write_text("made by the demo")
    demo_command._seal(folder)
    demo_command._clear(folder)
    assert not folder.exists()
    for number in (1, 2):
        folder.mkdir()
        (folder / "wayhound.db").write_text("made by the demo")
        demo_command._seal(folder)
        (folder / "wayhound.db").write_text(f"taught by hand, {number}")
        demo_command._clear(folder)
        assert (tmp_path / f"demo-{number}" / "wayhound.db").read_text() == f"taught by hand, {number}"
    folder.mkdir()
    (folder / demo_command.MARK).touch()  # taught by hand, or stopped in the middle
    demo_command._clear(folder)
    assert (tmp_path / "demo-3").exists()

"""Shown the way to the PDFs of two departments by real clicks, a forage finds those of a third, and why."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.app.teach.lessons import needs_browser
from wayhound.app.teach.playback import Script, play
from wayhound.cli import run
from wayhound.cli.papers import papers
from wayhound.net.browser import BrowserOptions
from wayhound.paths.site_recognition import MIN_SHARE
from wayhound.samples import SampleServer
from wayhound.samples.builder import TruePublication
from wayhound.visit import Visit
from wayhound.workspace import Workspace

in_browser, where_there_is_one = needs_browser

Steps = list[tuple[str, str]]
LOOPBACK = ["--allow-private", "--delay", "0"]


def papers_with_pdf(server: SampleServer, host: str, n: int) -> list[TruePublication]:
    """Of different years, so that the years are seen to be on the way."""
    site = server.web.site(host)
    assert site is not None
    by_year = {paper.year: paper for paper in site.truth.publications if paper.pdf}
    return list(by_year.values())[:n]


def lesson(server: SampleServer) -> Script:
    physics = papers_with_pdf(server, "physics.localhost", 3)
    reports = papers_with_pdf(server, "cs.localhost", 3)
    steps: Steps = [
        *to_papers("Publications", [[str(p.year), p.title, "Full text (PDF)"] for p in physics]),
        *(step for link in ("People", "News", "Teaching") for step in astray(link)),
        ("next", ""),
        *to_papers("Tech Reports", [[f"Reports of {p.year}", p.title, "PDF"] for p in reports]),
        *(step for link in ("Faculty", "Courses", "General information") for step in astray(link)),
        ("done", ""),
    ]
    sites = ("http://physics.localhost/", "http://cs.localhost/")
    return Script("papers of two departments", sites, tuple(steps), samples=True)


def to_papers(section: str, ways: list[list[str]]) -> Steps:
    """From a list to each document behind it and back."""
    steps: Steps = [("click", section)]
    for way in ways:
        steps += [*(("click", link) for link in way), ("goal", ""), *[("back", "")] * len(way)]
    return [*steps, ("back", "")]


def astray(link: str) -> Steps:
    return [("click", link), ("reject", ""), ("back", "")]


@pytest.fixture(scope="module")
def taught(server: SampleServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents") / "w"
    with Workspace.create(folder) as workspace:
        play(lesson(server), workspace, BrowserOptions(headless=True), samples=server)
    assert run(["train", "--settings", "default", "-w", str(folder)]) == 0
    return folder


@dataclass(frozen=True)
class Found:
    """A forage of the third department by what was taught, and its papers as they are."""

    folder: Path
    start: str
    visits: list[Visit]
    papers: list[TruePublication]

    @property
    def true(self) -> set[str]:
        return {self.start[:-1] + paper.pdf for paper in self.papers}

    @property
    def goals(self) -> set[str]:
        return {visit.url for visit in self.visits if visit.tier == "goal"}


@pytest.fixture(scope="module")
def found(taught: Path, server: SampleServer) -> Found:
    site = server.web.site("math.localhost")
    assert site is not None
    start = f"http://math.localhost:{server.port}/"
    visits = foraged(taught, start, "--strategy", "adaptive")
    return Found(taught, start, visits, [paper for paper in site.truth.publications if paper.pdf])


def foraged(folder: Path, start: str, *options: str) -> list[Visit]:
    assert run(["forage", start, "-w", str(folder), *LOOPBACK, *options]) == 0
    with Workspace.open(folder) as workspace:
        [last] = workspace.stores.forage.runs()
        return [visit for visit in workspace.stores.forage.visits_of(last.id, start) if visit.spent]


def fetches_until(visits: list[Visit], wanted: set[str]) -> int:
    """How many fetches it took until all of these were there."""
    left = set(wanted)
    for number, visit in enumerate(visits, start=1):
        left.discard(visit.url)
        if not left:
            return number
    raise AssertionError(f"{len(left)} of {len(wanted)} were not fetched")


@in_browser
@where_there_is_one
def test_clicks_on_links_to_documents_make_trails_that_end_there(taught: Path) -> None:
    with Workspace.open(taught) as workspace:
        ends = [trail.steps[-1] for trail in workspace.stores.trails.trails()]
    assert [(end.page.kind, end.label) for end in ends].count(("document", "Goal")) == 6
    assert [(end.page.kind, end.label) for end in ends].count(("page", "Fail")) == 6


@in_browser
@where_there_is_one
def test_the_documents_of_a_third_department_are_its_goals(found: Found) -> None:
    assert len(found.goals & found.true) >= 0.8 * len(found.goals)
    assert len(found.goals & found.true) >= 0.8 * len(found.true)


@in_browser
@where_there_is_one
def test_they_take_fewer_fetches_than_breadth_first(found: Found, tmp_path: Path) -> None:
    assert run(["init", str(tmp_path / "plain")]) == 0
    plain = foraged(tmp_path / "plain", found.start, "--budget", "500")
    wanted = found.goals & found.true
    assert fetches_until(found.visits, wanted) < 0.7 * fetches_until(plain, wanted)


@in_browser
@where_there_is_one
def test_each_is_told_with_its_path_and_the_reasons(found: Found, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["export", "goals", "-w", str(found.folder)]) == 0
    goals = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {goal["url"] for goal in goals} == found.goals
    least = MIN_SHARE * max(goal["probability"] for goal in goals)
    for goal in goals:
        assert goal["probability"] >= least
        assert goal["why"]
        assert goal["path"][-1]["url"] == goal["url"]
        assert all(step["link"] for step in goal["path"][1:])
    one = min(found.goals)
    assert run(["explain", one, "-w", str(found.folder), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["url"], told["label"]) == (one, "Goal")
    assert told["why"]


@in_browser
@where_there_is_one
def test_documents_that_were_found_are_read_as_papers(found: Found) -> None:
    added = CliRunner().invoke(papers, ["add", "--from-forage", "-w", str(found.folder)])
    assert added.exit_code == 0
    with Workspace.open(found.folder) as workspace:
        titles = {record.first("title") for record in workspace.stores.records.iterate("paper")}
    said = {paper.title for paper in found.papers}
    assert len(titles & said) >= 0.8 * len(said)

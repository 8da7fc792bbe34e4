"""Two departments browsed freely by real clicks, useful pages marked, submitted: a forage finds those of a third."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.app.teach.lessons import needs_browser
from tests.app.teach.test_documents_found import Steps, fetches_until, foraged
from wayhound.app.teach.playback import Script, play
from wayhound.cli import run
from wayhound.net.browser import BrowserOptions
from wayhound.samples import SampleServer
from wayhound.samples.builder import TruePublication
from wayhound.visit import Visit
from wayhound.workspace import Workspace

pytestmark = needs_browser


def papers_of(server: SampleServer, host: str, n: int) -> list[TruePublication]:
    """One a year."""
    site = server.web.site(host)
    assert site is not None
    return list({paper.year: paper for paper in site.truth.publications}.values())[:n]


def browsing(server: SampleServer) -> Script:
    """As people browse: here a person, there the news, and the papers in between."""
    steps: Steps = [
        *looked_at("People"),
        ("click", "Publications"),
        *(
            step
            for paper in papers_of(server, "physics.localhost", 4)
            for step in found(str(paper.year), paper)
        ),
        ("back", ""),
        *looked_at("News"),
        *looked_at("Teaching"),
        ("next", ""),
        *looked_at("General information"),
        *looked_at("Faculty", "Lucy Brown"),
        ("click", "Tech Reports"),
        *(step for p in papers_of(server, "cs.localhost", 4) for step in found(f"Reports of {p.year}", p)),
        ("back", ""),
        *looked_at("Courses"),
        ("done", ""),
    ]
    sites = ("http://physics.localhost/", "http://cs.localhost/")
    return Script("papers of two departments", sites, tuple(steps), mode="free", samples=True)


def found(year: str, paper: TruePublication) -> Steps:
    """The script says goal; the button says Useful."""
    return [("click", year), ("click", paper.title), ("goal", ""), ("back", ""), ("back", "")]


def looked_at(*links: str) -> Steps:
    return [*(("click", link) for link in links), *[("back", "")] * len(links)]


@pytest.fixture(scope="module")
def browsed(server: SampleServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("free") / "w"
    with Workspace.create(folder) as workspace:
        play(browsing(server), workspace, BrowserOptions(headless=True), samples=server)
    return folder


def test_every_useful_page_and_every_page_left_unmarked_ends_a_trail(browsed: Path) -> None:
    with Workspace.open(browsed) as workspace:
        summaries = workspace.stores.trails.summaries()
    assert [each.ending for each in summaries].count("Goal") == 8
    assert {each.end_url.split("/", 3)[3] for each in summaries if each.ending == "Fail"} == {
        "people/",
        "news/",
        "teaching/",
        "general.html",
        "~brown/",
        "courses/",
    }
    assert {each.source for each in summaries} == {"free browsing"}


@dataclass(frozen=True)
class Found:
    """A forage of the third department, and its papers as they are."""

    start: str
    visits: list[Visit]
    true: set[str]

    @property
    def goals(self) -> set[str]:
        return {visit.url for visit in self.visits if visit.is_goal}


@pytest.fixture(scope="module")
def third(browsed: Path, server: SampleServer) -> Found:
    assert run(["train", "--settings", "default", "-w", str(browsed)]) == 0
    site = server.web.site("math.localhost")
    assert site is not None
    start = f"http://math.localhost:{server.port}/"
    visits = foraged(browsed, start, "--strategy", "adaptive")
    return Found(start, visits, {start[:-1] + paper.path for paper in site.truth.publications})


def test_the_papers_of_a_third_department_are_its_goals(third: Found) -> None:
    right = third.goals & third.true
    assert len(right) >= 0.8 * len(third.goals)
    assert len(right) >= 0.8 * len(third.true)


def test_they_take_fewer_fetches_than_breadth_first(third: Found, tmp_path: Path) -> None:
    assert run(["init", str(tmp_path / "plain")]) == 0
    plain = foraged(tmp_path / "plain", third.start, "--budget", "500")
    wanted = third.goals & third.true
    assert fetches_until(third.visits, wanted) < 0.7 * fetches_until(plain, wanted)

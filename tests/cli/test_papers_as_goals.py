"""From an untaught forage to a portal without a label: papers that were read are goals of the next spider."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.taught import LOOPBACK
from tests.portal.served import serve_portal
from wayhound.cli import run
from wayhound.samples import sample_web
from wayhound.samples.server import SampleServer, serve_samples
from wayhound.visit import Visit
from wayhound.workspace import Workspace

BUDGET = "40"


@pytest.fixture(scope="module")
def samples() -> Iterator[SampleServer]:
    with serve_samples(sample_web()) as server:
        yield server


def succeed(*command: str) -> None:
    try:
        code = run(list(command))
    except SystemExit as end:  # commands that can be stopped end the process themselves
        code = int(end.code or 0)
    assert code == 0


def start(samples: SampleServer, name: str) -> str:
    return f"http://{name}.localhost:{samples.port}/"


def last_visits(folder: Path) -> list[Visit]:
    with Workspace.open(folder) as workspace:
        last = max(workspace.stores.forage.runs(), key=lambda run: run.id)
        [site] = workspace.stores.forage.sites(last.id)
        return list(workspace.stores.forage.visits_of(last.id, site.start))


def documents(visits: list[Visit]) -> set[str]:
    return {visit.url for visit in visits if visit.content_type == "application/pdf"}


def test_forage_papers_train_forage_papers_portal(samples: SampleServer, tmp_path: Path) -> None:
    w = tmp_path / "w"
    here = ("-w", str(w))
    add_papers = ("papers", "add", "--from-forage", "--workers", "1", *here)
    succeed("init", str(w))
    sites = [start(samples, name) for name in ("physics", "biology")]
    untaught = ("--strategy", "breadth-first", "--files", *LOOPBACK, *here)
    succeed("forage", *sites, "--budget", "250", *untaught)
    succeed(*add_papers)
    succeed("train", "--strategy", "q-spider", "--papers", "--model", "papers", *here)

    new = start(samples, "coast")
    succeed("forage", new, "--budget", BUDGET, *untaught)
    by_breadth = documents(last_visits(w))
    succeed("forage", new, "--budget", BUDGET, "--model", "papers", "--new-run", *LOOPBACK, *here)
    visits = last_visits(w)
    assert {visit.url for visit in visits if visit.is_goal} == documents(visits)
    assert len(documents(visits)) > 2 * len(by_breadth)

    succeed(*add_papers)
    succeed("index", *here)
    known = samples.web.site("coast.localhost")
    assert known is not None
    found = [paper for paper in known.truth.publications if new.rstrip("/") + paper.pdf in documents(visits)]
    with serve_portal(w) as portal:
        assert found[0].title in portal.get(f"/search?q={found[0].title.replace(' ', '+')}").text


def test_without_papers_it_says_what_to_do_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", str(tmp_path / "w")]) == 0
    assert run(["train", "--strategy", "q-spider", "--papers", "-w", str(tmp_path / "w")]) != 0
    assert "papers add --from-forage" in capsys.readouterr().err

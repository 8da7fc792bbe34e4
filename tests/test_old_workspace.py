"""A workspace of version 0.1, when the product was called Trailmark, opens, resumes and exports the same.

`scripts/make_old_workspace` made it with that version: it was killed in the middle of a forage.
"""

from __future__ import annotations

import errno
import json
import re
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from wayhound.app.index import catch_up
from wayhound.app.order import Order
from wayhound.app.trails import step_page
from wayhound.errors import WorkspaceError, WorkspaceLocked
from wayhound.paths.trail_file import read_trails, write_trails
from wayhound.samples import sample_web, serve_samples
from wayhound.search.results import SearchRequest
from wayhound.store.export import export
from wayhound.workspace import Workspace

SAVED = Path(__file__).parent / "data" / "trailmark-workspace.tar.gz"
PORT = 28765  # where the sample web was served; its addresses are in the workspace
COMPANIES = ("lanterns", "pumpen", "velas", "orchard", "mapworks", "teahouse")
Row = dict[str, Any]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("saved")
    with tarfile.open(SAVED) as tar:
        tar.extractall(folder, filter="data")
    return folder


@pytest.fixture
def old(saved: Path, tmp_path: Path) -> Path:
    return shutil.copytree(saved / "workspace", tmp_path / "mine")


def lines(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def exported(workspace: Workspace, table: str) -> list[Row]:
    out = BytesIO()
    export(workspace.database, table, "jsonl", out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


# Opening


def test_it_opens_under_the_present_names(old: Path) -> None:
    with Workspace.open(old) as workspace:
        assert workspace.config.agent.name == "Wayhound"
        assert workspace.config.fetch.delay_seconds == 0.02
        assert len(workspace.stores.forage.runs()) == 2
    assert names(old) == ["archive", "index", "models", "topics.txt", "wayhound.db", "wayhound.toml"]
    assert "Trailmark" not in (old / "wayhound.toml").read_text("utf-8")


def test_a_name_to_crawl_under_that_somebody_chose_stays(old: Path) -> None:
    settings = old / "trailmark.toml"
    settings.write_text(settings.read_text("utf-8").replace('"Trailmark"', '"Trailmark-of-Ada"'), "utf-8")
    with Workspace.open(old) as workspace:
        assert workspace.config.agent.name == "Trailmark-of-Ada"


def test_an_upgrade_that_was_killed_is_continued(saved: Path, old: Path) -> None:
    """Killed after the database was renamed, and before."""
    Workspace.open(old).close()
    (old / "wayhound.toml").rename(old / "trailmark.toml")
    (old / ".trailmark.toml.1.part").write_text("half a fi")
    with Workspace.open(old) as workspace:
        assert len(workspace.stores.forage.runs()) == 2

    shutil.rmtree(old)
    shutil.copytree(saved / "workspace", old)
    sqlite3.connect(old / "trailmark.db").execute("PRAGMA journal_mode = DELETE")
    with Workspace.open(old) as workspace:
        assert len(workspace.stores.forage.runs()) == 2


def test_processes_that_open_it_at_the_same_time_all_find_it_whole(old: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from wayhound.workspace import Workspace\n"
        "with Workspace.open(Path(sys.argv[1])) as opened: print(len(opened.stores.forage.runs()))"
    )
    command = [sys.executable, "-c", code, str(old)]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [process.communicate()[0] for process in processes] == ["2\n"] * 3


def test_while_the_old_version_uses_it_nothing_is_renamed(old: Path) -> None:
    before = names(old)
    user = sqlite3.connect(old / "trailmark.db")
    user.execute("SELECT count(*) FROM run").fetchone()  # has it open, and does nothing
    with pytest.raises(WorkspaceLocked, match=r"trailmark\.db is in use by another process"):
        Workspace.open(old)
    assert names(old) == before
    user.close()
    Workspace.open(old).close()


@pytest.mark.parametrize("name", ["wayhound.toml", "wayhound.db"])
def test_files_of_both_names_are_left_alone(old: Path, name: str) -> None:
    (old / name).touch()
    before = names(old)
    with pytest.raises(WorkspaceError, match=rf"holds both trailmark\.\w+, .* and {name}"):
        Workspace.open(old)
    assert names(old) == before


def test_it_is_a_workspace_already(old: Path) -> None:
    with pytest.raises(WorkspaceError, match="is a workspace already"):
        Workspace.create(old)


# What is in it


@pytest.mark.parametrize("table", ["goals", "pages", "sites", "visits", "records"])
def test_it_exports_what_the_old_version_exported(saved: Path, old: Path, table: str) -> None:
    expected = lines(saved / "exports" / f"{table}.jsonl")
    with Workspace.open(old) as workspace:
        found = exported(workspace, table)
    assert len(expected) > 5
    assert [{name: row[name] for name in expected[0]} for row in found] == expected


def test_its_trails_and_papers_export_the_same(saved: Path, old: Path) -> None:
    out = BytesIO()
    with Workspace.open(old) as workspace:
        assert write_trails((kept.trail for kept in workspace.stores.trails.iterate()), out) == 14
    expected = (saved / "exports" / "trails.jsonl").read_bytes()
    assert out.getvalue() == expected.replace(b'{"trailmark": "trails"', b'{"wayhound": "trails"', 1)
    command = [sys.executable, "-m", "wayhound", "papers", "export", "-w", str(old)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    # keys have got a part of their own for each paper since
    keys = re.compile(r"^(@\w+\{\w+)(?:-\w+)*,$", re.MULTILINE)
    assert keys.sub(r"\1,", done.stdout) == keys.sub(
        r"\1,", (saved / "exports" / "papers.bib").read_text("utf-8")
    )


def test_trail_files_of_the_old_version_can_be_imported(saved: Path, tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "new") as workspace:
        added = workspace.stores.trails.add_all(read_trails(saved / "exports" / "trails.jsonl"), 0.0)
    assert len(added.ids) == 14


def test_its_models_pages_topics_and_index_can_be_used(old: Path) -> None:
    with Workspace.open(old) as workspace:
        stores = workspace.stores
        taught = Order.from_identity(stores.forage.run(1).identity)
        taught.scorers(workspace)  # raises if the model is not the one that the run began with
        assert sum(stores.topics.counts().values()) == 23
        shown = step_page(workspace, 1, 0)
        assert shown is not None
        assert shown.url == f"http://physics.localhost:{PORT}/"
        catch_up(workspace)
        assert workspace.search_index.search(SearchRequest(filters=(("type", "paper"),))).total == 23


# Resuming


def test_its_forage_is_resumed_where_the_old_version_left_it(saved: Path, old: Path) -> None:
    """Keywords match more than they did, so that the resumed part may have other pages and more goals.

    They also recognise goals by all pages of a site, so that visits get a probability.
    """
    seeds = [f"http://{company}.localhost:{PORT}/" for company in COMPANIES]
    command = [sys.executable, "-m", "wayhound", "forage", *seeds, "-w", str(old)]
    with Workspace.open(old) as workspace:
        visits_before = _fetched(exported(workspace, "visits"))
        # it ran on a machine that is gone; that silence is waited for is tested elsewhere
        for run in workspace.stores.forage.runs():
            workspace.stores.forage.release_dead(run.id, lambda _: False)
    with _sample_web():
        subprocess.run([*command, "--keyword", "contact", "--budget", "25"], check=True)
    with Workspace.open(old) as workspace:
        assert len(workspace.stores.forage.runs()) == 2
        visits = _fetched(exported(workspace, "visits"))
        assert [visit for visit in visits if visit in visits_before] == visits_before
        sites = {(site["run"], site["site"]): site for site in exported(workspace, "sites")}
        goals = {(goal["run"], goal["url"]) for goal in exported(workspace, "goals")}
    for site in lines(saved / "resumed" / "sites.jsonl"):
        mine = sites[site["run"], site["site"]]
        assert (mine["state"], mine["spent"]) == (site["state"], site["spent"])
    assert goals >= {(goal["run"], goal["url"]) for goal in lines(saved / "resumed" / "goals.jsonl")}


def _fetched(visits: list[Row]) -> list[Row]:
    """Return visits without what is recognised by all pages of a site."""
    recognised = ("is_goal", "tier", "probability", "why")
    return [{name: value for name, value in visit.items() if name not in recognised} for visit in visits]


@contextmanager
def _sample_web() -> Iterator[None]:
    """Serve the sample web where it was; another run of these tests may just be using the port."""
    deadline = time.monotonic() + 300
    while True:
        try:
            with serve_samples(sample_web(), port=PORT):
                yield
                return
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() > deadline:
                raise
            time.sleep(0.5)


def _timeless(rows: list[Row], like: Row | None = None) -> list[Row]:
    """Return rows without what differs from run to run: times, and places in the archive."""
    if not rows:
        return []
    columns = [name for name in like or rows[0] if name != "at" and not name.startswith("archive_")]
    return sorted(({name: row[name] for name in columns} for row in rows), key=json.dumps)

"""Counts of the portal's pages: by day and kind, over processes and restarts, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from click.testing import CliRunner

from tests.portal.collection import make_collection
from tests.portal.served import MANY, serve_portal
from wayhound.app.visitors import COUNTS_NAME, VisitorCounts, read_counts
from wayhound.cli.status import status
from wayhound.workspace import Workspace

NOON = 1_700_000_000.0  # of 14 November 2023


def test_pages_are_counted_by_day_and_kind_and_added_up_over_processes(tmp_path: Path) -> None:
    now = [NOON]
    first, second = (VisitorCounts(tmp_path, lambda: now[0]) for _ in range(2))
    for path in ("/", "/search", "/search.json", "/records/paper/1", "/static/a.css", "/submissions/secret"):
        first.add(path)
    second.add("/search")
    assert read_counts(tmp_path) == {}
    now[0] += 31
    second.add("/topics/Robotics")
    assert read_counts(tmp_path) == {"2023-11-14": {"search": 1, "topics": 1}}
    now[0] += 86_400
    second.add("/")
    first.write()
    second.write()
    assert read_counts(tmp_path) == {
        "2023-11-14": {"search": 3, "topics": 1, "home": 1, "records": 1},
        "2023-11-15": {"home": 1},
    }


def test_damaged_counts_begin_anew(tmp_path: Path) -> None:
    for text in ("{", "[]", '{"2023-11-14": 3}'):
        (tmp_path / COUNTS_NAME).write_text(text)
        assert read_counts(tmp_path) == {}


def test_status_shows_the_counts(tmp_path: Path) -> None:
    Workspace.create(tmp_path / "w").close()
    (tmp_path / "w" / COUNTS_NAME).write_text('{"2023-11-14": {"home": 1, "topics": 1200}}')
    printed = CliRunner().invoke(status, ["-w", str(tmp_path / "w")]).stdout
    assert "Portal, pages sent on 2023-11-14: 1,200 topics, 1 home." in printed


def test_a_portal_counts_pages_if_switched_on(tmp_path: Path) -> None:
    folder = make_collection(tmp_path / "workspace")
    with serve_portal(folder) as portal:
        assert portal.get("/").status == 200
    assert read_counts(folder) == {}
    with serve_portal(folder, replace(MANY, counts_folder=str(folder))) as portal:
        for path in ("/", "/topics", "/topics", "/records/paper/missing", "/robots.txt"):
            portal.get(path)
    assert list(read_counts(folder).values()) == [{"home": 1, "topics": 2}]
    assert "127.0.0.1" not in (folder / COUNTS_NAME).read_text()

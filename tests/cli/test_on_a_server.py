"""The whole story on a Postgres server, beside the same on a file: every verb works, and the exports are equal."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.taught import LOOPBACK, start_of
from tests.postgres_server import PostgresServer
from wayhound.cli import run
from wayhound.samples import SampleServer
from wayhound.store.sqlite import SqliteDatabase
from wayhound.store.transfer import copy_rows
from wayhound.workspace import Workspace

TABLES = ("sites", "visits", "pages", "goals", "records", "values")
VOLATILE = ("at", "archive_file", "archive_offset", "archive_length", "wait_seconds")
PAPER = (
    "Neural networks for planning\n\nAda Lind\nUniversity of Quillhaven\n\nAbstract\nNeural networks learn to plan. "
    "Robots use reinforcement learning.\n\n1 Introduction\nThey plan [1].\n\nReferences\n"
    "[1] B. Frost. Slow planning. Journal of Robots, 1999.\n"
)


def tell_story(folder: Path, samples: SampleServer, *init: str) -> None:
    """Run the verbs of the story, one after the other."""
    paper = folder.parent / "paper.txt"
    paper.write_text(PAPER)
    where = ["-w", str(folder)]
    starts = [start_of(samples, name) for name in ("math", "lanterns", "teahouse")]
    for command in (
        ["init", str(folder), *init],
        ["trails", "from-samples", "physics", "cs", "--goal", "course", "--trails", "4", *where],
        ["train", "--settings", "default", *where],
        ["forage", starts[0], "--strategy", "adaptive", "--budget", "25", *LOOPBACK, *where],
        ["forage", *starts[1:], "--keyword", "contact", "--budget", "12", *LOOPBACK, *where],
        ["extract", *where],
        ["papers", "add", str(paper), *where],
        ["topics", "init", *where],
        ["topics", "train", *where],
        ["index", *where],
        ["status", *where],
        ["doctor", *where],
    ):
        assert code_of(command) == 0, command


def code_of(command: list[str]) -> int:
    """Return the exit code of a command; some end by SystemExit."""
    try:
        return run(command)
    except SystemExit as end:
        return int(end.code or 0)


def exports(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for table in TABLES:
        capsys.readouterr()
        assert run(["export", table, "-w", str(folder)]) == 0
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        found[table] = [{name: value for name, value in row.items() if name not in VOLATILE} for row in rows]
    return found


def test_every_verb_does_the_same_on_a_server(
    server: PostgresServer, samples: SampleServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = server.create()
    tell_story(tmp_path / "file", samples)
    tell_story(tmp_path / "server", samples, "--database", url)
    on_file, on_server = exports(tmp_path / "file", capsys), exports(tmp_path / "server", capsys)
    for table in TABLES:
        assert on_server[table], table
        assert _plain(on_server[table]) == _plain(on_file[table]), table
    assert not (tmp_path / "server" / "wayhound.db").exists()

    # a backup needs no server, and holds no address of one
    assert run(["workspace", "backup", str(tmp_path / "kept.tar"), "-w", str(tmp_path / "server")]) == 0
    assert run(["workspace", "restore", str(tmp_path / "kept.tar"), str(tmp_path / "restored")]) == 0
    assert exports(tmp_path / "restored", capsys) == on_server
    assert url not in (tmp_path / "restored" / "wayhound.toml").read_text()

    # to a folder, and from there to another server database
    assert run(["workspace", "move", str(tmp_path / "server"), str(tmp_path / "folder")]) == 0
    assert exports(tmp_path / "folder", capsys) == on_server
    other = server.create()
    assert run(["workspace", "move", str(tmp_path / "folder"), other]) == 0
    assert (tmp_path / "folder" / "wayhound.db.moved").exists()
    assert exports(tmp_path / "folder", capsys) == on_server
    with Workspace.open(tmp_path / "folder") as moved:  # new rows get numbers of their own
        moved.stores.jobs.begin("index", "", 0.0)
    assert run(["workspace", "move", str(tmp_path / "server"), other]) == 2
    assert "is not empty" in capsys.readouterr().err


def test_an_interrupted_copy_leaves_nothing_and_can_be_repeated(
    server: PostgresServer, once_trained: Path
) -> None:
    from wayhound.store.postgres import PostgresDatabase

    with (
        SqliteDatabase(once_trained / "wayhound.db", read_only=True) as source,
        PostgresDatabase(server.create()) as target,
    ):
        with pytest.raises(KeyboardInterrupt):
            copy_rows(source, target, _interrupt)
        assert target.execute("SELECT count(*) FROM trail").fetchone() == (0,)
        rows = copy_rows(source, target)
        assert rows == sum(
            source.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for (table,) in source.execute(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'migration'"
            ).fetchall()
        )


def _interrupt(_done: int, _of: int) -> None:
    raise KeyboardInterrupt


def _plain(rows: list[dict[str, Any]]) -> str:
    """Return rows without what differs from run to run: times, and places in the archive."""
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "TIME", json.dumps(rows, sort_keys=True, indent=0))

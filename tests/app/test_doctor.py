from __future__ import annotations

import gzip
import sqlite3
import subprocess
from pathlib import Path

import pytest

from tests.cli.test_kill import WAYHOUND
from wayhound.app.doctor import Finding, examine
from wayhound.app.index import build
from wayhound.fetched import Fetched
from wayhound.record import Record, Value
from wayhound.workspace import Workspace


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Workspace.create(tmp_path / "workspace") as workspace:
        workspace.stores.records.save([Record("paper", "one", {"title": (Value("Hops"),)})])
        with workspace.archive_writer("test") as archive:
            ref = archive.write(
                Fetched("http://a.example/", 200, (), b"x" * 5_000), at=1.0, request_headers=None
            )
        workspace.database.execute(
            "INSERT INTO chain_page (url, file, offset, length) VALUES (?, ?, ?, ?)",
            ("http://a.example/", ref.file, ref.offset, ref.length),
        )
        build(workspace)
    return tmp_path / "workspace"


def findings(folder: Path, check: str, *, mend: bool = False) -> list[Finding]:
    return [finding for finding in examine(folder, mend=mend) if finding.check == check]


def states(folder: Path, check: str, *, mend: bool = False) -> list[str]:
    return [finding.state for finding in findings(folder, check, mend=mend)]


def test_a_sound_workspace_has_nothing_bad(folder: Path) -> None:
    found = list(examine(folder))
    assert [finding for finding in found if finding.state == "bad"] == []
    names = {
        "version",
        "parts",
        "programs",
        "sandbox",
        "disk",
        "permissions",
        "clock",
        "database",
        "archive",
        "index",
    }
    assert {finding.check for finding in found} == names


def test_every_finding_that_is_not_good_has_a_remedy(folder: Path) -> None:
    next((folder / "archive").glob("*.warc.gz")).unlink()
    found = list(examine(folder))
    assert all(finding.remedy for finding in found if finding.state in ("note", "bad"))


def test_a_folder_that_is_no_workspace_is_no_reason_to_fail(tmp_path: Path) -> None:
    assert states(tmp_path, "workspace") == ["note"]


def test_archive_files_that_are_gone_or_too_short_are_named(folder: Path) -> None:
    path = next((folder / "archive").glob("*.warc.gz"))
    path.write_bytes(path.read_bytes()[:-10])
    (found,) = findings(folder, "archive")
    assert (found.state, path.name in found.sentence, "too short" in found.sentence) == ("bad", True, True)
    path.unlink()
    (found,) = findings(folder, "archive")
    assert "missing" in found.sentence


def test_the_torn_end_of_an_archive_file_is_cut(folder: Path) -> None:
    path = next((folder / "archive").glob("*.warc.gz"))
    whole = path.read_bytes()
    path.write_bytes(whole + gzip.compress(b"WARC/1.1")[:9])
    path.with_name(f"{path.name}.open").write_bytes(b"0")
    assert states(folder, "archive") == ["note", "good"]
    assert states(folder, "archive", mend=True) == ["mended", "good"]
    assert path.read_bytes() == whole
    assert states(folder, "archive") == ["good"]


def test_an_index_that_lags_is_brought_up_to_date(folder: Path) -> None:
    with Workspace.open(folder) as workspace:
        workspace.stores.records.save([Record("paper", "two", {"title": (Value("More"),)})])
    assert states(folder, "index") == ["note"]
    assert states(folder, "index", mend=True) == ["mended"]
    assert states(folder, "index") == ["good"]


def test_an_index_of_a_later_database_is_built_anew(folder: Path) -> None:
    database = sqlite3.connect(folder / "wayhound.db")
    with database:
        database.execute("UPDATE record_change SET change = 0")
    database.close()
    assert states(folder, "index") == ["bad"]
    assert states(folder, "index", mend=True) == ["mended"]


def test_an_index_that_cannot_be_read_is_built_anew(folder: Path) -> None:
    next((folder / "index").glob("*/meta.json")).write_text("{}")
    assert states(folder, "index") == ["bad"]
    assert states(folder, "index", mend=True) == ["mended"]
    assert states(folder, "index") == ["good"]


def test_a_damaged_database_is_bad_and_not_touched(folder: Path) -> None:
    path = folder / "wayhound.db"
    content = bytearray(path.read_bytes())
    content[8192:40_960] = b"\xff" * (40_960 - 8192)
    path.write_bytes(content)
    assert "bad" in states(folder, "database", mend=True) + states(folder, "workspace", mend=True)
    assert path.read_bytes()[8192:40_960] == b"\xff" * (40_960 - 8192)


def test_a_workspace_that_others_can_read_is_made_private(folder: Path) -> None:
    folder.chmod(0o755)
    assert states(folder, "permissions") == ["note"]
    assert states(folder, "permissions", mend=True) == ["mended"]
    assert folder.stat().st_mode & 0o077 == 0
    assert states(folder, "permissions") == ["good"]


def test_a_clock_behind_the_last_visit_is_noticed(folder: Path) -> None:
    with Workspace.open(folder) as workspace:
        database = workspace.database
        database.execute("PRAGMA foreign_keys = OFF")
        columns = database.execute(
            "SELECT name, type FROM pragma_table_info('visit') WHERE \"notnull\""
        ).fetchall()
        names = ", ".join(name for name, _ in columns)
        values = [9e9 if name == "at" else "" if kind == "TEXT" else 0 for name, kind in columns]
        database.execute(f"INSERT INTO visit ({names}) VALUES ({', '.join('?' * len(values))})", values)
    assert states(folder, "clock") == ["bad"]


def test_the_exit_code_tells_if_something_is_wrong(folder: Path) -> None:
    command = [*WAYHOUND, "doctor", "-w", str(folder), "--json"]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 0
    next((folder / "archive").glob("*.warc.gz")).unlink()
    assert subprocess.run(command, check=False, capture_output=True).returncode == 1

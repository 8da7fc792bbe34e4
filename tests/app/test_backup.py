from __future__ import annotations

import io
import json
import shutil
import sqlite3
import tarfile
from pathlib import Path

import pytest

from tests.cli.test_kill import SITES, forage, page, visits_of, wait_for_requests
from tests.servers import serve
from wayhound.app.backup import MANIFEST, back_up, restore
from wayhound.archive.reader import stored_response_at
from wayhound.errors import UsageError
from wayhound.record import Record, Value
from wayhound.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    with Workspace.create(tmp_path / "workspace") as made:
        made.stores.records.save([Record("paper", "one", {"title": (Value("Hops"),)})])
        (made.models_folder / "mine").mkdir()
        (made.models_folder / "mine" / "model.json").write_text("{}")
    return tmp_path / "workspace"


def backup(folder: Path, target: Path) -> Path:
    with Workspace.open(folder) as workspace:
        back_up(workspace, target)
    return target


def test_a_restored_workspace_has_everything(workspace: Path, tmp_path: Path) -> None:
    (workspace / "topics.txt").write_text("Science\n")
    restore(backup(workspace, tmp_path / "b.tar"), tmp_path / "again")
    with Workspace.open(tmp_path / "again") as again:
        found = again.stores.records.get("paper", "one")
        assert found is not None
        assert found.first("title") == "Hops"
        assert (again.models_folder / "mine" / "model.json").read_text() == "{}"
        assert (again.folder / "topics.txt").read_text() == "Science\n"
        assert again.folder.stat().st_mode & 0o077 == 0


def test_a_backup_in_the_middle_of_a_forage_is_consistent_and_can_be_resumed(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    Workspace.create(folder).close()
    with serve(page) as server:
        process = forage(server, folder, 1)
        wait_for_requests(server, 60, process)
        backup(folder, tmp_path / "b.tar")
        process.communicate(timeout=120)
        restore(tmp_path / "b.tar", tmp_path / "again")
        kept = visits_of(tmp_path / "again")
        for visit in kept:
            name, offset = visit["archive_file"], visit["archive_offset"]
            assert isinstance(offset, int)
            stored = stored_response_at(tmp_path / "again" / "archive" / str(name), offset)
            assert stored.load().url == visit["url"]
        resumed = forage(server, tmp_path / "again", 1)
        resumed.communicate(timeout=120)
        assert resumed.returncode == 0
    after = visits_of(tmp_path / "again")
    assert 0 < len(kept) < len(after) == len(visits_of(folder))
    assert len({visit["url"] for visit in after}) == len(after)
    assert {visit["site"] for visit in after} == {f"{server.at(host)}/" for host in SITES}


def test_a_backup_does_not_replace_a_file_or_lie_in_the_workspace(workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "b.tar").write_text("mine")
    for target in (tmp_path / "b.tar", workspace / "b.tar"):
        with pytest.raises(UsageError):
            backup(workspace, target)
    assert (tmp_path / "b.tar").read_text() == "mine"


def test_a_restore_does_not_touch_a_folder_with_something_in_it(workspace: Path, tmp_path: Path) -> None:
    backup(workspace, tmp_path / "b.tar")
    with pytest.raises(UsageError, match="not empty"):
        restore(tmp_path / "b.tar", workspace)


@pytest.mark.parametrize("cut", [0, 600, 3_000, 30_000])
def test_half_a_backup_is_refused_and_leaves_nothing(workspace: Path, tmp_path: Path, cut: int) -> None:
    whole = backup(workspace, tmp_path / "b.tar").read_bytes()
    (tmp_path / "half.tar").write_bytes(whole[:cut])
    with pytest.raises(UsageError, match="no complete backup"):
        restore(tmp_path / "half.tar", tmp_path / "again")
    assert not (tmp_path / "again").exists()
    assert not list(tmp_path.glob(".restore-*"))


def test_a_changed_byte_is_noticed(workspace: Path, tmp_path: Path) -> None:
    whole = bytearray(backup(workspace, tmp_path / "b.tar").read_bytes())
    at = whole.index(b"SQLite format 3")
    whole[at + 40_000] ^= 1
    (tmp_path / "b.tar").write_bytes(whole)
    with pytest.raises(UsageError, match="not as it was written"):
        restore(tmp_path / "b.tar", tmp_path / "again")


@pytest.mark.parametrize("name", ["../evil", "/tmp/evil", "a/../../evil"])
def test_a_backup_cannot_write_outside_of_the_workspace(tmp_path: Path, name: str) -> None:
    with tarfile.open(tmp_path / "b.tar", "w") as tar:
        for member, body in ((name, b"evil"), (MANIFEST, json.dumps({"files": {}}).encode())):
            info = tarfile.TarInfo(member)
            info.size = len(body)
            tar.addfile(info, io.BytesIO(body))
    with pytest.raises(UsageError, match="outside"):
        restore(tmp_path / "b.tar", tmp_path / "again")
    assert not (tmp_path / "evil").exists()


def test_links_in_a_backup_are_refused(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "b.tar", "w") as tar:
        info = tarfile.TarInfo("wayhound.toml")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(info)
    with pytest.raises(UsageError, match="is no file"):
        restore(tmp_path / "b.tar", tmp_path / "again")


def test_the_copy_of_the_database_has_what_was_committed_and_not_yet_checkpointed(
    workspace: Path, tmp_path: Path
) -> None:
    with Workspace.open(workspace) as writing:
        writing.stores.records.save([Record("paper", "two", {"title": (Value("Late"),)})])
        assert (workspace / "wayhound.db-wal").stat().st_size > 0
        back_up(writing, tmp_path / "b.tar")
    restore(tmp_path / "b.tar", tmp_path / "again")
    copy = sqlite3.connect(tmp_path / "again" / "wayhound.db")
    try:
        assert copy.execute("SELECT count(*) FROM record").fetchone() == (2,)
    finally:
        copy.close()
    shutil.rmtree(tmp_path / "again")

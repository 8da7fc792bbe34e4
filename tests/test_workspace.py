from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from wayhound.config import Config
from wayhound.errors import ConfigError, WorkspaceError
from wayhound.record import Record
from wayhound.store.protocol import RunLimits
from wayhound.store.sqlite import SqliteDatabase
from wayhound.workspace import Workspace

DOCS = Path(__file__).parents[1] / "docs" / "workspace.md"


def test_a_new_workspace_has_settings_a_database_and_its_folders(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "deep" / "project") as workspace:
        assert workspace.config == Config()
        assert workspace.stores.forage.runs() == []
    assert sorted(entry.name for entry in workspace.folder.iterdir()) == [
        "archive", "index", "models", "wayhound.db", "wayhound.toml",
    ]  # fmt: skip


def test_what_was_saved_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    with Workspace.create(tmp_path) as workspace:
        run = workspace.stores.forage.open_run({"strategy": "random"}, RunLimits(), [], now=0.0)
        workspace.stores.records.save([Record("paper", "1")])
    with Workspace.open(tmp_path) as again:
        assert [each.id for each in again.stores.forage.runs()] == [run.id]
        assert again.stores.records.get("paper", "1") == Record("paper", "1")


def test_settings_of_the_file_are_used(tmp_path: Path) -> None:
    Workspace.create(tmp_path).close()
    (tmp_path / "wayhound.toml").write_text("[forage]\nbudget_per_site = 7\n")
    with Workspace.open(tmp_path) as workspace:
        assert workspace.config.forage.budget_per_site == 7


def test_a_relative_folder_stays_the_same_when_the_current_folder_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with Workspace.create(Path("project")) as workspace:
        monkeypatch.chdir("/")
        assert workspace.archive_folder == tmp_path / "project" / "archive"


def test_the_database_is_not_opened_before_it_is_needed(tmp_path: Path) -> None:
    Workspace.create(tmp_path).close()
    (tmp_path / "wayhound.db").unlink()
    with Workspace.open(tmp_path):
        assert not (tmp_path / "wayhound.db").exists()


def test_folders_that_were_lost_are_made_again(tmp_path: Path) -> None:
    Workspace.create(tmp_path).close()
    (tmp_path / "index").rmdir()
    with Workspace.open(tmp_path) as workspace:
        assert workspace.index_folder.is_dir()
        assert workspace.models_folder.is_dir()


def test_a_folder_with_other_things_in_it_may_become_a_workspace(tmp_path: Path) -> None:
    (tmp_path / "seeds.txt").write_text("https://a.example/\n")
    (tmp_path / "models").mkdir()
    with Workspace.create(tmp_path):
        assert (tmp_path / "seeds.txt").read_text() == "https://a.example/\n"


@pytest.mark.parametrize("name", ["wayhound.db", "archive/photo.jpg", "models/cat.bin", "index"])
def test_a_folder_in_which_names_clash_is_refused_and_left_alone(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("mine")
    with pytest.raises(WorkspaceError, match=rf"holds {name.split('/', maxsplit=1)[0]} already"):
        Workspace.create(tmp_path)
    assert file.read_text() == "mine"
    assert not (tmp_path / "wayhound.toml").exists()


def test_a_workspace_is_not_made_twice(tmp_path: Path) -> None:
    Workspace.create(tmp_path).close()
    (tmp_path / "wayhound.toml").write_text("[forage]\nbudget_per_site = 7\n")
    with pytest.raises(WorkspaceError, match="is a workspace already"):
        Workspace.create(tmp_path)
    assert "= 7" in (tmp_path / "wayhound.toml").read_text()


def test_a_folder_that_is_no_workspace_is_told_how_to_become_one(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match=r"is not a workspace\.") as refused:
        Workspace.open(tmp_path)
    assert refused.value.next_step == f"init {tmp_path}"
    with pytest.raises(WorkspaceError, match="is not a workspace"):
        Workspace.open(tmp_path / "gone")


def test_the_current_folder_is_named_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WorkspaceError, match=f"^{tmp_path} is not a workspace"):
        Workspace.open(Path())


def test_a_file_where_the_workspace_should_be_is_a_clear_error(tmp_path: Path) -> None:
    file = tmp_path / "project"
    file.touch()
    with pytest.raises(WorkspaceError, match="is a file"):
        Workspace.open(file)
    with pytest.raises(WorkspaceError, match="is a file"):
        Workspace.create(file)
    with pytest.raises(WorkspaceError, match="A file is in the way"):
        Workspace.create(file / "inside")


def test_a_file_where_a_folder_should_be_is_a_clear_error(tmp_path: Path) -> None:
    Workspace.create(tmp_path).close()
    (tmp_path / "archive").rmdir()
    (tmp_path / "archive").touch()
    with pytest.raises(WorkspaceError, match="archive is a file, and a folder must stand there"):
        Workspace.open(tmp_path)


def test_bad_settings_are_told_before_anything_is_opened(tmp_path: Path) -> None:
    Workspace.create(tmp_path).close()
    (tmp_path / "wayhound.toml").write_text("[forage]\nbudget = 7\n")
    with pytest.raises(ConfigError, match="budget is unknown"):
        Workspace.open(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_a_clear_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    with pytest.raises(WorkspaceError, match="may not be read or written"):
        Workspace.create(tmp_path)


CREATE = """
import sys
from pathlib import Path
from wayhound.errors import WorkspaceError
from wayhound.workspace import Workspace
try:
    Workspace.create(Path(sys.argv[1]))
except WorkspaceError as error:
    print(error, [entry.name for entry in Path(sys.argv[1]).iterdir()])
"""


def made_on(options: str, folder: Path) -> str:
    """Return the message when a workspace is created on a file system with these options."""
    unshare = shutil.which("unshare")
    if not unshare or subprocess.run([unshare, "-rm", "true"], check=False, capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    script = f'mount -t tmpfs -o {options} none "$1" && exec "$2" -c "$3" "$1"'
    command = [unshare, "-rm", "sh", "-c", script, "sh", str(folder), sys.executable, CREATE]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_a_file_system_that_is_read_only_is_a_clear_error(tmp_path: Path) -> None:
    assert "may not be read or written" in made_on("ro,size=1m", tmp_path)


def test_a_disk_without_room_for_the_settings_is_left_without_half_of_them(tmp_path: Path) -> None:
    said = made_on("size=1m,nr_inodes=1", tmp_path)
    assert "The disk is full" in said
    assert said.rstrip().endswith("[]")


def test_a_disk_without_room_for_the_database_is_a_full_disk(tmp_path: Path) -> None:
    assert "The disk is full" in made_on("size=48k", tmp_path)


def test_every_table_and_column_is_documented() -> None:
    documented = DOCS.read_text("utf-8")
    with SqliteDatabase(None) as database:
        columns = database.execute(
            "SELECT made.name, of.name FROM sqlite_schema AS made, pragma_table_info(made.name) AS of "
            "WHERE made.type = 'table'"
        ).fetchall()
    for table, column in columns:
        section = documented.partition(f"### `{table}`\n")[2].partition("\n#")[0]
        assert f"`{column}`" in section, f"{table}.{column}"


def test_a_new_workspace_is_for_its_owner_alone(tmp_path: Path) -> None:
    Workspace.create(tmp_path / "deep" / "workspace").close()
    assert (tmp_path / "deep" / "workspace").stat().st_mode & 0o077 == 0

"""The index folder: numbered builds, which one is in use, and how far it follows the records.

index/current.json     the build in use
index/0001/            tantivy's files, and followed.json: the last change of the records in them
index/writer.lock      locked by the one process that writes
"""

from __future__ import annotations

import fcntl
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wayhound.errors import WorkspaceLocked
from wayhound.files import write_file
from wayhound.search.schema import FORMAT

CURRENT, STATE, LOCK = "current.json", "followed.json", "writer.lock"


@dataclass(frozen=True, slots=True)
class IndexState:
    """The last record change in an index, and the names of its fields and facets."""

    change: int = 0
    fields: tuple[str, ...] = ()
    facets: tuple[str, ...] = ()


def current_build(folder: Path) -> Path | None:
    """Return the build in use, or None if there is none of this format."""
    content = _read_json(folder / CURRENT)
    if content.get("format") != FORMAT or not str(content.get("build", "")).isdigit():
        return None
    build = folder / str(content["build"])
    return build if (build / "meta.json").exists() else None


def use_build(folder: Path, build: Path) -> None:
    """Switch to a build in one step and delete all others."""
    _write_json(folder / CURRENT, {"format": FORMAT, "build": build.name})
    clear_builds(folder, build)


def new_build(folder: Path) -> Path:
    """Create an empty folder for a build, with a number above all others. It is not in use yet."""
    clear_builds(folder, current_build(folder))
    content = str(_read_json(folder / CURRENT).get("build", ""))
    numbers = [int(name) for name in (content, *(path.name for path in folder.iterdir())) if name.isdigit()]
    build = folder / f"{max(numbers, default=0) + 1:04}"
    build.mkdir()
    return build


def clear_builds(folder: Path, kept: Path | None) -> None:
    """Delete builds that were abandoned or replaced. Readers with open files keep reading them."""
    for path in folder.iterdir():
        if path.is_dir() and path.name.isdigit() and path != kept:
            shutil.rmtree(path, ignore_errors=True)


def read_state(build: Path) -> IndexState:
    content = _read_json(build / STATE)
    change = content.get("change", 0)
    return IndexState(
        change if isinstance(change, int) else 0, _names(content.get("fields")), _names(content.get("facets"))
    )


def write_state(build: Path, state: IndexState) -> None:
    """Save the state, after the commit that it describes: if it is lost, changes are only indexed again."""
    _write_json(build / STATE, asdict(state))


@contextmanager
def writer_lock(folder: Path) -> Iterator[None]:
    """Lock the index for one writer. Raises WorkspaceLocked if another process has it.

    The operating system releases the lock when the process ends, however it ends.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / LOCK).open("w") as file:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise WorkspaceLocked(
                "Another process is writing the search index. Wait until it has finished, or stop it."
            ) from None
        yield


def _names(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file, or an empty one if the file is missing or damaged."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _write_json(path: Path, content: dict[str, Any]) -> None:
    write_file(path, json.dumps(content).encode())

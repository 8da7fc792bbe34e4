"""Where an index stands on disk: numbered builds, a note of the one in use, and what it has seen so far.

index/current.json     the build in use
index/0001/            tantivy's files, and followed.json: the last change of the store that is in them
index/writer.lock      held by the one process that writes
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

CURRENT, FOLLOWED, LOCK = "current.json", "followed.json", "writer.lock"


@dataclass(frozen=True, slots=True)
class IndexState:
    """The last change of the store that an index holds, and the fields and facets it has met."""

    change: int = 0
    fields: tuple[str, ...] = ()
    facets: tuple[str, ...] = ()


def current_build(folder: Path) -> Path | None:
    """The build in use; None where there is none, or one that another version made."""
    noted = _read_json(folder / CURRENT)
    if noted.get("format") != FORMAT or not str(noted.get("build", "")).isdigit():
        return None
    build = folder / str(noted["build"])
    return build if (build / "meta.json").exists() else None


def use_build(folder: Path, build: Path) -> None:
    """Take a build into use in one step, and clear away all others."""
    _write_json(folder / CURRENT, {"format": FORMAT, "build": build.name})
    clear_builds(folder, build)


def new_build(folder: Path) -> Path:
    """An empty folder for a build, with a number above all others; it is not in use yet."""
    clear_builds(folder, current_build(folder))
    noted = str(_read_json(folder / CURRENT).get("build", ""))
    numbers = [int(name) for name in (noted, *(path.name for path in folder.iterdir())) if name.isdigit()]
    build = folder / f"{max(numbers, default=0) + 1:04}"
    build.mkdir()
    return build


def clear_builds(folder: Path, kept: Path | None) -> None:
    """What builds that were stopped or replaced have left. Readers that have files open keep them."""
    for path in folder.iterdir():
        if path.is_dir() and path.name.isdigit() and path != kept:
            shutil.rmtree(path, ignore_errors=True)


def read_followed(build: Path) -> IndexState:
    noted = _read_json(build / FOLLOWED)
    change = noted.get("change", 0)
    return IndexState(
        change if isinstance(change, int) else 0, _names(noted.get("fields")), _names(noted.get("facets"))
    )


def write_followed(build: Path, followed: IndexState) -> None:
    """After the commit it tells of: if it is lost, the changes since are only made a second time."""
    _write_json(build / FOLLOWED, asdict(followed))


@contextmanager
def writer_lock(folder: Path) -> Iterator[None]:
    """Held by one process at a time; the system lets go of it when that process ends, however it ends."""
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
    """What a note says; nothing where it is missing or damaged, as if it had never been written."""
    try:
        noted = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return noted if isinstance(noted, dict) else {}


def _write_json(path: Path, noted: dict[str, Any]) -> None:
    write_file(path, json.dumps(noted).encode())

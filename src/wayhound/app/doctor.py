"""An examination of the installation and of a workspace: findings, each with its remedy, and repairs without loss."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from wayhound import __version__
from wayhound.archive.writer import MARKER_SUFFIX, repair
from wayhound.errors import ArchiveError, WayhoundError
from wayhound.net.browser import find_browser
from wayhound.processes import child_environment, python_command
from wayhound.store.upkeep import (
    archive_ends,
    durability_risks,
    integrity_problems,
    newest_time,
    rebuild_indexes,
    sampled_positions,
)
from wayhound.visit import ArchiveRef
from wayhound.workspace import Workspace

State = Literal["good", "note", "bad", "mended"]

_EXTRAS = {
    "facts": {"phone numbers": ("phonenumbers", "phonenumbers")},
    "papers": {"PDF files": ("pypdfium2", "pypdfium2"), "papers": ("pycrfsuite", "python-crfsuite")},
    "parquet": {"Parquet files": ("pyarrow", "pyarrow")},
    "plot": {"plots": ("matplotlib", "matplotlib")},
    "postgres": {"workspaces on a Postgres server": ("psycopg", "psycopg")},
    "portal": {"search": ("tantivy", "tantivy"), "portal and studio": ("fastapi", "fastapi")},
    "teach": {"teaching and rendering": ("playwright", "playwright")},
}
"""Extras, and what each is for: a module, and the package that has it."""

_LITTLE_SPACE, _NO_SPACE = 2_000_000_000, 200_000_000
_CLOCK_SECONDS = 120.0
_SAMPLED = 200
_EARLIEST = 1_735_689_600.0  # 2025: no clock of a machine that runs this version is earlier


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. `remedy` says what to do; it is empty if nothing needs to be done."""

    check: str
    state: State
    sentence: str
    remedy: str = ""


def examine(folder: Path, *, mend: bool = False) -> Iterator[Finding]:
    """Yield findings on the installation, then on the workspace in `folder`, if it is one.

    With `mend`, what can be repaired without loss is repaired: permissions, torn ends of archive files, indexes of the
    database, and the search index.
    """
    yield from _installation()
    yield _sandbox()
    if not (folder / "wayhound.toml").exists():
        yield Finding(
            "workspace", "note", f"{folder.absolute()} is not a workspace; nothing more was checked."
        )
        return
    yield _space(folder)
    yield from _permissions(folder, mend=mend)
    try:
        with Workspace.open(folder, read_only=not os.access(folder, os.W_OK)) as workspace:
            for check in _CHECKS:
                yield from _guarded(check, workspace, mend and not workspace.read_only)
    except WayhoundError as error:
        yield Finding(
            "workspace", "bad", str(error), "Restore the workspace from a backup, or correct its settings."
        )


Check = Callable[[Workspace, bool], Iterator[Finding]]


def _guarded(check: Check, workspace: Workspace, mend: bool) -> Iterator[Finding]:
    """Yield the findings of a check; one that cannot be carried out is a finding as well."""
    try:
        yield from check(workspace, mend)
    except (WayhoundError, OSError) as error:
        name = check.__name__.strip("_").replace("_", " ")
        yield Finding(name, "bad", f"This could not be checked: {error}", "See the message.")


# The installation


def _installation() -> Iterator[Finding]:
    python = ".".join(map(str, sys.version_info[:3]))
    yield Finding("version", "good", f"Wayhound {__version__}, Python {python}.")
    for extra, parts in _EXTRAS.items():
        for purpose, (module, package) in parts.items():
            if find_spec(module) is None:
                remedy = f"pip install 'wayhound[{extra}]'"
                yield Finding("parts", "note", f"{package} is not installed: no {purpose}.", remedy)
            else:
                yield Finding("parts", "good", f"{package} {_version(package)}: {purpose}.")
    yield _browser()
    for program, name, purpose in (
        ("gs", "Ghostscript", "PostScript files"),
        ("tesseract", "Tesseract", "text of scanned files"),
    ):
        if shutil.which(program):
            yield Finding("programs", "good", f"{name}: {purpose}.")
        else:
            yield Finding(
                "programs", "note", f"{name} ({program}) is missing: no {purpose}.", f"Install {name}."
            )


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "of unknown version"


def _browser() -> Finding:
    try:
        program = find_browser()
    except WayhoundError as error:
        return Finding(
            "programs", "note", str(error), "Install Chromium, or run: playwright install chromium"
        )
    return Finding("programs", "good", f"Browser: {program}.")


def _sandbox() -> Finding:
    """Confine a process, and report what it can still do."""
    done = subprocess.run(  # noqa: S603 - our own module
        python_command("wayhound.sandbox"),
        env=child_environment(),
        capture_output=True,
        check=False,
        timeout=60,
    )
    try:
        report = json.loads(done.stdout)
        active, succeeded = report["active"], report["succeeded"]
    except (ValueError, KeyError):
        active, succeeded = [], ["run at all"]
    limits = "limits of memory, time and file size"
    if succeeded:
        names = " and ".join((*active, limits))
        sentence = f"Readers of fetched files are confined by {names}; they could {', '.join(succeeded)}."
        return Finding(
            "sandbox", "note", sentence, "Use Linux 5.13 or later with Landlock, on x86-64 or arm64."
        )
    return Finding(
        "sandbox",
        "good",
        f"Readers of fetched files are confined by {' and '.join(active)}, and by {limits}.",
    )


# The folder


def _space(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    sentence = f"{free / 1e9:,.1f} GB are free on the disk of the workspace."
    if free < _NO_SPACE:
        return Finding("disk", "bad", sentence, "Free some space before anything is run: commands will fail.")
    if free < _LITTLE_SPACE:
        return Finding("disk", "note", sentence, "Free some space soon.")
    return Finding("disk", "good", sentence)


def _permissions(folder: Path, *, mend: bool) -> Iterator[Finding]:
    unwritable = [path for path in (folder, *folder.iterdir()) if not os.access(path, os.W_OK)]
    if unwritable:
        sentence = f"{unwritable[0]} may not be written by this user."
        yield Finding(
            "permissions", "note", sentence, "Only `serve --read-only` works so; else change its owner."
        )
    open_paths = _open_paths(folder)
    if not open_paths:
        yield Finding("permissions", "good", "Only its owner can read the workspace.")
    elif not mend:
        sentence = (
            f"Other users of this machine can read {len(open_paths)} files and folders of the workspace."
        )
        yield Finding("permissions", "note", sentence, f"chmod -R go= {folder}, unless that is meant.")
    else:
        for path in open_paths:
            path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o077)
        yield Finding("permissions", "mended", f"{len(open_paths)} files and folders are private now.")


def _open_paths(folder: Path) -> list[Path]:
    """Return the paths that other users can read; in a private folder they reach nothing."""
    if not folder.stat().st_mode & 0o077:
        return []
    own = [path for path in (folder, *folder.iterdir()) if not path.is_symlink()]
    return [path for path in own if path.stat().st_mode & 0o077 and path.stat().st_uid == os.geteuid()]


# The workspace


def _clock(workspace: Workspace, _mend: bool) -> Iterator[Finding]:
    now, newest = time.time(), newest_time(workspace.database)
    if now < _EARLIEST:
        yield Finding("clock", "bad", f"The clock says {time.ctime(now)}.", "Set the clock; use NTP.")
    elif newest > now + _CLOCK_SECONDS:
        sentence = f"The last page was fetched at {time.ctime(newest)}, which the clock has not reached."
        yield Finding("clock", "bad", sentence, "Set the clock; use NTP. Leases and delays count by it.")
    else:
        workspace.database.check_clock(now)
        yield Finding("clock", "good", "The clock is later than everything in the workspace.")


def _database(workspace: Workspace, mend: bool) -> Iterator[Finding]:
    problems = integrity_problems(workspace.database)
    if problems and mend and all("index" in problem for problem in problems):
        rebuild_indexes(workspace.database)
        left = integrity_problems(workspace.database)
        if not left:
            yield Finding(
                "database", "mended", f"{len(problems)} faults in indexes of the database are repaired."
            )
            return
        problems = left
    if risks := durability_risks(workspace.database):
        sentence = f"{', '.join(risks)} is off: a server that fails may forget what it has confirmed."
        yield Finding("database", "note", sentence, "Switch it on in the server's postgresql.conf.")
    if not problems:
        where = (
            f"{workspace.database.name} answers, and knows"
            if workspace.database.is_server
            else "The database is"
        )
        yield Finding(
            "database", "good", f"{where} {'of no damage' if workspace.database.is_server else 'intact'}."
        )
        return
    remedy = (
        "doctor --repair" if all("index" in problem for problem in problems) else "Restore it from a backup."
    )
    yield Finding("database", "bad", f"The database is damaged: {problems[0]}.", remedy)


def _archive(workspace: Workspace, mend: bool) -> Iterator[Finding]:
    folder = workspace.archive_folder
    yield from _torn(folder, mend)
    sizes = workspace.archive.size
    short = [
        (name, rows)
        for name, end, rows in archive_ends(workspace.database)
        if (size := sizes(name)) is None or size < end
    ]
    for name, rows in short:
        what = "is missing" if sizes(name) is None else "is too short"
        sentence = f"{name} {what}; {rows:,} rows of the database refer to it."
        yield Finding(
            "archive",
            "bad",
            sentence,
            "Put it back from a backup. Pages in it cannot be shown or read again.",
        )
    if short:
        return
    unreadable = [
        place for place in sampled_positions(workspace.database, _SAMPLED) if not _is_record(workspace, place)
    ]
    if unreadable:
        name, offset, _ = unreadable[0]
        sentence = (
            f"{len(unreadable)} of {_SAMPLED} pages cannot be read, such as that at {offset} of {name}."
        )
        yield Finding("archive", "bad", sentence, "Put the archive files back from a backup.")
    else:
        yield Finding("archive", "good", "Every page that the database refers to is in the archive.")


def _is_record(workspace: Workspace, place: tuple[str, int, int]) -> bool:
    try:
        workspace.archive.read(ArchiveRef(*place))
    except (ArchiveError, OSError):
        return False
    return True


def _torn(folder: Path, mend: bool) -> Iterator[Finding]:
    """Yield findings on archive files that a process did not close; those that are being written are left alone."""
    markers = list(folder.glob(f"*{MARKER_SUFFIX}"))
    if markers and not mend:
        sentence = f"{len(markers)} archive files are being written, or were when a process died."
        yield Finding(
            "archive", "note", sentence, "If nothing runs: doctor --repair. The next forage does it, too."
        )
    elif markers:
        repaired = repair(folder)
        cut = sum(file.cut_bytes for file in repaired)
        yield Finding(
            "archive",
            "mended",
            f"{len(repaired)} archive files were closed; {cut:,} bytes of half records cut.",
        )


def _search_index(workspace: Workspace, mend: bool) -> Iterator[Finding]:
    if find_spec("tantivy") is None:
        return
    from wayhound.app.index import build, catch_up, is_behind  # noqa: PLC0415 - needs an extra
    from wayhound.search.snapshot import current_build, read_state  # noqa: PLC0415

    changes = workspace.stores.changes
    in_use = current_build(workspace.index_folder)
    if in_use is None:
        if not changes.newest():
            return
        state, sentence, remedy = "missing", "There is no search index of this version.", "index"
    elif read_state(in_use).change > changes.newest():
        state, sentence, remedy = "ahead", "The search index is newer than the database.", "index --rebuild"
    elif _n_documents(workspace) is None:
        state, sentence, remedy = "damaged", "The search index cannot be read.", "index --rebuild"
    elif is_behind(workspace):
        waiting = changes.waiting(read_state(in_use).change)
        state, sentence, remedy = "behind", f"The search index lacks {waiting:,} changes of records.", "index"
    else:
        yield Finding(
            "index", "good", f"The search index is up to date: {_n_documents(workspace):,} records."
        )
        return
    if not mend:
        severity: State = "note" if state in ("behind", "missing") else "bad"
        yield Finding("index", severity, sentence, f"wayhound {remedy}, or doctor --repair")
        return
    done = catch_up(workspace) if state in ("behind", "missing") else build(workspace)
    yield Finding("index", "mended", f"{sentence} It is up to date now ({done.added:,} records written).")


def _n_documents(workspace: Workspace) -> int | None:
    try:
        return workspace.search_index.document_count
    except WayhoundError:
        return None


_CHECKS: tuple[Check, ...] = (_clock, _database, _archive, _search_index)

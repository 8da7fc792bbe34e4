"""Start pages as people hand them over: addresses, or files that hold them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from trailmark.cli.console import count, err
from trailmark.errors import UsageError
from trailmark.seeds import Seeds, is_address, read_seeds, site_of
from trailmark.site import Site

MAX_SEED_FILE_BYTES = 200_000_000
TABLES = (".csv", ".tsv", ".tab")
FILES = (*TABLES, ".txt", ".list", ".lst", ".md", ".json", ".jsonl", ".html", ".htm", ".xls", ".xlsx", ".ods")
"""Endings of files: a name with one of them is no address, even if no such file is there."""
SPREADSHEETS = (".xls", ".xlsx", ".ods", ".numbers")
WITHOUT_SHOWN = 5
_BYTE_ORDER_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


def read_sites(arguments: Iterable[str]) -> list[Site]:
    """Sites from addresses and files, each start once, in their order."""
    seeds = Seeds()
    for argument in arguments:
        _take(argument, seeds)
    if not seeds.sites:
        raise UsageError("No start page was given: name a URL, or a file with one URL a line.")
    _tell_without(seeds.without)
    return list(seeds.sites.values())


def _take(argument: str, seeds: Seeds) -> None:
    path = Path(argument)
    if "://" in argument or (_could_be_address(path) and is_address(argument)):
        seeds.add(site_of(argument, argument))
    else:
        read_seeds(_text(path), str(path), seeds, is_table=path.suffix.lower() in TABLES)


def _could_be_address(path: Path) -> bool:
    return path.suffix.lower() not in FILES and not path.exists()


def _tell_without(lines: list[str]) -> None:
    if lines:
        more = f" and {len(lines) - WITHOUT_SHOWN} more" if len(lines) > WITHOUT_SHOWN else ""
        shown = "; ".join(lines[:WITHOUT_SHOWN])
        err.print(f"{count(len(lines), 'line')} without a web address left out: {shown}{more}.", markup=False)


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_SEED_FILE_BYTES:
            raise UsageError(f"{path} is too large for a seed file ({path.stat().st_size:,} bytes).")
        return _decoded(path.read_bytes(), path)
    except FileNotFoundError:
        raise UsageError(
            f"There is no file {path} here ({Path.cwd()}). Name a file with one web address a line, or an address."
        ) from None
    except IsADirectoryError:
        raise UsageError(f"{path} is a folder. Name a file with one web address a line.") from None
    except OSError as error:
        raise UsageError(f"The seed file {path} cannot be read: {error.strerror}.") from None


def _decoded(content: bytes, path: Path) -> str:
    """Text as editors and spreadsheets of today and of old save it."""
    if path.suffix.lower() in SPREADSHEETS:
        raise UsageError(f"{path} is a spreadsheet. Save it as CSV (comma-separated), and name that file.")
    try:
        text = content.decode(_BYTE_ORDER_MARKS.get(content[:2], "utf-8-sig"))
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace")  # as spreadsheets on Windows save it
    if any(ord(char) < 9 for char in text):
        raise UsageError(f"{path} is not a text file: it should hold one web address a line.")
    return text

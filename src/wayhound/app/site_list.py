"""Lists of sites as people have them: addresses, text files with one a line, or tables saved from a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from wayhound.errors import UsageError
from wayhound.site import Site
from wayhound.url import normalise

HEADINGS = (
    "url",
    "website",
    "web site",
    "web address",
    "homepage",
    "home page",
    "site",
    "web",
    "link",
    "start",
)
"""Headings of a column of addresses. Without one, the first cell of a row that looks like an address is taken."""

MAX_FILE_BYTES = 200_000_000
MAX_ABOUT_CHARS = 500
TABLES = (".csv", ".tsv", ".tab")
SPREADSHEETS = (".xls", ".xlsx", ".ods", ".numbers")
_FILES = (*TABLES, *SPREADSHEETS, ".txt", ".list", ".lst", ".md", ".json", ".jsonl", ".html", ".htm")
"""Endings of files: a name with one of them is not taken for an address, even if there is no such file."""

_BYTE_ORDER_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_SEPARATORS = "\t;,"
_LINE_END = re.compile(r"\r\n|\r|\n")  # `splitlines` also ends lines at signs within cells
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")  # and not the port of a bare host
_BARE = re.compile(
    r"(localhost|[^\s/:@,;]+\.[^\s/:@,;.\d]{2,}|\d+(\.\d+){3})(:\d+)?([/?#]\S*)?", re.IGNORECASE
)


@dataclass
class SiteList:
    """Sites in their order, each start page once; `skipped` names lines and rows without an address: `FILE, line 3`."""

    sites: dict[str, Site] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    def add(self, site: Site) -> None:
        self.sites.setdefault(site.start, site)

    def add_text(self, text: str, where: str, *, is_table: bool = False) -> None:
        """Add the sites of a text: a start page a line with `#` comments, or the rows of a table.

        Lines and rows without an address are skipped. `where` names the text in messages.
        """
        lines = _lines(text)
        separator = _separator(lines, is_table=is_table)
        if separator:
            self._add_table(text, separator, where)
            return
        for number, line in lines:
            if site := _site_of_line(line):
                self.add(site)
            else:
                self.skipped.append(f"{where}, line {number}")

    def _add_table(self, text: str, separator: str, where: str) -> None:
        column: int | None = None
        for place, (number, row) in enumerate(_rows(text, separator)):
            cells = row if column is None else row[column : column + 1]
            if addresses := [cell for cell in cells if is_address(cell)]:
                about = " ".join(cell for cell in row if cell and not is_address(cell))
                site = parse_site(addresses[0], f"{where}, line {number}")
                self.add(replace(site, about=about[:MAX_ABOUT_CHARS]))
            elif place == 0:  # the headings
                column = next((index for index, cell in enumerate(row) if cell.lower() in HEADINGS), None)
            else:
                self.skipped.append(f"{where}, line {number}")


def read_sites(arguments: Iterable[str]) -> SiteList:
    """Return the sites of web addresses and of files, each start page once.

    Raises UsageError if a file cannot be read or there is no site at all.
    """
    sites, files = SiteList(), list[Path]()
    for argument in arguments:
        path = Path(argument)
        if "://" in argument or (_may_be_address(path) and is_address(argument)):
            sites.add(parse_site(argument))
        else:
            files.append(path)
            sites.add_text(_read(path), str(path), is_table=path.suffix.lower() in TABLES)
    if not sites.sites:
        raise UsageError(
            f"There is no web address in {', '.join(map(str, files))}. Write one a line, or in a column of a table."
        )
    return sites


@dataclass(frozen=True, slots=True)
class SiteTable:
    """A table as a person has it: its headings, its rows, and the start page of the site that each row names."""

    headings: tuple[str, ...]
    rows: tuple[
        tuple[tuple[str, ...], str], ...
    ]  # cells and start page; an empty one for a row without an address


def read_table(path: Path) -> SiteTable:
    """Return a table of sites with all its columns; a plain list is a table of one column.

    Raises UsageError if the file cannot be read.
    """
    text = _read(path)
    lines = _lines(text)
    separator = _separator(lines, is_table=path.suffix.lower() in TABLES)
    if not separator:
        sites = [(_content(line), _site_of_line(line)) for _, line in lines]
        return SiteTable(("url",), tuple(((cell,), site.start if site else "") for cell, site in sites))
    cells = [row for _, row in _rows(text, separator)]
    first = cells[0] if cells else []
    has_headings = not any(map(is_address, first))
    column = (
        next((i for i, cell in enumerate(first) if cell.lower() in HEADINGS), None) if has_headings else None
    )
    width = max(map(len, cells), default=0)
    headings = (
        [*first, *("" for _ in range(width - len(first)))]
        if has_headings
        else [f"column {n + 1}" for n in range(width)]
    )
    rows = []
    for row in cells[has_headings:]:
        named = [cell for cell in (row if column is None else row[column : column + 1]) if is_address(cell)]
        start = parse_site(named[0], str(path)).start if named else ""
        rows.append(((*row, *("" for _ in range(width - len(row)))), start))
    return SiteTable(tuple(headings), tuple(rows))


def start_pages(text: str, where: str = "the list") -> list[str]:
    """Return the few start pages that were typed into a form, one a line. Raises UsageError for a line that is none."""
    starts = (parse_site(_content(line), f"{where}, line {number}").start for number, line in _lines(text))
    return list(dict.fromkeys(starts))


def is_address(text: str) -> bool:
    """Return True for what people call the address of a site: `acme.example`, `https://acme.example/en`."""
    if _SCHEME.match(text):
        return text.lower().startswith(("http://", "https://")) and bool(normalise(text))
    return bool(_BARE.fullmatch(text)) and bool(normalise(f"http://{text}"))


def parse_site(line: str, where: str = "") -> Site:
    """Return the site of a start page, which may be followed by the hosts that also belong to it.

    `where` names the place in a list. Raises UsageError, naming it, if the first word is not an address or another is
    not a host.
    """
    url, *hosts = line.split() or [""]
    place = f" ({where})" if where else ""
    start = normalise(url if _SCHEME.match(url) else f"http://{url}") if is_address(url) else ""
    if not start:
        raise UsageError(f"{url!r} is not a web address that can be fetched{place}.")
    if strange := [host for host in hosts if not _BARE.fullmatch(host)]:
        raise UsageError(f"{strange[0]!r} is not the name of a host{place}: one start page a line.")
    return Site(start, tuple(hosts))


def with_hosts(site: Site, hosts: Iterable[str]) -> Site:
    """Return the site with more hosts. Raises UsageError if one is no name of a host."""
    more = tuple(hosts)
    if strange := [host for host in more if not _BARE.fullmatch(host.removeprefix("."))]:
        raise UsageError(f"{strange[0]!r} is not the name of a host, such as shop.example.")
    return replace(site, hosts=(*(site.hosts or (f".{site.domain}",)), *more)) if more else site


def _may_be_address(path: Path) -> bool:
    return path.suffix.lower() not in _FILES and not path.exists()


def _read(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_FILE_BYTES:
            raise UsageError(f"{path} is too large for a list of sites ({path.stat().st_size:,} bytes).")
        return _decode(path.read_bytes(), path)
    except FileNotFoundError:
        raise UsageError(
            f"There is no file {path} here ({Path.cwd()}). Name a file with one web address a line, or an address."
        ) from None
    except IsADirectoryError:
        raise UsageError(f"{path} is a folder. Name a file with one web address a line.") from None
    except OSError as error:
        raise UsageError(f"The file {path} cannot be read: {error.strerror}.") from None


def _decode(content: bytes, path: Path) -> str:
    """Return the text in the encodings that editors and spreadsheets save: UTF-8, UTF-16 or Windows-1252."""
    if path.suffix.lower() in SPREADSHEETS:
        raise UsageError(f"{path} is a spreadsheet. Save it as CSV (comma-separated), and name that file.")
    try:
        text = content.decode(_BYTE_ORDER_MARKS.get(content[:2], "utf-8-sig"))
    except UnicodeDecodeError:
        text = content.decode("cp1252", errors="replace")  # as spreadsheets on Windows save it
    if any(ord(char) < 9 for char in text):
        raise UsageError(f"{path} is not a text file: it should have one web address a line.")
    return text


def _content(line: str) -> str:
    """Return the line without its comment."""
    return line.partition("#")[0].strip()


def _site_of_line(line: str) -> Site | None:
    """Return the site of a line of a list, or None if it has no address, or more than an address and hosts."""
    try:
        return parse_site(_content(line))
    except UsageError:
        return None


def _lines(text: str) -> list[tuple[int, str]]:
    """Return the lines that hold more than a comment, with their numbers."""
    return [(number, line) for number, line in enumerate(_LINE_END.split(text), 1) if _content(line)]


def _separator(lines: list[tuple[int, str]], *, is_table: bool) -> str:
    """Return what separates the cells of a table; empty for a plain list, whose lines begin with an address."""
    plain = all(is_address(line.split()[0]) for _, line in lines)
    if not lines or (plain and not is_table):
        return ""
    first = lines[0][1]
    if any(separator in first for separator in _SEPARATORS):
        return max(_SEPARATORS, key=first.count)
    return "," if is_table or first.strip().lower() in HEADINGS else ""


def _rows(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells) and not cells[0].startswith("#"):
                yield reader.line_num, cells
    except csv.Error as error:
        raise UsageError(f"Line {reader.line_num} cannot be read as a row of a table: {error}.") from None

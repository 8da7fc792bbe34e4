"""Start pages as people have them: one a line, or a column of a table saved from a spreadsheet."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

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
"""What a column of addresses may be called; without such a heading, what looks like an address is one."""

_MARKS = "\t;,"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")  # and not the port of a bare host
_BARE = re.compile(
    r"(localhost|[^\s/:@,;]+\.[^\s/:@,;.\d]{2,}|\d+(\.\d+){3})(:\d+)?([/?#]\S*)?", re.IGNORECASE
)


@dataclass
class Seeds:
    """Sites in their order, each start once; `without` are lines of tables that hold no address."""

    sites: dict[str, Site] = field(default_factory=dict)
    without: list[str] = field(default_factory=list)

    def add(self, site: Site) -> None:
        self.sites.setdefault(site.start, site)


def is_address(text: str) -> bool:
    """Whether people would say that this is the address of a site: `acme.example`, `https://acme.example/en`."""
    if _SCHEME.match(text):
        return text.lower().startswith(("http://", "https://")) and bool(normalise(text))
    return bool(_BARE.fullmatch(text)) and bool(normalise(f"http://{text}"))


def site_of(line: str, where: str) -> Site:
    """A start page, then, if wanted, the hosts that also count as inside."""
    url, *hosts = line.split()
    start = normalise(url if _SCHEME.match(url) else f"http://{url}") if is_address(url) else ""
    if not start:
        raise UsageError(f"{url!r} is not a web address that can be fetched ({where}).")
    if strange := [host for host in hosts if not _BARE.fullmatch(host)]:
        raise UsageError(f"{strange[0]!r} is not the name of a host ({where}): one start page a line.")
    return Site(start, tuple(hosts))


def read_seeds(text: str, where: str, seeds: Seeds, *, is_table: bool = False) -> None:
    """Take the sites of a text: a start page a line, blank lines and `#` comments aside, or rows of a table."""
    lines = [(number, line) for number, line in enumerate(text.splitlines(), 1) if _says_something(line)]
    mark = _separator(lines, is_table=is_table)
    if mark:
        _read_table(text, mark, where, seeds)
        return
    for number, line in lines:
        seeds.add(site_of(line.partition("#")[0], f"{where}, line {number}"))


def starts_of(text: str, where: str = "the list") -> list[str]:
    """The start pages alone, of what was typed or pasted into a field."""
    seeds = Seeds()
    read_seeds(text, where, seeds)
    return list(seeds.sites)


def _says_something(line: str) -> bool:
    return bool(line.partition("#")[0].strip())


def _separator(lines: list[tuple[int, str]], *, is_table: bool) -> str:
    """What parts the cells of a table; empty if this is none: its lines begin with an address."""
    plain = all(is_address(line.split()[0]) for _, line in lines)
    if not lines or (plain and not is_table):
        return ""
    first = lines[0][1]
    if any(mark in first for mark in _MARKS):
        return max(_MARKS, key=first.count)
    return "," if is_table or first.strip().lower() in HEADINGS else ""


def _read_table(text: str, mark: str, where: str, seeds: Seeds) -> None:
    column: int | None = None
    for place, (number, row) in enumerate(_rows(text, mark)):
        cells = row if column is None else row[column : column + 1]
        if found := [cell for cell in cells if is_address(cell)]:
            seeds.add(site_of(found[0], f"{where}, line {number}"))
        elif place == 0:  # the headings
            column = next((index for index, cell in enumerate(row) if cell.lower() in HEADINGS), None)
        else:
            seeds.without.append(f"{where}, line {number}")


def _rows(text: str, mark: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(text.splitlines(), delimiter=mark)
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells) and not cells[0].startswith("#"):
                yield reader.line_num, cells
    except csv.Error as error:
        raise UsageError(f"Line {reader.line_num} cannot be read as a row of a table: {error}.") from None

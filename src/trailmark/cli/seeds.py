"""Start pages as people hand them over: URLs, or files with one a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from trailmark.errors import UsageError
from trailmark.site import Site
from trailmark.url import normalise

MAX_SEED_FILE_BYTES = 200_000_000
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")  # and not the port of a bare host


def read_sites(arguments: Iterable[str]) -> list[Site]:
    """Sites from URLs and seed files, each start once, in their order.

    A line of a seed file is a start URL, then, if wanted, the hosts that count as inside; `#` begins a
    comment.
    """
    sites: dict[str, Site] = {}
    for argument in arguments:
        for line, where in _lines(argument):
            site = _site(line, where)
            sites.setdefault(site.start, site)
    if not sites:
        raise UsageError("No start page was given: name a URL, or a file with one URL a line.")
    return list(sites.values())


def _lines(argument: str) -> Iterator[tuple[str, str]]:
    if "://" in argument:
        yield argument, argument
        return
    path = Path(argument)
    for number, line in enumerate(_text(path).splitlines(), start=1):
        content = line.partition("#")[0].strip()
        if content:
            yield content, f"{path}, line {number}"


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_SEED_FILE_BYTES:
            raise UsageError(f"{path} is too large for a seed file ({path.stat().st_size:,} bytes).")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not a text file in UTF-8: a seed file holds one URL a line.") from None
    except OSError as error:
        hint = " A URL needs its http:// or https://." if "." in path.name and not path.exists() else ""
        raise UsageError(f"The seed file {path} cannot be read: {error.strerror}.{hint}") from None


def _site(line: str, where: str) -> Site:
    url, *hosts = line.split()
    start = normalise(url if _SCHEME.match(url) else f"http://{url}")
    if not start:
        raise UsageError(f"{url!r} is not a web address that can be fetched ({where}).")
    return Site(start, tuple(hosts))

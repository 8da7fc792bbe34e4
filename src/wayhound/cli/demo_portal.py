"""The end of the demo: the portal, for the person at the terminal; without one, it asks itself."""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import quote

from wayhound.cli.console import err, next_steps, program_name, write_line
from wayhound.cli.serve import PortalAddress, serve_portal, update_index
from wayhound.errors import WayhoundError
from wayhound.portal.app import make_portal
from wayhound.portal.portal import PortalSettings
from wayhound.web.app import WebSettings
from wayhound.web.server import running

NAME = "Papers of the sample web"


def show_portal(folder: Path, port: int) -> None:
    _say_what_next(folder)
    if sys.stdin.isatty() and sys.stdout.isatty():
        serve_portal(folder, PortalAddress(port=port), name=NAME)
    else:
        _ask_itself(folder)


def _ask_itself(folder: Path) -> None:
    """One page of each kind, as somebody who came by would."""
    update_index(folder)
    with running(make_portal(folder, PortalSettings(NAME), WebSettings())) as address:
        write_line(f"The portal answers at {address}")
        for path in _pages(address):
            write_line(f"  {_ask(address, path)}  /{path}")


def _pages(address: str) -> list[str]:
    """Addresses of every kind of page, found as a visitor would find them."""
    found = json.loads(_get(address + "search.json?q=type:paper&sort=cited")[1])
    paper = found["hits"][0]["url"].lstrip("/")
    topic = json.loads(_get(address + "index.json")[1])["topics"][0]["url"].lstrip("/")
    searched = f"search?q={quote('limits OR theory')}"
    return [
        "",
        searched,
        topic,
        paper,
        f"{paper}/map",
        f"{paper}.bib",
        "submit",
        "about",
        "search.atom",
        "oai?verb=Identify",
    ]


def _ask(address: str, path: str) -> int:
    status, _ = _get(address + path)
    return status


def _get(url: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:  # noqa: S310 - our own server
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        raise WayhoundError(f"The portal answered {error.code} to {url}.") from None


def _say_what_next(folder: Path) -> None:
    wayhound = program_name()
    next_steps(
        (f"{wayhound} studio -w {folder}", "trails, training, runs and results, in a browser"),
        (f"{wayhound} status --goals -w {folder}", "every page that was found, the clicks there, and why"),
        (f"{wayhound} export goals -w {folder} --out goals.csv", "the same as a table"),
        (f"{wayhound} serve -w {folder}", "the portal again"),
        ("make teach-demo", "teach the sample sites yourself"),
        (f"{wayhound} init mine", "your own sites: it says what comes next"),
    )
    err.print()

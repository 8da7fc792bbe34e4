"""Reason codes of requests, and of sites that stopped, in words. Files and JSON keep the codes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from wayhound.errors import PageUnavailable, WayhoundError

Surface = Literal["command line", "studio"]
"""The place where a sentence is read: a problem is solved by an option in one, by a setting in the other."""

FAULTS: Mapping[str, str] = {
    "bad_url": "not an address that can be fetched",
    "refused_port": "its port belongs to another kind of server, so no request is sent",
    "robots": "robots.txt disallows it",
    "robots_unreachable": "robots.txt could not be fetched, so nothing may be",
    "out_of_scope": "it leads to another site",
    "private_address": "a private address",
    "dns": "no host has that name",
    "connect": "no server answers there",
    "tls": "the certificate is not valid",
    "timeout": "it timed out",
    "reset": "the connection broke",
    "too_big": "too large",
    "bad_response": "the response is malformed",
    "content_type": "not a web page",
    "empty": "the page is empty",
    "unreadable": "it takes too long to read",
    "redirect_limit": "too many redirects",
    "challenge": "blocked by a challenge, which lets only people in",
    "needs_browser": "its pages are made by scripts",
    "not_archived": "not in the recording",
    "nofollow": "the page asks not to follow it",
    "other_name": "another address of the same page",
    "long_url": "the address is too long",
    "deep_path": "the address has too many folders",
    "looping_path": "the address repeats itself",
    "many_parameters": "the address has too many parameters",
    "http_401": "it needs a login",
    "http_403": "the site refuses",
    "http_404": "no such page",
    "http_410": "the page is gone",
    "http_429": "the site asks to slow down",
    "http_503": "the site is out of service",
}
OUTCOMES: Mapping[str, str] = {
    "ok": "read",
    "redirect": "redirected",
    "duplicate": "same content as another page",
}
_REMEDIES: Mapping[str, Mapping[Surface, str]] = {
    "private_address": {
        "command line": "--allow-private permits it",
        "studio": "allow_private = true in wayhound.toml permits it",
    },
    "needs_browser": {
        "command line": "--render auto shows them to a browser (pip install 'wayhound[teach]', and Chromium)",
        "studio": 'render = "auto" in wayhound.toml shows them to a browser, where one is installed',
    },
}
REMEDIES: Mapping[str, tuple[str, str]] = {
    "private_address": (" --allow-private", "permit requests to your own machine and network"),
    "dns": ("", "the same command, once the names are spelled right, or the network is there"),
    "connect": ("", "the same command again, once the server runs"),
    "timeout": ("", "the same command again, when the server is less busy"),
    "tls": ("", "the same command again, once the certificate is valid; http:// may do meanwhile"),
    "robots": ("", "another start page: robots.txt disallows this one"),
    "robots_unreachable": ("", "the same command again, later"),
    "needs_browser": (" --render auto", "show its pages to a browser (pip install 'wayhound[teach]')"),
    "challenge": ("", "nothing: the site lets only people in"),
    "http_404": ("", "the same command with another start page"),
}
"""Options of the forage that would help where nothing could be fetched, and what they are for, by reason code."""
_PAGES = {"papers": "Papers", "status": "Runs", "teach": "Teach", "topics": "Topics", "train": "Train"}
"""Pages of the studio by the command that they stand for."""
_OTHER_HOSTS = re.compile(r"(.*) \(other_hosts (\d+) (\S+)\)")
_CODE = re.compile(r"(.*) \((\w+)\)")


def format_fault(code: str, surface: Surface | None = None) -> str:
    """Return the words for a reason code, such as `no host has that name` for `dns`.

    With a surface, what the reader can do about it there is added. Codes without words are returned unchanged.
    """
    words = FAULTS.get(code) or (f"the site answered {code[5:]}" if code.startswith("http_") else code)
    remedy = _REMEDIES.get(code, {}).get(surface, "") if surface else ""
    return f"{words}; {remedy}" if remedy else words


def format_outcome(outcome: str, surface: Surface | None = None) -> str:
    """Return the words for the outcome of a visit, a fault or not."""
    return OUTCOMES.get(outcome) or format_fault(outcome, surface)


def format_ending(reason: str, surface: Surface | None = None) -> str:
    """Return why a site stopped: `start page failed: no host has that name` for `start page failed (dns)`.

    Reasons without a code in brackets are words already.
    """
    if other := _OTHER_HOSTS.fullmatch(reason):
        remedy = f"; --host {other[3]} includes it" if surface == "command line" else ""
        links = f"{int(other[2]):,} links lead" if other[2] != "1" else "1 link leads"
        return f"{other[1]}: {links} to other hosts, most to {other[3]}{remedy}"
    match = _CODE.fullmatch(reason)
    return f"{match[1]}: {format_fault(match[2], surface)}" if match else reason


def other_host(reason: str) -> str:
    """Return the host to which most links of a site lead that ended for want of links; empty for other endings."""
    match = _OTHER_HOSTS.fullmatch(reason)
    return match[3] if match else ""


def format_error(error: WayhoundError, surface: Surface) -> str:
    """Return what went wrong, and what the reader can do about it on this surface."""
    message = str(error)
    if isinstance(error, PageUnavailable):
        message = f"{error.url} could not be read: {format_fault(error.reason, surface)}."
    page = _PAGES.get(error.next_step.partition(" ")[0], "")
    if surface == "command line" and error.next_step:
        return f"{message} Next: wayhound {error.next_step}"
    return f"{message} Next: {page}." if surface == "studio" and page else message

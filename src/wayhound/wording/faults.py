"""Reason codes of fetches and of sites that stopped, in words for people; the codes stay in what programs read."""

from __future__ import annotations

import re
from collections.abc import Mapping

FAULTS: Mapping[str, str] = {
    "bad_url": "the address cannot be fetched",
    "robots": "robots.txt forbids it",
    "robots_unreachable": "robots.txt could not be had, which forbids all",
    "out_of_scope": "it leads to another site",
    "private_address": "a private address; --allow-private lets it",
    "dns": "no site has that name",
    "connect": "nothing answers there",
    "tls": "its certificate is not valid",
    "timeout": "it took too long",
    "reset": "the connection broke",
    "too_big": "too large",
    "bad_response": "the answer cannot be read",
    "content_type": "not a web page",
    "redirect_limit": "it redirects without end",
    "not_archived": "not in the recording",
    "nofollow": "the site asks not to follow it",
    "other_name": "another name of the page itself",
    "long_url": "too long an address",
    "deep_path": "too deep an address",
    "looping_path": "an address that goes round in circles",
    "many_parameters": "an address with too many parameters",
    "http_401": "needs a login",
    "http_403": "the site refuses",
    "http_404": "no such page",
    "http_410": "the page is gone",
    "http_429": "the site asks to slow down",
    "http_503": "the site is out of service",
}
_CODE = re.compile(r"(.*) \((\w+)\)")


def fault_words(code: str) -> str:
    """`no site has that name` for `dns`; statuses without a word of ours stay numbers."""
    if code in FAULTS:
        return FAULTS[code]
    return f"the site answered {code[5:]}" if code.startswith("http_") else code


def ending_words(reason: str) -> str:
    """`start page failed: no site has that name` for `start page failed (dns)`; others are words already."""
    cut = _CODE.fullmatch(reason)
    return f"{cut[1]}: {fault_words(cut[2])}" if cut else reason

"""Pages that are made by scripts, told apart from pages that are simply short; and pages that only test visitors.

Runs for every page, so the common case, a page with words and links, must cost next to nothing.
"""

from __future__ import annotations

import re
from typing import Literal

from wayhound.fetched import Fetched
from wayhound.page import Page, Unreadable

BrowserNeed = Literal["", "perhaps", "needed"]
"""`needed`: the page shows next to nothing without its scripts. `perhaps`: some of its links may be made by them."""

FEW_WORDS, FEW_LINKS = 60, 4
MANY_LINKS = 150  # more than a forage follows on a site by default: those of a growing list would add nothing
_HARDLY_ANY_WORDS = 12
_LOOKED_AT = 200_000  # bytes

# A tag is looked through up to the next one at most, and a name as a whole or not at all: an unclosed tag before every
# word of a page, or a name of 200,000 letters, would otherwise take minutes.
_ROOT = re.compile(
    rb"""<(?:div|main|section|body)\b[^<>]*\bid\s*=\s*["']?(?:root|app|application|__next|__nuxt|___gatsby|svelte|q-app"""
    rb"""|app-root|react-root|ember-application|main-app|spa)["'\s>]|\bng-app\b|\bdata-reactroot\b"""
    rb"""|<([a-z][a-z0-9]*+-[a-z0-9-]++)[^<>]*+>\s*+</\1>""",
    re.IGNORECASE,
)
_SCRIPT = re.compile(rb"<script\b(?![^<>]*\btype\s*=\s*[\"']?application/(?:ld\+)?json)", re.IGNORECASE)
_BUNDLE = re.compile(rb"<script\b[^<>]*\bsrc\s*=", re.IGNORECASE)
_NOSCRIPT = re.compile(rb"<noscript\b[^<>]*>(.{0,2000}?)</noscript", re.IGNORECASE | re.DOTALL)
_ASKS_FOR_SCRIPTS = re.compile(rb"java\s?script", re.IGNORECASE)
_LEAVES = re.compile(rb"\blocation(?:\.href)?\s*=[^=]|\blocation\.(?:replace|assign)\s*\(")
_ROUTES = (b'href="#/', b"href='#/", b'href="#!', b"href='#!", b"href=#/", b"href=#!")
_SCRIPT_LINKS = (
    b'href="javascript:',
    b"href='javascript:",
    b"href=javascript:",
    b"onclick=",
    b"data-href=",
    b'role="link"',
)
_GROWING_LISTS = (
    b"load-more",
    b"loadMore",
    b"infinite-scroll",
    b"infiniteScroll",
    b"IntersectionObserver",
)


def browser_need(page: Page | Unreadable | None, body: bytes, *, look_closer: bool = True) -> BrowserNeed:
    """Return whether a browser would show more of a page than its HTML does.

    A page with words and links is scanned for links made by scripts only with `look_closer`.
    """
    if not isinstance(page, Page) or page.content_type not in ("text/html", "application/xhtml+xml"):
        return ""
    words = len(page.tokens)
    if words < FEW_WORDS and (links := _n_links(page)) <= FEW_LINKS:
        return _need_of_bare_page(body[:_LOOKED_AT], words, links)
    if not look_closer or (b"<script" not in body and b"javascript:" not in body):
        return ""
    if any(sign in body for sign in _ROUTES):
        return "needed"
    links = _n_links(page)
    if links <= MANY_LINKS and any(sign in body for sign in _GROWING_LISTS):
        return "perhaps"
    # Most pages have some: a button that opens the menu, a link that prints. A menu made by scripts has little else.
    scripted = sum(body.count(sign) for sign in _SCRIPT_LINKS)
    return "perhaps" if scripted > 2 * links else ""


def _n_links(page: Page) -> int:
    return sum(link.kind in ("a", "area") for link in page.links)


def _need_of_bare_page(body: bytes, words: int, links: int) -> BrowserNeed:
    if not _SCRIPT.search(body):
        return "perhaps" if any(sign in body for sign in _SCRIPT_LINKS) else ""
    noscript = _NOSCRIPT.search(body)
    asks = noscript is not None and _ASKS_FOR_SCRIPTS.search(noscript[1]) is not None
    if asks or _ROOT.search(body) or any(sign in body for sign in _ROUTES):
        return "needed"
    if words <= _HARDLY_ANY_WORDS and links <= 1 and (_BUNDLE.search(body) or _LEAVES.search(body)):
        return "needed"
    return "perhaps"


# Marks of the vendors' challenges in headers and markup, each seen only there.
_CHALLENGE_HEADERS = {
    "cf-mitigated": "challenge",
    "x-amzn-waf-action": "challenge",
    "x-datadome": "protected",
}
_CHALLENGE_STATUSES = frozenset({202, 401, 403, 405, 429, 503})
_CHALLENGE = re.compile(
    rb"/cdn-cgi/challenge-platform/|cf-chl-|captcha-delivery\.com|_Incapsula_Resource|px-captcha|awsWafCookieDomainList"
    rb"|AwsWafIntegration|sgcaptcha|<title>(?:Just a moment\.\.\.|Attention Required! \| Cloudflare"
    rb"|Making sure you&#39;re not a bot!|DDoS-Guard|Vercel Security Checkpoint)</title>",
    re.IGNORECASE,
)
_CHALLENGE_BYTES = 50_000


def is_challenge(response: Fetched, page: Page | Unreadable | None) -> bool:
    """Return True if a response is no page but a test whether the visitor is a person."""
    is_bare = isinstance(page, Page) and len(page.tokens) < FEW_WORDS
    if not is_bare and response.status not in _CHALLENGE_STATUSES:
        return False
    if any(_CHALLENGE_HEADERS.get(name.lower()) == value.lower() for name, value in response.headers):
        return response.status != 200 or is_bare
    return _CHALLENGE.search(response.body[:_CHALLENGE_BYTES]) is not None

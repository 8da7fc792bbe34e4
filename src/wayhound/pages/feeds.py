"""Reads sitemaps and feeds: lists of a site's pages that are made for machines.

They are hostile input like any page, so nothing expands entities or builds a tree: addresses are taken out by their
tags, in one pass, and never more than `MAX_ENTRIES`.
"""

from __future__ import annotations

import re
from hashlib import sha1
from html import unescape

from wayhound.fetched import Fetched
from wayhound.files import DecompressionError, decompress
from wayhound.page import Link, Page, Unreadable
from wayhound.url import normalise

MAX_ENTRIES = 20_000
MAX_FEED_BYTES = 50_000_000  # as large as a sitemap may be, once unpacked (sitemaps.org)
SITEMAP, ENTRY = "sitemap", "sitemap>url"
"""Regions of links to sitemaps and feeds, and of the links in them."""

# none of these may scan the same bytes over and over, whatever the bytes are
_ROOT = re.compile(rb"<(?:\w+:)?(urlset|sitemapindex|rss|feed|RDF)\b")
_LOC = re.compile(rb"<(?:\w+:)?loc>\s*(?:<!\[CDATA\[)?([^<\]]{1,8000})")
_ITEM = re.compile(rb"<(?:item|entry)[\s>]")
_TITLE = re.compile(rb"<title\b[^<>]*>\s*(?:<!\[CDATA\[)?([^<\]]{0,500})")
_HREF = re.compile(rb"<link\b[^<>]*\bhref\s*=\s*[\"']([^\"'<>]{1,8000})")
_LINK = re.compile(rb"<link\b[^<>]*>\s*(?:<!\[CDATA\[)?([^<\]]{1,8000})")
_ITEM_BYTES = 5_000  # of an item, in which its title and address stand
_NOT_A_PAGE = re.compile(r"\.(?:jpe?g|png|gif|webp|svg|mp[34]|css|js|ico|zip)(?:\?|$)", re.IGNORECASE)


def read_feed(response: Fetched) -> Page | Unreadable:
    """Return a page without words whose links are the entries of a sitemap or feed, or those of an index of them.

    Anything else is Unreadable.
    """
    body = _unpacked(response.body)
    digest = sha1(response.body, usedforsecurity=False).hexdigest()
    root = _ROOT.search(body[:5000])
    if root is None:
        return Unreadable(response.url, "not_html", response.content_type, digest)
    if root[1] == b"sitemapindex":
        links = _sitemap_links(body, response.url, SITEMAP)
    elif root[1] == b"urlset":
        links = _sitemap_links(body, response.url, ENTRY)
    else:
        links = _feed_links(body, response.url)
    return Page(response.url, links=links, content_type=response.content_type, digest=digest)


def _unpacked(body: bytes) -> bytes:
    if not body.startswith(b"\x1f\x8b"):
        return body
    try:
        return decompress(body, "gzip", MAX_FEED_BYTES).data
    except DecompressionError:
        return b""


def _sitemap_links(body: bytes, base: str, region: str) -> tuple[Link, ...]:
    links: dict[str, Link] = {}
    for match in _LOC.finditer(body):
        if len(links) == MAX_ENTRIES:
            break
        url = _address(match[1], base)
        if url and (region == SITEMAP or not _NOT_A_PAGE.search(url)):
            links.setdefault(url, Link(url, region=region, kind="sitemap"))
    return tuple(links.values())


def _feed_links(body: bytes, base: str) -> tuple[Link, ...]:
    links: dict[str, Link] = {}
    for piece in _ITEM.split(body, MAX_ENTRIES)[1:]:
        item = piece[:_ITEM_BYTES]
        address = _HREF.search(item) or _LINK.search(item)
        url = _address(address[1], base) if address else ""
        if url:
            title = _TITLE.search(item)
            text = " ".join(_text(title[1]).split()) if title else ""
            links.setdefault(url, Link(url, text, region=ENTRY, kind="sitemap"))
    return tuple(links.values())


def _address(raw: bytes, base: str) -> str:
    return normalise(_text(raw).strip(), base)


def _text(raw: bytes) -> str:
    return unescape(raw.decode("utf-8", "replace"))

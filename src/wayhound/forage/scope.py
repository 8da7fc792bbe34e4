"""The links of a site that are followed: scope, traps, sitemaps, and documents on goal pages.

When a list of publications is the goal, the papers that it links to are wanted too (`take_files`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from wayhound.forage.frontier import Frontier, QueuedLink
from wayhound.forage.scorer import Rated
from wayhound.page import Link, Page
from wayhound.pages.feeds import SITEMAP
from wayhound.site import Site
from wayhound.url import host_of, normalise, registrable_domain

MAX_URL_LENGTH = 512
MAX_PATH_SEGMENTS = 16
MAX_PARAMETERS = 6
MAX_REPEATED_SEGMENTS = 3  # /a/b/a/b/a/ is a loop

_DIGITS = re.compile(r"\d+")
_CALENDAR_PAGE = re.compile(
    r"calend|kalend|(?:^|[/?&_-])(?:agenda|month|monat|mois|mes|week|day|date|year|jahr)(?:[=/_-]|$)"
    r"|(?:19|20)\d\d[-/](?:0?[1-9]|1[0-2])(?:\D|$)",
    re.IGNORECASE,
)


def trap_reason(url: str) -> str | None:
    """Return why this URL looks like a crawler trap, or None.

    `url` must be normalised. This runs for every link of every page, so it slices the URL by hand.
    """
    if len(url) > MAX_URL_LENGTH:
        return "long_url"
    location, _, query = url.partition("?")
    segments = location.split("/")[3:]  # after the scheme, nothing, and the host
    if len(segments) > MAX_PATH_SEGMENTS:
        return "deep_path"
    if len(set(segments)) <= len(segments) - (MAX_REPEATED_SEGMENTS - 1) and _loops(segments):
        return "looping_path"
    if query.count("&") >= MAX_PARAMETERS:
        return "many_parameters"
    return None


def _loops(segments: list[str]) -> bool:
    return max(Counter(filter(None, segments)).values(), default=0) >= MAX_REPEATED_SEGMENTS


@dataclass
class TrapLimits:
    """Limits on the number of pages with the same URL pattern, where patterns can repeat for ever.

    Calendar pages (and archives by date) are counted by their URL with the numbers blanked, pages with several
    parameters by their path. A single parameter (`?id=17`) is not counted: many catalogues number their pages so.
    """

    calendar_pages: int = 30
    parameter_mixes: int = 60
    _fetched: Counter[str] = field(default_factory=Counter)

    def refuses(self, url: str) -> str | None:
        """Return the reason if the limit for this URL's pattern is used up."""
        pattern, limit, reason = self._pattern(url)
        return reason if pattern and self._fetched[pattern] >= limit else None

    def count(self, url: str) -> None:
        """Count a URL that is about to be fetched."""
        pattern, _, _ = self._pattern(url)
        if pattern:
            self._fetched[pattern] += 1

    def _pattern(self, url: str) -> tuple[str, int, str]:
        path, _, query = url.partition("?")
        if _CALENDAR_PAGE.search(url.partition("://")[2].partition("/")[2]):
            return _DIGITS.sub("0", url), self.calendar_pages, "calendar"
        if "&" in query:
            return path, self.parameter_mixes, "parameter_mix"
        return "", 0, ""


_NOT_FOLLOWED = frozenset({"canonical"})  # another name of the page itself


def refusal_reason(site: Site, link: Link) -> str:
    """Return the reason code for not following a link, or an empty string."""
    if link.nofollow:
        return "nofollow"
    if link.kind in _NOT_FOLLOWED:
        return "other_name"
    if not site.covers(link.url):
        return "out_of_scope"
    return trap_reason(link.url) or ""


def include_domain(site: Site, url: str) -> Site:
    """Return the site with the domain of a URL, because the site has moved there, or calls itself so."""
    if not url or site.covers(url):
        return site
    old = site.hosts or (f".{site.domain}",)
    return replace(site, hosts=(*old, f".{registrable_domain(url)}"))


FEW_PAGES = 3  # of a site that ended: then its links to other hosts may be what was looked for
_PLATFORMS = frozenset(
    "facebook.com instagram.com twitter.com x.com linkedin.com youtube.com youtu.be tiktok.com pinterest.com xing.com "
    "google.com goo.gl apple.com wa.me whatsapp.com t.me vimeo.com github.com creativecommons.org w3.org".split()
)
"""Domains to which most sites link, and to which none moves."""


@dataclass
class OutsideLinks:
    """The links of a site's first pages that lead to other hosts."""

    _links: dict[str, set[int]] = field(default_factory=dict)  # hashes of URLs, by host
    _pages: int = 0

    def count(self, site: Site, page: Page) -> None:
        """Take in a page of the site."""
        self._pages += 1
        if self._pages > FEW_PAGES:
            self._links.clear()
            return
        for link in page.links:
            is_outside = link.kind in ("a", "area") and not site.covers(link.url)
            if is_outside and registrable_domain(link.url) not in _PLATFORMS:
                self._links.setdefault(host_of(link.url), set()).add(hash(link.url))

    @property
    def reason(self) -> str:
        """`other_hosts 38 shop.example`: how many links, and where most lead; empty if none or the site has pages."""
        if not self._links:
            return ""
        host = max(self._links, key=lambda host: len(self._links[host]))
        return f"other_hosts {sum(map(len, self._links.values()))} {host}"


MAX_SITEMAPS = 20  # of a site, each of which costs a request
MAX_SITEMAP_LINKS = 50_000  # of a site: a sitemap may name a million pages
SITEMAP_SHARE = 0.5  # of the score of a link that no page shows
_GUESS_UP_TO = 1  # pages of a site: one with more has links of its own


@dataclass
class Sitemaps:
    """The sitemaps and feeds of a site, which are read when the links of its pages come to an end."""

    feeds: tuple[str, ...] = ()  # of the start page
    pages: int = 0  # that were read
    guesses: bool = True  # False if the start page does not want to be followed
    _asked: bool = False
    _read: int = 0
    _links: int = 0

    def queue(self, frontier: Frontier, site: Site, named: Sequence[str]) -> bool:
        """Queue the sitemaps `named` in robots.txt, or else the usual one, and feeds. Return True if that is new."""
        if self._asked or not self.pages:
            return False
        self._asked = True
        guessed = ["/sitemap.xml"] if self.guesses and not named and self.pages <= _GUESS_UP_TO else []
        urls = [normalise(url, site.start) for url in (*named, *guessed, *self.feeds)]
        added = [
            frontier.add(
                QueuedLink(
                    url, SITEMAP_SHARE, text="sitemap", region=SITEMAP, kind="sitemap", parent=0, depth=1
                )
            )
            for url in urls
            if url and site.covers(url)
        ]
        return any(added)

    def take(self, links: Sequence[Link]) -> list[Link]:
        """Return the links of a sitemap that are taken up, within the limits."""
        self._asked = True
        self._read += 1
        room = MAX_SITEMAP_LINKS - self._links
        taken = [link for link in links if link.region != SITEMAP or self._read < MAX_SITEMAPS][:room]
        self._links += len(taken)
        return taken


CERTAIN_GOAL = 1.0  # the score of a goal that is certain
_DOCUMENT = re.compile(r"\.(?:pdf|ps|eps|dvi)(?:\.(?:gz|z))?$", re.IGNORECASE)


def leads_to_document(url: str) -> bool:
    """Return True if the URL ends like that of a PDF or PostScript file, compressed or not."""
    return _DOCUMENT.search(urlsplit(url).path) is not None


def is_goal_document(url: str, score: float) -> bool:
    """Return True if a queued link is a document that a goal page linked to."""
    return score >= CERTAIN_GOAL and leads_to_document(url)


ASKED_FOR = 0.5  # of what the score of a link lacks to 1, where people ask for what it names


def asked_first(
    rated: Sequence[Rated], links: Sequence[Link], is_asked_for: Callable[[Link], bool]
) -> list[Rated]:
    """Return the ratings with higher scores for links that people ask for; no score falls."""
    return [
        replace(new, score=1 - ASKED_FOR * (1 - new.score)) if is_asked_for(link) else new
        for link, new in zip(links, rated, strict=True)
    ]


def documents_first(rated: Sequence[Rated], links: Sequence[Link]) -> list[Rated]:
    """Return the ratings with documents at the top score; they say nothing about pages, so they have no group."""
    return [
        replace(rating, score=CERTAIN_GOAL, groups=()) if leads_to_document(link.url) else rating
        for rating, link in zip(rated, links, strict=True)
    ]

"""Shared by all pages of the portal: settings, templates, readers, and the types of common parameters."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from html import escape  # twice as fast as that of markupsafe, whose result knows that it is safe
from typing import Annotated, Any
from urllib.parse import urlsplit

from fastapi import Path, Query
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from wayhound.errors import WayhoundError
from wayhound.portal.addresses import field_query, search_url, to_key
from wayhound.portal.library import Library, PageMaker, Readers
from wayhound.search.results import Fragment
from wayhound.web.guards import Buckets, RateLimiter
from wayhound.web.pages import Pages, RenderedPage, WebError, json_answer, rendered_json

SITE_NAME = "Wayhound"
MOST_ORIGINS = 100  # that are remembered
MOST_NAMED = 8  # people of a record in a list
SURE, LIKELY = 0.9, 0.6
MAX_LOGGED_CHARS, MAX_LOG_BYTES = 200, 100_000_000
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
FORMAT_TYPES = {
    "BibTeX": "application/x-bibtex",
    "RIS": "application/x-research-info-systems",
    "CSL-JSON": "application/vnd.citationstyles.csl+json",
    "JSON-LD": "application/ld+json",
    "JSON": "application/json",
}

Kind = Annotated[str, Path(max_length=300, description="The kind of record, such as paper.")]
Key = Annotated[str, Path(max_length=4100, description="The record's key, as in the address of its page.")]
FieldNames = Annotated[str, Query(max_length=400, description="Names of fields, separated by commas.")]


def split_names(names: str) -> list[str]:
    return [name for part in names.split(",") if (name := part.strip())]


@dataclass(frozen=True, slots=True)
class PortalSettings:
    """The operator's settings. `public_url` is the address that visitors use."""

    name: str = SITE_NAME
    public_url: str = ""
    contact: str = ""
    agent: str = "Wayhound"
    allow_private: bool = False
    submissions_per_hour: float = 20.0
    query_log: str = ""  # a file to keep the queries of visitors in; empty: none is kept
    counts_folder: str = ""  # where pages are counted by kind; empty: they are not


@dataclass
class Portal:
    """Shared by all routes. Slow queries go to `slow_readers`, so that only those who sent them wait.

    `image_readers` have one thread, so that pictures of pages do not take those of harvesters.
    """

    settings: PortalSettings
    readers: Readers
    slow_readers: Readers
    image_readers: Readers
    pages: Pages
    buckets: Buckets
    quick: dict[str, Callable[[Scope], PageMaker | None]] = field(default_factory=dict)
    """For the first part of a path, what makes a page that takes a few milliseconds, if the address is a plain one."""

    submitting: RateLimiter = field(init=False)
    _base_urls: dict[tuple[str, bytes, str], str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        hourly = self.settings.submissions_per_hour
        self.submitting = RateLimiter(hourly / 3600, hourly / 2, buckets=self.buckets, name="submitting")

    def base_url(self, request: Request) -> str:
        """Return the origin of absolute addresses: the operator's public URL, or that of the request."""
        return self.settings.public_url.rstrip("/") or str(request.base_url).rstrip("/")

    def base_url_of(self, scope: Scope) -> str:
        """Return the same for a request as the server passes it on; making a URL of it takes 0.04 ms."""
        host = next((value for name, value in scope["headers"] if name == b"host"), b"")
        origin = scope["scheme"], host, scope.get("root_path", "")
        if origin not in self._base_urls:
            if len(self._base_urls) >= MOST_ORIGINS:
                self._base_urls.clear()
            self._base_urls[origin] = self.base_url(Request(scope))
        return self._base_urls[origin]

    def log_query(self, query: str) -> None:
        """Keep the day and the words of a query, and nothing of who asked it, if the operator wants that."""
        words = " ".join(query.split())[:MAX_LOGGED_CHARS]
        if self.settings.query_log and words:
            line = f"{datetime.now(UTC).date()}\t{words}\n"
            with suppress(OSError), open(self.settings.query_log, "ab") as log:  # noqa: PTH123
                if log.tell() < MAX_LOG_BYTES:
                    log.write(line.encode("utf-8", "replace"))  # one short append: processes do not mix lines

    def html(self, request: Request, template: str, view: Any, **values: Any) -> Response:
        return self.pages.html(request, template, view=view, base_url=self.base_url(request), **values)

    def json(self, request: Request, view: Any, **values: Any) -> Response:
        return json_answer(request, view, **values)

    def known_page(self, scope: Scope) -> RenderedPage | None:
        """Return a page that was made before, or one that is quick to make; None if a route has to answer.

        Routes log queries, and tell what is wrong with a request.
        """
        if scope["path"] == "/search" and self.settings.query_log:
            return None
        find_maker = self.quick.get(scope["path"][1:].partition("/")[0])
        with suppress(WebError, WayhoundError):
            return self.readers.known_page(scope, find_maker)
        return None

    async def collection_page(
        self, request: Request, template: str, view_of: Callable[[Library], Any], **values: Any
    ) -> Response:
        """Return a page of the collection as a whole, rendered once for each version of it; as JSON without a template.

        The view and the values may depend on the address and on the library, and on nothing else.
        """
        make, is_quick = self.page_maker(template, view_of, **values), self.readers.index.is_quick()
        return (await self.readers.page(request.scope, make, is_quick=is_quick)).answer(request)

    def page_maker(self, template: str, view_of: Callable[[Library], Any], **values: Any) -> PageMaker:
        def make(library: Library) -> RenderedPage:
            view = view_of(library)
            if not template:
                return rendered_json(view)
            return self.pages.rendered(template, view=view, json_url=view.json_url, **values)

        return make


def make_pages(settings: PortalSettings) -> Pages:
    shared = {"site_name": settings.name, "format_types": FORMAT_TYPES, "byline": _marked_up(_byline)}
    pages = Pages("wayhound.portal", shared)
    pages.add_filters(_FILTERS)
    return pages


def _milliseconds(value: float) -> str:
    return f"{value:.1f} ms" if value < 100 else f"{value / 1000:.2f} s"


def iso_time(seconds: float) -> str:
    return f"{datetime.fromtimestamp(int(seconds // 1), UTC).isoformat()[:19]}Z"  # a third of the time of `strftime`


def day(seconds: float) -> str:
    return _day(seconds // 86_400)


@lru_cache(maxsize=1_000)
def _day(number: float) -> str:
    """Return the day of a number since 1970."""
    return datetime.fromtimestamp(86_400 * number, UTC).strftime("%-d %B %Y")


def readable(text: str) -> str:
    """Return a timestamp as people write it; any other text unchanged."""
    if not _TIMESTAMP.fullmatch(text):
        return text
    return datetime.fromisoformat(text).strftime("%-d %B %Y, %H:%M UTC")


# What a page has dozens of is not frozen: that takes three times as long to make.


@dataclass(slots=True)
class Choice:
    """Something to choose: a value of a facet, an order, a page. `text` is what people read in place of `label`."""

    label: str
    url: str
    count: int | None = None
    chosen: bool = False
    text: str = ""


@dataclass(slots=True)
class YearBar:
    """The results of one year, or of several where the bars would be too narrow, as a bar of a histogram."""

    label: str
    count: int
    height: int  # of 100 for the year with most results
    url: str


@dataclass(slots=True)
class TopicLink:
    name: str
    url: str


@dataclass(slots=True)
class HitView:
    """A record that a search found."""

    kind: str
    kind_label: str
    id: str
    url: str
    title: str
    title_pieces: tuple[Fragment, ...]
    snippet: tuple[Fragment, ...]
    page: int | None
    file: str
    file_url: str
    people: tuple[str, ...]
    venue: str
    year: int | None
    site: str
    topics: tuple[TopicLink, ...]
    cited: int
    authority: float
    hub: float
    score: float


@dataclass(slots=True)
class Evidence:
    """The place of a value. `image_url` shows the page of a document with the place marked."""

    url: str
    page: int
    start: int
    end: int
    box: tuple[float, float, float, float] | None = None
    image_url: str = ""


@dataclass(slots=True)
class ShownValue:
    """A value, the target of a click on it, its confidence and where it was read."""

    text: str
    confidence: float
    url: str = ""
    leads_away: bool = False
    evidence: Evidence | None = None
    as_cited: bool = False  # by papers that cite this one

    @property
    def certainty(self) -> str:
        """The confidence as a word."""
        return "sure" if self.confidence >= SURE else "likely" if self.confidence >= LIKELY else "unsure"


# Fragments that stand on a page dozens of times are written here: a macro costs ten times as much.


_AND = "&amp;"


@lru_cache(maxsize=20_000)
def _author_link(name: str) -> str:
    return f'<a href="{escape(search_url(field_query("author", name)))}">{escape(name)}</a>'


@lru_cache(maxsize=20_000)
def _drawn_venue(name: str) -> str:
    return f"<cite>{escape(name)}</cite>"


@lru_cache(maxsize=2_000)
def _drawn_year(year: str | int) -> str:
    return f'<span class="number">{escape(str(year))}</span>'


@lru_cache(maxsize=20_000)
def _drawn_site(name: str) -> str:
    return f'<span class="quiet">{escape(name)}</span>'


@lru_cache(maxsize=20_000)
def _topic_chip(url: str, name: str) -> str:
    return f'<a class="chip" href="{escape(url)}">{escape(name)}</a>'


def _byline(people: Sequence[str], more: int, venue: str, year: str | int | None) -> str:
    """Return who wrote something, where it appeared, and when; empty if none of it is known."""
    names = ", ".join(map(_author_link, people[:MOST_NAMED])) + (f" and {more} more" if more else "")
    parts = [names, _drawn_venue(venue) if venue else "", _drawn_year(year) if year else ""]
    line = " · ".join(filter(None, parts))
    return f'<p class="byline">{line}</p>\n' if line else ""


def _pieces(parts: Iterable[Fragment]) -> str:
    """Return a text with the words marked that match a query."""
    return "".join(
        [f"<mark>{escape(part.text)}</mark>" if part.marked else escape(part.text) for part in parts]
    )


def _hit(hit: HitView, level: int) -> str:
    """Return a record as a list of results shows it. The addresses of records hold no sign that markup reserves."""
    chip = f' <span class="chip">{escape(hit.kind_label)}</span>' if hit.kind not in ("paper", "page") else ""
    facts = [_topic_chip(topic.url, topic.name) for topic in hit.topics]
    if hit.cited:
        facts.insert(0, f'<a href="{hit.url}#cited-by">Cited by {hit.cited}</a>')
    if hit.file_url:
        name = "PDF" if hit.file == "pdf" else "File"
        facts.insert(
            0, f'<a href="{hit.file_url}">{name}<span class="unseen"> of {escape(hit.title)}</span></a>'
        )
    if hit.site:
        facts.append(_drawn_site(hit.site))
    title = _pieces(hit.title_pieces) if hit.title_pieces else escape(hit.title)
    page = f'<span class="quiet">Page {hit.page}:</span> ' if hit.page else ""
    passage = f'<p class="snippet">{page}{_pieces(hit.snippet)}</p>\n' if hit.snippet else ""
    return (
        f'<article class="hit">\n<h{level} class="hit-title"><a href="{hit.url}">{title}</a>{chip}</h{level}>\n'
        f"{_byline(hit.people, max(0, len(hit.people) - MOST_NAMED), hit.venue, hit.year)}{passage}"
        f'<p class="facts small">{"".join(facts)}</p>\n</article>\n'
    )


def _hits(hits: Iterable[HitView], level: int = 2) -> str:
    return "".join([_hit(hit, level) for hit in hits])


def certainty(value: ShownValue) -> str:
    """Return how sure a value is; nothing for one that was not read anywhere, and is sure."""
    if not value.evidence and not value.as_cited and value.confidence >= 1:
        return ""
    word = value.certainty
    return f'<span class="sure {word}" title="Confidence {value.confidence:.2f}">{word}</span>'


def evidence(value: ShownValue, archived_url: str) -> str:
    """Return where a value was read: the page of a document, or the place in a page of the web."""
    place = value.evidence
    if place is None:
        return ""
    if place.image_url:
        return (
            f'<details class="evidence"><summary class="small">page {place.page}</summary>\n'
            f'<img loading="lazy" src="{escape(place.image_url)}" '
            f'alt="Page {place.page} of the original, with the place marked where this was read"></details>'
        )
    if place.page:
        return f'<span class="small quiet">page {place.page}</span>'
    characters = f"haracters {place.start}–{place.end}"
    if place.end and archived_url:
        copy = f'<a href="{escape(archived_url)}">the archived copy</a>'
        return f'<span class="small quiet">c{characters} of {copy}</span>'
    if place.end and place.url:
        return (
            f'<a class="small quiet" href="{escape(place.url)}" rel="noopener noreferrer nofollow" '
            f'title="C{characters} of its text">at {escape(_host(place.url))}</a>'
        )
    return ""


def _year_bars(bars: Iterable[YearBar]) -> str:
    """Return the bars of a histogram, each a link; years without results have none."""
    drawn = [
        f'<a href="{bar.url.replace("&", _AND)}" rel="nofollow" aria-label="{bar.label}: {bar.count}">'
        f"<title>{bar.label}: {bar.count:,}</title>"
        f'<rect x="{10 * place + 1}" y="{100 - bar.height}" width="8" height="{bar.height}"/></a>'
        for place, bar in enumerate(bars)
        if bar.count
    ]
    return "".join(drawn)


def _sorts(choices: Iterable[Choice]) -> str:
    """Return the orders of a list as links."""
    links = [
        f'<a href="{escape(choice.url)}"{_CURRENT if choice.chosen else ""}>{escape(choice.label)}</a>'
        for choice in choices
    ]
    return (
        '<nav class="sorts small" aria-label="Order"><span class="quiet">Order:</span>\n'
        f"{''.join(links)}\n</nav>\n"
    )


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""


def _marked_up(draw: Callable[..., str]) -> Callable[..., Markup]:
    return lambda *values: Markup(draw(*values))  # noqa: S704 - every text in it is escaped where it is drawn


_CURRENT = ' aria-current="true"'
_FILTERS: Mapping[str, Any] = {
    "milliseconds": _milliseconds,
    "iso_time": iso_time,
    "day": day,
    "readable": readable,
    "key": to_key,
    "kind_url": lambda kind: search_url(field_query("type", kind)),
    "hits": _marked_up(_hits),
    "year_bars": _marked_up(_year_bars),
    "sorts": _marked_up(_sorts),
    "host": _host,
    "certainty": _marked_up(certainty),
    "evidence": _marked_up(evidence),
}


def now() -> float:
    return time.time()

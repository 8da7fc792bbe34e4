"""A search as it is shown: what was asked, how it was read, what was found, and where one can go from there."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote_plus, urlencode

from trailmark.organise.search.answer import DEEPEST, FACETS, SORTS, Answer, Hit, Piece, SearchRequest, Sort
from trailmark.record_kinds import KINDS
from trailmark.serve.portal.addresses import record_url
from trailmark.serve.portal.topics import TopicMap
from trailmark.serve.web.errors import BadRequest

PAGE_SIZE = 10
MOST_A_PAGE = 100
MOST_FILTERS = 10
FACET_VALUES = 20
SORT_LABELS: dict[Sort, str] = {
    "relevance": "relevance",
    "log-tf": "word frequency",
    "cited": "citations",
    "authority": "seminal",
    "hub": "survey",
    "newest": "newest",
    "oldest": "oldest",
    "added": "last added",
}
FACET_LABELS = {field.name: field.shown for kind in KINDS.values() for field in kind.with_role("facet")} | {
    "topic": "Topic", "year": "Year", "venue": "Venue", "site": "Site", "type": "Type",
}  # fmt: skip

Filters = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class TopicLink:
    name: str
    url: str


@dataclass(frozen=True, slots=True)
class HitView:
    """A record that was found."""

    kind: str
    id: str
    url: str
    title: str
    title_pieces: tuple[Piece, ...]
    snippet: tuple[Piece, ...]
    people: tuple[str, ...]
    venue: str
    year: int | None
    site: str
    topics: tuple[TopicLink, ...]
    cited: int
    authority: float
    hub: float
    score: float


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that may be chosen: a value of a facet, an order, a page."""

    label: str
    url: str
    count: int | None = None
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Facet:
    name: str
    label: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class SearchView:
    """`cursor` asks for the next page; there is none on the last one. `cited_only` of the `total` are not held."""

    query: str
    read_as: str
    total: int
    cited_only: int
    milliseconds: float
    page: int
    pages: int
    sort: str
    sorts: tuple[Choice, ...]
    filters: tuple[Choice, ...]
    facets: tuple[Facet, ...]
    hits: tuple[HitView, ...]
    some_words: bool
    did_you_mean: Choice | None
    previous_url: str
    next_url: str
    cursor: str
    feed_url: str
    json_url: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A search as its address puts it."""

    query: str = ""
    sort: Sort = "relevance"
    filters: Filters = ()
    page: int = 1
    limit: int = PAGE_SIZE

    def request(self, facets: tuple[str, ...] = FACETS) -> SearchRequest:
        offset = min((self.page - 1) * self.limit, DEEPEST)
        return SearchRequest(self.query, self.sort, offset, self.limit, facets, self.filters, FACET_VALUES)

    def url(self, path: str = "/search") -> str:
        """One address for one search: what is as usual is left out, and filters come last."""
        chosen = [("q", self.query)] if self.query or path == "/search" else []
        usual = (("sort", self.sort, "relevance"), ("page", self.page, 1), ("limit", self.limit, PAGE_SIZE))
        chosen += [(name, str(value)) for name, value, normal in usual if value != normal]
        chosen += [("filter", f"{name}:{value}") for name, value in self.filters]
        return f"{path}?{urlencode(chosen)}" if chosen else path


def read_asked(query: str, sort: str, filters: Sequence[str], page: int, limit: int, cursor: str) -> Asked:
    """Take the parameters of an address; what cannot be is told."""
    if sort not in SORTS:
        raise BadRequest(f"sort must be one of {', '.join(SORTS)}.")
    known = next(each for each in SORTS if each == sort)
    if len(filters) > MOST_FILTERS:
        raise BadRequest(f"At most {MOST_FILTERS} filters may be chosen.")
    asked = Asked(query, known, tuple(map(_filter, filters)), page, limit)
    return replace(asked, page=from_cursor(cursor)) if cursor else asked


def _filter(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not (name and colon and value):
        raise BadRequest("filter must be the name of a facet, a colon and a value: filter=year:1999")
    return name, value


def to_cursor(page: int) -> str:
    return urlsafe_b64encode(f"page {page}".encode()).decode().rstrip("=")


def from_cursor(cursor: str) -> int:
    """The page that a cursor stands for."""
    try:
        word, _, number = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode().partition(" ")
        page = int(number) if word == "page" and len(number) < 7 and number.isdecimal() else 0
    except ValueError:
        page = 0
    if page < 1 or to_cursor(page) != cursor:
        raise BadRequest("cursor is not one that this server gave.")
    return page


def hit_view(hit: Hit, topics: TopicMap) -> HitView:
    nodes = [node for path in hit.topics if (node := topics.of(path))]
    return HitView(
        hit.kind, hit.id, record_url(hit.kind, hit.id), hit.title or hit.id, hit.title_pieces, hit.snippet,
        hit.people, hit.venue, hit.year, hit.site, tuple(TopicLink(node.name, node.url) for node in nodes),
        hit.cited, hit.authority, hit.hub, hit.score,
    )  # fmt: skip


def search_view(asked: Asked, answer: Answer, topics: TopicMap) -> SearchView:
    first = replace(asked, page=1)
    reachable = min(answer.total, DEEPEST)
    more = answer.next_offset is not None
    meant = answer.did_you_mean
    return SearchView(
        query=asked.query,
        read_as=answer.read_as,
        total=answer.total,
        cited_only=answer.cited_only,
        milliseconds=round(answer.milliseconds, 2),
        page=asked.page,
        pages=max(1, -(-reachable // asked.limit)),
        sort=asked.sort,
        sorts=tuple(
            Choice(label, replace(first, sort=name).url(), chosen=name == asked.sort)
            for name, label in SORT_LABELS.items()
        ),
        filters=tuple(
            Choice(f"{FACET_LABELS.get(name, _label(name))}: {value}", _without(first, (name, value)).url())
            for name, value in asked.filters
        ),
        facets=tuple(
            _facet(first, name, found)
            for name, found in answer.facets.items()
            if _is_of_use(first, name, found)
        ),
        hits=tuple(hit_view(hit, topics) for hit in answer.hits),
        some_words=answer.some_words,
        did_you_mean=Choice(meant, replace(first, query=meant).url()) if meant else None,
        previous_url=replace(asked, page=asked.page - 1).url() if asked.page > 1 else "",
        next_url=replace(asked, page=asked.page + 1).url() if more else "",
        cursor=to_cursor(asked.page + 1) if more else "",
        feed_url=replace(first, sort="relevance", limit=PAGE_SIZE).url("/search.atom"),
        json_url=asked.url("/search.json"),
    )


def _is_of_use(first: Asked, name: str, found: Sequence[tuple[str, int]]) -> bool:
    """Whether a facet parts the results: it has several values and, if a kind declares it, some record share one."""
    if any(name == chosen for chosen, _ in first.filters):
        return bool(found)
    return len(found) > 1 and (name in FACETS or max(count for _, count in found) > 1)


def _facet(first: Asked, name: str, found: Sequence[tuple[str, int]]) -> Facet:
    here = first.url()  # one more filter is added at its end, which is quicker than putting it all together
    choices = []
    for value, count in found:
        chosen = (name, value) in first.filters
        url = (
            _without(first, (name, value)).url()
            if chosen
            else f"{here}&filter={quote_plus(f'{name}:{value}')}"
        )
        choices.append(Choice(value, url, count, chosen))
    return Facet(name, FACET_LABELS.get(name, _label(name)), tuple(choices))


def _label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _without(asked: Asked, dropped: tuple[str, str]) -> Asked:
    return replace(asked, filters=tuple(each for each in asked.filters if each != dropped))

"""The collection as a whole: the home page, ways to browse it, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated
from urllib.parse import quote, urlsplit

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from wayhound.app.papers.works import CITED_ONLY
from wayhound.portal.addresses import field_query, outside_url, search_url
from wayhound.portal.library import Library, TopicNode
from wayhound.portal.portal import Choice, Portal
from wayhound.portal.record_pages import Card, card_of
from wayhound.portal.search_pages import PageNumber, SearchParameters, value_text
from wayhound.record_kinds import PAPERS_AND_DOCUMENTS
from wayhound.search.query import terms
from wayhound.search.results import SearchRequest
from wayhound.web.pages import NotFound
from wayhound.wording.quantities import count

NEWEST = 6
ON_HOME = 12  # values of a facet on the home page
ON_BROWSE = 24  # and on the page that shows all facets
A_PAGE = 300  # values on the page of one facet
MOST_VALUES = 20_000  # of one facet that are counted
MOST_SITES = 200  # listed on the page about the collection
CITED_ONLY_URL = SearchParameters("", "cited", (("type", CITED_ONLY),)).url()
_LONG = 4  # letters of a word that says something
_FIELDS = "author title abstract body reference venue journal doi topic site type".split()  # of papers
_HIDDEN = frozenset({"topic", "type", "file_type", "reason"})  # topics and kinds have lists of their own


@dataclass(frozen=True, slots=True)
class QueryExample:
    query: str
    meaning: str
    url: str


@dataclass(frozen=True, slots=True)
class TopicCount:
    name: str
    url: str
    count: int
    children: tuple[TopicCount, ...] = ()


@dataclass(frozen=True, slots=True)
class FacetList:
    """A facet with its most frequent values, or a page of all of them."""

    name: str
    label: str
    url: str
    total: int
    values: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class Home:
    """`cited_only_url` lists the works that papers cite and that are not here; empty if there are none."""

    name: str
    tagline: str
    counts: dict[str, int]
    examples: tuple[QueryExample, ...]
    topics: tuple[TopicCount, ...]
    facets: tuple[FacetList, ...]
    newest: tuple[Card, ...]
    cited_only_url: str


@dataclass(frozen=True, slots=True)
class Browse:
    kinds: tuple[Choice, ...]
    topics: tuple[TopicCount, ...]
    facets: tuple[FacetList, ...]


@dataclass(frozen=True, slots=True)
class BrowseFacet:
    """All values of a facet in alphabetical order, a page at a time; `starts` narrows them."""

    facet: FacetList
    starts: str
    page: int
    pages: int
    previous_url: str
    next_url: str
    json_url: str


# Facets and topics


def facet_lists(library: Library, names: Sequence[str], most: int) -> tuple[FacetList, ...]:
    """Return the facets among `names` that have values, each with its `most` frequent ones."""
    counted = facet_counts(library, names)
    return tuple(
        FacetList(
            name,
            library.facet_label(name),
            f"/browse/{quote(name)}",
            len(values),
            tuple(_value_choice(library, name, *entry) for entry in values[:most]),
        )
        for name, values in counted.items()
        if values
    )


def facet_counts(library: Library, names: Sequence[str]) -> dict[str, list[tuple[str, int]]]:
    request = SearchRequest("", limit=1, facets=tuple(names), facet_values=MOST_VALUES)
    return dict(library.index.search(request).facets)


def _value_choice(library: Library, name: str, value: str, count: int) -> Choice:
    url = SearchParameters(filters=((name, value),)).url()
    return Choice(value, url, count, text=value_text(library, name, value))


def topic_counts(node: TopicNode, depth: int) -> tuple[TopicCount, ...]:
    """Return the topics below one, so many levels of them."""
    if depth == 0:
        return ()
    return tuple(
        TopicCount(child.name, child.url, child.count, topic_counts(child, depth - 1))
        for child in node.children
    )


def _top_topics(library: Library) -> tuple[TopicCount, ...]:
    """Return two levels of topics with papers; if no topic has any, all of them."""
    root = library.topics().root
    while len(root.children) == 1 and root.children[0].children:  # one topic above all others says nothing
        root = root.children[0]
    topics = topic_counts(root, 2)
    return tuple(map(_without_empty, filter(_has_papers, topics))) or topics


def _has_papers(topic: TopicCount) -> bool:
    return topic.count > 0


def _without_empty(topic: TopicCount) -> TopicCount:
    return replace(topic, children=tuple(filter(_has_papers, topic.children)))


# The home page


def home_view(library: Library, name: str) -> Home:
    stamps = library.stores.catalogue.newest(NEWEST)
    records = [library.find(stamp.kind, stamp.id) for stamp in stamps]
    cards = tuple(card_of(record, library.spec(record.kind), 160) for record in records if record)
    counts = dict(sorted(library.counts().items(), key=lambda entry: -entry[1]))
    has_papers = any(kind in counts for kind in PAPERS_AND_DOCUMENTS)
    topics = _top_topics(library) if has_papers or not library.topics().is_empty else ()
    return Home(
        name=name,
        tagline=_tagline(library, counts),
        counts=counts,
        examples=tuple(
            QueryExample(query, meaning, search_url(query)) for query, meaning in _examples(cards)
        ),
        topics=topics,
        facets=facet_lists(library, _home_facets(counts, has_topics=bool(topics)), ON_HOME),
        newest=cards,
        cited_only_url=CITED_ONLY_URL if library.has_cited_only() else "",
    )


def _home_facets(counts: dict[str, int], *, has_topics: bool) -> tuple[str, ...]:
    """Return the facets that introduce a collection: pages by label and site, papers without topics by venue."""
    if "page" in counts:
        return ("label", "site")
    return () if has_topics or not counts else ("venue", "site", "year")


def _examples(cards: tuple[Card, ...]) -> Iterator[tuple[str, str]]:
    """Yield queries in words of this collection, so that every example finds something."""
    card = next((card for card in cards if len(_long_words(card.title)) > 1), None)
    first, second = _long_words(card.title)[:2] if card else ("hidden", "markov")
    yield f"{first} {second}", "records that hold both words"
    yield f'"{" ".join(terms(card.title)[:2]) if card else "citation index"}"', "the words as a phrase"
    yield from _field_examples(cards)
    yield f"+{first} -index", "the first word must be there, the other must not"
    yield f"{first} OR crawler", "either of the words"
    yield f"{first[:_LONG]}*", "words that begin like this"


def _field_examples(cards: tuple[Card, ...]) -> Iterator[tuple[str, str]]:
    """Yield queries by field: authors and years if there are papers, sites if there are pages."""
    page = next((card for card in cards if card.site), None)
    named = next((card for card in cards if card.people), None)
    if named or not page:
        family = (terms(named.people[0]) if named else ["knuth"])[-1]
        years = [int(card.year) for card in cards if card.year.isdecimal() and len(card.year) == 4]
        oldest, latest = (min(years), max(years)) if years else (1998, 2003)
        yield f"author:{family}", f"in one field: {', '.join(_FIELDS)}"
        yield f"year:{oldest}..{latest}", f"a range of years; year:{latest}.. means since {latest}"
    if page:
        host = urlsplit(page.site).hostname or page.site
        yield field_query("site", host), "pages of one site; label: and type: work in the same way"


def _long_words(title: str) -> list[str]:
    return [word for word in dict.fromkeys(terms(title)) if len(word) >= _LONG and word.isalpha()]


def _tagline(library: Library, counts: dict[str, int]) -> str:
    """Return what the collection holds: `12 papers and 40 pages from 9 sites`."""
    specs = {kind: library.spec(kind) for kind in counts}
    parts = [count(n, specs[kind].label.lower(), specs[kind].plural.lower()) for kind, n in counts.items()]
    *most, last = parts or ["An empty collection"]
    sites = len(facet_counts(library, ("site",)).get("site", ())) if "page" in counts else 0
    origin = f" from {count(sites, 'site')}" if sites else ""
    return f"{', '.join(most)} and {last}{origin}" if most else f"{last}{origin}"


# Browsing


def browse_view(library: Library) -> Browse:
    counts = sorted(library.counts().items(), key=lambda entry: -entry[1])
    kinds = tuple(
        Choice(kind, SearchParameters(filters=(("type", kind),)).url(), count, text=library.spec(kind).plural)
        for kind, count in counts
    )
    names = [name for name in library.facet_names() if name not in _HIDDEN]
    return Browse(kinds, _top_topics(library), facet_lists(library, names, ON_BROWSE))


def browse_facet_view(library: Library, name: str, starts: str, page: int) -> BrowseFacet:
    if name not in library.facet_names() or name == "type":
        raise NotFound("This collection cannot be browsed by that.")
    counted = facet_counts(library, (name,)).get(name, [])
    wanted = [entry for entry in counted if entry[0].casefold().startswith(starts.casefold())]
    wanted.sort(key=lambda entry: entry[0].casefold(), reverse=name == "year")
    pages = max(1, -(-len(wanted) // A_PAGE))
    values = wanted[(page - 1) * A_PAGE : page * A_PAGE]
    url = f"/browse/{quote(name)}"
    return BrowseFacet(
        FacetList(
            name,
            library.facet_label(name),
            url,
            len(wanted),
            tuple(_value_choice(library, name, *entry) for entry in values),
        ),
        starts,
        page,
        pages,
        previous_url=_browse_url(url, starts, page - 1) if page > 1 else "",
        next_url=_browse_url(url, starts, page + 1) if page < pages else "",
        json_url=_browse_url(f"{url}.json", starts, page),
    )


def _browse_url(path: str, starts: str, page: int) -> str:
    pairs = [f"starts={quote(starts)}"] if starts else []
    pairs += [f"page={page}"] if page > 1 else []
    return f"{path}?{'&'.join(pairs)}" if pairs else path


FacetName = Annotated[str, Path(max_length=200, description="The name of a facet, such as site or label.")]
Starts = Annotated[str, Query(max_length=200, description="Only values that begin like this.")]


def home_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["pages"])
    readers = portal.readers

    @router.get("/", response_class=HTMLResponse)
    async def home(request: Request) -> Response:
        view = await readers.run(lambda library: home_view(library, portal.settings.name))
        return portal.html(request, "home.html", view, json_url="/index.json")

    @router.get("/index.json", response_model=Home)
    async def home_json(request: Request) -> Response:
        view = await readers.run(lambda library: home_view(library, portal.settings.name))
        return portal.json(request, view)

    @router.get("/browse", response_class=HTMLResponse)
    async def browse(request: Request) -> Response:
        view = await readers.run(browse_view)
        return portal.html(request, "browse.html", view, json_url="/browse.json")

    @router.get("/browse.json", response_model=Browse)
    async def browse_json(request: Request) -> Response:
        return portal.json(request, await readers.run(browse_view))

    @router.get("/browse/{name}.json", response_model=BrowseFacet)
    async def browse_facet_json(
        request: Request, name: FacetName, starts: Starts = "", page: PageNumber = 1
    ) -> Response:
        view = await readers.run(lambda library: browse_facet_view(library, name, starts, page))
        return portal.json(request, view)

    @router.get("/browse/{name}", response_class=HTMLResponse)
    async def browse_facet(
        request: Request, name: FacetName, starts: Starts = "", page: PageNumber = 1
    ) -> Response:
        if name == "topic":
            return RedirectResponse("/topics")
        view = await readers.run(lambda library: browse_facet_view(library, name, starts, page))
        return portal.html(request, "browse_facet.html", view, json_url=view.json_url)

    return router


# About the collection


@dataclass(frozen=True, slots=True)
class SourceSite:
    """A site that was foraged, and when it was last visited."""

    start: str
    url: str
    pages: int
    last_visit: float | None


@dataclass(frozen=True, slots=True)
class KindCount:
    kind: str
    label: str
    count: int


@dataclass(frozen=True, slots=True)
class About:
    name: str
    agent: str
    contact: str
    contact_url: str
    counts: tuple[KindCount, ...]
    sites: tuple[SourceSite, ...]
    site_count: int
    first_visit: float | None
    last_visit: float | None


def about_view(library: Library, portal: Portal) -> About:
    settings = portal.settings
    sites = library.sites()
    visits = [site.last_visit for site in sites if site.last_visit]
    counts = [KindCount(kind, library.spec(kind).plural, count) for kind, count in library.counts().items()]
    shown = [SourceSite(site.start, outside_url(site.start), site.pages, site.last_visit) for site in sites]
    contact = settings.contact
    return About(
        name=settings.name,
        agent=settings.agent,
        contact=contact,
        contact_url=outside_url(contact) or (f"mailto:{contact}" if "@" in contact else ""),
        counts=tuple(counts),
        sites=tuple(shown[:MOST_SITES]),
        site_count=len(shown),
        first_visit=min(visits, default=None),
        last_visit=max(visits, default=None),
    )


def about_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["pages"])

    @router.get("/about", response_class=HTMLResponse)
    async def about(request: Request) -> Response:
        view = await portal.readers.run(lambda library: about_view(library, portal))
        return portal.html(request, "about.html", view, json_url="/about.json")

    @router.get("/about.json", response_model=About)
    async def about_json(request: Request) -> Response:
        return portal.json(request, await portal.readers.run(lambda library: about_view(library, portal)))

    return router

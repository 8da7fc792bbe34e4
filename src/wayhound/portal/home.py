"""About the collection: where it comes from, when it was gathered, and whom to ask."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from wayhound.app.papers.works import CITED_ONLY
from wayhound.portal.addresses import outside_url, search_url
from wayhound.portal.library import Library
from wayhound.portal.portal import Portal
from wayhound.portal.record_view import Card, card_of
from wayhound.portal.search_pages import Asked
from wayhound.portal.topics import TopicNode
from wayhound.search.query import terms

NEWEST = 6
CITED_ONLY_URL = Asked("", "cited", (("type", CITED_ONLY),)).url()
_LONG = 4  # letters of a word that says something


@dataclass(frozen=True, slots=True)
class Example:
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
class Home:
    name: str
    tagline: str
    counts: dict[str, int]
    examples: tuple[Example, ...]
    topics: tuple[TopicCount, ...]
    newest: tuple[Card, ...]
    cited_only_url: str  # the works that papers here cite and none of them is; empty where there are none


def topic_counts(node: TopicNode, depth: int) -> tuple[TopicCount, ...]:
    """The topics below one, so many levels of them."""
    if depth == 0:
        return ()
    return tuple(
        TopicCount(child.name, child.url, child.count, topic_counts(child, depth - 1))
        for child in node.children
    )


def home_view(library: Library, name: str) -> Home:
    stamps = library.catalogue.newest(NEWEST)
    found = [library.records.get(stamp.kind, stamp.id) for stamp in stamps]
    cards = tuple(card_of(record, library.spec(record.kind), 160) for record in found if record)
    examples = tuple(Example(query, meaning, search_url(query)) for query, meaning in _examples(cards))
    root = library.topics().root
    while len(root.children) == 1 and root.children[0].children:  # one topic above all others says nothing
        root = root.children[0]
    counts = dict(sorted(library.counts().items(), key=lambda entry: -entry[1]))
    topics = tuple(map(_without_empty, filter(_has_papers, topic_counts(root, 2)))) or topic_counts(root, 2)
    works = CITED_ONLY_URL if library.has_cited_only() else ""
    return Home(name, _tagline(library, counts), counts, examples, topics, cards, works)


def _examples(cards: tuple[Card, ...]) -> Iterator[tuple[str, str]]:
    """How to ask, in words of this collection where it has any, so that every example finds something."""
    named = next((card for card in cards if card.people and len(_long_words(card.title)) > 1), None)
    first, second = _long_words(named.title)[:2] if named else ("hidden", "markov")
    family = (terms(named.people[0]) if named else ["knuth"])[-1]
    years = [int(card.year) for card in cards if card.year.isdecimal() and len(card.year) == 4] or [
        1998,
        2003,
    ]
    yield f"{first} {second}", "records that hold both words"
    yield f'"{_phrase(named.title) if named else "citation index"}"', "the words as a phrase"
    yield f"author:{family}", "in one field: author, title, venue, topic, site, type"
    yield (
        f"year:{min(years)}..{max(years)}",
        f"from one year to another; year:{max(years)}.. is since {max(years)}",
    )
    yield f"+{first} -index", "the one must be there, the other must not"
    yield f"{first} OR crawler", "either of them"
    yield f"{first[:_LONG]}*", "words that begin so"


def _long_words(title: str) -> list[str]:
    return [word for word in dict.fromkeys(terms(title)) if len(word) >= _LONG and word.isalpha()]


def _phrase(title: str) -> str:
    return " ".join(terms(title)[:2])


def _has_papers(topic: TopicCount) -> bool:
    return topic.count > 0


def _without_empty(topic: TopicCount) -> TopicCount:
    """Topics that hold nothing are left to the pages of topics."""
    return replace(topic, children=tuple(filter(_has_papers, topic.children)))


def _tagline(library: Library, counts: dict[str, int]) -> str:
    specs = {kind: library.spec(kind) for kind in counts}
    held = [
        f"{count:,} {(specs[kind].label if count == 1 else specs[kind].plural).lower()}"
        for kind, count in counts.items()
    ]
    *most, last = held or ["An empty collection"]
    return f"{', '.join(most)} and {last}" if most else last


def home_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["pages"])

    @router.get("/", response_class=HTMLResponse)
    async def home(request: Request) -> Response:
        view = await portal.readers.ask(lambda library: home_view(library, portal.settings.name))
        return portal.html(request, "home.html", view, json_url="/index.json")

    @router.get("/index.json", response_model=Home)
    async def home_json(request: Request) -> Response:
        view = await portal.readers.ask(lambda library: home_view(library, portal.settings.name))
        return portal.json(request, view)

    return router


MOST_SITES = 200


@dataclass(frozen=True, slots=True)
class SourceSite:
    """A site that was walked, and when it was last visited."""

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
    shown = [SourceSite(each.start, outside_url(each.start), each.pages, each.last_visit) for each in sites]
    contact = settings.contact
    return About(
        settings.name,
        settings.agent,
        contact,
        outside_url(contact) or (f"mailto:{contact}" if "@" in contact else ""),
        tuple(counts),
        tuple(shown[:MOST_SITES]),
        len(shown),
        min(visits, default=None),
        max(visits, default=None),
    )


def about_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["pages"])

    @router.get("/about", response_class=HTMLResponse)
    async def about(request: Request) -> Response:
        view = await portal.readers.ask(lambda library: about_view(library, portal))
        return portal.html(request, "about.html", view, json_url="/about.json")

    @router.get("/about.json", response_model=About)
    async def about_json(request: Request) -> Response:
        return portal.json(request, await portal.readers.ask(lambda library: about_view(library, portal)))

    return router

"""The start page: a search box, the topic tree, what is new."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from trailmark.serve.portal.addresses import search_url
from trailmark.serve.portal.cards import Card, card_of
from trailmark.serve.portal.library import Library
from trailmark.serve.portal.portal import Portal
from trailmark.serve.portal.topics import TopicNode

NEWEST = 6
_EXAMPLES = (
    ("hidden markov", "records that hold both words"),
    ('"citation index"', "the words as a phrase"),
    ("author:knuth", "in one field: author, title, venue, topic, site, type"),
    ("year:1998..2003", "from one year to another; year:2001.. is since 2001"),
    ("+crawl -index", "the one must be there, the other must not"),
    ("spider OR crawler", "either of them"),
    ("learn*", "words that begin so"),
)


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
    examples = tuple(Example(query, meaning, search_url(query)) for query, meaning in _EXAMPLES)
    root = library.topics().root
    while len(root.children) == 1 and root.children[0].children:  # one topic above all others says nothing
        root = root.children[0]
    counts = library.counts()
    topics = tuple(map(_without_empty, filter(_has_papers, topic_counts(root, 2)))) or topic_counts(root, 2)
    return Home(name, _tagline(library, counts), counts, examples, topics, cards)


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

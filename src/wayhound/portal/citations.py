"""Citations of a paper: what it cites, who cites it and in which sentences, and a map of both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from textwrap import wrap
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response

from wayhound.app.papers import overview
from wayhound.app.papers.works import CITED_ONLY
from wayhound.citations.citation import Citation
from wayhound.pages.prose import shorten
from wayhound.portal.addresses import record_url
from wayhound.portal.library import Library
from wayhound.portal.portal import Key, Kind, Portal
from wayhound.record import Record
from wayhound.store.papers import ITSELF, StoredCitation, StoredContext
from wayhound.web.pages import NotFound

_LONGEST_SENTENCE = 600


# What a page has dozens of is not frozen: that takes three times as long to make.


@dataclass(slots=True)
class CitingSentence:
    """A sentence that cites: before the call-out, the call-out, after it."""

    before: str
    callout: str
    after: str
    page: int


@dataclass(slots=True)
class CitedReference:
    """A work that a paper cites. `url` is its page; `id` is that of the paper if it is held, else empty."""

    number: int
    label: str
    text: str
    title: str
    authors: str
    venue: str
    year: str
    url: str
    id: str
    sentences: tuple[CitingSentence, ...] = ()


@dataclass(slots=True)
class CitingWork:
    """A paper that cites, and the sentences in which it does."""

    id: str
    title: str
    url: str
    year: str
    sentences: tuple[CitingSentence, ...] = ()


def references_of(library: Library, paper: str) -> tuple[CitedReference, ...]:
    """Return the references of a paper in its own order."""
    return tuple(_reference(reference) for reference in overview.references_of(library.stores, paper))


def _reference(reference: overview.PaperReference) -> CitedReference:
    stored, cited = reference.citation, reference.citation.citation
    return CitedReference(
        number=stored.number,
        label=stored.label,
        text=cited.all_text,
        title=_title(cited),
        authors=cited.authors.replace(" and ", ", "),
        venue=cited.venue,
        year=cited.year,
        url=work_url(stored, reference.held),
        id=reference.held or "",
        sentences=tuple(map(_sentence, reference.contexts)),
    )


def work_url(reference: StoredCitation, paper_id: str | None) -> str:
    """Return the page of a cited work; a work without a title has none."""
    if paper_id:
        return record_url("paper", paper_id)
    return record_url(CITED_ONLY, str(reference.group)) if reference.citation.title else ""


def citing_a_paper(library: Library, paper: str) -> tuple[tuple[CitingWork, ...], int]:
    """Return the papers of the collection that cite a paper, newest first, and how many there are in all."""
    citing, total = overview.citations_of(library.stores, paper)
    return tuple(map(_citing, citing)), total


def citing_a_work(library: Library, group: int) -> tuple[tuple[CitingWork, ...], int]:
    """Return the same for a work that the collection does not hold."""
    citing, total = overview.citations_of_work(library.stores, group)
    return tuple(map(_citing, citing)), total


def _citing(citing: overview.PaperCitation) -> CitingWork:
    paper = citing.paper
    sentences = tuple(map(_sentence, citing.contexts))
    return CitingWork(
        paper.paper, paper.title or paper.paper, record_url("paper", paper.paper), paper.year, sentences
    )


def _sentence(context: StoredContext) -> CitingSentence:
    text, start, stop = context.sentence[:_LONGEST_SENTENCE], context.start, context.stop
    return CitingSentence(text[:start], text[start:stop], text[stop:], context.page)


def _title(citation: Citation) -> str:
    return citation.title or shorten(citation.all_text, 160)


# The map

RELATIONS = {
    -2: "cites one that cites it",
    -1: "cites it",
    0: "the paper itself",
    1: "is cited by it",
    2: "is cited by one that it cites",
}
SHARES = "cites the same works"
HEADINGS = {-2: "two steps back", -1: "cited by", 0: "", 1: "cites", 2: "two steps on"}

MOST_IN_COLUMN = 40
TOP, MARGIN, GAP = 40, 26, 64  # above all boxes, beside them, and between columns


@dataclass(frozen=True, slots=True)
class BoxSize:
    """The size of a box, the distance from one to the next below, and the text that fits: letters a line, and lines."""

    width: int
    height: int
    row: int
    letters: int
    lines: int

    def text(self, title: str, year: str) -> tuple[str, ...]:
        """Return the lines of a title; on a single line, the year comes first, since it has no line of its own."""
        whole = f"{year} {title}" if year and self.lines == 1 else title
        return tuple(wrap(whole, self.letters, max_lines=self.lines, placeholder=" …"))


LARGE, SMALL = BoxSize(236, 54, 66, 32, 2), BoxSize(330, 24, 29, 46, 1)
_MOST_LARGE = 12  # in a column; if one has more, all boxes are small, so that the map fits on two screens


@dataclass(frozen=True, slots=True)
class MapNode:
    """A paper in the drawing, with the upper left corner of its box; `column` counts steps, backwards below zero.

    `held` is False for a work that is only cited; if not even its title is known, it has no `url`.
    """

    id: str
    title: str
    lines: tuple[str, ...]
    year: str
    url: str
    held: bool
    column: int
    relation: str
    x: int
    y: int


@dataclass(frozen=True, slots=True)
class MapEdge:
    """One paper cites the other; `line` is the path of the SVG."""

    citing: str
    cited: str
    line: str


@dataclass(frozen=True, slots=True)
class MapHeading:
    text: str
    x: int


@dataclass(frozen=True, slots=True)
class CitationMap:
    """`left_out` counts papers within reach that there is no room for."""

    id: str
    title: str
    url: str
    hops: int
    width: int
    height: int
    box: BoxSize
    headings: tuple[MapHeading, ...]
    nodes: tuple[MapNode, ...]
    edges: tuple[MapEdge, ...]
    left_out: int


class _MapWalk:
    """Walks along citations. Works that are cited but not held are named by their group."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._works: dict[str, StoredCitation] = {}
        self._sharing: set[str] = set()

    def cited(self, paper: str) -> list[str]:
        """Return what a paper cites: first what is held, then what most papers here cite as well."""
        papers = self._library.stores.papers
        ranks: dict[str, tuple[bool, int]] = {}
        for reference in papers.citations(paper) if paper not in self._works else ():
            if reference.number != ITSELF:
                paper_id = papers.held(reference.group)
                name = paper_id or self._work(reference)
                ranks[name] = (paper_id is None, 0 if paper_id else -len(self._citing_work(name)))
        return sorted(ranks, key=lambda name: ranks[name])

    def _work(self, reference: StoredCitation) -> str:
        name = f"work {reference.group}"
        self._works.setdefault(name, reference)
        return name

    def citing(self, paper: str) -> list[str]:
        return list(dict.fromkeys(citing.paper for citing in self._library.stores.papers.cited_by(paper)))

    def _citing_work(self, name: str) -> list[str]:
        citing, _ = self._library.stores.citations.citing_work(self._works[name].group, MOST_IN_COLUMN)
        return [paper.paper for paper in citing]

    def sharing(self, works: list[str]) -> list[str]:
        """Return papers that cite works which are not held, those first that cite most of them."""
        shared = Counter(paper for work in works if work in self._works for paper in self._citing_work(work))
        self._sharing |= set(shared)
        return [paper for paper, _ in shared.most_common()]

    def beyond(self, cited: list[str]) -> list[str]:
        """Return what is two steps on: what the cited works cite, and then who else cites the same."""
        return [other for work in cited for other in self.cited(work)] + self.sharing(cited)

    def columns(self, paper: str, hops: int) -> tuple[dict[int, list[str]], int]:
        """Walk breadth first in both directions; a paper is put in the first column in which it is met."""
        columns, left_out = {0: [paper]}, 0
        for step in range(1, hops + 1):
            for side in (-1, 1):
                met = set(chain.from_iterable(columns.values()))
                reached = dict.fromkeys(self._next(columns[side * (step - 1)], side))
                new = [other for other in reached if other not in met]
                columns[side * step] = new[:MOST_IN_COLUMN]
                left_out += max(0, len(new) - MOST_IN_COLUMN)
        return {column: names for column, names in sorted(columns.items()) if names}, left_out

    def _next(self, before: list[str], side: int) -> list[str]:
        if side < 0:
            return [other for name in before for other in self.citing(name)]
        return self.beyond(before)

    def node(self, name: str, column: int, box: BoxSize, x: int, y: int) -> MapNode:
        title, year, url = self._about(name)
        return MapNode(
            id=name,
            title=title,
            lines=box.text(title, year[:9]),
            year=year[:9],
            url=url,
            held=name not in self._works,
            column=column,
            relation=SHARES if column > 1 and name in self._sharing else RELATIONS[column],
            x=x,
            y=y,
        )

    def _about(self, name: str) -> tuple[str, str, str]:
        """Return title, year and address."""
        if work := self._works.get(name):
            return work.citation.title or work.citation.all_text, work.citation.year, work_url(work, None)
        record = self._library.find("paper", name)
        title = self._library.title(record) if record else name
        return title, record.first("year") if record else "", record_url("paper", name)

    def edges(self, nodes: list[MapNode], box: BoxSize) -> Iterator[MapEdge]:
        places = {node.id: node for node in nodes}
        for node in nodes:
            for cited in self.cited(node.id):
                if cited in places and cited != node.id:
                    yield MapEdge(node.id, cited, _line(node, places[cited], box))


def citation_map_of(library: Library, paper: Record, hops: int) -> CitationMap:
    walk = _MapWalk(library)
    columns, left_out = walk.columns(paper.id, hops)
    rows = max(map(len, columns.values()))
    box = LARGE if rows <= _MOST_LARGE else SMALL
    nodes = _laid_out(walk, columns, box)
    x_of = {node.column: node.x for node in nodes}
    return CitationMap(
        id=paper.id,
        title=library.title(paper),
        url=record_url("paper", paper.id),
        hops=hops,
        width=(box.width + GAP) * (len(x_of) - 1) + box.width + 2 * MARGIN,
        height=TOP + box.row * rows,
        box=box,
        headings=tuple(_heading(nodes, column, x) for column, x in x_of.items() if HEADINGS[column]),
        nodes=tuple(nodes),
        edges=tuple(walk.edges(nodes, box)),
        left_out=left_out,
    )


def _heading(nodes: list[MapNode], column: int, x: int) -> MapHeading:
    all_share = all(node.relation == SHARES for node in nodes if node.column == column)
    return MapHeading("cite the same works" if all_share else HEADINGS[column], x)


def _laid_out(walk: _MapWalk, columns: dict[int, list[str]], box: BoxSize) -> list[MapNode]:
    """Return nodes in columns side by side, each centred on the tallest."""
    rows = max(map(len, columns.values()))
    nodes = []
    for across, (column, names) in enumerate(columns.items()):
        x, first = MARGIN + (box.width + GAP) * across, TOP + box.row * (rows - len(names)) // 2
        for down, name in enumerate(names):
            nodes.append(walk.node(name, column, box, x, first + box.row * down))
    return nodes


def _line(start: MapNode, end: MapNode, box: BoxSize) -> str:
    """Return a curve from side to side; within a column it swings out to the left."""
    y_start, y_end = start.y + box.height // 2, end.y + box.height // 2
    if start.x == end.x:
        return f"M{start.x} {y_start} C{start.x - 24} {y_start} {end.x - 24} {y_end} {end.x} {y_end}"
    forward = end.x > start.x
    x_start, x_end = (start.x + box.width, end.x) if forward else (start.x, end.x + box.width)
    middle = (x_start + x_end) // 2
    return f"M{x_start} {y_start} C{middle} {y_start} {middle} {y_end} {x_end} {y_end}"


Hops = Annotated[int, Query(ge=1, le=2, description="Steps from the paper, in both directions.")]


def map_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["citations"])

    def read(library: Library, kind: str, key: str, hops: int) -> CitationMap:
        paper = library.at(kind, key)
        if paper.kind != "paper":
            raise NotFound("Only papers have a citation map.")
        return citation_map_of(library, paper, hops)

    @router.get("/records/{kind}/{key}/map.json", response_model=CitationMap)
    async def map_json(request: Request, kind: Kind, key: Key, hops: Hops = 1) -> Response:
        return portal.json(request, await portal.readers.run(lambda library: read(library, kind, key, hops)))

    @router.get("/records/{kind}/{key}/map", response_class=HTMLResponse)
    async def citation_map(request: Request, kind: Kind, key: Key, hops: Hops = 1) -> Response:
        view = await portal.readers.run(lambda library: read(library, kind, key, hops))
        return portal.html(request, "map.html", view, json_url=f"{view.url}/map.json?hops={hops}")

    return router

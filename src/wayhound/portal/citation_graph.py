"""The citation map of a paper: a drawing, and a table that says the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from textwrap import wrap
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response

from wayhound.portal.addresses import record_url
from wayhound.portal.citation_map import work_url
from wayhound.portal.library import Library
from wayhound.portal.portal import Portal
from wayhound.portal.record_pages import Key, Kind, find_paper
from wayhound.record import Record
from wayhound.store.papers import ITSELF, StoredCitation

RELATIONS = {
    -2: "cites one that cites it",
    -1: "cites it",
    0: "the paper itself",
    1: "is cited by it",
    2: "is cited by one that it cites",
}
SHARES = "cites the same works"
HEADINGS = {-2: "two steps back", -1: "cited by", 0: "", 1: "cites", 2: "two steps on"}

MOST_IN_COLUMN = 12
COLUMN, ROW, TOP, MARGIN = 300, 66, 40, 26
BOX_WIDTH, BOX_HEIGHT = 236, 54
_LINE, _LINES = 32, 2  # letters of a title that fit into a line of a box, and lines


@dataclass(frozen=True, slots=True)
class Node:
    """A paper in the drawing, with the upper left corner of its box; `column` counts steps, backwards below zero.

    `held` is False of a work that is only cited; where not even its title is known, it has no `url`.
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
class Edge:
    """One paper cites the other; `line` is how it is drawn."""

    citing: str
    cited: str
    line: str


@dataclass(frozen=True, slots=True)
class Heading:
    text: str
    x: int


@dataclass(frozen=True, slots=True)
class Graph:
    """`left_out` counts papers within reach that there is no room for."""

    id: str
    title: str
    url: str
    hops: int
    width: int
    height: int
    headings: tuple[Heading, ...]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    left_out: int


class _Walk:
    """Walks along citations. Works that are cited but not held are named by their group."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._works: dict[str, StoredCitation] = {}
        self._sharing: set[str] = set()

    def cited(self, paper: str) -> list[str]:
        """What a paper cites: first what is held, then what most papers here cite as well."""
        found: dict[str, tuple[bool, int]] = {}
        for each in self._library.papers.citations(paper) if paper not in self._works else ():
            if each.number != ITSELF:
                held = self._library.papers.held(each.group)
                name = held or self._work(each)
                found[name] = (held is None, 0 if held else -len(self._citing_work(name)))
        return sorted(found, key=lambda name: found[name])

    def _work(self, each: StoredCitation) -> str:
        name = f"work {each.group}"
        self._works.setdefault(name, each)
        return name

    def citing(self, paper: str) -> list[str]:
        return list(dict.fromkeys(each.paper for each in self._library.papers.cited_by(paper)))

    def _citing_work(self, name: str) -> list[str]:
        found, _ = self._library.workspace.stores.citations.citing_work(
            self._works[name].group, MOST_IN_COLUMN
        )
        return [each.paper for each in found]

    def sharing(self, works: list[str]) -> list[str]:
        """Papers that cite works which are not held, those first that cite most of them."""
        shared = Counter(paper for work in works if work in self._works for paper in self._citing_work(work))
        self._sharing |= set(shared)
        return [paper for paper, _ in shared.most_common()]

    def beyond(self, cited: list[str]) -> list[str]:
        """What lies two steps on: what those that it cites cite, and then who else cites the same."""
        return [other for each in cited for other in self.cited(each)] + self.sharing(cited)

    def columns(self, paper: str, hops: int) -> tuple[dict[int, list[str]], int]:
        """Breadth first in both directions; a paper stands in the first column in which it is met."""
        columns, left_out = {0: [paper]}, 0
        for step in range(1, hops + 1):
            for side in (-1, 1):
                met = set(chain.from_iterable(columns.values()))
                found = dict.fromkeys(self._next(columns[side * (step - 1)], side))
                new = [other for other in found if other not in met]
                columns[side * step] = new[:MOST_IN_COLUMN]
                left_out += max(0, len(new) - MOST_IN_COLUMN)
        return {column: names for column, names in sorted(columns.items()) if names}, left_out

    def _next(self, before: list[str], side: int) -> list[str]:
        if side < 0:
            return [other for each in before for other in self.citing(each)]
        return self.beyond(before)

    def node(self, name: str, column: int, x: int, y: int) -> Node:
        title, year, url = self._about(name)
        lines = tuple(wrap(title, _LINE, max_lines=_LINES, placeholder=" …"))
        relation = SHARES if column > 1 and name in self._sharing else RELATIONS[column]
        return Node(name, title, lines, year[:9], url, name not in self._works, column, relation, x, y)

    def _about(self, name: str) -> tuple[str, str, str]:
        """Title, year and address."""
        if work := self._works.get(name):
            return work.citation.title or work.citation.all_text, work.citation.year, work_url(work, None)
        record = self._library.records.get("paper", name)
        title = self._library.title(record) if record else name
        return title, record.first("year") if record else "", record_url("paper", name)

    def edges(self, nodes: list[Node]) -> Iterator[Edge]:
        places = {node.id: node for node in nodes}
        for node in nodes:
            for cited in self.cited(node.id):
                if cited in places and cited != node.id:
                    yield Edge(node.id, cited, _line(node, places[cited]))


def graph_of(library: Library, paper: Record, hops: int) -> Graph:
    walk = _Walk(library)
    columns, left_out = walk.columns(paper.id, hops)
    nodes = _placed(walk, columns)
    x_of = {node.column: node.x for node in nodes}
    return Graph(
        id=paper.id,
        title=library.title(paper),
        url=record_url("paper", paper.id),
        hops=hops,
        width=COLUMN * (len(x_of) - 1) + BOX_WIDTH + 2 * MARGIN,
        height=TOP + ROW * max(map(len, columns.values())),
        headings=tuple(_heading(nodes, column, x) for column, x in x_of.items() if HEADINGS[column]),
        nodes=tuple(nodes),
        edges=tuple(walk.edges(nodes)),
        left_out=left_out,
    )


def _heading(nodes: list[Node], column: int, x: int) -> Heading:
    all_share = all(node.relation == SHARES for node in nodes if node.column == column)
    return Heading("cite the same works" if all_share else HEADINGS[column], x)


def _placed(walk: _Walk, columns: dict[int, list[str]]) -> list[Node]:
    """Columns side by side, each centred on the tallest."""
    rows = max(map(len, columns.values()))
    nodes = []
    for across, (column, names) in enumerate(columns.items()):
        first = TOP + ROW * (rows - len(names)) // 2
        for down, name in enumerate(names):
            nodes.append(walk.node(name, column, MARGIN + COLUMN * across, first + ROW * down))
    return nodes


def _line(start: Node, end: Node) -> str:
    """A curve from side to side; within a column it swings out to the left."""
    y_start, y_end = start.y + BOX_HEIGHT // 2, end.y + BOX_HEIGHT // 2
    if start.x == end.x:
        return f"M{start.x} {y_start} C{start.x - 24} {y_start} {end.x - 24} {y_end} {end.x} {y_end}"
    forward = end.x > start.x
    x_start, x_end = (start.x + BOX_WIDTH, end.x) if forward else (start.x, end.x + BOX_WIDTH)
    middle = (x_start + x_end) // 2
    return f"M{x_start} {y_start} C{middle} {y_start} {middle} {y_end} {x_end} {y_end}"


Hops = Annotated[int, Query(ge=1, le=2, description="Steps from the paper, in both directions.")]


def map_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["citations"])

    async def graph(kind: str, key: str, hops: int) -> Graph:
        return await portal.readers.ask(
            lambda library: graph_of(library, find_paper(library, kind, key), hops)
        )

    @router.get("/records/{kind}/{key}/map.json", response_model=Graph)
    async def map_json(request: Request, kind: Kind, key: Key, hops: Hops = 1) -> Response:
        return portal.json(request, await graph(kind, key, hops))

    @router.get("/records/{kind}/{key}/map", response_class=HTMLResponse)
    async def citation_map(request: Request, kind: Kind, key: Key, hops: Hops = 1) -> Response:
        view = await graph(kind, key, hops)
        box = {"width": BOX_WIDTH, "height": BOX_HEIGHT}
        return portal.html(request, "map.html", view, box=box, json_url=f"{view.url}/map.json?hops={hops}")

    return router

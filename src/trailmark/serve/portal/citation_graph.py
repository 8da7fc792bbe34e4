"""The citation map as a drawing: papers within two steps, in columns from those that cite to those cited."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from trailmark.record import Record
from trailmark.serve.portal.addresses import record_url
from trailmark.serve.portal.cards import shortened
from trailmark.serve.portal.library import Library
from trailmark.store.papers import ITSELF

RELATIONS = {
    -2: "cites one that cites it",
    -1: "cites it",
    0: "the paper itself",
    1: "is cited by it",
    2: "is cited by one that it cites",
}
HEADINGS = {-2: "two steps back", -1: "cited by", 0: "", 1: "cites", 2: "two steps on"}

MOST_IN_COLUMN = 12
COLUMN, ROW, TOP, MARGIN = 260, 50, 40, 26
BOX_WIDTH, BOX_HEIGHT = 196, 38
_LABEL = 28  # letters of a title that fit into a box


@dataclass(frozen=True, slots=True)
class Node:
    """A paper in the drawing, with the upper left corner of its box; `column` counts steps, backwards below zero."""

    id: str
    title: str
    label: str
    year: str
    url: str
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


Neighbours = Callable[[Library, str], Iterator[str]]


def graph_of(library: Library, paper: Record, hops: int) -> Graph:
    """Breadth first in both directions; a paper stands in the first column in which it is met."""
    columns, left_out = {0: [paper.id]}, 0
    for step in range(1, hops + 1):
        for side, neighbours in ((-1, _citing), (1, _cited)):
            met = set(chain.from_iterable(columns.values()))
            found = _next_column(library, columns[side * (step - 1)], neighbours, met)
            columns[side * step] = found[:MOST_IN_COLUMN]
            left_out += max(0, len(found) - MOST_IN_COLUMN)
    nodes = _placed(library, {at: ids for at, ids in sorted(columns.items()) if ids})
    rows = max(len(ids) for ids in columns.values())
    x_of = {node.column: node.x for node in nodes}
    return Graph(
        id=paper.id,
        title=library.title(paper),
        url=record_url("paper", paper.id),
        hops=hops,
        width=COLUMN * (len(x_of) - 1) + BOX_WIDTH + 2 * MARGIN,
        height=TOP + ROW * rows,
        headings=tuple(Heading(HEADINGS[column], x) for column, x in x_of.items() if HEADINGS[column]),
        nodes=tuple(nodes),
        edges=tuple(_edges(library, nodes)),
        left_out=left_out,
    )


def _next_column(library: Library, before: Iterable[str], neighbours: Neighbours, met: set[str]) -> list[str]:
    found = dict.fromkeys(other for paper in before for other in neighbours(library, paper))
    return [paper for paper in found if paper not in met and library.records.get("paper", paper)]


def _cited(library: Library, paper: str) -> Iterator[str]:
    for each in library.papers.citations(paper):
        if each.number != ITSELF and (held := library.papers.held(each.group)):
            yield held


def _citing(library: Library, paper: str) -> Iterator[str]:
    yield from (each.paper for each in library.papers.cited_by(paper))


def _placed(library: Library, columns: dict[int, list[str]]) -> list[Node]:
    """Columns side by side, each centred on the tallest."""
    rows = max(map(len, columns.values()))
    nodes = []
    for across, (column, ids) in enumerate(columns.items()):
        first = TOP + ROW * (rows - len(ids)) // 2
        for down, paper in enumerate(ids):
            x, y = MARGIN + COLUMN * across, first + ROW * down
            nodes.append(_node(library, paper, column, x, y))
    return nodes


def _node(library: Library, paper: str, column: int, x: int, y: int) -> Node:
    record = library.records.get("paper", paper)
    title = library.title(record) if record else paper
    year = record.first("year") if record else ""
    label, url = shortened(title, _LABEL), record_url("paper", paper)
    return Node(paper, title, label, year, url, column, RELATIONS[column], x, y)


def _edges(library: Library, nodes: list[Node]) -> Iterator[Edge]:
    places = {node.id: node for node in nodes}
    for node in nodes:
        for cited in dict.fromkeys(_cited(library, node.id)):
            if cited in places and cited != node.id:
                yield Edge(node.id, cited, _line(node, places[cited]))


def _line(start: Node, end: Node) -> str:
    """A curve from side to side; within a column it swings out to the left."""
    y_start, y_end = start.y + BOX_HEIGHT // 2, end.y + BOX_HEIGHT // 2
    if start.x == end.x:
        return f"M{start.x} {y_start} C{start.x - 24} {y_start} {end.x - 24} {y_end} {end.x} {y_end}"
    forward = end.x > start.x
    x_start, x_end = (start.x + BOX_WIDTH, end.x) if forward else (start.x, end.x + BOX_WIDTH)
    middle = (x_start + x_end) // 2
    return f"M{x_start} {y_start} C{middle} {y_start} {middle} {y_end} {x_end} {y_end}"

"""A teaching session as a machine without a browser: told what happened, it knows the trails so far.

Pages make trees: each page hangs below the page whose link led to it. Going back and taking another link
begins a branch, and the branch that was left stays as a path that was not taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

from wayhound.app.teach.events import (
    Arrived,
    Clicked,
    Closed,
    Done,
    Event,
    Led,
    Marked,
    NextSite,
    Stayed,
    TabOpened,
    Undone,
)
from wayhound.page import Link
from wayhound.paths.trail_file import validate_label
from wayhound.trail import FAIL, GOAL

Way = Literal["trails", "free"]


@dataclass(frozen=True, slots=True)
class Node:
    """A page where it was met: below the page `parent`, by `link`. Without them a trail begins here.

    A document that was not shown brings its media type and its name.
    """

    number: int
    url: str
    site: int
    parent: int | None = None
    link: Link | None = None
    label: str = ""
    media_type: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class _Tab:
    at: int | None = None
    clicked: Link | None = None
    document: int | None = None  # at hand: clicked for on the page that is shown, and not shown itself


@dataclass(frozen=True, slots=True)
class _Mark:
    page: int
    before: str


@dataclass(frozen=True, slots=True)
class _SiteChange:
    before: int


@dataclass
class Session:
    """The state of a session: a fold of events by `tell`."""

    sites: tuple[str, ...]
    way: Way = "trails"
    site: int = 0
    done: bool = False
    nodes: list[Node] = field(default_factory=list)
    _tabs: dict[int, _Tab] = field(default_factory=dict)
    _places: dict[tuple[int, int, str], int] = field(default_factory=dict)
    _shown: dict[int, str] = field(default_factory=dict)
    _undoable: list[_Mark | _SiteChange] = field(default_factory=list)
    _left: set[int] = field(default_factory=set)  # shown once, and gone on from

    @classmethod
    def of(cls, sites: tuple[str, ...], way: Way, events: Iterable[Event]) -> Session:
        session = cls(sites, way)
        for event in events:
            session.tell(event)
        return session

    def tell(self, event: Event) -> None:
        match event:
            case Clicked(tab, link):
                self._turn(tab, replace(self._tab(tab), clicked=link, document=None))
            case Stayed(tab):
                self._tabs[tab] = replace(self._tab(tab), clicked=None)
            case TabOpened(tab, opener):
                self._open_tab(tab, opener)
            case Arrived() | Led():
                self._meet(event)
            case Closed(tab):
                self._leave(self._tabs.pop(tab, _Tab()))
            case Marked(page, label):
                self._mark(page, label)
            case Undone():
                self._undo()
            case NextSite():
                self._next_site()
            case Done():
                self._finish()

    def at(self, tab: int) -> Node | None:
        """The page that a tab shows."""
        number = self._tab(tab).at
        return None if number is None else self.nodes[number]

    def here(self, tab: int) -> Node | None:
        """What a mark is given to: the document that is at hand, else the page that is shown."""
        number = self._tab(tab).document
        return self.at(tab) if number is None else self.nodes[number]

    def clicked(self, tab: int) -> Link | None:
        """The link that was clicked there and has led nowhere yet."""
        return self._tab(tab).clicked

    def knows(self, tab: int, entry: int, url: str) -> bool:
        """Whether the tab has shown that page at that place of its history."""
        return (tab, entry, url) in self._places

    def path(self, page: int) -> list[Node]:
        """From the first page of the trail to `page`."""
        way = list(self._upwards(page))
        return way[::-1]

    def ends(self) -> list[Node]:
        """The pages at which a trail ends: as goal or as failure, and when browsing freely also unmarked."""
        marked = [node for node in self.nodes if node.label in (GOAL, FAIL)]
        return marked + self._left_unmarked() if self.way == "free" else marked

    def trail(self, page: int) -> list[tuple[Node, str]]:
        """The path to a page with its labels. A failure that was passed is none of this trail.

        Who browses freely calls nothing a failure: a page that was left without a mark is one.
        """
        way = self.path(page)
        labels = ["" if node.label == FAIL else node.label for node in way[:-1]]
        last = way[-1].label or (FAIL if self.way == "free" else "")
        return list(zip(way, [*labels, last], strict=True))

    def paths_not_taken(self) -> list[list[Node]]:
        """Branches that were left without a mark: their last pages lead to no mark."""
        marked = {above.number for end in self.nodes if end.label for above in self._upwards(end.number)}
        shown = {number for tab in self._tabs.values() for number in (tab.at, tab.document)}
        return [self.path(leaf.number) for leaf in self._leaves() if leaf.number not in marked | shown]

    def _left_unmarked(self) -> list[Node]:
        """Pages that were looked at and left without a mark, and from which no useful page was reached, there
        or where they were met again: what Liu, Milios & Janssen (2004) put into the last state."""
        useful = [node for node in self.nodes if node.label == GOAL]
        on_the_way = {(above.site, above.url) for end in useful for above in self._upwards(end.number)}
        left = [leaf for leaf in self._leaves() if leaf.number in self._left and not leaf.label]
        return [leaf for leaf in left if (leaf.site, leaf.url) not in on_the_way]

    def _leaves(self) -> list[Node]:
        """Pages that a link led to and that nothing was clicked on."""
        parents = {node.parent for node in self.nodes}
        return [node for node in self.nodes if node.parent is not None and node.number not in parents]

    def labels(self) -> list[str]:
        """Labels given so far besides the reserved ones, the latest first."""
        given = [node.label for node in reversed(self.nodes) if node.label not in ("", GOAL, FAIL)]
        return list(dict.fromkeys(given))

    def next_tab(self) -> int:
        """A number that no tab has had."""
        return 1 + max([*self._tabs, *(tab for tab, _, _ in self._places)], default=0)

    def url_to_go_on(self) -> str:
        """Where to open the browser: the page of this site that was shown last, or the site's start."""
        return self._shown.get(self.site, self.sites[self.site])

    @property
    def marks(self) -> int:
        """How much can be taken back, one at a time."""
        return len(self._undoable)

    @property
    def has_next_site(self) -> bool:
        return self.site + 1 < len(self.sites)

    def _tab(self, tab: int) -> _Tab:
        return self._tabs.get(tab, _Tab())

    def _turn(self, tab: int, to: _Tab) -> None:
        """Let a tab show something else."""
        before = self._tab(tab)
        self._tabs[tab] = to
        self._leave(before, to)

    def _leave(self, tab: _Tab, to: _Tab | None = None) -> None:
        still = (to.at, to.document) if to else ()
        self._left.update(n for n in (tab.at, tab.document) if n is not None and n not in still)

    def _finish(self) -> None:
        self.done = True
        for tab in self._tabs.values():
            self._leave(tab)

    def _open_tab(self, tab: int, opener: int) -> None:
        """What was clicked led to the new tab, and so to nowhere in the old one."""
        self._tabs[tab] = replace(self._tab(opener), document=None)
        if opener in self._tabs:
            self._tabs[opener] = replace(self._tabs[opener], clicked=None)

    def _meet(self, event: Arrived | Led) -> None:
        if isinstance(event, Arrived):
            self._arrive(event)
        else:
            at, number = self._tab(event.tab).at, self._find(event)
            self._turn(event.tab, _Tab(at, document=None if number == at else number))

    def _find(self, event: Arrived | Led) -> int:
        """The page that an event tells of, which may be a new one."""
        known = self._known(event)
        return self._add(event) if known is None else known

    def _arrive(self, event: Arrived) -> None:
        place = (event.tab, event.entry, event.url)
        number = self._places.get(place)
        if number is None:
            number = self._find(event)
        self._places[place] = number
        self._turn(event.tab, _Tab(at=number))
        self._shown[self.nodes[number].site] = event.url

    def _known(self, event: Arrived | Led) -> int | None:
        """A page of the path that led here; behind the same link; or, without a link, anywhere on the site."""
        here = self._tab(event.tab).at
        way = self._upwards(here) if here is not None else iter(())
        for node in way:
            if node.url == event.url:
                return node.number
        same = [node for node in self.nodes if node.url == event.url and node.site == self.site]
        if event.link is not None:
            same = [node for node in same if node.parent == here]
        return same[-1].number if same else None

    def _add(self, event: Arrived | Led) -> int:
        number = len(self.nodes)
        parent = self._tab(event.tab).at if event.link is not None else None
        link = event.link if parent is not None else None
        node = Node(number, event.url, self.site, parent, link)
        if isinstance(event, Led):
            node = replace(node, media_type=event.media_type, name=event.name)
        self.nodes.append(node)
        return number

    def _upwards(self, page: int) -> Iterator[Node]:
        above: int | None = page
        while above is not None:
            node = self.nodes[above]
            yield node
            above = node.parent

    def _mark(self, page: int, label: str) -> None:
        before = self.nodes[page].label
        self._relabel(page, label)
        self._undoable.append(_Mark(page, before))

    def _relabel(self, page: int, label: str) -> None:
        self.nodes[page] = replace(self.nodes[page], label=label)

    def _undo(self) -> None:
        if not self._undoable:
            return
        match self._undoable.pop():
            case _Mark(page, before):
                self._relabel(page, before)
            case _SiteChange(before):
                self.site = before

    def _next_site(self) -> None:
        if self.has_next_site:
            self._undoable.append(_SiteChange(self.site))
            self.site += 1


def tidy_label(text: str) -> str:
    """A label as it is kept, the reserved ones in their one spelling. `ValueError` says what is wrong."""
    label = validate_label(text)
    return next((reserved for reserved in (GOAL, FAIL) if reserved.lower() == label.lower()), label)

"""A teaching session without a browser: its events, and its state, a fold over them that knows the trails so far.

Pages form trees: each page is a child of the page whose link led to it. Going back and following another link
starts a branch; the branch that was left remains as a path not taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from wayhound.errors import TeachingError
from wayhound.page import Link
from wayhound.paths.trail_file import validate_label
from wayhound.trail import FAIL, GOAL


@dataclass(frozen=True, slots=True)
class Clicked:
    """A link was clicked on the page that the tab shows."""

    tab: int
    link: Link


@dataclass(frozen=True, slots=True)
class NavigationFailed:
    """The page behind the clicked link did not load."""

    tab: int


@dataclass(frozen=True, slots=True)
class DocumentLinked:
    """The clicked link led to a document that the tab does not show: the page stays, the document can be marked."""

    tab: int
    url: str
    link: Link
    media_type: str = ""
    name: str = ""  # of the file


@dataclass(frozen=True, slots=True)
class TabOpened:
    """A page opened another tab or window; the link clicked last may lead there."""

    tab: int
    opener: int


@dataclass(frozen=True, slots=True)
class Arrived:
    """A tab shows a page.

    `entry` is the browser's id of this entry in the tab's history. `link` led here from the page before; it is
    None for addresses that were typed in.
    """

    tab: int
    entry: int
    url: str
    link: Link | None = None


@dataclass(frozen=True, slots=True)
class Closed:
    """A tab was closed."""

    tab: int


@dataclass(frozen=True, slots=True)
class Marked:
    """A person labelled a page; an empty label removes the mark."""

    page: int
    label: str


@dataclass(frozen=True, slots=True)
class Undone:
    """The last mark or change of site was undone."""


@dataclass(frozen=True, slots=True)
class NextSite:
    """The teacher moved on to the next site."""


@dataclass(frozen=True, slots=True)
class Done:
    """The teacher finished the session."""


Event = (
    Clicked
    | NavigationFailed
    | DocumentLinked
    | TabOpened
    | Arrived
    | Closed
    | Marked
    | Undone
    | NextSite
    | Done
)

_KINDS: dict[str, type[Event]] = {  # these names are stored: they never change
    "clicked": Clicked,
    "stayed": NavigationFailed,
    "led": DocumentLinked,
    "tab_opened": TabOpened,
    "arrived": Arrived,
    "closed": Closed,
    "marked": Marked,
    "undone": Undone,
    "next_site": NextSite,
    "done": Done,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def serialise(event: Event) -> tuple[str, dict[str, Any]]:
    """Return the kind of an event and its body, as they are stored."""
    return _NAMES[type(event)], asdict(event)


def deserialise(kind: str, body: Mapping[str, Any]) -> Event:
    """Return a stored event. Raises TeachingError if a part of it is missing or unknown to this version."""
    try:
        values = dict(body)
        if values.get("link"):
            link = dict(values["link"])
            values["link"] = Link(**link | {"before": tuple(link["before"]), "after": tuple(link["after"])})
        return _KINDS[kind](**values)
    except (KeyError, TypeError, ValueError) as error:
        raise TeachingError(
            f"A stored step of this teaching session cannot be read: {kind} lacks or has an unknown part ({error}). "
            "Trails that were saved before are kept; teach the site again."
        ) from None


TeachMode = Literal["trails", "free"]
"""`trails`: the teacher marks goals and rejects pages. `free`: the teacher browses and marks useful pages only."""


@dataclass(frozen=True, slots=True)
class PageNode:
    """A page in the tree of pages: reached from the page `parent` by `link`; without them, a trail starts here.

    A document that the browser did not show has its media type and file name.
    """

    number: int
    url: str
    site: int
    parent: int | None = None
    link: Link | None = None
    label: str = ""
    media_type: str = ""
    name: str = ""


@dataclass
class PageTree:
    """The pages of a session, numbered in the order in which they were first seen."""

    nodes: list[PageNode] = field(default_factory=list)

    def upwards(self, number: int) -> Iterator[PageNode]:
        """Yield a page, then the page before it, up to the first page of its trail."""
        above: int | None = number
        while above is not None:
            node = self.nodes[above]
            yield node
            above = node.parent

    def find(self, event: Arrived | DocumentLinked, shown: int | None, site: int) -> int | None:
        """Return the page that an event is about, or None if it is new.

        Known pages are those on the path to the page shown, those behind the same link, and, where no link led
        there, any page of the site with that URL.
        """
        path = self.upwards(shown) if shown is not None else iter(())
        for node in path:
            if node.url == event.url:
                return node.number
        same = [node for node in self.nodes if node.url == event.url and node.site == site]
        if event.link is not None:
            same = [node for node in same if node.parent == shown]
        return same[-1].number if same else None

    def add(self, event: Arrived | DocumentLinked, shown: int | None, site: int) -> int:
        """Add the page of an event below the page shown, and return its number."""
        number = len(self.nodes)
        parent = shown if event.link is not None else None
        link = event.link if parent is not None else None
        node = PageNode(number, event.url, site, parent, link)
        if isinstance(event, DocumentLinked):
            node = replace(node, media_type=event.media_type, name=event.name)
        self.nodes.append(node)
        return number

    def relabel(self, number: int, label: str) -> str:
        """Label a page and return the label it had before."""
        before = self.nodes[number].label
        self.nodes[number] = replace(self.nodes[number], label=label)
        return before

    def leaves(self) -> list[PageNode]:
        """Return pages that a link led to and on which nothing was clicked."""
        parents = {node.parent for node in self.nodes}
        return [node for node in self.nodes if node.parent is not None and node.number not in parents]

    def left_unmarked(self, left: set[int]) -> list[PageNode]:
        """Return leaves that were shown and left without a mark, unless a useful page was reached from the same
        page elsewhere: the pages that Liu, Milios & Janssen (2004) assign to the last state."""
        useful = [node for node in self.nodes if node.label == GOAL]
        passed = {(above.site, above.url) for end in useful for above in self.upwards(end.number)}
        unmarked = [leaf for leaf in self.leaves() if leaf.number in left and not leaf.label]
        return [leaf for leaf in unmarked if (leaf.site, leaf.url) not in passed]


@dataclass(frozen=True, slots=True)
class _TabState:
    shown: int | None = None
    clicked: Link | None = None
    document: int | None = None  # the document behind the link clicked last, which the tab does not show


@dataclass
class _OpenTabs:
    """The page that each tab shows, and the pages that were shown before."""

    left: set[int] = field(default_factory=set)
    visited: dict[tuple[int, int, str], int] = field(default_factory=dict)  # (tab, history entry, URL) → page
    _tabs: dict[int, _TabState] = field(default_factory=dict)

    def state(self, tab: int) -> _TabState:
        return self._tabs.get(tab, _TabState())

    def update(self, tab: int, state: _TabState) -> None:
        before, self._tabs[tab] = self.state(tab), state
        self._leave(before, state)

    def forget_click(self, tab: int) -> None:
        self._tabs[tab] = replace(self.state(tab), clicked=None)

    def open(self, tab: int, opener: int) -> None:
        """The link that was clicked in `opener` leads to the new tab, so it leads nowhere in the old one."""
        self._tabs[tab] = replace(self.state(opener), document=None)
        if opener in self._tabs:
            self.forget_click(opener)

    def close(self, tab: int) -> None:
        self._leave(self._tabs.pop(tab, _TabState()))

    def leave_all(self) -> None:
        for state in self._tabs.values():
            self._leave(state)

    def pages(self) -> set[int | None]:
        """Return the pages that are shown or at hand now."""
        return {number for state in self._tabs.values() for number in (state.shown, state.document)}

    def unused_number(self) -> int:
        return 1 + max([*self._tabs, *(tab for tab, _, _ in self.visited)], default=0)

    def _leave(self, before: _TabState, after: _TabState | None = None) -> None:
        kept = (after.shown, after.document) if after else ()
        self.left.update(n for n in (before.shown, before.document) if n is not None and n not in kept)


@dataclass(frozen=True, slots=True)
class _MarkUndo:
    page: int
    label_before: str


@dataclass(frozen=True, slots=True)
class _SiteUndo:
    site_before: int


@dataclass
class Session:
    """The state of a session: a fold of events by `apply`."""

    sites: tuple[str, ...]
    mode: TeachMode = "trails"
    site: int = 0
    done: bool = False
    tree: PageTree = field(default_factory=PageTree)
    _tabs: _OpenTabs = field(default_factory=_OpenTabs)
    _last_urls: dict[int, str] = field(default_factory=dict)  # by site, the page shown last
    _undo_steps: list[_MarkUndo | _SiteUndo] = field(default_factory=list)

    @classmethod
    def of(cls, sites: tuple[str, ...], mode: TeachMode, events: Iterable[Event]) -> Session:
        session = cls(sites, mode)
        for event in events:
            session.apply(event)
        return session

    def apply(self, event: Event) -> None:
        match event:
            case Clicked(tab, link):
                self._tabs.update(tab, replace(self._tabs.state(tab), clicked=link, document=None))
            case NavigationFailed(tab):
                self._tabs.forget_click(tab)
            case TabOpened(tab, opener):
                self._tabs.open(tab, opener)
            case Arrived() | DocumentLinked():
                self._reach(event)
            case Closed(tab):
                self._tabs.close(tab)
            case Marked(page, label):
                self._undo_steps.append(_MarkUndo(page, self.tree.relabel(page, label)))
            case Undone():
                self._undo()
            case NextSite():
                self._next_site()
            case Done():
                self.done = True
                self._tabs.leave_all()

    @property
    def nodes(self) -> list[PageNode]:
        return self.tree.nodes

    def page_shown(self, tab: int) -> PageNode | None:
        number = self._tabs.state(tab).shown
        return None if number is None else self.nodes[number]

    def page_to_mark(self, tab: int) -> PageNode | None:
        """Return the document that was clicked and is not shown, else the page that is shown."""
        number = self._tabs.state(tab).document
        return self.page_shown(tab) if number is None else self.nodes[number]

    def clicked(self, tab: int) -> Link | None:
        """Return the link that was clicked in the tab and has not led anywhere yet."""
        return self._tabs.state(tab).clicked

    def has_shown(self, tab: int, entry: int, url: str) -> bool:
        """Return True if the tab has shown that page at that entry of its history."""
        return (tab, entry, url) in self._tabs.visited

    def path(self, page: int) -> list[PageNode]:
        """Return the pages from the start of the trail to `page`."""
        return list(self.tree.upwards(page))[::-1]

    def ends(self) -> list[PageNode]:
        """Return the pages at which a trail ends: goals and rejected pages, in free mode also unmarked ones."""
        marked = [node for node in self.nodes if node.label in (GOAL, FAIL)]
        return marked + self.tree.left_unmarked(self._tabs.left) if self.mode == "free" else marked

    def trail(self, page: int) -> list[tuple[PageNode, str]]:
        """Return the path to a page with its labels.

        A rejected page on the way counts as unlabelled: the trail went on. In free mode, an unmarked last page
        counts as rejected.
        """
        path = self.path(page)
        labels = ["" if node.label == FAIL else node.label for node in path[:-1]]
        last = path[-1].label or (FAIL if self.mode == "free" else "")
        return list(zip(path, [*labels, last], strict=True))

    def paths_not_taken(self) -> list[list[PageNode]]:
        """Return the branches without any mark that were left again."""
        marked = {above.number for end in self.nodes if end.label for above in self.tree.upwards(end.number)}
        excluded = marked | self._tabs.pages()
        return [self.path(leaf.number) for leaf in self.tree.leaves() if leaf.number not in excluded]

    def labels(self) -> list[str]:
        """Return the labels given so far besides the reserved ones, the latest first."""
        used = [node.label for node in reversed(self.nodes) if node.label not in ("", GOAL, FAIL)]
        return list(dict.fromkeys(used))

    def marks(self) -> tuple[int, int]:
        """Return how many pages of the site that is taught now are goals, and how many were rejected."""
        labels = [node.label for node in self.nodes if node.site == self.site]
        return labels.count(GOAL), labels.count(FAIL)

    def next_tab(self) -> int:
        """Return a number that no tab has had."""
        return self._tabs.unused_number()

    def resume_url(self) -> str:
        """Return where to open the browser: the page of this site that was shown last, or its start page."""
        return self._last_urls.get(self.site, self.sites[self.site])

    @property
    def undo_count(self) -> int:
        """Number of steps that can be undone."""
        return len(self._undo_steps)

    @property
    def has_next_site(self) -> bool:
        return self.site + 1 < len(self.sites)

    def _reach(self, event: Arrived | DocumentLinked) -> None:
        shown = self._tabs.state(event.tab).shown
        visit = (event.tab, event.entry, event.url) if isinstance(event, Arrived) else None
        number = self._tabs.visited.get(visit) if visit else None
        if number is None:
            known = self.tree.find(event, shown, self.site)
            number = self.tree.add(event, shown, self.site) if known is None else known
        if visit is None:
            self._tabs.update(event.tab, _TabState(shown, document=None if number == shown else number))
            return
        self._tabs.visited[visit] = number
        self._tabs.update(event.tab, _TabState(shown=number))
        self._last_urls[self.nodes[number].site] = event.url

    def _undo(self) -> None:
        if not self._undo_steps:
            return
        match self._undo_steps.pop():
            case _MarkUndo(page, label_before):
                self.tree.relabel(page, label_before)
            case _SiteUndo(site_before):
                self.site = site_before

    def _next_site(self) -> None:
        if self.has_next_site:
            self._undo_steps.append(_SiteUndo(self.site))
            self.site += 1


def tidy_label(text: str) -> str:
    """Return a label in the spelling in which it is saved. Raises ValueError with the reason if it is not valid."""
    label = validate_label(text)
    return next((reserved for reserved in (GOAL, FAIL) if reserved.lower() == label.lower()), label)

"""Write a teaching session down as it happens: events and trails into the store, pages into the archive."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from wayhound.app.teach.seen_pages import SeenPage, SessionPages
from wayhound.app.teach.session import (
    Arrived,
    Closed,
    DocumentLinked,
    Done,
    Event,
    Marked,
    PageNode,
    Session,
    TeachMode,
    Undone,
    deserialise,
    serialise,
)
from wayhound.archive.writer import repair
from wayhound.chains.construction import ExampleChain, ExampleLink
from wayhound.chains.ontology import Relationship
from wayhound.fetched import Fetched
from wayhound.paths.taught_site import WebGraph, hops_to_nearest
from wayhound.store.chains import ChainStore
from wayhound.store.teaching import TeachSession
from wayhound.trail import FAIL, GOAL, Step, Trail
from wayhound.workspace import Workspace

SOURCES: Mapping[TeachMode, str] = {"trails": "browser", "free": "free browsing"}
"""The source under which trails are saved."""

Fingerprint = tuple[tuple[int, str], ...]  # page and label of each step


class Saver:
    """One session of one workspace. Whatever a method changes is on disk when it returns."""

    def __init__(
        self, workspace: Workspace, record: TeachSession, clock: Callable[[], float] = time.time
    ) -> None:
        repair(workspace.archive_folder)
        self.record = record
        self._clock = clock
        self._teaching = workspace.stores.teaching
        self._trails = workspace.stores.trails
        self.stores = workspace.stores
        self.pages = SessionPages(workspace, record.id, clock)
        mode: TeachMode = "free" if record.way == "free" else "trails"
        events = [deserialise(kind, body) for kind, body in self._teaching.events(record.id)]
        self.session = Session.of(record.sites, mode, events)
        self.pages.add(self.session.nodes)  # a crash may have come between an event and its page
        self._goals_elsewhere = self._goals_of_other_sessions()
        self._saved = self._saved_before()
        self._pending: set[int] = set()  # ends of trails whose pages cannot be read yet
        self.chains = MarkedChains(workspace.stores.chains, self.session)
        self.save_trails()

    def close(self) -> None:
        self.pages.close()

    def apply(self, event: Event) -> None:
        """Persist an event, then apply it."""
        kind, body = serialise(event)
        self._teaching.add_event(self.record.id, self._clock(), kind, body)
        self.session.apply(event)
        match event:
            case Arrived() | DocumentLinked() | Closed():
                self.pages.add(self.session.nodes)
                if self.session.mode == "free":  # leaving a page without a mark ends a trail
                    self.save_trails()
            case Marked() | Undone():
                self.save_trails()
                self.chains.save()
            case Done():
                self._finish()

    def save_seen(self, number: int, seen: SeenPage) -> None:
        """Archive a page as it looks now; trails that waited for it are saved."""
        self.pages.save_seen(number, seen)
        self._save_pending()

    def save_original(self, number: int, fetched: Fetched) -> None:
        """Archive what the server sent for a page; trails that waited for it are saved."""
        self.pages.save_original(number, fetched)
        self._save_pending()

    def _save_pending(self) -> None:
        if self._pending:
            self.save_trails()

    # Trails

    def save_trails(self) -> int:
        """Make the saved trails match the session. Return how many are new or changed."""
        wanted = {end.number: self._fingerprint(end.number) for end in self._ends()}
        for number in [number for number in self._saved if self._saved[number] != wanted.get(number)]:
            self._teaching.delete_trail(self.record.id, number)
            del self._saved[number]
        new = [number for number in wanted if number not in self._saved]
        self._pending = {number for number in new if not self._save_trail(number)}
        return len(new) - len(self._pending)

    def trail(self, number: int) -> Trail | None:
        """Return the trail that ends at a page, or None if a page on it cannot be read."""
        steps = []
        for node, label in self.session.trail(number):
            page = self.pages.read(node.number)
            if page is None:
                return None
            by_script = node.parent is not None and self.pages.lacks_link(node.parent, node.link)
            steps.append(Step(page, node.link, label, by_script))
        return Trail(steps[0].page.url, tuple(steps), self.record.taught_by)

    @property
    def failures(self) -> int:
        """Number of trails that end at a rejected page, or in free mode at an unmarked one."""
        return sum(end.label != GOAL for end in self._ends())

    def is_pending(self, number: int) -> bool:
        """Return True if a page was marked as the end of a trail that could not be saved yet."""
        return number in self._pending and bool(self.session.nodes[number].label)

    def never_seen(self) -> list[str]:
        """Return URLs of pages that were marked as ends of trails and never loaded."""
        return [self.pages[number].url for number in sorted(self._pending) if self.is_pending(number)]

    def labels(self) -> list[str]:
        """Return labels to choose from: those of this session, then all others, the most used first."""
        others = [label for label in self._trails.labels() if label not in (GOAL, FAIL)]
        return list(dict.fromkeys([*self.chains.labels(), *self.session.labels(), *others]))

    def _ends(self) -> list[PageNode]:
        return [end for end in self.session.ends() if end.label or self._counts_as_rejected(end)]

    def _counts_as_rejected(self, unmarked: PageNode) -> bool:
        """Return False for pages that the site does not have, and for goals of earlier sessions, which the
        teacher need not mark again."""
        status = self.pages[unmarked.number].status or 200
        return status < 400 and unmarked.url not in self._goals_elsewhere

    def _goals_of_other_sessions(self) -> set[str]:
        own = set(self._teaching.trails(self.record.id).values())
        summaries = self._trails.summaries()
        return {trail.end_url for trail in summaries if trail.ending == GOAL and trail.id not in own}

    def _fingerprint(self, number: int) -> Fingerprint:
        return tuple((node.number, label) for node, label in self.session.trail(number))

    def _saved_before(self) -> dict[int, Fingerprint]:
        saved = self._teaching.trails(self.record.id)
        ends = {end.number for end in self._ends()}
        return {number: self._fingerprint(number) if number in ends else () for number in saved}

    def _save_trail(self, number: int) -> bool:
        trail = self.trail(number)
        if trail is None:
            return False
        trail_id = self._trails.add(trail, self._clock(), SOURCES[self.session.mode])
        self._teaching.link_trail(self.record.id, number, trail_id)
        self._saved[number] = self._fingerprint(number)
        return True

    # The end

    def _finish(self) -> None:
        self.save_trails()
        if self.session.mode == "free":
            self._save_graph()
        self._teaching.end(self.record.id, self._clock())
        self.pages.sync()

    def _save_graph(self) -> None:
        nodes = self.session.nodes
        clicks = [(nodes[node.parent].url, node.url) for node in nodes if node.parent is not None]
        graph = WebGraph.from_pages(self.pages.read_all(), clicks)
        hops = hops_to_nearest(graph, [node.url for node in nodes if node.label == GOAL])
        self._teaching.save_graph(self.record.id, graph.edges(), hops)


class MarkedChains:
    """Examples of relationships in a session: the clicks between pages that are marked as the two ends of one."""

    def __init__(self, store: ChainStore, session: Session) -> None:
        self._store = store
        self._session = session
        self._relationships = [known.relationship for known in store.relationships()]
        self._examples = self._marked_examples()

    def labels(self) -> list[str]:
        """Return the labels that mark the ends of relationships."""
        return [label for each in self._relationships for label in (each.source_label, each.target_label)]

    def example_at(self, number: int) -> ExampleChain | None:
        """Return the example chain that ends at a page: the clicks since the page marked as its source."""
        path = self._session.path(number)
        for each in self._relationships:
            sources = [place for place, node in enumerate(path[:-1]) if node.label == each.source_label]
            if path[-1].label == each.target_label and sources:
                return _example(each.name, path[sources[-1] :])
        return None

    def source_of(self, label: str) -> Relationship | None:
        """Return the relationship whose source pages are marked with a label."""
        return next((each for each in self._relationships if each.source_label == label), None)

    def target_of(self, label: str) -> Relationship | None:
        """Return the relationship whose target pages are marked with a label."""
        return next((each for each in self._relationships if each.target_label == label), None)

    def _marked_examples(self) -> dict[str, list[ExampleChain]]:
        examples: dict[str, list[ExampleChain]] = {each.name: [] for each in self._relationships}
        for node in self._session.nodes:
            if example := self.example_at(node.number):
                examples[example.name].append(example)
        return examples

    def save(self) -> None:
        """Save the chains between marked ends as examples; one whose mark was removed is deleted."""
        marked = self._marked_examples()
        for name, examples in marked.items():
            for gone in [each for each in self._examples[name] if each not in examples]:
                self._store.remove_example(name, gone)
            self._store.add_examples(name, [each for each in examples if each not in self._examples[name]])
        self._examples = marked


def _example(name: str, path: list[PageNode]) -> ExampleChain | None:
    """Return the links of a path; None if a page on it was not reached by a link."""
    links: list[ExampleLink] = []
    page = path[0].url
    for node in path[1:]:
        if node.link is None:
            return None
        links.append(ExampleLink(page, node.link.url, text=node.link.text))
        page = node.link.url  # as it is linked: the page that it redirects to is found again by it
    return ExampleChain(tuple(links), name=name)

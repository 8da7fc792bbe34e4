"""Learn the relationships of a workspace from examples, and extract their instances."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from wayhound.app import OnProgress
from wayhound.app.chains.pages import ChainPages, page_title
from wayhound.app.chains.records import INSTANCE, RELATION, RecordMaker, start_of
from wayhound.chains.construction import (
    ChainRules,
    ExampleChain,
    Extraction,
    construct_chains,
    learn_chains,
)
from wayhound.chains.ontology import Relationship
from wayhound.chains.rules import PageRules
from wayhound.chains.tokens import Anchor, TokenPage
from wayhound.errors import TeachingError, UsageError
from wayhound.store.chains import ChainStore, KnownRelationship
from wayhound.url import host_of, normalise
from wayhound.workspace import Workspace

_STALE_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Learned:
    """The outcome of a lesson: the rules, what they take from the pages of the examples, and what is left open."""

    relationship: Relationship
    rules: ChainRules
    examples: int
    taken: int
    seconds: float


@dataclass
class Extracted:
    """The outcome of an extraction."""

    relationship: Relationship
    instances: int = 0
    pages: int = 0
    uncovered: list[str] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    ask_about: str = ""  # the page on which one more example would cover most
    would_cover: int = 0
    stale: tuple[str, ...] = ()  # example pages on which the rules no longer take the example
    stopped_by_budget: bool = False

    @property
    def uncovered_share(self) -> float:
        return len(self.uncovered) / self.pages if self.pages else 0.0


class LinkChains:
    """The relationships of a workspace."""

    def __init__(self, workspace: Workspace, pages: ChainPages) -> None:
        self.workspace = workspace
        self.store: ChainStore = workspace.stores.chains
        self.pages = pages

    @classmethod
    @contextmanager
    def opened(
        cls, workspace: Workspace, recorded: Sequence[Path] = (), *, online: bool = False
    ) -> Iterator[LinkChains]:
        with ChainPages(workspace, recorded, online=online) as pages:
            yield cls(workspace, pages)

    def learn(self, name: str, context: Iterable[str] = ()) -> Learned:
        """Learn a relationship from its stored examples, and save the rules.

        Raises TeachingError, naming the example, if the examples cannot be learned from.
        """
        began = time.perf_counter()
        known, examples = self.store.get(name), self.store.examples(name)
        if not examples:
            raise TeachingError(f"{name} has no examples. Mark a source page and its targets first.")
        rules = learn_chains(examples, self.pages.get, list(context) or self.like_sources(examples))
        seconds = time.perf_counter() - began
        self.store.save_rules(name, rules, time.time())
        sources = dict.fromkeys(example.links[0].page for example in examples if example.wanted)
        taken = sum(1 for _ in construct_chains(rules, sources, self.pages.get, Extraction()))
        return Learned(known.relationship, rules, len(examples), taken, seconds)

    def like_sources(self, examples: Sequence[ExampleChain]) -> list[str]:
        """Return the addresses at hand that are built like those of the examples' source pages."""
        sources = [example.links[0].page for example in examples if example.wanted]
        shapes = {_shape(source) for source in sources}
        hosts = {host_of(source): source for source in sources}
        known = [url for source in hosts.values() for url in self.pages.known(source)]
        alike = [url for url in known if _shape(url) in shapes]
        return alike if len(alike) > len(sources) else self._linked_sources(sources, shapes)

    def _linked_sources(self, sources: Sequence[str], shapes: set[tuple[str, ...]]) -> list[str]:
        """Return pages built like the sources that these and the start pages of their sites link to."""
        starts = dict.fromkeys([*map(start_of, sources), *sources])
        pages = (page for url in starts if (page := self.pages.get(url)))
        linked = (anchor.target for page in pages for anchor in page.anchors)
        return list(dict.fromkeys([*sources, *(url for url in linked if _shape(url) in shapes)]))

    def preview(self, name: str, url: str, step: int = 0) -> tuple[TokenPage, list[Anchor]]:
        """Return a page and the links that the rules of a step take from it. Raises UsageError without the page."""
        page = self.pages.get(url)
        if page is None:
            raise UsageError(f"{url} could not be read. Check the address, or forage the site first.")
        known = self.store.get(name)
        return page, PageRules(known.rules.at_step(step)).take_all(page) if known.rules else []

    def extract(
        self,
        name: str,
        sources: Iterable[str] = (),
        *,
        budget: int = 10_000,
        again: bool = False,
        on_progress: OnProgress = lambda _what, _done, _of: None,
    ) -> Extracted:
        """Extract the instances of a relationship from source pages, and save those of each page at once.

        Without sources, all pages at hand that are built like the examples' source pages are used. Pages that an
        extraction with the same rules has done are skipped unless `again`: a stopped extraction is resumed.
        """
        known = self.store.get(name)
        if known.rules is None:
            raise UsageError(f"{name} was not learned yet. Learn it first: wayhound chains learn.")
        examples = self.store.examples(name)
        urls = [normalise(url) or url for url in sources] or self.like_sources(examples)
        urls = list(
            dict.fromkeys([*urls, *(example.links[0].page for example in examples if example.wanted)])
        )
        if again:
            self.store.forget_sources(name)
        done = self.store.sources(name)
        waiting = [url for url in urls if url not in done]
        outcome = Extracted(known.relationship)
        for number, url in enumerate(waiting):
            on_progress("reading pages", number, len(waiting))
            report = Extraction()
            chains = list(construct_chains(known.rules, [url], self.pages.get, report, budget))
            outcome.stopped_by_budget = outcome.stopped_by_budget or report.stopped_by_budget
            page = None if report.unread else self.pages.get(url)
            links = None if page is None else len(chains)
            self.store.replace_source(name, url, chains, links, page_title(page) if page else "")
        on_progress("reading pages", len(waiting), len(waiting))
        self._summarise(outcome, known, examples)
        self.sync_records()
        return outcome

    def _summarise(
        self, outcome: Extracted, known: KnownRelationship, examples: Sequence[ExampleChain]
    ) -> None:
        sources = self.store.sources(known.relationship.name)
        outcome.pages = len(sources)
        outcome.instances = self.store.count(known.relationship.name)
        outcome.unread = [url for url, links in sources.items() if links is None]
        outcome.uncovered = [url for url, links in sources.items() if links == 0]
        outcome.ask_about, outcome.would_cover = self.question(outcome.uncovered)
        outcome.stale = self.stale_examples(known, examples)

    def question(self, uncovered: Sequence[str]) -> tuple[str, int]:
        """Return the page on which one more example would cover most pages, and how many; empty if none would.

        Pages are grouped by the classes of their elements, which is what landmarks can refer to.
        """
        groups: dict[frozenset[str], list[str]] = {}
        for url in uncovered[:500]:
            page = self.pages.get(url)
            if page is not None and len(page.link_tokens) > 0:
                groups.setdefault(
                    frozenset(token for token in page.tokens if " " in token and token[0] == "<"), []
                ).append(url)
        if not groups:
            return "", 0
        largest = max(groups.values(), key=len)
        return largest[0], len(largest)

    def stale_examples(self, known: KnownRelationship, examples: Sequence[ExampleChain]) -> tuple[str, ...]:
        """Return the pages of examples on which the rules no longer take what was taught there."""
        if known.rules is None:
            return ()
        steps = [PageRules(known.rules.at_step(step)) for step in range(max(map(len, known.rules.patterns)))]
        stale = []
        for example in examples:
            for rules, link in zip(steps, example.links, strict=False):
                page = self.pages.get(link.page)
                targets = {anchor.target for anchor in rules.take(page)} if page else set()
                if example.wanted and page and normalise(link.target) not in targets:
                    stale.append(link.page)
        return tuple(dict.fromkeys(stale))

    def goal_sources(self, label: str = "", run_id: int | None = None) -> list[str]:
        """Return the goals of forages as source pages, by label and run if given; rejected goals are left out."""
        from wayhound.app.goal_records import sync_goals  # noqa: PLC0415

        sync_goals(self.workspace)
        records = self.workspace.stores.records.iterate("page")
        return [
            record.first("url")
            for record in records
            if (not label or record.first("label") == label) and (run_id is None or record.run == run_id)
        ]

    # Records

    def sync_records(self) -> None:
        """Bring the records of concept pages and relations in line with the instances."""
        relationships = {known.relationship.name: known.relationship for known in self.store.relationships()}
        makers = RecordMaker(relationships, self.store.titles())
        self.store.save_records(makers.records(list(self.store.instances())), (INSTANCE, RELATION))


def _shape(url: str) -> tuple[str, ...]:
    """Return the form of an address: host, folders, ending of the last name, names of query parameters."""
    parts = urlsplit(url)
    *folders, last = parts.path.strip("/").split("/")
    ending = last.rpartition(".")[2] if "." in last else ""
    is_start = "start" if not last else ""
    keys = sorted(pair.partition("=")[0] for pair in parts.query.split("&") if pair)
    # names with digits are numbers of things, not kinds of them
    named = ["#" if any(char.isdigit() for char in folder) else folder for folder in folders]
    return (parts.netloc, *named, ending, is_start, "/" if parts.path.endswith("/") else "", *keys)

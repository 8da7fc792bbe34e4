"""Facts of entities: extract them from archived pages, and bring them together.

A description holds what one page, or for organisations one site, says. Descriptions of one thing become one entity,
which is a record like any other: it is searched, exported and shown in the portal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import groupby
from typing import Self

from wayhound.app.facts.search import Wanted
from wayhound.app.facts.sites import PROFILE_PAGES, Samples, SiteReader, TaughtFacts
from wayhound.app.parallel import map_items
from wayhound.config import Config
from wayhound.entities.graph import Claim, ConsensusGraph, Description
from wayhound.record import Record, Span, Value
from wayhound.record_kinds import KindSpec
from wayhound.store.facts import ArchivedPage
from wayhound.workspace import Workspace

_VERSION = "4"  # descriptions made by an earlier version are made anew


# From archived pages to descriptions


@dataclass(frozen=True, slots=True)
class ExtractedFacts:
    """The result of an extraction: pages read anew, descriptions and entities there are, and records written."""

    pages: int = 0
    descriptions: int = 0
    entities: int = 0
    written: int = 0
    stopped: bool = False


def extract_facts(
    workspace: Workspace,
    wanted: Wanted,
    *,
    run_id: int | None = None,
    cluster: str = "",
    on_progress: Callable[[int, int], None] = lambda _done, _of: None,
    stop: Callable[[], bool] = lambda: False,
) -> ExtractedFacts:
    """Read the facts of archived pages that are new or changed, and bring them together into records.

    Of a kind that a page describes, the goals of each site are read, or all its pages if it has none. Every description
    is saved when it is made, so a run that is stopped loses nothing and the same call goes on. On a cluster, each site
    is read by one process.
    """
    tasks = reading_tasks(workspace, wanted, run_id)
    described = (
        _described_on(cluster, workspace, wanted, tasks) if cluster else ((task, None) for task in tasks)
    )
    done = 0
    for number, (task, description) in enumerate(described):
        on_progress(number, len(tasks))
        if stop():
            return conclude_extraction(workspace, wanted, done, stopped=True)
        task.run(description)
        done += len(task.pages)
    on_progress(len(tasks), len(tasks))
    return conclude_extraction(workspace, wanted, done)


def _described_on(
    cluster: str, workspace: Workspace, wanted: Wanted, tasks: Iterable[ReadingTask]
) -> Iterator[tuple[ReadingTask, Description]]:
    """Yield the tasks with their descriptions, which the machines of a cluster make from the archive."""
    folder = str(workspace.folder) if cluster == "local" else ""
    sites = [list(of_site) for _, of_site in groupby(tasks, key=lambda task: task.site.start)]
    items = ((of_site, _SiteItem.of(of_site)) for of_site in sites)
    for of_site, descriptions in map_items(
        _describing, (folder, workspace.config, wanted), items, cluster=cluster
    ):
        yield from zip(of_site, descriptions or (), strict=True)


@contextmanager
def _describing(
    setup: tuple[str, Config, Wanted],
) -> Iterator[Callable[[_SiteItem], list[Description]]]:
    """Open what describes sites on a machine of a cluster (`map_items`)."""
    from wayhound.app.cluster import open_here  # noqa: PLC0415 - only where it was asked for

    folder, config, wanted = setup
    with open_here(folder, config) as workspace:
        yield lambda item: item.describe(workspace, wanted)


@dataclass(frozen=True, slots=True)
class _SiteItem:
    """The descriptions to make of one site, with all that is needed beside the archive."""

    start: str
    pages: Sequence[ArchivedPage]
    taught: TaughtFacts
    units: Sequence[tuple[str, tuple[ArchivedPage, ...]]]

    @classmethod
    def of(cls, tasks: Sequence[ReadingTask]) -> Self:
        site = tasks[0].site
        return cls(
            site.start, site.pages, site.taught.about(site), [(task.key, task.pages) for task in tasks]
        )

    def describe(self, workspace: Workspace, wanted: Wanted) -> list[Description]:
        reader = SiteReader(workspace, wanted, self.start, self.pages, self.taught, Samples())
        return [reader.describe(key, pages) for key, pages in self.units]


def conclude_extraction(
    workspace: Workspace, wanted: Wanted, pages: int, *, stopped: bool = False
) -> ExtractedFacts:
    """Bring the records in line with what was read, and return the result of the extraction."""
    graph, written = sync_entities(workspace, wanted.kind)
    descriptions = sum(len(entity.descriptions) for entity in graph.entities.values())
    return ExtractedFacts(pages, descriptions, len(graph), written, stopped)


def reading_tasks(
    workspace: Workspace, wanted: Wanted, run_id: int | None = None, site: str | None = None
) -> list[ReadingTask]:
    """Return the descriptions that are to be made: those whose pages, or what was taught, changed since."""
    store, kind = workspace.stores.facts, wanted.kind
    known = store.states(kind.kind)
    taught = TaughtFacts.of(workspace, kind)
    samples = Samples()
    tasks: list[ReadingTask] = []
    for start, pages in store.sites(run_id, site):
        chosen = pages_to_read(pages, kind)
        readings = [reading for page in chosen for reading in taught.readings.get(page.url, ())]
        state = _state(kind, chosen, (taught.examples, *([readings] if readings else [])), wanted.persons)
        reader = SiteReader(workspace, wanted, start, chosen, taught, samples)
        units = [(start, chosen)] if kind.scope == "site" else [(page.url, [page]) for page in chosen]
        tasks += [
            ReadingTask(key, tuple(unit), reader, state) for key, unit in units if known.get(key) != state
        ]
    return tasks


def pages_to_read(pages: Sequence[ArchivedPage], kind: KindSpec) -> list[ArchivedPage]:
    """Return the pages to read: of a site that belongs to the thing itself, goals first, then all others."""
    goals = [page for page in pages if page.is_goal]
    if kind.scope == "site":
        return [*goals, *(page for page in pages if not page.is_goal)][:PROFILE_PAGES]
    return goals or list(pages)


def _state(kind: KindSpec, pages: Sequence[ArchivedPage], taught: object, persons: bool) -> str:
    parts = _VERSION, kind, [(page.url, page.digest) for page in pages], taught, persons
    return sha256(repr(parts).encode("utf-8", "replace")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class ReadingTask:
    """A description to make: of a whole site, or of one page of it."""

    key: str
    pages: tuple[ArchivedPage, ...]
    site: SiteReader
    state: str

    def run(self, description: Description | None = None) -> Description:
        """Save the description, made from the pages if there is none yet, and return it."""
        description = description or self.site.describe(self.key, self.pages)
        page = self.pages[0]
        self.site.workspace.stores.facts.save(
            self.site.wanted.kind.kind, description, page.site, page.run, self.state
        )
        return description


def reread_site(workspace: Workspace, wanted: Wanted, site: str) -> None:
    """Read the facts of one site again, with what was taught about it, and bring the records in line."""
    for task in reading_tasks(workspace, wanted, site=site):
        task.run()
    sync_entities(workspace, wanted.kind)


# From descriptions to entities and records


def build_graph(workspace: Workspace, kind: KindSpec) -> ConsensusGraph:
    """Return the graph of all descriptions of a kind, with what people corrected, split and merged."""
    store = workspace.stores.facts
    graph = ConsensusGraph(kind)
    corrections = store.corrections(kind.kind)
    pairs = store.pairs(kind.kind)
    for one, other, same in pairs:
        graph.decide(one, other, same=same)
    for _, _, description in store.descriptions(kind.kind):
        graph.add(corrected(description, corrections.get(description.key, {})))
    return graph


def corrected(description: Description, corrections: Mapping[str, tuple[str, ...]]) -> Description:
    kept = [claim for claim in description.claims if claim.field not in corrections]
    said = [Claim(name, text, 1.0, source="person") for name, texts in corrections.items() for text in texts]
    return Description(description.key, (*said, *kept), description.domain)


def sync_entities(workspace: Workspace, kind: KindSpec) -> tuple[ConsensusGraph, int]:
    """Bring the records of a kind in line with its descriptions; return the graph and how many were written."""
    store = workspace.stores.facts
    graph = build_graph(workspace, kind)
    reliability = graph.learn_reliability() if len(graph) > 1 else {}
    sites = {description.key: (site, run) for site, run, description in store.descriptions(kind.kind)}
    withheld = workspace.stores.submissions.withheld(kind.kind)
    records: dict[str, Record] = {}
    places: dict[str, str] = {}
    for entity in graph.entities.values():
        keys = sorted(entity.descriptions)
        record_id = entity_id(keys[0])
        places |= dict.fromkeys(keys, record_id)
        if record_id in withheld or not any(claim.field == kind.title for claim in entity.claims):
            continue
        site, run = sites[keys[0]]
        fields = {
            name: tuple(
                Value(value.text, value.probability, Span(best.url, best.start, best.end))
                for value in values
                for best in [max(value.claims, key=lambda claim: claim.confidence)]
            )
            for name, values in graph.consensus(entity.id, reliability).items()
        }
        urls = dict.fromkeys(claim.url for claim in entity.claims if claim.url)
        fields["url"] = tuple(Value(url) for url in urls)
        records[record_id] = Record(kind.kind, record_id, fields, site, run=run)
    store.place(kind.kind, places)
    return graph, store.replace_records(kind.kind, records)


def record_of(graph: ConsensusGraph, entity: int) -> str:
    """Return the id of the record of an entity."""
    return entity_id(min(graph.entities[entity].descriptions))


def entity_id(key: str) -> str:
    """Return the id of the record of an entity, from the first key of its descriptions."""
    return sha256(key.encode("utf-8", "replace")).hexdigest()[:16]

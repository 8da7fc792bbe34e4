"""Workloads of queries, and the order of fetches and of extraction that follows from what they ask for.

The order is that of Huang & Yu (2010), `entities/agenda.py`; here it meets the workspace.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Self

from wayhound.app.facts.extraction import ExtractedFacts, ReadingTask, conclude_extraction, reading_tasks
from wayhound.app.facts.search import Wanted, parse_wanted
from wayhound.app.facts.sites import read_archived
from wayhound.config import FactsConfig
from wayhound.entities.agenda import Agenda, LightPage, PageResult, PageScorer, Relevance, run_agenda
from wayhound.entities.graph import ConsensusGraph, doubt
from wayhound.entities.workload import GraphValue, Workload, read_workload
from wayhound.errors import UsageError
from wayhound.forage.frontier import QueuedLink
from wayhound.page import Link
from wayhound.site import Site
from wayhound.store.facts import ArchivedPage
from wayhound.text.words import plain_words
from wayhound.url import normalise
from wayhound.workspace import Workspace

SAMPLE, BATCH, COSTLY_BATCH = 800, 20, 4
"""Pages scored for a batch at most, and pages of a batch: few where each is dear, so that choices know the last."""

_TITLES = 5

PORTAL = "portal"
"""The name of the workload that the portal's visitors left."""


def parse_workload(workspace: Workspace, source: str, facts: str = "") -> Workload:
    """Return the workload of a file, or of the portal's visitors; `facts` name the kind that queries are about.

    Raises UsageError if the file cannot be read, or the portal has no log.
    """
    path = workspace.query_log_file if source == PORTAL else Path(source)
    kind = parse_wanted(workspace, facts).kind if facts else None
    try:
        lines = path.read_text("utf-8-sig", "replace").splitlines()
    except FileNotFoundError:
        if source == PORTAL:
            raise UsageError(
                "The portal has kept no queries. Set query_log = true in [facts] of wayhound.toml, and serve it."
            ) from None
        raise UsageError(f"There is no file {path} here ({Path.cwd()}). Name a file of queries.") from None
    except OSError as error:
        raise UsageError(f"The workload {path} cannot be read: {error.strerror}.") from None
    return read_workload(lines, [kind.kind] if kind else [], today=datetime.now(UTC).date())


def read_endorsed(path: Path) -> dict[str, float]:
    """Return the weights of a file of web addresses or hosts, one a line, each 1 unless a tab and a number follow.

    Raises UsageError if the file or a line cannot be read.
    """
    try:
        lines = path.read_text("utf-8-sig", "replace").splitlines()
    except OSError as error:
        raise UsageError(f"The file {path} cannot be read: {error.strerror}.") from None
    endorsed: dict[str, float] = {}
    for number, line in enumerate(lines, 1):
        name, _, weight = line.strip().partition("\t")
        if not name or name.startswith("#"):
            continue
        try:
            value = float(weight or 1)
        except ValueError:
            value = -1.0
        if not 0 <= value < math.inf:
            raise UsageError(f"{path}, line {number}: {weight!r} is not a weight from 0 up.")
        endorsed[normalise(name) if "://" in name else name.lower()] = value
    return endorsed


# The order of a forage


class SiteDemand:
    """The agenda of a forage: what sites and links name, against what is asked for and already found.

    The entities of earlier extractions are known from the start, so that a resumed forage goes on as it was.
    """

    def __init__(self, workload: Workload) -> None:
        self._scorer = PageScorer(workload, GraphValue(workload), "metadata")
        self._entities: dict[str, int] = {}
        self._words: dict[str, frozenset[str]] = {}  # by start page

    @classmethod
    def of(cls, workspace: Workspace, workload: Workload, facts: str = "") -> Self:
        """Return the demand of a workload where the facts of this kind are known."""
        demand = cls(workload)
        if facts:
            kind = parse_wanted(workspace, facts).kind.kind
            for _, _, description in workspace.stores.facts.descriptions(kind):
                demand.learn(description.key, description.values)
        return demand

    def is_asked_for(self, link: Link, /) -> bool:
        """Return True if the text and the path of a link together answer a query."""
        words = frozenset(
            plain_words(f"{link.text[:300]} {link.url.partition('://')[2].partition('/')[2][:300]}")
        )
        return any(True for _ in self._scorer.workload.covered(words))

    def site_utility(self, site: Site, /) -> float:
        """Return what a site is worth that nothing is known of but its address and its row of a table."""
        return self._scorer.demand(self._site_words(site))

    def utility(self, site: Site, link: QueuedLink, /) -> float:
        """Return the probability that a link leads to what is looked for, times the gain of what it names."""
        words = self._scorer.words_of(link.url, link.text) | self._site_words(site)
        return link.score * self._scorer.demand(words)

    def learn(self, key: str, values: Mapping[str, Sequence[str]], /) -> None:
        """Take in an entity by the key of its description: what asks for it is worth less from now on."""
        number = self._entities.setdefault(key, len(self._entities) + 1)
        self._scorer.value.update(number, values)
        self._scorer.know(values)

    def _site_words(self, site: Site) -> frozenset[str]:
        words = self._words.get(site.start)
        if words is None:
            words = self._words[site.start] = self._scorer.words_of(site.start, site.about)
        return words


# The order of extraction


@dataclass(frozen=True, slots=True)
class Plan:
    """The order of an extraction: what people ask for, and the pages or hosts that they endorse."""

    workload: Workload = field(default_factory=Workload)
    endorsed: Mapping[str, float] = field(default_factory=dict)
    settings: FactsConfig = field(default_factory=FactsConfig)
    seed: int = 0

    @property
    def rng(self) -> Random:
        return Random(self.seed)  # noqa: S311 - a sample, no secret

    def agenda(self, batch: int) -> Agenda:
        settings = self.settings
        value = GraphValue(self.workload, settings.alpha, settings.beta, settings.c)
        scorer = PageScorer(
            self.workload,
            value,
            "combined",
            self.endorsed,
            corroboration=settings.corroboration,
            structure=Relevance(prior=0.7) if settings.success == "page" else None,
        )
        return Agenda(scorer, sample=SAMPLE, batch=batch, rescore=batch)


class Stopped(Exception):  # noqa: N818 - no error
    """A person stopped the extraction, or its budget is spent."""


def extract_by_worth(
    workspace: Workspace,
    wanted: Wanted,
    plan: Plan,
    *,
    run_id: int | None = None,
    on_progress: Callable[[int, int], None] = lambda _done, _of: None,
    stop: Callable[[], bool] = lambda: False,
) -> ExtractedFacts:
    """Do as `extract_facts`, in the order of what is worth most by a plan. At the end, the result is the same."""
    tasks = {task.key: task for task in reading_tasks(workspace, wanted, run_id)}
    agenda, graph = plan.agenda(BATCH), ConsensusGraph(wanted.kind)
    for _, _, description in workspace.stores.facts.descriptions(wanted.kind.kind):
        if description.key not in tasks:
            agenda.scorer.take_in({(entity := graph.add(description)): graph.values(entity)})
    done: list[int] = []

    def extract(page: LightPage) -> PageResult:
        if stop():
            raise Stopped
        on_progress(len(done), len(tasks))
        task = tasks[page.key]
        description = task.run()
        done.append(len(task.pages))
        if not description.claims:
            return PageResult(relevant=False, extracted=False)
        entity = graph.add(description)
        complete = all(name in description.values for name in wanted.fields)
        doubts = {entity: doubt(graph.consensus(entity))} if plan.settings.corroboration else {}
        return PageResult(True, complete, {entity: graph.values(entity)}, doubts)

    corpus = [_light_task(workspace, task) for task in tasks.values()]
    stopped = False
    try:
        deque(run_agenda(corpus, agenda, extract, plan.rng), maxlen=0)
    except Stopped:
        stopped = True
    on_progress(len(done), len(tasks))
    return conclude_extraction(workspace, wanted, sum(done), stopped=stopped)


def _light_task(workspace: Workspace, task: ReadingTask) -> LightPage:
    first = task.pages[0]
    titles = dict.fromkeys(page.title for page in task.pages[:_TITLES])
    return LightPage(task.key, task.key, " ".join([first.about, *titles]), body=body_reader(workspace, first))


def body_reader(workspace: Workspace, page: ArchivedPage) -> Callable[[], bytes]:
    def read() -> bytes:
        answer = read_archived(workspace, page)
        return answer.body if answer else b""

    return read

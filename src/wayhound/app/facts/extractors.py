"""Extractors of facts that cost time or money, run where a fact is missing and within a budget, best pages first."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from wayhound.app.facts.agenda import COSTLY_BATCH, Plan, Stopped, body_reader
from wayhound.app.facts.extraction import extract_facts, pages_to_read
from wayhound.app.facts.search import Wanted, fact_kinds
from wayhound.app.facts.sites import read_archived
from wayhound.app.forage_worker import make_fetcher, make_renderer
from wayhound.documents.document import Document, Unread
from wayhound.documents.reader import DocumentReader
from wayhound.entities.agenda import LightPage, PageResult, run_agenda
from wayhound.entities.extract import read_facts, settle
from wayhound.entities.fact import Fact
from wayhound.errors import PageUnavailable, UsageError
from wayhound.fetched import Failed, Fetched
from wayhound.plugins import FACT_EXTRACTORS, FactExtractor, FactRequest, FoundFact, find_plugins
from wayhound.record_kinds import KindSpec
from wayhound.store.facts import ArchivedPage, FactReading
from wayhound.url import host_of
from wayhound.workspace import Workspace

if TYPE_CHECKING:
    from wayhound.net.http import HttpFetcher
    from wayhound.net.rendering import BrowserFetcher

WEB_PAGES = ("text/html", "application/xhtml")
MAX_FAILURES = 3
MAX_TEXT = 500


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds and money that calls have cost."""

    seconds: float = 0.0
    money: float = 0.0
    calls: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.seconds + other.seconds, self.money + other.money, self.calls + other.calls)


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that costly extractors may spend in all, earlier calls included; None for no limit."""

    seconds: float | None = None
    money: float | None = None

    def allows(self, spent: Spent, price: float) -> bool:
        """Return True if one more call fits: of its usual length so far, at this price."""
        usual = spent.seconds / spent.calls if spent.calls else 0.0
        in_time = self.seconds is None or (
            spent.seconds + usual <= self.seconds and spent.seconds < self.seconds
        )
        return in_time and (self.money is None or spent.money + price <= self.money * _ROUNDING)


_ROUNDING = 1 + 1e-9  # a hundred calls at a cent fit into one euro


@dataclass(frozen=True, slots=True)
class CostlyExtraction:
    """The result of costly extractors: pages read and facts found now, spent in all, and pages that are left."""

    pages: int = 0
    facts: int = 0
    spent: Spent = field(default_factory=Spent)
    left: int = 0
    stopped: bool = False
    problems: tuple[str, ...] = ()


def extract_at_cost(
    workspace: Workspace,
    wanted: Wanted,
    plan: Plan,
    names: Sequence[str],
    budget: Budget,
    *,
    run_id: int | None = None,
    on_progress: Callable[[int, int], None] = lambda _done, _of: None,
    stop: Callable[[], bool] = lambda: False,
) -> CostlyExtraction:
    """Run costly extractors over the pages whose description lacks a wanted field, those worth most first.

    Every reading is saved with its cost, so that no page is paid for twice and the same call goes on after a stop. It
    ends when the budget is spent. Raises UsageError for an unknown extractor.
    """
    store, kind = workspace.stores.facts, wanted.kind
    with ExitStack() as stack:
        extractors = {name: stack.enter_context(_open_extractor(workspace, name)) for name in names}
        readings = list(store.readings(kind.kind))
        read = {(reading.extractor, reading.url, reading.digest) for reading in readings}
        paid = [r for r in readings if r.extractor in extractors]
        known = {d.key: set(d.values) for _, _, d in store.descriptions(kind.kind)}
        run = _CostlyRun(workspace, wanted, extractors, budget, stop, known)
        run.spent = sum((Spent(r.seconds, r.money, 1) for r in paid), Spent())
        jobs = [
            job
            for job in _costly_jobs(workspace, wanted, extractors, run_id)
            if job.identity not in read and run.missing(job.key)
        ]
        agenda = plan.agenda(COSTLY_BATCH)
        for reading in paid:
            agenda.scorer.success.learn(host_of(reading.url), bool(reading.facts))
        by_key = {f"{job.extractor} {job.page.url}": job for job in jobs}
        corpus = [
            LightPage(
                key, job.page.url, f"{job.page.about} {job.page.title}", body=body_reader(workspace, job.page)
            )
            for key, job in by_key.items()
        ]

        def extract(page: LightPage) -> PageResult:
            on_progress(run.pages, len(jobs))
            return run.read(by_key[page.key])

        with suppress(Stopped):
            deque(run_agenda(corpus, agenda, extract, plan.rng), maxlen=0)
    on_progress(run.pages, len(jobs))
    if run.pages:
        extract_facts(workspace, wanted, run_id=run_id)
    left = sum(not run.is_done(job) for job in jobs)
    return CostlyExtraction(run.pages, run.facts, run.spent, left, run.stopped, tuple(run.problems.values()))


@dataclass(frozen=True, slots=True)
class _CostlyJob:
    extractor: str
    page: ArchivedPage
    key: str  # of the description that lacks something

    @property
    def identity(self) -> tuple[str, str, str]:
        return self.extractor, self.page.url, self.page.digest


def _costly_jobs(
    workspace: Workspace, wanted: Wanted, extractors: Mapping[str, FactExtractor], run_id: int | None
) -> Iterator[_CostlyJob]:
    store, kind = workspace.stores.facts, wanted.kind
    for start, pages in store.sites(run_id):
        for page in pages_to_read(pages, kind):
            key = start if kind.scope == "site" else page.url
            for name, extractor in extractors.items():
                if page.content_type.startswith(tuple(getattr(extractor, "content_types", WEB_PAGES))):
                    yield _CostlyJob(name, page, key)


@dataclass
class _CostlyRun:
    """Calls of costly extractors, with what they have spent. One that fails often in a row is given up."""

    workspace: Workspace
    wanted: Wanted
    extractors: Mapping[str, FactExtractor]
    budget: Budget
    stop: Callable[[], bool]
    known: Mapping[str, set[str]]  # fields of each description
    spent: Spent = field(default_factory=Spent)
    pages: int = 0
    facts: int = 0
    stopped: bool = False
    problems: dict[str, str] = field(default_factory=dict)
    _failures: Counter[str] = field(default_factory=Counter)
    _read: set[tuple[str, str, str]] = field(default_factory=set)
    _found: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # fields by description

    def missing(self, key: str) -> set[str]:
        """Return the wanted fields that a description lacked at the start."""
        return set(self.wanted.fields) - self.known.get(key, set())

    def is_done(self, job: _CostlyJob) -> bool:
        """Return True if a page was read, or need not be: others have had what was missing."""
        return job.identity in self._read or self._found[job.key] >= self.missing(job.key)

    def read(self, job: _CostlyJob) -> PageResult:
        """Read a page and save the reading. Raises Stopped when the budget is spent or a person stops."""
        extractor = self.extractors[job.extractor]
        price = float(getattr(extractor, "money_per_page", 0.0))
        self.stopped = self.stop()
        if self.stopped or not self.budget.allows(self.spent, price):
            raise Stopped
        if self._failures[job.extractor] >= MAX_FAILURES or self.is_done(job):
            return PageResult(relevant=False, extracted=False)
        answer = read_archived(self.workspace, job.page)
        body, content_type = (answer.body, answer.content_type) if answer else (b"", "")
        request = FactRequest(
            job.page.url, job.page.title, content_type, body, self.wanted.kind.kind, self.wanted.fields
        )
        began = time.monotonic()
        found: tuple[Fact, ...] | None
        try:
            found = tuple(_checked_fact(fact, job.extractor) for fact in extractor(request)) if body else ()
            self._failures[job.extractor] = 0
        except Exception as error:  # noqa: BLE001 - foreign code may raise anything
            self._failures[job.extractor] += 1
            self.problems.setdefault(job.extractor, f"{job.extractor} failed on {job.page.url}: {error}")
            found = None
        cost = Spent(time.monotonic() - began, price, 1)
        self.spent += cost
        if found is not None:  # a page that failed is tried again by the next call
            reading = FactReading(*job.identity, found, cost.seconds, cost.money)
            self.workspace.stores.facts.save_reading(self.wanted.kind.kind, reading)
            self.pages += 1
            self.facts += len(found)
            self._read.add(job.identity)
            self._found[job.key] |= {fact.field for fact in found}
        return PageResult(relevant=bool(found), extracted=bool(found))


def _checked_fact(fact: object, source: str) -> Fact:
    if not isinstance(fact, FoundFact):
        raise TypeError(f"an extractor must give found facts, not {type(fact).__name__}")
    text = " ".join(str(fact.text).split())[:MAX_TEXT]
    confidence = min(1.0, max(0.0, float(fact.confidence)))
    return Fact(fact.field, text, confidence, source, int(fact.start), int(fact.end), printed=text)


def extractor_names() -> list[str]:
    """Return the names of all costly extractors, those of installed plugins included."""
    return sorted({*BUILT_IN, *find_plugins(FACT_EXTRACTORS)})


@contextmanager
def _open_extractor(workspace: Workspace, name: str) -> Iterator[FactExtractor]:
    if name in BUILT_IN:
        with BUILT_IN[name](workspace) as built_in:
            yield built_in
        return
    plugin = find_plugins(FACT_EXTRACTORS).get(name)
    if plugin is None:
        raise UsageError(f"There is no extractor {name!r}. Choose one of {', '.join(extractor_names())}.")
    extractor: FactExtractor = plugin.load()
    yield extractor


@dataclass
class _Documents:
    """Reads PDF and PostScript files; with `ocr` also those whose pages are pictures."""

    reader: DocumentReader
    kinds: Mapping[str, KindSpec]
    ocr: bool = False
    content_types = ("application/pdf", "application/postscript", "application/octet-stream")

    def __call__(self, page: FactRequest, /) -> Iterator[FoundFact]:
        document = self.reader.read(page.body, ocr=self.ocr)
        if isinstance(document, Unread) and document.reason == "no_tesseract":
            raise UsageError(document.detail)
        if isinstance(document, Document):
            text = "\n".join(line.text for line in document.lines)
            yield from _found(page.url, text.encode("utf-8", "replace"), "text/plain", self.kinds[page.kind])


@contextmanager
def _documents(workspace: Workspace, *, ocr: bool = False) -> Iterator[FactExtractor]:
    with DocumentReader() as reader:
        yield _Documents(reader, fact_kinds(workspace), ocr)


@contextmanager
def _rendered(workspace: Workspace) -> Iterator[FactExtractor]:
    """Show archived pages to a browser, which loads their scripts and data, and read what it makes of them."""
    config = replace(workspace.config, fetch=replace(workspace.config.fetch, render="always"))
    kinds = fact_kinds(workspace)
    with asyncio.Runner() as runner, ExitStack() as stack:
        fetcher = make_fetcher(config)
        renderer = make_renderer(config, fetcher)
        assert renderer is not None
        for opened in (fetcher, renderer):
            runner.run(opened.__aenter__())
            stack.callback(_close, runner, opened)

        def extract(page: FactRequest) -> list[FoundFact]:
            media_type, _, charset = page.content_type.partition("; charset=")
            response = Fetched(page.url, 200, body=page.body, content_type=media_type, charset=charset)
            shown = runner.run(renderer.render(response))
            if isinstance(shown, Failed):
                raise PageUnavailable(page.url, shown.reason)
            return list(_found(page.url, shown.body, "text/html; charset=utf-8", kinds[page.kind]))

        yield extract


def _close(runner: asyncio.Runner, opened: HttpFetcher | BrowserFetcher) -> None:
    runner.run(opened.__aexit__(None, None, None))


def _found(url: str, body: bytes, content_type: str, kind: KindSpec) -> Iterator[FoundFact]:
    for fact in settle(read_facts(url, body, content_type), kind):
        yield FoundFact(fact.field, fact.text, fact.confidence, fact.start, fact.end)


BUILT_IN: Mapping[str, Callable[[Workspace], AbstractContextManager[FactExtractor]]] = {
    "documents": _documents,
    "ocr": partial(_documents, ocr=True),
    "browser": _rendered,
}
"""Costly extractors that Wayhound brings: PDF and PostScript files, scanned ones, and pages that their scripts make."""

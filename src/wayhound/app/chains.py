"""Link chains of a workspace: learn a relationship from examples, extract its instances, make records of them."""

from __future__ import annotations

import asyncio
import csv
import itertools
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import IO, Self
from urllib.parse import quote, urlsplit

from wayhound.app.forage_worker import make_fetcher
from wayhound.app.goal_records import goal_id
from wayhound.archive.replay import ReplayFetcher, warc_files
from wayhound.chains.construction import (
    ChainRules,
    ExampleChain,
    ExampleLink,
    Extraction,
    construct_chains,
    learn_chains,
)
from wayhound.chains.ontology import Ontology, Relationship
from wayhound.chains.rules import PageRules
from wayhound.chains.tokens import Anchor, TokenPage
from wayhound.errors import ArchiveError, TeachingError, UsageError
from wayhound.fetched import Failed, Fetched
from wayhound.pages.sniff import decode, sniff_kind
from wayhound.record import Record, Span, Value
from wayhound.store.chains import ChainInstance, ChainStore, KnownRelationship
from wayhound.url import host_of, normalise
from wayhound.workspace import Workspace

INSTANCE, RELATION = "instance", "relation"
MAX_REDIRECTS = 5
_CACHED_PAGES = 64
_CANDIDATES = 5_000
_STALE_SHARE = 0.5
_NAMES_IN_SUMMARY = 40

Progress = Callable[[str, int, int], None]
"""Called with what is done, how many are done, and how many there are."""


class ChainPages:
    """Pages by address: from recorded sites if any are given, else from the archive, else from the network.

    Fetched pages are archived. Use it as a context manager; without the network it needs no closing.
    """

    def __init__(self, workspace: Workspace, recorded: Sequence[Path] = (), *, online: bool = False) -> None:
        self._workspace = workspace
        self._store = workspace.stores.chains
        self._recorded = (
            ReplayFetcher([file for path in recorded for file in warc_files(path)]) if recorded else None
        )
        self._online = online
        self._runner: asyncio.Runner | None = None
        self._cache: dict[str, TokenPage | None] = {}
        self._last_fetch: dict[str, float] = {}
        self.fetches = 0

    def get(self, url: str) -> TokenPage | None:
        """Return a page, or None if it cannot be had."""
        url = normalise(url) or url
        if url not in self._cache:
            if len(self._cache) >= _CACHED_PAGES:
                self._cache.pop(next(iter(self._cache)))
            response = self.response(url)
            self._cache[url] = _token_page(response) if response else None
        return self._cache[url]

    def response(self, url: str) -> Fetched | None:
        """Return the response at the end of redirects; None for a failure or an error status."""
        for _ in range(MAX_REDIRECTS):
            answer = self._answer(url)
            if not isinstance(answer, Fetched) or not answer.location:
                return answer if isinstance(answer, Fetched) and answer.ok else None
            url = answer.location
        return None

    def known(self, like: str) -> list[str]:
        """Return the addresses at hand on the site of an address."""
        host = host_of(like)
        if self._recorded is not None:
            return [url for url in self._recorded.urls() if host_of(url) == host]
        scheme = like.partition("://")[0]
        return self._store.visited(f"{scheme}://{host}/", _CANDIDATES)

    def _answer(self, url: str) -> Fetched | Failed | None:
        if self._recorded is not None:
            return self._recorded.get(url)
        if ref := self._store.page_ref(url):
            try:
                return self._workspace.archive.read(ref)
            except (ArchiveError, OSError):
                pass  # the file was moved away: fetch it again
        return self._fetch(url) if self._online else None

    def _fetch(self, url: str) -> Fetched | Failed:
        """Fetch with the checks and the pace of a forage, and archive the response."""
        host = host_of(url)
        wait = self._last_fetch.get(host, 0.0) + self._workspace.config.fetch.delay_seconds - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        if self._runner is None:
            self._runner = asyncio.Runner()
            self._fetcher = make_fetcher(self._workspace.config)
            self._runner.run(self._fetcher.__aenter__())
        answer = self._runner.run(self._fetcher.fetch(url))
        self._last_fetch[host] = time.monotonic()
        self.fetches += 1
        if isinstance(answer, Fetched):
            with self._workspace.archive_writer("chains") as writer:
                self._store.save_page(answer.url, writer.write(answer, at=time.time()))
        return answer

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._runner is not None:
            self._runner.run(self._fetcher.__aexit__(None, None, None))
            self._runner.close()
            self._runner = None


def _token_page(response: Fetched) -> TokenPage | None:
    if sniff_kind(response.body, response.content_type, response.charset) != "html":
        return None
    return TokenPage(response.url, decode(response.body, response.charset)[0])


# Examples


def read_examples(text: str, ontology: Ontology, where: str) -> dict[str, list[ExampleChain]]:
    """Read example chains by relationship: addresses of pages in order, or JSON with the places of links.

    ActorOf  https://films.example/1  https://films.example/1/cast  https://films.example/people/2
    !ActorOf …  says that the last link does not belong to the relationship
    {"relationship": "ActorOf", "chain": [{"page": "…", "target": "…", "pos": 120, "text": "…"}], "wanted": true}

    The name may be left out if there is one relationship. Raises UsageError naming the line.
    """
    examples: dict[str, list[ExampleChain]] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        place = f"{where}, line {number}"
        name, links, wanted = (
            _json_example(line, place) if line.lstrip()[0] == "{" else _plain_example(line, place)
        )
        if not name and len(ontology.relationships) == 1:
            name = next(iter(ontology.relationships))
        if name not in ontology.relationships:
            known = ", ".join(ontology.relationships)
            raise UsageError(f"{place}: begin with the name of a relationship, one of {known}.")
        examples.setdefault(name, []).append(ExampleChain(links, wanted, f"Line {number}"))
    if not examples:
        raise UsageError(
            f"{where} has no example. Write the addresses of a source page and its target page on a line."
        )
    return examples


def _plain_example(line: str, place: str) -> tuple[str, tuple[ExampleLink, ...], bool]:
    parts = line.split()
    wanted = not parts[0].startswith("!")
    parts[0] = parts[0].removeprefix("!")
    name = "" if "://" in parts[0] else parts.pop(0)
    urls = [normalise(part) for part in parts if part]
    if len(urls) < 2 or not all(urls):
        raise UsageError(
            f"{place}: expected the addresses of at least two pages, the source first and the target last."
        )
    links = tuple(ExampleLink(page, target) for page, target in itertools.pairwise(urls))
    return name, links, wanted


def _json_example(line: str, place: str) -> tuple[str, tuple[ExampleLink, ...], bool]:
    try:
        data = json.loads(line)
        links = tuple(
            ExampleLink(
                str(link["page"]), str(link["target"]), int(link.get("pos", -1)), str(link.get("text", ""))
            )
            for link in data["chain"]
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{place} is not an example: {error}.") from None
    if not links:
        raise UsageError(f"{place}: the chain has no link.")
    return str(data.get("relationship", "")), links, bool(data.get("wanted", True))


# The use cases


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
        starts = dict.fromkeys([*map(_site, sources), *sources])
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
        on_progress: Progress = lambda _what, _done, _of: None,
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
        makers = _RecordMaker(relationships, self.store.titles())
        self.store.save_records(makers.records(list(self.store.instances())), (INSTANCE, RELATION))


def page_title(page: TokenPage) -> str:
    """Return what a page calls itself: its main heading, else its title."""
    from wayhound.pages.reader import read_page  # noqa: PLC0415

    read = read_page(page.url, page.text.encode("utf-8", "replace"), "text/html", "utf-8")
    headings = getattr(read, "headings", ())
    return (headings[0] if headings else getattr(read, "title", "")) or page.url


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


@dataclass
class _RecordMaker:
    relationships: dict[str, Relationship]
    titles: dict[str, str]

    def records(self, instances: Sequence[ChainInstance]) -> list[Record]:
        self._name_targets(instances)
        concepts: dict[str, list[str]] = {}
        summaries: dict[str, dict[str, list[str]]] = {}
        for each in instances:
            relationship = self.relationships[each.relationship]
            for url, concept in ((each.source, relationship.source), (each.target, relationship.target)):
                if concept not in concepts.setdefault(url, []):
                    concepts[url].append(concept)
            forth, back = summaries.setdefault(each.source, {}), summaries.setdefault(each.target, {})
            forth.setdefault(relationship.shown, []).append(self._title(each.target))
            back.setdefault(inverse_name(relationship), []).append(self._title(each.source))
        pages = [self._instance(url, named, summaries[url]) for url, named in concepts.items()]
        return [*pages, *map(self._relation, instances)]

    def _name_targets(self, instances: Sequence[ChainInstance]) -> None:
        """Call a target by the text that most links to it have, unless its own title is known."""
        texts: dict[str, Counter[str]] = {}
        for each in instances:
            if each.steps[-1].text:
                texts.setdefault(each.target, Counter())[each.steps[-1].text] += 1
        self.titles = {url: counts.most_common(1)[0][0] for url, counts in texts.items()} | self.titles

    def _title(self, url: str) -> str:
        return self.titles.get(url) or url

    def _instance(self, url: str, concepts: list[str], summary: dict[str, list[str]]) -> Record:
        lines = [f"{name}: {', '.join(titles[:_NAMES_IN_SUMMARY])}." for name, titles in summary.items()]
        fields = {
            "title": (Value(self._title(url)),),
            "concept": tuple(map(Value, concepts)),
            "snippet": (Value(" ".join(lines), source=Span(url)),),
            "url": (Value(url),),
        }
        return Record(INSTANCE, goal_id(url), fields, _site(url))

    def _relation(self, each: ChainInstance) -> Record:
        relationship = self.relationships[each.relationship]
        source, target = self._title(each.source), self._title(each.target)
        guide = tuple(
            Value(step.text or step.target, source=Span(step.page, step.pos, step.pos)) for step in each.steps
        )
        fields = {
            "title": (Value(f"{source} – {relationship.shown} – {target}"),),
            "relationship": (Value(relationship.name),),
            "source": (Value(source),),
            "target": (Value(target),),
            "guide": guide,
            "source_url": (Value(each.source),),
            "target_url": (Value(each.target),),
        }
        return Record(RELATION, relation_id(each), fields, _site(each.source))


def relation_id(instance: ChainInstance) -> str:
    """Return the id of the record of a relationship instance."""
    key = f"{instance.relationship}\n{instance.source}\n{instance.target}"
    return sha256(key.encode("utf-8", "replace")).hexdigest()[:16]


def inverse_name(relationship: Relationship) -> str:
    """Return what a relationship is called when it is read from the target."""
    return relationship.inverse or f"{relationship.shown} of"


def _site(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/"


MOST_RELATED = 200


@dataclass(frozen=True, slots=True)
class Related:
    """A page that another is related to: what the relation is called from there, and the links to click.

    `record` is the id of the page's record, `relation` that of the relation.
    """

    name: str
    title: str
    record: str
    relation: str
    guide: tuple[str, ...]


def related_pages(workspace: Workspace, url: str) -> list[Related]:
    """Return the pages that a page is related to, in both directions, by relationship."""
    store = workspace.stores.chains
    relationships = {known.relationship.name: known.relationship for known in store.relationships()}
    related = []
    for each in store.of_page(url, MOST_RELATED) if relationships else ():
        relationship = relationships[each.relationship]
        other = each.target if each.source == url else each.source
        name = relationship.shown if each.source == url else inverse_name(relationship)
        record = workspace.stores.records.get(INSTANCE, goal_id(other))
        guide = tuple(step.text or step.target for step in each.steps)
        title = record.first("title") if record else other
        related.append(Related(name, title, goal_id(other), relation_id(each), guide))
    return sorted(related, key=lambda each: (each.name, each.title))


# Exports


def export_instances(store: ChainStore, name: str | None, file: IO[str], file_format: str) -> int:
    """Write instances as `jsonl`, `csv` or `turtle`, and return how many."""
    relationships = {known.relationship.name: known.relationship for known in store.relationships()}
    writers = {"jsonl": _write_jsonl, "csv": _write_csv, "turtle": _write_turtle}
    return writers[file_format](store.instances(name), relationships, file)


def _write_jsonl(
    instances: Iterable[ChainInstance], relationships: dict[str, Relationship], file: IO[str]
) -> int:
    written = 0
    for each in instances:
        relationship = relationships[each.relationship]
        chain = [
            {"page": step.page, "pos": step.pos, "text": step.text, "target": step.target}
            for step in each.steps
        ]
        row = {
            "relationship": each.relationship, "source": each.source, "target": each.target,
            "source_concept": relationship.source, "target_concept": relationship.target, "chain": chain,
        }  # fmt: skip
        file.write(json.dumps(row, ensure_ascii=False) + "\n")
        written += 1
    return written


def _write_csv(
    instances: Iterable[ChainInstance], relationships: dict[str, Relationship], file: IO[str]
) -> int:
    rows = csv.writer(file)
    rows.writerow(
        ["relationship", "source concept", "source", "target concept", "target", "link text", "via"]
    )
    written = 0
    for each in instances:
        relationship = relationships[each.relationship]
        via = " ".join(step.page for step in each.steps[1:])
        row = [each.relationship, relationship.source, each.source, relationship.target, each.target]
        rows.writerow([_safe_cell(cell) for cell in (*row, each.steps[-1].text, via)])
        written += 1
    return written


def _safe_cell(text: str) -> str:
    """Keep spreadsheets from reading fetched text as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _write_turtle(
    instances: Iterable[ChainInstance], relationships: dict[str, Relationship], file: IO[str]
) -> int:
    file.write("@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n")
    file.write("@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n")
    file.write("@prefix o: <urn:wayhound:ontology:> .\n\n")
    for relationship in relationships.values():
        file.write(
            f"o:{relationship.name} a rdf:Property ; rdfs:domain o:{relationship.source} ; "
            f"rdfs:range o:{relationship.target} ; rdfs:label {_literal(relationship.shown)} .\n"
        )
    written, typed = 0, set()
    for each in instances:
        relationship = relationships[each.relationship]
        source, target = _iri(each.source), _iri(each.target)
        for subject, concept in ((source, relationship.source), (target, relationship.target)):
            if (subject, concept) not in typed:
                typed.add((subject, concept))
                file.write(f"{subject} a o:{concept} .\n")
        if each.steps[-1].text:
            file.write(f"{target} rdfs:label {_literal(each.steps[-1].text)} .\n")
        file.write(f"{source} o:{relationship.name} {target} .\n")
        written += 1
    return written


def _iri(url: str) -> str:
    return f"<{quote(url, safe=':/?#[]@!$&()*+,;=%~-._' + chr(39))}>"


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=True)

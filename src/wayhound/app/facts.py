"""Facts of entities: extract them from archived pages, and bring them together.

A description holds what one page, or for organisations one site, says. Descriptions of one thing become one entity,
which is a record like any other: it is searched, exported and shown in the portal.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain, groupby
from typing import Self

from wayhound.app.parallel import map_items
from wayhound.config import Config
from wayhound.entities.contacts import is_personal
from wayhound.entities.extract import FactPage, SiteProfile, read_facts, same_fact, settle
from wayhound.entities.fact import Fact
from wayhound.entities.graph import Claim, ConsensusGraph, Description
from wayhound.entities.tagger import LEAST_SITES, LineTagger, learn_tagger
from wayhound.entities.templates import SiteTemplate, learn_template, lines_with_paths, merge_taught
from wayhound.errors import ArchiveError, UsageError
from wayhound.fetched import Fetched
from wayhound.record import Record, Span, Value
from wayhound.record_kinds import FACT_KINDS, FILE_NAME, KindSpec, read_kinds
from wayhound.store.facts import ArchivedPage, FactReading
from wayhound.url import host_of, registrable_domain
from wayhound.workspace import Workspace

CONTACT = "contact"
CONTACT_FIELDS = ("email", "phone", "address")
CONTACT_WORDS = ("contact", "imprint", "offices", "visit", "find us")
"""Words by which pages with contact details are called; taken as keywords where nothing else is asked for."""

_FEW = 4  # phones or addresses that one organisation has on a page
ENOUGH = 0.6  # confidence from which a forage takes a fact for found
PATIENCE, PATIENCE_AFTER_SOME = 4, 1  # pages of a site without any new fact, until one was found and after
PROFILE_PAGES = 50
EXAMPLES = 2  # pages on which a field was marked, before it is a rule for the other pages of the site
MAX_SAMPLES = 16  # sites whose sampled pages are kept at a time
_VERSION = "4"  # descriptions made by an earlier version are made anew


@dataclass(frozen=True, slots=True)
class Wanted:
    """A kind, and the fields of it that are looked for."""

    kind: KindSpec
    fields: tuple[str, ...]
    persons: bool = True


def fact_kinds(workspace: Workspace) -> dict[str, KindSpec]:
    """Return the kinds that can be extracted: those built in, and those that the workspace or plugins declare."""
    kinds = read_kinds(workspace.folder / FILE_NAME)
    return {name: spec for name, spec in kinds.items() if name in FACT_KINDS or name not in _MADE_ELSEWHERE}


_MADE_ELSEWHERE = frozenset({"paper", "document", "page"})


def parse_wanted(workspace: Workspace, text: str) -> Wanted:
    """Return what `contact`, a kind, or a kind with fields (`restaurant:phone,address`) asks for.

    Raises UsageError for an unknown kind or field, and for people where the settings keep them out.
    """
    kinds = fact_kinds(workspace)
    persons = workspace.config.facts.persons
    name, _, listed = text.partition(":")
    fields = tuple(filter(None, (part.strip() for part in listed.split(","))))
    if name == CONTACT:
        name, fields = "organisation", fields or CONTACT_FIELDS
    if name not in kinds:
        raise UsageError(f"There is no kind {name!r}. Choose one of {', '.join(sorted({CONTACT, *kinds}))}.")
    if name == "person" and not persons:
        raise UsageError(
            "The settings keep persons out (persons in [facts] of wayhound.toml), so none are extracted."
        )
    taught = [field for _, field, _ in workspace.stores.facts.examples(name)]
    known = list(dict.fromkeys([*(spec.name for spec in kinds[name].fields if not spec.fact), *taught]))
    if unknown := [part for part in fields if part not in known]:
        raise UsageError(f"{kinds[name].label} has no field {unknown[0]!r}. Choose from {', '.join(known)}.")
    return Wanted(kinds[name], fields or tuple(known), persons)


def parse_mark(name: str, text: str) -> tuple[str, str, str]:
    """Return kind, field and value of what a person marked; `phone` is one of organisations, `talk:room` of talks.

    Raises UsageError for an empty value and for what is not a word.
    """
    value = " ".join(text.split())
    kind, _, field_name = name.strip().lower().rpartition(":")
    if not value or not re.fullmatch(r"[^\W\d]\w{0,39}", field_name):
        raise UsageError("Select a text, and name its field with one word, such as phone.")
    return kind or "organisation", field_name, value


# While a forage walks


class FactSearch:
    """The facts of one site while it is walked.

    It ends when every wanted field has been found, or when pages bring nothing new: the links that look most like
    contact pages are followed first, so after a few of them without news the rest of the site has none either.
    """

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._missing = set(wanted.fields)
        self._without_news = 0
        self._found: tuple[str, dict[str, list[str]]] = "", {}

    def read(self, response: Fetched, /) -> bool:
        page = read_facts(response.url, response.body, response.content_type, response.charset)
        facts = _allowed(settle(page, self._wanted.kind), self._wanted)
        new = self._missing & {fact.field for fact in facts if fact.confidence >= ENOUGH}
        self._missing -= new
        if self._wanted.kind.scope == "page":
            self._found = response.url, {}
        for fact in facts:
            if fact.text not in self._found[1].setdefault(fact.field, []):
                self._found[1][fact.field].append(fact.text)
        self._without_news = 0 if new else self._without_news + 1
        return bool(new)

    @property
    def found(self) -> tuple[str, Mapping[str, Sequence[str]]]:
        return self._found

    @property
    def end_reason(self) -> str:
        if not self._missing:
            return "facts found"
        patience = PATIENCE if len(self._missing) == len(self._wanted.fields) else PATIENCE_AFTER_SOME
        return "further pages have no new facts" if self._without_news >= patience else ""


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
    taught: _Taught
    units: Sequence[tuple[str, tuple[ArchivedPage, ...]]]

    @classmethod
    def of(cls, tasks: Sequence[ReadingTask]) -> Self:
        site = tasks[0].site
        return cls(
            site.start, site.pages, site.taught.about(site), [(task.key, task.pages) for task in tasks]
        )

    def describe(self, workspace: Workspace, wanted: Wanted) -> list[Description]:
        reader = SiteReader(workspace, wanted, self.start, self.pages, self.taught, _Samples())
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
    taught = _Taught.of(workspace, kind)
    samples = _Samples()
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
class _Taught:
    """Knowledge of pages from elsewhere: values that people marked, and readings of costly extractors.

    Values that were marked on several sites teach a tagger for the pages of all.
    """

    examples: Mapping[str, list[tuple[str, str, str]]]  # by domain: URL, field and text
    readings: Mapping[str, list[FactReading]]  # by URL
    tagger: LineTagger | None = None

    @classmethod
    def of(cls, workspace: Workspace, kind: KindSpec) -> Self:
        store = workspace.stores.facts
        examples: dict[str, list[tuple[str, str, str]]] = {}
        for url, name, text in store.examples(kind.kind):
            examples.setdefault(registrable_domain(url), []).append((url, name, text))
        readings: dict[str, list[FactReading]] = {}
        for reading in store.readings(kind.kind):
            if reading.facts:
                readings.setdefault(reading.url, []).append(reading)
        return cls(examples, readings, _tagger(workspace, examples))

    def about(self, site: SiteReader) -> Self:
        """Return what concerns the pages of one site."""
        domain = registrable_domain(site.start)
        urls = {page.url for page in site.pages} & self.readings.keys()
        examples = {domain: self.examples[domain]} if domain in self.examples else {}
        return replace(self, examples=examples, readings={url: self.readings[url] for url in urls})


def _tagger(
    workspace: Workspace, examples: Mapping[str, Sequence[tuple[str, str, str]]]
) -> LineTagger | None:
    """Return a tagger of the fields that were marked on several sites; None if there are none."""
    if len(examples) < LEAST_SITES:
        return None
    marks: dict[str, list[tuple[str, str]]] = {}
    for url, name, text in chain.from_iterable(examples.values()):
        marks.setdefault(url, []).append((name, text))
    archived = {
        page.url: page for _, pages in workspace.stores.facts.sites() for page in pages if page.url in marks
    }
    answers = ((url, read_archived(workspace, page)) for url, page in sorted(archived.items()))
    return learn_tagger(
        (registrable_domain(url), answer.body, answer.content_type, answer.charset, marks[url])
        for url, answer in answers
        if answer is not None
    )


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


class _Samples:
    """The sampled pages of the sites that were read last."""

    def __init__(self) -> None:
        self._kept: dict[str, _Sample] = {}

    def get(self, start: str, make: Callable[[], _Sample]) -> _Sample:
        sample = self._kept.pop(start, None) or make()
        self._kept[start] = sample
        if len(self._kept) > MAX_SAMPLES:
            del self._kept[next(iter(self._kept))]
        return sample


@dataclass(frozen=True, slots=True)
class _Sample:
    """Some pages of a site, and what they have in common."""

    pages: Mapping[str, tuple[FactPage, Fetched]]  # by URL
    profile: SiteProfile
    countries: tuple[str, ...]
    templates: Mapping[
        str, SiteTemplate | None
    ]  # for pages with marks of their own, by URL; "" for the others

    def template(self, url: str) -> SiteTemplate | None:
        return self.templates.get(url, self.templates[""])


@dataclass(frozen=True, slots=True)
class SiteReader:
    """Reads the archived pages of one site. A page is read alike whatever was read before it."""

    workspace: Workspace
    wanted: Wanted
    start: str
    pages: Sequence[ArchivedPage]
    taught: _Taught
    samples: _Samples

    def describe(self, key: str, pages: Sequence[ArchivedPage]) -> Description:
        """Return what pages say: those of a whole site about it, a single one about what it describes."""
        sample = self.samples.get(self.start, self._sample)
        settled = []
        for page in pages:
            if (found := sample.pages.get(page.url) or self._read(page, sample.countries)) is not None:
                facts = settled_facts(*found, self.wanted, sample.profile, sample.template(page.url))
                facts += tagged_facts(*found, self.wanted, self.taught.tagger, facts)
                settled.append((found[0], self._with_readings(page, facts)))
        if self.wanted.kind.scope == "page":
            return Description(
                key, tuple(_claim(fact, page.url) for page, facts in settled for fact in facts)
            )
        claims = _first_claims(self.wanted.kind, settled)
        return Description(key, tuple(claims), registrable_domain(self.start) or host_of(self.start))

    def _sample(self) -> _Sample:
        countries: tuple[str, ...] = ()
        read: dict[str, tuple[FactPage, Fetched]] = {}
        for page in self.pages[:PROFILE_PAGES]:
            if (found := self._read(page, countries)) is not None:
                countries = countries or found[0].countries[:1]
                read[page.url] = found
        examples = self._known_examples()
        templates = {url: _template(url, examples) for url in {"", *(example[0] for example in examples)}}
        profile = SiteProfile.learn([page for page, _ in read.values()])
        return _Sample(read, profile, countries, templates)

    def _read(self, page: ArchivedPage, countries: tuple[str, ...]) -> tuple[FactPage, Fetched] | None:
        answer = read_archived(self.workspace, page)
        if answer is None:
            return None  # what the archive has lost has no facts
        return read_facts(page.url, answer.body, answer.content_type, answer.charset, countries), answer

    def _known_examples(self) -> list[tuple[str, str, str, Fetched]]:
        """Return the examples of pages of this site, with these."""
        examples = self.taught.examples.get(registrable_domain(self.start), ())
        if not examples:
            return []
        by_url = {page.url: page for page in self.pages}
        read = {url: read_archived(self.workspace, by_url[url]) for url, _, _ in examples if url in by_url}
        return [(url, name, text, answer) for url, name, text in examples if (answer := read.get(url))]

    def _with_readings(self, page: ArchivedPage, facts: list[Fact]) -> list[Fact]:
        """Return the facts with those of costly extractors: new fields, and other values where there may be several."""
        kind = self.wanted.kind
        for reading in self.taught.readings.get(page.url, ()):
            for fact in reading.facts if reading.digest == page.digest else ():
                spec = kind.field(fact.field)
                of_field = [known for known in facts if known.field == fact.field]
                if not of_field or (
                    spec.many and not any(same_fact(fact, known, spec.compare) for known in of_field)
                ):
                    facts = [*facts, fact]
        return _allowed(facts, self.wanted)


def settled_facts(
    page: FactPage, answer: Fetched, wanted: Wanted, profile: SiteProfile, template: SiteTemplate | None
) -> list[Fact]:
    facts = _allowed(settle(page, wanted.kind, profile), wanted)
    if template is None or not template.rules:
        return facts
    taught = template.apply(answer.body, answer.content_type, answer.charset)
    return merge_taught(facts, taught, wanted.kind, page.countries)


def tagged_facts(
    page: FactPage, answer: Fetched, wanted: Wanted, tagger: LineTagger | None, known: Sequence[Fact]
) -> list[Fact]:
    """Return values of fields that were taught on other sites and that a page has no value of so far."""
    missing = set(tagger.fields) - {fact.field for fact in known} if tagger else set()
    if tagger is None or not missing:
        return []
    lines, paths = lines_with_paths(answer.body, answer.content_type, answer.charset)
    return merge_taught([], tagger.find(lines, paths, missing), wanted.kind, page.countries)


def _allowed(facts: Iterable[Fact], wanted: Wanted) -> list[Fact]:
    """Leave out names of persons, and e-mail addresses with one, where persons are to be kept out."""
    if wanted.persons:
        return list(facts)
    named = {spec.name for spec in wanted.kind.fields if spec.names == "person"}
    return [
        fact
        for fact in facts
        if fact.field not in named and (fact.field != "email" or not is_personal(fact.text))
    ]


def _first_claims(kind: KindSpec, settled: Sequence[tuple[FactPage, list[Fact]]]) -> Iterator[Claim]:
    """Yield each field from the page that says most about the whole: there, an address and a phone belong together."""
    ranked = sorted(settled, key=lambda entry: -_richness(entry[1]))  # stable: goals come first among equals
    declared = [spec.name for spec in kind.fields]
    taught = [fact.field for _, facts in ranked for fact in facts]  # a person may name other fields
    for name in dict.fromkeys([*declared, *taught]):
        for page, facts in ranked:
            of_field = [fact for fact in facts if fact.field == name]
            if of_field:
                yield from (_claim(fact, page.url) for fact in of_field)
                break


def _richness(facts: Sequence[Fact]) -> float:
    """Return how much a page says about an organisation; a list of its people has many phones."""
    counts = Counter(fact.field for fact in facts)
    crowd = sum(counts[name] > _FEW for name in CONTACT_FIELDS)
    return sum(name in counts for name in CONTACT_FIELDS) - crowd


def _claim(fact: Fact, url: str) -> Claim:
    return Claim(fact.field, fact.text, fact.confidence, url, fact.start, fact.end, source=host_of(url))


def _template(page: str, examples: Sequence[tuple[str, str, str, Fetched]]) -> SiteTemplate | None:
    """Return the rules for a page. A field that was marked on one page alone is a rule for that page only."""
    pages = Counter(name for _, name in {(url, name) for url, name, _, _ in examples})
    chosen = [example for example in examples if pages[example[1]] >= EXAMPLES or example[0] == page]
    if not chosen:
        return None
    return learn_template(
        (answer.body, answer.content_type, answer.charset, name, text) for _, name, text, answer in chosen
    )


def read_archived(workspace: Workspace, page: ArchivedPage) -> Fetched | None:
    try:
        return workspace.archive.read(page.archived)
    except (ArchiveError, OSError):
        return None


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

"""Facts of entities: extract them from archived pages, and bring them together.

A description holds what one page, or for organisations one site, says. Descriptions of one thing become one entity,
which is a record like any other: it is searched, exported and shown in the portal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from wayhound.entities.contacts import is_personal
from wayhound.entities.extract import FactPage, SiteProfile, read_facts, settle
from wayhound.entities.fact import Fact
from wayhound.entities.graph import Claim, ConsensusGraph, Description
from wayhound.entities.templates import SiteTemplate, learn_template, merge_taught
from wayhound.errors import ArchiveError, UsageError
from wayhound.fetched import Fetched
from wayhound.record import Record, Span, Value
from wayhound.record_kinds import FACT_KINDS, FILE_NAME, KindSpec, read_kinds
from wayhound.store.facts import ArchivedPage, FactStore
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
_VERSION = "1"  # descriptions made by an earlier version are made anew


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

    def read(self, response: Fetched, /) -> bool:
        page = read_facts(response.url, response.body, response.content_type, response.charset)
        facts = _allowed(settle(page, self._wanted.kind), persons=self._wanted.persons)
        new = self._missing & {fact.field for fact in facts if fact.confidence >= ENOUGH}
        self._missing -= new
        self._without_news = 0 if new else self._without_news + 1
        return bool(new)

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
    on_progress: Callable[[int, int], None] = lambda _done, _of: None,
    stop: Callable[[], bool] = lambda: False,
) -> ExtractedFacts:
    """Read the facts of archived pages that are new or changed, and bring them together into records.

    Of a kind that a page describes, the goals of each site are read, or all its pages if it has none. Every site is
    saved when it is done, so a run that is stopped loses nothing and the same call goes on.
    """
    store, kind = workspace.stores.facts, wanted.kind
    sites = list(store.sites(run_id))
    known = store.states(kind.kind)
    examples = _examples(store, kind)
    pages_read = 0
    stopped = False
    for number, (start, pages) in enumerate(sites):
        on_progress(number, len(sites))
        if stop():
            stopped = True
            break
        chosen = pages_to_read(pages, kind)
        state = _state(kind, chosen, examples, persons=wanted.persons)
        keys = [start] if kind.scope == "site" else [page.url for page in chosen]
        if all(known.get(key) == state for key in keys):
            continue
        for description in _described(workspace, wanted, start, chosen, examples):
            store.save(kind.kind, description, start, chosen[0].run, state)
        pages_read += len(chosen)
    on_progress(len(sites), len(sites))
    graph, written = sync_entities(workspace, kind)
    count = len(store.states(kind.kind))
    return ExtractedFacts(pages_read, count, len(graph), written, stopped)


def pages_to_read(pages: Sequence[ArchivedPage], kind: KindSpec) -> list[ArchivedPage]:
    """Return the pages to read: of a site that belongs to the thing itself, goals first, then all others."""
    goals = [page for page in pages if page.is_goal]
    if kind.scope == "site":
        return [*goals, *(page for page in pages if not page.is_goal)][:PROFILE_PAGES]
    return goals or list(pages)


def _state(kind: KindSpec, pages: Sequence[ArchivedPage], examples: object, *, persons: bool) -> str:
    parts = _VERSION, kind, [(page.url, page.digest) for page in pages], examples, persons
    return sha256(repr(parts).encode("utf-8", "replace")).hexdigest()[:32]


def _described(
    workspace: Workspace,
    wanted: Wanted,
    start: str,
    pages: Sequence[ArchivedPage],
    examples: Mapping[str, list[tuple[str, str, str]]],
) -> Iterator[Description]:
    read = list(_read(workspace, pages))
    profile = SiteProfile.learn([page for page, _ in read[:PROFILE_PAGES]])
    templates = _templates(read, examples.get(registrable_domain(start), []))
    settled = [
        (page, settled_facts(page, body, wanted, profile, templates.get(page.url))) for page, body in read
    ]
    if wanted.kind.scope == "site":
        claims = _first_claims(wanted.kind, settled)
        yield Description(start, tuple(claims), registrable_domain(start) or host_of(start))
        return
    for page, facts in settled:
        if facts:
            yield Description(page.url, tuple(_claim(fact, page.url) for fact in facts))


def _read(workspace: Workspace, pages: Sequence[ArchivedPage]) -> Iterator[tuple[FactPage, Fetched]]:
    countries: tuple[str, ...] = ()
    for page in pages:
        answer = read_archived(workspace, page)
        if answer is None:
            continue  # what the archive has lost has no facts
        facts = read_facts(page.url, answer.body, answer.content_type, answer.charset, countries)
        countries = countries or facts.countries[:1]
        yield facts, answer


def settled_facts(
    page: FactPage, answer: Fetched, wanted: Wanted, profile: SiteProfile, template: SiteTemplate | None
) -> list[Fact]:
    facts = _allowed(settle(page, wanted.kind, profile), persons=wanted.persons)
    if template is None or not template.rules:
        return facts
    taught = template.apply(answer.body, answer.content_type, answer.charset)
    return merge_taught(facts, taught, wanted.kind, page.countries)


def _allowed(facts: Iterable[Fact], *, persons: bool) -> list[Fact]:
    """Leave out e-mail addresses with a person's name where persons are to be kept out."""
    return [fact for fact in facts if persons or fact.field != "email" or not is_personal(fact.text)]


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


def _examples(store: FactStore, kind: KindSpec) -> dict[str, list[tuple[str, str, str]]]:
    by_domain: dict[str, list[tuple[str, str, str]]] = {}
    for url, name, text in store.examples(kind.kind):
        by_domain.setdefault(registrable_domain(url), []).append((url, name, text))
    return by_domain


def _templates(
    read: Sequence[tuple[FactPage, Fetched]], examples: Sequence[tuple[str, str, str]]
) -> dict[str, SiteTemplate]:
    """Return the rules for each page. A field that was marked on one page alone is a rule for that page only."""
    answers = {page.url: answer for page, answer in read}
    known = [(url, name, text) for url, name, text in examples if url in answers]
    if not known:
        return {}
    pages = Counter(name for _, name in {(url, name) for url, name, _ in known})

    def learn(chosen: Iterable[tuple[str, str, str]]) -> SiteTemplate:
        return learn_template(
            (answers[url].body, answers[url].content_type, answers[url].charset, name, text)
            for url, name, text in chosen
        )

    general = learn(example for example in known if pages[example[1]] >= EXAMPLES)
    templates = dict.fromkeys(answers, general)
    for marked in {url for url, _, _ in known}:
        own = learn(example for example in known if example[0] == marked and pages[example[1]] < EXAMPLES)
        templates[marked] = SiteTemplate((*general.rules, *own.rules))
    return templates


def read_archived(workspace: Workspace, page: ArchivedPage) -> Fetched | None:
    try:
        return workspace.archive.read(page.archived)
    except (ArchiveError, OSError):
        return None


def reread_site(workspace: Workspace, wanted: Wanted, site: str) -> None:
    """Read the facts of one site again, with what was taught about it, and bring the records in line."""
    store, kind = workspace.stores.facts, wanted.kind
    examples = _examples(store, kind)
    for start, pages in store.sites(start=site):
        chosen = pages_to_read(pages, kind)
        state = _state(kind, chosen, examples, persons=wanted.persons)
        for description in _described(workspace, wanted, start, chosen, examples):
            store.save(kind.kind, description, start, chosen[0].run, state)
    sync_entities(workspace, kind)


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


def entity_id(key: str) -> str:
    """Return the id of the record of an entity, from the first key of its descriptions."""
    return sha256(key.encode("utf-8", "replace")).hexdigest()[:16]

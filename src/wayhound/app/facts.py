"""Facts of entities: extract them from archived pages, bring them together, correct and export them.

A description holds what one page, or for organisations one site, says. Descriptions of one thing become one entity,
which is a record like any other: it is searched, exported and shown in the portal.
"""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from wayhound.app.site_list import SiteTable
from wayhound.entities.contacts import is_personal
from wayhound.entities.extract import FactPage, SiteProfile, read_facts, settle
from wayhound.entities.fact import Fact
from wayhound.entities.graph import Claim, ConsensusGraph, Description
from wayhound.entities.templates import SiteTemplate, learn_template, lines_with_paths, locate, merge_taught
from wayhound.errors import ArchiveError, UsageError
from wayhound.fetched import Fetched
from wayhound.files import write_file
from wayhound.record import Record, Span, Value
from wayhound.record_kinds import FACT_KINDS, FILE_NAME, KindSpec, read_kinds
from wayhound.store.export import FORMATS, ColumnType, write_rows
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

    def read(self, response: Fetched, /) -> None:
        page = read_facts(response.url, response.body, response.content_type, response.charset)
        facts = _allowed(settle(page, self._wanted.kind), persons=self._wanted.persons)
        new = self._missing & {fact.field for fact in facts if fact.confidence >= ENOUGH}
        self._missing -= new
        self._without_news = 0 if new else self._without_news + 1

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
        chosen = _chosen(pages, kind)
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


def _chosen(pages: Sequence[ArchivedPage], kind: KindSpec) -> list[ArchivedPage]:
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
    settled = [(page, _settled(page, body, wanted, profile, templates.get(page.url))) for page, body in read]
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
        answer = _archived(workspace, page)
        if answer is None:
            continue  # what the archive has lost has no facts
        facts = read_facts(page.url, answer.body, answer.content_type, answer.charset, countries)
        countries = countries or facts.countries[:1]
        yield facts, answer


def _settled(
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
        graph.add(_corrected(description, corrections.get(description.key, {})))
    return graph


def _corrected(description: Description, corrections: Mapping[str, tuple[str, ...]]) -> Description:
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
    for entity in graph.entities.values():
        keys = sorted(entity.descriptions)
        record_id = entity_id(keys[0])
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
    return graph, store.replace_records(kind.kind, records)


def entity_id(key: str) -> str:
    """Return the id of the record of an entity, from the first key of its descriptions."""
    return sha256(key.encode("utf-8", "replace")).hexdigest()[:16]


# What people say


def correct_fact(
    workspace: Workspace, wanted: Wanted, key: str, name: str, texts: Sequence[str]
) -> tuple[str, ...]:
    """Keep a person's values of one field of a description, and bring the records in line.

    Values that stand on a page of the site also teach its template; the URLs of these pages are returned. Raises
    UsageError for an unknown description.
    """
    store, kind = workspace.stores.facts, wanted.kind
    site = next((site for site, _, known in store.descriptions(kind.kind) if known.key == key), None)
    if site is None:
        raise UsageError(f"There are no facts of {key}. Extract them first.")
    said = [text.strip() for text in texts if text.strip()]
    store.correct(kind.kind, key, name, said, time.time())
    taught = _taught_by(workspace, kind, site, key, said[:1])
    for url, text in taught:
        store.teach(kind.kind, url, name, text)
    _reread(workspace, wanted, site)
    return tuple(url for url, _ in taught)


def _taught_by(
    workspace: Workspace, kind: KindSpec, site: str, key: str, texts: Sequence[str]
) -> list[tuple[str, str]]:
    """Return the first page of a description with each text on it."""
    pages = [page for _, pages in workspace.stores.facts.sites(start=site) for page in _chosen(pages, kind)]
    if kind.scope == "page":
        pages = [page for page in pages if page.url == key]
    found = []
    for text in texts:
        for page in pages:
            if (answer := _archived(workspace, page)) and _stands_on(answer, text):
                found.append((page.url, text))
                break
    return found


def _stands_on(answer: Fetched, text: str) -> bool:
    return locate(*lines_with_paths(answer.body, answer.content_type, answer.charset), text) is not None


def _archived(workspace: Workspace, page: ArchivedPage) -> Fetched | None:
    try:
        return workspace.archive.read(page.archived)
    except (ArchiveError, OSError):
        return None


def _reread(workspace: Workspace, wanted: Wanted, site: str) -> None:
    """Read the facts of one site again, with what was taught about it, and bring the records in line."""
    store, kind = workspace.stores.facts, wanted.kind
    examples = _examples(store, kind)
    for start, pages in store.sites(start=site):
        chosen = _chosen(pages, kind)
        state = _state(kind, chosen, examples, persons=wanted.persons)
        for description in _described(workspace, wanted, start, chosen, examples):
            store.save(kind.kind, description, start, chosen[0].run, state)
    sync_entities(workspace, kind)


def mark_value(workspace: Workspace, wanted: Wanted, site: str, url: str, name: str, text: str) -> None:
    """Keep a value that a person marked on a page, and read the site again with it.

    Any field can be taught, also one that the kind does not declare. Raises UsageError if the page is not archived or
    the text does not stand on it.
    """
    text, name = " ".join(text.split()), name.strip().lower()
    if not text or not re.fullmatch(r"[^\W\d]\w{0,39}", name):
        raise UsageError("Select a text, and name its field with one word, such as phone.")
    if not _stands_on(_page_of(workspace, site, url), text):
        raise UsageError(f"“{text[:80]}” does not stand on {url}. Select it on the page.")
    workspace.stores.facts.teach(wanted.kind.kind, url, name, text)
    _reread(workspace, wanted, site)


def _page_of(workspace: Workspace, site: str, url: str) -> Fetched:
    for _, pages in workspace.stores.facts.sites(start=site):
        for page in pages:
            if page.url == url and (answer := _archived(workspace, page)):
                return answer
    raise UsageError(f"{url} is not archived. Forage its site again.")


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """One line of a page in pieces: text, and the fact that it is, if any."""

    pieces: tuple[tuple[str, Fact | None], ...]


def marked_page(
    workspace: Workspace, wanted: Wanted, site: str, url: str
) -> tuple[FactPage, list[MarkedLine]]:
    """Return a page with the facts found on it in their places. Raises UsageError if it is not archived."""
    answer = _page_of(workspace, site, url)
    page = read_facts(url, answer.body, answer.content_type, answer.charset)
    facts = sorted(_settled(page, answer, wanted, SiteProfile(), None), key=lambda fact: fact.start)
    lines = []
    for line in page.lines.lines:
        pieces: list[tuple[str, Fact | None]] = []
        at = line.start
        for fact in facts:
            start, end = max(fact.start, at), min(fact.end, line.end)
            if start < end:
                pieces += [(page.lines.text[at:start], None), (page.lines.text[start:end], fact)]
                at = end
        pieces.append((page.lines.text[at : line.end], None))
        lines.append(MarkedLine(tuple(piece for piece in pieces if piece[0])))
    return page, lines


def companions(workspace: Workspace, kind: KindSpec) -> dict[str, tuple[str, ...]]:
    """Return the keys of the other descriptions of the same entity, for each that has some."""
    together = [sorted(entity.descriptions) for entity in build_graph(workspace, kind).entities.values()]
    return {key: tuple(k for k in keys if k != key) for keys in together if len(keys) > 1 for key in keys}


def merge_entities(workspace: Workspace, kind: KindSpec, one: str, other: str) -> None:
    """Make the entities of two descriptions one for good. Raises UsageError for an unknown description."""
    known = workspace.stores.facts.states(kind.kind)
    if unknown := [key for key in (one, other) if key not in known]:
        raise UsageError(
            f"There are no facts of {unknown[0] or 'an empty address'}, so nothing can be merged."
        )
    workspace.stores.facts.pair(kind.kind, one, other, same=True)
    sync_entities(workspace, kind)


def split_entity(workspace: Workspace, kind: KindSpec, key: str, rest: Iterable[str]) -> None:
    """Make a description an entity of its own for good, apart from the rest."""
    for other in rest:
        workspace.stores.facts.pair(kind.kind, key, other, same=False)
    sync_entities(workspace, kind)


# Tables


@dataclass(frozen=True, slots=True)
class FactRow:
    """One description for a table: the values of each field, where they were read, and the outcome of its site."""

    key: str
    site: str
    values: Mapping[str, tuple[Claim, ...]] = field(default_factory=dict)
    state: str = ""
    reason: str = ""
    requests: int = 0

    def texts(self, name: str) -> list[str]:
        return [claim.text for claim in self.values.get(name, ())]

    def missing(self, fields: Iterable[str]) -> list[str]:
        return [name for name in fields if not self.values.get(name)]


def fact_rows(workspace: Workspace, wanted: Wanted, run_id: int | None = None) -> list[FactRow]:
    """Return a row for each description of a kind, with corrections, in order of key."""
    store = workspace.stores.facts
    corrections = store.corrections(wanted.kind.kind)
    outcomes = store.outcomes(run_id)
    rows = []
    for site, _, plain in store.descriptions(wanted.kind.kind):
        description = _corrected(plain, corrections.get(plain.key, {}))
        values: dict[str, list[Claim]] = {}
        for claim in description.claims:
            values.setdefault(claim.field, []).append(claim)
        outcome = outcomes.get(site, ("", "", 0))
        rows.append(FactRow(plain.key, site, {k: tuple(v) for k, v in values.items()}, *outcome))
    return rows


FACT_FORMATS = ("csv", "jsonl", "xlsx", "vcf", "geojson")


@dataclass(frozen=True, slots=True)
class WideRow:
    """One row of a person's own table, and the facts found on the site that it names."""

    cells: tuple[str, ...]
    start: str  # empty for a row without an address
    facts: FactRow | None


def wide_rows(table: SiteTable, rows: Iterable[FactRow]) -> list[WideRow]:
    """Return the rows of a table in their order with the facts of their sites."""
    by_site = {row.site: row for row in rows}
    return [WideRow(cells, start, by_site.get(start)) for cells, start in table.rows]


def write_facts(
    rows: Sequence[FactRow],
    wanted: Wanted,
    file_format: str,
    out: Path | BinaryIO,
    status: Callable[[FactRow], str],
) -> int:
    """Write one row for each description, and return how many. `status` says how each went."""
    if file_format == "vcf":
        return _write_text("".join(vcard(row) for row in rows), len(rows), out)
    if file_format == "geojson":
        features = [feature for row in rows if (feature := geo_feature(row, wanted.fields))]
        collection = {"type": "FeatureCollection", "features": features}
        return _write_text(json.dumps(collection, ensure_ascii=False) + "\n", len(features), out)
    names = list(dict.fromkeys([wanted.kind.title or "name", *wanted.fields]))
    columns: dict[str, ColumnType] = dict.fromkeys((*names, "status", "site", "source"), "text")
    table = (
        (*(_cell(row, name) for name in names), status(row), row.site, _source(row, wanted.fields))
        for row in rows
    )
    return write_rows(columns, table, file_format, out)


def write_wide(
    table: SiteTable, rows: Sequence[WideRow], wanted: Wanted, file_format: str, out: Path | BinaryIO,
    status: Callable[[WideRow], str],
) -> int:  # fmt: skip
    """Write a person's own table with the facts beside its columns, and return the number of rows."""
    if file_format not in FORMATS:
        raise UsageError(
            f"A table beside your own cannot be written as {file_format}; choose csv, jsonl or xlsx."
        )
    taken = set(table.headings)
    added = [name if name not in taken else f"{name} found" for name in (*wanted.fields, "status", "source")]
    columns: dict[str, ColumnType] = {
        heading or f"column {number}": "text" for number, heading in enumerate([*table.headings, *added], 1)
    }
    empty = FactRow("", "")
    lines = (
        (*row.cells, *(_cell(row.facts or empty, name) for name in wanted.fields), status(row),
         _source(row.facts or empty, wanted.fields))
        for row in rows
    )  # fmt: skip
    return write_rows(columns, lines, file_format, out)


def _cell(row: FactRow, name: str) -> str:
    return "; ".join(row.texts(name))


def _source(row: FactRow, fields: Iterable[str]) -> str:
    """Return the pages that the wanted fields were read from."""
    return " ".join(
        dict.fromkeys(claim.url for name in fields for claim in row.values.get(name, ()) if claim.url)
    )


def _write_text(text: str, count: int, out: Path | BinaryIO) -> int:
    if isinstance(out, Path):
        write_file(out, text.encode("utf-8", "replace"))
    else:
        out.write(text.encode("utf-8", "replace"))
    return count


_VCARD_FIELDS = {
    "phone": "TEL;TYPE=voice",
    "fax": "TEL;TYPE=fax",
    "email": "EMAIL",
    "address": "ADR",
    "social": "URL",
}


def vcard(row: FactRow) -> str:
    """Return a description as a vCard 4.0 (RFC 6350)."""
    name = _escaped(next(iter(row.texts("name")), row.site))
    lines = ["BEGIN:VCARD", "VERSION:4.0", f"FN:{name}", "KIND:org", f"ORG:{name}"]
    for field_name, prefix in _VCARD_FIELDS.items():
        for text in row.texts(field_name):
            value = f";;{_escaped(text)};;;;" if field_name == "address" else _escaped(text)
            lines.append(f"{prefix}:{value}")
    lines += [f"GEO:geo:{text}" for text in row.texts("coordinates")]
    lines += [f"SOURCE:{url}" for url in _source(row, row.values).split()[:1]]
    return "".join(f"{_folded(line)}\r\n" for line in [*lines, "END:VCARD"])


def _escaped(text: str) -> str:
    return re.sub(r"([\\,;])", r"\\\1", " ".join(text.split()))


def _folded(line: str) -> str:
    """Return a line in pieces of at most 75 bytes, as the format demands."""
    pieces, current = [], ""
    for letter in line:
        if len((current + letter).encode("utf-8", "replace")) > 74:
            pieces.append(current)
            current = ""
        current += letter
    return "\r\n ".join([*pieces, current])


def geo_feature(row: FactRow, fields: Iterable[str]) -> dict[str, Any] | None:
    """Return a description as a GeoJSON feature; None where no coordinates are stated."""
    stated = row.texts("coordinates")
    if not stated:
        return None
    latitude, longitude = map(float, stated[0].split(","))
    properties = {name: _cell(row, name) for name in ("name", *fields) if row.texts(name)}
    return {"type": "Feature", "geometry": {"type": "Point", "coordinates": [longitude, latitude]},
            "properties": {**properties, "site": row.site}}  # fmt: skip

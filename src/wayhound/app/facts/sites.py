"""Archived pages of one site as descriptions: extractors, what people taught, and readings of costly extractors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Self

from wayhound.app.facts.search import CONTACT_FIELDS, Wanted, allowed
from wayhound.entities.extract import FactPage, SiteProfile, read_facts, same_fact, settle
from wayhound.entities.fact import Fact
from wayhound.entities.graph import Claim, Description
from wayhound.entities.tagger import LEAST_SITES, LineTagger, learn_tagger
from wayhound.entities.templates import SiteTemplate, learn_template, lines_with_paths, merge_taught
from wayhound.errors import ArchiveError
from wayhound.fetched import Fetched
from wayhound.record_kinds import KindSpec
from wayhound.store.facts import ArchivedPage, FactReading
from wayhound.url import host_of, registrable_domain
from wayhound.workspace import Workspace

_FEW = 4  # phones or addresses that one organisation has on a page
PROFILE_PAGES = 50
EXAMPLES = 2  # pages on which a field was marked, before it is a rule for the other pages of the site
MAX_SAMPLES = 16  # sites whose sampled pages are kept at a time


@dataclass(frozen=True, slots=True)
class TaughtFacts:
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


class Samples:
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
    taught: TaughtFacts
    samples: Samples

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
        return allowed(facts, self.wanted)


def settled_facts(
    page: FactPage, answer: Fetched, wanted: Wanted, profile: SiteProfile, template: SiteTemplate | None
) -> list[Fact]:
    facts = allowed(settle(page, wanted.kind, profile), wanted)
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

"""From a page to facts, nothing taught: cheapest evidence first, then the whole visible text.

Reading a page gives all facts on it (`read_facts`). Which of them are about the entity that a page or a site describes
is settled when more pages of the site are known (`SiteProfile`, `settle`): words that all pages share are not a name,
and a phone number in the footer of every page of a guide is not that of a restaurant.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from wayhound.entities.addresses import find_addresses
from wayhound.entities.contacts import (
    find_emails,
    find_phones,
    find_registrations,
    is_of_a_person,
    is_placeholder,
    normal_phone,
)
from wayhound.entities.fact import Fact, calibrated, canonical, similarity
from wayhound.entities.hours import find_hours, normalise_hours
from wayhound.entities.kept import keep_beside
from wayhound.entities.markup import Stated, read_markup
from wayhound.entities.names import KEPT_LINES, TitleShape, organisation_name, page_name
from wayhound.entities.page_lines import PageLines, parse_page
from wayhound.entities.places import country_named, country_of_host, country_of_language, country_of_path
from wayhound.record_kinds import Compare, FieldSpec, KindSpec
from wayhound.url import host_of

SHARED = 0.5
"""A value on more than this share of a site's pages is the site's own."""

LEAST_PAGES = 4  # before anything counts as shared
MIN_CONFIDENCE = 0.5
MAX_VALUES = 20
NEAR_CHARS = 60  # from a name to its address, with a line between

_STATED_CONFIDENCE = {
    "json-ld": 0.95, "microdata": 0.95, "rdfa": 0.93, "hcard": 0.94, "opengraph": 0.85, "tel": 0.95, "mailto": 0.96,
    "cloudflare": 0.97, "link": 0.8,
}  # fmt: skip
_COMPARE: dict[str, Compare] = {
    "phone": "phone", "fax": "phone", "email": "email", "address": "address", "social": "url", "name": "name",
    "part_of": "name", "parts": "name", "people": "name", "works_for": "name",
}  # fmt: skip


@dataclass(frozen=True)
class FactPage:
    """All facts on one page, with what is needed to settle which of them count."""

    url: str
    title: str = ""
    language: str = ""
    headings: tuple[tuple[str, str], ...] = ()
    lines: PageLines = field(default_factory=lambda: PageLines(""))
    facts: tuple[Fact, ...] = ()
    countries: tuple[str, ...] = ()

    @cached_property
    def by_field(self) -> dict[str, list[Fact]]:
        """The facts of each field that has any, in their order: kinds have twenty fields, and pages facts of five."""
        fields: dict[str, list[Fact]] = {}
        for fact in self.facts:
            fields.setdefault(fact.field, []).append(fact)
        return fields

    def of(self, name: str) -> Sequence[Fact]:
        return self.by_field.get(name, ())


def read_facts(
    url: str, body: bytes, content_type: str = "", charset: str = "", countries: Sequence[str] = ()
) -> FactPage:
    """Return all facts on a fetched page. `countries` are known ones of the site, likeliest first. Never raises.

    Raises MissingExtra without the package `phonenumbers`.
    """
    parsed = parse_page(url, body, content_type, charset)
    if isinstance(parsed, PageLines):
        stated, lines = [], parsed
    else:
        stated = read_markup(parsed)
        lines = parsed.lines()
    hints = _hints(url, lines.language, stated, countries)
    addresses = find_addresses(lines, hints)
    hints = tuple(
        dict.fromkeys([*(a.country for a in addresses[:3] if a.country and a.confidence >= 0.6), *hints])
    )
    phones = list(find_phones(lines, hints))
    international = [phone.country for phone in phones if phone.printed.lstrip("(").startswith(("+", "00"))]
    facts = [
        *_from_markup(stated, lines, hints),
        *(
            Fact(c.field, c.text, c.confidence, "text", c.start, c.end, printed=c.printed, country=c.country)
            for c in (*phones, *find_emails(lines), *find_registrations(lines))
            if c.field != "email" or not is_placeholder(c.text)
        ),
        *(
            Fact("address", a.text, a.confidence, "text", a.start, a.end, printed=a.text, country=a.country)
            for a in addresses
        ),
        *(
            Fact("hours", h.text, h.confidence, "text", h.start, h.end, printed=h.printed)
            for h in find_hours(lines)
        ),
    ]
    found = tuple(dict.fromkeys([*international, *hints]))
    about = lines.title, lines.language, lines.headings
    return FactPage(url, *about, lines=lines, facts=tuple(_unified(facts)), countries=found)


def _hints(url: str, language: str, stated: Sequence[Stated], known: Sequence[str]) -> tuple[str, ...]:
    """Return likely countries: known, stated, of the domain, of the path, of the language, and the most usual one."""
    named = [country_named(fact.parts.get("addressCountry", "")) for fact in stated if fact.parts]
    plus = [found[1] for fact in stated if fact.field == "phone" and (found := normal_phone(fact.text))]
    # the pages of a folder have their host and the names of folders in common
    folder = url.rpartition("/")[0] + "/" if url.count("/") > 2 else url
    guesses = [*known, *named, *plus, *_countries_of(folder, language)]
    return tuple([country for country in dict.fromkeys(guesses) if country])


@keep_beside
def _countries_of(folder: str, language: str) -> tuple[str, ...]:
    """Return the countries that a folder of a site and a language hint at, and the most usual one; some are empty."""
    return country_of_host(host_of(folder)), country_of_path(folder), country_of_language(language), "US"


def _from_markup(stated: Iterable[Stated], lines: PageLines, hints: Sequence[str]) -> Iterator[Fact]:
    for fact in stated:
        confidence = _STATED_CONFIDENCE[fact.source]
        text, country = fact.text, ""
        if fact.field in ("phone", "fax"):
            found = next((found for region in ("", *hints) if (found := normal_phone(text, region))), None)
            if found is None:
                continue
            text, country = found
        elif fact.field == "hours":
            text = normalise_hours(text) or text
        elif fact.field == "email" and (is_placeholder(text) or "@" not in text):
            continue
        elif fact.field == "address":
            country = country_named(fact.parts.get("addressCountry", ""))
        start = lines.text.find(fact.text) if len(fact.text) > 3 else -1
        span = (start, start + len(fact.text)) if start >= 0 else (0, 0)
        yield Fact(
            fact.field,
            text,
            confidence,
            fact.source,
            *span,
            printed=fact.text,
            country=country,
            parts=fact.parts,
        )


def _unified(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Yield each value once: two sources that agree make it surer, and the printed one lends its span."""
    by_value: dict[tuple[str, str], Fact] = {}
    for fact in facts:
        key = fact.field, canonical(_COMPARE.get(fact.field, "text"), fact.text)
        known = by_value.get(key)
        if known is None:
            by_value[key] = fact
            continue
        surer, other = (known, fact) if known.confidence >= fact.confidence else (fact, known)
        if surer.source != other.source:
            both = 1 - (1 - surer.confidence) * (1 - 0.5 * other.confidence)
            surer = surer._replace(confidence=round(both, 4))
        if not surer.end and other.end:
            surer = surer._replace(start=other.start, end=other.end)
        by_value[key] = surer
    faxes = {text for name, text in by_value if name == "fax"}
    for (name, text), fact in by_value.items():
        if name != "phone" or text not in faxes:
            yield fact


# Settling


@dataclass(frozen=True)
class SiteProfile:
    """Common parts of the pages of one site: the frame of their titles and headings, values, countries."""

    pages: int = 0
    shape: TitleShape = field(default_factory=TitleShape)
    shared: frozenset[tuple[str, str]] = frozenset()
    countries: tuple[str, ...] = ()

    @classmethod
    def learn(cls, pages: Sequence[FactPage]) -> SiteProfile:
        """Return the profile of a site from some of its pages; the more, the better, but fifty are enough."""
        if not pages:
            return cls()
        shape = TitleShape.learn(
            [(page.title, page.headings, page.lines.lines[:KEPT_LINES]) for page in pages]
        )
        counts = Counter(
            key
            for page in pages
            for key in {(f.field, canonical(_COMPARE.get(f.field, "text"), f.text)) for f in page.facts}
        )
        least = max(LEAST_PAGES - 1, SHARED * len(pages))
        shared = frozenset(key for key, count in counts.items() if count > least)
        votes = Counter(country for page in pages for country in page.countries[:1])
        return cls(len(pages), shape, shared, tuple(country for country, _ in votes.most_common(3)))

    def is_shared(self, fact: Fact) -> bool:
        return (fact.field, canonical(_COMPARE.get(fact.field, "text"), fact.text)) in self.shared


def settle(
    page: FactPage,
    kind: KindSpec,
    profile: SiteProfile | None = None,
    calibrate: Callable[[str, float], float] = calibrated,
) -> list[Fact]:
    """Return the facts about the entity that a page describes, fields in order of the kind, best value first.

    For a kind of pages, values that the whole site shares are left out; for a kind of sites they count more. The
    confidence of each is the probability that it is right: `calibrate` maps field and evidence to it.
    """
    profile = profile or SiteProfile()
    settled: list[Fact] = []
    for spec in kind.fields:
        if spec.fact:
            continue
        is_derived = spec.name in ("name", "country")
        facts = list(_candidates(page, kind, profile, spec.name)) if is_derived or page.of(spec.name) else []
        if spec.labels or (
            not facts and spec.compare == "text" and spec.name not in ("hours", "registration")
        ):
            facts += _labelled(page, spec)
        if not facts:
            continue
        near = _near_name(page, settled) if kind.scope == "page" and spec.compare == "address" else ()
        ranked = sorted(facts, key=lambda fact: (not _is_in(fact, near), -fact.confidence, fact.start))
        good = [fact for fact in ranked if fact.confidence >= MIN_CONFIDENCE]
        settled += good[: MAX_VALUES if spec.many else 1]
    return [fact._replace(confidence=calibrate(fact.field, fact.confidence)) for fact in settled]


def _near_name(page: FactPage, settled: Sequence[Fact]) -> tuple[range, ...]:
    """Return where an address is that of the entity, whatever the page lists beside it: right after the name."""
    name = next((fact.text for fact in settled if fact.field == "name"), "")
    places: list[range] = []
    start = page.lines.text.find(name) if name else -1
    while start >= 0 and len(places) < MAX_VALUES:
        end = start + len(name)
        places.append(range(end, end + NEAR_CHARS))
        start = page.lines.text.find(name, end)
    return tuple(places)


def _is_in(fact: Fact, places: Sequence[range]) -> bool:
    return (
        bool(fact.end) and fact.confidence >= MIN_CONFIDENCE and any(fact.start in place for place in places)
    )


def _candidates(page: FactPage, kind: KindSpec, profile: SiteProfile, name: str) -> Iterator[Fact]:
    if name == "name":
        place = [fact.text for fact in page.of("address")[:3]]
        if kind.scope == "site":
            yield from organisation_name(page.lines, page.of("name"), page.of("site_name"), profile.shape)
        else:
            yield from page_name(page.lines, page.of("name"), profile.shape, place)
        return
    if name == "country":
        yield from _country(page)
        return
    facts = page.of(name)
    if name == "email" and kind.scope == "site" and not all(is_of_a_person(fact.text) for fact in facts):
        # where an organisation gives an address of its own, those of its people are theirs
        facts = [fact for fact in facts if not is_of_a_person(fact.text)]
    for fact in facts:
        if kind.scope == "page" and profile.is_shared(fact):
            continue
        surer = kind.scope == "site" and profile.is_shared(fact)
        yield fact._replace(confidence=min(0.99, fact.confidence + 0.02)) if surer else fact


def _country(page: FactPage) -> Iterator[Fact]:
    best = max(page.of("address"), key=lambda fact: fact.confidence, default=None)
    if best is not None and best.country:
        yield Fact("country", best.country, best.confidence, best.source, best.start, best.end)
    elif page.of("phone") and page.of("phone")[0].country:
        phone = page.of("phone")[0]
        yield Fact("country", phone.country, 0.8 * phone.confidence, phone.source, phone.start, phone.end)


def _labelled(page: FactPage, spec: FieldSpec) -> Iterator[Fact]:
    """Yield a value that stands after one of the labels of a field, on its line or on the next."""
    pattern = _label_pattern(spec)
    for match in pattern.finditer(page.lines.text):
        rest, start = match["rest"] or match["below"] or "", match.start("rest" if match["rest"] else "below")
        value = _BETWEEN_VALUES.split(rest.strip())[0]
        if value and len(value) <= 120 and value.lower() not in ("n/a", "-", "none"):
            yield Fact(spec.name, value, 0.85, "label", start, start + len(value), printed=value)
            return


@lru_cache(maxsize=1_000)
def _label_pattern(spec: FieldSpec) -> re.Pattern[str]:
    """Match a line that begins with a label; `rest` is what follows it, and `below` the next line."""
    labels = {label.casefold() for label in (*spec.labels, spec.shown.lower())}
    names = "|".join(map(re.escape, sorted(labels, key=len, reverse=True)))
    return re.compile(
        rf"^[^\w\n]*(?:{names})[^\S\n]*(?:[:：][^\S\n]*|$)(?P<rest>[^\n]*)(?=(?:\n(?P<below>[^\n]*))?)",
        re.I | re.M,
    )


_BETWEEN_VALUES = re.compile(r"\s*[|•]\s*")


def same_fact(one: Fact, other: Fact, compare: Compare, least: float = 0.85) -> bool:
    """Return True if two facts state the same value."""
    return one.field == other.field and similarity(compare, one.text, other.text) >= least

"""Facts from pages, nothing taught: recall and precision for every field, per guide and per country, and speed.

The pages are those of all restaurant guides (`restaurants/NAME.warc.gz` with `NAME.records.jsonl`) and the contact
pages of all sites with a `facts.tsv`, which lists what is printed on them. Beside it in the same run: regular
expressions alone, and, with `--peers`, extruct, pyap2, usaddress and trafilatura in environments of their own, on up to
24 pages of each guide and site, for at most 100 seconds each and four CPU seconds a page (`bench/fact_peers.py`).

A phone or an e-mail is right if its normal form is equal; a name if its words are equal; an address if at least 80 %
(F1) of its words, with abbreviations of streets and states spelled out, are shared and all numbers of the street and
post code agree.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import phonenumbers
from selectolax.lexbor import LexborHTMLParser

from bench.fact_peers import PEERS, Answers, TruePage, patterns, peer_answers, peer_sample
from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.archive.reader import iterate
from wayhound.entities.extract import FactPage, SiteProfile, read_facts, settle
from wayhound.entities.fact import Fact, address_words, calibrated, name_words
from wayhound.entities.places import country_of_host, country_of_language
from wayhound.entities.tagger import learn_tagger
from wayhound.entities.templates import learn_template, lines_with_paths, merge_taught
from wayhound.record_kinds import KINDS

FIELDS = ("name", "phone", "address", "email")
BARS = {"name": 0.90, "phone": 0.97, "address": 0.80, "email": 0.97}
TAUGHT_BARS = {"name": 0.98, "phone": 0.98, "address": 0.95}
TAUGHT_PAGES = 3
PROFILE_PAGES = 50
PAGES_A_SECOND = 400
TAGGED, TAGGED_A_SECOND = "cuisine", 100


@dataclass
class Score:
    """Counts for one field: values wanted, found, given, and given rightly."""

    wanted: int = 0
    found: int = 0
    given: int = 0
    right: int = 0

    def add(self, other: Score) -> None:
        self.wanted += other.wanted
        self.found += other.found
        self.given += other.given
        self.right += other.right

    @property
    def recall(self) -> float | None:
        return self.found / self.wanted if self.wanted else None

    @property
    def precision(self) -> float | None:
        return self.right / self.given if self.given else None


# Reading


def read_guides(data: Path, most: int) -> dict[str, list[TruePage]]:
    guides: dict[str, list[TruePage]] = {}
    for warc in sorted((data / "restaurants").glob("*.warc.gz")):
        name = warc.name.removesuffix(".warc.gz")
        lines = warc.with_name(f"{name}.records.jsonl").read_text("utf-8").splitlines()
        truth = {record["url"]: record for record in map(json.loads, lines)}
        guides[name] = [
            TruePage(name, url, body, kind, _guide_facts(truth[url]), "restaurant")
            for url, body, kind in read_warc(warc)
            if url in truth
        ][:most]
    return {name: pages for name, pages in guides.items() if pages}


def _guide_facts(record: Mapping[str, Sequence[str]]) -> dict[str, tuple[str, ...]]:
    """Return the true values; the parts of an address belong together, and separators around values do not."""
    facts = {name: tuple(record.get(name, ())[:1]) for name in ("name", "phone", "cuisine")}
    if record.get("address"):
        facts["address"] = (", ".join(part.strip(" ,|") for part in record["address"]),)
    return {name: tuple(value.strip(" :|") for value in values) for name, values in facts.items() if values}


def read_organisations(data: Path) -> dict[str, list[TruePage]]:
    """Return the contact pages of each site first, then other pages of it, which have no known facts."""
    sites: dict[str, list[TruePage]] = {}
    for table in sorted((data / "sites").glob("*/*/facts.tsv")):
        facts: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
        for row in csv.DictReader(table.open(encoding="utf-8"), delimiter="\t", quoting=csv.QUOTE_NONE):
            known = facts[row["url"]].get(row["field"], ())
            facts[row["url"]][row["field"]] = (*known, row["value"])
        pages = {url: (body, kind) for url, body, kind in read_warc(table.with_name("site.warc.gz"))}
        name = table.parent.name
        sites[name] = [
            TruePage(name, url, *pages[url], facts[url], "organisation") for url in facts if url in pages
        ]
        others = [url for url in pages if url not in facts][:PROFILE_PAGES]
        sites[name] += [TruePage(name, url, *pages[url], {}, "organisation") for url in others]
    return sites


def read_warc(path: Path) -> Iterable[tuple[str, bytes, str]]:
    for _, response, _ in iterate(path):
        if response.status == 200:
            content_type = response.content_type + (
                f"; charset={response.charset}" if response.charset else ""
            )
            yield response.url, response.body, content_type


# Judging


def phone_digits(text: str) -> str:
    """Return the last nine digits, enough to tell numbers apart and free of country and trunk codes."""
    return re.sub(r"\D", "", text.replace("(0)", ""))[-9:].lstrip("0")


def is_same(name: str, truth: str, answer: str) -> bool:
    match name:
        case "phone" | "fax":
            # a page may print two numbers, or an extension, as one
            numbers = re.split(r"[;,]|\s(?:or|x)\s?|\sext", truth)
            return any(_same_phone(number, answer) for number in numbers)
        case "email":
            plain = re.sub(r"\s*[\[(]\s*at\s*[\])]\s*", "@", truth.strip().lower())
            return plain == answer.strip().lower()
        case "name":
            return name_words(truth) == name_words(answer)
        case "address":
            return _same_address(truth, answer)
        case _:
            return _overlap(truth.casefold().split(), answer.casefold().split()) >= 0.5


def _same_phone(truth: str, answer: str) -> bool:
    one, two = sorted((phone_digits(truth), phone_digits(answer)), key=len)
    return len(one) >= 6 and two.endswith(one)


def _same_address(truth: str, answer: str) -> bool:
    one, two = address_words(truth), address_words(answer)
    numbers = [{word for word in words if word.isdigit()} for words in (one, two)]
    return _overlap(one, two) >= 0.8 and (numbers[0] <= numbers[1] or numbers[1] <= numbers[0])


def _overlap(one: Sequence[str], two: Sequence[str]) -> float:
    shared = sum((Counter(one) & Counter(two)).values())
    return 2 * shared / (len(one) + len(two)) if shared else 0.0


def judge(name: str, truths: Sequence[str], answers: Sequence[str]) -> Score:
    found = sum(any(is_same(name, truth, answer) for answer in answers) for truth in truths)
    right = sum(any(is_same(name, truth, answer) for truth in truths) for answer in answers)
    return Score(len(truths), found, len(answers), right)


# Wayhound


def ours(
    pages: Sequence[TruePage], calibrate: Callable[[str, float], float] = calibrated
) -> tuple[list[list[Fact]], list[FactPage], float]:
    """Return the facts of the pages of one site, and the CPU seconds that they took."""
    began = time.process_time()
    read = [read_facts(page.url, page.body, page.content_type) for page in pages]
    step = max(1, len(read) // PROFILE_PAGES)
    profile = SiteProfile.learn(read[::step][:PROFILE_PAGES])
    settled = [
        settle(page, KINDS[true.kind], profile, calibrate) for page, true in zip(read, pages, strict=True)
    ]
    return settled, read, time.process_time() - began


def parse_alone(pages: Iterable[TruePage]) -> float:
    """Return the CPU seconds that the parser alone takes for pages, which tell a slow machine from slow code."""
    began = time.process_time()
    for page in pages:
        LexborHTMLParser(page.body)
    return time.process_time() - began


def load_tables() -> None:
    """Read a page so that gazetteers are loaded before anything is measured, and the numbering plans of all countries.

    A plan is loaded with the first number of its country, in up to 10 ms: once in a run, not once a page.
    """
    page = b"<title>Acme</title><p>Acme Ltd, 12 Main Street, Springfield, IL 62701, phone (217) 555-0123"
    settle(read_facts("https://acme.example.com/", page, "text/html"), KINDS["organisation"])
    for region in phonenumbers.SUPPORTED_REGIONS:
        phonenumbers.PhoneMetadata.metadata_for_region(region)


# The run


@dataclass
class Tally:
    """Scores by group and field."""

    scores: dict[tuple[str, str], Score] = field(default_factory=lambda: defaultdict(Score))

    def add(
        self, group: str, truth: Mapping[str, Sequence[str]], answers: Answers, fields: Iterable[str]
    ) -> None:
        for name in fields:
            if name in truth:
                self.scores[group, name].add(judge(name, truth[name], answers.get(name, ())))

    def total(self, name: str, groups: Iterable[str] | None = None) -> Score:
        total = Score()
        for (group, each), score in self.scores.items():
            if each == name and (groups is None or group in set(groups)):
                total.add(score)
        return total


@dataclass
class Speed:
    """CPU seconds by guide or site, beside those of the parser alone."""

    costs: dict[str, tuple[int, float, float]] = field(default_factory=dict)

    def add(self, group: str, pages: int, seconds: float, parsing: float) -> None:
        self.costs[group] = pages, seconds, parsing

    def report(self) -> Report:
        pages, seconds, parsing = (sum(column) for column in zip(*self.costs.values(), strict=True))
        rows = [self._row(group, *costs) for group, costs in self.costs.items()]
        header = ["guide or site", "pages", "pages a CPU second", "times the parser alone"]
        bar = Bar("pages a CPU second", pages / seconds, least=PAGES_A_SECOND)
        return Report("Speed", header, [*rows, self._row("all", pages, seconds, parsing)], [bar])

    @staticmethod
    def _row(group: str, pages: int, seconds: float, parsing: float) -> list[Cell]:
        return [group, pages, round(pages / max(seconds, 1e-9)), f"{seconds / max(parsing, 1e-9):.1f}"]


def shares(score: Score) -> list[Cell]:
    return [_percent(score.recall), _percent(score.precision)]


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"


def country_of(page: TruePage, read: FactPage) -> str:
    address = next((fact.country for fact in read.of("address") if fact.country), "")
    host = re.sub(r"^https?://([^/:]+).*", r"\1", page.url)
    return address or country_of_host(host) or country_of_language(read.language) or "unknown"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    add_output_options(parser)
    parser.add_argument("--pages", type=int, default=400, help="of each guide")
    parser.add_argument(
        "--peers", action="store_true", help="also run extruct, pyap2, usaddress and trafilatura"
    )
    parser.add_argument(
        "--calibrate", type=Path, metavar="FILE", help="write the shares of right values here"
    )
    parser.add_argument("--wrong", action="store_true", help="print what was missed")
    arguments = parser.parse_args()
    groups = read_guides(arguments.data, arguments.pages) | read_organisations(arguments.data)
    if not groups:
        parser.error(f"{arguments.data} has neither restaurants/*.warc.gz nor sites/*/*/facts.tsv")
    tally, by_country = Tally(), Tally()
    own: dict[str, Answers] = {}
    judged: list[Judged] = []
    load_tables()
    speed = Speed()
    for name, pages in groups.items():
        settled, read, cost = ours(pages, lambda _, evidence: evidence)
        speed.add(name, len(pages), cost, parse_alone(pages))
        for page, facts, seen in zip(pages, settled, read, strict=True):
            if not page.facts:
                continue
            answers = {
                field: [fact.text for fact in facts if fact.field == field]
                for field in (*FIELDS, "fax", "hours")
            }
            answers["hours"] = [" ".join(fact.printed for fact in facts if fact.field == "hours")]
            tally.add(name, page.facts, answers, (*FIELDS, "fax", "hours"))
            by_country.add(country_of(page, seen), page.facts, answers, FIELDS)
            own[page.url] = answers
            judged += _judged(page, facts)
            if arguments.wrong:
                _print_missed(page, answers)
    reports = [
        _by_group(tally, list(groups)),
        speed.report(),
        _countries(by_country),
        _calibration(judged),
        _systems(own, groups, arguments),
    ]
    reports += [_taught(groups), _tagged(groups)]
    if arguments.calibrate:
        arguments.calibrate.write_text(json.dumps(fit_calibration(judged), indent=1) + "\n", "utf-8")
    return finish(reports, arguments)


def _print_missed(page: TruePage, answers: Answers) -> None:
    for name, truths in page.facts.items():
        for truth in truths:
            if name in answers and not any(is_same(name, truth, answer) for answer in answers[name]):
                print(f"{page.group}\t{name}\t{truth!r}\t{list(answers[name])!r}\t{page.url}")


# Calibration


@dataclass(frozen=True, slots=True)
class Judged:
    """A value that was given: where, of which field, with what evidence, and whether it is right."""

    group: str
    field: str
    evidence: float
    right: bool


def _judged(page: TruePage, facts: Sequence[Fact]) -> list[Judged]:
    return [
        Judged(page.group, fact.field, fact.confidence,
               any(is_same(fact.field, truth, fact.text) for truth in page.facts[fact.field]))
        for fact in facts
        if fact.field in FIELDS and fact.field in page.facts
    ]  # fmt: skip


PRIOR = 3.0
"""Weight of the evidence itself, so that a level of it that few sites have is not believed to be all right."""


def fit_calibration(judged: Iterable[Judged]) -> dict[str, list[tuple[float, float]]]:
    """Return, for each field and `*` for all, the share of right values by evidence, which never falls.

    The values of one template are right or wrong together, so those of a site at one level count by the root of their
    number. Neighbours that would fall are pooled (isotonic regression).
    """
    cells: dict[tuple[str, float, str], list[bool]] = defaultdict(list)
    for value in judged:
        for name in (value.field, "*"):
            cells[name, round(value.evidence, 2), value.group].append(value.right)
    levels: dict[str, dict[float, list[float]]] = defaultdict(dict)
    for (name, evidence, _), rights in cells.items():
        sums = levels[name].setdefault(evidence, [PRIOR * evidence, PRIOR])
        weight = len(rights) ** 0.5
        sums[0] += weight * sum(rights) / len(rights)
        sums[1] += weight
    return {name: _isotonic(sorted(of_field.items())) for name, of_field in sorted(levels.items())}


def _isotonic(levels: Sequence[tuple[float, Sequence[float]]]) -> list[tuple[float, float]]:
    blocks: list[tuple[list[float], float, float]] = []
    for evidence, (right, weight) in levels:
        blocks.append(([evidence], right, weight))
        while len(blocks) > 1 and blocks[-2][1] / blocks[-2][2] >= blocks[-1][1] / blocks[-1][2]:
            last, before = blocks.pop(), blocks.pop()
            blocks.append((before[0] + last[0], before[1] + last[1], before[2] + last[2]))
    return [(evidence, round(right / weight, 4)) for members, right, weight in blocks for evidence in members]


def _calibration(judged: Sequence[Judged]) -> Report:
    """Return the shares of right values by confidence, which was fitted without the site of each value."""
    tables = {
        group: fit_calibration(value for value in judged if value.group != group)
        for group in {value.group for value in judged}
    }
    raw: dict[int, Score] = defaultdict(Score)
    fitted: dict[int, Score] = defaultdict(Score)
    errors = [0.0, 0.0]
    stated: dict[int, float] = defaultdict(float)
    for value in judged:
        confidence = calibrated(value.field, value.evidence, tables[value.group])
        for number, (table, given) in enumerate(((raw, value.evidence), (fitted, confidence))):
            table[min(9, int(given * 10))].add(Score(given=1, right=value.right))
            errors[number] += (given - value.right) ** 2 / len(judged)
        stated[min(9, int(confidence * 10))] += confidence
    rows: list[list[Cell]] = []
    for tenth in sorted({*raw, *fitted}):
        before, after = raw[tenth], fitted[tenth]
        mean = stated[tenth] / after.given if after.given else None
        span = f"{tenth / 10:.1f}–{(tenth + 1) / 10:.1f}"
        rows.append(
            [
                span,
                before.given,
                _percent(before.precision),
                after.given,
                _percent(mean),
                _percent(after.precision),
            ]
        )
    gap = sum(abs(stated[tenth] - score.right) for tenth, score in fitted.items()) / max(1, len(judged))
    rows.append(["Brier score", "", round(errors[0], 4), "", "", round(errors[1], 4)])
    header = [
        "confidence",
        "values by evidence",
        "right",
        "values by confidence",
        "stated",
        "right (held out)",
    ]
    bars = [
        Bar("mean gap between confidence and share of right values", gap, most=0.05),
        Bar("Brier score against that of the evidence", errors[1] / max(errors[0], 1e-9), most=1.0),
    ]
    return Report("Confidence, fitted without the site of each value", header, rows, bars)


def _by_group(tally: Tally, groups: Sequence[str]) -> Report:
    names = (*FIELDS, "fax", "hours")
    header = ["guide or site", *(f"{name} {part}" for name in names for part in ("recall", "prec."))]
    rows: list[list[Cell]] = [
        [group, *(cell for name in names for cell in shares(tally.scores[group, name]))] for group in groups
    ]
    rows.append(["all", *(cell for name in names for cell in shares(tally.total(name)))])
    bars = [
        Bar(f"{name}, nothing taught", tally.total(name).recall, least=least) for name, least in BARS.items()
    ]
    return Report("Facts, nothing taught (per cent)", header, rows, bars)


def _countries(tally: Tally) -> Report:
    names = sorted({group for group, _ in tally.scores})
    rows: list[list[Cell]] = [
        [country, tally.scores[country, "address"].wanted,
         *(cell for name in ("address", "phone", "email") for cell in shares(tally.scores[country, name]))]
        for country in names
    ]  # fmt: skip
    countries = [name for name in names if tally.scores[name, "address"].wanted and name != "unknown"]
    header = [
        "country",
        "addresses",
        "address recall",
        "prec.",
        "phone recall",
        "prec.",
        "e-mail recall",
        "prec.",
    ]
    return Report(
        "By country (per cent)", header, rows, [Bar("countries with addresses", len(countries), least=6)]
    )


def _systems(
    own: Mapping[str, Answers], groups: Mapping[str, Sequence[TruePage]], arguments: argparse.Namespace
) -> Report:
    """Compare systems, each with Wayhound on the pages that it read: peers are slow and read a sample."""
    known = [page for pages in groups.values() for page in pages if page.facts]
    answers = {"regular expressions": {page.url: patterns(page) for page in known}}
    if arguments.peers:
        sample = peer_sample(groups)
        answers |= {name: peer_answers(name, sample) for name in PEERS}
    header = ["system", "pages", *(f"{name} {part}" for name in FIELDS for part in ("recall", "prec."))]
    rows: list[list[Cell]] = []
    bars: list[Bar] = []
    for system, given in answers.items():
        pages = [page for page in known if page.url in given]
        theirs, ours_too = _tally(pages, given), _tally(pages, own)
        if not rows or rows[-1][1] != len(pages):
            rows.append(_system_row("wayhound", pages, ours_too))
        if pages:
            rows.append(_system_row(system, pages, theirs))
            gaps = {name: _f1(ours_too.total(name)) - _f1(theirs.total(name)) for name in FIELDS}
            bars += [Bar(f"{name} F1 ahead of {system}", gap, least=0.0) for name, gap in gaps.items()]
    return Report("Beside others (per cent)", header, rows, bars)


def _tally(pages: Iterable[TruePage], answers: Mapping[str, Answers]) -> Tally:
    tally = Tally()
    for page in pages:
        tally.add(page.group, page.facts, answers[page.url], FIELDS)
    return tally


def _system_row(system: str, pages: Sequence[TruePage], scores: Tally) -> list[Cell]:
    return [system, len(pages), *(cell for name in FIELDS for cell in shares(scores.total(name)))]


def _f1(score: Score) -> float:
    recall, precision = score.recall or 0.0, score.precision or 0.0
    return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


def _taught(groups: Mapping[str, Sequence[TruePage]]) -> Report:
    """Teach each guide with its first pages, and judge the others."""
    tally = Tally()
    for name, pages in groups.items():
        if pages[0].kind != "restaurant":
            continue
        examples = [
            (page.body, page.content_type, "", field, page.facts[field][0])
            for page in pages[:TAUGHT_PAGES]
            for field in TAUGHT_BARS
            if field in page.facts
        ]
        template = learn_template(examples)
        settled, read, _ = ours(pages)
        for page, facts, seen in list(zip(pages, settled, read, strict=True))[TAUGHT_PAGES:]:
            taught = template.apply(page.body, page.content_type)
            merged = merge_taught(facts, taught, KINDS[page.kind], seen.countries)
            answers = {field: [fact.text for fact in merged if fact.field == field] for field in TAUGHT_BARS}
            tally.add(name, page.facts, answers, TAUGHT_BARS)
    guides = sorted({group for group, _ in tally.scores})
    rows: list[list[Cell]] = [
        [guide, *(cell for name in TAUGHT_BARS for cell in shares(tally.scores[guide, name]))]
        for guide in guides
    ]
    header = ["guide", *(f"{name} {part}" for name in TAUGHT_BARS for part in ("recall", "prec."))]
    bars = [Bar(f"{name}, taught with {TAUGHT_PAGES} pages", tally.total(name).recall, least=least)
            for name, least in TAUGHT_BARS.items()]  # fmt: skip
    return Report(f"Taught with {TAUGHT_PAGES} pages of each guide (per cent)", header, rows, bars)


def _tagged(groups: Mapping[str, Sequence[TruePage]]) -> Report:
    """Teach a tagger with pages of the other guides, a field that no extractor reads, and judge each guide."""
    guides = {name: pages for name, pages in groups.items() if pages[0].kind == "restaurant"}
    tally, pages_read, seconds = Tally(), 0, 0.0
    for name, pages in guides.items():
        tagger = learn_tagger(
            (other, page.body, page.content_type, "", [(TAGGED, page.facts[TAGGED][0])])
            for other, taught in guides.items()
            if other != name
            for page in taught[:TAUGHT_PAGES]
            if TAGGED in page.facts
        )
        if tagger is None:
            continue
        seconds += ours(pages)[2]
        began = time.process_time()
        for page in pages:
            found = tagger.find(*lines_with_paths(page.body, page.content_type), [TAGGED])
            tally.add(name, page.facts, {TAGGED: [fact.text for fact in found]}, [TAGGED])
        seconds += time.process_time() - began
        pages_read += len(pages)
    rows: list[list[Cell]] = [[name, *shares(tally.scores[name, TAGGED])] for name in guides]
    rows.append(["all", *shares(tally.total(TAGGED))])
    bar = Bar("pages a CPU second with taggers", pages_read / max(seconds, 1e-9), least=TAGGED_A_SECOND)
    header = ["guide", f"{TAGGED} recall", "prec."]
    return Report(
        "A tagger taught with the other guides (per cent)", header, rows, [bar] if pages_read else []
    )


if __name__ == "__main__":
    sys.exit(main())

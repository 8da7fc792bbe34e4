"""Extraction of what is worth most first: graph value against pages extracted (Huang & Yu, Figures 2–7, Table 1).

The restaurant guides are mixed with pages of `sites/`, or stand alone. The query workload is synthetic: Zipf demand
over the real restaurants of the guides. Pages are scored with `queries.prioritise.tsv` alone, and the value of the
graph is measured with `queries.evaluate.tsv`. For `random` after 10,000 pages of its mixed corpus the paper gives
1,047 in its text and 80.64 in Table 1; the text agrees with its Figure 2 and with a share of 9 % relevant pages, so
the text is followed here.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from bench.entities import read_guides, read_warc
from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.entities.agenda import (
    Agenda,
    HostSuccess,
    LightPage,
    PageResult,
    PageScorer,
    Relevance,
    Strategy,
    run_agenda,
    structure_features,
)
from wayhound.entities.extract import FactPage, SiteProfile, read_facts, settle
from wayhound.entities.graph import Claim, ConsensusGraph, Description
from wayhound.entities.workload import AskedQuery, GraphValue, Values, Workload, read_workload
from wayhound.pages.head import one_line
from wayhound.record_kinds import KINDS
from wayhound.url import host_of

KIND = KINDS["restaurant"]
MIXED = 8_000
"""Irrelevant pages at least."""

SAMPLE_FACTOR = 10
FIXED_SAMPLE = 200
"""Pages scored in each round of Fig. 5, whatever the size of the batch: the paper's s and b are two settings."""


@dataclass
class Corpus:
    """Pages by key, with what the crawl knows of them."""

    bodies: dict[str, bytes] = field(default_factory=dict)
    light: list[LightPage] = field(default_factory=list)
    relevant: set[str] = field(default_factory=set)

    def add(self, url: str, body: bytes, *, relevant: bool) -> None:
        if url in self.bodies:
            return
        self.bodies[url] = body
        self.light.append(LightPage(url, url, title_of(body), len(body), lambda: self.bodies[url]))
        if relevant:
            self.relevant.add(url)


def title_of(body: bytes) -> str:
    """Return the title, which a forage has stored with each visit."""
    start = body[:20_000].lower().find(b"<title")
    if start < 0:
        return ""
    start = body.find(b">", start) + 1
    return one_line(body[start : body.find(b"<", start)].decode("utf-8", "replace"))


@dataclass
class Extraction:
    """The full extraction: facts, settled with the profile of the host as far as it is known, into a graph."""

    corpus: Corpus
    value: GraphValue
    graph: ConsensusGraph = field(default_factory=lambda: ConsensusGraph(KIND))
    seconds: float = 0.0
    _pages: dict[str, list[FactPage]] = field(default_factory=dict)
    _profiles: dict[str, SiteProfile] = field(default_factory=dict)

    def __call__(self, page: LightPage) -> PageResult:
        began = time.process_time()
        read = read_facts(page.url, self.corpus.bodies[page.key])
        facts = settle(read, KIND, self._profile(host_of(page.url), read))
        fields = {fact.field for fact in facts}
        # a page of the domain names a restaurant with a place or a phone, and says what it serves
        relevant = (
            "name" in fields and bool(fields & {"address", "phone"}) and bool(fields & {"cuisine", "price"})
        )
        changed: dict[int, Values] = {}
        if relevant:
            claims = tuple(
                Claim(f.field, f.text, f.confidence, page.url, f.start, f.end, host_of(page.url))
                for f in facts
            )
            entity = self.graph.add(Description(page.key, claims))
            values = self.graph.values(entity)
            changed[entity] = values
            self.value.update(entity, values)
        self.seconds += time.process_time() - began
        return PageResult(relevant, relevant, changed)

    def _profile(self, host: str, read: FactPage) -> SiteProfile:
        pages = self._pages.setdefault(host, [])
        if len(pages) < 50:
            pages.append(read)
            if len(pages) in (1, 4, 8, 16, 32, 50):
                self._profiles[host] = SiteProfile.learn(pages)
        return self._profiles[host]


@dataclass
class Curve:
    """Graph value after every batch."""

    name: str
    points: list[tuple[int, float]] = field(default_factory=lambda: [(0, 0.0)])
    seconds: float = 0.0
    extraction_seconds: float = 0.0
    scored: int = 0
    confirmed: int = 0  # values that two pages state, at the end

    def at(self, pages: float) -> float:
        return max((value for done, value in self.points if done <= pages), default=0.0)

    def pages_for(self, value: float) -> int | None:
        return next((done for done, reached in self.points if reached >= value), None)

    @property
    def overhead(self) -> float:
        """The cost of choosing pages as a share of the cost of extracting the same pages without choosing."""
        return (self.seconds - self.extraction_seconds) / self.extraction_seconds


def run(
    corpus: Corpus, name: str, workloads: tuple[Workload, Workload], strategy: Strategy, *, batch: int,
    most: int | None = None, threshold: float = 0.0, seed: int = 0, sample: int | None = None,
    corroboration: float = 0.0,
) -> Curve:  # fmt: skip
    """Run a strategy over a corpus. With `sample`, so many pages are scored in each round, whatever the batch."""
    prioritise, evaluate = workloads
    extraction = Extraction(corpus, GraphValue(evaluate))
    scorer = PageScorer(prioritise, GraphValue(prioritise), strategy, corroboration=corroboration)
    agenda = Agenda(scorer, sample or SAMPLE_FACTOR * batch, batch, threshold, rescore=batch)
    if sample:
        agenda.choice = None
    curve = Curve(name)
    began = time.process_time()
    for done in run_agenda(corpus.light, agenda, extraction, Random(seed), most):
        curve.points.append((done, extraction.value.total))
        if threshold and not len(agenda) and agenda.scored == len(corpus.light):
            break
    curve.seconds = time.process_time() - began
    curve.extraction_seconds = extraction.seconds
    curve.scored = agenda.scored
    curve.confirmed = confirmed(extraction.graph)
    return curve


def confirmed(graph: ConsensusGraph) -> int:
    """Return the number of values that two pages state."""
    return sum(
        len({claim.url for claim in value.claims}) > 1
        for entity in graph.entities
        for values in graph.consensus(entity).values()
        for value in values
    )


def read_corpus(data: Path, per_guide: int, irrelevant: int) -> tuple[Corpus, Corpus]:
    """Return the guides alone, and mixed with other pages, taken evenly from all sites."""
    core, mixed = Corpus(), Corpus()
    for pages in read_guides(data, per_guide).values():
        for page in pages:
            core.add(page.url, page.body, relevant=True)
            mixed.add(page.url, page.body, relevant=True)
    warcs = sorted((data / "sites").glob("*/*/site.warc.gz"))
    others: list[tuple[str, bytes]] = []
    for warc in warcs:
        others += [(url, body) for url, body, kind in read_warc(warc) if "html" in kind][:700]
    Random(0).shuffle(others)
    for url, body in others[:irrelevant]:
        mixed.add(url, body, relevant=False)
    return core, mixed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    add_output_options(parser)
    parser.add_argument("--pages", type=int, default=400, help="of each guide")
    parser.add_argument("--irrelevant", type=int, default=9_000, help="pages of other sites")
    parser.add_argument("--plots", type=Path, help="a folder for the figures as PNG")
    parser.add_argument("--only", choices=["mixed", "core"], help="run one half")
    parser.add_argument(
        "--rank", type=int, default=0, metavar="PAGES", help="only rank so many pages, and time it"
    )
    arguments = parser.parse_args()
    core, mixed = read_corpus(arguments.data, arguments.pages, arguments.irrelevant)
    folder = arguments.data / "restaurants"
    workloads = tuple(
        read_workload((folder / f"queries.{name}.tsv").read_text("utf-8").splitlines(), ["restaurant"])
        for name in ("prioritise", "evaluate")
    )
    both = workloads[0], workloads[1]
    reports: list[Report] = []
    if arguments.rank:
        return finish([_ranked(mixed, workloads[0], arguments.rank)], arguments)
    timed = {
        name: _timed(corpus, both, batch)
        for name, corpus, batch in (("core", core, 20), ("mixed", mixed, 100))
        if arguments.only in (None, name)
    }
    if arguments.only != "core":
        reports += _mixed(mixed, both, timed["mixed"], arguments.plots)
    if arguments.only != "mixed":
        reports += _core(core, both, timed["core"], arguments.plots)
        reports.append(_success(arguments.data))
    return finish(reports, arguments)


RANK_SECONDS = 600


def _ranked(corpus: Corpus, workload: Workload, pages: int) -> Report:
    """Rank pages that are made from those of the corpus under other URLs; nothing is extracted."""
    scorer = PageScorer(workload, GraphValue(workload), "combined")
    agenda = Agenda(scorer, 800, 100, rescore=100)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    corpus_pages = len(corpus.light)
    many = (
        replace(page, key=f"{page.key}#{number}", url=f"{page.url}?copy={number // corpus_pages}")
        for number in range(pages)
        for page in (corpus.light[number % corpus_pages],)
    )
    began, cpu = time.monotonic(), time.process_time()
    ranked = sum(1 for _ in run_agenda(many, agenda, lambda _: PageResult(True, True), Random(0)))
    seconds, cpu = time.monotonic() - began, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return Report(
        "Ranking alone",
        ["pages scored", "batches", "seconds", "CPU s", "MB of the corpus", "MB more at the peak"],
        [[agenda.scored, ranked, round(seconds, 1), round(cpu, 1), before, peak - before]],
        [Bar("seconds", seconds, most=RANK_SECONDS), Bar("pages", agenda.scored, least=pages)],
    )


def _mixed(
    corpus: Corpus, workloads: tuple[Workload, Workload], timed: Sequence[Curve], plots: Path | None
) -> list[Report]:
    n, relevant = len(corpus.light), len(corpus.relevant)
    strategies: tuple[Strategy, ...] = ("random", "metadata", "content", "combined")
    tenth = n // 10
    overhead = timed[1].overhead
    curves = [
        run(corpus, name, workloads, name, batch=100, most=max(relevant, n // 10)) for name in strategies
    ]
    total = total_value(corpus, workloads)
    combined, random = curves[3], curves[0]
    cut_offs = [classified(corpus, workloads, cut_off, relevant) for cut_off in (0.8, 0.2)]
    header = [
        "strategy",
        "value at 1 %",
        "at 10 %",
        f"at {relevant:,} pages",
        "pages extracted",
        "CPU s",
        "of it scoring",
    ]
    rows: list[list[Cell]] = [
        [c.name, *(f"{100 * c.at(p) / total:.1f} %" for p in (n / 100, n / 10, relevant)), c.points[-1][0],
         round(c.seconds, 1), round(c.seconds - c.extraction_seconds, 1)]
        for c in (*curves, *cut_offs)
    ]  # fmt: skip
    bars = [
        Bar("irrelevant pages", n - relevant, least=MIXED),
        Bar(
            "share of the value after as many pages as are relevant",
            combined.at(relevant) / total,
            least=0.85,
        ),
        Bar("share of the value after 10 % of the corpus", combined.at(n / 10) / total, least=0.60),
        Bar("times random's value after 10 %", combined.at(n / 10) / max(random.at(n / 10), 1e-9), least=5.0),
        Bar("overhead on 10 % of the corpus", overhead, most=0.35),
        Bar(
            "share where the 0.8 cut-off ends",
            cut_offs[0].points[-1][1] / total,
            most=combined.at(relevant) / total,
        ),
        Bar(
            "0.2 cut-off against combined at 10 %",
            cut_offs[1].at(n / 10) / max(combined.at(n / 10), 1e-9),
            most=1.0,
        ),
    ]
    title = (f"Mixed: {relevant:,} relevant of {n:,} pages ({100 * relevant / n:.0f} %), synthetic workload; total "
             f"value {total:,.0f}, peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")  # fmt: skip
    if plots:
        draw(plots / "figure2.png", curves, total, "Mixed corpus")
        draw(plots / "figure7.png", [combined, *cut_offs, random], total, "Cut-offs of a classifier")
    table: list[list[Cell]] = [
        ["random", round(timed[0].seconds, 2), round(timed[0].at(tenth))],
        ["combined", round(timed[1].seconds, 2), round(timed[1].at(tenth))],
    ]
    return [
        Report(title, header, rows, bars, {"curves": {c.name: c.points for c in (*curves, *cut_offs)}}),
        Report("Table 1, mixed: 10 % of the pages", ["strategy", "CPU s", "value"], table),
    ]


def _timed(corpus: Corpus, workloads: tuple[Workload, Workload], batch: int) -> list[Curve]:
    """Run `random` and `combined` over a tenth of the pages, before any other run.

    What extractors know of lines and numbers is kept, so that a page that was read before is extracted in less time
    than one that is new, as all pages are in practice.
    """
    most = len(corpus.light) // 10
    return [run(corpus, name, workloads, name, batch=batch, most=most) for name in _TIMED]


_TIMED: tuple[Strategy, ...] = ("random", "combined")


def total_value(corpus: Corpus, workloads: tuple[Workload, Workload]) -> float:
    """Return the value of extracting every relevant page, which is that of the whole corpus, as in the paper."""
    extraction = Extraction(corpus, GraphValue(workloads[1]))
    for page in corpus.light:
        if page.key in corpus.relevant:
            extraction(page)
    return extraction.value.total


def classified(corpus: Corpus, workloads: tuple[Workload, Workload], cut_off: float, most: int) -> Curve:
    """Extract the pages above a utility of `cut_off` in the order in which they come, at most `most`.

    The utility is brought to the range from 0 to 1 by u / (u + m), where m is the mean utility so far.
    """
    prioritise, evaluate = workloads
    extraction = Extraction(corpus, GraphValue(evaluate))
    scorer = PageScorer(prioritise, GraphValue(prioritise), "combined")
    curve = Curve(f"cut-off {cut_off}")
    pages = list(corpus.light)
    Random(0).shuffle(pages)
    mean, seen_pages, done = 0.0, 0, 0
    began = time.process_time()
    for page in pages:
        seen = scorer.see(page)
        utility = scorer.utility(seen)
        seen_pages += 1
        mean += (utility - mean) / seen_pages
        curve.scored += 1
        if done >= most:
            break
        if done >= 200 and utility / (utility + mean) <= cut_off:
            continue
        outcome = extraction(page)
        done += 1
        for entity, values in outcome.changed.items():
            scorer.value.update(entity, values)
            scorer.know(values)
        scorer.learn(seen, relevant=outcome.relevant, extracted=outcome.extracted)
        if done % 20 == 0:
            curve.points.append((done, extraction.value.total))
    curve.points.append((done, extraction.value.total))
    curve.seconds, curve.extraction_seconds = time.process_time() - began, extraction.seconds
    return curve


def _core(
    corpus: Corpus, workloads: tuple[Workload, Workload], timed: Sequence[Curve], plots: Path | None
) -> list[Report]:
    n = len(corpus.light)
    strategies: tuple[Strategy, ...] = ("random", "metadata", "content", "combined")
    overhead = timed[1].overhead
    curves = [run(corpus, name, workloads, name, batch=20) for name in strategies]
    total = max(curve.points[-1][1] for curve in curves)
    random, combined = curves[0], curves[3]
    share = (combined.pages_for(0.6 * total) or n) / (random.pages_for(0.6 * total) or n)
    batches = [
        run(corpus, f"batch {size}, {FIXED_SAMPLE} scored", workloads, "combined", batch=size, sample=FIXED_SAMPLE)
        for size in (10, 20, 50, 100)
    ]  # fmt: skip
    scaled = [
        run(corpus, f"batch {size}, scored in proportion", workloads, "combined", batch=size)
        for size in (10, 50, 200)
    ]
    traded = [
        run(
            corpus,
            f"corroboration {worth}",
            workloads,
            "combined",
            batch=20,
            most=n // 4,
            corroboration=worth,
        )
        for worth in (0.0, 0.25, 0.5, 1.0)
    ]
    smaller = Workload.of(_thinned(workloads[0], 3), ["restaurant"])
    sizes = [combined, run(corpus, "a third of the workload", (smaller, workloads[1]), "combined", batch=20)]
    header = ["run", "value at 10 %", "at 25 %", "at 50 %", "pages for 60 %", "CPU s"]
    rows: list[list[Cell]] = [
        [
            c.name,
            *(f"{100 * c.at(p * n) / total:.1f} %" for p in (0.1, 0.25, 0.5)),
            c.pages_for(0.6 * total),
            round(c.seconds, 1),
        ]
        for c in (*curves, *batches, *scaled, sizes[1])
    ]
    bars = [
        Bar(
            "Fig. 5: value at 10 % with the smallest batch, against the largest",
            batches[0].at(n / 10) / batches[-1].at(n / 10),
            least=1.0,
        ),
        Bar("pages for 60 % of the value, as a share of random's", share, most=0.60),
        Bar("overhead on 10 % of the corpus", overhead, most=0.15),
    ]
    if plots:
        draw(plots / "figure3.png", curves, total, "Restaurants alone")
        draw_shares(plots / "figure4.png", random, curves[1:], total)
        draw(
            plots / "figure5.png",
            [*batches, random],
            total,
            f"Batch size, {FIXED_SAMPLE} pages scored a round",
        )
        draw(plots / "figure6.png", [*sizes, random], total, "Size of the workload")
    table: list[list[Cell]] = [["random", round(timed[0].seconds, 2), round(timed[0].at(n // 10))],
             ["combined", round(timed[1].seconds, 2), round(timed[1].at(n // 10))]]  # fmt: skip
    return [
        Report(f"Restaurants alone: {n:,} pages, synthetic workload; total value {total:,.0f}", header, rows, bars,
               {"curves": {c.name: c.points for c in (*curves, *batches, *sizes)}}),
        Report("Table 1, restaurants alone: 10 % of the pages", ["strategy", "CPU s", "value"], table),
        Report("Corroboration against novelty, after a quarter of the pages",
               ["worth of a second source", "share of the value", "values that two pages state"],
               [[c.name.split()[1], f"{100 * c.points[-1][1] / total:.1f} %", c.confirmed] for c in traded]),
    ]  # fmt: skip


def _success(data: Path) -> Report:
    """Predict, page by page, if a page of an organisation's site has two of its contact facts, and learn from each."""
    pages: list[tuple[str, bytes]] = []
    known = {table.with_name("site.warc.gz") for table in (data / "sites").glob("*/*/facts.tsv")}
    for warc in sorted({*known, *(data / "sites").glob("modern-*/*/site.warc.gz")}):
        pages += [(url, body) for url, body, kind in read_warc(warc) if "html" in kind][:40]
    Random(0).shuffle(pages)
    host, structure = HostSuccess(prior=0.5), Relevance(prior=0.5)
    rates: dict[str, list[tuple[float, bool]]] = {
        "rate of the host": [],
        "regression on elements and words": [],
    }
    for url, body in pages:
        features = (f"host:{host_of(url)}", *structure_features(body))
        found = {fact.field for fact in read_facts(url, body).facts if fact.confidence >= 0.6}
        success = len(found & {"email", "phone", "address"}) >= 2
        rates["rate of the host"].append((host.probability(host_of(url)), success))
        rates["regression on elements and words"].append((structure.probability(features), success))
        host.learn(host_of(url), success)
        structure.learn(features, success)
    rows: list[list[Cell]] = [
        [name, len(seen), round(sum((p - s) ** 2 for p, s in seen) / len(seen), 4), round(_auc(seen), 3)]
        for name, seen in rates.items()
    ]
    header = ["estimator", "pages", "Brier score", "area under the ROC curve"]
    return Report("Extraction success, learned online", header, rows)


def _auc(seen: Sequence[tuple[float, bool]]) -> float:
    """Return the probability that a page that succeeded was rated above one that did not."""
    ranked = sorted(seen)
    below, wins = 0, 0
    for _, success in ranked:
        wins += below if success else 0
        below += not success
    successes = len(ranked) - below
    return wins / (below * successes) if below and successes else 0.0


def _thinned(workload: Workload, part: int) -> Iterable[AskedQuery]:
    rng = Random(1)
    for query in workload.queries:
        count = sum(rng.random() < 1 / part for _ in range(int(query.count)))
        if count:
            yield replace(query, count=float(count))


def draw(path: Path, curves: Sequence[Curve], total: float, title: str) -> None:
    _plot(path, title, "pages extracted", "share of the total value",
          [(c.name, [d for d, _ in c.points], [v / total for _, v in c.points]) for c in curves])  # fmt: skip


def draw_shares(path: Path, random: Curve, curves: Sequence[Curve], total: float) -> None:
    shares = [step / 20 for step in range(1, 20)]
    lines = []
    for curve in curves:
        ratios = [
            (curve.pages_for(s * total) or 0) / max(1, random.pages_for(s * total) or 1) for s in shares
        ]
        lines.append((curve.name, shares, ratios))
    _plot(path, "Pages as a share of random's", "share of the total value", "share of random's pages", lines)


Lines = Sequence[tuple[str, Sequence[float], Sequence[float]]]


def _plot(path: Path, title: str, x: str, y: str, lines: Lines) -> None:
    from matplotlib import pyplot as plt

    path.parent.mkdir(parents=True, exist_ok=True)
    plt.switch_backend("Agg")
    figure, axes = plt.subplots(figsize=(6, 4))
    for name, xs, ys in lines:
        axes.plot(xs, ys, label=name)
    axes.set(title=f"{title} (synthetic workload)", xlabel=x, ylabel=y)
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=110, bbox_inches="tight")
    plt.close(figure)


if __name__ == "__main__":
    sys.exit(main())

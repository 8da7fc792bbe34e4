"""Link chains from one to four examples on recorded sites: Table 1 of Naing, Lim and Goh (2003), next to two peers.

Truth comes from the page structure, read with CSS selectors by code that shares nothing with the rules, or from the
labels of a site (a URL rule); each relationship says which. Precision is N_lc / N_le and recall N_lc / N_lr over
chains, each a tuple of addresses. The paper's Eq. 2 has N_le / N_lr for recall, a misprint.

Peers get the same example links: an XPath generalisation (the common path of the examples with indices dropped), and
autoscraper from PyPI, in an environment of its own (`.bench-venvs/`).
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from selectolax.lexbor import LexborNode

from bench.crawl_speed import peer_environment
from bench.link_chain_truth import Chain, RecordedSite, Task, evenly, target_of, tasks_of
from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.archive.site_folder import SiteFolder, find_site_folders
from wayhound.chains.construction import (
    ChainRules,
    Extraction,
    construct_chains,
    learn_chains,
)
from wayhound.chains.tokens import TokenPage
from wayhound.errors import TeachingError
from wayhound.url import normalise
from wayhound.wording.chains import paths_in_order

ROOT = Path(__file__).parent.parent
PEER_PAGES, PEER_BYTES, PEER_DRAWS = 100, 5_000_000, 2
# it asks for elements with an empty class, which means "without a class" to Beautiful Soup before 4.13 alone
AUTOSCRAPER = ["autoscraper", "beautifulsoup4<4.13"]


@dataclass
class Outcome:
    """The result of one task with a number of examples, over several draws."""

    task: Task
    examples: int
    extracted: list[int] = field(default_factory=list)
    precision: list[float] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    learn_seconds: float = 0.0
    learn_100_kb: float = 0.0
    read: Reading | None = None

    def add(self, found: set[Chain], truth: set[Chain]) -> None:
        right = len(found & truth)
        self.extracted.append(len(found))
        self.precision.append(right / len(found) if found else 0.0)
        self.recall.append(right / len(truth))

    @property
    def means(self) -> tuple[float, float]:
        return statistics.mean(self.precision), statistics.mean(self.recall)


def shuffled_chains(truth: set[Chain], seed: int) -> list[Chain]:
    chains = sorted(truth)
    random.Random(seed).shuffle(chains)
    return chains


@dataclass(frozen=True)
class Lesson:
    """Examples, the rules learned from them, and the CPU seconds that it took."""

    drawn: tuple[Chain, ...]
    rules: ChainRules
    seconds: float
    mean_kb: float  # of the pages that were read for it

    @property
    def seconds_of_100_kb(self) -> float:
        """CPU seconds, divided by how many times 100 kB its pages have if they have more."""
        return self.seconds / max(self.mean_kb / 100, 1.0)


def lessons(task: Task, truth: set[Chain], most: int, seed: int) -> Iterator[Lesson]:
    """Give examples as a person does who sees what the rules take: the first at random, then what is still missed.

    If nothing is missed on the source pages shown so far, the next example is from another page, at random. Yields a
    lesson for each number of examples. Raises TeachingError if examples cannot be learned from.
    """
    waiting = shuffled_chains(truth, seed)
    drawn = [waiting[0]]
    while True:
        yield (lesson := learn(task, drawn))
        rules = lesson.rules
        if len(drawn) == min(most, len(truth)):
            return
        shown = {chain[0] for chain in drawn}
        found = {chain.urls for chain in construct_chains(rules, shown, task.site.page, Extraction())}
        missed = sorted(chain for chain in truth - found if chain[0] in shown and chain not in drawn)
        others = [chain for chain in waiting if chain[0] not in shown] or [
            c for c in waiting if c not in drawn
        ]
        drawn.append((missed or others)[0])


def xpath_chains(task: Task, drawn: Sequence[Chain]) -> set[Chain]:
    """The baseline: paths of tags from the root to the examples' links, indices dropped, at every step."""
    chains: list[Chain] = [(source,) for source in task.sources]
    for step in range(len(task.steps)):
        paths = {path for chain in drawn for path in _paths_to(task, step, chain[step], chain[step + 1])}
        targets = {url: _at_paths(task.site, url, paths) for url in {chain[-1] for chain in chains}}
        chains = [(*chain, target) for chain in chains for target in targets[chain[-1]]]
    return set(chains)


def _paths_to(task: Task, step: int, url: str, target: str) -> list[tuple[str, ...]]:
    return [_tag_path(node) for other, node in task.nodes(step, url) if other == target][:1]


def _tag_path(node: LexborNode) -> tuple[str, ...]:
    path: list[str] = []
    above: LexborNode | None = node
    while above is not None:
        path.append(above.tag or "")
        above = above.parent
    return tuple(path)


def _at_paths(site: RecordedSite, url: str, paths: set[tuple[str, ...]]) -> list[str]:
    tree = site.tree(url)
    if tree is None:
        return []
    base = site.base(url)
    nodes = [node for node in tree.css("a[href]") if _tag_path(node) in paths]
    return [target for target in dict.fromkeys(target_of(node, base) for node in nodes) if target]


def autoscraper_chains(task: Task, drawn: Sequence[Chain]) -> list[set[Chain]]:
    """Run autoscraper on the same example links, step by step; return its chains in both of its modes.

    It learns from the addresses as they stand in the page, and is asked for similar ones without and with the siblings
    of each. Returns nothing where it cannot be installed.
    """
    python = peer_environment("autoscraper", AUTOSCRAPER)
    if python is None:
        return []
    return [_scraped(python, task, drawn, siblings) for siblings in (False, True)]


def _scraped(python: Path, task: Task, drawn: Sequence[Chain], siblings: bool) -> set[Chain]:
    chains: list[Chain] = [(source,) for source in task.sources]
    for step in range(len(task.steps)):
        pages = sorted({chain[-1] for chain in chains})
        examples = [
            {"html": task.site.text(chain[step]), "wanted": _hrefs(task, step, chain[step], chain[step + 1])}
            for chain in drawn
        ]
        request = {
            "examples": examples,
            "pages": [[url, task.site.text(url) or ""] for url in pages],
            "siblings": siblings,
        }
        script = ROOT / "bench" / "peers" / "autoscraper_peer.py"
        done = subprocess.run(
            [python, script], input=json.dumps(request), stdout=subprocess.PIPE, text=True, check=True
        )
        targets = {
            url: [target for href in hrefs if (target := normalise(href, task.site.base(url)))]
            for url, hrefs in json.loads(done.stdout).items()
        }
        chains = [(*chain, target) for chain in chains for target in targets[chain[-1]]]
    return set(chains)


def _hrefs(task: Task, step: int, url: str, target: str) -> list[str]:
    return [node.attributes["href"] or "" for other, node in task.nodes(step, url) if other == target][:1]


def learn(task: Task, drawn: Sequence[Chain]) -> Lesson:
    """Learn from examples; the CPU seconds count reading the pages into tokens."""
    examples = [task.example(chain) for chain in drawn]
    context = evenly(task.sources, 24)
    read: dict[str, int] = {}

    def get_page(url: str) -> TokenPage | None:
        page = task.site.page(url)
        read[url] = len(page.text) if page else 0
        return page

    began = time.process_time()
    rules = learn_chains(examples, get_page, context)
    return Lesson(tuple(drawn), rules, time.process_time() - began, statistics.mean(read.values()) / 1_000)


@dataclass(frozen=True)
class Reading:
    """The chains of an extraction, and what it cost. `mean_kb` is of the pages that were read."""

    chains: set[Chain]
    pages_per_second: float
    mean_kb: float

    @property
    def per_second_of_100_kb(self) -> float:
        """Pages a CPU second; a page of more than 100 kB counts as that many pages of 100 kB."""
        return self.pages_per_second * max(self.mean_kb / 100, 1.0)


def extract(task: Task, rules: ChainRules) -> Reading:
    read: list[int] = []

    def get_page(url: str) -> TokenPage | None:
        page = task.site.page(url)
        read.append(len(page.text) if page else 0)
        return page

    began = time.process_time()
    found = {chain.urls for chain in construct_chains(rules, task.sources, get_page, Extraction())}
    seconds = max(time.process_time() - began, 1e-9)
    return Reading(found, len(read) / seconds, statistics.mean(read) / 1_000)


def run_task(
    task: Task, counts: Sequence[int], draws: int, verbose: bool
) -> tuple[list[Outcome], list[Lesson]]:
    """Return an outcome for each number of examples, and the last lesson of each draw."""
    truth = task.chains()
    if len(truth) < 5:  # too few to tell anything
        return [], []
    outcomes = {count: Outcome(task, count) for count in counts}
    read: dict[str, Reading] = {}
    taught: list[Lesson] = []
    for draw in range(draws):
        try:
            taught.append(_run_draw(task, truth, draw, outcomes, read))
        except TeachingError as error:
            for outcome in outcomes.values():
                outcome.problems.append(str(error))
                outcome.add(set(), truth)
    if verbose:
        for lesson in taught:
            _explain(task, lesson, read[str(lesson.rules)].chains, truth)
    return list(outcomes.values()), taught


def _run_draw(
    task: Task, truth: set[Chain], draw: int, outcomes: dict[int, Outcome], read: dict[str, Reading]
) -> Lesson:
    for lesson in lessons(task, truth, max(outcomes), draw):
        outcome = outcomes.get(len(lesson.drawn))
        if outcome is None:
            continue
        rules = str(lesson.rules)
        if rules not in read:  # most lessons teach the same rules
            read[rules] = extract(task, lesson.rules)
        outcome.learn_seconds = max(outcome.learn_seconds, lesson.seconds)
        outcome.learn_100_kb = max(outcome.learn_100_kb, lesson.seconds_of_100_kb)
        outcome.read = read[rules]
        outcome.add(read[rules].chains, truth)
    return lesson


def _explain(task: Task, lesson: Lesson, found: set[Chain], truth: set[Chain]) -> None:
    if found == truth:
        return
    print(f"\n{task.site.folder.name} {task.name} with {len(lesson.drawn)}: {lesson.drawn}", file=sys.stderr)
    for lead, path in paths_in_order(lesson.rules):
        print("   ", lead, path, file=sys.stderr)
    for name, chains in (("wrong", found - truth), ("missed", truth - found)):
        print(f"  {len(chains)} {name}: {sorted(chains)[:4]}", file=sys.stderr)


def peers_of(task: Task, taught: Sequence[Lesson]) -> dict[str, list[float]]:
    """Return F1 of each peer and of our rules, for each lesson, on at most a hundred source pages.

    Peers get the examples that our own rules asked for, and autoscraper is given the better of its two modes.
    """
    task = replace(task, sources=_within(task, PEER_PAGES, PEER_BYTES))
    truth = task.chains()
    scores: dict[str, list[float]] = {"ours": [], "xpath": [], "autoscraper": []}
    for lesson in taught:
        scores["ours"].append(f1(extract(task, lesson.rules).chains, truth))
        scores["xpath"].append(f1(xpath_chains(task, lesson.drawn), truth))
        modes = autoscraper_chains(task, lesson.drawn)
        scores["autoscraper"] += [max(f1(chains, truth) for chains in modes)] if modes else []
    return scores


def _within(task: Task, pages: int, size: int) -> tuple[str, ...]:
    """Return some of a task's sources, at even distances: peers parse slowly."""
    mean = statistics.mean(len(task.site.text(url) or "") for url in task.sources)
    return tuple(evenly(task.sources, max(min(pages, int(size / max(mean, 1.0))), 3)))


def f1(found: set[Chain], truth: set[Chain]) -> float:
    return 2 * len(found & truth) / (len(found) + len(truth)) if found or truth else 1.0


def report(outcomes: Sequence[Outcome], peers: dict[str, dict[str, list[float]]]) -> Report:
    rows: list[list[Cell]] = []
    bars: list[Bar] = []
    for outcome in outcomes:
        task, read = outcome.task, outcome.read
        precision, recall = outcome.means
        name = f"{task.site.folder.name}: {task.name}"
        beside = peers.get(name, {}) if outcome.examples == 4 else {}
        best = {peer: statistics.mean(values) for peer, values in beside.items() if values}
        rows.append([
            task.site.folder.name, task.name, task.truth_by, len(task.sources), outcome.examples,
            round(statistics.mean(outcome.extracted)), round(precision, 4), round(recall, 4),
            round(outcome.learn_seconds, 2), round(read.mean_kb) if read else None,
            round(read.pages_per_second) if read else None, *map(best.get, ("ours", "xpath", "autoscraper")),
        ])  # fmt: skip
        bars += _bars(outcome, name)
        bars += [
            Bar(f"{name}: F1 not behind {peer}", best["ours"] - other, least=0.0)
            for peer, other in best.items()
            if peer != "ours"
        ]
    header = ["site", "relationship", "truth by", "sources", "examples", "chains", "precision", "recall",
              "learn s", "kB a page", "pages / CPU s", "F1 ours", "F1 XPath", "F1 autoscraper"]  # fmt: skip
    return Report("Link chains", header, rows, [*bars, *_speed_bars(outcomes)])


def _bars(outcome: Outcome, name: str) -> list[Bar]:
    """With one example, a relationship of several templates cannot be whole, and has no bar."""
    task = outcome.task
    least = {1: (0.95, 0.90), 4: (1.0, 1.0)}.get(outcome.examples)
    if task.several or task.held_out:
        least = {1: (0.95, 0.90) if task.held_out else None, 4: (0.98, 0.98)}.get(outcome.examples)
    if least is None:
        return []
    return [
        Bar(f"{name}, {outcome.examples} examples, {kind}", value, least=bound)
        for kind, value, bound in zip(("precision", "recall"), outcome.means, least, strict=True)
    ]


def _speed_bars(outcomes: Sequence[Outcome]) -> list[Bar]:
    """The bars are for pages of 100 kB: what larger pages cost is divided by their size."""
    reads = [(outcome, outcome.read) for outcome in outcomes if outcome.read]
    if not reads:
        return []
    learning = max(outcome.learn_100_kb for outcome, _ in reads)
    extraction = min(read.per_second_of_100_kb for _, read in reads)
    return [
        Bar("slowest learning, seconds for 100 kB pages", learning, most=2.0),
        Bar("slowest extraction, 100 kB pages a CPU second", extraction, least=200),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    add_output_options(parser)
    parser.add_argument("--sets", nargs="+", default=["javadoc", "catalog"], help="folders below DATA/sites")
    parser.add_argument("--site", default="", help="sites whose name contains this")
    parser.add_argument("--only", default="", help="tasks whose site and name contain this")
    parser.add_argument("--examples", nargs="+", type=int, default=[1, 2, 3, 4])
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--without-peers", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="explain what is wrong or missed")
    arguments = parser.parse_args()
    outcomes: list[Outcome] = []
    peers: dict[str, dict[str, list[float]]] = {}
    for name in arguments.sets:
        for path in find_site_folders(arguments.data / "sites" / name):
            site = RecordedSite(SiteFolder.open(path))
            if arguments.site not in site.folder.name:
                continue
            for task in tasks_of(site, name):
                label = f"{site.folder.name}: {task.name}"
                if arguments.only not in label:
                    continue
                print(label, file=sys.stderr, flush=True)
                made, taught = run_task(task, arguments.examples, arguments.draws, arguments.verbose)
                outcomes += made
                for outcome in made:
                    print("   ", outcome.examples, *outcome.means, file=sys.stderr, flush=True)
                if taught and not arguments.without_peers:
                    peers[label] = peers_of(task, taught[:PEER_DRAWS])
    return finish(report(outcomes, peers), arguments)


if __name__ == "__main__":
    sys.exit(main())

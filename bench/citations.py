"""Citation matching: accuracy on two labelled sets against a word-overlap baseline, and cost by size.

Cross-validation over Cora splits its clusters into five folds; pairs are formed within a fold, in training and
in testing. One split can be lucky by several points, so the figure is the mean over several splits. A stricter
figure groups all citations at once, counts a pair across two folds as half for each, and trains on all pairs of
the other folds: then the versions of a paper, which the set sometimes keeps apart, always meet. DBLP-ACM is
split the same way, but matched at once, and a pair counts for the fold of its first member. The baseline gets
its best threshold in hindsight.

With `--files FOLDER`, the references of PDFs of many kinds are grouped as well (`cited_works.tsv`). The rules for
titles were written by looking at these.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.citation_data import Labelled, generated_citations, read_cora, read_dblp_acm, read_mixed, text_only
from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.citations.citation import Citation, guess_fields
from wayhound.citations.grouping import CitationMatcher, group_citations, training_pairs
from wayhound.citations.pair_model import pair_classifier, shipped_classifier
from wayhound.learn.logistic import LogisticRegression
from wayhound.text.words import plain_words

Ints = npt.NDArray[np.int64]
FOLDS = 5
SPLITS = range(100, 108)  # seeds that were not used while features were chosen
BASELINE_THRESHOLDS = (0.4, 0.5, 0.6, 0.7, 0.8)
ADDED = 5_000
MIXED_RECALL = 0.895  # before the rules for titles, at a precision of .940
CONTENT_WEIGHT = 2  # of a word of authors or title, against 1 for the others


class WordMatcher:
    """The baseline: McCallum et al. (2000), section 2, after Baseline Simple of Giles et al. (1998).

    A citation joins the group of the citation with the highest word overlap, if that reaches the threshold, and
    starts a new group otherwise. Words of authors and title weigh double.
    """

    def __init__(self, threshold: float = 0.6) -> None:
        self.threshold = threshold
        self._bags: list[Counter[str]] = []
        self._groups: list[int] = []
        self._with_word: defaultdict[str, list[int]] = defaultdict(list)

    def add(self, citation: Citation) -> int:
        bag = word_bag(citation)
        best, score = self._best(bag)
        group = self._groups[best] if score >= self.threshold else len(self._bags)
        for word in bag:
            self._with_word[word].append(len(self._bags))
        self._bags.append(bag)
        self._groups.append(group)
        return group

    def add_all(self, citations: Sequence[Citation]) -> list[int]:
        return [self.add(citation) for citation in citations]

    def _best(self, bag: Counter[str]) -> tuple[int, float]:
        """Return the best match so far and its score; the earliest wins a tie."""
        shared: Counter[int] = Counter()
        for word, weight in bag.items():
            for other in self._with_word[word]:
                shared[other] += min(weight, self._bags[other][word])
        length = bag.total()
        scored = ((2 * count / (length + self._bags[at].total()), -at) for at, count in shared.items())
        score, at = max(scored, default=(0.0, 0))
        return -at, score


def word_bag(citation: Citation) -> Counter[str]:
    """Return the weighted words of a citation."""
    if citation.is_raw:
        citation = guess_fields(citation)
    bag = Counter(dict.fromkeys(plain_words(citation.all_text), 1))
    bag.update(dict.fromkeys(plain_words(f"{citation.authors} {citation.title}"), CONTENT_WEIGHT - 1))
    return bag


@dataclass(frozen=True, slots=True)
class Counts:
    """Numbers of pairs: found and true, found, and true."""

    right: float = 0.0
    found: float = 0.0
    true: float = 0.0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.right + other.right, self.found + other.found, self.true + other.true)

    @property
    def scores(self) -> tuple[float, float, float]:
        """Precision, recall, F1."""
        precision, recall = self.right / max(1, self.found), self.right / max(1, self.true)
        return precision, recall, 2 * self.right / max(1, self.found + self.true)


def count_pairs(groups: Sequence[int], papers: Sequence[str]) -> Counts:
    """Count pairs by the sizes of groups, of papers and of their intersections."""
    both = Counter(zip(groups, papers, strict=True))
    return Counts(*(_pairs(sizes.values()) for sizes in (both, Counter(groups), Counter(papers))))


def _pairs(sizes: Iterable[int]) -> float:
    return sum(size * (size - 1) / 2 for size in sizes)


def split(papers: Sequence[str], seed: int) -> list[list[int]]:
    """Split whole papers into folds; return the citations of each."""
    names = np.random.default_rng(seed).permutation(sorted(set(papers))).tolist()
    fold = {name: at % FOLDS for at, name in enumerate(names)}
    return [[i for i, paper in enumerate(papers) if fold[paper] == number] for number in range(FOLDS)]


def subset(data: Labelled, at: Sequence[int]) -> Labelled:
    return Labelled([data.citations[i] for i in at], [data.papers[i] for i in at])


def fit(parts: Sequence[tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]]) -> LogisticRegression:
    features, same = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return pair_classifier().fit(features, same.astype(np.int64))


def cross_validate(data: Labelled, seed: int) -> Counts:
    folds = [subset(data, at) for at in split(data.papers, seed)]
    trained_on = [training_pairs(fold.citations, fold.papers) for fold in folds]
    total = Counts()
    for held, fold in enumerate(folds):
        classifier = fit(trained_on[:held] + trained_on[held + 1 :])
        total += count_pairs(group_citations(fold.citations, classifier), fold.papers)
    return total


def cross_validate_strictly(data: Labelled, seed: int) -> Counts:
    """Group all citations at once, with classifiers trained on all pairs of the other folds."""
    total = Counts()
    for at in split(data.papers, seed):
        held = set(at)
        others = subset(data, [i for i in range(len(data.papers)) if i not in held])
        classifier = fit([training_pairs(others.citations, others.papers)])
        total += _touching(group_citations(data.citations, classifier), data.papers, at)
    return total


def _touching(groups: Sequence[int], papers: Sequence[str], at: Sequence[int]) -> Counts:
    """Count pairs with both members in `at`, and half of those with one, which another fold counts as well."""
    inside, everywhere = Counter(groups[i] for i in at), Counter(groups)
    counted = count_pairs([groups[i] for i in at], [papers[i] for i in at])
    crossing = sum(size * (everywhere[group] - size) for group, size in inside.items())
    return counted + Counts(0.0, crossing / 2, 0.0)


def baseline_within(data: Labelled, seed: int, threshold: float) -> Counts:
    folds = [subset(data, at) for at in split(data.papers, seed)]
    return sum(
        (count_pairs(WordMatcher(threshold).add_all(fold.citations), fold.papers) for fold in folds), Counts()
    )


def cora(data: Labelled) -> Report:
    texts = Labelled([text_only(each) for each in data.citations], data.papers)
    ours = [cross_validate(data, seed) for seed in SPLITS]
    raw = [cross_validate(texts, seed) for seed in SPLITS]
    strict = [cross_validate_strictly(data, seed) for seed in SPLITS[:2]]
    baseline = max(
        ([baseline_within(data, seed, threshold) for seed in SPLITS] for threshold in BASELINE_THRESHOLDS),
        key=_mean_f1,
    )
    baseline_strict = [
        max(
            (
                count_pairs(WordMatcher(each).add_all(data.citations), data.papers)
                for each in BASELINE_THRESHOLDS
            ),
            key=lambda counts: counts.scores[2],
        )
    ]
    whole = count_pairs(group_citations(data.citations, shipped_classifier()), data.papers)
    rows = [
        _row("word-level baseline", baseline),
        _row("field-aware, learned", ours),
        _row("the same from bare text", raw),
        _row("all at once, counted strictly: baseline", baseline_strict),
        _row("all at once, counted strictly: field-aware", strict),
        _row("shipped weights, all at once (trained on it)", [whole]),
    ]
    bar = Bar("Cora, pairwise F1 by cluster", _mean_f1(ours), least=0.92)
    return Report("Cora, 1,295 citations", HEADER, rows, [bar])


HEADER = ("method", "precision", "recall", "F1", "F1 of each split")


def _mean_f1(splits: Sequence[Counts]) -> float:
    return float(np.mean([each.scores[2] for each in splits]))


def _row(name: str, splits: Sequence[Counts]) -> list[Cell]:
    means = np.mean([each.scores for each in splits], axis=0).tolist()
    return [name, *means, " ".join(f"{each.scores[2]:.3f}" for each in splits)]


def dblp_acm(data: Labelled, n_first: int, cora_data: Labelled) -> Report:
    folds = split(data.papers, 0)
    trained_on = [training_pairs(subset(data, at).citations, subset(data, at).papers) for at in folds]
    total = Counts()
    for held, at in enumerate(folds):
        groups = group_citations(data.citations, fit(trained_on[:held] + trained_on[held + 1 :]))
        mine = {i for i in at if i < n_first}
        total += _across(groups, data.papers, n_first, mine)
    everything = set(range(n_first))
    transferred = fit([training_pairs(cora_data.citations, cora_data.papers)])
    shipped = _across(group_citations(data.citations, shipped_classifier()), data.papers, n_first, everything)
    foreign = _across(group_citations(data.citations, transferred), data.papers, n_first, everything)
    baseline = max(
        (
            _across(WordMatcher(each).add_all(data.citations), data.papers, n_first, everything)
            for each in BASELINE_THRESHOLDS
        ),
        key=lambda counts: counts.scores[2],
    )
    rows = [
        _row("word-level baseline", [baseline]),
        _row("field-aware, trained on Cora", [foreign]),
        _row("field-aware, learned", [total]),
        _row("shipped weights (trained on it and others)", [shipped]),
    ]
    bars = [
        Bar("DBLP-ACM, pairwise F1", total.scores[2], least=0.97),
        Bar("DBLP-ACM, pairwise F1 of the shipped weights", shipped.scores[2], least=0.97),
    ]
    return Report("DBLP-ACM, 2,616 entries against 2,294", HEADER, rows, bars)


def _across(groups: Sequence[int], papers: Sequence[str], n_first: int, mine: set[int]) -> Counts:
    """Count pairs of one entry of each bibliography, for the entries of the first that are in `mine`."""
    found, true = Counter(groups[n_first:]), Counter(papers[n_first:])
    both = Counter(zip(groups[n_first:], papers[n_first:], strict=True))
    at = sorted(mine)
    return Counts(
        sum(both[groups[i], papers[i]] for i in at),
        sum(found[groups[i]] for i in at),
        sum(true[papers[i]] for i in at),
    )


def mixed(arguments: argparse.Namespace) -> Report:
    """Group the references of mixed PDFs, at once and one by one, as `papers regroup` and `papers add` do."""
    read = read_mixed(arguments.data, arguments.files)
    citations, works = read.labelled.citations, read.labelled.papers
    matcher = CitationMatcher()
    groups = {
        "at once": group_citations(citations, shipped_classifier(), bibliographies=read.files),
        "one by one": [
            matcher.add(citation, name) for citation, name in zip(citations, read.files, strict=True)
        ],
    }
    at = [number for number, work in enumerate(works) if work != "-"]
    counts = {
        name: count_pairs([found[i] for i in at], [works[i] for i in at]) for name, found in groups.items()
    }
    rows = [_row(f"{name}, shipped weights", [counted]) for name, counted in counts.items()]
    bars = [
        Bar("mixed PDFs, precision at once", counts["at once"].scores[0], least=0.97),
        Bar("mixed PDFs, recall at once", counts["at once"].scores[1], least=MIXED_RECALL - 0.01),
        Bar("mixed PDFs left out", len(read.other), most=2),
    ]
    title = f"{len(set(read.files))} mixed PDFs with {len(works):,} references"
    return Report(title, HEADER, rows, bars, {"left out": read.other})


def growth(arguments: argparse.Namespace) -> Report:
    """Time the grouping of generated citations, half of them bare text, at half and full size and one by one."""
    sizes = (arguments.size // 2, arguments.size)
    generated = [generated_citations(arguments.data, size) for size in sizes]
    timed = [_timed(data) for data in generated]
    rows: list[list[Cell]] = [
        [f"{size:,} at once", seconds, size / seconds, *counts.scores]
        for size, (seconds, counts) in zip(sizes, timed, strict=True)
    ]
    rows.append(_one_by_one(generated[0]))
    ratio = timed[1][0] / timed[0][0]
    bars = [
        Bar(f"CPU seconds for {sizes[1]:,} citations", timed[1][0], most=300),
        Bar("cost of twice as many", ratio, most=2.6),
    ]
    header = ("citations", "CPU seconds", "a second", "precision", "recall", "F1")
    return Report("Generated citations, shipped weights", header, rows, bars)


def _timed(data: Labelled) -> tuple[float, Counts]:
    began = time.process_time()
    groups = group_citations(data.citations, shipped_classifier())
    return time.process_time() - began, count_pairs(groups, data.papers)


def _one_by_one(data: Labelled) -> list[Cell]:
    few = subset(data, range(min(ADDED, len(data.papers))))
    matcher, began = CitationMatcher(), time.process_time()
    groups = [matcher.add(each) for each in few.citations]
    seconds = time.process_time() - began
    return [
        f"{len(groups):,} one by one",
        seconds,
        len(groups) / seconds,
        *count_pairs(groups, few.papers).scores,
    ]


SETS: dict[str, Callable[[argparse.Namespace], Report]] = {
    "cora": lambda arguments: cora(read_cora(arguments.data)),
    "dblp-acm": lambda arguments: dblp_acm(*read_dblp_acm(arguments.data), read_cora(arguments.data)),
    "generated": growth,
    "mixed": mixed,
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--size", type=int, default=100_000, help="generated citations to group")
    parser.add_argument(
        "--files", type=Path, metavar="FOLDER", help="PDFs of packages of documentation; adds the set `mixed`"
    )
    parser.add_argument("--sets", nargs="*", default=(), choices=SETS, help="only these sets")
    add_output_options(parser)
    arguments = parser.parse_args()
    names = arguments.sets or [name for name in SETS if name != "mixed" or arguments.files]
    reports = [SETS[name](arguments) for name in names]
    return finish(reports, arguments)


if __name__ == "__main__":
    sys.exit(main())

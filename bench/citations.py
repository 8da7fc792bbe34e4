"""Citation matching: quality on two recorded sets beside the word-level baseline, and cost as it grows.

Cora's clusters are dealt into five folds; pairs are formed within a fold, in training as in testing, and a
fold is grouped with a classifier taught on the other four. Luck in the deal moves the figure by points, so
it is the mean of several deals. A stricter count stands beside it: all citations grouped at once, a pair of
two folds counted half for each, the classifier taught on all pairs of the other folds. There the versions
of one paper, which the set keeps apart or together as it happens, always meet. DBLP-ACM is dealt the same
way, but all of it is matched at once and a pair counts for the fold of its first member. The baseline gets
the threshold that is best for it in hindsight.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bench.citation_data import Labelled, as_text, made_citations, read_cora, read_dblp_acm
from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.citations.baseline import WordMatcher
from wayhound.citations.grouping import CitationMatcher, group_citations, training_pairs
from wayhound.citations.pair_model import pair_classifier, shipped_classifier
from wayhound.learn.logistic import LogisticRegression

Ints = npt.NDArray[np.int64]
FOLDS = 5
DEALS = range(100, 108)  # seeds not used while features were chosen
BASELINE_THRESHOLDS = (0.4, 0.5, 0.6, 0.7, 0.8)
ADDED = 5_000


@dataclass(frozen=True, slots=True)
class Counts:
    """Pairs found that are so, found in all, and true in all."""

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
    """Pairwise counts from the sizes of groups, papers and their meets."""
    both = Counter(zip(groups, papers, strict=True))
    return Counts(*(_pairs(sizes.values()) for sizes in (both, Counter(groups), Counter(papers))))


def _pairs(sizes: Iterable[int]) -> float:
    return sum(size * (size - 1) / 2 for size in sizes)


def deal(papers: Sequence[str], seed: int) -> list[list[int]]:
    """Whole papers dealt into folds; the citations of each."""
    names = np.random.default_rng(seed).permutation(sorted(set(papers))).tolist()
    fold = {name: at % FOLDS for at, name in enumerate(names)}
    return [[i for i, paper in enumerate(papers) if fold[paper] == each] for each in range(FOLDS)]


def part(data: Labelled, at: Sequence[int]) -> Labelled:
    return Labelled([data.citations[i] for i in at], [data.papers[i] for i in at])


def teach(parts: Sequence[tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]]) -> LogisticRegression:
    features, same = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return pair_classifier().fit(features, same.astype(np.int64))


def cross_validate(data: Labelled, seed: int) -> Counts:
    folds = [part(data, at) for at in deal(data.papers, seed)]
    taught = [training_pairs(fold.citations, fold.papers) for fold in folds]
    total = Counts()
    for held, fold in enumerate(folds):
        classifier = teach(taught[:held] + taught[held + 1 :])
        total += count_pairs(group_citations(fold.citations, classifier), fold.papers)
    return total


def cross_validate_strictly(data: Labelled, seed: int) -> Counts:
    """Grouped all at once, and so taught on all pairs of the other folds."""
    total = Counts()
    for at in deal(data.papers, seed):
        held = set(at)
        others = part(data, [i for i in range(len(data.papers)) if i not in held])
        classifier = teach([training_pairs(others.citations, others.papers)])
        total += _touching(group_citations(data.citations, classifier), data.papers, at)
    return total


def _touching(groups: Sequence[int], papers: Sequence[str], at: Sequence[int]) -> Counts:
    """Pairs with both members in `at`, and half of those with one, which another fold counts too."""
    inside, everywhere = Counter(groups[i] for i in at), Counter(groups)
    counted = count_pairs([groups[i] for i in at], [papers[i] for i in at])
    crossing = sum(size * (everywhere[group] - size) for group, size in inside.items())
    return counted + Counts(0.0, crossing / 2, 0.0)


def baseline_within(data: Labelled, seed: int, threshold: float) -> Counts:
    folds = [part(data, at) for at in deal(data.papers, seed)]
    return sum(
        (count_pairs(WordMatcher(threshold).add_all(fold.citations), fold.papers) for fold in folds), Counts()
    )


def cora(data: Labelled) -> Report:
    texts = Labelled([as_text(each) for each in data.citations], data.papers)
    ours = [cross_validate(data, seed) for seed in DEALS]
    raw = [cross_validate(texts, seed) for seed in DEALS]
    strict = [cross_validate_strictly(data, seed) for seed in DEALS[:2]]
    baseline = max(
        ([baseline_within(data, seed, threshold) for seed in DEALS] for threshold in BASELINE_THRESHOLDS),
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
        _row("shipped weights, all at once (taught on it)", [whole]),
    ]
    bar = Bar("Cora, pairwise F1 by cluster", _mean_f1(ours), least=0.92)
    return Report("Cora, 1,295 citations", HEADER, rows, [bar])


HEADER = ("method", "precision", "recall", "F1", "F1 of each deal")


def _mean_f1(deals: Sequence[Counts]) -> float:
    return float(np.mean([each.scores[2] for each in deals]))


def _row(name: str, deals: Sequence[Counts]) -> list[Cell]:
    means = np.mean([each.scores for each in deals], axis=0).tolist()
    return [name, *means, " ".join(f"{each.scores[2]:.3f}" for each in deals)]


def dblp_acm(data: Labelled, n_first: int, cora_data: Labelled) -> Report:
    folds = deal(data.papers, 0)
    taught = [training_pairs(part(data, at).citations, part(data, at).papers) for at in folds]
    total = Counts()
    for held, at in enumerate(folds):
        groups = group_citations(data.citations, teach(taught[:held] + taught[held + 1 :]))
        mine = {i for i in at if i < n_first}
        total += _across(groups, data.papers, n_first, mine)
    everything = set(range(n_first))
    transferred = teach([training_pairs(cora_data.citations, cora_data.papers)])
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
        _row("field-aware, taught on Cora", [foreign]),
        _row("field-aware, learned", [total]),
    ]
    bar = Bar("DBLP-ACM, pairwise F1", total.scores[2], least=0.97)
    return Report("DBLP-ACM, 2,616 entries against 2,294", HEADER, rows, [bar])


def _across(groups: Sequence[int], papers: Sequence[str], n_first: int, mine: set[int]) -> Counts:
    """Pairs of one entry of each bibliography, counted for the entries of the first that are in `mine`."""
    found, true = Counter(groups[n_first:]), Counter(papers[n_first:])
    both = Counter(zip(groups[n_first:], papers[n_first:], strict=True))
    at = sorted(mine)
    return Counts(
        sum(both[groups[i], papers[i]] for i in at),
        sum(found[groups[i]] for i in at),
        sum(true[papers[i]] for i in at),
    )


def growth(arguments: argparse.Namespace) -> Report:
    """Grouping made citations, half of them bare text, at half and at full size; and one at a time."""
    sizes = (arguments.size // 2, arguments.size)
    made = [made_citations(arguments.data, size) for size in sizes]
    timed = [_timed(each) for each in made]
    rows: list[list[Cell]] = [
        [f"{size:,} at once", seconds, size / seconds, *counts.scores]
        for size, (seconds, counts) in zip(sizes, timed, strict=True)
    ]
    rows.append(_one_by_one(made[0]))
    ratio = timed[1][0] / timed[0][0]
    bars = [
        Bar(f"CPU seconds for {sizes[1]:,} citations", timed[1][0], most=300),
        Bar("cost of twice as many", ratio, most=2.6),
    ]
    header = ("citations", "CPU seconds", "a second", "precision", "recall", "F1")
    return Report("Made citations, shipped weights", header, rows, bars)


def _timed(data: Labelled) -> tuple[float, Counts]:
    began = time.process_time()
    groups = group_citations(data.citations, shipped_classifier())
    return time.process_time() - began, count_pairs(groups, data.papers)


def _one_by_one(data: Labelled) -> list[Cell]:
    few = part(data, range(min(ADDED, len(data.papers))))
    matcher, began = CitationMatcher(), time.process_time()
    groups = [matcher.add(each) for each in few.citations]
    seconds = time.process_time() - began
    return [
        f"{len(groups):,} one by one",
        seconds,
        len(groups) / seconds,
        *count_pairs(groups, few.papers).scores,
    ]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_data_option(parser)
    parser.add_argument("--size", type=int, default=100_000, help="made citations to group")
    add_output_options(parser)
    arguments = parser.parse_args()
    known = read_cora(arguments.data)
    reports = [cora(known), dblp_acm(*read_dblp_acm(arguments.data), known), growth(arguments)]
    return finish(reports, arguments)


if __name__ == "__main__":
    sys.exit(main())

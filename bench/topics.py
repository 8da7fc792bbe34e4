"""Topics from keywords: accuracy by step as in Table 8, ablation, calibration, outliers and small collections.

    python -m bench.topics --data FOLDER
    python -m bench.topics --documents FILE.jsonl --tree FILE.topics [--citations FILE.tsv]

FOLDER contains `papers/topics/cora70.jsonl`, `cora_ml.jsonl`, `arxiv.jsonl` and `papers/citations/graph.tsv`. Any
labelled JSON lines can be given with a tree instead. Labels are used for scoring, never for training.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path

import numpy as np

from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from bench.topics_sets import (
    LabelledSet,
    bootstrapping,
    keyword_matching,
    naive_bayes_on_keywords,
    plain_em,
    standard_sets,
    supervised,
    supervised_with_citations,
)
from bench.topics_trials import LINK_TRIALS, TRIALS
from wayhound.learn.arrays import Floats
from wayhound.learn.naive_bayes import calibration_error, reliability
from wayhound.topics.training import TopicSettings, TopicTraining, train
from wayhound.topics.tree import TopicTree, read_tree

# By the start of a set's name: the accuracy that keywords alone, and with citations, must reach.
LEAST = {"cora70": (0.32, 0.50), "cora_ml": (0.70, None), "arxiv": (0.50, None)}
ABOVE_MATCHING = 0.05  # gain over keyword matching that counts as clear
AS_THE_PAPER = 50  # leaves from which each step must gain, as in Table 8
LABELS = (100, 400, 1600, 4700)
SMALL, SMALL_DRAWS = 60, 8


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add_output_options(parser)
    parser.add_argument("--documents", type=Path, help="labelled JSON lines, instead of the data folder")
    parser.add_argument("--tree", type=Path, help="the topic tree for --documents")
    parser.add_argument("--citations", type=Path, help="citations among --documents")
    parser.add_argument("--ablation", action="store_true", help="also run the variants")
    add_data_option(parser, required="--documents" not in sys.argv)
    arguments = parser.parse_args()
    sets = _sets(parser, arguments)
    reports = [report for data in sets.values() for report in _reports(data, arguments.ablation)]
    return finish(reports, arguments)


def _sets(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> dict[str, LabelledSet]:
    if arguments.documents and arguments.tree:
        name = arguments.documents.stem
        tree = read_tree(arguments.tree)
        return {name: LabelledSet.read(name, tree, arguments.documents, arguments.citations)}
    if arguments.documents or arguments.tree:
        parser.error("--documents and --tree belong together")
    return standard_sets(arguments.data)


def _reports(data: LabelledSet, ablation: bool) -> list[Report]:
    plain = data.train()
    with_links = data.train(with_citations=True) if data.citations else None
    reports = [
        _steps(data, plain, with_links),
        _reliability(data, with_links or plain),
        _outside(data),
        _small(data),
    ]
    if ablation:
        reports.append(_ablation(data))
    return reports


def _steps(data: LabelledSet, plain: TopicTraining, with_links: TopicTraining | None) -> Report:
    """Return the rows of Table 8 for this collection."""
    steps = {
        "keyword matching": keyword_matching(data),
        "naive Bayes on keyword labels": naive_bayes_on_keywords(data),
        "bootstrapping, keyword-labelled documents": bootstrapping(data, unlabelled=False),
        "bootstrapping, all documents": bootstrapping(data, unlabelled=True),
    }
    bars = _step_bars(data, steps) if len(data.tree.leaves) >= AS_THE_PAPER else []
    steps["`topics train`"] = keywords_only = data.accuracy(plain.memberships)
    least, least_linked = _least(data)
    bars += [
        Bar(f"{data.name}: keywords only", keywords_only, least=least),
        Bar(f"{data.name}: above matching", keywords_only - steps["keyword matching"], least=ABOVE_MATCHING),
    ]
    if with_links:
        steps["`topics train` with citations"] = linked = data.accuracy(with_links.memberships)
        bars.append(Bar(f"{data.name}: with citations", linked, least=least_linked))
    steps |= _for_scale(data)
    title = (
        f"{data.name}: {len(data.documents):,} documents, {len(data.tree.leaves)} leaves, "
        f"{data.matches.coverage:.0%} with a keyword"
    )
    details = {"accuracy": steps, "coverage": data.matches.coverage}
    return Report(
        title, ["method", "right"], [[name, f"{right:.1%}"] for name, right in steps.items()], bars, details
    )


def _small(data: LabelledSet) -> Report:
    """Compare placement with and without the keyword prior, on small samples of the set."""
    right = {
        name: np.mean([_right(data, draw, settings) for draw in range(SMALL_DRAWS)], axis=0)
        for name, settings in {
            "without the keyword prior": TopicSettings(enough_documents=1e-6),
            "`topics train`": TopicSettings(),
        }.items()
    }
    without, with_prior = (float(leaf) for leaf, _ in right.values())
    return Report(
        f"{data.name}: {SMALL} of its documents, mean of {SMALL_DRAWS} draws",
        ["placed by", "best leaf right", "placed at the right leaf"],
        [[name, f"{leaf:.1%}", f"{placed:.1%}"] for name, (leaf, placed) in right.items()],
        [Bar(f"{data.name}: keyword prior in a small collection", with_prior - without, least=0.0)],
        {name: {"leaf": float(leaf), "placed": float(placed)} for name, (leaf, placed) in right.items()},
    )


def _right(data: LabelledSet, draw: int, settings: TopicSettings) -> tuple[float, float]:
    """Return the share of documents whose best leaf is right, and the share placed at it."""
    rows = np.random.default_rng(draw).choice(
        len(data.documents), min(SMALL, len(data.documents)), replace=False
    )
    training = train(
        data.tree, [data.documents[row] for row in rows], np.random.default_rng(0), settings=settings
    )
    true = [data.tree.leaves[leaf].path for leaf in data.truth[rows]]
    pairs = list(zip(training.placements, true, strict=True))
    return (
        float(np.mean([placed.leaf == path for placed, path in pairs])),
        float(np.mean([placed.topic == path for placed, path in pairs])),
    )


def _least(data: LabelledSet) -> tuple[float, float | None]:
    return next((least for name, least in LEAST.items() if data.name.startswith(name)), (0.0, None))


def _step_bars(data: LabelledSet, steps: dict[str, float]) -> list[Bar]:
    names = list(steps)
    return [
        Bar(f"{data.name}: {after} over {before}", steps[after] - steps[before], least=0.0)
        for before, after in itertools.pairwise(names)
    ]


def _for_scale(data: LabelledSet) -> dict[str, float]:
    """Return the accuracy of other methods, for comparison."""
    accuracy = {
        "(bootstrapping, the first match alone labels)": bootstrapping(data, unlabelled=True, votes=False),
        "(EM without shrinkage, Laplace)": plain_em(data),
    }
    if data.citations:
        accuracy["(supervised with citations, half of all labels)"] = supervised_with_citations(data)
    for n_labels in LABELS:
        if n_labels < 0.9 * len(data.documents):
            accuracy[f"(supervised naive Bayes, {n_labels:,} labels)"] = supervised(data, n_labels)
    return accuracy


def _reliability(data: LabelledSet, training: TopicTraining) -> Report:
    """Compare confidence with accuracy, before and after calibration."""
    right = (training.memberships.argmax(axis=1) == data.truth).astype(np.float64)
    confidence = training.memberships.max(axis=1)
    raw = _uncalibrated(training).max(axis=1)
    rows: list[list[Cell]] = [
        [f"{mean:.0%}", f"{share:.0%}", count] for mean, share, count in reliability(confidence, right)
    ]
    before, after = calibration_error(raw, right), calibration_error(confidence, right)
    scale = training.model.scale
    title = f"{data.name}: calibration error {before:.3f} raw, {after:.3f} calibrated (scale {scale:.2f})"
    bars = [Bar(f"{data.name}: calibration lowers the error", before - after, least=0.0)]
    return Report(
        title, ["confidence", "right", "documents"], rows, bars, {"raw": before, "calibrated": after}
    )


def _uncalibrated(training: TopicTraining) -> Floats:
    shares = np.maximum(training.memberships, 1e-300) ** (1 / training.model.scale)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _outside(data: LabelledSet) -> Report:
    """Remove each branch from the tree in turn, and measure how well its documents are recognised as strays."""
    rows: list[list[Cell]] = []
    areas = []
    for branch in _branches(data.tree):
        strays = np.array([data.tree.leaves[leaf].path[: len(branch)] == branch for leaf in data.truth])
        pruned = tuple(topic for topic in data.tree.topics if topic.path[: len(branch)] != branch)
        training = train(TopicTree(pruned), data.documents, np.random.default_rng(0))
        unsure = 1 - training.memberships.max(axis=1)
        outside = training.outside.sum(axis=1)
        areas.append(_area(outside, strays))
        rows.append([" › ".join(branch), int(strays.sum()), areas[-1], _area(unsure, strays)])
    header = ["branch removed", "strays", "area: extra leaves", "area: low confidence"]
    mean = float(np.mean(areas))
    bars = [Bar(f"{data.name}: strays recognised better than by chance", mean, least=0.5)]
    return Report(f"{data.name}: documents that fit nowhere", header, rows, bars)


def _branches(tree: TopicTree) -> list[tuple[str, ...]]:
    """Return up to eight children of the topmost node that has several."""
    level = min((topic.path[:-1] for topic in tree.topics if _siblings(tree, topic.path[:-1]) > 1), key=len)
    return [topic.path for topic in tree.topics if topic.path[:-1] == level][:8]


def _siblings(tree: TopicTree, parent: tuple[str, ...]) -> int:
    return sum(topic.path[:-1] == parent for topic in tree.topics)


def _area(scores: Floats, positive: np.ndarray) -> float:
    """Return the area under the ROC curve: the chance that a stray scores higher than another document."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores, kind="stable")] = np.arange(len(scores))
    n_positive = int(positive.sum())
    above = ranks[positive].sum() - n_positive * (n_positive - 1) / 2
    return float(above / max(n_positive * (len(scores) - n_positive), 1))


def _ablation(data: LabelledSet) -> Report:
    accuracy = {name: data.accuracy(trial(data)) for name, trial in TRIALS.items()}
    shipped = accuracy["as shipped"]
    rows = [[name, f"{right:.1%}", f"{right - shipped:+.1%}"] for name, right in accuracy.items()]
    if data.citations:
        linked = {name: data.accuracy(trial(data)) for name, trial in LINK_TRIALS.items()}
        rows += [
            [f"with citations: {name}", f"{right:.1%}", f"{right - linked['as shipped']:+.1%}"]
            for name, right in linked.items()
        ]
    return Report(f"{data.name}: ablation", ["variant", "right", "against as shipped"], rows)


if __name__ == "__main__":
    sys.exit(main())

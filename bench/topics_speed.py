"""The cost of topics: training at two sizes, placing one document, and training again after a correction.

The collection is synthetic: 70 leaves in ten branches, words drawn by Zipf's law from a background and from the
leaf. It measures cost, not accuracy.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time

import numpy as np

from bench.report import Bar, Report, add_output_options, finish
from wayhound.topics.documents import TopicDocument
from wayhound.topics.training import TopicTraining, train
from wayhound.topics.tree import Topic, TopicTree
from wayhound.topics.vocabulary import word_counts

N_BRANCHES, N_LEAVES, N_KEYWORDS = 10, 70, 5
N_WORDS, OWN_WORDS = 20_000, 300
MAX_SECONDS, MAX_GIGABYTES, MAX_PLACE_MS = 30.0, 1.0, 5.0
MAX_GROWTH = 2.6  # for twice the words: linear, with a margin for noise
N_PLACED = 2_000


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_output_options(parser)
    parser.add_argument("--documents", type=int, default=30_000, help="documents in the full collection")
    parser.add_argument("--length", type=int, default=100, help="words in a document")
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    tree = _tree()
    documents = [_document(number, arguments.length, rng) for number in range(arguments.documents)]
    half_seconds, _ = _timed(tree, documents[: len(documents) // 2])
    seconds, training = _timed(tree, documents)
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    corrected, _ = _timed(tree, documents, {documents[0].id: tree.leaves[3].path})
    place_ms = _place_ms(training, documents[:N_PLACED])
    rows = [
        ["training on half of them", f"{half_seconds:.1f} s"],
        [f"training on {len(documents):,} × {arguments.length} words", f"{seconds:.1f} s"],
        ["training again after a correction", f"{corrected:.1f} s"],
        ["placing one document", f"{place_ms:.2f} ms"],
        ["peak memory, documents included", f"{gigabytes:.2f} GB"],
    ]
    bars = [
        Bar("training, CPU seconds", seconds, most=MAX_SECONDS),
        Bar("twice the words cost", seconds / half_seconds, most=MAX_GROWTH),
        Bar("peak memory, GB", gigabytes, most=MAX_GIGABYTES),
        Bar("placing, CPU ms", place_ms, most=MAX_PLACE_MS),
    ]
    return finish(Report("Topics: cost", ["what", "CPU"], rows, bars), arguments)


def _tree() -> TopicTree:
    branches = [Topic((f"branch {branch}",)) for branch in range(N_BRANCHES)]
    leaves = [
        Topic(
            (f"branch {leaf % N_BRANCHES}", f"leaf {leaf}"),
            tuple(_own(leaf, word) for word in range(N_KEYWORDS)),
        )
        for leaf in range(N_LEAVES)
    ]
    return TopicTree(tuple(sorted((*branches, *leaves), key=lambda topic: topic.path)))


def _own(leaf: int, word: int) -> str:
    return f"own{leaf}x{word}"


def _document(number: int, length: int, rng: np.random.Generator) -> TopicDocument:
    leaf = number % N_LEAVES
    common = rng.zipf(1.3, length * 7 // 10) % N_WORDS
    own = np.minimum(rng.zipf(1.2, length - len(common)), OWN_WORDS)
    return TopicDocument(
        str(number), word_counts([*(f"w{word}" for word in common), *(_own(leaf, word) for word in own)])
    )


def _timed(
    tree: TopicTree, documents: list[TopicDocument], corrections: dict[str, tuple[str, ...]] | None = None
) -> tuple[float, TopicTraining]:
    started = time.process_time()
    training = train(tree, documents, np.random.default_rng(0), corrections=corrections)
    return time.process_time() - started, training


def _place_ms(training: TopicTraining, documents: list[TopicDocument]) -> float:
    training.model.place(documents[0])  # fills the caches
    started = time.process_time()
    for document in documents:
        training.model.place(document)
    return 1000 * (time.process_time() - started) / len(documents)


if __name__ == "__main__":
    sys.exit(main())

"""The time to compute hubs and authorities of large citation graphs.

The graphs are random: half of the references are to any earlier paper, half repeat an earlier reference, so that
a few papers have very many citations, as in real collections.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from bench.report import Bar, Cell, Report, add_output_options, finish
from wayhound.citations.hubs import Ints, hits

MAX_SECONDS = 10.0
PER_PAPER = 10


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_output_options(parser)
    parser.add_argument("--papers", type=int, default=1_000_000, help="in the largest graph")
    arguments = parser.parse_args()
    rows: list[list[Cell]] = []
    for n_papers in (arguments.papers // 100, arguments.papers // 10, arguments.papers):
        citing, cited = graph(n_papers, n_papers * PER_PAPER, np.random.default_rng(0))
        wall, cpu = time.perf_counter(), time.process_time()
        authority, _ = hits(n_papers, citing, cited)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        most_cited = int(np.bincount(cited).argmax())
        rows.append([f"{n_papers:,}", f"{len(citing):,}", cpu, wall, float(authority[most_cited])])
    header = ["papers", "citations", "CPU s", "wall s", "authority of the most cited"]
    bar = Bar("largest graph, CPU s", cpu, most=MAX_SECONDS)
    return finish(Report("Hubs and authorities", header, rows, [bar]), arguments)


def graph(n_papers: int, n_citations: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Return edges from later to earlier papers; a repeated reference follows its chain of repeats to the end."""
    citing = np.sort(rng.integers(1, n_papers, n_citations))
    cited = (rng.random(n_citations) * citing).astype(np.int64)
    repeats = rng.random(n_citations) < 0.5
    repeated = (rng.random(n_citations) * np.arange(n_citations)).astype(np.int64)
    source = np.where(repeats, repeated, np.arange(n_citations))
    while not np.array_equal(source, source[source]):
        source = source[source]
    return citing, cited[source]


if __name__ == "__main__":
    sys.exit(main())

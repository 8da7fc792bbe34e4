"""The search index against SQLite's FTS5: building, querying and adding, on the same papers and queries.

Query times are CPU times of one thread with everything a page needs: hits with snippets, total and facets. FTS5
returns the same hits, snippets and total by its own BM25; it has no facets, so these are not in its time.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from bench.portal_corpus import fill, generate
from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.app.index import Follower, build, refresh_scores
from wayhound.record import Record, Value
from wayhound.search.index import SearchIndex
from wayhound.search.query import terms
from wayhound.search.results import SearchRequest
from wayhound.workspace import Workspace

MAX_BUILD_SECONDS, MAX_P50, MAX_P99 = 60.0, 10.0, 60.0
MAX_ADDED_SECONDS = 2.0
N_SAMPLED = 4_000  # papers from which queries are drawn
N_ADDED = 30
N_WARM = 20


@dataclass(frozen=True, slots=True)
class BenchQuery:
    """One query in our query language and in that of FTS5."""

    kind: str
    ours: str
    theirs: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_output_options(parser)
    add_data_option(parser, required=False)
    parser.add_argument("--papers", type=int, default=50_000)
    parser.add_argument("--questions", type=int, default=200, help="queries of each kind")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Workspace.create(Path(folder) / "workspace") as workspace:
        fill(workspace, arguments.papers, arguments.data)
        return finish(_measured(workspace, Path(folder), arguments), arguments)


def _measured(workspace: Workspace, folder: Path, arguments: argparse.Namespace) -> list[Report]:
    refresh_scores(workspace)
    build_wall, build_cpu = _timed(lambda: build(workspace))
    fts = _Fts(folder / "fts.db")
    fts_wall, _ = _timed(lambda: fts.build(workspace))
    index = SearchIndex(workspace.index_folder)
    _, warm_cpu = _timed(index.warm)
    queries = _draw_queries(arguments)
    ours = _query_times(queries, lambda query: index.search(SearchRequest(query.ours)).total)
    theirs = _query_times(queries, lambda query: fts.search(query.theirs))
    cited = _query_times(queries, lambda query: index.search(SearchRequest(query.ours, "cited")).total)
    log_tf = _query_times(queries, lambda query: index.search(SearchRequest(query.ours, "log-tf")).total)
    typed = _query_times(
        [BenchQuery("as typed", query.ours[:end], "") for query in queries[:60] for end in (2, 4, 7)],
        lambda query: len(index.suggest(query.ours)),
    )
    added = _added(workspace, index)
    everything = np.concatenate([ours[kind] for kind in ours])
    size = sum(path.stat().st_size for path in workspace.index_folder.rglob("*") if path.is_file()) / 2**20
    costs: list[list[Cell]] = [
        ["built from the store", f"{build_wall:.1f} s", f"{build_cpu:.1f} s", f"{fts_wall:.1f} s"],
        ["on disk", f"{size:.0f} MB", None, f"{fts.megabytes:.0f} MB"],
        ["words learned for spelling", None, f"{warm_cpu:.2f} s", None],
        ["one paper added and found, p50", f"{1000 * float(np.median(added)):.0f} ms", None, None],
    ]
    rows: list[list[Cell]] = [[kind, *_shown(ours[kind]), *_shown(theirs[kind])] for kind in ours]
    rows += [
        ["all", *_shown(everything), *_shown(np.concatenate([theirs[kind] for kind in theirs]))],
        ["all, by citations", *_shown(np.concatenate(list(cited.values()))), None, None],
        ["all, by log-tf", *_shown(np.concatenate(list(log_tf.values()))), None, None],
        ["suggestions", *_shown(typed["as typed"]), None, None],
    ]
    bars = [
        Bar("index built, CPU s", build_cpu, most=MAX_BUILD_SECONDS),
        Bar("query, CPU ms, p50", float(np.percentile(everything, 50)), most=MAX_P50),
        Bar("query, CPU ms, p99", float(np.percentile(everything, 99)), most=MAX_P99),
        Bar(
            "added and found, s, p95",
            float(np.percentile(added, 95)),
            most=MAX_ADDED_SECONDS,
        ),
    ]
    count = f"{arguments.papers:,} papers"
    return [
        Report(f"Search: {count}", ["what", "wall", "CPU", "FTS5, wall"], costs),
        Report(f"Queries, CPU ms: {count}", ["kind", "p50", "p99", "FTS5 p50", "FTS5 p99"], rows, bars),
    ]


def _timed(work: Callable[[], object]) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def _query_times(queries: Sequence[BenchQuery], run: Callable[[BenchQuery], int]) -> dict[str, np.ndarray]:
    """Return the CPU milliseconds of each query, by kind."""
    for query in queries[:N_WARM]:
        run(query)
    times: dict[str, list[float]] = {}
    for query in queries:
        started = time.thread_time()
        run(query)
        times.setdefault(query.kind, []).append(1000 * (time.thread_time() - started))
    return {kind: np.array(values) for kind, values in times.items()}


def _shown(times: np.ndarray) -> list[float]:
    return [round(float(np.percentile(times, share)), 2) for share in (50, 99)]


def _added(workspace: Workspace, index: SearchIndex) -> list[float]:
    """Return the seconds from saving a record until a search finds it, with a follower thread as in a portal."""
    taken = []
    with Follower(workspace.folder):
        for number in range(N_ADDED):
            started = time.perf_counter()
            title = Value(f"Addition xq{number}")
            workspace.stores.records.save([Record("paper", f"new{number}", {"title": (title,)})])
            while not index.search(SearchRequest(f"xq{number}", facets=())).total:
                time.sleep(0.01)
            taken.append(time.perf_counter() - started)
    return taken


def _draw_queries(arguments: argparse.Namespace) -> list[BenchQuery]:
    """Draw queries from the papers, so that frequent words are queried more often."""
    rng = Random(1)
    sampled = list(generate(min(arguments.papers, N_SAMPLED), arguments.data))
    made = []
    for _ in range(arguments.questions):
        record = rng.choice(sampled)
        words = terms(record.first("abstract")) or ["nothing"]
        at = rng.randrange(max(1, len(words) - 2))
        picked = [rng.choice(words) for _ in range(3)]
        author = terms(record.first("author"))[-1]
        pair = words[at : at + 2]
        made += [
            BenchQuery("one word", picked[0], f'"{picked[0]}"'),
            BenchQuery("three words", " ".join(picked), " ".join(f'"{word}"' for word in picked)),
            BenchQuery("any of three", " OR ".join(picked), " OR ".join(f'"{word}"' for word in picked)),
            BenchQuery("phrase", f'"{" ".join(pair)}"', f'"{" ".join(pair)}"'),
            BenchQuery("author", f"author:{author}", f'author:"{author}"'),
            BenchQuery("word and years", f"{picked[0]} year:1998..2003", f'"{picked[0]}"'),
            BenchQuery("beginning", f"{picked[0][:4]}*", f'"{picked[0][:4]}"*'),
            BenchQuery("misspelt", picked[0] + "x", f'"{picked[0]}x"'),
        ]
    return made


class _Fts:
    """SQLite's full-text search with the same columns and weights."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.connection = sqlite3.connect(path)
        self.connection.execute(
            "CREATE VIRTUAL TABLE paper USING fts5(id UNINDEXED, title, author, venue, abstract, "
            "tokenize = 'unicode61 remove_diacritics 2')"
        )

    @property
    def megabytes(self) -> float:
        return self.path.stat().st_size / 2**20

    def build(self, workspace: Workspace) -> None:
        rows = (
            (
                record.id,
                record.first("title"),
                ", ".join(value.text for value in record.fields["author"]),
                record.first("journal") or record.first("booktitle"),
                record.first("abstract"),
            )
            for record in workspace.stores.records.iterate("paper")
        )
        with self.connection:
            self.connection.executemany("INSERT INTO paper VALUES (?, ?, ?, ?, ?)", rows)

    def search(self, query: str) -> int:
        """Return the total, after fetching the first ten with snippets by BM25 with field weights."""
        counted = self.connection.execute("SELECT count(*) FROM paper WHERE paper MATCH ?", (query,))
        self.connection.execute(
            "SELECT id, title, author, venue, snippet(paper, 4, '[', ']', '…', 32) FROM paper "
            "WHERE paper MATCH ? ORDER BY bm25(paper, 0, 3, 2, 1, 1) LIMIT 10",
            (query,),
        ).fetchall()
        return int(counted.fetchone()[0])


if __name__ == "__main__":
    sys.exit(main())

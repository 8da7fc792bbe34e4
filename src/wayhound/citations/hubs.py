"""Which papers are cited by many that cite well (authorities), and which cite many of these (hubs): HITS.

After Kleinberg, "Authoritative sources in a hyperlinked environment", 1999: a paper's authority is the sum of
the hub scores of those that cite it, its hub score the sum of the authorities that it cites.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ROUNDS = 100
TOLERANCE = 1e-6  # of the largest score: far below what two scores that matter differ by


@dataclass(frozen=True, slots=True)
class HubScores:
    """A paper's two scores; the largest of all is 1, that of a paper without links 0."""

    authority: float = 0.0
    hub: float = 0.0


def hits(n_nodes: int, citing: Ints, cited: Ints) -> tuple[Floats, Floats]:
    """Authority and hub scores (n_nodes,) for edges `citing[i]` → `cited[i]`, each scaled to a largest of 1.

    Edges that come twice count once, and edges to oneself do not count. The same edges give the same scores:
    the iteration begins with equal hubs and no chance is involved.
    """
    links = _links(n_nodes, citing, cited)
    backwards = links.T.tocsr()
    hub = np.ones(n_nodes)
    authority = np.zeros(n_nodes)
    for _ in range(ROUNDS if links.nnz else 0):
        before = authority
        authority = _scaled(backwards @ hub)
        hub = _scaled(links @ authority)
        if np.abs(authority - before).max() < TOLERANCE:
            break
    return (authority, hub) if links.nnz else (authority, np.zeros(n_nodes))


def _links(n_nodes: int, citing: Ints, cited: Ints) -> csr_array:
    apart = citing != cited
    ones = np.ones(int(apart.sum()))
    links = csr_array((ones, (citing[apart], cited[apart])), shape=(n_nodes, n_nodes))
    links.sum_duplicates()
    links.data[:] = 1.0
    return links


def _scaled(scores: Floats) -> Floats:
    return scores / float(scores.max())


@dataclass(frozen=True)
class CitationGraph:
    """Who cites whom, by the papers' ids; numbers stand for places in `papers`."""

    papers: tuple[str, ...]
    citing: Ints
    cited: Ints

    @classmethod
    def of(cls, edges: Iterable[tuple[str, str]]) -> CitationGraph:
        """The graph of edges from a paper that cites to one that is cited; papers in order of their ids."""
        pairs = list(edges)
        papers = sorted({paper for pair in pairs for paper in pair})
        number = {paper: at for at, paper in enumerate(papers)}
        table = np.array([(number[citing], number[cited]) for citing, cited in pairs], dtype=np.int64)
        table = table.reshape(-1, 2)
        return cls(tuple(papers), table[:, 0], table[:, 1])

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {paper: number for number, paper in enumerate(self.papers)}

    def within(self, papers: Iterable[str]) -> CitationGraph:
        """The part of the graph among some papers, such as those of a topic."""
        known = sorted({number for paper in papers if (number := self._numbers.get(paper)) is not None})
        kept = np.zeros(len(self.papers), dtype=bool)
        kept[known] = True
        renumbered = np.cumsum(kept) - 1
        inside = kept[self.citing] & kept[self.cited]
        names = tuple(self.papers[number] for number in known)
        return CitationGraph(names, renumbered[self.citing[inside]], renumbered[self.cited[inside]])

    def scores(self) -> dict[str, HubScores]:
        authority, hub = hits(len(self.papers), self.citing, self.cited)
        both = zip(authority.tolist(), hub.tolist(), strict=True)
        return {paper: HubScores(*each) for paper, each in zip(self.papers, both, strict=True)}

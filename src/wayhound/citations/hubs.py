"""HITS scores of a citation graph: authorities are cited by good hubs, and hubs cite good authorities.

After Kleinberg, "Authoritative sources in a hyperlinked environment", 1999: a paper's authority is the sum of
the hub scores of the papers that cite it, and its hub score the sum of the authorities that it cites.
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
TOLERANCE = 1e-6  # of the largest score; far below any difference that changes a ranking


@dataclass(frozen=True, slots=True)
class HubScores:
    """The two scores of a paper, from 0 for one without links to 1 for the largest in the graph."""

    authority: float = 0.0
    hub: float = 0.0


def hits(n_nodes: int, citing: Ints, cited: Ints) -> tuple[Floats, Floats]:
    """Return authority and hub scores (n_nodes,) for edges `citing[i]` → `cited[i]`, scaled to a maximum of 1.

    Repeated edges count once and loops not at all. The iteration starts from equal hub scores, so the same edges
    give the same scores.
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
    no_loop = citing != cited
    ones = np.ones(int(no_loop.sum()))
    links = csr_array((ones, (citing[no_loop], cited[no_loop])), shape=(n_nodes, n_nodes))
    links.sum_duplicates()
    links.data[:] = 1.0
    return links


def _scaled(scores: Floats) -> Floats:
    return scores / float(scores.max())


@dataclass(frozen=True)
class CitationGraph:
    """Edges from `citing` to `cited` papers, as positions in `papers`, which holds the ids."""

    papers: tuple[str, ...]
    citing: Ints
    cited: Ints

    @classmethod
    def from_edges(cls, edges: Iterable[tuple[str, str]]) -> CitationGraph:
        """Make a graph from pairs of ids, citing and cited; papers are sorted by id."""
        pairs = list(edges)
        papers = sorted({paper for pair in pairs for paper in pair})
        number = {paper: at for at, paper in enumerate(papers)}
        table = np.array([(number[citing], number[cited]) for citing, cited in pairs], dtype=np.int64)
        table = table.reshape(-1, 2)
        return cls(tuple(papers), table[:, 0], table[:, 1])

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {paper: number for number, paper in enumerate(self.papers)}

    def subgraph(self, papers: Iterable[str]) -> CitationGraph:
        """Return the subgraph of some papers, such as those of a topic; unknown ids are ignored."""
        chosen = sorted({number for paper in papers if (number := self._numbers.get(paper)) is not None})
        kept = np.zeros(len(self.papers), dtype=bool)
        kept[chosen] = True
        renumbered = np.cumsum(kept) - 1
        inside = kept[self.citing] & kept[self.cited]
        names = tuple(self.papers[number] for number in chosen)
        return CitationGraph(names, renumbered[self.citing[inside]], renumbered[self.cited[inside]])

    def scores(self) -> dict[str, HubScores]:
        authority, hub = hits(len(self.papers), self.citing, self.cited)
        both = zip(authority.tolist(), hub.tolist(), strict=True)
        return {paper: HubScores(*scores) for paper, scores in zip(self.papers, both, strict=True)}

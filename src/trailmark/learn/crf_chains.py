"""What a chain CRF is taught on and bound by: sequences laid end to end, and which state may follow which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from trailmark.learn.chain import Bools, Ints


@dataclass(frozen=True, slots=True)
class Chains:
    """Sequences laid end to end.

    `features` (rows, n_features) holds what is seen, `rows` (positions,) which row each position shows: the
    start page of a site is one row, however many trails begin there. With no `rows`, every position has its
    own. `lengths` (n_chains,) cuts the positions into chains. `edges` (positions, n_edge_features), if any,
    holds what is seen on the step *into* each position (section 2.4.1: anchor words as transition features);
    that of a chain's first position is not used.
    """

    features: csr_array
    lengths: Ints
    rows: Ints | None = None
    edges: csr_array | None = None

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def n_positions(self) -> int:
        return int(self.lengths.sum())

    def shown(self) -> Ints:
        """The row of `features` that each position shows, (positions,)."""
        return np.arange(self.n_positions) if self.rows is None else self.rows

    def starts(self) -> Ints:
        """The first position of each chain, (n_chains,)."""
        return np.concatenate(([0], np.cumsum(self.lengths)[:-1])).astype(np.int64)

    def by_length(self) -> Iterator[tuple[Ints, Ints]]:
        """For each length: the numbers of its chains (N,), and their positions (N, L)."""
        starts = self.starts()
        for length in np.unique(self.lengths):
            chains = np.flatnonzero(self.lengths == length)
            yield chains, starts[chains][:, None] + np.arange(length)


@dataclass(frozen=True, slots=True)
class Rules:
    """Which states may follow which (S, S), begin (S,) and end (S,) a chain."""

    allowed: Bools
    starts: Bools
    ends: Bools

    @classmethod
    def free(cls, n_states: int) -> Rules:
        every = np.ones(n_states, dtype=bool)
        return cls(np.ones((n_states, n_states), dtype=bool), every, every)

    @property
    def n_states(self) -> int:
        return len(self.starts)

"""Who cites whom, as evidence for topics: a paper is mostly about what its neighbours are about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from trailmark.errors import UsageError
from trailmark.organise.topics.documents import Document


@dataclass(frozen=True, slots=True)
class Citations:
    """Who cites whom, by id. Papers of which no more is known than that they are cited count too."""

    pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def among(cls, documents: Iterable[Document], pairs: Iterable[tuple[str, str]] = ()) -> Citations:
        """Given pairs, and what the documents themselves say; each once."""
        own = ((document.id, cited) for document in documents for cited in document.cites)
        return cls(tuple(dict.fromkeys((*pairs, *own))))

    def rows(self, documents: Iterable[Document]) -> dict[str, int]:
        """A row for every document in order, then one for every other paper that is cited or cites."""
        ids = dict.fromkeys(document.id for document in documents)
        ids |= dict.fromkeys(end for pair in self.pairs for end in pair)
        return {identity: row for row, identity in enumerate(ids)}

    def links(self, rows: Mapping[str, int]) -> csr_array:
        """The weight of the link from each paper to each other one, both ways, (rows, rows)."""
        ends = np.array([(rows[citing], rows[cited]) for citing, cited in self.pairs], dtype=np.int64)
        ends = ends.reshape(-1, 2)[ends.reshape(-1, 2)[:, 0] != ends.reshape(-1, 2)[:, 1]]
        shape = (len(rows), len(rows))
        cited = csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=shape)
        return csr_array(cited + cited.T)


def read_citations(path: Path) -> Iterator[tuple[str, str]]:
    """Pairs of ids, citing and cited, parted by a tab; a first line `citing<TAB>cited` is a heading."""
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                pair = line.rstrip("\n").split("\t")
                if len(pair) != 2:
                    raise UsageError(f"{path}, line {number}: expected two ids with a tab between them.")
                if number > 1 or pair != ["citing", "cited"]:
                    yield pair[0], pair[1]
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text in UTF-8.") from None

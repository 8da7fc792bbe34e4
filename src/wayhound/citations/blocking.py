"""Which citations are worth comparing, so that the cost grows with their number and not with its square."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt

from wayhound.citations.citation import NormalisedCitation

Ints = npt.NDArray[np.int64]

FULL_BLOCK = 30  # citations, all of which are compared with each other
WINDOW = 8  # neighbours that each is compared with in a larger block
_ENDS = 14  # letters at the ends of a title: either may be damaged, seldom both
_WORDS = 4  # longest words of a title, of which any two make a key


def block_keys(citation: NormalisedCitation) -> Iterator[str]:
    """What two citations to one paper will most likely share at least one of."""
    letters = citation.title_letters
    if letters:
        yield f"<{letters[:_ENDS]}"
        yield f">{letters[-_ENDS:]}"
        yield f"={letters}{citation.year}"
    longest = sorted(citation.title_words, key=lambda word: (-len(word), word))[:_WORDS]
    for first, second in combinations(sorted(longest), 2):
        yield f"w{first} {second}"
    yield from _number_keys(citation)


def _number_keys(citation: NormalisedCitation) -> Iterator[str]:
    """Titles that were lost or badly cut: by who wrote it when, and by its place in a volume."""
    for name in citation.names[:2]:
        yield f"a{name.last} {citation.year}"
    if citation.first_page and citation.last_page > citation.first_page:
        yield f"p{citation.first_page}-{citation.last_page}"


def candidate_pairs(citations: Sequence[NormalisedCitation], full_block: int = FULL_BLOCK) -> Ints:
    """Pairs i < j worth comparing, (pairs, 2), sorted and each once.

    Large blocks are sorted by title, and only neighbours in them are compared: what makes a block large is
    either a word that says little or a paper cited very often, and the merges close the latter's gaps.
    """
    blocks: dict[str, list[int]] = {}
    for number, citation in enumerate(citations):
        for key in block_keys(citation):
            blocks.setdefault(key, []).append(number)

    def order(number: int) -> tuple[str, int, int]:
        return citations[number].title_letters, citations[number].year, number

    flat = [
        pair
        for members in blocks.values()
        if len(members) > 1
        for pair in _within(members, order, full_block)
    ]
    pairs = np.array(flat, dtype=np.int64).reshape(-1, 2)
    pairs.sort(axis=1)
    codes = np.unique(pairs[:, 0] * len(citations) + pairs[:, 1])
    codes = codes[codes // max(1, len(citations)) != codes % max(1, len(citations))]
    return np.stack(np.divmod(codes, max(1, len(citations))), axis=1)


def _within(
    members: list[int], order: Callable[[int], tuple[str, int, int]], full_block: int
) -> Iterator[tuple[int, int]]:
    if len(members) <= full_block:
        yield from combinations(members, 2)
        return
    ordered = sorted(members, key=order)
    for at, first in enumerate(ordered):
        for second in ordered[at + 1 : at + 1 + WINDOW]:
            yield first, second


class BlockIndex:
    """Finds the groups that a new citation may belong to. A group stands once under each key."""

    def __init__(self, most_groups: int = 200) -> None:
        self.most_groups = most_groups
        self._groups: dict[str, dict[int, None]] = {}

    def add(self, citation: NormalisedCitation, group: int) -> None:
        for key in block_keys(citation):
            self._groups.setdefault(key, {})[group] = None

    def groups(self, citation: NormalisedCitation) -> list[int]:
        """Groups under any key of the citation; keys that hold too many groups say too little."""
        found: dict[int, None] = {}
        for key in block_keys(citation):
            under = self._groups.get(key, {})
            if len(under) <= self.most_groups:
                found.update(under)
        return sorted(found)

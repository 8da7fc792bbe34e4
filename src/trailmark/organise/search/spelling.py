"""The word of the index that somebody may have meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

MOST_WORDS = 60_000  # the commonest words are learned
SHORTEST, LONGEST = 4, 30  # letters
TWO_MISTAKES = 7  # letters from which a word may be two mistakes away


class Spelling:
    """Finds known words near a word: those that become equal when one letter is left out of either.

    That covers one letter too many, too few or wrong, two that changed places, and some pairs of such mistakes
    (symmetric deletion). Kept as a sorted array of hashes, since a dict of all shortened words would be large.
    """

    def __init__(self, counts: Iterable[tuple[str, int]]) -> None:
        usable = (
            (word, count) for word, count in counts if SHORTEST <= len(word) <= LONGEST and word.isalpha()
        )
        known = sorted(usable, key=lambda entry: (-entry[1], entry[0]))[:MOST_WORDS]
        self.words = [word for word, _ in known]
        self.counts = [count for _, count in known]
        hashes = [
            (hash(short), number) for number, word in enumerate(self.words) for short in shortened(word)
        ]
        table = np.array(hashes, dtype=np.int64).reshape(-1, 2)
        order = np.argsort(table[:, 0], kind="stable")
        self._hashes, self._numbers = table[order, 0], table[order, 1]

    def nearest(self, word: str) -> tuple[str, int] | None:
        """The nearest known word that is not the word itself, of equally near ones the commonest; its count."""
        if not SHORTEST <= len(word) <= LONGEST:
            return None
        most = 2 if len(word) >= TWO_MISTAKES else 1
        near = ((mistakes(word, self.words[number], most), number) for number in self._candidates(word))
        allowed = [(distance, number) for distance, number in near if 0 < distance <= most]
        if not allowed:
            return None
        _, number = min(allowed)  # words are in order of their counts
        return self.words[number], self.counts[number]

    def _candidates(self, word: str) -> set[int]:
        hashes = np.array([hash(short) for short in shortened(word)], dtype=np.int64)
        starts = np.searchsorted(self._hashes, hashes, "left")
        ends = np.searchsorted(self._hashes, hashes, "right")
        return {
            int(number)
            for start, end in zip(starts, ends, strict=True)
            for number in self._numbers[start:end]
        }


def shortened(word: str) -> Iterator[str]:
    """The word, and the word without each of its letters."""
    yield word
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]


def mistakes(first: str, second: str, most: int) -> int:
    """Letters to add, drop, change or swap with the next (optimal string alignment); above `most`, any number above."""
    if abs(len(first) - len(second)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(second) + 1))
    for at, letter in enumerate(first, 1):
        before, last, row = row, before, [at]
        for to, other in enumerate(second, 1):
            cost = min(before[to] + 1, row[to - 1] + 1, before[to - 1] + (letter != other))
            if at > 1 and to > 1 and letter == second[to - 2] and first[at - 2] == other:
                cost = min(cost, last[to - 2] + 1)
            row.append(cost)
    return row[-1]

"""Group citations of the same work: all at once, or one by one as they arrive.

Blocking picks the pairs worth comparing, the pair classifier rates them, and groups merge from the most probable
pair down, where a sample of their members agrees. Two entries of one bibliography are of one work only if their titles
and first authors agree: authors list several works of the same people, year and journal, but seldom one work twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations

import numpy as np
import numpy.typing as npt

from wayhound.citations.citation import Citation, NormalisedCitation, normalise
from wayhound.citations.pair_model import (
    FEATURES,
    WordWeights,
    pair_features,
    pair_probabilities,
    shipped_classifier,
)
from wayhound.learn.logistic import LogisticRegression

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Score = Callable[[Sequence[tuple[int, int]]], Floats]
MayJoin = Callable[[Sequence[int], Sequence[int]], bool]

FULL_BLOCK = 30  # citations; in a block of at most this many, all pairs are compared
WINDOW = 8  # neighbours by title that each citation of a larger block is compared with
_TITLE_END = 14  # letters; either end of a title may be damaged, seldom both
_LONGEST_WORDS = 4  # of a title; any two of them make a key
_SUBTITLE = 4  # letters; fewer may be another part: II after I


def block_keys(citation: NormalisedCitation) -> Iterator[str]:
    """Yield the blocking keys of a citation. Two citations of one work very likely share one."""
    letters = citation.title_letters
    if letters:
        yield f"<{letters[:_TITLE_END]}"
        yield f">{letters[-_TITLE_END:]}"
        yield f"={letters}{citation.year}"
    longest = sorted(citation.title_words, key=lambda word: (-len(word), word))[:_LONGEST_WORDS]
    for first, second in combinations(sorted(longest), 2):
        yield f"w{first} {second}"
    yield from _number_keys(citation)


def _number_keys(citation: NormalisedCitation) -> Iterator[str]:
    """Yield keys for damaged titles: author and year, and page range."""
    for name in citation.names[:2]:
        yield f"a{name.last} {citation.year}"
    if citation.first_page and citation.last_page > citation.first_page:
        yield f"p{citation.first_page}-{citation.last_page}"


def candidate_pairs(citations: Sequence[NormalisedCitation], full_block: int = FULL_BLOCK) -> Ints:
    """Return the pairs i < j that share a block, (pairs, 2), sorted and unique.

    Blocks keep the cost proportional to the number of citations. In a large block only neighbours by title are
    compared: it is large because of a common word, where most pairs differ, or because of a work that is cited
    very often, and then merging neighbours joins all of it.
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
        for pair in _block_pairs(members, order, full_block)
    ]
    pairs = np.array(flat, dtype=np.int64).reshape(-1, 2)
    pairs.sort(axis=1)
    codes = np.unique(pairs[:, 0] * len(citations) + pairs[:, 1])
    codes = codes[codes // max(1, len(citations)) != codes % max(1, len(citations))]
    return np.stack(np.divmod(codes, max(1, len(citations))), axis=1)


def _block_pairs(
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
    """Finds the groups that a new citation may belong to, by blocking keys."""

    def __init__(self, max_groups: int = 200) -> None:
        self.max_groups = max_groups
        self._groups: dict[str, dict[int, None]] = {}

    def add(self, citation: NormalisedCitation, group: int) -> None:
        for key in block_keys(citation):
            self._groups.setdefault(key, {})[group] = None

    def groups(self, citation: NormalisedCitation) -> list[int]:
        """Return the groups that share a key with the citation; keys of more than `max_groups` are ignored."""
        groups: dict[int, None] = {}
        for key in block_keys(citation):
            sharing = self._groups.get(key, {})
            if len(sharing) <= self.max_groups:
                groups.update(sharing)
        return sorted(groups)


SAMPLED_MEMBERS = 5  # of a group; comparing all members of two groups would cost the product of their sizes


def entries_agree(first: NormalisedCitation, second: NormalisedCitation) -> bool:
    """Return True if two entries of one bibliography may be of one work: the same title, or one begins the other.

    A word more or less makes another title there ("steady", "non-steady"), and so does another first author: a comment
    on a paper, or a chapter beside its book.
    """
    one, other = sorted((first.title_letters, second.title_letters), key=len)
    is_beginning = len(one) >= _TITLE_END and other.startswith(one) and len(other) - len(one) >= _SUBTITLE
    same_title = one == other or is_beginning or first.title_words == second.title_words
    return same_title and _same_first_author(first, second)


def _same_first_author(first: NormalisedCitation, second: NormalisedCitation) -> bool:
    if not first.names or not second.names:
        return True
    one, other = first.names[0], second.names[0]
    shortest = min(len(one.initials), len(other.initials))
    return one.last == other.last and one.initials[:shortest] == other.initials[:shortest]


def _always(_: Sequence[int], __: Sequence[int]) -> bool:
    return True


def cluster(
    n: int,
    pairs: Ints,
    probabilities: Floats,
    score: Score,
    threshold: float,
    *,
    may_join: MayJoin = _always,
) -> list[int]:
    """Return the group of each of `n` items, numbered by first appearance.

    `probabilities` belong to `pairs`; `score` computes the probabilities of other pairs when they are needed.
    Groups for whose members `may_join` returns False are not merged.
    """
    likely = probabilities >= threshold
    pairs, probabilities = pairs[likely], probabilities[likely]
    known = dict(zip(map(tuple, pairs.tolist()), probabilities.tolist(), strict=True))
    merger = _Merger(n, known, score, may_join)
    for at in np.lexsort((pairs[:, 1], pairs[:, 0], -probabilities)).tolist():
        merger.consider(int(pairs[at, 0]), int(pairs[at, 1]), threshold)
    return merger.groups()


def sample_members(members: Sequence[int]) -> list[int]:
    """Return up to `SAMPLED_MEMBERS` members of a group, evenly spread."""
    if len(members) <= SAMPLED_MEMBERS:
        return list(members)
    return [members[(i * (len(members) - 1)) // (SAMPLED_MEMBERS - 1)] for i in range(SAMPLED_MEMBERS)]


class _Merger:
    """Groups that merge where the mean probability between their sampled members reaches the threshold."""

    def __init__(
        self, n: int, probabilities: dict[tuple[int, ...], float], score: Score, may_join: MayJoin
    ) -> None:
        self._probabilities = probabilities
        self._score = score
        self._may_join = may_join
        self._group = list(range(n))
        self._members = {i: [i] for i in range(n)}
        self._refused: set[tuple[int, int, int]] = set()  # two groups and their joint size at the time

    def consider(self, i: int, j: int, threshold: float) -> None:
        a, b = sorted((self._group[i], self._group[j]))
        if a == b:
            return
        first, second = self._members[a], self._members[b]
        attempt = a, b, len(first) + len(second)
        if attempt in self._refused:
            return
        if self._agreement(first, second) >= threshold and self._may_join(first, second):
            self._merge(a, b)
        else:
            self._refused.add(attempt)

    def _agreement(self, first: list[int], second: list[int]) -> float:
        between = [(min(i, j), max(i, j)) for i in sample_members(first) for j in sample_members(second)]
        missing = [pair for pair in between if pair not in self._probabilities]
        if missing:
            self._probabilities.update(zip(missing, self._score(missing).tolist(), strict=True))
        return sum(self._probabilities[pair] for pair in between) / len(between)

    def _merge(self, a: int, b: int) -> None:
        keep, drop = (a, b) if len(self._members[a]) >= len(self._members[b]) else (b, a)
        moved = self._members.pop(drop)
        for member in moved:
            self._group[member] = keep
        self._members[keep] += moved

    def groups(self) -> list[int]:
        numbers: dict[int, int] = {}
        return [numbers.setdefault(group, len(numbers)) for group in self._group]


Bools = npt.NDArray[np.bool_]
Progress = Callable[[int, int], None]
THRESHOLD = 0.5
_BATCH = 20_000  # pairs whose features are in memory at once


class PairScorer:
    """Computes features and probabilities of pairs within one list of citations."""

    def __init__(self, citations: Sequence[NormalisedCitation]) -> None:
        self.citations = citations
        self.weights = WordWeights()
        self.weights.count(citations)

    def features(self, pairs: Sequence[tuple[int, int]] | Ints) -> Floats:
        """Return (pairs, features), in the order of `FEATURES`."""
        rows = [pair_features(self.citations[i], self.citations[j], self.weights) for i, j in pairs]
        return np.array(rows, dtype=np.float64).reshape(-1, len(FEATURES))

    def rate(self, classifier: LogisticRegression, pairs: Sequence[tuple[int, int]]) -> Floats:
        """Return the probability that each pair is of the same work, (pairs,)."""
        numbered = [(self.citations[i], self.citations[j]) for i, j in pairs]
        return pair_probabilities(classifier, numbered, self.weights)

    def probabilities(
        self, classifier: LogisticRegression, pairs: Ints, on_progress: Progress | None = None
    ) -> Floats:
        probabilities = np.zeros(len(pairs))
        for start in range(0, len(pairs), _BATCH):
            part = pairs[start : start + _BATCH]
            probabilities[start : start + len(part)] = self.rate(classifier, part.tolist())
            if on_progress:
                on_progress(start + len(part), len(pairs))
        return probabilities


def group_citations(
    citations: Sequence[Citation],
    classifier: LogisticRegression,
    threshold: float = THRESHOLD,
    on_progress: Progress | None = None,
    *,
    bibliographies: Sequence[str] = (),
) -> list[int]:
    """Return the group of each citation, numbered by first appearance.

    `on_progress` is called now and then with the number of pairs compared and their total. `bibliographies` names the
    list that each citation is from.
    """
    normalised = [normalise(citation) for citation in citations]
    return group_normalised(normalised, classifier, threshold, on_progress, bibliographies=bibliographies)


def group_normalised(
    citations: Sequence[NormalisedCitation],
    classifier: LogisticRegression,
    threshold: float = THRESHOLD,
    on_progress: Progress | None = None,
    *,
    bibliographies: Sequence[str] = (),
) -> list[int]:
    """Return the group of each normalised citation, as `group_citations` does. Identical ones are compared as one."""
    numbers: dict[NormalisedCitation, int] = {}
    distinct = [numbers.setdefault(citation, len(numbers)) for citation in citations]
    listed: dict[int, set[str]] = {}
    for number, bibliography in zip(distinct, bibliographies, strict=False):
        listed.setdefault(number, set()).add(bibliography)
    scorer = PairScorer(list(numbers))
    repeated = zip(citations, _is_repeat(distinct), strict=True)
    scorer.weights.count(citation for citation, is_repeat in repeated if is_repeat)
    pairs = candidate_pairs(scorer.citations)
    groups = cluster(
        len(numbers),
        pairs,
        scorer.probabilities(classifier, pairs, on_progress),
        lambda more: scorer.rate(classifier, more),
        threshold,
        may_join=lambda first, second: _lists_agree(first, second, listed, scorer.citations),
    )
    return [groups[number] for number in distinct]


def _lists_agree(
    first: Sequence[int],
    second: Sequence[int],
    listed: Mapping[int, AbstractSet[str]],
    citations: Sequence[NormalisedCitation],
) -> bool:
    """Return True if no bibliography lists a member of both groups under titles that disagree."""
    lists: dict[str, list[int]] = {}
    for i in first:
        for bibliography in listed.get(i, ()):
            lists.setdefault(bibliography, []).append(i)
    return all(
        entries_agree(citations[i], citations[j])
        for j in second
        for bibliography in listed.get(j, ())
        for i in lists.get(bibliography, ())
    )


def training_pairs(
    citations: Sequence[Citation], papers: Sequence[str]
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return the features of all candidate pairs, and True where both citations are of the same paper.

    `papers` names the paper of each citation.
    """
    scorer = PairScorer([normalise(citation) for citation in citations])
    pairs = candidate_pairs(scorer.citations)
    names = np.array(papers)
    return scorer.features(pairs.tolist()), names[pairs[:, 0]] == names[pairs[:, 1]]


def _is_repeat(numbers: Sequence[int]) -> Iterator[bool]:
    """Yield, for each number, whether it occurred before; numbers count up at their first occurrence."""
    newest = -1
    for number in numbers:
        yield number <= newest
        newest = max(newest, number)


class CitationMatcher:
    """Groups citations one by one. Papers of the collection are added like citations.

    >>> matcher = CitationMatcher()
    >>> first = matcher.add(Citation(title="Hops to the goal", authors="A. Lind", year="1999"))
    >>> first == matcher.add(Citation(title="Hops to the Goal.", authors="Lind, A.", year="(1999)"))
    True
    """

    def __init__(self, classifier: LogisticRegression | None = None, threshold: float = THRESHOLD) -> None:
        self.classifier = classifier or shipped_classifier()
        self.threshold = threshold
        self._weights = WordWeights()
        self._index = BlockIndex()
        self._members: dict[int, list[NormalisedCitation]] = {}
        self._listed: dict[tuple[str, int], list[NormalisedCitation]] = {}  # by bibliography and group
        self._next = 0

    def add(self, citation: Citation, bibliography: str = "") -> int:
        """Add a citation to the group that it matches best, or to a new one, and return the group.

        `bibliography` names the list that it is from, if it is from one.
        """
        normal = normalise(citation)
        group = self._best(normal, bibliography)
        return self._put(normal, self._next if group is None else group, bibliography)

    def find(self, citation: Citation) -> int | None:
        """Return the group that a citation would join, or None. Nothing is changed."""
        return self._best(normalise(citation))

    def restore(self, grouped: Iterable[tuple[Citation, int, str]]) -> None:
        """Add citations with the groups that they were given before, and their bibliographies."""
        for citation, group, bibliography in grouped:
            self._put(normalise(citation), group, bibliography)

    def _put(self, normal: NormalisedCitation, group: int, bibliography: str) -> int:
        self._weights.count([normal])
        if bibliography:
            self._listed.setdefault((bibliography, group), []).append(normal)
        self._index.add(normal, group)
        self._members.setdefault(group, []).append(normal)
        self._next = max(self._next, group + 1)
        return group

    def _best(self, normal: NormalisedCitation, bibliography: str = "") -> int | None:
        candidates = [
            group
            for group in self._index.groups(normal)
            if all(entries_agree(normal, other) for other in self._listed.get((bibliography, group), ()))
        ]
        scored = [(self._agreement(normal, group), -group) for group in candidates]  # ties: the oldest group
        probability, group = max(scored, default=(0.0, 0))
        return -group if scored and probability >= self.threshold else None

    def _agreement(self, normal: NormalisedCitation, group: int) -> float:
        members = self._members[group]
        pairs = [(normal, members[at]) for at in sample_members(range(len(members)))]
        return float(pair_probabilities(self.classifier, pairs, self._weights).mean())

"""What links of one kind turned out to be worth on this site, and what that says of those still waiting.

A taught score is a guess that was made on other sites. Links that stand alike (in one list of a page, say)
mostly lead to pages that are alike, so what the fetched ones turned out to be worth soon tells more than the
guess.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from sys import intern

from wayhound.forage.scorer import State
from wayhound.page import LinkKind


@dataclass(slots=True, eq=False)
class QueuedLink:
    """A link that waits: what is needed to follow it and to say afterwards why it was followed.

    A large site keeps a million of these, so the words around the link are not among them: they have
    done their work once the link is rated.
    """

    url: str
    text: str
    region: str
    kind: LinkKind
    parent: int | None  # the visit whose page held the link
    depth: int
    score: float
    order: int  # of ties, the oldest goes first
    state: State = None
    groups: tuple[Hashable, ...] = ()
    guess: float = 0.0  # the score before anything was learned of its groups
    attempt: int = 1
    hops: int = 0  # redirects followed to come here
    taken: bool = False

    def __lt__(self, other: QueuedLink) -> bool:
        return self.order < other.order


_SPARE_ENTRIES = 1000


@dataclass
class Frontier:
    """A priority queue in which a URL stands at most once, ever, and whose scores may rise while it waits."""

    _links: dict[str, QueuedLink] = field(default_factory=dict)
    # hashes: of a million URLs, two have the same 64 bits once in 40 million sites
    _taken: set[int] = field(default_factory=set)
    _heap: list[tuple[float, int, QueuedLink]] = field(default_factory=list)
    _members: dict[Hashable, list[QueuedLink]] = field(default_factory=dict)
    _orders: int = 0

    def __len__(self) -> int:
        return len(self._links)

    def __contains__(self, url: str) -> bool:
        return url in self._links or hash(url) in self._taken

    @property
    def known(self) -> int:
        """How many different URLs were ever added."""
        return len(self._links) + len(self._taken)

    def was_taken(self, url: str) -> bool:
        """Whether this URL was fetched, or is about to be."""
        return hash(url) in self._taken

    def waiting(self, url: str) -> QueuedLink | None:
        """The link that waits for this URL, unless it was taken or never added."""
        return self._links.get(url)

    def add(
        self,
        url: str,
        score: float,
        *,
        text: str = "",
        region: str = "",
        kind: LinkKind = "a",
        parent: int | None = None,
        depth: int = 0,
        state: State = None,
        groups: tuple[Hashable, ...] = (),
        guess: float = 0.0,
        hops: int = 0,
        order: int | None = None,
    ) -> bool:
        """Add a link unless its URL is known; tells whether it was new."""
        if url in self:
            return False
        if order is None:
            self._orders += 1
            order = self._orders
        region = intern(region)  # few on a site, unlike texts
        link = QueuedLink(
            url, text, region, kind, parent, depth, score, order, state, groups, guess, hops=hops
        )
        self.admit(link)
        for group in groups:
            self._members.setdefault(group, []).append(link)
        return True

    def members(self, groups: Iterable[Hashable]) -> list[QueuedLink]:
        """The waiting links of these groups."""
        found: dict[int, QueuedLink] = {}
        for group in groups:
            waiting = [link for link in self._members.get(group, ()) if not link.taken]
            if waiting:
                self._members[group] = waiting
            found.update((link.order, link) for link in waiting)
        return list(found.values())

    def admit(self, link: QueuedLink) -> None:
        """Let a link wait whatever is known of it: a second try after a passing fault, for one."""
        link.taken = False
        self._links[link.url] = link
        self._taken.discard(hash(link.url))
        self._push(link)

    def rescore(self, link: QueuedLink, score: float) -> None:
        if score != link.score:
            link.score = score
            self._push(link)
            self._compact()

    def _compact(self) -> None:
        """Scores that have changed leave their entries behind; once most are such, the heap is made anew."""
        if len(self._heap) > 2 * len(self._links) + _SPARE_ENTRIES:
            self._heap = [(-each.score, each.order, each) for each in self._links.values()]
            heapify(self._heap)

    def best(self) -> QueuedLink | None:
        """The link to follow next; it goes on waiting."""
        while self._heap:
            negative, _, link = self._heap[0]
            if not link.taken and -negative == link.score:
                return link
            heappop(self._heap)  # taken meanwhile, or its score has changed since
        return None

    def take(self, link: QueuedLink) -> None:
        link.taken = True
        del self._links[link.url]
        self._taken.add(hash(link.url))

    def _push(self, link: QueuedLink) -> None:
        heappush(self._heap, (-link.score, link.order, link))


@dataclass
class GroupMeans:
    """The mean worth of the links fetched so far, group by group.

    `weight` is how many fetched links the guess counts for: with that many fetched, guess and experience
    have an equal say.
    """

    weight: float = 2.0
    _sums: dict[Hashable, float] = field(default_factory=dict)
    _counts: dict[Hashable, int] = field(default_factory=dict)

    def learn(self, groups: Sequence[Hashable], worth: float) -> None:
        for group in groups:
            self._sums[group] = self._sums.get(group, 0.0) + worth
            self._counts[group] = self._counts.get(group, 0) + 1

    def revised(self, guess: float, groups: Sequence[Hashable]) -> float:
        """The guess after what was learned of its groups, the widest first: each narrows the one before."""
        score = guess
        for group in groups:
            fetched = self._counts.get(group, 0)
            if fetched:
                score = (self.weight * score + self._sums[group]) / (self.weight + fetched)
        return score

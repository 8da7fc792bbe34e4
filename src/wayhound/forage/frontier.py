"""The frontier: a priority queue of one site's links, whose scores change as the forage learns.

A taught score is a prior from other sites. Links in the same group (a list of a page, say) mostly lead to
similar pages, so the rewards of those fetched soon say more than the prior (`GroupMeans`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from heapq import heapify, heappop, heappush, heapreplace, nlargest
from sys import intern

from wayhound.forage.scorer import State
from wayhound.forage.site_program import Position, RouteYields
from wayhound.page import LinkKind
from wayhound.visit import Visit


@dataclass(slots=True, eq=False)
class QueuedLink:
    """A link in the frontier: what is needed to follow it, and to save afterwards why it was followed.

    A large site has a million of these, so the words around the link are not kept: they are not needed once the
    link is rated.
    """

    url: str
    score: float
    text: str = ""
    region: str = ""
    kind: LinkKind = "a"
    parent: int | None = None  # the visit whose page held the link
    depth: int = 0
    order: int = -1  # ties go to the oldest; the frontier numbers those below 0
    state: State = None
    groups: tuple[Hashable, ...] = ()
    other_groups: tuple[tuple[Hashable, ...], ...] = ()  # where it was met again, in other lists
    prior: float = 0.0  # the score before anything was learned about its groups
    named: float = 0.0  # how far names alone recommend it
    position: Position = ()  # on the routes of the site's program
    attempt: int = 1
    redirects: int = 0  # followed on the way here
    taken: bool = False
    entry: float = 0.0  # the score of its entry in the queue, at least its own
    first_look: Visit | None = None  # its page was read plainly; this time a browser shows it

    def __lt__(self, other: QueuedLink) -> bool:
        return self.order < other.order

    @property
    def all_groups(self) -> tuple[Hashable, ...]:
        """The groups of every list that the link was met in, each once."""
        if not self.other_groups:
            return self.groups
        return tuple(dict.fromkeys(group for groups in (self.groups, *self.other_groups) for group in groups))

    @classmethod
    def from_visit(cls, visit: Visit, state: State) -> QueuedLink:
        return cls(
            url=visit.url,
            text=visit.link_text,
            region=visit.link_region,
            kind=visit.link_kind,
            parent=visit.parent,
            depth=visit.depth,
            score=visit.score,
            order=0,
            state=state,
            attempt=visit.attempt,
        )


_SPARE_ENTRIES = 1000
ANSWER_WEIGHT = 3  # of a person's answer, in fetched pages: models are wrong about one in three
CLICK_DISCOUNT = 0.9  # of a goal that is one more click away
_MIN_GAIN = 0.05  # by which a page must be worth more than was known, for its groups to be revised
_TYPICAL_SCORE, _MIN_MOVE = 0.3, 0.01  # a group is scored anew when it moves a typical score by as much
MAX_LISTS = 3  # in which a waiting link is looked for; a menu is on every page
BARREN_PAGES = 8  # without a goal, after which every second link is followed by its name alone
FOLLOWED_FIRST = 0.9  # the least score of a link on a route of the site's program


@dataclass
class Frontier:
    """A priority queue that holds every URL at most once, ever, and whose scores may change."""

    _links: dict[str, QueuedLink] = field(default_factory=dict)
    # hashes instead of URLs: among a million of them, two collide on one site in 40 million
    _taken: set[int] = field(default_factory=set)
    _heap: list[tuple[float, int, QueuedLink]] = field(default_factory=list)
    _named: list[tuple[float, int, QueuedLink]] = field(default_factory=list)
    _members: dict[Hashable, list[QueuedLink]] = field(default_factory=dict)
    _last_order: int = 0

    def __len__(self) -> int:
        return len(self._links)

    def __contains__(self, url: str) -> bool:
        return url in self._links or hash(url) in self._taken

    @property
    def known(self) -> int:
        """The number of different URLs ever added."""
        return len(self._links) + len(self._taken)

    def was_taken(self, url: str) -> bool:
        """Return True if this URL was fetched, or is about to be."""
        return hash(url) in self._taken

    def waiting(self, url: str) -> QueuedLink | None:
        """Return the queued link of this URL, unless it was taken or never added."""
        return self._links.get(url)

    def add(self, link: QueuedLink) -> bool:
        """Add a link unless its URL is known; return True if it was new."""
        if link.url in self:
            return False
        if link.order < 0:
            self._last_order += 1
            link.order = self._last_order
        link.region = intern(link.region)  # a site has few regions, unlike texts
        self.requeue(link)
        if link.named > 0:
            heappush(self._named, (-link.named, link.order, link))
        self._register(link, link.groups)
        return True

    def add_target(self, url: str, link: QueuedLink, visit: Visit) -> bool:
        """Add the target of a redirect in the place of the link that led there; return True if it was new."""
        target = replace(link, url=url, kind="redirect", parent=visit.number, depth=visit.depth)
        target.redirects, target.attempt = link.redirects + 1, 1
        target.other_groups, target.first_look = (), None
        return self.add(target)

    def add_second_look(self, link: QueuedLink, visit: Visit, score: float) -> None:
        """Queue a visited page again, to be shown to a browser. Nothing that is learned of its groups moves it."""
        self._last_order += 1
        again = replace(link, score=score, prior=score, groups=(), position=(), order=self._last_order)
        again.attempt, again.first_look = visit.attempt + 1, visit
        self.requeue(again)
        self._taken.add(hash(link.url))  # other pages' links to it are followed already

    def join(self, link: QueuedLink, groups: tuple[Hashable, ...]) -> None:
        """Add a queued link to more groups."""
        link.groups += groups
        self._register(link, groups)

    def meet_again(self, link: QueuedLink, groups: tuple[Hashable, ...]) -> None:
        """Take in another list that a queued link is in, up to `MAX_LISTS` of them.

        A professor may be met first beside a paper, and later in the list of the faculty. A link without groups, such
        as a section on the start page, gains none by being in the menu of every page.
        """
        known = (link.groups, *link.other_groups)
        if (
            not link.groups
            or not groups
            or len(known) >= MAX_LISTS
            or any(groups[-1] in own for own in known)
        ):
            return
        link.other_groups += (groups,)
        self._register(link, tuple(group for group in groups if all(group not in own for own in known)))

    def name(self, link: QueuedLink, named: float) -> None:
        """Take in how far names recommend a queued link; the best of the pages that it is on counts."""
        if named > link.named:
            link.named = named
            heappush(self._named, (-named, link.order, link))

    def _register(self, link: QueuedLink, groups: tuple[Hashable, ...]) -> None:
        for group in groups:
            self._members.setdefault(group, []).append(link)

    def members(self, groups: Iterable[Hashable]) -> list[QueuedLink]:
        """Return the queued links of these groups."""
        by_order: dict[int, QueuedLink] = {}
        for group in groups:
            queued = [link for link in self._members.get(group, ()) if not link.taken]
            if queued:
                self._members[group] = queued
            by_order.update((link.order, link) for link in queued)
        return list(by_order.values())

    def requeue(self, link: QueuedLink) -> None:
        """Queue a link even if it was taken before, such as for a retry."""
        link.taken = False
        self._links[link.url] = link
        self._taken.discard(hash(link.url))
        self._push(link)

    def rescore(self, link: QueuedLink, score: float) -> None:
        """Change the score of a queued link. If it falls, its entry falls only when it comes first: most never do."""
        link.score = score
        if score > link.entry:
            self._push(link)
            # every entry that has risen leaves one behind; most of them are stale by now
            if len(self._heap) > 2 * len(self._links) + _SPARE_ENTRIES:
                self._heap = [(-other.entry, other.order, other) for other in self._links.values()]
                heapify(self._heap)

    def best(self) -> QueuedLink | None:
        """Return the link to follow next, without taking it."""
        while self._heap:
            negative, order, link = self._heap[0]
            if link.taken or -negative != link.entry:
                heappop(self._heap)  # stale: taken meanwhile, or it has risen
            elif link.entry == link.score:
                return link
            else:
                link.entry = link.score
                heapreplace(self._heap, (-link.score, order, link))
        return None

    def best_named(self) -> QueuedLink | None:
        """Return the link that names recommend most, without taking it; None if they recommend none."""
        while self._named and self._named[0][2].taken:
            heappop(self._named)
        return self._named[0][2] if self._named else None

    def best_scores(self, count: int) -> list[float]:
        """Return the scores of the best links that wait, at most so many."""
        return nlargest(count, (link.score for link in self._links.values()))

    def take(self, link: QueuedLink) -> None:
        link.taken = True
        del self._links[link.url]
        self._taken.add(hash(link.url))

    def _push(self, link: QueuedLink) -> None:
        link.entry = link.score
        heappush(self._heap, (-link.score, link.order, link))


@dataclass
class GroupMeans:
    """The mean reward of the links fetched so far in each group.

    `weight` is the number of fetched links that the prior counts for: after that many, prior and experience
    weigh the same.
    """

    weight: float = 2.0
    _fetched: dict[Hashable, tuple[float, int]] = field(default_factory=dict)  # sum of rewards, and number

    def learn(self, groups: Sequence[Hashable], reward: float, fetched: int = 1) -> None:
        """Add the reward of a fetched link; with 0 fetched, what an earlier one turned out to be worth more."""
        for group in groups:
            total, count = self._fetched.get(group, (0.0, 0))
            self._fetched[group] = total + reward, count + fetched

    def revise(self, prior: float, groups: Sequence[Hashable]) -> float:
        """Return the posterior score. Groups go from wide to narrow, each the prior of the next."""
        score = prior
        for group in groups:
            if group in self._fetched:
                total, count = self._fetched[group]
                score = (self.weight * score + total) / (self.weight + count)
        return score


@dataclass(slots=True)
class _Outcome:
    """The reward of a fetched link so far, its groups, and the visit whose page held it."""

    parent: int | None
    groups: tuple[Hashable, ...]
    reward: float


@dataclass
class RevisedScores:
    """The scores of a frontier's links, revised by the outcomes of those that were fetched."""

    frontier: Frontier
    yields: RouteYields
    means: GroupMeans = field(default_factory=GroupMeans)
    _fetched: dict[str, tuple[tuple[Hashable, ...], Position]] = field(default_factory=dict)
    _outcomes: dict[int, _Outcome] = field(default_factory=dict)
    _scored_at: dict[Hashable, float] = field(default_factory=dict)
    _barren: int = 0  # pages since the last goal

    @property
    def follows_names(self) -> bool:
        """True if the next link is followed by its name: every second one, after many pages without a goal.

        A forage that is stuck follows scores that promise more than they hold, and only links that they put first are
        fetched to revise them. Names do not depend on that.
        """
        return self._barren >= BARREN_PAGES and self._barren % 2 == 0

    def revised(
        self,
        prior: float,
        groups: Sequence[Hashable],
        position: Position,
        other_groups: Sequence[Sequence[Hashable]] = (),
    ) -> float:
        """Return a score given the outcomes so far, in the list where they are best.

        Links on a route of the program come first while it pays.
        """
        score = self.means.revise(prior, groups)
        for own in other_groups:
            score = max(score, self.means.revise(prior, own))
        if position and self.yields.leads(position):
            return FOLLOWED_FIRST + (1 - FOLLOWED_FIRST) * score
        return score

    def rescore(self, link: QueuedLink) -> None:
        self.frontier.rescore(link, self.revised(link.prior, link.groups, link.position, link.other_groups))

    def learn(self, link: QueuedLink, reward: float, visit: Visit) -> None:
        """Take in the result of a fetched link, and revise the scores of the queued links in its groups.

        The pages on the path gain by what they led to: a list is worth as much as the best of its entries, which are
        fetched later.
        """
        self._barren = 0 if visit.is_goal else self._barren + 1
        groups = link.all_groups
        self._fetched[link.url] = groups, link.position
        self.yields.learn(link.position, visit.goal)
        self._revise(groups, reward, 1)
        self._outcomes[visit.number] = _Outcome(link.parent, groups, reward)
        parent = link.parent
        while parent is not None and (outcome := self._outcomes.get(parent)) is not None:
            reward *= CLICK_DISCOUNT
            if reward < outcome.reward + _MIN_GAIN:
                break
            self._revise(outcome.groups, reward - outcome.reward, 0)
            outcome.reward = reward
            parent = outcome.parent

    def answer(self, url: str, is_goal: bool) -> None:
        """Take in what a person said about a fetched page. An answer counts as several pages: it is certain."""
        groups, position = self._fetched.get(url, ((), ()))
        for _ in range(ANSWER_WEIGHT):
            self.yields.learn(position, float(is_goal))
            self._revise(groups, float(is_goal), 1)

    def _revise(self, groups: tuple[Hashable, ...], gain: float, fetched: int) -> None:
        """Add to the rewards of groups. Rescore the links of those whose scores have moved since they were last scored.

        A group may have thousands of links, and one more page hardly moves the mean of a thousand: without the limit,
        the cost of a page would grow with the site.
        """
        self.means.learn(groups, gain, fetched)
        moved = []
        for group in groups:
            value = self.means.revise(_TYPICAL_SCORE, (group,))
            if abs(value - self._scored_at.get(group, _TYPICAL_SCORE)) >= _MIN_MOVE:
                self._scored_at[group] = value
                moved.append(group)
        for other in self.frontier.members(moved):
            self.rescore(other)


# Pages before which nothing is said about goals left: with fewer, goals behind long ways were given up.
FIRST_LOOK = 20
FIRST_LOOK_FOR_ONE = 2  # the same where every site has one goal at most
LOOK_EVERY = 4  # pages, and more on large frontiers, whose links are summed up each time
_LINKS_A_LOOK = 2000  # for each page in between
# chosen on recorded departments: of the settings that lost no goal there, those that saved most pages
_FORGETTING = 0.98  # of what earlier pages were worth, for each page: lists come to an end
_PRIOR_PROMISE, _PRIOR_YIELD = 10.0, 0.1  # as if so much had been promised, and this share of it had come
_SHARPNESS = 2.5  # the power of scores: ten links of .2 promise less than one of .9
_LEAST_PAGES, _MOST_PAGES = 20, 100  # that are looked ahead at the end of a budget, and without one


@dataclass
class GoalsLeft:
    """The number of goals that the next pages of a site are expected to bring.

    Scores promise goals; how many of the promised ones came so far, above all of late, tells what the waiting links are
    worth. With `one_goal`, every site has one at most.
    """

    frontier: Frontier
    one_goal: bool = False
    expected: float | None = None
    _promised: float = 0.0
    _came: float = 0.0
    _none_yet: float = 1.0  # the probability that no page so far is a goal
    _next_look: int = field(init=False)

    def __post_init__(self) -> None:
        self._next_look = FIRST_LOOK_FOR_ONE if self.one_goal else FIRST_LOOK

    def learn(self, visit: Visit, pages_left: int | None) -> None:
        """Take in a visit, and now and then sum up the best of the links that wait, for so many more pages."""
        if visit.parent is not None:
            self._promised = _FORGETTING * self._promised + visit.score**_SHARPNESS
            self._came = _FORGETTING * self._came + visit.goal
        self._none_yet *= 1 - visit.goal
        if visit.number + 1 >= self._next_look:
            every = 1 if self.one_goal else LOOK_EVERY
            self._next_look = visit.number + 1 + every + len(self.frontier) // _LINKS_A_LOOK
            self.expected = self._look_ahead(
                _MOST_PAGES if pages_left is None else max(pages_left, _LEAST_PAGES)
            )

    def _look_ahead(self, pages: int) -> float:
        promise = math.fsum(score**_SHARPNESS for score in self.frontier.best_scores(pages))
        yielded = (self._came + _PRIOR_PROMISE * _PRIOR_YIELD) / (self._promised + _PRIOR_PROMISE)
        expected = min(1.0, yielded) * promise
        return min(expected, self._none_yet) if self.one_goal else expected

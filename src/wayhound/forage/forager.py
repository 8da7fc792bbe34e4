"""One site's forage: a machine that is told what was fetched and asked what to do next.

It never sleeps, fetches or reads a clock, and it is a fold over its visits: told the same visits again, in
the same order, it stands where it stood. That is all that recovery after a crash needs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from wayhound.fetched import Failed, Fetched
from wayhound.forage.explain import why_page
from wayhound.forage.frontier import Frontier, GroupMeans, QueuedLink
from wayhound.forage.politeness import FailureTracker, Politeness, backoff_factor, is_transient, may_retry
from wayhound.forage.scope import TrapLimits, documents_first, is_goal_document, refusal_reason
from wayhound.forage.scorer import Rated, Reading, Scorer, file_kinds
from wayhound.page import Link, Page, Unreadable, to_page
from wayhound.site import Site
from wayhound.url import host_of, registrable_domain
from wayhound.visit import ArchiveRef, Visit

REDIRECT_HOPS = 8
GOAL_THRESHOLD = 0.5  # a page at least this likely to be a goal is one
CLICK_DISCOUNT = 0.9  # of a goal that is one more click away


@dataclass(frozen=True, slots=True)
class ForageLimits:
    """How far a site's forage may go, and when it has found enough."""

    budget: int | None = None  # requests for pages
    max_depth: int | None = None  # clicks from the start page
    goals_wanted: int | None = None
    best_goal_only: bool = False  # seed 000, 4.4.3: go on only while some link outscores the goal found
    min_score: float = 0.0  # links below are not worth a fetch
    take_files: bool = False  # documents on goal pages come first, and before enough is found
    patience_seconds: float = 300.0  # the longest pause a host may ask for


@dataclass(frozen=True, slots=True)
class Fetch:
    """Fetch this link now, then `tell` what came of it."""

    link: QueuedLink


@dataclass(frozen=True, slots=True)
class Wait:
    """Nothing may be fetched before `until`."""

    until: float


@dataclass(frozen=True, slots=True)
class Finished:
    """There is nothing more to do on this site, and why."""

    reason: str


Action = Fetch | Wait | Finished


@dataclass
class Forager:
    """The forage of one site."""

    site: Site
    scorer: Scorer
    limits: ForageLimits = field(default_factory=ForageLimits)
    politeness: Politeness = field(default_factory=Politeness)

    frontier: Frontier = field(default_factory=Frontier, init=False)
    spent: int = field(default=0, init=False)
    visits: int = field(default=0, init=False)
    goals: int = field(default=0, init=False)
    _traps: TrapLimits = field(default_factory=TrapLimits, init=False)
    _means: GroupMeans = field(default_factory=GroupMeans, init=False)
    _digests: set[int] = field(default_factory=set, init=False)
    _best_goal: float = field(default=0.0, init=False)
    _faults: FailureTracker = field(default_factory=FailureTracker, init=False)

    def __post_init__(self) -> None:
        start = self.scorer.start(self.site)
        self.frontier.add(self.site.start, 1.0, kind="start", state=start)

    # what to do next

    def next_action(self, now: float) -> Action:
        link = self._next_link()
        if (reason := self._finished(link)) or link is None:
            return Finished(reason)
        ready = self.politeness.ready_at(host_of(link.url))
        if ready - now > self.limits.patience_seconds:
            return Finished(f"asked to wait {ready - now:.0f} s")
        if now < ready:
            return Wait(ready)
        self._take(link)
        return Fetch(link)

    def _next_link(self) -> QueuedLink | None:
        """The best link whose host answers and whose shape has not been fetched too often."""
        while link := self.frontier.best():
            if not self._is_left_alone(link):
                return link
            self.frontier.take(link)
        return None

    def _is_left_alone(self, link: QueuedLink) -> bool:
        if self._faults.is_down(link.url):
            return True
        return link.attempt == 1 and self._traps.refuses(link.url) is not None

    def _take(self, link: QueuedLink) -> None:
        self.frontier.take(link)
        if link.attempt == 1:
            self._traps.count(link.url)

    def _finished(self, best: QueuedLink | None) -> str:
        """Why the site is done, or an empty string."""
        limits = self.limits
        takes_file = limits.take_files and best is not None and is_goal_document(best.url, best.score)
        if limits.goals_wanted is not None and self.goals >= limits.goals_wanted and not takes_file:
            return "goals found"
        if limits.budget is not None and self.spent >= limits.budget:
            return "budget spent"
        if best is None:
            return self._no_links_left()
        if limits.best_goal_only and self.goals and best.score <= self._best_goal and not takes_file:
            return "no link outscores the goal found"
        if best.score < limits.min_score and self.visits:
            return "nothing promising left"
        return ""

    def _no_links_left(self) -> str:
        if self._faults.site_is_down:
            return f"site does not answer ({self._faults.last})"
        if self._faults.last and not self._digests:
            return f"start page failed ({self._faults.last})"
        return "no links left"

    # being told

    def tell(
        self,
        link: QueuedLink,
        answer: Fetched | Failed,
        page: Page | Unreadable | None,
        *,
        now: float,
        at: float,
        archived: ArchiveRef | None = None,
    ) -> Visit:
        """What came of a fetch. Returns the visit to be saved; `now` is the clock of `next_action`."""
        page = self._legible(page)
        reading = self._read(link, answer, page)
        visit = self._visit(link, answer, page, reading, at, archived)
        if visit.spent or is_transient(visit):
            self.politeness.asked(host_of(link.url), now, self._host_pause(visit))
        self._apply(visit, link, page, reading)
        return visit

    def retell(self, visit: Visit, page: Page | Unreadable | None) -> None:
        """A visit saved before a crash, told again."""
        link = self.frontier.waiting(visit.url)
        if link is None:
            link = self._link_of(visit)
            self.frontier.admit(link)
        self._take(link)
        page = self._legible(page)
        reading = (
            self.scorer.read(link.state, page) if _content(visit.outcome) and isinstance(page, Page) else None
        )
        self._apply(visit, link, page, reading)

    def _link_of(self, visit: Visit) -> QueuedLink:
        """A link for a visit that the site's pages, read by today's rules, no longer explain."""
        return QueuedLink(
            url=visit.url,
            text=visit.link_text,
            region=visit.link_region,
            kind=visit.link_kind,
            parent=visit.parent,
            depth=visit.depth,
            score=visit.score,
            order=0,
            state=self.scorer.start(self.site),
            attempt=visit.attempt,
        )

    def _legible(self, page: Page | Unreadable | None) -> Page | Unreadable | None:
        """A document is read by those to whom it may be a goal."""
        return (to_page(page) or page) if file_kinds(self.scorer) else page

    def _read(
        self, link: QueuedLink, answer: Fetched | Failed, page: Page | Unreadable | None
    ) -> Reading | None:
        if isinstance(answer, Fetched) and answer.ok and isinstance(page, Page):
            return self.scorer.read(link.state, page)
        return None

    def _visit(
        self,
        link: QueuedLink,
        answer: Fetched | Failed,
        page: Page | Unreadable | None,
        reading: Reading | None,
        at: float,
        archived: ArchiveRef | None,
    ) -> Visit:
        digest = page.digest if page else ""
        repeated = bool(digest) and hash(digest) in self._digests
        is_goal = bool(reading and reading.goal >= GOAL_THRESHOLD and not repeated)
        return Visit(
            site=self.site.start,
            number=self.visits,
            url=link.url,
            outcome="duplicate" if repeated and answer.outcome == "ok" else answer.outcome,
            at=at,
            parent=link.parent,
            link_text=link.text,
            link_region=link.region,
            link_kind=link.kind,
            depth=link.depth,
            attempt=link.attempt,
            score=link.score,
            status=answer.status if isinstance(answer, Fetched) else None,
            content_type=answer.content_type if isinstance(answer, Fetched) else "",
            title=_title(page, link) if isinstance(page, Page) else "",
            digest=digest,
            label=reading.label if reading else "",
            goal=reading.goal if reading else 0.0,
            is_goal=is_goal,
            spent=answer.sent if isinstance(answer, Failed) else True,
            wait_seconds=answer.wait_seconds,
            location=answer.location if isinstance(answer, Fetched) else "",
            robots=_asked_of_robots(page),
            archived=archived,
            why=why_page(self.scorer, link.state, page) if is_goal and isinstance(page, Page) else (),
        )

    def _host_pause(self, visit: Visit) -> float:
        """A host in trouble is left alone for longer after every try, even if it names no time."""
        if not is_transient(visit):
            return visit.wait_seconds
        return max(
            visit.wait_seconds, self.politeness.delay_seconds * backoff_factor(visit.url, visit.attempt)
        )

    # what a visit changes: the same for a fresh one and for one told again

    def _apply(
        self, visit: Visit, link: QueuedLink, page: Page | Unreadable | None, reading: Reading | None
    ) -> None:
        self.visits += 1
        self.spent += visit.spent
        if visit.is_goal:
            self.goals += 1
            self._best_goal = max(self._best_goal, visit.goal)
        if visit.outcome == "redirect":
            self._follow_redirect(visit, link)
        elif _content(visit.outcome):
            self._faults.answered(visit.url)
            self._digests.add(hash(visit.digest))
            best_link = 0.0
            if visit.outcome == "ok" and reading is not None and isinstance(page, Page):
                best_link = self._add_links(visit, page, reading)
            self._learn(link, max(visit.goal, CLICK_DISCOUNT * best_link))
        else:
            self._fault(visit, link)
            self._learn(link, 0.0)

    def _add_links(self, visit: Visit, page: Page, reading: Reading) -> float:
        """Rate the page's links and let them wait; tells the best score among them."""
        depth = visit.depth + 1
        if self.limits.max_depth is not None and depth > self.limits.max_depth:
            return 0.0
        links = [link for link in page.links if self._may_follow(link)]
        rated = self.scorer.rate(reading, links)
        if self.limits.take_files and visit.is_goal:
            rated = documents_first(rated, links)
        for link, new in zip(links, rated, strict=True):
            self._add_link(visit, link, new, depth)
        return max((new.score for new in rated), default=0.0)

    def _add_link(self, visit: Visit, link: Link, new: Rated, depth: int) -> None:
        known = self.frontier.waiting(link.url)
        if known is None:
            self.frontier.add(
                link.url,
                self._means.revised(new.score, new.groups),
                text=link.text,
                region=link.region,
                kind=link.kind,
                parent=visit.number,
                depth=depth,
                state=new.state,
                groups=new.groups,
                guess=new.score,
            )
            return
        if new.score > known.guess:
            # the belief goes with the path that promises most, and so does what is told of it later
            known.state, known.parent = new.state, visit.number
            known.text, known.region, known.kind = link.text, link.region, link.kind
        known.guess = self.scorer.combine(known.guess, new.score)
        self.frontier.rescore(known, self._means.revised(known.guess, known.groups))

    def _learn(self, link: QueuedLink, worth: float) -> None:
        """What a link turned out to be worth tells of those that stand like it."""
        if link.groups:
            self._means.learn(link.groups, worth)
            for other in self.frontier.members(link.groups):
                self.frontier.rescore(other, self._means.revised(other.guess, other.groups))

    def _may_follow(self, link: Link) -> bool:
        return not self.frontier.was_taken(link.url) and not refusal_reason(self.site, link)

    def _follow_redirect(self, visit: Visit, link: QueuedLink) -> None:
        target = visit.location
        self._faults.answered(visit.url)
        if link.hops >= REDIRECT_HOPS:
            self._faults.last = "redirect_limit"
        elif self.site.covers(target) or self._moved(target):
            new = self.frontier.add(
                target,
                link.score,
                text=link.text,
                region=link.region,
                kind="redirect",
                parent=visit.number,
                depth=visit.depth,
                state=link.state,
                groups=link.groups,
                guess=link.guess,
                hops=link.hops + 1,
                order=link.order,
            )
            if not new:
                self._faults.last = "redirect loop"
        else:
            self._faults.last = "redirected out of the site"

    def _moved(self, target: str) -> bool:
        """A start page that redirects elsewhere tells where the site lives now; that counts as inside."""
        if self._digests or not target:
            return False
        old = self.site.hosts or (f".{self.site.domain}",)
        self.site = replace(self.site, hosts=(*old, f".{registrable_domain(target)}"))
        return True

    def _fault(self, visit: Visit, link: QueuedLink) -> None:
        self._faults.failed(visit)
        if may_retry(visit):
            link.attempt = visit.attempt + 1
            self.frontier.admit(link)


def _asked_of_robots(page: Page | Unreadable | None) -> str:
    rules = {"noindex": page and page.noindex, "nofollow": isinstance(page, Page) and page.nofollow}
    return " ".join(rule for rule, holds in rules.items() if holds)


def _title(page: Page, link: QueuedLink) -> str:
    """As people know it: a document has no title of its own that is read, so the link that leads to it names it."""
    return " ".join(link.text.split()) if page.is_document else page.title


def _content(outcome: str) -> bool:
    return outcome in ("ok", "duplicate")

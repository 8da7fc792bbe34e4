"""One site's forage: a state machine that is told what was fetched and says what to do next.

It never sleeps, fetches or reads a clock. Its state is a fold over its visits: replaying the same visits in the
same order restores it. Recovery after a crash needs nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from wayhound.fetched import Failed, Fetched
from wayhound.forage.explain import why_page
from wayhound.forage.frontier import CLICK_DISCOUNT, Frontier, GoalsLeft, QueuedLink, RevisedScores
from wayhound.forage.politeness import FailureTracker, Politeness, backoff_factor, is_transient, may_retry
from wayhound.forage.rendering import RenderMemory
from wayhound.forage.scope import (
    SITEMAP_SHARE,
    OutsideLinks,
    Sitemaps,
    TrapLimits,
    asked_first,
    documents_first,
    include_domain,
    is_goal_document,
    refusal_reason,
)
from wayhound.forage.scorer import GoalPattern, Rated, Reading, Reason, RecognisingScorer, Scorer, file_kinds
from wayhound.forage.site_program import Position, RouteYields, SiteProgram
from wayhound.page import Link, Page, Unreadable, to_page
from wayhound.pages.feeds import SITEMAP
from wayhound.pages.scripted import FEW_LINKS
from wayhound.site import Site
from wayhound.url import host_of
from wayhound.visit import ArchiveRef, Rendering, Visit

MAX_REDIRECTS = 8
FEW_GOALS_LEFT = "few goals left"
GOAL_THRESHOLD = 0.5  # a page with at least this probability is a goal
LIKELY_FROM, LIKELY_SHARE = 0.15, 0.7  # of a page that may be a goal: least probability, share of the best's
NO_LINKS = "no links left"
MORE_OF_A_LIST = 0.9  # the worth of links that a browser may add to a list, to that of the links it has
EXPLAINED_FROM = 0.1  # a less likely page is hardly ever a goal once all pages of the site are known


@dataclass(frozen=True, slots=True)
class ForageLimits:
    """The limits of one site's forage, and the conditions to stop it early."""

    budget: int | None = None  # requests for pages
    max_depth: int | None = None  # clicks from the start page
    goals_wanted: int | None = None
    best_goal_only: bool = False  # Vydiswaran & Sarawagi, 4.4.3: stop when no link outscores the best goal
    min_score: float = 0.0  # links below are not followed
    min_goals_left: float = 0.0  # stop when the rest of the budget is expected to find fewer
    take_files: bool = False  # fetch documents on goal pages first, even after enough goals were found
    patience_seconds: float = 300.0  # the longest pause that a host may ask for


@dataclass(frozen=True, slots=True)
class Fetch:
    """Fetch this link now, then `tell` the result."""

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
Content = Page | Unreadable | None


@dataclass
class Forager:
    """The forage of one site."""

    site: Site
    scorer: Scorer
    limits: ForageLimits = field(default_factory=ForageLimits)
    politeness: Politeness = field(default_factory=Politeness)
    program: SiteProgram = field(default_factory=SiteProgram)  # of an earlier run, followed first
    is_asked_for: Callable[[Link], bool] | None = None  # links whose pages people want most
    rendering: RenderMemory = field(default_factory=RenderMemory)

    frontier: Frontier = field(default_factory=Frontier, init=False)
    spent: int = field(default=0, init=False)
    visits: int = field(default=0, init=False)
    goals: int = field(default=0, init=False)
    _traps: TrapLimits = field(default_factory=TrapLimits, init=False)
    _digests: set[int] = field(default_factory=set, init=False)
    _best_goal: float = field(default=0.0, init=False)
    _best_page: float = field(default=0.0, init=False)
    _failures: FailureTracker = field(default_factory=FailureTracker, init=False)
    _outside: OutsideLinks = field(default_factory=OutsideLinks, init=False)
    _sitemaps: Sitemaps = field(default_factory=Sitemaps, init=False)
    _first: Reading | None = field(default=None, init=False)  # of the start page
    _scores: RevisedScores = field(init=False)
    _left: GoalsLeft | None = field(default=None, init=False)  # the scores of keywords promise no number
    _recognises_sites: bool = field(init=False)  # asked once: checks against a protocol are slow
    _takes_files: bool = field(init=False)

    def __post_init__(self) -> None:
        self._recognises_sites = isinstance(self.scorer, RecognisingScorer)
        self._takes_files = bool(file_kinds(self.scorer))
        self._scores = RevisedScores(self.frontier, RouteYields(self.program))
        if self._recognises_sites and (one_goal := getattr(self.scorer, "one_goal", None)) is not None:
            self._left = GoalsLeft(self.frontier, one_goal=one_goal)
        state, position = self.scorer.start(self.site), self.program.start
        self.frontier.add(QueuedLink(self.site.start, 1.0, kind="start", state=state, position=position))

    # Deciding

    def next_action(self, now: float) -> Action:
        """Return what to do at time `now`, in seconds of any clock that only moves forward."""
        link = self._next_link(self.frontier.best)
        if (reason := self._finished(link)) or link is None:
            return Finished(reason)
        if self._scores.follows_names and not link.position:
            link = self._next_link(self.frontier.best_named) or link
        ready = self.politeness.ready_at(host_of(link.url))
        if ready - now > self.limits.patience_seconds:
            return Finished(f"asked to wait {ready - now:.0f} s")
        if now < ready:
            return Wait(ready)
        self._take(link)
        return Fetch(link)

    def _next_link(self, best: Callable[[], QueuedLink | None]) -> QueuedLink | None:
        """Return the best link whose host is up and whose URL pattern has not been fetched too often."""
        while link := best():
            is_trap = link.attempt == 1 and self._traps.refuses(link.url) is not None
            in_vain = link.first_look is not None and not self.rendering.wants_again(link.url)
            if not is_trap and not in_vain and not self._failures.is_down(link.url):
                return link
            self.frontier.take(link)
        return None

    def _take(self, link: QueuedLink) -> None:
        self.frontier.take(link)
        if link.attempt == 1:
            self._traps.count(link.url)

    def _finished(self, best: QueuedLink | None) -> str:
        """Return why the site is finished, or an empty string."""
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
        if self.goals_left is not None and self.goals_left < limits.min_goals_left and not takes_file:
            return FEW_GOALS_LEFT
        return ""

    @property
    def goals_left(self) -> float | None:
        """The goals that the rest of the budget is expected to find; None if the strategy cannot say, or too early."""
        return self._left.expected if self._left else None

    def _no_links_left(self) -> str:
        if self._failures.site_is_down:
            return f"site does not answer ({self._failures.last})"
        if self._failures.last and not self._digests:
            return f"start page failed ({self._failures.last})"
        return f"{NO_LINKS} ({self._outside.reason})" if self._outside.reason else NO_LINKS

    def read_sitemaps(self, named: Sequence[str]) -> bool:
        """Queue the sitemaps that robots.txt names, or the usual one, and feeds. Return True if that is new."""
        return self._sitemaps.queue(self.frontier, self.site, named)

    # Results

    def tell(
        self,
        link: QueuedLink,
        answer: Fetched | Failed,
        page: Content,
        *,
        now: float,
        at: float,
        archived: ArchiveRef | None = None,
        rendering: Rendering = "",
    ) -> Visit:
        """Take in the result of a fetch and return the visit to save.

        `now` is the clock of `next_action`, `at` seconds since the epoch.
        """
        page = _as_scored(page, self._takes_files)
        reading = self._read(link, answer.outcome, page, rendering)
        visit = _with_browser(self._visit(link, answer, page, reading, at, archived), link, rendering)
        if visit.spent or is_transient(visit) or link.first_look is not None:
            self.politeness.request_ended(host_of(link.url), now, _host_pause(visit, self.politeness))
        self._apply(visit, link, page, reading)
        return visit

    def replay(self, visit: Visit, page: Content) -> None:
        """Take in a saved visit again, to restore the state before a crash."""
        link = self.frontier.waiting(visit.url)
        if link is None:
            # today's rules no longer find this link on the site's pages, but it was followed
            link = QueuedLink.from_visit(visit, self.scorer.start(self.site))
            self.frontier.requeue(link)
        self._take(link)
        page = _as_scored(page, self._takes_files)
        self._apply(visit, link, page, self._read(link, visit.outcome, page, visit.rendering))

    def answer(self, url: str, is_goal: bool) -> None:
        """Take in what a person said about a fetched page: links like the one that led there are rated anew."""
        self._scores.answer(url, is_goal)

    def _read(self, link: QueuedLink, outcome: str, page: Content, rendering: Rendering) -> Reading | None:
        if not isinstance(page, Page) or not _is_read(link, outcome, rendering):
            return None
        return self.scorer.read(link.state, page)

    def _visit(
        self,
        link: QueuedLink,
        answer: Fetched | Failed,
        page: Content,
        reading: Reading | None,
        at: float,
        archived: ArchiveRef | None,
    ) -> Visit:
        digest = page.digest if page else ""
        repeated = bool(digest) and hash(digest) in self._digests
        section = "" if link.depth or reading is None else _goal_section(self.scorer, page)
        goal = 1.0 if section else reading.goal if reading else 0.0
        is_goal = goal >= GOAL_THRESHOLD and not repeated
        least = EXPLAINED_FROM if self._recognises_sites else GOAL_THRESHOLD
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
            goal=goal,
            is_goal=is_goal,
            tier="goal" if is_goal else "",
            spent=answer.sent if isinstance(answer, Failed) else True,
            wait_seconds=answer.wait_seconds,
            location=section or (answer.location if isinstance(answer, Fetched) else ""),
            robots=_robots_rules(page),
            archived=archived,
            why=_reasons(self.scorer, least, link, page, reading) if not repeated else (),
        )

    # The effects of a visit, the same for a new one and for a replayed one

    def _apply(self, visit: Visit, link: QueuedLink, page: Content, reading: Reading | None) -> None:
        self.visits += 1
        self.spent += visit.spent
        self._best_page = max(self._best_page, visit.goal)
        if visit.is_goal:
            self.goals += 1
            self._best_goal = max(self._best_goal, visit.goal)
        if visit.outcome == "redirect":
            self._follow_redirect(visit, link)
        elif _is_content(visit.outcome):
            self._failures.succeeded(visit.url)
            best_link = 0.0
            if visit.outcome == "ok" and isinstance(page, Page):
                if reading is not None:
                    self._look_around(page, reading)
                elif link.region == SITEMAP and self._first is not None:
                    page = replace(page, links=tuple(self._sitemaps.take(page.links)))
                best_link = self._add_links(visit, page, reading or self._first, link)
            self._digests.add(hash(visit.digest))
            self._scores.learn(link, max(visit.goal, CLICK_DISCOUNT * best_link), visit)
        else:
            self._failures.failed(visit)
            if may_retry(visit):
                link.attempt = visit.attempt + 1
                self.frontier.requeue(link)
            self._scores.learn(link, 0.0, visit)
        self.rendering.learn(visit)
        if self._left:
            self._left.learn(visit, self.limits.budget and self.limits.budget - self.spent)

    def _look_around(self, page: Page, reading: Reading) -> None:
        """Take in what a page says about the site: its other names and feeds, on the start page, and other hosts."""
        if not self._digests:
            self._first = reading
            self._sitemaps.feeds, self._sitemaps.guesses = page.feeds, not page.nofollow
            self.site = include_domain(self.site, page.canonical)
        self._sitemaps.pages += 1
        self._outside.count(self.site, page)

    def _add_links(self, visit: Visit, page: Page, reading: Reading | None, source: QueuedLink) -> float:
        """Rate the links of a page that was reached by `source` and queue them; return the best score."""
        depth = visit.depth + 1
        if reading is None or (self.limits.max_depth is not None and depth > self.limits.max_depth):
            return 0.0
        taken = self.frontier.was_taken
        links = [link for link in page.links if not taken(link.url) and not refusal_reason(self.site, link)]
        rated = self.scorer.rate(reading, links)
        if visit.link_region == SITEMAP:
            rated = [replace(rating, score=SITEMAP_SHARE * rating.score) for rating in rated]
        may_be_goal = visit.is_goal or (self._recognises_sites and _is_likely(visit.goal, self._best_page))
        if self.limits.take_files and may_be_goal:
            rated = documents_first(rated, links)
        if self.is_asked_for is not None:
            rated = asked_first(rated, links, self.is_asked_for)
        if visit.rendering == "perhaps":
            score = _worth_of_more(source, links, rated, self.frontier)
            self.frontier.add_second_look(source, visit, score)
        host, position = host_of(self.site.start), source.position
        for link, new in zip(links, rated, strict=True):
            self._add_link(visit, link, new, self.program.advance(position, link, host) if position else ())
        return max((new.score for new in rated), default=0.0)

    def _add_link(self, visit: Visit, link: Link, new: Rated, position: Position) -> None:
        groups = (*new.groups, *position)
        queued = self.frontier.waiting(link.url)
        if queued is None:
            score = self._scores.revised(new.score, groups, position)
            self.frontier.add(QueuedLink(
                link.url, score, text=link.text, region=link.region, kind=link.kind,
                parent=visit.number, depth=visit.depth + 1, state=new.state, groups=groups,
                prior=new.score, named=new.named, position=position,
            ))  # fmt: skip
            return
        # the path learner alone stays as it was measured; the same region of another page is mostly the same menu
        if self._recognises_sites and link.region != queued.region:
            self.frontier.meet_again(queued, new.groups)
        if new.score > queued.prior:
            # the belief belongs to the path that promises most, and so does what is saved of the link
            queued.state, queued.parent = new.state, visit.number
            queued.text, queued.region, queued.kind = link.text, link.region, link.kind
        queued.prior = self.scorer.combine(queued.prior, new.score)
        self.frontier.name(queued, new.named)
        if position and not queued.position:
            queued.position = position
            self.frontier.join(queued, position)
        self._scores.rescore(queued)

    def _follow_redirect(self, visit: Visit, link: QueuedLink) -> None:
        target = visit.location
        self._failures.succeeded(visit.url)
        if link.redirects >= MAX_REDIRECTS:
            self._failures.last = "redirect_limit"
        elif self.site.covers(target) or (target and not self._digests):
            self.site = include_domain(self.site, target)  # the start page redirects: the site has moved
            if not self.frontier.add_target(target, link, visit):
                self._failures.last = "redirect loop"
        else:
            self._failures.last = "redirected out of the site"


def _as_scored(page: Content, takes_files: bool) -> Content:
    """Return a document as a page, for scorers to which documents can be goals."""
    return (to_page(page) or page) if takes_files else page


def _worth_of_more(
    source: QueuedLink, links: Sequence[Link], rated: Sequence[Rated], frontier: Frontier
) -> float:
    """Return the score of a second look at a page: that of the links it has, which come first.

    So a browser is started when nothing better is left to fetch, and not for lists whose first entries use up the
    budget. A page with hardly any new links is worth as much as it was thought to be.
    """
    new_scores = [new.score for link, new in zip(links, rated, strict=True) if link.url not in frontier]
    if len(new_scores) <= FEW_LINKS:
        return source.score
    return MORE_OF_A_LIST * sum(new_scores) / len(new_scores)


def _is_read(link: QueuedLink, outcome: str, rendering: Rendering) -> bool:
    """Return False where there is nothing to read: nobody reads sitemaps, nor a page again that has not changed."""
    if not _is_content(outcome) or link.region == SITEMAP:
        return False
    return link.first_look is None or rendering == "rendered"


def _with_browser(visit: Visit, link: QueuedLink, rendering: Rendering) -> Visit:
    """Return a visit with the part of a browser in it.

    A second look costs no request, and a goal is not found twice.
    """
    visit = replace(visit, rendering=rendering) if rendering else visit
    if link.first_look is None:
        return visit
    if visit.outcome == "duplicate" and rendering == "rendered":
        visit = replace(visit, outcome="ok")  # the same words, with more links
    if link.first_look.is_goal:
        visit = replace(visit, is_goal=False, tier="")
    return replace(visit, spent=False)


def _host_pause(visit: Visit, politeness: Politeness) -> float:
    """Return the pause before the next request: a failing host gets more after every try, unasked."""
    if not is_transient(visit):
        return visit.wait_seconds
    return max(visit.wait_seconds, politeness.delay_seconds * backoff_factor(visit.url, visit.attempt))


def _goal_section(scorer: Scorer, page: Content) -> str:
    """Return the address of the part of a start page that a goal pattern names; empty if the page itself matches."""
    pattern = getattr(scorer, "goal", None)
    if not isinstance(pattern, GoalPattern) or not isinstance(page, Page) or pattern.probability(page):
        return ""
    fragment = pattern.section(page)
    return f"{page.url}#{fragment}" if fragment else ""


def _is_likely(probability: float, best: float) -> bool:
    """Return True for a page that is nearly as likely a goal as the best so far. After few lessons none may reach one
    half."""
    return probability >= max(LIKELY_FROM, LIKELY_SHARE * best)


def _reasons(
    scorer: Scorer, least: float, link: QueuedLink, page: Content, reading: Reading | None
) -> tuple[Reason, ...]:
    """Return the reasons for a page that is a goal by at least this probability."""
    if reading is None or reading.goal < least or not isinstance(page, Page):
        return ()
    return why_page(scorer, link.state, page)


def _robots_rules(page: Content) -> str:
    rules = {"noindex": page and page.noindex, "nofollow": isinstance(page, Page) and page.nofollow}
    return " ".join(rule for rule, is_set in rules.items() if is_set)


def _title(page: Page, link: QueuedLink) -> str:
    """Return the title; a document has none that is read, so it gets the text of the link to it."""
    return " ".join(link.text.split()) if page.is_document else page.title


def _is_content(outcome: str) -> bool:
    return outcome in ("ok", "duplicate")

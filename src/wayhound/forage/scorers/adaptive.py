"""The strategy `adaptive`: a path learner with a prior of web concepts, and goals recognised by three models.

The path learner rates links by the path to them. Beside it is a prior: concepts that the taught links named, in any
language; where these do not name the goals, links that are named like the taught goals. A link in a menu is met on
every page; its path scores are averaged over these pages, where the path learner takes the best. Three models judge
each page, and the outcomes revise the scores of links in the same list (`frontier.GroupMeans`). `report` returns the
goals at any time.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from wayhound.errors import UsageError
from wayhound.forage.scorer import FoundPage, Rated, Reading, Reason, SiteReport, State, StrategyInput
from wayhound.forage.scorers.path_learner import PathLearner, checked_model
from wayhound.learn.odds import log_odds
from wayhound.media import PAGE
from wayhound.page import Link, Page
from wayhound.paths.model import ADAPTIVE_STRATEGY, AdaptiveModel
from wayhound.paths.page_names import link_names, page_names
from wayhound.paths.site_recognition import (
    NAMED_LESSON,
    NO_ANSWERS,
    QUESTIONS_A_SITE,
    Answers,
    PageEvidence,
    SiteRecogniser,
    next_question,
)
from wayhound.paths.trait_model import link_concepts
from wayhound.paths.traits import (
    MENU_WORDS,
    ON_MATCHING_PAGE,
    Keywords,
    ReachedPage,
    SourcePage,
    Traits,
    page_template,
    shared_file_name,
    url_shape,
    without_language,
)
from wayhound.site import Site

PRIOR_SHARE = 0.5  # of a link's score, if the lesson switched concepts on or the user gave keywords
FEW_GOALS, PRIOR_GOALS = 9, 20  # each goal shown beyond the few ones counts against a prior of so many
PRIOR_SHARE_OF_ONE_SITE = 0.3  # the same after one taught site: its concepts may be chance
# Weight of the mean score over all pages that have a link to the same target; the rest is that of the best of them.
MEAN_SHARE = 0.25
ENTRY_FACTOR = 2.0  # by which the name of a page recommends links into its own folder more than others
GOAL_PROBABILITY = 0.5  # of a page whose folder is taken for its own
_ROOT_SLASHES = 3  # of the folder of a whole site
_NUMBERED = re.compile(r"([a-z]{2,})[-_]?\d")
_EPSILON = 1e-6  # keeps probabilities away from 0 and 1, so that their log odds are finite
_FILE = re.compile(
    r"\.(?:ps|eps|dvi|pdf|gz|z|zip|tar|tgz|jpe?g|gif|png|bmp|tiff?|svg|webp|mp3|mp4|avi|mpe?g|wav|au|docx?|xlsx?|pptx?|bib)$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _BeforePage:
    """The path learner's state before a page, the link to it, and the page that the link is on."""

    path: State
    link: Link | None = None
    source: SourcePage | None = None
    depth: int = 0

    def reached(self, page: Page) -> ReachedPage:
        return ReachedPage(page, self.depth, self.link, self.source)


@dataclass(frozen=True, slots=True)
class _AfterPage:
    """The path learner's reading of a page, and what its links share."""

    path: Reading
    source: SourcePage
    depth: int
    prior: float = 0.0  # the least prior of its links, by the concepts that its name has
    keywords: float = 0.0  # how well its name matches the user's keywords
    folder: str = ""  # of the page, if it is a part of the site


@lru_cache(maxsize=1 << 15)
def _numbered_name(url: str) -> str:
    """Return the word before a number in the last part of a URL's path: all of `cs372/` and `cs304p.html` are courses.

    It is empty if the part does not begin with a word of at least two letters and a number.
    """
    name = _NUMBERED.match(url.partition("?")[0].rstrip("/").rpartition("/")[2].lower())
    return f"{name[1]}9" if name else ""


def _folder_of(url: str) -> str:
    """Return the folder that a page is in; empty if that is the whole site."""
    folder = url.partition("?")[0].rpartition("/")[0] + "/"
    return folder if folder.count("/") > _ROOT_SLASHES else ""


class PageGroups:
    """The groups of the links on one page, by its URL; of links without regard to URLs if that is empty.

    The links of a list share one tuple: hundreds of thousands of links wait on a large site, and each new object makes
    the garbage collector look at all of them sooner.
    """

    def __init__(self, url: str, *, is_goal: bool) -> None:
        self._shape = url_shape(url) if url else ""
        self._goal_folder = _folder_of(url) if is_goal else ""
        self._known: dict[tuple[str, str, str, bool], tuple[Hashable, ...]] = {}

    def groups(self, link: Link, lists: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
        """Return the groups of a link in these lists, widest first.

        They are the shape of its URL all over the site, its region on all pages of one shape, files of its name, or
        numbered like it, in all folders, and its list. The links of a start page are sections, so that one says nothing
        about the next, unless they share a folder. Homework is in the folder of its course: what is below goals has one
        group, whatever the shape, because goals have that shape too.
        """
        if not self._shape:
            return lists
        below = bool(self._goal_folder) and link.url.startswith(self._goal_folder)
        name = shared_file_name(link.url) or _numbered_name(link.url)
        key = url_shape(link.url), link.region, name, below
        if key not in self._known:
            shape, region, _, _ = key
            wide: tuple[Hashable, ...] = (("shape", shape),) if lists or shape.count("/") > 1 else ()
            if below:
                wide = (("below goals",),)
            named = (("file", name),) if name else ()
            self._known[key] = (*wide, ("alike", self._shape, region), *named, *lists) if lists else wide
        return self._known[key]


@dataclass
class Adaptive:
    """Scores the links of one site and recognises its goals.

    `keywords` are the user's. Without any, the strongest concepts that several taught sites share take their place.
    """

    model: AdaptiveModel
    keywords: Keywords = field(default_factory=lambda: Keywords((), frozenset()))
    recogniser: SiteRecogniser = field(init=False)
    path_learner: PathLearner = field(init=False)
    prior_share: float = field(default=PRIOR_SHARE_OF_ONE_SITE, init=False)  # of a link's score
    # alone, where scores find no goal; one site's concepts may be chance, and after many goals the path knows better
    trusts_names: bool = field(init=False)
    # where the lexicon does not name the goals, links named like the taught ones are recommended
    follows_like_names: bool = field(init=False)
    # by URL: the sum of its scores over pages, their number, and the highest
    _link_scores: dict[str, tuple[float, int, float]] = field(default_factory=dict, init=False)
    _trait_numbers: dict[str, int] = field(default_factory=dict, init=False)
    _template_numbers: dict[tuple[str, ...], int] = field(default_factory=dict, init=False)
    _last: tuple[ReachedPage, Traits] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.path_learner = PathLearner(self.model)
        if self.model.lesson.sites > 1:
            more = 0 if self.keywords else max(self.model.lesson.goals - FEW_GOALS, 0)
            self.prior_share = PRIOR_SHARE * PRIOR_GOALS / (PRIOR_GOALS + more)
            strongest = Keywords.from_words(self.model.prior.strongest(), use_urls=self.model.use_urls)
            self.keywords = self.keywords or strongest
        self.trusts_names = self.prior_share >= PRIOR_SHARE / 2 and (
            self.model.lesson.sites > 1 or bool(self.keywords)
        )
        lesson = self.model.lesson
        self.follows_like_names = lesson.named < NAMED_LESSON and lesson.name_trust > 0
        self.recogniser = SiteRecogniser(lesson)

    @property
    def file_kinds(self) -> tuple[str, ...]:
        return self.path_learner.file_kinds

    @property
    def one_goal(self) -> bool:
        """True if every site is expected to have one goal at most."""
        return self.model.lesson.one_goal

    def start(self, site: Site) -> State:
        return _BeforePage(self.path_learner.start(site))

    def read(self, state: State, page: Page) -> Reading:
        reading = self.path_learner.read(state.path, page)
        probability = 0.0
        if page.kind in self.model.goal_kinds:  # where files were taught, a page cannot be the goal
            probability = self.recogniser.add(self._evidence(state.reached(page), reading.goal))
        source = SourcePage.from_page(page, use_urls=self.model.use_urls)
        match = self.keywords.in_name(page) if self.keywords else 0.0
        # the start page is named after the whole site, and links to all of it
        prior = ON_MATCHING_PAGE * self.model.prior.score(source.concepts) if state.depth else 0.0
        folder = _folder_of(page.url) if self.model.use_urls and state.depth else ""
        after = _AfterPage(reading, source, state.depth, prior, match, folder)
        return Reading(after, reading.label, probability)

    def _evidence(self, reached: ReachedPage, path_probability: float) -> PageEvidence:
        traits = self._traits(reached)
        parent, region = reached.list_key
        numbers = {name: self._trait_numbers.setdefault(name, len(self._trait_numbers)) for name in traits}
        template = page_template(reached.page)
        return PageEvidence(
            url=reached.page.url,
            parent=parent,
            region=region,
            template=self._template_numbers.setdefault(template, len(self._template_numbers)),
            shape=url_shape(reached.page.url) if self.model.use_urls else "",
            odds=(
                log_odds(path_probability, _EPSILON),
                self.model.from_trails.log_odds(traits),
                self.model.from_sites.log_odds(traits),
            ),
            twin=without_language(reached.page.url) if self.model.use_urls else "",
            is_start=reached.link is None,
            named=self.model.prior.named(traits),
            likeness=self.model.names.match(page_names(reached, use_urls=self.model.use_urls)),
            # arrays: as tuples they were most of the memory of a large site
            words=array("l", (numbers[name] for name in traits if name[0] not in "#@")),
            traits=array("l", (numbers[name] for name in traits if name[0] in "#@")),
            values=array("d", (value for name, value in traits.items() if name[0] in "#@")),
        )

    def _traits(self, reached: ReachedPage) -> Traits:
        """Return the traits of a page; those of the page that was read last are kept, to explain it."""
        if self._last is None or self._last[0].page is not reached.page or self._last[0].link != reached.link:
            self._last = reached, reached.traits(use_urls=self.model.use_urls)
        return self._last[1]

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]:
        after: _AfterPage = reading.state
        by_path = self.path_learner.rate(after.path, links)
        useless = [self._is_useless_file(link) for link in links]
        named = [
            0.0 if skipped else self._named(link, after) for link, skipped in zip(links, useless, strict=True)
        ]
        has_prior = self.model.prior.weights or self.keywords or self.follows_like_names
        share = self.prior_share if has_prior else 0.0
        scores = [
            0.0 if skipped else (1 - share) * rated.score + share * own
            for rated, own, skipped in zip(by_path, named, useless, strict=True)
        ]
        url, depth = after.source.url if self.model.use_urls else "", after.depth + 1
        known = PageGroups(url, is_goal=reading.goal >= GOAL_PROBABILITY)
        return [
            Rated(
                score,
                _BeforePage(rated.state, link, after.source, depth),
                known.groups(link, rated.groups),
                own if self.trusts_names else 0.0,
            )
            for link, rated, score, own in zip(
                links, by_path, self._over_pages(links, scores), named, strict=True
            )
        ]

    def _named(self, link: Link, after: _AfterPage) -> float:
        """Return how far names recommend a link, in [0, 1]: by the lesson's concepts, by keywords, or by likeness.

        On a page that is named like a goal or like a list of goals, every link is recommended: it may be an entry. More
        so in the folder of the page: `members/ada/` is an entry of `members/`, and menus lead elsewhere.
        """
        concepts = keywords = 0.0
        share = ENTRY_FACTOR if after.folder and link.url.startswith(after.folder) else 1.0
        if self.model.prior.weights:
            own = self.model.prior.score(link_concepts(link, use_urls=self.model.use_urls))
            brevity = min(1.0, MENU_WORDS / max(len(link.text.split()), 1)) if own else 0.0
            concepts = max(own * brevity, share * after.prior)
        if self.keywords:
            keywords = self.keywords.in_link(link, share * after.keywords)
        return max(concepts, keywords, self._like_goals(link))

    def _like_goals(self, link: Link) -> float:
        """Return how far a link is named like the taught goals, in [0, 1]; 0 if other taught pages are more like it."""
        if not self.follows_like_names:
            return 0.0
        match = self.model.names.match(link_names(link, use_urls=self.model.use_urls))
        return self.model.lesson.name_trust * match.goals if match.contrast > 0 else 0.0

    def _is_useless_file(self, link: Link) -> bool:
        """Return True for a link to a file where only pages are goals: a file has no links either."""
        return self.model.goal_kinds == (PAGE,) and _FILE.search(link.url.partition("?")[0]) is not None

    def _over_pages(self, links: Sequence[Link], scores: Sequence[float]) -> list[float]:
        """Return scores over all pages that have a link to the same target; a page counts once, by its best link.

        The best of many scores is mostly an overrated one, and a link in a menu has as many as there are pages.
        """
        best: dict[str, float] = {}
        for link, score in zip(links, scores, strict=True):
            best[link.url] = max(best.get(link.url, 0.0), score)
        for url, score in best.items():
            total, count, highest = self._link_scores.get(url, (0.0, 0, 0.0))
            self._link_scores[url] = (total + score, count + 1, max(highest, score))
        known = [self._link_scores[link.url] for link in links]
        return [MEAN_SHARE * total / count + (1 - MEAN_SHARE) * highest for total, count, highest in known]

    def combine(self, known: float, new: float) -> float:  # noqa: ARG002 - `rate` has combined them
        return new

    def report(
        self,
        threshold: float | None = None,
        max_doubt: float | None = None,
        answers: Answers = NO_ANSWERS,
    ) -> SiteReport:
        """Return the goals and the likely goals among the pages read so far (`SiteRecogniser.ranked`)."""
        ranked = self.recogniser.ranked(threshold, max_doubt, answers)
        pages = [
            FoundPage(self.recogniser.pages[number].url, probability)
            for number, probability in zip(ranked.order, ranked.probabilities, strict=True)
        ]
        end = ranked.goals + ranked.likely
        return SiteReport(
            tuple(pages[: ranked.goals]), tuple(pages[ranked.goals : end]), ranked.none_probability
        )

    def next_question(self, answers: Answers = NO_ANSWERS, most: int = QUESTIONS_A_SITE) -> FoundPage | None:
        """Return the page that a person should be asked about next, or None if no more should be asked."""
        question = next_question(self.recogniser, answers, most)
        return FoundPage(question.url, question.probability) if question else None

    def why_page(self, state: State, page: Page) -> list[Reason]:
        """Return the traits of a page by what each adds to the log odds of a goal, the strongest first."""
        traits = self._traits(state.reached(page))
        weights = self.model.from_sites.weights
        reasons = [(name, weights[name] * value) for name, value in traits.items() if name in weights]
        return sorted(reasons, key=lambda reason: (-abs(reason[1]), reason[0]))

    def why_link(self, reading: Reading, link: Link) -> list[Reason]:
        """Return the concepts of a link that the lesson switched on, its likeness, then tokens by the path learner."""
        weights = self.model.prior.link_weights
        named = sorted(link_concepts(link, use_urls=self.model.use_urls) & weights.keys())
        concepts = [(f"@link {name}", self.prior_share * weights[name]) for name in named]
        if like := self._like_goals(link):
            concepts.append(("@like goals", self.prior_share * like))
        return [*concepts, *self.path_learner.why_link(reading.state.path, link)]

    def expected(self, state: State) -> tuple[str, float]:
        return self.path_learner.expected(state.path)

    def follows_paths(self, state: State) -> bool:
        return self.path_learner.follows_paths(state.path)


def make_adaptive(strategy_input: StrategyInput) -> Adaptive:
    """Return the scorer. Raises UsageError without a model, or with another strategy's."""
    model = checked_model(ADAPTIVE_STRATEGY, strategy_input)
    if not isinstance(model, AdaptiveModel):
        raise UsageError("The strategy adaptive needs a model of its own: train one for it.")
    return Adaptive(model, Keywords.from_words(strategy_input.keywords, use_urls=model.use_urls))

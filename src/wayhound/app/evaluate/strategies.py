"""The strategies that an evaluation compares, each made from a lesson: trails, or whole recorded sites."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import accumulate
from time import process_time
from typing import Literal

import numpy as np

from wayhound.app.evaluate.lessons import LessonSize, draw_trails, make_trails
from wayhound.app.evaluate.world import World, explore, walk
from wayhound.forage.forager import ForageLimits
from wayhound.forage.scorer import Rated, Reading, Scorer, State, StrategyInput
from wayhound.forage.scorers import SCORERS
from wayhound.forage.scorers.adaptive import Adaptive
from wayhound.forage.scorers.hops import TargetSimilarity
from wayhound.forage.scorers.q_spider import QSpider
from wayhound.learn.arrays import Floats, TokenVocabulary
from wayhound.learn.logistic import LogisticRegression
from wayhound.page import Link, Page
from wayhound.paths.features import PageContext, link_tokens
from wayhound.paths.hops import CRF_STRATEGY as HOP_CRF_STRATEGY
from wayhound.paths.hops import HMM_STRATEGY, HopModel
from wayhound.paths.model import ADAPTIVE_STRATEGY, CRF_STRATEGY, ForageModel
from wayhound.paths.q_model import FOCUSED as Q_FOCUSED
from wayhound.paths.q_model import PAPER as Q_PAPER
from wayhound.paths.q_model import Q_STRATEGY, TUNED, QSettings, count_site, fit_q_model
from wayhound.paths.rollout import RecordedSite
from wayhound.paths.settings import LITERAL, PathSettings
from wayhound.paths.spiders import SPIDERS, Material, Settings, TrainedModel, train_strategy
from wayhound.paths.trainers import TRAINERS, of_sites_with_goals, train_adaptive
from wayhound.site import Site
from wayhound.trail import Trail

Taught = Literal["trails", "graphs"]


@dataclass(frozen=True)
class Lesson:
    """The teaching material of a strategy before it is tested on another site: trails, or whole sites."""

    worlds: Sequence[World]
    goal: str
    trails_a_site: int
    taught: Taught = "trails"
    size: LessonSize | None = None  # with a size, trails are drawn at random
    seed: tuple[int, ...] = (0,)
    use_urls: bool = True  # whether `adaptive` may take traits and concepts from URLs
    complete: bool = False  # whether a person lists all goals among the pages seen of the taught sites
    ignored: frozenset[str] = frozenset()  # concepts of the lexicon that `adaptive` must do without
    answers: tuple[Trail, ...] = ()  # that `adaptive` has learned from on sites tested before
    _models: dict[tuple[str, Settings | None], TrainedModel] = field(default_factory=dict, compare=False)
    training_seconds: dict[tuple[str, Settings | None], float] = field(default_factory=dict, compare=False)
    _classifiers: dict[str, LinkClassifier] = field(default_factory=dict, compare=False)

    @cached_property
    def trails(self) -> list[Trail]:
        """The trails of all sites; of whole sites, one to every goal and as many that end elsewhere."""
        if self.size is not None:
            size = self.size
            return [
                trail for world in self.worlds for trail in draw_trails(world, self.goal, size, self.seed)
            ]
        return [
            trail
            for world in self.worlds
            for trail in make_trails(
                world, self.goal, len(world.depths) if self.taught == "graphs" else self.trails_a_site
            )
        ]

    def model(self, strategy: str, settings: Settings | None) -> TrainedModel:
        """Return the model of a strategy, trained once however many sites are tested with it.

        Without settings, they are tuned on the sites of the lesson.
        """
        key = strategy, settings
        if key not in self._models:
            began = process_time()
            self._models[key] = self._train(strategy, settings)
            self.training_seconds[strategy, settings] = process_time() - began
        return self._models[key]

    def classifier(self, train: ClassifierTrainer) -> LinkClassifier:
        """Return the link classifier of a trainer, trained once however many sites are tested with it."""
        name = train.__name__
        if name not in self._classifiers:
            self._classifiers[name] = train(self.worlds, self.goal)
        return self._classifiers[name]

    def _train(self, strategy: str, settings: Settings | None) -> TrainedModel:
        if strategy == ADAPTIVE_STRATEGY:
            assert isinstance(settings, PathSettings)
            return _train_adaptive(self, settings)
        whole = strategy == Q_STRATEGY or self.taught == "graphs"
        sites = [world.recorded(self.goal) for world in self.worlds] if whole and strategy in SPIDERS else []
        # `q-spider` needs no trails, and those to every goal of whole sites take long to make
        trails = [] if strategy == Q_STRATEGY else self.trails
        return train_strategy(strategy, Material(trails, sites), settings or tune_q_spider(sites))


HELD_OUT_SITES = 3  # the largest, since small ones tell little about order
HELD_OUT_PAGES = 400  # of each, fetched for every choice of settings
HELD_OUT_SHARES = (10, 25, 75)  # per cent of the goals: the early stage counts more
MOST_TUNED_PAGES = 10_000  # of all sites; beyond, tuning would take longer than all the rest


def tune_q_spider(sites: Sequence[RecordedSite]) -> QSettings:
    """Return the settings that need the fewest pages on the largest sites, each held out in turn.

    With one site there is none to hold out, and the default settings are returned; so are they for very large sites.
    """
    with_goals = [site for site in sites if site.goals]
    held_out = sorted(with_goals, key=lambda site: -len(site.pages))[:HELD_OUT_SITES]
    if len(with_goals) < 2 or sum(len(site.pages) for site in with_goals) > MOST_TUNED_PAGES:
        return QSettings()
    return min(TUNED, key=lambda settings: _log_pages_needed(with_goals, held_out, settings))


def _log_pages_needed(
    sites: Sequence[RecordedSite], held_out: Sequence[RecordedSite], settings: QSettings
) -> float:
    """Return the sum of the logarithms of the pages needed, which orders settings as their geometric means do."""
    counted = {site.name: count_site(site, settings) for site in sites}
    total = 0.0
    for site in held_out:
        model = fit_q_model([counts for name, counts in counted.items() if name != site.name], settings)
        world = World.from_recorded(site)
        urls = walk(world, QSpider(model), limits=ForageLimits(budget=HELD_OUT_PAGES)).urls
        total += sum(math.log(_pages_to_share(site, urls, share)) for share in HELD_OUT_SHARES)
    return total


def _pages_to_share(site: RecordedSite, urls: Sequence[str], share: float) -> int:
    found = accumulate(url in site.goals for url in urls)
    wanted = math.ceil(len(site.goals) * share / 100)
    return next((page for page, goals in enumerate(found, start=1) if goals >= wanted), len(site.pages))


EXPLORED_PAGES = 60  # of each taught site, fetched after teaching without a label


def _train_adaptive(lesson: Lesson, settings: PathSettings) -> ForageModel:
    """Train twice: a first model explores the taught sites, and its pages are the unlabelled ones of the second."""
    train = partial(train_adaptive, use_urls=lesson.use_urls, ignored=lesson.ignored)
    with_goals = of_sites_with_goals(lesson.trails)
    path = TRAINERS[CRF_STRATEGY](with_goals, settings)
    first = train(lesson.trails, settings, path=path)
    taught = {trail.site for trail in with_goals}
    unlabelled = {
        world.site.start: explore(world, Adaptive(first), EXPLORED_PAGES, use_urls=lesson.use_urls)
        for world in lesson.worlds
        if world.site.start in taught
    }
    goals = (
        {world.site.start: world.goals(lesson.goal) for world in lesson.worlds} if lesson.complete else None
    )
    trails = [*lesson.trails, *lesson.answers]
    return train(trails, settings, unlabelled, complete=goals, path=None if lesson.answers else path)


LinkFeatures = Callable[[Link, PageContext], frozenset[str]]


@dataclass(frozen=True)
class LinkClassifier:
    """Scores every link by itself, without the path: the simple baselines that a path model must beat.

    Classes are clicks left to a goal; a link's score is the expected value of its class.
    """

    vocabulary: TokenVocabulary
    classifier: LogisticRegression
    values: Floats  # (classes,)
    features: LinkFeatures = link_tokens

    def start(self, site: Site) -> State:  # noqa: ARG002
        return None

    def read(self, state: State, page: Page) -> Reading:  # noqa: ARG002
        return Reading(PageContext.from_page(page))

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]:
        if not links:
            return []
        rows = self.vocabulary.rows([self.features(link, reading.state) for link in links])
        return [Rated(float(score)) for score in self.classifier.probabilities(rows) @ self.values]

    def combine(self, current: float, new: float) -> float:
        return max(current, new)


ClassifierTrainer = Callable[[Sequence[World], str], LinkClassifier]
"""A trainer by whole sites and the label of their goals."""

_DISCOUNT = 0.5
_MAX_CLICKS = 3  # the classes are 0, 1, 2, and 3 or more clicks


def train_levels(worlds: Sequence[World], goal: str) -> LinkClassifier:
    """Train a classifier of links by clicks left to a goal, each click halving the value."""
    values = [_DISCOUNT**clicks for clicks in range(_MAX_CLICKS)]
    return _train_classifier(worlds, goal, values, link_tokens)


def train_url_only(worlds: Sequence[World], goal: str) -> LinkClassifier:
    """Train a classifier of goals by the characters of the URL."""
    return _train_classifier(worlds, goal, [1.0], _url_ngrams)


def _url_ngrams(link: Link, context: PageContext) -> frozenset[str]:  # noqa: ARG001
    """Return runs of three to five characters of the URL after the host."""
    path = link.url.split("/", 3)[-1].lower()
    return frozenset(path[at : at + size] for size in (3, 4, 5) for at in range(max(len(path) - size + 1, 1)))


def _train_classifier(
    worlds: Sequence[World], goal: str, values: Sequence[float], features: LinkFeatures
) -> LinkClassifier:
    samples = [sample for world in worlds for sample in _links(world, goal, len(values), features)]
    sets = [tokens for tokens, _, _ in samples]
    vocabulary = TokenVocabulary(min(2, len(worlds))).fit(sets, [name for _, _, name in samples])
    classes = np.array([clicks for _, clicks, _ in samples])
    classifier = LogisticRegression(len(values) + 1, prior_variance=1.0).fit(vocabulary.rows(sets), classes)
    return LinkClassifier(vocabulary, classifier, np.array([*values, 0.0]), features)


def _links(
    world: World, goal: str, max_clicks: int, features: LinkFeatures
) -> Iterator[tuple[frozenset[str], int, str]]:
    """Yield the tokens of each link, the clicks left behind it, and the site."""
    clicks = world.clicks_to_nearest(world.reachable_goals(goal))
    for url in world.depths:
        context = PageContext.from_page(world.pages[url])
        for link in world.pages[url].links:
            left = min(clicks.get(link.url, max_clicks), max_clicks)
            yield features(link, context), left, world.name


def _untaught(name: str) -> Callable[[Lesson], Scorer]:
    return lambda _: SCORERS[name](StrategyInput())


def _best_first(lesson: Lesson) -> Scorer:
    """Compare with the goal pages of the lesson; documents have no words, so with the pages before them."""
    paths = ([step.page for step in trail.steps] for trail in lesson.trails if trail.reached_goal)
    goals = [next((page for page in reversed(path) if not page.is_document), path[-1]) for path in paths]
    return SCORERS["best-first"](StrategyInput(examples=tuple(goals)))


def _target_similarity(lesson: Lesson) -> Scorer:
    """Compare with the useful pages of the lesson in the latent space of `hop-hmm`."""
    model = lesson.model(HMM_STRATEGY, SPIDERS[HMM_STRATEGY])
    assert isinstance(model, HopModel)
    return TargetSimilarity(model.space)


def _taught(name: str, settings: Settings | None) -> Callable[[Lesson], Scorer]:
    return lambda lesson: SCORERS[name](StrategyInput(model=lesson.model(name, settings)))


STRATEGIES: dict[str, Callable[[Lesson], Scorer]] = {
    ADAPTIVE_STRATEGY: _taught(ADAPTIVE_STRATEGY, PathSettings()),
    "best-first": _best_first,
    "best-first-lsi": _target_similarity,
    "breadth-first": _untaught("breadth-first"),
    "focused": _taught("focused", PathSettings()),
    HMM_STRATEGY: _taught(HMM_STRATEGY, SPIDERS[HMM_STRATEGY]),
    HOP_CRF_STRATEGY: _taught(HOP_CRF_STRATEGY, SPIDERS[HOP_CRF_STRATEGY]),
    "levels": lambda lesson: lesson.classifier(train_levels),
    "maxent": _taught("maxent", PathSettings()),
    "naive-bayes": _taught("naive-bayes", PathSettings()),
    "path-learner": _taught("path-learner", PathSettings()),
    "path-learner-10-words": _taught("path-learner", PathSettings(body_tokens=10)),  # Fig. 6 of its paper
    "path-learner-literal": _taught("path-learner", LITERAL),
    "q-focused": _taught(Q_STRATEGY, Q_FOCUSED),
    "q-future": _taught(Q_STRATEGY, None),
    "q-paper": _taught(Q_STRATEGY, Q_PAPER),
    "random": _untaught("random"),
    "url-only": lambda lesson: lesson.classifier(train_url_only),
}
ORACLE = "oracle"
RECOGNISING_STRATEGIES = frozenset(
    {ADAPTIVE_STRATEGY, "focused", HMM_STRATEGY, HOP_CRF_STRATEGY, "maxent", "naive-bayes", "path-learner",
     "path-learner-10-words", "path-learner-literal", "q-focused", "q-future", "q-paper"}
)  # fmt: skip
"""The strategies that recognise goals; the others only rate links."""
_FROM_GRAPHS = frozenset(
    {"levels", "q-focused", "q-future", "q-paper", "url-only"}
)  # they need the distance of every page to a goal


def taught_from(strategy: str, requested: Taught) -> Taught:
    """Return what a strategy is really taught from: some can only learn from graphs."""
    return "graphs" if strategy in _FROM_GRAPHS else requested

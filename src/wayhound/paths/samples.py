"""What a link to a page of each label is worth: two answers (section 3.1 of Vydiswaran & Sarawagi, 2005)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from wayhound.errors import TeachingError
from wayhound.learn.chain import Floats
from wayhound.learn.vocabulary import TokenVocabulary
from wayhound.page import Link, Page
from wayhound.paths.features import PageContext, link_tokens, page_tokens, trust
from wayhound.paths.settings import PathSettings
from wayhound.paths.taught_site import TaughtSite
from wayhound.trail import FAIL, GOAL, Step, Trail

LINK_WEIGHT = 1.0  # of a taught link, counted with the path that led to it
PAGE_WEIGHT = 0.3  # of a trail's last page
CROSS_WEIGHT = 0.5  # of a link between taught pages that no trail took
LEFT_WEIGHT = 1.0  # of all links together that were left on one page
MOST_LEFT = 8  # of a page's links that are learned from, taken from all parts of it


@dataclass(frozen=True, slots=True)
class PathSample:
    """A path: page, link, page, … with the label of each; a link's label is that of the page behind it.

    `worth` is what was behind its last link, if it ends in one; `weight` how much it counts.
    """

    site: str
    tokens: tuple[frozenset[str], ...]
    labels: tuple[str, ...]
    weight: float = 1.0
    worth: float = 0.0

    @property
    def ends_in_link(self) -> bool:
        return len(self.tokens) % 2 == 0


@dataclass
class SampleMaker:
    """Makes samples by the settings. The same pages and links come on many paths, so their tokens are kept."""

    settings: PathSettings
    _around: dict[str, PageContext] = field(default_factory=dict)
    _pages: dict[tuple[str, int], frozenset[str]] = field(default_factory=dict)
    _steps: dict[tuple[str, Link], frozenset[str]] = field(default_factory=dict)

    def of(self, trails: Sequence[Trail]) -> list[PathSample]:
        """All that these trails teach. Sites count by the root of what they teach, lest a large one drown
        the others; whole trails count once each (2.3)."""
        if not any(trail.reached_goal for trail in trails):
            raise TeachingError("No trail ends at a goal, so there is nothing to look for.")
        by_site = [(TaughtSite.of(own, self.settings.states), own) for own in trails_by_site(trails).values()]
        if self.settings.lessons == "trails":
            return [self.path(site, trail.steps, 1.0) for site, own in by_site for trail in own]
        samples = [list(self._links(site, own)) for site, own in by_site]
        return _balanced(samples)

    def _links(self, site: TaughtSite, trails: Sequence[Trail]) -> Iterator[PathSample]:
        taken = set()
        for trail in trails:
            for number, step in enumerate(trail.steps):
                way = trail.steps[:number]
                if step.link is not None:
                    taken.add((way[-1].page.url, step.page.url))
                    yield self._to_taught(site, way, step.link, LINK_WEIGHT)
            yield self.path(site, trail.steps, PAGE_WEIGHT)
        for url, way in site.ways.items():
            for link in site.taught_links(url):
                if (url, link.url) not in taken:
                    taken.add((url, link.url))
                    yield self._to_taught(site, way, link, CROSS_WEIGHT)
            yield from self._left(site, url)

    def _left(self, site: TaughtSite, url: str) -> Iterator[PathSample]:
        """Links that a teacher saw and passed by count as wrong ways, but little each: nobody has said so."""
        left = site.links_left(url)
        if len(left) > MOST_LEFT:
            left = [left[number * len(left) // MOST_LEFT] for number in range(MOST_LEFT)]
        for link in left:
            yield self._to_link(site, site.ways[url], link, FAIL, LEFT_WEIGHT / len(left))

    def path(self, site: TaughtSite, way: Sequence[Step], weight: float) -> PathSample:
        """A whole trail, or the beginning of one, up to a page."""
        tokens, labels = [], []
        for depth, (step, label) in enumerate(zip(way, site.states_along(way), strict=True)):
            if step.link is not None:
                tokens.append(self._link(way[depth - 1], step.link))
                labels.append(label)
            tokens.append(self._page(step, depth))
            labels.append(label)
        return PathSample(site.start, tuple(tokens), tuple(labels), weight)

    def _to_taught(self, site: TaughtSite, way: Sequence[Step], link: Link, weight: float) -> PathSample:
        return self._to_link(site, way, link, site.state(link.url), weight)

    def _to_link(
        self, site: TaughtSite, way: Sequence[Step], link: Link, label: str, weight: float
    ) -> PathSample:
        before = self.path(site, way, weight)
        tokens = (*before.tokens, self._link(way[-1], link))
        labels = (*before.labels, label)
        return PathSample(site.start, tokens, labels, weight, site.worth.get(link.url, 0.0))

    def _page(self, step: Step, depth: int) -> frozenset[str]:
        known = self._pages.get((step.page.url, depth))
        if known is None:
            added = self.settings.features == "all"
            known = page_tokens(step.page, self.settings.body_tokens, depth, added=added)
            self._pages[step.page.url, depth] = known
        return known

    def _surroundings(self, page: Page) -> PageContext:
        if page.url not in self._around:
            self._around[page.url] = PageContext.of(page)
        return self._around[page.url]

    def _link(self, step: Step, link: Link) -> frozenset[str]:
        url = step.page.url
        known = self._steps.get((url, link))
        if known is None:
            around = self._surroundings(step.page)
            added = self.settings.features == "all"
            known = link_tokens(link, around, self.settings.window, added=added)
            self._steps[url, link] = known
        return known


def trails_by_site(trails: Sequence[Trail]) -> dict[str, list[Trail]]:
    by_site: dict[str, list[Trail]] = {}
    for trail in trails:
        by_site.setdefault(trail.site, []).append(trail)
    return by_site


def labels_of(samples: Sequence[PathSample]) -> tuple[str, ...]:
    return tuple(sorted({label for sample in samples for label in sample.labels}))


def vocabulary_of(samples: Sequence[PathSample], settings: PathSettings) -> TokenVocabulary:
    sites = {sample.site for sample in samples}
    return TokenVocabulary(min(settings.min_sites, len(sites))).fit(
        [tokens for sample in samples for tokens in sample.tokens],
        [sample.site for sample in samples for _ in sample.tokens],
    )


def trust_of(vocabulary: TokenVocabulary, settings: PathSettings) -> Floats:
    """How much each token counts before anything is learned, (tokens,); to the paper all are alike."""
    tokens = vocabulary.columns_
    return (
        np.ones(len(tokens)) if settings.features == "paper" else np.array([trust(each) for each in tokens])
    )


def scaled(rows: csr_array, scale: Floats) -> csr_array:
    """Rows with every column multiplied. Under a Gaussian prior that lets the weights of trusted columns go
    farther from 0, as a wider prior for them would."""
    return csr_array((rows.data * scale[rows.indices], rows.indices, rows.indptr), shape=rows.shape)


def weights_of(samples: Sequence[PathSample]) -> Floats:
    return np.array([sample.weight for sample in samples])


def _balanced(samples: Sequence[Sequence[PathSample]]) -> list[PathSample]:
    totals = [sum(sample.weight for sample in own) for own in samples]
    scale = sum(totals) / sum(total**0.5 for total in totals)
    return [
        PathSample(each.site, each.tokens, each.labels, each.weight * scale * total**-0.5, each.worth)
        for own, total in zip(samples, totals, strict=True)
        for each in own
    ]


def harvest_rewards(samples: Sequence[PathSample], labels: Sequence[str], sharpness: float = 1.0) -> Floats:
    """The mean over the taught links of each label (Eq. 5) of what really was behind them, (labels,)."""
    sums, counts = np.zeros(len(labels)), np.zeros(len(labels))
    for sample in samples:
        if sample.ends_in_link:
            label = labels.index(sample.labels[-1])
            sums[label] += sample.weight * sample.worth
            counts[label] += sample.weight
    rewards = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    rewards[labels.index(GOAL)] = 1.0
    return np.asarray(rewards**sharpness)


def goal_end_probabilities(scores: Floats, log_steps: Floats, goal: int) -> Floats:
    """R_i(y) of Eq. 3, (n, states): how likely a goal ends the chain, from each state at each position.

    `scores` (n, states) are those of the state features, `log_steps` (states, states) or (n, states, states)
    those of the steps into each position.
    """
    n, n_states = scores.shape
    ends = np.zeros((n, n_states))
    ends[-1, goal] = 1.0
    for at in range(n - 2, -1, -1):
        step = log_steps if log_steps.ndim == 2 else log_steps[at + 1]
        ways = step + scores[at + 1]
        top = ways.max(axis=1, keepdims=True)
        shares = np.exp(ways - np.where(np.isfinite(top), top, 0.0))
        ends[at] = shares @ ends[at + 1] / shares.sum(axis=1)
    return ends


def discounted(ends: Floats, gamma: float) -> Floats:
    """Eq. 4: positions weigh γ to the power of their distance from the end, (states,)."""
    weights = gamma ** np.arange(len(ends))[::-1]
    return np.asarray(weights @ ends / weights.sum())

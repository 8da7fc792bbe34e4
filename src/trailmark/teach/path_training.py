"""Learn a path model from trails: sections 2.3, 2.4.2 and 3.1 of Vydiswaran & Sarawagi (2005)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from trailmark.errors import TeachingError
from trailmark.features import BODY_TOKENS, Surroundings, link_tokens, page_tokens
from trailmark.learn.chain import Floats
from trailmark.learn.crf import ChainCRF, Chains, Rules
from trailmark.learn.path_model import PathModel
from trailmark.learn.vocabulary import Vocabulary
from trailmark.page import Link
from trailmark.teach.taught_site import TaughtSite
from trailmark.trail import GOAL, Step, Trail

LINK_WEIGHT = 1.0  # of a taught link, counted with the path that led to it
PAGE_WEIGHT = 0.3  # of a trail's last page
CROSS_WEIGHT = 0.5  # of a link between taught pages that no trail took


@dataclass(frozen=True, slots=True)
class _Sample:
    """A path that ends in a link or a page, the state of each position, and how much it counts."""

    tokens: tuple[frozenset[str], ...]
    states: tuple[tuple[bool, str], ...]  # is it a link, and the label of the page or of where it leads
    weight: float
    worth: float


@dataclass
class PathTraining:
    """Settings of the learning; `fit` gives the model."""

    body_tokens: int = BODY_TOKENS
    prior_variance: float = 0.3
    max_iterations: int = 60
    min_sites: int = 2
    _around: dict[str, Surroundings] = field(default_factory=dict, init=False)

    def fit(self, trails: Sequence[Trail]) -> PathModel:
        sites = _by_site(trails)
        if not any(trail.reached_goal for trail in trails):
            raise TeachingError("No trail ends at a goal, so there is nothing to look for.")
        samples = {site.start: list(self._samples(site, own)) for site, own in sites}
        flat = [sample for own in samples.values() for sample in own]
        named = [start for start, own in samples.items() for _ in own]
        labels = tuple(sorted({label for sample in flat for _, label in sample.states}))
        vocabulary = Vocabulary(min(self.min_sites, len(sites))).fit(
            [tokens for sample in flat for tokens in sample.tokens],
            [name for sample, name in zip(flat, named, strict=True) for _ in sample.tokens],
        )
        weights = _balanced(flat, named)
        states = np.array([_state(labels, *each) for sample in flat for each in sample.states])
        fitted = ChainCRF(_rules(len(labels)), self.prior_variance, self.max_iterations).fit(
            _chains(flat, vocabulary), states, weights
        )
        rewards = _rewards(flat, weights, labels)
        return PathModel(labels, vocabulary, fitted, rewards, labels.index(GOAL))

    def _samples(self, site: TaughtSite, trails: Sequence[Trail]) -> Iterator[_Sample]:
        taken = set()
        for trail in trails:
            for number, step in enumerate(trail.steps):
                way = trail.steps[:number]
                if step.link is not None:
                    taken.add((way[-1].page.url, step.page.url))
                    yield self._to_link(site, way, step.link, LINK_WEIGHT)
            yield self._to_page(site, trail.steps, PAGE_WEIGHT)
        for url, way in site.ways.items():
            for link in site.taught_links(url):
                if (url, link.url) not in taken:
                    taken.add((url, link.url))
                    yield self._to_link(site, way, link, CROSS_WEIGHT)

    def _to_page(self, site: TaughtSite, way: Sequence[Step], weight: float) -> _Sample:
        tokens, states = [], []
        for depth, step in enumerate(way):
            if step.link is not None:
                tokens.append(self._link(way[depth - 1], step.link))
                states.append((True, site.state(step.page.url)))
            tokens.append(page_tokens(step.page, self.body_tokens, depth))
            states.append((False, site.state(step.page.url)))
        return _Sample(tuple(tokens), tuple(states), weight, 0.0)

    def _to_link(self, site: TaughtSite, way: Sequence[Step], link: Link, weight: float) -> _Sample:
        before = self._to_page(site, way, weight)
        tokens = (*before.tokens, self._link(way[-1], link))
        states = (*before.states, (True, site.state(link.url)))
        return _Sample(tokens, states, weight, site.worth.get(link.url, 0.0))

    def _link(self, step: Step, link: Link) -> frozenset[str]:
        url = step.page.url
        if url not in self._around:
            self._around[url] = Surroundings.of(step.page)
        return link_tokens(link, self._around[url])


def _by_site(trails: Sequence[Trail]) -> list[tuple[TaughtSite, list[Trail]]]:
    by_site: dict[str, list[Trail]] = {}
    for trail in trails:
        by_site.setdefault(trail.site, []).append(trail)
    return [(TaughtSite.of(own), own) for own in by_site.values()]


def _state(labels: Sequence[str], is_link: bool, label: str) -> int:
    return labels.index(label) + (len(labels) if is_link else 0)


def _rules(n: int) -> Rules:
    """Pages and links take turns, and a link of a label leads to a page of that label."""
    allowed = np.zeros((2 * n, 2 * n), dtype=bool)
    allowed[:n, n:] = True
    allowed[n + np.arange(n), np.arange(n)] = True
    starts = np.arange(2 * n) < n
    return Rules(allowed, starts, np.ones(2 * n, dtype=bool))


def _chains(samples: Sequence[_Sample], vocabulary: Vocabulary) -> Chains:
    """Token sets that come again (start pages, above all) are one row."""
    numbers: dict[frozenset[str], int] = {}
    shown = [numbers.setdefault(tokens, len(numbers)) for sample in samples for tokens in sample.tokens]
    lengths = np.array([len(sample.tokens) for sample in samples])
    return Chains(vocabulary.rows(list(numbers)), lengths, rows=np.array(shown))


def _balanced(samples: Sequence[_Sample], sites: Sequence[str]) -> Floats:
    """Sites count by the root of what they teach, so that a large one does not drown the others."""
    totals: dict[str, float] = {}
    for sample, site in zip(samples, sites, strict=True):
        totals[site] = totals.get(site, 0.0) + sample.weight
    weights = np.array([s.weight * totals[site] ** -0.5 for s, site in zip(samples, sites, strict=True)])
    return np.asarray(weights * sum(totals.values()) / weights.sum())


def _rewards(samples: Sequence[_Sample], weights: Floats, labels: Sequence[str]) -> Floats:
    """Mean worth of the taught links in each state, (2 · labels,): Eq. 5, of what really was behind them."""
    sums, counts = np.zeros(2 * len(labels)), np.zeros(2 * len(labels))
    for sample, weight in zip(samples, weights, strict=True):
        is_link, label = sample.states[-1]
        if is_link:
            state = _state(labels, is_link, label)
            sums[state] += weight * sample.worth
            counts[state] += weight
    rewards = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    rewards[_state(labels, True, GOAL)] = 1.0
    return np.asarray(rewards)

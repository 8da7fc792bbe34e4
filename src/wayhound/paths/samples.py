"""Training samples from trails: which paths and links a model learns from, as token sets, and with what weight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from wayhound.errors import TeachingError
from wayhound.learn.arrays import Floats, TokenVocabulary
from wayhound.page import Link, Page
from wayhound.paths.features import PageContext, link_tokens, page_tokens, token_scale, tokens_used
from wayhound.paths.settings import PathSettings
from wayhound.paths.taught_site import TaughtSite
from wayhound.trail import FAIL, Step, Trail

LINK_WEIGHT = 1.0  # of a taught link, together with the path that leads to it
PAGE_WEIGHT = 0.3  # of a trail's last page
CROSS_WEIGHT = 0.5  # of a link between taught pages that no trail clicked
UNCLICKED_WEIGHT = 1.0  # of all unclicked links of one page together
MAX_UNCLICKED = 8  # unclicked links of a page that are used, spread over the whole page


@dataclass(frozen=True, slots=True)
class PathSample:
    """A path: page, link, page, … with the label of each; a link has the label of the page behind it.

    `value` is the harvest behind the last link, if the path ends in one; `weight` is how much the sample counts.
    """

    site: str
    tokens: tuple[frozenset[str], ...]
    labels: tuple[str, ...]
    weight: float = 1.0
    value: float = 0.0

    @property
    def ends_in_link(self) -> bool:
        return len(self.tokens) % 2 == 0


@dataclass
class SampleMaker:
    """A factory of samples. The same pages and links occur on many paths, so their tokens are cached."""

    settings: PathSettings
    _contexts: dict[str, PageContext] = field(default_factory=dict)
    _page_tokens: dict[tuple[str, int], frozenset[str]] = field(default_factory=dict)
    _link_tokens: dict[tuple[str, Link], frozenset[str]] = field(default_factory=dict)

    def from_trails(self, trails: Sequence[Trail]) -> list[PathSample]:
        """Return all samples of these trails. Raises TeachingError if none of them ends at a goal.

        Sites count by the square root of their total weight, lest a large one dominate; in the mode "trails",
        each trail counts once (2.3).
        """
        if not any(trail.reached_goal for trail in trails):
            raise TeachingError("No trail ends at a goal, so there is nothing to look for.")
        sites = [
            (TaughtSite.from_trails(own, self.settings.states), own)
            for own in trails_by_site(trails).values()
        ]
        if self.settings.lessons == "trails":
            return [self.path_to(site, trail.steps, 1.0) for site, own in sites for trail in own]
        return _balanced([list(self._site_samples(site, own)) for site, own in sites])

    def _site_samples(self, site: TaughtSite, trails: Sequence[Trail]) -> Iterator[PathSample]:
        clicked = set()
        for trail in trails:
            for number, step in enumerate(trail.steps):
                path = trail.steps[:number]
                if step.link is not None:
                    clicked.add((path[-1].page.url, step.page.url))
                    yield self._link_sample(site, path, step.link, site.state(step.link.url), LINK_WEIGHT)
            yield self.path_to(site, trail.steps, PAGE_WEIGHT)
        for url, path in site.paths.items():
            for link in site.taught_links(url):
                if (url, link.url) not in clicked:
                    clicked.add((url, link.url))
                    yield self._link_sample(site, path, link, site.state(link.url), CROSS_WEIGHT)
            yield from self._unclicked_samples(site, url)

    def _unclicked_samples(self, site: TaughtSite, url: str) -> Iterator[PathSample]:
        """Yield links that the teacher saw and did not click, as failures of low weight: nobody has said so."""
        links = site.unclicked_links(url)
        if len(links) > MAX_UNCLICKED:
            links = [links[number * len(links) // MAX_UNCLICKED] for number in range(MAX_UNCLICKED)]
        for link in links:
            yield self._link_sample(site, site.paths[url], link, FAIL, UNCLICKED_WEIGHT / len(links))

    def path_to(self, site: TaughtSite, path: Sequence[Step], weight: float) -> PathSample:
        """Return the sample of a path that ends at a page: a whole trail, or the beginning of one."""
        tokens, labels = [], []
        for depth, (step, label) in enumerate(zip(path, site.states_along(path), strict=True)):
            if step.link is not None:
                tokens.append(self._tokens_of_link(path[depth - 1].page, step.link))
                labels.append(label)
            tokens.append(self._tokens_of_page(step.page, depth))
            labels.append(label)
        return PathSample(site.start, tuple(tokens), tuple(labels), weight)

    def _link_sample(
        self, site: TaughtSite, path: Sequence[Step], link: Link, label: str, weight: float
    ) -> PathSample:
        before = self.path_to(site, path, weight)
        tokens = (*before.tokens, self._tokens_of_link(path[-1].page, link))
        labels = (*before.labels, label)
        return PathSample(site.start, tokens, labels, weight, site.values.get(link.url, 0.0))

    @property
    def _tokens_used(self) -> dict[str, bool]:
        return tokens_used(self.settings.features)

    def _tokens_of_page(self, page: Page, depth: int) -> frozenset[str]:
        tokens = self._page_tokens.get((page.url, depth))
        if tokens is None:
            tokens = page_tokens(page, self.settings.body_tokens, depth, **self._tokens_used)
            self._page_tokens[page.url, depth] = tokens
        return tokens

    def _tokens_of_link(self, page: Page, link: Link) -> frozenset[str]:
        tokens = self._link_tokens.get((page.url, link))
        if tokens is None:
            if page.url not in self._contexts:
                self._contexts[page.url] = PageContext.from_page(page)
            tokens = link_tokens(link, self._contexts[page.url], self.settings.window, **self._tokens_used)
            self._link_tokens[page.url, link] = tokens
        return tokens


def trails_by_site(trails: Sequence[Trail]) -> dict[str, list[Trail]]:
    by_site: dict[str, list[Trail]] = {}
    for trail in trails:
        by_site.setdefault(trail.site, []).append(trail)
    return by_site


def labels_of(samples: Sequence[PathSample]) -> tuple[str, ...]:
    return tuple(sorted({label for sample in samples for label in sample.labels}))


def fit_vocabulary(samples: Sequence[PathSample], settings: PathSettings) -> TokenVocabulary:
    sites = {sample.site for sample in samples}
    return TokenVocabulary(min(settings.min_sites, len(sites))).fit(
        [tokens for sample in samples for tokens in sample.tokens],
        [sample.site for sample in samples for _ in sample.tokens],
    )


def token_scales(vocabulary: TokenVocabulary, settings: PathSettings) -> Floats:
    """Return the scale of each token, (tokens,); the paper's features all have scale 1."""
    tokens = vocabulary.columns_
    if settings.features == "paper":
        return np.ones(len(tokens))
    return np.array([token_scale(token) for token in tokens])


def _balanced(samples: Sequence[Sequence[PathSample]]) -> list[PathSample]:
    """Rescale the samples of each site from their total weight to its square root; the grand total stays."""
    totals = [sum(sample.weight for sample in own) for own in samples]
    scale = sum(totals) / sum(total**0.5 for total in totals)
    # not `dataclasses.replace`, which takes three times as long, on tens of thousands of samples
    return [
        PathSample(
            sample.site, sample.tokens, sample.labels, sample.weight * scale * total**-0.5, sample.value
        )
        for own, total in zip(samples, totals, strict=True)
        for sample in own
    ]

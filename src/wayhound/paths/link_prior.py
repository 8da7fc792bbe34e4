"""A prior for links by the concepts that taught links name: after "Contact us" was shown, "Kontakt" scores high.

The lesson switches concepts on: only those that are more frequent in goal trails than around them have a weight.
Where the taught links name no concept, there is no prior. For goals that the lexicon does not name, a prior that
is always on made the order worse (2.8 against 2.6 times the oracle's pages).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from wayhound.page import Link, Page
from wayhound.paths.concepts import web_concepts
from wayhound.paths.samples import trails_by_site
from wayhound.paths.traits import SourcePage, url_end_words
from wayhound.text.words import words
from wayhound.trail import Trail

MIN_GAIN = 0.15  # by how much a concept must be more frequent in goal trails than around them
AGREEING_GAIN = 0.1  # a site with a larger gain agrees that the concept matters
TEXT_WORDS = 200  # of the beginning of a page's text
TEXT_WEIGHT = 0.5  # of the gain in texts; gains in links and titles have 1
_EVERYWHERE = frozenset({"home", "next_page", "search", "login"})  # these lead to every kind of page


def link_concepts(link: Link, *, use_urls: bool = True) -> frozenset[str]:
    """Return the concepts that a link names by its text and the end of its URL."""
    lexicon = web_concepts()
    concepts = lexicon.named_by(words(link.text))
    return concepts | lexicon.named_by(url_end_words(link.url)) if use_urls else concepts


@dataclass(frozen=True)
class LinkPrior:
    """Weights of concepts in [0, 1], the largest 1; empty if the taught links name none."""

    weights: Mapping[str, float]
    strength: float = 0.0  # the gain of the strongest concept

    def score(self, concepts: frozenset[str]) -> float:
        """Return the square of the largest weight of these concepts, in [0, 1].

        A few trails also name concepts by chance. These have small weights, which squares make smaller.
        """
        return max((self.weights[name] for name in concepts if name in self.weights), default=0.0) ** 2


def learn_link_prior(trails: Sequence[Trail], *, use_urls: bool = True) -> LinkPrior:
    """Compare goal trails with what is around them; every taught site counts the same.

    A concept gains by the clicked links against all links of the same pages, and by the names of goal pages against
    those of other pages. Concepts that several sites agree on count more.
    """
    gains = [
        _site_gains(own, use_urls=use_urls)
        for own in trails_by_site(trails).values()
        if any(trail.reached_goal and trail.depth for trail in own)
    ]
    weights: dict[str, float] = {}
    for name in sorted({name for gain in gains for name in gain} - _EVERYWHERE):
        values = [gain.get(name, 0.0) for gain in gains]
        agreeing = sum(value > AGREEING_GAIN for value in values) / len(values)
        if (weight := sum(values) / len(values) * agreeing**0.5) >= MIN_GAIN:
            weights[name] = weight
    top = max(weights.values(), default=0.0)
    return LinkPrior({name: weight / top for name, weight in weights.items()}, top)


def _site_gains(trails: Sequence[Trail], *, use_urls: bool) -> dict[str, float]:
    """Return the largest gain of each concept on one site: by links, by titles, by texts."""
    goals = {trail.steps[-1].page.url: trail.steps[-1].page for trail in trails if trail.reached_goal}
    others = {
        step.page.url: step.page for trail in trails for step in trail.steps if step.page.url not in goals
    }
    goal_trails = [trail for trail in trails if trail.reached_goal and trail.depth]
    weighted = (
        (1.0, _link_gains(goal_trails, use_urls=use_urls)),
        (
            1.0,
            _page_gains(
                goals.values(),
                others.values(),
                lambda page: SourcePage.from_page(page, use_urls=use_urls).concepts,
            ),
        ),
        (TEXT_WEIGHT, _page_gains(goals.values(), others.values(), _text_concepts)),
    )
    best: dict[str, float] = {}
    for weight, gains in weighted:
        for name, gain in gains.items():
            best[name] = max(best.get(name, 0.0), weight * gain)
    return best


def _text_concepts(page: Page) -> frozenset[str]:
    return web_concepts().named_by(page.tokens[:TEXT_WORDS])


def _link_gains(trails: Sequence[Trail], *, use_urls: bool) -> dict[str, float]:
    """Return the share of trails with a link of each concept, minus its share in all links of their pages."""
    clicked: Counter[str] = Counter()
    for trail in trails:
        links = [step.link for step in trail.steps if step.link is not None]
        clicked.update({name for link in links for name in link_concepts(link, use_urls=use_urls)})
    pages = {step.page.url: step.page for trail in trails for step in trail.steps[:-1]}
    present = {(url, link.url): link for url, page in pages.items() for link in page.links}
    around: Counter[str] = Counter()
    for link in present.values():
        around.update(link_concepts(link, use_urls=use_urls))
    return {
        name: count / len(trails) - around[name] / max(len(present), 1) for name, count in clicked.items()
    }


def _page_gains(
    goals: Collection[Page], others: Collection[Page], concepts: Callable[[Page], frozenset[str]]
) -> dict[str, float]:
    """Return the share of goal pages with each concept, minus its share in the other pages."""
    counts, around = (Counter(name for page in pages for name in concepts(page)) for pages in (goals, others))
    return {name: count / len(goals) - around[name] / max(len(others), 1) for name, count in counts.items()}

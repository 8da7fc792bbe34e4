"""Judge every link by itself, without the path: the strong simple baselines that a path model must beat."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wayhound.forage.scorer import Rated, Reading, State
from wayhound.learn.arrays import Floats
from wayhound.learn.logistic import LogisticRegression
from wayhound.learn.vocabulary import TokenVocabulary
from wayhound.page import Link, Page
from wayhound.paths.features import PageContext, link_tokens
from wayhound.site import Site

LinkFeatures = Callable[[Link, PageContext], frozenset[str]]


def url_ngrams(link: Link, around: PageContext) -> frozenset[str]:  # noqa: ARG001
    """Runs of three to five characters of the URL after the host."""
    path = link.url.split("/", 3)[-1].lower()
    return frozenset(path[at : at + size] for size in (3, 4, 5) for at in range(max(len(path) - size + 1, 1)))


@dataclass(frozen=True)
class LinkClassifier:
    """A link is worth what its classes are, by their probability: classes are clicks left to a goal."""

    vocabulary: TokenVocabulary
    classes: LogisticRegression
    worths: Floats  # (classes,)
    features: LinkFeatures = link_tokens

    def start(self, site: Site) -> State:  # noqa: ARG002
        return None

    def read(self, state: State, page: Page) -> Reading:  # noqa: ARG002
        return Reading(PageContext.from_page(page))

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]:
        if not links:
            return []
        rows = self.vocabulary.rows([self.features(link, reading.state) for link in links])
        return [Rated(float(score)) for score in self.classes.probabilities(rows) @ self.worths]

    def combine(self, known: float, new: float) -> float:
        return max(known, new)

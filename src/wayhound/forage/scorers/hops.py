"""The strategies `hop-hmm` and `hop-crf`: links are followed by how few clicks a target is believed to be away.

Sections 2.3 and 3.2 of Liu, Milios & Janssen (2004).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from wayhound.errors import UsageError
from wayhound.forage.scorer import Rated, Reading, Reason, State, StrategyInput
from wayhound.learn.arrays import Ints
from wayhound.learn.hop_hmm import visit_order
from wayhound.media import PAGE
from wayhound.page import Link, Page
from wayhound.paths.features import PageContext
from wayhound.paths.hops import HopBelief, HopModel
from wayhound.paths.page_space import PageSpace, page_words
from wayhound.paths.q_model import own_tokens, shared_tokens
from wayhound.site import Site
from wayhound.trail import GOAL

Peek = Callable[[str], Page | None]
"""Returns the page behind a link, if it has been downloaded already."""


@dataclass(frozen=True, slots=True)
class _Before:
    """The belief after the page that held the link, the link, and the belief about what is behind it."""

    belief: HopBelief | None = None
    link: Link | None = None
    behind: HopBelief | None = None


@dataclass(frozen=True, slots=True)
class _After:
    belief: HopBelief
    page: Page
    context: PageContext
    depth: int = 0


@dataclass
class Hops:
    """Scores a link by the belief over the hops behind it.

    With `peek`, pages behind links are known before they are visited: the paper's crawler, for comparison.
    """

    model: HopModel
    peek: Peek | None = None
    _order: Ints = field(init=False)

    def __post_init__(self) -> None:
        self._order = visit_order(self.model.settings.states)

    def start(self, site: Site) -> State:  # noqa: ARG002
        return _Before()

    def read(self, state: State, page: Page) -> Reading:
        before: _Before = state
        belief = self.model.read_page(before.belief, page, before.link)
        probabilities = belief.probabilities()
        goal = float(probabilities[0]) if page.kind in self.model.goal_kinds else 0.0
        best = int(probabilities.argmax())
        label = GOAL if best == 0 else self.model.labels[best]
        return Reading(_After(belief, page, PageContext.from_page(page)), label, goal)

    @property
    def file_kinds(self) -> tuple[str, ...]:
        return tuple(kind for kind in self.model.goal_kinds if kind != PAGE)

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]:
        if not links:
            return []
        after: _After = reading.state
        beliefs = self._behind(after, links)
        return [
            Rated(self._score(belief), _Before(after.belief, link, belief))
            for link, belief in zip(links, beliefs, strict=True)
        ]

    def _behind(self, after: _After, links: Sequence[Link]) -> list[HopBelief]:
        if self.peek is not None:
            pages = [self.peek(link.url) or Page(link.url) for link in links]
            return self.model.follow_known(after.belief, links, pages)
        return self.model.follow_links(after.belief, links, after.page, after.context)

    def _score(self, belief: HopBelief) -> float:
        if self.model.settings.order == "marginals":
            return float(belief.probabilities() @ self.model.rewards)
        state = int(belief.delta.argmax())
        rank = int(self._order[belief.came_from[state], state])
        steps = int(self._order.max()) + 1
        # δ decides among links of the same step, and nothing else: it adds less than one rank
        tie = 1.0 / (1.0 - float(belief.delta[state])) if np.isfinite(belief.delta[state]) else 0.0
        return (steps - 1 - rank + 0.999 * tie) / steps

    def combine(self, current: float, new: float) -> float:
        return max(current, new)

    def why_page(self, state: State, page: Page) -> list[Reason]:  # noqa: ARG002
        """Return the words of a page that place it where the useful pages are, by their share of the similarity."""
        space = self.model.space
        row = space.rows([page])[0]
        if not len(space.targets) or not row.any():
            return []
        nearest = space.targets[int((space.targets @ row).argmax())]
        weights = space.space.components_ @ nearest
        counted = dict.fromkeys(_words_of(self.model, page))
        reasons = [(f"body {word}", float(weights[space.vocabulary.columns_[word]])) for word in counted]
        return sorted(reasons, key=lambda reason: (-abs(reason[1]), reason[0]))

    def why_link(self, reading: Reading, link: Link) -> list[Reason]:
        """Return the tokens of a link by what they say about the cluster behind it, in terms of reward."""
        after: _After = reading.state
        space = self.model.space
        kinds = space.predicted_kinds([link], after.page, after.context)[0]
        values = np.array([self._value_of(after.belief, number) for number in range(len(kinds))])
        gain = kinds * (values - kinds @ values)
        columns = space.link_vocabulary.columns_
        weights = gain @ space.link_words
        tokens = {*own_tokens(link, after.context, "link"), *shared_tokens(after.page, after.context, "link")}
        reasons = [(token, float(weights[columns[token]])) for token in tokens if token in columns]
        return sorted(reasons, key=lambda reason: (-abs(reason[1]), reason[0]))

    def _value_of(self, belief: HopBelief, cluster: int) -> float:
        """Return the expected reward behind a link to a page of this cluster."""
        kinds = np.eye(self.model.settings.clusters)[[cluster]]
        return float(self.model.follow_clusters(belief, kinds)[0].probabilities() @ self.model.rewards)

    def expected(self, state: State) -> tuple[str, float]:
        if state.behind is None:
            return "", 0.0
        probabilities = state.behind.probabilities()
        best = int(probabilities.argmax())
        return (GOAL if best == 0 else self.model.labels[best]), float(probabilities[0])

    def follows_paths(self, state: State) -> bool:
        return state.belief is not None


def _words_of(model: HopModel, page: Page) -> list[str]:
    return [word for word in page_words(page) if word in model.space.vocabulary.columns_]


def make_hops(strategy: str, strategy_input: StrategyInput) -> Hops:
    """Return the scorer. Raises UsageError without a model, or with another strategy's."""
    model = strategy_input.model
    if not isinstance(model, HopModel):
        raise UsageError(f"The strategy {strategy} needs a model of its own: train one from marked browsing.")
    if model.strategy != strategy:
        raise UsageError(f"The model was trained for {model.strategy}, not for {strategy}.")
    return Hops(model)


@dataclass
class TargetSimilarity:
    """The paper's best-first crawler (3.3.2): a link's priority is the largest cosine of its page to any target."""

    space: PageSpace

    def start(self, site: Site) -> State:  # noqa: ARG002
        return None

    def read(self, state: State, page: Page) -> Reading:  # noqa: ARG002
        similarity = float(self.space.similarities(self.space.rows([page]))[0])
        return Reading(similarity)

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]:
        return [Rated(min(reading.state, 1.0))] * len(links)

    def combine(self, current: float, new: float) -> float:
        return max(current, new)

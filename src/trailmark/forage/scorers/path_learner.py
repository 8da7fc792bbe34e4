"""Follow the way that was taught: one step of the field for each link, times what its states are worth.

Section 3 of Vydiswaran & Sarawagi (2005): α (Eq. 6) goes with every waiting link, its score is Eq. 7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from trailmark.errors import UsageError
from trailmark.features import Surroundings, link_tokens, page_tokens
from trailmark.forage.brief import Brief
from trailmark.forage.scorer import Rated, Reading, State
from trailmark.learn.chain import Floats, log_product
from trailmark.learn.path_model import PathModel
from trailmark.page import Link, Page
from trailmark.site import Site

NEIGHBOURS = 0.5  # how much of a link's score is the mean of its page's links


@dataclass(frozen=True, slots=True)
class _Belief:
    """log α over the states that the next page may have, and how many clicks it lies from the start."""

    log_alpha: Floats
    depth: int


@dataclass(frozen=True, slots=True)
class _Read:
    log_alpha: Floats
    depth: int
    around: Surroundings


@dataclass
class PathLearner:
    """A link is worth the rewards of its states by their probability, given the whole path to it (Eq. 7).

    Links of one page share a part of their score: the words of one link tell little, those of all the links
    beside it tell what list it stands in.
    """

    model: PathModel
    body_tokens: int = 100
    _rows: dict[frozenset[str], Floats] = field(default_factory=dict, init=False)

    @classmethod
    def from_brief(cls, brief: Brief) -> Self:
        if not isinstance(brief.model, PathModel):
            raise UsageError("The strategy path-learner needs a model: teach it with trails first.")
        return cls(brief.model)

    def start(self, site: Site) -> State:  # noqa: ARG002
        return _Belief(self.model.field.log_starts, 0)

    def read(self, state: State, page: Page) -> Reading:
        seen = self._scores([page_tokens(page, self.body_tokens, state.depth)])[0]
        log_alpha = state.log_alpha + seen
        log_alpha = log_alpha - log_alpha.max()
        chances = np.exp(log_alpha[: self.model.n_labels])
        chances = chances / chances.sum()
        best = int(chances.argmax())
        after = _Read(log_alpha, state.depth, Surroundings.of(page))
        return Reading(after, self.model.labels[best], float(chances[self.model.goal]))

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]:
        if not links:
            return []
        read: _Read = reading.state
        seen = self._scores([link_tokens(link, read.around) for link in links])
        log_alpha = self.model.field.forward_step(read.log_alpha, seen)
        chances = np.exp(log_alpha - log_alpha.max(axis=1, keepdims=True))
        scores = chances @ self.model.rewards / chances.sum(axis=1)
        shared = NEIGHBOURS * (len(links) - 1) / len(links)
        scores = (1 - shared) * scores + shared * scores.mean()
        onward = log_product(log_alpha, self.model.field.log_steps)
        # the links of a start page are its sections: one says nothing of the next
        grouped = read.depth > 0
        return [
            Rated(
                float(score),
                _Belief(belief, read.depth + 1),
                ((read.around.url, link.region),) if grouped else (),
            )
            for score, belief, link in zip(scores, onward, links, strict=True)
        ]

    def combine(self, known: float, new: float) -> float:
        return max(known, new)

    def _scores(self, sets: Sequence[frozenset[str]]) -> Floats:
        """State scores (len(sets), states). Navigation comes again on every page, so they are kept."""
        new = [tokens for tokens in dict.fromkeys(sets) if tokens not in self._rows]
        if new:
            for tokens, row in zip(
                new, self.model.field.scores(self.model.vocabulary.rows(new)), strict=True
            ):
                self._rows[tokens] = row
        return np.stack([self._rows[tokens] for tokens in sets])

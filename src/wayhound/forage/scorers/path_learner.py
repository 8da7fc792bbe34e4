"""The taught strategies: label links along the path, and score them by the rewards of their labels.

Section 3 of Vydiswaran & Sarawagi (2005): α and δ travel with every link in the frontier, its score is Eq. 7, and
pages are labelled by δ. The baselines of section 4 use the same code with labellers that ignore the path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from wayhound.errors import UsageError
from wayhound.forage.scorer import Rated, Reading, Reason, Scorer, State, StrategyInput
from wayhound.learn.arrays import Floats
from wayhound.media import PAGE
from wayhound.page import Link, Page
from wayhound.paths.features import PageContext, link_tokens, own_link_tokens, page_tokens, tokens_used
from wayhound.paths.labellers import Belief
from wayhound.paths.model import INDEPENDENT_STRATEGIES, ForageModel, centred
from wayhound.site import Site
from wayhound.trail import FAIL, GOAL

Tokens = frozenset[str]
RULED_OUT = 50.0  # subtracted from the log score of an impossible label: no token weighs as much


@dataclass(frozen=True, slots=True)
class _BeforePage:
    """The belief with which the next page will be read, and its depth in clicks from the start."""

    belief: Belief
    depth: int


@dataclass(frozen=True, slots=True)
class _AfterPage:
    belief: Belief
    depth: int
    context: PageContext


@dataclass
class PathLearner:
    """Scores a link by the expected reward of its label, given the whole path to it (Eq. 7).

    Links of one page share a part of their score: the words of one link say little, those of all the links
    beside it show what list it belongs to.
    """

    model: ForageModel
    _page_cache: dict[Tokens, Floats] = field(default_factory=dict, init=False)
    _link_cache: dict[Tokens, Floats] = field(default_factory=dict, init=False)

    def start(self, site: Site) -> State:  # noqa: ARG002
        return _BeforePage(self.model.labeller.start(), 0)

    def read(self, state: State, page: Page) -> Reading:
        labeller = self.model.labeller
        tokens = self._page_tokens(page, state.depth)
        scores = self._scores([tokens], self._page_cache, labeller.page_scores)[0]
        belief = labeller.read_page(state.belief, self._rule_out(scores, page))
        after = _AfterPage(belief, state.depth, PageContext.from_page(page))
        goal = float(labeller.label_probabilities(belief)[self.model.goal])
        return Reading(after, self.model.labels[labeller.best_label(belief)], goal)

    @property
    def file_kinds(self) -> tuple[str, ...]:
        return tuple(kind for kind in self.model.goal_kinds if kind != PAGE)

    def _rule_out(self, scores: Floats, page: Page) -> Floats:
        """Lower the scores of impossible labels, whatever the path promised.

        Only kinds of pages that were taught as goals can be goals. A document has no links, so it is a goal or
        a failure, never a page before one.
        """
        endings = (GOAL, FAIL, f"<{FAIL}")
        possible = [
            page.kind in self.model.goal_kinds if label == GOAL else not page.is_document or label in endings
            for label in self.model.labels
        ]
        return scores if all(possible) else np.where(possible, scores, scores - RULED_OUT)

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]:
        if not links:
            return []
        after: _AfterPage = reading.state
        beliefs = self.model.labeller.follow_links(after.belief, self._link_scores(after.context, links))
        scores = self._shared(beliefs.probabilities @ self.model.rewards)
        groups = {region: self._groups(after, region) for region in {link.region for link in links}}
        return [
            Rated(score, _BeforePage(beliefs.belief(number), after.depth + 1), groups[link.region])
            for number, (score, link) in enumerate(zip(scores.tolist(), links, strict=True))
        ]

    def combine(self, current: float, new: float) -> float:
        return max(current, new) if self.model.settings.combine == "max" else current + new

    def why_page(self, state: State, page: Page) -> list[Reason]:
        """Return the tokens of a page by their weight for its label, relative to all labels."""
        label = self.model.labels.index(self.read(state, page).label)
        weights = centred(self.model.labeller.page_weights())[:, label]
        return self._reasons(self._page_tokens(page, state.depth), weights)

    def why_link(self, reading: Reading, link: Link) -> list[Reason]:
        """Return the tokens of a link by what each adds to its score, to first order."""
        labeller, after = self.model.labeller, reading.state
        scores = self._link_scores(after.context, [link])
        probabilities = labeller.follow_links(after.belief, scores).probabilities[0]
        gain = probabilities * (self.model.rewards - probabilities @ self.model.rewards)
        settings = self.model.settings
        tokens = link_tokens(link, after.context, settings.window, **self._tokens_used)
        return self._reasons(tokens, labeller.link_weights() @ gain)

    def expected(self, state: State) -> tuple[str, float]:
        labeller = self.model.labeller
        goal = float(labeller.label_probabilities(state.belief)[self.model.goal])
        return self.model.labels[labeller.best_label(state.belief)], goal

    def follows_paths(self, state: State) -> bool:
        return self.model.strategy not in INDEPENDENT_STRATEGIES and state.depth > 0

    def _reasons(self, tokens: Tokens, weights: Floats) -> list[Reason]:
        columns = self.model.vocabulary.columns_
        reasons = [(token, float(weights[columns[token]])) for token in tokens if token in columns]
        return sorted(reasons, key=lambda reason: (-abs(reason[1]), reason[0]))

    def _shared(self, scores: Floats) -> Floats:
        share = self.model.settings.neighbours * (len(scores) - 1) / len(scores)
        return np.asarray((1 - share) * scores + share * scores.mean())

    def _groups(self, after: _AfterPage, region: str) -> tuple[tuple[str, str], ...]:
        """Return the group of a region's links. On a start page these are sections: one says nothing about the next."""
        grouped = self.model.settings.within_site and after.depth > 0
        return ((after.context.url, region),) if grouped else ()

    @property
    def _tokens_used(self) -> dict[str, bool]:
        return tokens_used(self.model.settings.features)

    def _page_tokens(self, page: Page, depth: int) -> Tokens:
        settings = self.model.settings
        return page_tokens(page, settings.body_tokens, depth, **self._tokens_used)

    def _link_scores(self, context: PageContext, links: Sequence[Link]) -> Floats:
        """Return the scores of links: of their own tokens, plus those of their page, which are computed once."""
        labeller, settings = self.model.labeller, self.model.settings
        added = settings.features == "all"
        own = [own_link_tokens(link, context, settings.window, **self._tokens_used) for link in links]
        scores = self._scores(own, self._link_cache, labeller.link_scores)
        if not added:
            return scores
        page, nothing = labeller.link_scores(self.model.vocabulary.rows([context.tokens, ()]))
        return np.asarray(scores + (page - nothing))

    def _scores(
        self, token_sets: Sequence[Tokens], cache: dict[Tokens, Floats], score: Callable[[csr_array], Floats]
    ) -> Floats:
        """Return a row for each set. They are cached, since navigation occurs again on every page."""
        new = [tokens for tokens in dict.fromkeys(token_sets) if tokens not in cache]
        if new:
            cache.update(zip(new, score(self.model.vocabulary.rows(new)), strict=True))
        return np.stack([cache[tokens] for tokens in token_sets])


def make_path_learner(strategy: str, strategy_input: StrategyInput) -> Scorer:
    """Return the scorer of a taught strategy. Raises UsageError without a model, or with another strategy's."""
    return PathLearner(checked_model(strategy, strategy_input))


def checked_model(strategy: str, strategy_input: StrategyInput) -> ForageModel:
    """Return the model for a strategy. Raises UsageError if there is none, or one of another strategy."""
    model = strategy_input.model
    if not isinstance(model, ForageModel):
        raise UsageError(f"The strategy {strategy} needs a model: teach it with trails first.")
    if model.strategy != strategy:
        raise UsageError(f"The model was trained for {model.strategy}, not for {strategy}.")
    return model

"""Follow the way that was taught: labels of links along the path, times what they are worth.

Section 3 of Vydiswaran & Sarawagi (2005): α and δ go with every waiting link, its score is Eq. 7, pages are
labelled by δ. The baselines of section 4 forage by the same code, with judges that know no path.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from wayhound.errors import UsageError
from wayhound.forage.scorer import Rated, Reading, Reason, Scorer, State, StrategyInput
from wayhound.learn.chain import Floats
from wayhound.media import PAGE
from wayhound.page import Link, Page
from wayhound.paths.features import PageContext, link_tokens, own_link_tokens, page_tokens
from wayhound.paths.labellers import Belief
from wayhound.paths.model import FIELD, ForageModel, centred
from wayhound.site import Site
from wayhound.trail import FAIL, GOAL

Tokens = frozenset[str]
RULED_OUT = 50.0  # taken from a log score: nothing that was seen can make up for it


@dataclass(frozen=True, slots=True)
class _Coming:
    """The belief with which the next page will be read, and how many clicks it lies from the start."""

    belief: Belief
    depth: int


@dataclass(frozen=True, slots=True)
class _Read:
    belief: Belief
    depth: int
    around: PageContext


@dataclass
class PathLearner:
    """A link is worth the rewards of its labels by their probability, given the whole path to it (Eq. 7).

    Links of one page share a part of their score: the words of one link tell little, those of all the links
    beside it tell what list it stands in.
    """

    model: ForageModel
    _pages: dict[Tokens, Floats] = field(default_factory=dict, init=False)
    _links: dict[Tokens, Floats] = field(default_factory=dict, init=False)

    def start(self, site: Site) -> State:  # noqa: ARG002
        return _Coming(self.model.judge.start(), 0)

    def read(self, state: State, page: Page) -> Reading:
        judge = self.model.judge
        seen = self._scores([self._page_tokens(page, state.depth)], self._pages, judge.page_scores)[0]
        belief = judge.page(state.belief, self._possible(seen, page))
        after = _Read(belief, state.depth, PageContext.of(page))
        chance = float(judge.chances(belief)[self.model.goal])
        return Reading(after, self.model.labels[judge.best(belief)], chance)

    @property
    def file_kinds(self) -> tuple[str, ...]:
        return tuple(kind for kind in self.model.goal_kinds if kind != PAGE)

    def _possible(self, seen: Floats, page: Page) -> Floats:
        """What a page may be, whatever the path promised. Where goals were shown to be documents no page is one;
        and a document leads nowhere, so that it is a goal or a failure, and never on the way."""
        endings = (GOAL, FAIL, f"<{FAIL}")
        possible = [
            page.kind in self.model.goal_kinds if label == GOAL else not page.is_document or label in endings
            for label in self.model.labels
        ]
        return seen if all(possible) else np.where(possible, seen, seen - RULED_OUT)

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]:
        if not links:
            return []
        read: _Read = reading.state
        judge = self.model.judge
        onward = judge.links(read.belief, self._seen(read.around, links))
        scores = self._shared(onward.chances @ self.model.rewards)
        return [
            Rated(score, _Coming(onward.belief(number), read.depth + 1), self._groups(read, link))
            for number, (score, link) in enumerate(zip(scores.tolist(), links, strict=True))
        ]

    def combine(self, known: float, new: float) -> float:
        return max(known, new) if self.model.settings.combine == "max" else known + new

    def why_page(self, state: State, page: Page) -> list[Reason]:
        """The tokens of a page by how much they speak for the label it is given, against all labels."""
        label = self.model.labels.index(self.read(state, page).label)
        weights = centred(self.model.judge.page_weights())[:, label]
        return self._reasons(self._page_tokens(page, state.depth), weights)

    def why_link(self, reading: Reading, link: Link) -> list[Reason]:
        """The tokens of a link by how much each adds to its score, to the first order."""
        judge, read = self.model.judge, reading.state
        chances = judge.links(read.belief, self._seen(read.around, [link])).chances[0]
        gain = chances * (self.model.rewards - chances @ self.model.rewards)
        settings = self.model.settings
        tokens = link_tokens(link, read.around, settings.window, added=settings.features == "all")
        return self._reasons(tokens, judge.link_weights() @ gain)

    def expected(self, state: State) -> tuple[str, float]:
        judge = self.model.judge
        chance = float(judge.chances(state.belief)[self.model.goal])
        return self.model.labels[judge.best(state.belief)], chance

    def follows_paths(self, state: State) -> bool:
        return self.model.strategy == FIELD and state.depth > 0

    def _reasons(self, tokens: Tokens, weights: Floats) -> list[Reason]:
        columns = self.model.vocabulary.columns_
        found = [(token, float(weights[columns[token]])) for token in tokens if token in columns]
        return sorted(found, key=lambda reason: (-abs(reason[1]), reason[0]))

    def _shared(self, scores: Floats) -> Floats:
        share = self.model.settings.neighbours * (len(scores) - 1) / len(scores)
        return np.asarray((1 - share) * scores + share * scores.mean())

    def _groups(self, read: _Read, link: Link) -> tuple[tuple[str, str], ...]:
        """The links of a start page are its sections: one says nothing of the next."""
        alike = self.model.settings.within_site and read.depth > 0
        return ((read.around.url, link.region),) if alike else ()

    def _page_tokens(self, page: Page, depth: int) -> Tokens:
        settings = self.model.settings
        return page_tokens(page, settings.body_tokens, depth, added=settings.features == "all")

    def _seen(self, around: PageContext, links: Sequence[Link]) -> Floats:
        """The scores of links: what each shows itself, and what its page adds to all, which is taken once."""
        judge, settings = self.model.judge, self.model.settings
        added = settings.features == "all"
        own = [own_link_tokens(link, around, settings.window, added=added) for link in links]
        scores = self._scores(own, self._links, judge.link_scores)
        if not added:
            return scores
        of_page, of_nothing = judge.link_scores(self.model.vocabulary.rows([around.tokens, ()]))
        return np.asarray(scores + (of_page - of_nothing))

    def _scores(
        self, sets: Sequence[Tokens], known: dict[Tokens, Floats], score: Callable[[csr_array], Floats]
    ) -> Floats:
        """A row for each set. Navigation comes again on every page, so they are kept."""
        new = [tokens for tokens in dict.fromkeys(sets) if tokens not in known]
        if new:
            known.update(zip(new, score(self.model.vocabulary.rows(new)), strict=True))
        return np.stack([known[tokens] for tokens in sets])


def make_path_learner(strategy: str, brief: StrategyInput) -> Scorer:
    """The scorer of a strategy, with the model that was taught for it."""
    model = brief.model
    if not isinstance(model, ForageModel):
        raise UsageError(f"The strategy {strategy} needs a model: teach it with trails first.")
    if model.strategy != strategy:
        raise UsageError(f"The model was taught for {model.strategy}, not for {strategy}.")
    return PathLearner(model)

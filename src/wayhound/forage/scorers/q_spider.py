"""The strategy `q-spider`: links are followed by the future reward that their words predict.

Sections 3.5 and 3.6 of McCallum, Nigam, Rennie & Seymore (2000).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from wayhound.errors import UsageError
from wayhound.forage.scorer import Rated, Reading, Reason, State, StrategyInput
from wayhound.learn.arrays import Floats, TokenVocabulary, softmax
from wayhound.media import PAGE
from wayhound.page import Link, Page
from wayhound.paths.features import PageContext, page_tokens
from wayhound.paths.q_model import OTHER, Q_STRATEGY, QModel, own_tokens, shared_tokens
from wayhound.site import Site
from wayhound.trail import GOAL


@dataclass(frozen=True, slots=True)
class _ReadPage:
    """A page whose links can be rated: log P(tokens | bin) of what they share, (C,)."""

    context: PageContext
    shared: Floats
    tokens: tuple[str, ...]
    inner: bool  # False for the start page, whose links are sections: one says nothing about the next


@dataclass
class QSpider:
    """Scores a link by the mean value of the bins, weighted by their probability given its words.

    A link that is met again on another page has the words of both. Values can exceed 1, since several rewards
    may follow; scores are divided by the largest value, so that they end at 1.
    """

    model: QModel
    _pooled: dict[str, tuple[Floats, int]] = field(default_factory=dict, init=False)
    _cache: dict[frozenset[str], Floats] = field(default_factory=dict, init=False)

    def start(self, site: Site) -> State:  # noqa: ARG002
        return None

    def read(self, state: State, page: Page) -> Reading:
        context = PageContext.from_page(page)
        tokens = shared_tokens(page, context, self.model.settings.text)
        shared = _log_likelihood(tokens, self.model.vocabulary, self.model.log_words)
        goal = self._goal(page)
        return Reading(
            _ReadPage(context, shared, tokens, state is not None), GOAL if goal >= 0.5 else OTHER, goal
        )

    @property
    def file_kinds(self) -> tuple[str, ...]:
        return tuple(kind for kind in self.model.goal_kinds if kind != PAGE)

    def _goal(self, page: Page) -> float:
        if page.kind not in self.model.goal_kinds:
            return 0.0
        if page.is_document:
            return 1.0
        words = _log_likelihood(page_tokens(page), self.model.page_vocabulary, self.model.page_words)
        return float(softmax((words + self.model.page_priors)[None])[0, 1])

    def rate(self, reading: Reading, links: Sequence[Link]) -> list[Rated]:
        if not links:
            return []
        page: _ReadPage = reading.state
        own = (
            self._own([own_tokens(link, page.context, self.model.settings.text) for link in links])
            + page.shared
        )
        pooled = np.stack([self._pool(link.url, row) for link, row in zip(links, own, strict=True)])
        values = self.model.link_values(pooled)
        chances = softmax(pooled + self.model.log_priors)
        scores = values / max(float(self.model.values.max()), 1.0)
        return [
            Rated(score, chance, self._groups(page, link))
            for link, score, chance in zip(links, scores.tolist(), chances, strict=True)
        ]

    def _groups(self, page: _ReadPage, link: Link) -> tuple[tuple[str, str], ...]:
        """Return the list of a link, whose fetched links revise the score of the others."""
        grouped = self.model.settings.within_site and page.inner
        return ((page.context.url, link.region),) if grouped else ()

    def _pool(self, url: str, row: Floats) -> Floats:
        """Return log P(words | bin) of a link with the words of all pages that it was met on."""
        total, times = self._pooled.get(url, (0.0, 0))
        self._pooled[url] = pooled, times = (total + row, times + 1)
        return np.asarray(pooled if self.model.settings.pooling == "sum" else pooled / times)

    def _own(self, token_sets: Sequence[frozenset[str]]) -> Floats:
        new = [tokens for tokens in dict.fromkeys(token_sets) if tokens not in self._cache]
        if new:
            rows = self.model.vocabulary.rows(new) @ self.model.log_words.T
            self._cache.update(zip(new, rows, strict=True))
        return np.stack([self._cache[tokens] for tokens in token_sets])

    def combine(self, current: float, new: float) -> float:  # noqa: ARG002
        return new  # it has the words of all pages already

    def why_page(self, state: State, page: Page) -> list[Reason]:  # noqa: ARG002
        """Return the tokens of a page by their weight for a goal, or against it."""
        model = self.model
        sign = 1.0 if self._goal(page) >= 0.5 else -1.0
        return _reasons(
            page_tokens(page), model.page_vocabulary, sign * (model.page_words[1] - model.page_words[0])
        )

    def why_link(self, reading: Reading, link: Link) -> list[Reason]:
        """Return the tokens of a link by what each adds to its value, to first order."""
        page: _ReadPage = reading.state
        tokens = own_tokens(link, page.context, self.model.settings.text)
        joint = _log_likelihood((*tokens, *page.tokens), self.model.vocabulary, self.model.log_words)
        chances = softmax((joint + self.model.log_priors)[None])[0]
        gain = chances * (self.model.values - chances @ self.model.values)
        return _reasons({*tokens, *page.tokens}, self.model.vocabulary, gain @ self.model.log_words)

    def expected(self, state: State) -> tuple[str, float]:
        """Return the most probable bin, and the probability of the highest one: a goal at once."""
        if state is None:
            return "", 0.0
        return self.model.labels[int(state.argmax())], float(state[-1])

    def follows_paths(self, state: State) -> bool:  # noqa: ARG002
        return False


def _log_likelihood(
    tokens: Sequence[str] | frozenset[str], vocabulary: TokenVocabulary, log_words: Floats
) -> Floats:
    columns = [column for token in tokens if (column := vocabulary.columns_.get(token)) is not None]
    return np.asarray(log_words[:, columns].sum(axis=1))


def _reasons(
    tokens: Sequence[str] | set[str] | frozenset[str], vocabulary: TokenVocabulary, weights: Floats
) -> list[Reason]:
    columns = vocabulary.columns_
    reasons = [(token, float(weights[columns[token]])) for token in set(tokens) if token in columns]
    return sorted(reasons, key=lambda reason: (-abs(reason[1]), reason[0]))


def make_q_spider(strategy_input: StrategyInput) -> QSpider:
    """Return the scorer. Raises UsageError without a model, or with another strategy's."""
    if not isinstance(strategy_input.model, QModel):
        raise UsageError(
            f"The strategy {Q_STRATEGY} needs a model of its own: train one from recorded sites."
        )
    return QSpider(strategy_input.model)

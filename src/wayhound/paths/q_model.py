"""Future reward of links, learned from whole recorded sites: the model of the strategy `q-spider`.

Links are put into bins by their value on the recorded site; naive Bayes maps the words around a link to bins, and
the value of a new link is the mean of the bins' values, weighted by their probabilities. Section numbers are those
of McCallum, Nigam, Rennie & Seymore (2000).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from scipy.sparse import csr_array

from wayhound.errors import ModelError, TeachingError, UsageError
from wayhound.learn.arrays import Floats, TokenVocabulary, softmax
from wayhound.learn.model_file import Arrays
from wayhound.learn.naive_bayes import NaiveBayes
from wayhound.learn.shrinkage import Shrinkage
from wayhound.media import PAGE
from wayhound.page import Link, Page
from wayhound.paths.features import PageContext, fold_word, own_link_tokens, page_tokens
from wayhound.paths.rollout import RecordedSite, page_values, values_from_goals
from wayhound.text.words import words

Q_STRATEGY = "q-spider"
MAX_BINS = 5
OTHER = "other"

Text = Literal["page", "link", "all"]
Pooling = Literal["sum", "mean"]
CutPoints = Literal["halves", "lists"]
_CUTS = {"halves": (1.0, 0.5, 0.25, 0.125), "lists": (1.0, 0.9, 0.5, 0.25)}


@dataclass(frozen=True, slots=True)
class QSettings:
    """Settings of the values of links and of learning them."""

    # the discount of a reward per page fetched; 0 sees immediate rewards alone, a focused crawler (3.6.1)
    gamma: float = 0.5
    # the number of bins of values
    bins: int = 4
    # where bins are cut: "halves" from 1 (a goal at once) down by halves; "lists" has a bin for pages that lead to four
    # goals or more (0.9), and keeps them apart from pages that lead to one
    cut_points: CutPoints = "halves"
    # whether the goal page that holds a link counts as found; else every page that links back to it is worth γ
    known_source: bool = True
    # whether the outcomes of fetched links revise the scores of links in the same list
    within_site: bool = True
    # the text of a link (3.6.1): "page" is the whole page with the anchor and the words near it marked; "link" the
    # title and headings of the page, the anchor, the URL and the words near it; "all" adds the position of the link
    text: Text = "link"
    # the least number of recorded sites that a token must occur on
    min_sites: int = 2
    # extra counts of every token in every bin (5.2.1): 1 is Laplace's
    smoothing: float = 1.0
    # whether sparse bins borrow from all bins (5.2.3), with weights learned over the sites
    shrinkage: bool = True
    # the words of a link that is met on several pages: all of them (3.5), or their mean
    pooling: Pooling = "mean"

    def __post_init__(self) -> None:
        """Raise UsageError for a value that cannot be."""
        if not 0 <= self.gamma < 1:
            raise UsageError(f"The discount gamma is at least 0 and less than 1, not {self.gamma:g}.")
        if not 2 <= self.bins <= MAX_BINS:
            raise UsageError(f"Values are put into 2 to {MAX_BINS} bins, not {self.bins}.")
        for value, kind in ((self.text, Text), (self.pooling, Pooling), (self.cut_points, CutPoints)):
            if value not in get_args(kind):
                raise UsageError(f"q-spider has no setting {value!r}: use {' or '.join(get_args(kind))}.")

    @property
    def cuts(self) -> tuple[float, ...]:
        """The lower bounds of all bins but the first, rising: 0.25, 0.5, 1 for four bins."""
        return tuple(sorted(_CUTS[self.cut_points][: self.bins - 1]))


FOCUSED = QSettings(gamma=0.0, bins=2, known_source=False, within_site=False)
"""The spider that knows immediate rewards alone, with two bins (3.6.1)."""
PAPER = QSettings(known_source=False, within_site=False, shrinkage=False, pooling="sum")
"""The method of the paper to the letter, for comparison."""
TUNED = tuple(
    QSettings(cut_points=cut_points, within_site=within_site)
    for cut_points in get_args(CutPoints)
    for within_site in (True, False)
)
"""The settings among which cross-validation over the taught sites chooses."""


@dataclass(frozen=True)
class QModel:
    """Bins of values with their words, and the words of goal pages.

    `values` (C,) is the mean value of each bin's training links, `log_words` (C, V) and `log_priors` (C,) their
    naive Bayes model. `page_words` (2, W) and `page_priors` (2,) tell other pages from goals, in this order.
    """

    settings: QSettings
    values: Floats
    vocabulary: TokenVocabulary
    log_words: Floats
    log_priors: Floats
    page_vocabulary: TokenVocabulary
    page_words: Floats
    page_priors: Floats
    goal_kinds: tuple[str, ...] = (PAGE,)
    strategy: str = Q_STRATEGY

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the bins by their least value, as `Q ≥ 0.5`."""
        return tuple(f"Q ≥ {cut:g}" for cut in (0.0, *self.settings.cuts))

    @property
    def rewards(self) -> Floats:
        return self.values

    def link_values(self, log_likelihoods: Floats) -> Floats:
        """Return the expected value of links from log P(words | bin), (n, C): the weighted average of 3.5."""
        return np.asarray(softmax(log_likelihoods + self.log_priors) @ self.values)

    def strongest(self, label: str, n: int) -> list[tuple[str, float]]:
        """Return the n tokens that speak most for a bin. Raises UsageError if there is no such bin."""
        if label not in self.labels:
            raise UsageError(f"The model has no bin {label!r}. Its bins are {', '.join(self.labels)}.")
        weights = (self.log_words - self.log_words.mean(axis=0))[self.labels.index(label)]
        # a rare token with a large ratio says little: weigh by how often it is seen in the bin
        weights = weights * np.exp(self.log_words[self.labels.index(label)])
        tokens = list(self.vocabulary.columns_)
        best = np.argsort(-weights, kind="stable")[:n]
        ratios = self.log_words - self.log_words.mean(axis=0)
        return [(tokens[at], float(ratios[self.labels.index(label), at])) for at in best]

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return arrays and JSON metadata from which `unpack_q_model` restores the model."""
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        meta = {
            "strategy": self.strategy,
            "settings": asdict(self.settings),
            "tokens": list(self.vocabulary.columns_),
            "page_tokens": list(self.page_vocabulary.columns_),
            "goal_kinds": list(self.goal_kinds),
        }
        return arrays, meta


_ARRAYS = ("values", "log_words", "log_priors", "page_words", "page_priors")


def unpack_q_model(arrays: Arrays, meta: Mapping[str, Any]) -> QModel:
    """Return the packed model. Raises ModelError if it is incomplete or inconsistent."""
    try:
        settings = QSettings(**meta["settings"])
        tokens, own = [str(token) for token in meta["tokens"]], [str(token) for token in meta["page_tokens"]]
        kinds = tuple(str(kind) for kind in meta["goal_kinds"])
        read = {name: np.asarray(arrays[name], dtype=np.float64) for name in _ARRAYS}
    except (KeyError, TypeError, ValueError, UsageError) as error:
        raise ModelError(f"The model is damaged: {error} cannot be read. Train it again.") from None
    bins = settings.bins
    shapes = [(bins,), (bins, len(tokens)), (bins,), (2, len(own)), (2,)]
    for name, shape in zip(_ARRAYS, shapes, strict=True):
        if read[name].shape != shape or not np.isfinite(read[name]).all():
            raise ModelError(f"The model is damaged: {name} does not fit its tokens. Train it again.")
    return QModel(
        settings=settings,
        values=read["values"],
        vocabulary=TokenVocabulary.from_tokens(tokens),
        log_words=read["log_words"],
        log_priors=read["log_priors"],
        page_vocabulary=TokenVocabulary.from_tokens(own),
        page_words=read["page_words"],
        page_priors=read["page_priors"],
        goal_kinds=kinds,
    )


# Tokens


def shared_tokens(page: Page, context: PageContext, text: Text) -> tuple[str, ...]:
    """Return the tokens that all links of a page share."""
    if text == "page":
        return tuple(f"in {fold_word(word)}" for word in (*words(page.title), *page.tokens))
    if text == "all":
        return context.tokens
    return tuple(token for token in context.tokens if token.startswith(("on title ", "on heading ")))


def own_tokens(link: Link, context: PageContext, text: Text) -> frozenset[str]:
    """Return the tokens of one link: its anchor, the words near it, its URL unless the page is the text."""
    tokens = own_link_tokens(link, context, added=text == "all")
    return tokens if text != "page" else frozenset(t for t in tokens if not t.startswith("to "))


# Training


@dataclass
class _TokenCounts:
    """Counts of tokens in each class on one site, and how many links or pages each class has."""

    n_classes: int
    tokens: list[Counter[str]] = field(init=False)
    members: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.tokens = [Counter() for _ in range(self.n_classes)]
        self.members = [0] * self.n_classes

    def matrix(self, vocabulary: TokenVocabulary) -> Floats:
        counts = np.zeros((self.n_classes, len(vocabulary.columns_)))
        for number, counter in enumerate(self.tokens):
            for token, count in counter.items():
                if (column := vocabulary.columns_.get(token)) is not None:
                    counts[number, column] = count
        return counts


@dataclass
class SiteCounts:
    """The counts of one site: the tokens of its links by bin, of its pages by being a goal, and values of links.

    Counts of several sites add up, so that sites can be held out without counting anew.
    """

    name: str
    links: _TokenCounts
    pages: _TokenCounts
    values: Floats  # (C,) sums of the values of the links in each bin
    goal_kinds: tuple[str, ...]


def train_q_spider(sites: Sequence[RecordedSite], settings: QSettings | None = None) -> QModel:
    """Learn the values of links from whole sites, in time linear in their links.

    Raises TeachingError if no site has a goal, or none has a page that is not one.
    """
    settings = settings or QSettings()
    return fit_q_model([count_site(site, settings) for site in sites if site.goals], settings)


def fit_q_model(sites: Sequence[SiteCounts], settings: QSettings) -> QModel:
    """Return the model of counted sites. Raises TeachingError as `train_q_spider` does."""
    if not sites:
        raise TeachingError(
            "None of the recorded sites has a goal page, so no link has a value. Add sites with labelled goals, "
            "or name another goal label."
        )
    links, pages = [site.links for site in sites], [site.pages for site in sites]
    members = np.sum([counts.members for counts in links], axis=0)
    if not members.sum():
        raise TeachingError("The recorded sites have no links between their pages. Record whole sites.")
    names = [site.name for site in sites]
    vocabulary = _vocabulary(links, names, settings.min_sites)
    page_vocabulary = _vocabulary(pages, names, settings.min_sites)
    log_words, log_priors = _fit(links, vocabulary, settings)
    page_words, page_priors = _fit(pages, page_vocabulary, settings)
    sums = np.sum([site.values for site in sites], axis=0)
    lowest = np.array([0.0, *settings.cuts])  # an empty bin has the value of its lower bound
    return QModel(
        settings=settings,
        values=np.where(members > 0, sums / np.maximum(members, 1), lowest),
        vocabulary=vocabulary,
        log_words=log_words,
        log_priors=log_priors,
        page_vocabulary=page_vocabulary,
        page_words=page_words,
        page_priors=page_priors,
        goal_kinds=tuple(dict.fromkeys(kind for site in sites for kind in site.goal_kinds)),
    )


def count_site(site: RecordedSite, settings: QSettings) -> SiteCounts:
    """Count the tokens of a site's links by bin, and of its pages.

    A link that occurs on several pages is one link with the words of all of them.
    """
    values = page_values(site, settings.gamma)
    known = values_from_goals(site, settings.gamma) if settings.known_source else {}
    counts, sums = _TokenCounts(settings.bins), np.zeros(settings.bins)
    linked: set[tuple[str, float]] = set()
    for url, page in site.pages.items():
        own = {target: known.get((url, target), values[target]) for target in site.targets(url)}
        bins = {target: bisect_right(settings.cuts, value) for target, value in own.items()}
        _count_page_links(page, bins, counts, settings)
        linked.update(own.items())
    for _, value in sorted(linked):
        number = bisect_right(settings.cuts, value)
        counts.members[number] += 1
        sums[number] += value
    kinds = dict.fromkeys(site.pages[url].kind for url in sorted(site.goals))
    return SiteCounts(site.name, counts, _count_pages(site), sums, tuple(kinds))


def _count_page_links(page: Page, bins: Mapping[str, int], counts: _TokenCounts, settings: QSettings) -> None:
    """Count the tokens of one page's links; `bins` has those of their targets."""
    links = {link.url: link for link in reversed(page.links) if link.url in bins}
    if not links:
        return
    context = PageContext.from_page(page)
    for url, link in links.items():
        counts.tokens[bins[url]].update(own_tokens(link, context, settings.text))
    # the words of the page count once for every link on it
    shared = Counter(shared_tokens(page, context, settings.text))
    for number, times in Counter(bins[url] for url in links).items():
        tokens = counts.tokens[number]
        for token, count in shared.items():
            tokens[token] += times * count


def _count_pages(site: RecordedSite) -> _TokenCounts:
    counts = _TokenCounts(2)
    for url, page in site.pages.items():
        is_goal = int(url in site.goals)
        counts.tokens[is_goal].update(page_tokens(page))
        counts.members[is_goal] += 1
    return counts


def _vocabulary(counted: Sequence[_TokenCounts], sites: Sequence[str], min_sites: int) -> TokenVocabulary:
    sets = [set().union(*counts.tokens) for counts in counted]
    return TokenVocabulary(min(min_sites, len(sites))).fit(sets, sites)


def _fit(
    counted: Sequence[_TokenCounts], vocabulary: TokenVocabulary, settings: QSettings
) -> tuple[Floats, Floats]:
    """Return log P(token | class) (C, V) and log P(class) (C,), both with Laplace smoothing (Eq. 10 and 11)."""
    folds = np.stack([counts.matrix(vocabulary) for counts in counted])
    total = folds.sum(axis=0)
    members = np.sum([counts.members for counts in counted], axis=0) + 1.0
    if settings.shrinkage:
        paths = np.array([[number, len(total)] for number in range(len(total))])
        log_words = np.log(Shrinkage(paths).fit(folds).blend(total))
    else:
        log_words = NaiveBayes(settings.smoothing).fit(csr_array(total), np.eye(len(total))).log_words_
    return log_words, np.log(members / members.sum())

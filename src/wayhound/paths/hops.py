"""Hops to the target, learned from marked browsing: the models of the strategies `hop-hmm` and `hop-crf`.

Pages are put into clusters of a latent space (`page_space`); a page's hidden state T_i is that a useful page is i
clicks away.
Section and equation numbers are those of Liu, Milios & Janssen (2004). Their crawler downloads every page that a
page links to before it orders them; here the cluster behind a link is predicted from the words around the link.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
from scipy.sparse import csr_array

from wayhound.errors import ModelError, TeachingError, UsageError
from wayhound.learn.arrays import Floats, Ints, TokenVocabulary, log_softmax, softmax
from wayhound.learn.chain import Chains, Rules, forward_step
from wayhound.learn.crf import ChainCRF
from wayhound.learn.hop_hmm import HopHMM, Normalised, possible_steps
from wayhound.learn.latent import Clusters, LatentSpace
from wayhound.learn.model_file import Arrays
from wayhound.media import PAGE
from wayhound.page import Link, Page
from wayhound.paths.features import PageContext
from wayhound.paths.page_space import (
    FEATURE_NAMES,
    N_FEATURES_BESIDE_CLUSTERS,
    NineFeatures,
    PageSpace,
    TopicWords,
    VisitedPages,
    fit_page_space,
    gather_keywords,
)
from wayhound.paths.rollout import RecordedSite
from wayhound.paths.samples import trails_by_site
from wayhound.trail import Trail, goal_kinds

HMM_STRATEGY = "hop-hmm"
CRF_STRATEGY = "hop-crf"
MAX_CHAINS = 20_000  # of the CRF; from larger sites, every second or third link is taken, and so on

Order = Literal["steps", "marginals"]
Features = Literal["real", "binary"]


@dataclass(frozen=True, slots=True)
class HopSettings:
    """Settings of hop models: the description of pages, and learning and using hops."""

    # hidden states: T0 is a useful page, the last one is everything farther, or without a way to one
    states: int = 5
    # clusters of pages (K = 5 in 2.1), and whether K-means is refined by EM
    clusters: int = 5
    em: bool = True
    # dimensions of the latent space
    rank: int = 50
    # a new page's cluster is that of most of its nearest taught pages; 0 takes the best cluster itself
    neighbours: int = 5
    # "column": a_ij is the share of links into T_j that come from T_i (Eq. 1); "row": of those from T_i
    normalised: Normalised = "column"
    # extra counts of every possible step and every cluster
    smoothing: float = 1.0
    # "steps": by the most probable last step (the Url_order matrix, 3.2), ties by δ; "marginals": by the expected
    # discounted reward, given the probability of each state
    order: Order = "steps"
    # the discount of a reward per click, for marginals
    gamma: float = 0.5
    # the variance of the Gaussian prior of the CRF (4.3)
    prior_variance: float = 1.0
    # similarities as they are, or as 0 and 1 by `threshold` (4.2.2)
    features: Features = "real"
    threshold: float = 0.3
    # the draw of the first clusters
    seed: int = 0

    def __post_init__(self) -> None:
        """Raise UsageError for a value that cannot be."""
        choices = ((self.normalised, Normalised), (self.order, Order), (self.features, Features))
        for value, kind in choices:
            if value not in get_args(kind):
                raise UsageError(f"Hop models have no setting {value!r}: use {' or '.join(get_args(kind))}.")
        if self.states < 2 or self.clusters < 2 or self.rank < 1 or self.neighbours < 0:
            raise UsageError("Hop models need at least 2 states, 2 clusters and 1 dimension.")
        if not 0 <= self.gamma < 1:
            raise UsageError(f"The discount gamma is at least 0 and less than 1, not {self.gamma:g}.")


# The model


@dataclass(frozen=True, slots=True)
class HopBelief:
    """Logarithms of α and δ over the states, (S,) each, and ψ, the state before each (S,) (Eq. 4 to 6)."""

    alpha: Floats
    delta: Floats
    came_from: Ints

    def probabilities(self) -> Floats:
        return np.asarray(softmax(self.alpha[None])[0])


@dataclass(frozen=True)
class HopModel:
    """A trained model of hops; `hmm` or `crf` is set, as the strategy says."""

    strategy: str
    settings: HopSettings
    space: PageSpace
    keywords: TopicWords
    cluster_similarities: Floats
    hmm: HopHMM | None = None
    crf: ChainCRF | None = None
    goal_kinds: tuple[str, ...] = (PAGE,)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(f"T{hops}" for hops in range(self.settings.states))

    @property
    def rewards(self) -> Floats:
        """The value of a page in each state: discounted by the clicks, and nothing beyond the last."""
        values = np.array([self.settings.gamma**hops for hops in range(self.settings.states)])
        values[-1] = 0.0
        return values

    @property
    def nine_features(self) -> NineFeatures:
        threshold = None if self.settings.features == "real" else self.settings.threshold
        return NineFeatures(self.space, self.keywords, self.cluster_similarities, threshold)

    def read_page(self, before: HopBelief | None, page: Page, link: Link | None) -> HopBelief:
        """Return the belief after a page; `before` is that after the page with the link, None at the start."""
        row = self.space.rows([page])[0]
        kinds = self.space.kinds(row[None])[0]
        if self.hmm is not None:
            return self._hmm_step(before, kinds[None])[0]
        return self._crf_step(before, self.nine_features.of_page(page, link, row, kinds)[None])[0]

    def follow_links(
        self, before: HopBelief, links: Sequence[Link], page: Page, context: PageContext
    ) -> list[HopBelief]:
        """Return the belief behind each link, before its page is known."""
        kinds = self.space.predicted_kinds(links, page, context)
        return self.follow_clusters(before, kinds, links)

    def follow_clusters(
        self, before: HopBelief, kinds: Floats, links: Sequence[Link] = ()
    ) -> list[HopBelief]:
        """Return the belief behind links to pages of these clusters, (n, K)."""
        if self.hmm is not None:
            return self._hmm_step(before, kinds)
        return self._crf_step(before, self.nine_features.of_links(links or [Link("")] * len(kinds), kinds))

    def follow_known(
        self, before: HopBelief, links: Sequence[Link], pages: Sequence[Page]
    ) -> list[HopBelief]:
        """Return the belief behind each link if its page has been downloaded, as in the paper (2.3)."""
        return [self.read_page(before, page, link) for page, link in zip(pages, links, strict=True)]

    def _hmm_step(self, before: HopBelief | None, kinds: Floats) -> list[HopBelief]:
        assert self.hmm is not None
        if before is None:
            alpha = delta = self.hmm.begin()
            came_from = np.arange(self.settings.states)
        else:
            alpha = self.hmm.sum_step(before.alpha)
            delta, came_from = self.hmm.best_step(before.delta)
        alphas = log_softmax(self.hmm.observe(alpha, kinds))
        deltas = self.hmm.observe(delta, kinds)
        return [HopBelief(alphas[n], deltas[n], came_from) for n in range(len(kinds))]

    def _crf_step(self, before: HopBelief | None, columns: Floats) -> list[HopBelief]:
        assert self.crf is not None
        if before is None:
            scores = columns @ self.crf.state_weights_
            return [HopBelief(row, row, np.arange(len(row))) for row in log_softmax(scores)]
        steps = self.crf.transitions(csr_array(columns))
        alphas = log_softmax(forward_step(before.alpha, steps))
        ways = before.delta[None, :, None] + steps
        # products of potentials have no scale of their own, so δ is normalised as it goes
        deltas = log_softmax(ways.max(axis=1))
        return [HopBelief(alphas[n], deltas[n], ways[n].argmax(axis=0)) for n in range(len(columns))]

    def strongest(self, label: str, n: int) -> list[tuple[str, float]]:
        """Return what speaks most for a state: words of its clusters, or features of the CRF."""
        if label not in self.labels:
            raise UsageError(f"The model has no state {label!r}. Its states are {', '.join(self.labels)}.")
        state = self.labels.index(label)
        if self.crf is not None:
            weights = self.crf.edge_weights_[:, :, state].mean(axis=1)
            names = self.feature_names()
        else:
            assert self.hmm is not None
            emissions = self.hmm.emissions_
            lift = np.log(emissions[state] / emissions.mean(axis=0))
            weights = self.space.space.components_ @ (lift @ self.space.clusters.centres_)
            names = [f"body {word}" for word in self.space.vocabulary.columns_]
        best = np.argsort(-weights, kind="stable")[:n]
        return [(names[at], float(weights[at])) for at in best]

    def feature_names(self) -> list[str]:
        own = [f"cluster {n + 1}" for n in range(self.settings.clusters)] + [*FEATURE_NAMES, "any page"]
        return [*own, *(f"link: {name}" for name in own)]

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return arrays and JSON metadata from which `unpack_hop_model` restores the model."""
        space = self.space
        arrays: dict[str, Any] = {
            "idf": space.space.idf_,
            "components": space.space.components_,
            "rows": space.clusters.rows_,
            "cluster_of_row": space.clusters.labels_.astype(float),
            "centres": space.clusters.centres_,
            "targets": space.targets,
            "link_words": space.link_words,
            "link_priors": space.link_priors,
            "cluster_similarities": self.cluster_similarities,
        }
        if space.clusters.em:
            arrays |= {"variances": space.clusters.variances_, "cluster_weights": space.clusters.weights_}
        if self.hmm is not None:
            arrays |= {"transitions": self.hmm.transitions_, "emissions": self.hmm.emissions_}
        if self.crf is not None:
            arrays |= {
                "state_weights": self.crf.state_weights_,
                "transition_weights": self.crf.transition_weights_,
                "edge_weights": self.crf.edge_weights_,
            }
        meta = {
            "strategy": self.strategy,
            "settings": asdict(self.settings),
            "words": list(space.vocabulary.columns_),
            "link_tokens": list(space.link_vocabulary.columns_),
            "keywords": sorted(self.keywords.words),
            "goal_kinds": list(self.goal_kinds),
        }
        return arrays, meta


def unpack_hop_model(arrays: Arrays, meta: Mapping[str, Any]) -> HopModel:
    """Return the packed model. Raises ModelError if it is incomplete or inconsistent."""
    try:
        return _unpack(arrays, meta)
    except (KeyError, TypeError, ValueError, IndexError, UsageError) as error:
        raise ModelError(f"The model is damaged: {error} cannot be read. Train it again.") from None


def _unpack(arrays: Arrays, meta: Mapping[str, Any]) -> HopModel:
    settings = HopSettings(**meta["settings"])
    tokens, links = [str(word) for word in meta["words"]], [str(token) for token in meta["link_tokens"]]
    n, k = settings.states, settings.clusters
    width = 2 * (k + N_FEATURES_BESIDE_CLUSTERS + 1)
    rank, pages = arrays["components"].shape[1], len(arrays["rows"])

    def take(name: str, *shape: int) -> Floats:
        array = np.asarray(arrays[name], dtype=np.float64)
        if array.shape != shape or not np.isfinite(array).all():
            raise ValueError(name)
        return array

    space = LatentSpace(settings.rank)
    space.idf_, space.components_ = take("idf", len(tokens)), take("components", len(tokens), rank)
    clusters = Clusters(k, em=settings.em)
    clusters.rows_, clusters.centres_ = take("rows", pages, rank), take("centres", k, rank)
    clusters.labels_ = take("cluster_of_row", pages).astype(np.int64)
    if settings.em:
        clusters.variances_, clusters.weights_ = take("variances", k, rank), take("cluster_weights", k)
    hmm, crf = None, None
    if meta["strategy"] == HMM_STRATEGY:
        hmm = _make_hmm(settings)
        hmm.starts_ = np.full(n, 1.0 / n)
        hmm.transitions_, hmm.emissions_ = take("transitions", n, n), take("emissions", n, k)
    else:
        crf = _make_crf(settings)
        crf.state_weights_, crf.transition_weights_ = (
            take("state_weights", width, n),
            take("transition_weights", n, n),
        )
        crf.edge_weights_ = take("edge_weights", width, n, n)
    page_space = PageSpace(
        vocabulary=TokenVocabulary.from_tokens(tokens),
        space=space,
        clusters=clusters,
        neighbours=settings.neighbours,
        targets=take("targets", len(arrays["targets"]), rank),
        link_vocabulary=TokenVocabulary.from_tokens(links),
        link_words=take("link_words", k, len(links)),
        link_priors=take("link_priors", k),
    )
    return HopModel(
        strategy=str(meta["strategy"]),
        settings=settings,
        space=page_space,
        keywords=TopicWords(frozenset(map(str, meta["keywords"]))),
        cluster_similarities=take("cluster_similarities", k),
        hmm=hmm,
        crf=crf,
        goal_kinds=tuple(map(str, meta["goal_kinds"])),
    )


def _make_hmm(settings: HopSettings) -> HopHMM:
    return HopHMM(
        settings.states, settings.clusters, smoothing=settings.smoothing, normalised=settings.normalised
    )


def _make_crf(settings: HopSettings) -> ChainCRF:
    every = np.ones(settings.states, dtype=bool)
    rules = Rules(possible_steps(settings.states), every, every)
    return ChainCRF(rules, settings.prior_variance, max_iterations=60)


# Training


def browsed_sites(trails: Sequence[Trail]) -> list[RecordedSite]:
    """Return the pages that were visited on each site, with those that a person marked; clicks count as links."""
    sites = []
    for name, own in trails_by_site(trails).items():
        pages = {step.page.url: step.page for trail in own for step in trail.steps}
        goals = {trail.steps[-1].page.url for trail in own if trail.reached_goal}
        sites.append(RecordedSite.closed(name, pages, goals))
    return sites


def train_hops(
    strategy: str,
    sites: Sequence[RecordedSite],
    trails: Sequence[Trail],
    settings: HopSettings | None = None,
    keywords: Iterable[str] = (),
) -> HopModel:
    """Learn from marked browsing: the visited pages of each site, and for the CRF the sequences walked.

    Raises TeachingError if no page is marked as useful, or if there are fewer pages than clusters.
    """
    settings = settings or HopSettings()
    if not any(site.goals for site in sites):
        raise TeachingError(
            "No visited page is marked as useful, so nothing says what to look for. Browse again and mark at least "
            "one page: wayhound teach --free."
        )
    visited = VisitedPages(sites, settings.states)
    if len(visited.pages) < settings.clusters:
        raise TeachingError(
            f"{len(visited.pages)} visited pages cannot be put into {settings.clusters} clusters. Browse more pages, "
            f"or train with --set clusters={max(2, len(visited.pages) // 2)}."
        )
    clusters = Clusters(settings.clusters, em=settings.em)
    generator = np.random.default_rng(settings.seed)
    space, rows = fit_page_space(
        visited, LatentSpace(settings.rank), clusters, settings.neighbours, generator
    )
    kinds = np.eye(settings.clusters)[space.clusters.labels_]
    similar = space.similarities(rows)
    sizes = np.maximum(kinds.sum(axis=0), 1.0)
    model = HopModel(
        strategy=strategy,
        settings=settings,
        space=space,
        keywords=gather_keywords(sites, keywords),
        cluster_similarities=np.asarray(similar @ kinds / sizes),
        goal_kinds=goal_kinds(trails) if trails else (PAGE,),
    )
    if strategy == HMM_STRATEGY:
        links = np.array(visited.links, dtype=np.int64).reshape(-1, 2)
        hmm = _make_hmm(settings).fit(np.array(visited.states), kinds.argmax(axis=1), links)
        return replace(model, hmm=hmm)
    return replace(model, crf=_CrfLessons(model, visited, rows, kinds).fit(trails))


@dataclass
class _CrfLessons:
    """The sequences that the CRF learns from (4.3): walks that end at a target, and links as they were met.

    Walks alone would show nothing but the right way. So every known link of a walked page is a sequence too: the
    pages before it as they were seen, and the link as it was before it was followed.
    """

    model: HopModel
    visited: VisitedPages
    rows: Floats
    kinds: Floats

    def fit(self, trails: Sequence[Trail]) -> ChainCRF:
        chains = list(self._chains(trails))
        if not chains:
            raise TeachingError(
                "No walk ends at a useful page, so the CRF has no sequence to learn from. Browse from a start page to "
                "a page that you mark as useful."
            )
        step = -(-len(chains) // MAX_CHAINS)
        chains = chains[::step]
        columns = np.vstack([rows for rows, _ in chains])
        states = np.array([state for _, own in chains for state in own])
        lengths = np.array([len(own) for _, own in chains])
        matrix = csr_array(columns)
        first = np.zeros((len(columns), 1))
        first[np.concatenate(([0], np.cumsum(lengths)[:-1]))] = 1.0
        chain_data = Chains(csr_array(columns * first), lengths, edges=matrix)
        return _make_crf(self.model.settings).fit(chain_data, states)

    def _chains(self, trails: Sequence[Trail]) -> Iterator[tuple[Floats, list[int]]]:
        seen: set[tuple[str, ...]] = set()
        for trail in trails:
            urls = tuple(step.page.url for step in trail.steps)
            numbers = [self.visited.numbers.get((trail.site, url)) for url in urls]
            if None in numbers:
                continue
            known = [number for number in numbers if number is not None]
            rows = np.stack(
                [self._page_row(number, step.link) for number, step in zip(known, trail.steps, strict=True)]
            )
            states = [self.visited.states[number] for number in known]
            if trail.reached_goal and self._allowed(states):
                yield rows, states
            for at in range(len(known)):
                if urls[: at + 1] not in seen and self._allowed(states[: at + 1]):
                    seen.add(urls[: at + 1])
                    yield from self._link_chains(known[at], rows[: at + 1], states[: at + 1])

    def _page_row(self, number: int, link: Link | None) -> Floats:
        page = self.visited.pages[number]
        return self.model.nine_features.of_page(page, link, self.rows[number], self.kinds[number])

    def _link_chains(
        self, number: int, rows: Floats, states: list[int]
    ) -> Iterator[tuple[Floats, list[int]]]:
        page, site = self.visited.pages[number], self.visited.names[number]
        links = self.visited.known_links(number)
        if not links:
            return
        kinds = self.model.space.predicted_kinds(links, page, PageContext.from_page(page))
        for link, row in zip(links, self.model.nine_features.of_links(links, kinds), strict=True):
            behind = [*states, self.visited.states[self.visited.numbers[site, link.url]]]
            if self._allowed(behind):
                yield np.vstack([rows, row]), behind

    def _allowed(self, states: Sequence[int]) -> bool:
        """Return False for a walk along links that the recorded pages do not have."""
        return all(after >= before - 1 for before, after in pairwise(states))

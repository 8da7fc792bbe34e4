"""Train a path model from trails, one trainer for each taught strategy.

Sections and equations are those of Vydiswaran & Sarawagi (2005).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from statistics import fmean

import numpy as np
from scipy.sparse import csr_array

from wayhound.errors import TeachingError
from wayhound.learn.arrays import Floats, Ints, TokenVocabulary, scale_columns
from wayhound.learn.chain import Chains, Rules
from wayhound.learn.crf import ChainCRF
from wayhound.learn.logistic import LogisticRegression
from wayhound.learn.naive_bayes import NaiveBayes
from wayhound.paths.labellers import (
    EdgeCrfLabeller,
    IndependentLabeller,
    Labeller,
    PairedCrfLabeller,
    pair_rules,
)
from wayhound.paths.model import ADAPTIVE_STRATEGY, CRF_STRATEGY, AdaptiveModel, ForageModel
from wayhound.paths.page_names import learn_names, page_names
from wayhound.paths.samples import (
    PathSample,
    SampleMaker,
    fit_vocabulary,
    labels_of,
    token_scales,
    trails_by_site,
)
from wayhound.paths.settings import PathSettings
from wayhound.paths.site_recognition import TELLING_NAME, LessonFacts
from wayhound.paths.trait_model import (
    LabelledPage,
    LinkPrior,
    TraitExample,
    complete_examples,
    fit_trait_model,
    labelled_pages,
    learn_link_prior,
    spied_examples,
)
from wayhound.paths.traits import ReachedPage
from wayhound.trail import GOAL, Trail, goal_kinds


@dataclass(frozen=True)
class CrfTrainer:
    """Trains the chain CRF and the rewards of its labels."""

    settings: PathSettings = field(default_factory=PathSettings)
    max_iterations: int = 60

    def fit(self, trails: Sequence[Trail]) -> ForageModel:
        """Return the model. Raises TeachingError if no trail ends at a goal."""
        samples = SampleMaker(self.settings).from_trails(trails)
        data = _ChainData(samples, labels_of(samples), fit_vocabulary(samples, self.settings))
        labeller = self._paired(data) if self.settings.topology == "pairs" else self._edge(data)
        rewards = self._rewards(labeller, data)
        return ForageModel(CRF_STRATEGY, self.settings, data.labels, data.vocabulary, labeller, rewards)

    def _paired(self, data: _ChainData) -> PairedCrfLabeller:
        return PairedCrfLabeller(self._crf(pair_rules(len(data.labels)), data, *data.paired_chains()))

    def _edge(self, data: _ChainData) -> EdgeCrfLabeller:
        return EdgeCrfLabeller(self._crf(Rules.free(len(data.labels)), data, *data.page_chains()))

    def _crf(self, rules: Rules, data: _ChainData, chains: Chains, states: Ints) -> ChainCRF:
        """Fit on rows with scaled tokens, then fold the scales into the weights: they are for unscaled rows."""
        scales = token_scales(data.vocabulary, self.settings)
        edges = None if chains.edges is None else scale_columns(chains.edges, scales)
        scaled = replace(chains, features=scale_columns(chains.features, scales), edges=edges)
        crf = ChainCRF(rules, self.settings.prior_variance, self.settings.step_variance, self.max_iterations)
        crf.fit(scaled, states, data.weights)
        crf.state_weights_ = crf.state_weights_ * scales[:, None]
        if edges is not None:
            crf.edge_weights_ = crf.edge_weights_ * scales[:, None, None]
        return crf

    def _rewards(self, labeller: Labeller, data: _ChainData) -> Floats:
        if self.settings.rewards == "harvest":
            return harvest_rewards(data.samples, data.labels, self.settings.sharpness)
        whole = [sample for sample in data.samples if not sample.ends_in_link]
        rewards = [self._discounted(labeller, replace(data, samples=[sample])) for sample in whole]
        return np.asarray(np.mean(rewards, axis=0))  # Eq. 5

    def _discounted(self, labeller: Labeller, data: _ChainData) -> Floats:
        """Return Eq. 4 for the link states of one trail, (labels,)."""
        goal = data.labels.index(GOAL)
        if isinstance(labeller, PairedCrfLabeller):
            chains, _ = data.paired_chains()
            scores = labeller.crf.scores(chains.features)[chains.row_of_position()]
            ends = goal_end_probabilities(scores, labeller.crf.transitions(), goal)
            return discounted(ends, self.settings.gamma)[labeller.n :]
        assert isinstance(labeller, EdgeCrfLabeller)
        chains, _ = data.page_chains()
        assert chains.edges is not None
        transitions = labeller.link_scores(chains.edges).reshape(-1, labeller.n, labeller.n)
        scores = labeller.crf.scores(chains.features)[chains.row_of_position()]
        return discounted(goal_end_probabilities(scores, transitions, goal), self.settings.gamma)


@dataclass(frozen=True)
class _ChainData:
    """Samples as chains of numbers. Equal token sets (start pages, above all) share one row."""

    samples: Sequence[PathSample]
    labels: tuple[str, ...]
    vocabulary: TokenVocabulary

    @property
    def weights(self) -> Floats:
        return np.array([sample.weight for sample in self.samples])

    def paired_chains(self) -> tuple[Chains, Ints]:
        """Return alternating pages and links (2.4.2); the states of links come after those of pages."""
        token_sets = [tokens for sample in self.samples for tokens in sample.tokens]
        lengths = np.array([len(sample.tokens) for sample in self.samples])
        states = [
            self.labels.index(label) + (at % 2) * len(self.labels)
            for sample in self.samples
            for at, label in enumerate(sample.labels)
        ]
        features, rows = _distinct_rows(self.vocabulary, token_sets)
        return Chains(features, lengths, rows=rows), np.array(states)

    def page_chains(self) -> tuple[Chains, Ints]:
        """Return pages alone, with links as edge features (2.4.1); an unread page shows nothing."""
        nothing: frozenset[str] = frozenset()
        page_sets, link_sets, states, lengths = [], [], [], []
        for sample in self.samples:
            pages, links = [*sample.tokens[::2]], [nothing, *sample.tokens[1::2]]
            pages += [nothing] * sample.ends_in_link
            page_sets += pages
            link_sets += links
            lengths.append(len(pages))
            labels = [*sample.labels[::2], *sample.labels[-1:] * sample.ends_in_link]
            states += [self.labels.index(label) for label in labels]
        features, rows = _distinct_rows(self.vocabulary, page_sets)
        chains = Chains(features, np.array(lengths), rows=rows, edges=self.vocabulary.rows(link_sets))
        return chains, np.array(states)


def _distinct_rows(
    vocabulary: TokenVocabulary, token_sets: Sequence[frozenset[str]]
) -> tuple[csr_array, Ints]:
    """Return the rows of the distinct sets, and the row of each set."""
    numbers: dict[frozenset[str], int] = {}
    rows = np.array([numbers.setdefault(tokens, len(numbers)) for tokens in token_sets])
    return vocabulary.rows(list(numbers)), rows


def harvest_rewards(samples: Sequence[PathSample], labels: Sequence[str], sharpness: float = 1.0) -> Floats:
    """Return the mean harvest behind the taught links of each label (in the place of Eq. 5), (labels,)."""
    sums, counts = np.zeros(len(labels)), np.zeros(len(labels))
    for sample in samples:
        if sample.ends_in_link:
            label = labels.index(sample.labels[-1])
            sums[label] += sample.weight * sample.value
            counts[label] += sample.weight
    rewards = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    rewards[labels.index(GOAL)] = 1.0
    return np.asarray(rewards**sharpness)


def goal_end_probabilities(scores: Floats, transitions: Floats, goal: int) -> Floats:
    """Return R_i(y) of Eq. 3, (n, states): the probability that a goal ends the chain, from each state.

    `scores` (n, states) are those of the state features, `transitions` (states, states) or (n, states, states)
    those of the transitions into each position.
    """
    n, n_states = scores.shape
    ends = np.zeros((n, n_states))
    ends[-1, goal] = 1.0
    for at in range(n - 2, -1, -1):
        step = transitions if transitions.ndim == 2 else transitions[at + 1]
        ways = step + scores[at + 1]
        top = ways.max(axis=1, keepdims=True)
        shares = np.exp(ways - np.where(np.isfinite(top), top, 0.0))
        ends[at] = shares @ ends[at + 1] / shares.sum(axis=1)
    return ends


def discounted(ends: Floats, gamma: float) -> Floats:
    """Return Eq. 4, (states,): positions weigh γ to the power of their distance from the end."""
    weights = gamma ** np.arange(len(ends))[::-1]
    return np.asarray(weights @ ends / weights.sum())


LogLinear = tuple[Floats, Floats]
"""Weights (tokens, labels) and biases (labels,)."""


@dataclass(frozen=True)
class _Examples:
    """Rows (n, tokens), their labels (n,) and weights (n,); the scale of each token (tokens,)."""

    rows: csr_array
    classes: Ints
    weights: Floats
    n_labels: int
    scales: Floats


LogLinearFit = Callable[[_Examples, PathSettings], LogLinear]


def train_maxent(trails: Sequence[Trail], settings: PathSettings) -> ForageModel:
    """Train a CRF without transitions: one maximum-entropy model of pages and one of links."""
    return _train_independent("maxent", trails, settings, _fit_maxent)


def train_naive_bayes(trails: Sequence[Trail], settings: PathSettings) -> ForageModel:
    """Train multinomials over tokens with Laplace smoothing."""
    return _train_independent("naive-bayes", trails, settings, _fit_naive_bayes)


def train_focused(trails: Sequence[Trail], settings: PathSettings) -> ForageModel:
    """Train the simplified accelerated focused crawler (4.4.2): a link's score is its probability of a goal."""
    alone = replace(settings, neighbours=0.0, within_site=False)
    model = _train_independent("focused", trails, alone, _fit_maxent)
    return replace(model, rewards=np.array([float(label == GOAL) for label in model.labels]))


def _train_independent(
    strategy: str, trails: Sequence[Trail], settings: PathSettings, fit: LogLinearFit
) -> ForageModel:
    samples = SampleMaker(settings).from_trails(trails)
    labels, vocabulary = labels_of(samples), fit_vocabulary(samples, settings)
    scales = token_scales(vocabulary, settings)
    tables = []
    for kind in (0, 1):
        sets, names, weights = _positions(samples, kind)
        classes = np.array([labels.index(name) for name in names], dtype=np.int64)
        examples = _Examples(vocabulary.rows(sets), classes, np.array(weights), len(labels), scales)
        tables.append(fit(examples, settings))
    labeller = IndependentLabeller(*tables[0], *tables[1])
    rewards = harvest_rewards(samples, labels, settings.sharpness)
    return ForageModel(strategy, settings, labels, vocabulary, labeller, rewards)


def _positions(
    samples: Sequence[PathSample], kind: int
) -> tuple[list[frozenset[str]], list[str], list[float]]:
    """Return the tokens, labels and weights of all pages (0) or links (1); equal ones are merged."""
    weights: dict[tuple[frozenset[str], str], float] = {}
    for sample in samples:
        if sample.ends_in_link and not kind:
            continue  # its pages occur again on the whole trail
        positions = list(zip(sample.tokens, sample.labels, strict=True))[kind::2]
        for position in positions[-1:] if sample.ends_in_link else positions:
            weights[position] = weights.get(position, 0.0) + sample.weight
    return [tokens for tokens, _ in weights], [label for _, label in weights], list(weights.values())


def _fit_maxent(examples: _Examples, settings: PathSettings) -> LogLinear:
    model = LogisticRegression(examples.n_labels, settings.prior_variance)
    model.fit(scale_columns(examples.rows, examples.scales), examples.classes, examples.weights)
    return model.weights_ * examples.scales[:, None], model.bias_


def _fit_naive_bayes(examples: _Examples, settings: PathSettings) -> LogLinear:  # noqa: ARG001
    memberships = np.zeros((len(examples.classes), examples.n_labels))
    memberships[np.arange(len(examples.classes)), examples.classes] = examples.weights
    model = NaiveBayes().fit(examples.rows, memberships)
    return np.ascontiguousarray(model.log_words_.T), model.log_priors_


Trainer = Callable[[Sequence[Trail], PathSettings], ForageModel]


def _with_goal_kinds(train: Trainer) -> Trainer:
    """Wrap a trainer so that its model records the kinds of goals in the trails."""
    return lambda trails, settings: replace(train(trails, settings), goal_kinds=goal_kinds(trails))


TOLD_BY_NAME = 0.5  # a name tells the only goal of a site if at most one other page shares it
UnlabelledPages = Mapping[str, Sequence[ReachedPage]]
"""Further pages of taught sites, by the start page of the site."""

CompleteLists = Mapping[str, Collection[str]]
"""The URLs of all goals among the pages seen of a taught site, as a person confirmed them, by its start page."""


def train_adaptive(
    trails: Sequence[Trail],
    settings: PathSettings,
    unlabelled: UnlabelledPages | None = None,
    *,
    complete: CompleteLists | None = None,
    use_urls: bool = True,
    ignored: Collection[str] = frozenset(),
    path: ForageModel | None = None,
) -> AdaptiveModel:
    """Train the model of the strategy `adaptive` from trails, and from further pages of the taught sites.

    On sites with a complete list, the further pages are goals or others as the list says; on the rest spies decide.
    Without the `ignored` concepts, a goal that the lexicon names is learned like one that it does not name. `path` is
    the path learner of the sites with goals, if it is trained already: of the other sites, it would learn states of
    pages that lead nowhere.
    """
    path = path or TRAINERS[CRF_STRATEGY](of_sites_with_goals(trails), settings)
    pages = labelled_pages(trails, use_urls=use_urls)
    examples = _weighted_by_site([example for example, _ in pages])
    if all(example.truth > 0 for example in examples):
        raise TeachingError(
            "Every page that was shown is a goal, so nothing tells a goal from another page. Show goals that are "
            "at least a click away from the start page, and reject a page or two that you do not want."
        )
    further: list[TraitExample] = []
    for site, seen in (unlabelled or {}).items():
        own = [page for page in pages if page[0].site == site]
        if complete is not None and site in complete:
            further += complete_examples(site, own, seen, complete[site], use_urls=use_urls)
        else:
            further += spied_examples(site, own, seen, use_urls=use_urls, ignored=ignored)
    from_trails = fit_trait_model(examples, ignored)
    prior = learn_link_prior(trails, use_urls=use_urls, ignored=ignored)
    names, name_trust = learn_names(
        [(own.site, own.truth > 0, page_names(reached, use_urls=use_urls)) for own, reached in pages]
    )
    lesson = _lesson_facts(pages, unlabelled or {}, prior, use_urls=use_urls)
    return AdaptiveModel(
        **{part.name: getattr(path, part.name) for part in fields(path)} | {"strategy": ADAPTIVE_STRATEGY},
        from_trails=from_trails,
        from_sites=fit_trait_model([*examples, *further], ignored) if further else from_trails,
        prior=prior,
        lesson=replace(lesson, name_trust=name_trust),
        names=names,
        use_urls=use_urls,
    )


def of_sites_with_goals(trails: Sequence[Trail]) -> list[Trail]:
    """Return the trails of sites on which at least one reached a goal."""
    return [
        trail
        for own in trails_by_site(trails).values()
        if any(other.reached_goal for other in own)
        for trail in own
    ]


def _weighted_by_site(examples: Sequence[TraitExample]) -> list[TraitExample]:
    """Return the examples, those of sites without a goal scaled to count together no more than the other failures.

    Beside thirty sites on which only failures were shown, goals of a new site looked like these rather than like the
    goals of three others.
    """
    sites = {example.site for example in examples if example.truth}
    within = sum(example.weight for example in examples if example.site in sites and not example.truth)
    beyond = sum(example.weight for example in examples if example.site not in sites)
    share = min(1.0, within / beyond) if within and beyond else 1.0
    return [
        example if example.site in sites else replace(example, weight=share * example.weight)
        for example in examples
    ]


def _lesson_facts(
    pages: Sequence[LabelledPage], unlabelled: UnlabelledPages, prior: LinkPrior, *, use_urls: bool
) -> LessonFacts:
    """Return what the lesson shows beside its pages. One goal on the only taught site may be chance."""
    by_site: dict[str, list[TraitExample]] = {}
    for example, _ in pages:
        by_site.setdefault(example.site, []).append(example)
    goals = {
        site: [prior.named(example.traits) for example in own if example.truth]
        for site, own in by_site.items()
    }
    shown = {site: named for site, named in goals.items() if named}
    singles = [site for site, named in shown.items() if len(named) == 1]
    shares = []  # of the goal among the pages of its site that are named like it
    for site in singles:
        known = {example.url: example.traits for example in by_site[site]}
        for reached in unlabelled.get(site, ()):
            if reached.page.url not in known:
                known[reached.page.url] = reached.traits(use_urls=use_urls)
        named = sum(prior.named(traits) >= TELLING_NAME for traits in known.values())
        shares.append((shown[site][0] >= TELLING_NAME) / max(named, 1))
    return LessonFacts(
        sites=len(shown),
        goals=sum(map(len, shown.values())),
        one_goal=len(shown) > 1 and len(singles) == len(shown),
        single=len(singles) / len(shown) if len(shown) > 1 else 0.0,
        named=fmean(fmean(named) for named in shown.values()) if shown else 0.0,
        told_by_name=2 * len(shares) >= len(shown) > 0 and fmean(shares) >= TOLD_BY_NAME,
    )


TRAINERS: dict[str, Trainer] = {
    ADAPTIVE_STRATEGY: train_adaptive,
    "path-learner": _with_goal_kinds(lambda trails, settings: CrfTrainer(settings).fit(trails)),
    "maxent": _with_goal_kinds(train_maxent),
    "naive-bayes": _with_goal_kinds(train_naive_bayes),
    "focused": _with_goal_kinds(train_focused),
}
"""Trainers by the name of the strategy."""


def label_trainer(strategy: str) -> Trainer:
    """Return the trainer of the part of a model that labels pages along a path.

    Of an adaptive model, settings and label scores concern that part alone, and training the rest takes longer.
    """
    return TRAINERS[CRF_STRATEGY if strategy == ADAPTIVE_STRATEGY else strategy]

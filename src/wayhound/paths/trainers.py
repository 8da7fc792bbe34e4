"""From trails to a model, by the name of the strategy that it is for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import csr_array

from wayhound.learn.chain import Floats, Ints
from wayhound.learn.crf import ChainCRF, Chains, Rules
from wayhound.learn.logistic import Softmax
from wayhound.learn.naive_bayes import NaiveBayes
from wayhound.learn.vocabulary import TokenVocabulary
from wayhound.paths.labellers import (
    EdgeCrfLabeller,
    IndependentLabeller,
    Labeller,
    PairedCrfLabeller,
    pair_rules,
)
from wayhound.paths.model import FIELD, ForageModel
from wayhound.paths.samples import (
    PathSample,
    SampleMaker,
    discounted,
    goal_end_probabilities,
    harvest_rewards,
    labels_of,
    scaled,
    trust_of,
    vocabulary_of,
    weights_of,
)
from wayhound.paths.settings import PathSettings
from wayhound.trail import GOAL, Trail, goal_kinds


@dataclass(frozen=True)
class CrfTrainer:
    """`fit` gives the model."""

    settings: PathSettings = field(default_factory=PathSettings)
    max_iterations: int = 60

    def fit(self, trails: Sequence[Trail]) -> ForageModel:
        samples = SampleMaker(self.settings).of(trails)
        labels, vocabulary = labels_of(samples), vocabulary_of(samples, self.settings)
        lesson = _Lesson(samples, labels, vocabulary)
        judge = self._pairs(lesson) if self.settings.topology == "pairs" else self._labels(lesson)
        rewards = self._rewards(judge, samples, labels, vocabulary)
        return ForageModel(FIELD, self.settings, labels, vocabulary, judge, rewards)

    def _pairs(self, lesson: _Lesson) -> PairedCrfLabeller:
        return PairedCrfLabeller(self._field(pair_rules(len(lesson.labels)), lesson, *lesson.pairs()))

    def _labels(self, lesson: _Lesson) -> EdgeCrfLabeller:
        return EdgeCrfLabeller(self._field(Rules.free(len(lesson.labels)), lesson, *lesson.pages()))

    def _field(self, rules: Rules, lesson: _Lesson, chains: Chains, states: Ints) -> ChainCRF:
        """Taught on rows by how far their tokens are trusted; its weights are for rows as they are."""
        by_token = trust_of(lesson.vocabulary, self.settings)
        edges = None if chains.edges is None else scaled(chains.edges, by_token)
        weighed = replace(chains, features=scaled(chains.features, by_token), edges=edges)
        settings = self.settings
        field = ChainCRF(rules, settings.prior_variance, settings.step_variance, self.max_iterations)
        field.fit(weighed, states, lesson.weights)
        field.state_weights_ = field.state_weights_ * by_token[:, None]
        if edges is not None:
            field.edge_weights_ = field.edge_weights_ * by_token[:, None, None]
        return field

    def _rewards(
        self,
        judge: Labeller,
        samples: Sequence[PathSample],
        labels: tuple[str, ...],
        vocabulary: TokenVocabulary,
    ) -> Floats:
        if self.settings.rewards == "harvest":
            return harvest_rewards(samples, labels, self.settings.sharpness)
        whole = [sample for sample in samples if not sample.ends_in_link]
        found = [self._discounted(judge, sample, labels, vocabulary) for sample in whole]
        return np.asarray(np.mean(found, axis=0))  # Eq. 5

    def _discounted(
        self, judge: Labeller, sample: PathSample, labels: tuple[str, ...], vocabulary: TokenVocabulary
    ) -> Floats:
        """Eq. 4 for the link states of one trail, (labels,)."""
        lesson = _Lesson([sample], labels, vocabulary)
        goal = labels.index(GOAL)
        if isinstance(judge, PairedCrfLabeller):
            chains, _ = lesson.pairs()
            scores = judge.field.scores(chains.features)[chains.shown()]
            return discounted(
                goal_end_probabilities(scores, judge.field.log_steps, goal), self.settings.gamma
            )[judge.n :]
        assert isinstance(judge, EdgeCrfLabeller)
        chains, _ = lesson.pages()
        assert chains.edges is not None
        steps = judge.link_scores(chains.edges).reshape(-1, judge.n, judge.n)
        scores = judge.field.scores(chains.features)[chains.shown()]
        return discounted(goal_end_probabilities(scores, steps, goal), self.settings.gamma)


@dataclass(frozen=True)
class _Lesson:
    """Samples as chains of numbers. Token sets that come again (start pages, above all) are one row."""

    samples: Sequence[PathSample]
    labels: tuple[str, ...]
    vocabulary: TokenVocabulary

    @property
    def weights(self) -> Floats:
        return weights_of(self.samples)

    def pairs(self) -> tuple[Chains, Ints]:
        """Pages and links in turn (2.4.2); the states of links stand behind those of pages."""
        shown = [tokens for sample in self.samples for tokens in sample.tokens]
        lengths = np.array([len(sample.tokens) for sample in self.samples])
        states = [
            self.labels.index(label) + (at % 2) * len(self.labels)
            for sample in self.samples
            for at, label in enumerate(sample.labels)
        ]
        features, rows = _rows(self.vocabulary, shown)
        return Chains(features, lengths, rows=rows), np.array(states)

    def pages(self) -> tuple[Chains, Ints]:
        """Pages alone, links as what is seen on the step into each (2.4.1); an unread page shows nothing."""
        nothing: frozenset[str] = frozenset()
        shown, links, states, lengths = [], [], [], []
        for sample in self.samples:
            pages, steps = [*sample.tokens[::2]], [nothing, *sample.tokens[1::2]]
            pages += [nothing] * sample.ends_in_link
            shown += pages
            links += steps
            lengths.append(len(pages))
            labels = [*sample.labels[::2], *sample.labels[-1:] * sample.ends_in_link]
            states += [self.labels.index(label) for label in labels]
        features, rows = _rows(self.vocabulary, shown)
        chains = Chains(features, np.array(lengths), rows=rows, edges=self.vocabulary.rows(links))
        return chains, np.array(states)


def _rows(vocabulary: TokenVocabulary, sets: Sequence[frozenset[str]]) -> tuple[csr_array, Ints]:
    numbers: dict[frozenset[str], int] = {}
    shown = np.array([numbers.setdefault(tokens, len(numbers)) for tokens in sets])
    return vocabulary.rows(list(numbers)), shown


LogLinear = tuple[Floats, Floats]
"""Weights (tokens, labels) and biases (labels,)."""


@dataclass(frozen=True)
class _Examples:
    """Rows (n, tokens), their labels (n,) and weights (n,); how far each token is trusted (tokens,)."""

    rows: csr_array
    classes: Ints
    weights: Floats
    n_labels: int
    trust: Floats


Learner = Callable[[_Examples, PathSettings], LogLinear]


def maxent(trails: Sequence[Trail], settings: PathSettings) -> ForageModel:
    """A field without steps: the exponential model of each page and each link."""
    return _taught("maxent", trails, settings, _softmax)


def naive_bayes(trails: Sequence[Trail], settings: PathSettings) -> ForageModel:
    """Multinomials over tokens with Laplace smoothing."""
    return _taught("naive-bayes", trails, settings, _multinomials)


def focused(trails: Sequence[Trail], settings: PathSettings) -> ForageModel:
    """The simplified accelerated focused crawler (4.4.2): a link is worth what it is likely to be a goal."""
    plain = replace(settings, neighbours=0.0, within_site=False)
    model = _taught("focused", trails, plain, _softmax)
    return replace(model, rewards=np.array([float(label == GOAL) for label in model.labels]))


def _taught(strategy: str, trails: Sequence[Trail], settings: PathSettings, learner: Learner) -> ForageModel:
    samples = SampleMaker(settings).of(trails)
    labels, vocabulary = labels_of(samples), vocabulary_of(samples, settings)
    learned = []
    for kind in (0, 1):
        sets, names, weights = _positions(samples, kind)
        classes = np.array([labels.index(name) for name in names], dtype=np.int64)
        trust = trust_of(vocabulary, settings)
        examples = _Examples(vocabulary.rows(sets), classes, np.array(weights), len(labels), trust)
        learned.append(learner(examples, settings))
    judge = IndependentLabeller(*learned[0], *learned[1])
    rewards = harvest_rewards(samples, labels, settings.sharpness)
    return ForageModel(strategy, settings, labels, vocabulary, judge, rewards)


def _positions(
    samples: Sequence[PathSample], kind: int
) -> tuple[list[frozenset[str]], list[str], list[float]]:
    """All pages (0) or links (1) with their labels; what comes again with the same label counts in sum."""
    counts: dict[tuple[frozenset[str], str], float] = {}
    for sample in samples:
        if sample.ends_in_link and not kind:
            continue  # its pages come again on the whole trail
        positions = list(zip(sample.tokens, sample.labels, strict=True))[kind::2]
        for position in positions[-1:] if sample.ends_in_link else positions:
            counts[position] = counts.get(position, 0.0) + sample.weight
    return [tokens for tokens, _ in counts], [label for _, label in counts], list(counts.values())


def _softmax(taught: _Examples, settings: PathSettings) -> LogLinear:
    fitted = Softmax(taught.n_labels, settings.prior_variance)
    fitted.fit(scaled(taught.rows, taught.trust), taught.classes, taught.weights)
    return fitted.weights_ * taught.trust[:, None], fitted.bias_


def _multinomials(taught: _Examples, settings: PathSettings) -> LogLinear:  # noqa: ARG001
    memberships = np.zeros((len(taught.classes), taught.n_labels))
    memberships[np.arange(len(taught.classes)), taught.classes] = taught.weights
    fitted = NaiveBayes().fit(taught.rows, memberships)
    return np.ascontiguousarray(fitted.log_words_.T), fitted.log_priors_


Trainer = Callable[[Sequence[Trail], PathSettings], ForageModel]


def _knowing_kinds(train: Trainer) -> Trainer:
    """A model knows what kinds of goals it was taught, whatever else it learns."""
    return lambda trails, settings: replace(train(trails, settings), goal_kinds=goal_kinds(trails))


TRAINERS: dict[str, Trainer] = {
    "path-learner": _knowing_kinds(lambda trails, settings: CrfTrainer(settings).fit(trails)),
    "maxent": _knowing_kinds(maxent),
    "naive-bayes": _knowing_kinds(naive_bayes),
    "focused": _knowing_kinds(focused),
}

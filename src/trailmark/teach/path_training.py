"""Teach the path learner: a field over the labels of trails (2.3, 2.4), and what its states are worth (3.1).

Sections are those of Vydiswaran & Sarawagi (2005).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse import csr_array

from trailmark.learn.chain import Floats, Ints
from trailmark.learn.crf import ChainCRF, Chains, Rules
from trailmark.learn.path_judges import Judge, LabelsJudge, PairsJudge, pair_rules
from trailmark.learn.path_model import FIELD, ForageModel
from trailmark.learn.path_settings import Settings
from trailmark.learn.vocabulary import Vocabulary
from trailmark.teach.path_rewards import discounted, end_by_position, harvest_rewards
from trailmark.teach.path_samples import (
    Sample,
    Sampling,
    labels_of,
    scaled,
    trust_of,
    vocabulary_of,
    weights_of,
)
from trailmark.trail import GOAL, Trail


@dataclass(frozen=True)
class PathTraining:
    """`fit` gives the model."""

    settings: Settings = field(default_factory=Settings)
    max_iterations: int = 60

    def fit(self, trails: Sequence[Trail]) -> ForageModel:
        samples = Sampling(self.settings).of(trails)
        labels, vocabulary = labels_of(samples), vocabulary_of(samples, self.settings)
        lesson = _Lesson(samples, labels, vocabulary)
        judge = self._pairs(lesson) if self.settings.topology == "pairs" else self._labels(lesson)
        rewards = self._rewards(judge, samples, labels, vocabulary)
        return ForageModel(FIELD, self.settings, labels, vocabulary, judge, rewards)

    def _pairs(self, lesson: _Lesson) -> PairsJudge:
        return PairsJudge(self._field(pair_rules(len(lesson.labels)), lesson, *lesson.pairs()))

    def _labels(self, lesson: _Lesson) -> LabelsJudge:
        return LabelsJudge(self._field(Rules.free(len(lesson.labels)), lesson, *lesson.pages()))

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
        judge: Judge,
        samples: Sequence[Sample],
        labels: tuple[str, ...],
        vocabulary: Vocabulary,
    ) -> Floats:
        if self.settings.rewards == "harvest":
            return harvest_rewards(samples, labels, self.settings.sharpness)
        whole = [sample for sample in samples if not sample.ends_in_link]
        found = [self._discounted(judge, sample, labels, vocabulary) for sample in whole]
        return np.asarray(np.mean(found, axis=0))  # Eq. 5

    def _discounted(
        self, judge: Judge, sample: Sample, labels: tuple[str, ...], vocabulary: Vocabulary
    ) -> Floats:
        """Eq. 4 for the link states of one trail, (labels,)."""
        lesson = _Lesson([sample], labels, vocabulary)
        goal = labels.index(GOAL)
        if isinstance(judge, PairsJudge):
            chains, _ = lesson.pairs()
            scores = judge.field.scores(chains.features)[chains.shown()]
            return discounted(end_by_position(scores, judge.field.log_steps, goal), self.settings.gamma)[
                judge.n :
            ]
        assert isinstance(judge, LabelsJudge)
        chains, _ = lesson.pages()
        assert chains.edges is not None
        steps = judge.link_scores(chains.edges).reshape(-1, judge.n, judge.n)
        scores = judge.field.scores(chains.features)[chains.shown()]
        return discounted(end_by_position(scores, steps, goal), self.settings.gamma)


@dataclass(frozen=True)
class _Lesson:
    """Samples as chains of numbers. Token sets that come again (start pages, above all) are one row."""

    samples: Sequence[Sample]
    labels: tuple[str, ...]
    vocabulary: Vocabulary

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


def _rows(vocabulary: Vocabulary, sets: Sequence[frozenset[str]]) -> tuple[csr_array, Ints]:
    numbers: dict[frozenset[str], int] = {}
    shown = np.array([numbers.setdefault(tokens, len(numbers)) for tokens in sets])
    return vocabulary.rows(list(numbers)), shown

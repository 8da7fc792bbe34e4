"""From keywords and documents to a topic model and a place for every document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import block_array, csr_array, eye_array

from wayhound.errors import UsageError
from wayhound.learn.calibration import Temperature
from wayhound.learn.naive_bayes import Bools, Floats, Ints
from wayhound.learn.topic_bootstrap import HierarchicalNaiveBayes, OutsideLeaves, Round
from wayhound.learn.topic_links import LinkSpread, LinkWeights, NoSpread, Spread
from wayhound.topics.documents import CitationLinks, TopicDocument
from wayhound.topics.model import Thresholds, TopicModel, TopicPlacement, nowhere
from wayhound.topics.rules import KeywordMatches, KeywordPrior
from wayhound.topics.tree import Topic, TopicTree
from wayhound.topics.vocabulary import LONGEST_DOCUMENT, TopicVocabulary


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """What may be chosen.

    One round of EM: the first gains most, and in later ones short documents drift away from the keywords.
    The word of a person counts as much as `correction_weight` documents. Words in fewer than
    `least_documents` are left out; in a small collection that would be most, so there fewer will do. With
    `enough_documents` a topic, what was learned is believed as much as the keywords themselves.
    """

    least_documents: int = 5
    longest: float = LONGEST_DOCUMENT
    rounds: int = 1
    links: LinkWeights = field(default_factory=LinkWeights)
    thresholds: Thresholds = field(default_factory=Thresholds)
    correction_weight: float = 5.0
    held_out: float = 1 / 3
    enough_documents: float = 10.0

    def least_documents_of(self, n_documents: int) -> int:
        return min(self.least_documents, max(2, n_documents // 300))


@dataclass(frozen=True)
class TopicTraining:
    """A model, where it puts the documents that it learned from, and how it came about."""

    model: TopicModel
    placements: tuple[TopicPlacement, ...]
    matches: KeywordMatches
    trace: tuple[Round, ...]
    converged: bool
    weights: Floats  # λ of every leaf, (C, K + 1)
    memberships: Floats  # calibrated, (documents, C)
    outside: Floats  # (documents, I)

    @property
    def empty(self) -> tuple[Topic, ...]:
        """The leaves for which no document speaks; they stay empty."""
        leaves = self.model.tree.leaves
        return tuple(leaf for leaf, prior in zip(leaves, self.model.priors, strict=True) if np.isinf(prior))

    @property
    def history(self) -> dict[str, Any]:
        """How it came about, in plain numbers and words."""
        return {
            "documents": len(self.placements),
            "words": len(self.model.vocabulary),
            "coverage": self.matches.coverage,
            "rounds": [asdict(told) for told in self.trace],
            "converged": self.converged,
            "scale": self.model.scale,
            "nowhere": sum(not placed.topic for placed in self.placements),
            "empty": [leaf.title for leaf in self.empty],
        }


def train(
    tree: TopicTree,
    documents: Sequence[TopicDocument],
    rng: np.random.Generator,
    *,
    citations: CitationLinks | None = None,
    corrections: Mapping[str, tuple[str, ...]] | None = None,
    settings: TopicSettings | None = None,
) -> TopicTraining:
    """Fill the tree. `corrections` give the paths that a person chose for documents, by id."""
    settings = settings or TopicSettings()
    collection = _Collection(tree, documents, citations, corrections or {}, settings)
    model = HierarchicalNaiveBayes(tree.leaf_paths, settings.rounds).fit(
        collection.counts,
        collection.start,
        rng,
        fixed=collection.fixed,
        weights=collection.weights,
        spread=collection.spread,
    )
    scale = _calibrate(collection, rng, settings)
    outside = OutsideLeaves(tree.leaf_paths, tree.interior_paths)
    outside.fit(collection.own_counts, collection.start[: len(documents)], rng)
    return _Outcome(collection, model, outside, scale).training()


class _Collection:
    """Documents as matrices: n of them, then the papers that are only cited, N in all."""

    def __init__(
        self,
        tree: TopicTree,
        documents: Sequence[TopicDocument],
        citations: CitationLinks | None,
        corrections: Mapping[str, tuple[str, ...]],
        settings: TopicSettings,
    ) -> None:
        self.tree, self.documents, self.settings = tree, documents, settings
        self.chosen = corrections
        self.matches = KeywordMatches.of(tree, documents)
        self.corrections = _known_corrections(tree, corrections)
        least = settings.least_documents_of(len(documents))
        self.vocabulary = TopicVocabulary.of((document.bag for document in documents), least)
        if not len(self.vocabulary):
            raise UsageError("The documents hold no word to learn from, only stop words and single letters.")
        self.own_counts = self.vocabulary.counts((document.bag for document in documents), settings.longest)
        self.rows = citations.rows(documents) if citations and citations.pairs else {}
        self.counts = with_ids(self.own_counts, len(self.rows)) if self.rows else self.own_counts
        self.spread: Spread = NoSpread()
        if citations and self.rows:
            self.spread = LinkSpread(citations.links(self.rows), settings.links)
        self.start, self.fixed, self.weights = self._labels()
        if not self.start.any():
            raise UsageError(
                "No keyword of the tree stands in any document, so there is nothing to learn from. "
                "Give the topics keywords that the documents use."
            )

    def _labels(self) -> tuple[Floats, Bools, Floats]:
        """Preliminary labels, which of them a person gave, and how much each document teaches."""
        n_rows = self.counts.shape[0]
        start = np.zeros((n_rows, len(self.tree.leaves)))
        start[: len(self.documents)] = self.matches.votes()
        fixed = np.zeros(n_rows, dtype=bool)
        for row, document in enumerate(self.documents):
            if document.id in self.corrections:
                start[row], fixed[row] = self.corrections[document.id], True
        return start, fixed, np.where(fixed, self.settings.correction_weight, 1.0)

    def without_keywords(self, rows: Ints) -> csr_array:
        """The counts again, but in these rows without the words of the keywords that labelled them."""
        kept = self.counts.copy()
        for row in rows:
            rules = (self.matches.rules.rules[number] for number in self.matches.of_documents[row])
            words = {word for rule in rules for word in rule.words if word in self.vocabulary}
            columns = [self.vocabulary.column(word) for word in words]
            here = slice(kept.indptr[row], kept.indptr[row + 1])
            kept.data[here][np.isin(kept.indices[here], columns)] = 0.0
        return kept


def _known_corrections(tree: TopicTree, corrections: Mapping[str, tuple[str, ...]]) -> dict[str, Floats]:
    """Corrections as labels over the leaves; the word for an interior topic is shared by its leaves."""
    labels = {}
    for document, path in corrections.items():
        below = np.array([leaf.path[: len(path)] == path for leaf in tree.leaves], dtype=np.float64)
        if not path or not below.any():
            raise UsageError(f"{document} was put under {' › '.join(path)}, which is no topic of the tree.")
        labels[document] = below / below.sum()
    return labels


def with_ids(counts: csr_array, n_rows: int) -> csr_array:
    """Rows for papers without words, and a column for every id: what is cited together belongs together."""
    missing = csr_array((n_rows - counts.shape[0], counts.shape[1]))
    words = block_array([[counts], [missing]], format="csr") if missing.shape[0] else counts
    return csr_array(block_array([[words, eye_array(n_rows)]], format="csr"))


def _calibrate(collection: _Collection, rng: np.random.Generator, settings: TopicSettings) -> float:
    """The scale that makes held-out keyword labels most likely, when their keywords cannot be seen.

    A share of the labelled documents teaches nothing to a second model, which must then find their labels
    from their other words.
    """
    labelled = np.flatnonzero(collection.start.any(axis=1) & ~collection.fixed)
    held = np.sort(rng.permutation(labelled)[: int(len(labelled) * settings.held_out)])
    if not len(held) or len(held) == len(labelled):
        return 1.0
    start, weights = collection.start.copy(), collection.weights.copy()
    start[held], weights[held] = 0.0, 0.0
    counts = collection.without_keywords(held)
    model = HierarchicalNaiveBayes(collection.tree.leaf_paths, settings.rounds)
    model.fit(counts, start, rng, fixed=collection.fixed, weights=weights, spread=collection.spread)
    joint = collection.spread.gather(model.scores(counts)) + model.log_priors_
    known = np.isfinite(model.log_priors_)
    return Temperature().fit(joint[held][:, known], collection.start[held][:, known]).scale_


@dataclass(frozen=True)
class _Outcome:
    """Puts together what was learned."""

    collection: _Collection
    learned: HierarchicalNaiveBayes
    outside: OutsideLeaves
    scale: float

    def training(self) -> TopicTraining:
        collection, learned = self.collection, self.learned
        n_documents = len(collection.documents)
        scores = learned.scores(collection.counts)
        joint = collection.spread.gather(scores)[:n_documents] + learned.log_priors_
        temperature = Temperature()
        temperature.scale_ = self.scale
        model = self._model(scores)
        memberships, outside = self._with_keywords(
            model.keywords, temperature.predict(joint), self.outside.predict(collection.own_counts)
        )
        return TopicTraining(
            model,
            tuple(self._placements(model, memberships, outside)),
            collection.matches,
            tuple(learned.trace_),
            learned.converged_,
            learned.weights_,
            memberships,
            outside,
        )

    def _with_keywords(self, voice: KeywordPrior, leaves: Floats, outside: Floats) -> tuple[Floats, Floats]:
        """The same probabilities, (n, C) and (n, I), with what the keywords say by themselves."""
        collection = self.collection
        rows = zip(collection.documents, leaves, outside, collection.matches.of_documents, strict=True)
        joined = [voice.join(*row) for row in rows]
        return np.stack([each for each, _ in joined]), np.stack([extra for _, extra in joined])

    def _model(self, scores: Floats) -> TopicModel:
        voice = KeywordPrior.among(self.collection.matches, self.collection.settings.enough_documents)
        collection, n_words = self.collection, len(self.collection.vocabulary)
        spread = collection.spread
        linked = isinstance(spread, LinkSpread)
        return TopicModel(
            collection.tree,
            collection.vocabulary,
            np.ascontiguousarray(self.learned.log_words_[:, :n_words].T),
            self.learned.log_priors_,
            np.ascontiguousarray(self.outside.log_words_.T),
            self.outside.log_priors_,
            self.scale,
            collection.settings.longest,
            collection.settings.links if linked else None,
            tuple(collection.rows) if linked else (),
            spread.met(scores) if isinstance(spread, LinkSpread) else None,
            collection.settings.thresholds,
            voice.worth,
            voice.weight,
        )

    def _placements(self, model: TopicModel, memberships: Floats, outside: Floats) -> list[TopicPlacement]:
        return [
            self._placement(model, row, document, memberships[row], outside[row])
            for row, document in enumerate(self.collection.documents)
        ]

    def _placement(
        self, model: TopicModel, row: int, document: TopicDocument, leaves: Floats, extra: Floats
    ) -> TopicPlacement:
        chosen = self.collection.chosen.get(document.id)
        if chosen is None and not self._anything_known(row):
            return nowhere(document.id)
        placed = model.placer.place(document.id, leaves, extra)
        if chosen is not None:
            placed = self._by_hand(placed, chosen)
        counts = self.collection.own_counts
        here = slice(counts.indptr[row], counts.indptr[row + 1])
        words = model.deciding_words(counts.indices[here].astype(np.int64), counts.data[here], placed.leaf)
        return replace(placed, words=words)

    def _by_hand(self, placed: TopicPlacement, chosen: tuple[str, ...]) -> TopicPlacement:
        below = [leaf.path for leaf in self.collection.tree.leaves if leaf.path[: len(chosen)] == chosen]
        leaf = placed.leaf if placed.leaf in below else below[0]
        return TopicPlacement(placed.document, chosen, 1.0, leaf, corrected=True)

    def _anything_known(self, row: int) -> bool:
        words, spread = self.collection.own_counts.indptr, self.collection.spread
        return bool(words[row + 1] > words[row] or (isinstance(spread, LinkSpread) and spread.linked[row]))

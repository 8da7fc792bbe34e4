"""Train a topic model from keywords and documents, and place every document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import block_array, csr_array, eye_array

from wayhound.errors import UsageError
from wayhound.learn.arrays import Bools, Floats, Ints
from wayhound.learn.naive_bayes import Temperature
from wayhound.learn.topic_bootstrap import HierarchicalNaiveBayes, OutsideLeaves, Round
from wayhound.learn.topic_links import LinkSpread, LinkWeights, NoSpread, Spread
from wayhound.topics.documents import CitationLinks, TopicDocument
from wayhound.topics.field_words import FieldWords, field_of, shipped_field, with_field
from wayhound.topics.model import (
    PlacementThresholds,
    TopicModel,
    TopicPlacement,
    placed_nowhere,
    speaks_for_tree,
)
from wayhound.topics.rules import KeywordMatches, KeywordPrior
from wayhound.topics.tree import Topic, TopicTree
from wayhound.topics.vocabulary import MAX_DOCUMENT_WORDS, TopicVocabulary


@dataclass(frozen=True, slots=True)
class TopicSettings:
    """Hyperparameters of training.

    One round of EM, because the first gains most and later ones let short documents drift from the keywords.
    A correction weighs as much as `correction_weight` documents. Words in fewer than `min_documents` documents
    are ignored; a small collection needs a lower limit, or most of its words would go. With `enough_documents`
    labelled documents a topic, learned words and the keyword prior have equal weight. `held_out` is the share of
    labelled documents that calibrates the confidences.
    """

    min_documents: int = 5
    max_words: float = MAX_DOCUMENT_WORDS
    rounds: int = 1
    links: LinkWeights = field(default_factory=LinkWeights)
    thresholds: PlacementThresholds = field(default_factory=PlacementThresholds)
    correction_weight: float = 5.0
    held_out: float = 1 / 3
    enough_documents: float = 10.0

    def min_documents_among(self, n_documents: int) -> int:
        return min(self.min_documents, max(2, n_documents // 300))


@dataclass(frozen=True)
class TopicTraining:
    """A trained model, the placements of its training documents, and how training went."""

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
        """The leaves without any labelled document. They stay empty."""
        leaves = self.model.tree.leaves
        return tuple(
            leaf for leaf, prior in zip(leaves, self.model.log_priors, strict=True) if np.isinf(prior)
        )

    @property
    def history(self) -> dict[str, Any]:
        """The course of training, as JSON for the model file."""
        return {
            "documents": len(self.placements),
            "words": len(self.model.vocabulary),
            "coverage": self.matches.coverage,
            "rounds": [asdict(step) for step in self.trace],
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
    field_words: FieldWords | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> TopicTraining:
    """Train on documents and place them.

    `corrections` map the ids of documents to the paths that a person chose. `on_step` is called with the name of
    each of `STEPS` before it begins. `field_words` are by default those of the shipped tree that `tree` was made
    from, if it was. Raises UsageError if there is nothing to learn from.
    """
    settings = settings or TopicSettings()
    on_step(STEPS[0])
    collection = _Collection(tree, documents, citations, corrections or {}, settings)
    on_step(STEPS[1])
    model = HierarchicalNaiveBayes(tree.leaf_paths, settings.rounds).fit(
        collection.counts,
        collection.start,
        rng,
        fixed=collection.fixed,
        weights=collection.weights,
        spread=collection.spread,
    )
    on_step(STEPS[2])
    scale = _calibrate(collection, rng, settings)
    on_step(STEPS[3])
    outside = OutsideLeaves(tree.leaf_paths, tree.interior_paths)
    outside.fit(collection.own_counts, collection.start[: len(documents)], rng)
    name = field_of(tree)
    return _Outcome(collection, model, outside, scale, name, field_words or shipped_field(name)).training()


STEPS = (
    "matching keywords",
    "learning the words of each topic",
    "calibrating confidences",
    "placing documents",
)


class _Collection:
    """Documents as matrices: n rows for them, then rows for works that are only cited, N in all."""

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
        self.matches = KeywordMatches.find(tree, documents)
        self.corrections = _correction_labels(tree, corrections)
        min_documents = settings.min_documents_among(len(documents))
        self.vocabulary = TopicVocabulary.from_bags((document.bag for document in documents), min_documents)
        if not len(self.vocabulary):
            raise UsageError(
                "The documents contain no word to learn from, only stop words and single letters."
            )
        self.own_counts = self.vocabulary.counts((document.bag for document in documents), settings.max_words)
        self.rows = citations.rows(documents) if citations and citations.pairs else {}
        self.counts = with_ids(self.own_counts, len(self.rows)) if self.rows else self.own_counts
        self.spread: Spread = NoSpread()
        if citations and self.rows:
            self.spread = LinkSpread(citations.links(self.rows), settings.links)
        self.start, self.fixed, self.weights = self._labels()
        if not self.start.any():
            raise UsageError(
                "No keyword of the tree occurs in any document, so there is nothing to learn from. "
                "Give the topics keywords that the documents use."
            )

    def _labels(self) -> tuple[Floats, Bools, Floats]:
        """Return preliminary labels, which of them are corrections, and the weight of each document."""
        n_rows = self.counts.shape[0]
        start = np.zeros((n_rows, len(self.tree.leaves)))
        start[: len(self.documents)] = self.matches.votes()
        fixed = np.zeros(n_rows, dtype=bool)
        for row, document in enumerate(self.documents):
            if document.id in self.corrections:
                start[row], fixed[row] = self.corrections[document.id], True
        return start, fixed, np.where(fixed, self.settings.correction_weight, 1.0)

    def without_keywords(self, rows: Ints) -> csr_array:
        """Return the counts with, in these rows, the words of the matching keywords set to 0."""
        kept = self.counts.copy()
        for row in rows:
            rules = (self.matches.rules.rules[number] for number in self.matches.by_document[row])
            words = {word for rule in rules for word in rule.words if word in self.vocabulary}
            columns = [self.vocabulary.column(word) for word in words]
            here = slice(kept.indptr[row], kept.indptr[row + 1])
            kept.data[here][np.isin(kept.indices[here], columns)] = 0.0
        return kept


def _correction_labels(tree: TopicTree, corrections: Mapping[str, tuple[str, ...]]) -> dict[str, Floats]:
    """Return corrections as labels over the leaves; one for an interior topic is shared by its leaves."""
    labels = {}
    for document, path in corrections.items():
        below = np.array([leaf.path[: len(path)] == path for leaf in tree.leaves], dtype=np.float64)
        if not path or not below.any():
            raise UsageError(
                f"{document} was corrected to {' › '.join(path)}, which is no longer a topic of the tree. "
                "Correct it again, or put the topic back."
            )
        labels[document] = below / below.sum()
    return labels


def with_ids(counts: csr_array, n_rows: int) -> csr_array:
    """Add rows for works without words, and a column for every id: works cited together belong together."""
    missing = csr_array((n_rows - counts.shape[0], counts.shape[1]))
    words = block_array([[counts], [missing]], format="csr") if missing.shape[0] else counts
    return csr_array(block_array([[words, eye_array(n_rows)]], format="csr"))


def _calibrate(collection: _Collection, rng: np.random.Generator, settings: TopicSettings) -> float:
    """Return the scale that makes held-out keyword labels most likely when their keywords are hidden.

    A second model is trained without a share of the labelled documents, and predicts their labels from
    their other words. Scored on its own training documents it would look surer than it is.
    """
    labelled = np.flatnonzero(collection.start.any(axis=1) & ~collection.fixed)
    held_out = np.sort(rng.permutation(labelled)[: int(len(labelled) * settings.held_out)])
    if not len(held_out) or len(held_out) == len(labelled):
        return 1.0
    start, weights = collection.start.copy(), collection.weights.copy()
    start[held_out], weights[held_out] = 0.0, 0.0
    counts = collection.without_keywords(held_out)
    model = HierarchicalNaiveBayes(collection.tree.leaf_paths, settings.rounds)
    model.fit(counts, start, rng, fixed=collection.fixed, weights=weights, spread=collection.spread)
    joint = collection.spread.gather(model.scores(counts)) + model.log_priors_
    used = np.isfinite(model.log_priors_)
    return Temperature().fit(joint[held_out][:, used], collection.start[held_out][:, used]).scale_


@dataclass(frozen=True)
class _Outcome:
    """Assembles the model and the placements from what was learned."""

    collection: _Collection
    learned: HierarchicalNaiveBayes
    outside: OutsideLeaves
    scale: float
    field_name: str
    field_words: FieldWords | None

    def training(self) -> TopicTraining:
        collection, learned = self.collection, self.learned
        n_documents = len(collection.documents)
        scores = learned.scores(collection.counts)
        joint = collection.spread.gather(scores)[:n_documents] + learned.log_priors_
        temperature = Temperature()
        temperature.scale_ = self.scale
        model = self._model(scores)
        memberships, outside = self._mix_keyword_prior(
            model.keyword_prior, temperature.predict(joint), self.outside.predict(collection.own_counts)
        )
        return TopicTraining(
            model=model,
            placements=tuple(self._placements(model, memberships, outside)),
            matches=collection.matches,
            trace=tuple(learned.trace_),
            converged=learned.converged_,
            weights=learned.weights_,
            memberships=memberships,
            outside=outside,
        )

    def _mix_keyword_prior(
        self, prior: KeywordPrior, leaves: Floats, outside: Floats
    ) -> tuple[Floats, Floats]:
        """Return the probabilities (n, C) and (n, I), mixed with the keyword prior of each document."""
        collection = self.collection
        rows = zip(collection.documents, leaves, outside, collection.matches.by_document, strict=True)
        mixed = [prior.mix(*row) for row in rows]
        extras = [
            with_field(self.field_words, document, extra)
            for document, (_, extra) in zip(collection.documents, mixed, strict=True)
        ]
        return np.stack([leaf_row for leaf_row, _ in mixed]), np.stack(extras)

    def _model(self, scores: Floats) -> TopicModel:
        collection, n_words = self.collection, len(self.collection.vocabulary)
        prior = KeywordPrior.from_matches(collection.matches, collection.settings.enough_documents)
        spread = collection.spread
        is_linked = isinstance(spread, LinkSpread)
        return TopicModel(
            tree=collection.tree,
            vocabulary=collection.vocabulary,
            log_words=np.ascontiguousarray(self.learned.log_words_[:, :n_words].T),
            log_priors=self.learned.log_priors_,
            outside_words=np.ascontiguousarray(self.outside.log_words_.T),
            outside_priors=self.outside.log_priors_,
            scale=self.scale,
            max_words=collection.settings.max_words,
            links=collection.settings.links if is_linked else None,
            linked_ids=tuple(collection.rows) if is_linked else (),
            link_scores=spread.neighbour_scores(scores) if isinstance(spread, LinkSpread) else None,
            thresholds=collection.settings.thresholds,
            keyword_worth=prior.worth,
            keyword_weight=prior.weight,
            field_name=self.field_name,
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
        if chosen is None and not self._has_evidence(row):
            return placed_nowhere(document.id)
        belongs = speaks_for_tree(self.field_words, self.collection.matches.by_document[row])
        placed = model.placer.place(document.id, leaves, extra, belongs=belongs)
        if chosen is not None:
            placed = self._corrected(placed, chosen)
        counts = self.collection.own_counts
        here = slice(counts.indptr[row], counts.indptr[row + 1])
        words = model.deciding_words(counts.indices[here].astype(np.int64), counts.data[here], placed.leaf)
        return replace(placed, words=words)

    def _corrected(self, placed: TopicPlacement, chosen: tuple[str, ...]) -> TopicPlacement:
        below = [leaf.path for leaf in self.collection.tree.leaves if leaf.path[: len(chosen)] == chosen]
        leaf = placed.leaf if placed.leaf in below else below[0]
        return TopicPlacement(placed.document, chosen, 1.0, leaf, corrected=True)

    def _has_evidence(self, row: int) -> bool:
        words, spread = self.collection.own_counts.indptr, self.collection.spread
        return bool(words[row + 1] > words[row] or (isinstance(spread, LinkSpread) and spread.linked[row]))

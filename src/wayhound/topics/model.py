"""The trained topic model: places one document at a time, and converts to and from arrays for a model file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayhound.errors import ModelError, UsageError
from wayhound.learn.arrays import Floats, Ints, softmax
from wayhound.learn.topic_links import LinkWeights
from wayhound.topics.documents import TopicDocument
from wayhound.topics.field_words import FieldWords, shipped_field, with_field
from wayhound.topics.rules import KeywordPrior, KeywordRules
from wayhound.topics.tree import Topic, TopicTree, parse_tree, tree_text
from wayhound.topics.vocabulary import MAX_DOCUMENT_WORDS, TopicVocabulary

NOWHERE = "(nowhere)"
"""The name of the place of documents that fit no topic."""


@dataclass(frozen=True, slots=True)
class TopicPlacement:
    """One document's place in the tree.

    `topic` is an interior topic where none of its children is likely enough. At the top of the tree it may be a branch
    that is the likeliest, though not likely. It is empty where the document fits nowhere. `leaf` is the best leaf in
    any case. `words` are those that favour it, strongest first. `best` are the likeliest leaves with their
    probabilities where no leaf is more likely than not.
    """

    document: str
    topic: tuple[str, ...]
    confidence: float
    leaf: tuple[str, ...]
    second: tuple[str, ...] = ()
    second_confidence: float = 0.0
    outside: float = 0.0
    words: tuple[tuple[str, float], ...] = ()
    corrected: bool = False
    best: tuple[tuple[tuple[str, ...], float], ...] = ()

    @property
    def title(self) -> str:
        return " › ".join(self.topic) or NOWHERE


def placed_nowhere(document: str) -> TopicPlacement:
    """Return the placement of a document with neither a known word nor a known citation."""
    return TopicPlacement(document, (), 1.0, (), outside=1.0)


@dataclass(frozen=True, slots=True)
class PlacementThresholds:
    """Probabilities needed to place a document.

    It descends the tree while the next topic reaches `descend`, and fits nowhere if that reaches it. A second leaf is
    named if it reaches `second`. If no leaf reaches `descend`, the best `n_best` are named, of those that reach
    `least`.
    """

    descend: float = 0.5
    second: float = 0.25
    n_best: int = 3
    least: float = 0.05


class Placer:
    """Turns the probabilities of leaves, and of the extra leaves outside, into placements."""

    def __init__(self, tree: TopicTree, thresholds: PlacementThresholds) -> None:
        self._tree = tree
        self._thresholds = thresholds
        self._nodes = tree.topics
        self._children: dict[tuple[str, ...], list[int]] = {}
        for number, topic in enumerate(self._nodes):
            self._children.setdefault(topic.path[:-1], []).append(number)
        self._leaves_below = _membership(self._nodes, tree.leaves)
        self._interior_below = _membership(self._nodes, tree.interior)

    def place(
        self, document: str, leaves: Floats, outside: Floats, *, belongs: bool = False
    ) -> TopicPlacement:
        """Place a document. `leaves` (C,) sum to 1; `outside` (I,) are the extra leaves, the root's first.

        `belongs` says that more than the learned words speaks for the tree, so that the document is in doubt only
        about where it belongs: it is put in the likeliest branch, unless it is more likely than not outside.
        """
        leaves = leaves * (1.0 - outside.sum())
        masses = self._leaves_below @ leaves + self._interior_below @ outside
        topic, confidence = self._descend(masses, float(outside[0]), belongs=belongs)
        ranked = [
            (self._tree.leaves[number].path, float(leaves[number]))
            for number in np.argsort(-leaves, kind="stable")[
                : self._thresholds.n_best
            ]  # ties: first in the tree
        ]
        placement = TopicPlacement(
            document, topic, confidence, ranked[0][0], outside=float(outside.sum()), best=self._unsure(ranked)
        )
        if len(ranked) == 1 or ranked[1][1] < self._thresholds.second:
            return placement
        return replace(placement, second=ranked[1][0], second_confidence=ranked[1][1])

    def _unsure(
        self, ranked: list[tuple[tuple[str, ...], float]]
    ) -> tuple[tuple[tuple[str, ...], float], ...]:
        if ranked[0][1] >= self._thresholds.descend:
            return ()
        return tuple((path, round(share, 4)) for path, share in ranked if share >= self._thresholds.least)

    def _descend(self, masses: Floats, nowhere: float, *, belongs: bool) -> tuple[tuple[str, ...], float]:
        path: tuple[str, ...] = ()
        is_outside = nowhere >= self._thresholds.descend
        confidence = nowhere if is_outside else 1.0 - float(masses[self._children[()]].max())
        while children := self._children.get(path):
            best = max(children, key=lambda number: masses[number])
            may_be_unsure = belongs and not path and not is_outside
            if masses[best] < self._thresholds.descend and not may_be_unsure:
                break
            path, confidence = self._nodes[best].path, float(masses[best])
        return path, confidence


def _membership(nodes: tuple[Topic, ...], ends: tuple[Topic, ...]) -> Floats:
    """Return 1 where an end is a node or lies below it, (nodes, ends)."""
    return np.array(
        [[end.path[: len(node.path)] == node.path for end in ends] for node in nodes], dtype=float
    )


def speaks_for_tree(words: FieldWords | None, matched: Sequence[int]) -> bool:
    """Return True where being unsure of the branch is no sign of being outside.

    Words of the field tell what is outside better; in a tree without them, a keyword is a sign of belonging.
    """
    return words is not None or bool(matched)


KIND = "topics"
VERSION = 1
N_WORDS_SHOWN = 6


@dataclass(frozen=True)
class TopicModel:
    """Everything that placing needs. V words, C leaves, I interior nodes, N documents that others may cite.

    `log_words` (V, C) and `log_priors` (C,) are the classifier, `scale` its calibration. `outside_words`
    (V, C + I) and `outside_priors` recognise what fits nowhere. `link_scores` (N, C) is what a citation of each
    of `linked_ids` adds. `keyword_worth` (rules,) and `keyword_weight` make the keyword prior. `field_name` is the
    shipped tree whose field the documents are compared with, or empty.
    """

    tree: TopicTree
    vocabulary: TopicVocabulary
    log_words: Floats
    log_priors: Floats
    outside_words: Floats
    outside_priors: Floats
    scale: float = 1.0
    max_words: float = MAX_DOCUMENT_WORDS
    links: LinkWeights | None = None
    linked_ids: Sequence[str] = ()
    link_scores: Floats | None = None
    thresholds: PlacementThresholds = field(default_factory=PlacementThresholds)
    keyword_worth: Floats | None = None
    keyword_weight: float = 0.0
    field_name: str = ""

    @cached_property
    def field_words(self) -> FieldWords | None:
        return shipped_field(self.field_name) if self.field_name else None

    @cached_property
    def keyword_prior(self) -> KeywordPrior:
        rules = KeywordRules(self.tree)
        worth = np.zeros(len(rules.rules)) if self.keyword_worth is None else self.keyword_worth
        return KeywordPrior(rules, worth, self.keyword_weight)

    @cached_property
    def placer(self) -> Placer:
        return Placer(self.tree, self.thresholds)

    @cached_property
    def _linked_rows(self) -> dict[str, int]:
        return {identity: row for row, identity in enumerate(self.linked_ids)}

    @cached_property
    def _log_marginals(self) -> Floats:
        """log P(word), over all topics, (V,)."""
        return np.asarray(np.log(np.exp(self.log_words) @ np.exp(self.log_priors)), dtype=np.float64)

    @cached_property
    def _leaf_columns(self) -> dict[tuple[str, ...], int]:
        return {leaf.path: column for column, leaf in enumerate(self.tree.leaves)}

    def place(self, document: TopicDocument) -> TopicPlacement:
        """Place a document, seen in training or not. The cost depends on the document alone."""
        row = self.vocabulary.counts([document.bag], self.max_words)
        columns, counts = row.indices.astype(np.int64), row.data
        linked = [self._linked_rows[cited] for cited in document.cites if cited in self._linked_rows]
        if not len(columns) and not linked:
            return placed_nowhere(document.id)
        scores = counts @ self.log_words[columns]
        if self.links is not None and self.link_scores is not None:
            scores = self.links.join(scores, self.link_scores[linked])
        leaves = softmax(self.scale * (scores + self.log_priors)[None])[0]
        outside = counts @ self.outside_words[columns] + self.outside_priors
        extra = softmax(outside[None])[0, len(leaves) :]
        matched = self.keyword_prior.rules.matching(document)
        leaves, extra = self.keyword_prior.mix(document, leaves, extra, matched)
        placed = self.placer.place(
            document.id,
            leaves,
            with_field(self.field_words, document, extra),
            belongs=speaks_for_tree(self.field_words, matched),
        )
        return replace(placed, words=self.deciding_words(columns, counts, placed.leaf))

    def deciding_words(
        self, columns: Ints, counts: Floats, leaf: tuple[str, ...]
    ) -> tuple[tuple[str, float], ...]:
        """Return the words that favour a leaf most, each with its gain in log-probability."""
        at = self._leaf_columns[leaf]
        gains = counts * (self.log_words[columns, at] - self._log_marginals[columns])
        best = [index for index in np.argsort(-gains, kind="stable")[:N_WORDS_SHOWN] if gains[index] > 0]
        return tuple((self.vocabulary.words[columns[index]], round(float(gains[index]), 3)) for index in best)

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the arrays and the JSON of a model file; `from_arrays` reads them."""
        arrays: dict[str, NDArray[Any]] = {
            "words": self.log_words.astype(np.float32),
            "priors": self.log_priors,
            "outside_words": self.outside_words.astype(np.float32),
            "outside_priors": self.outside_priors,
        }
        if self.link_scores is not None:
            arrays["met"] = self.link_scores.astype(np.float32)
        if self.keyword_worth is not None:
            arrays["keyword_worth"] = self.keyword_worth
        links = self.links and [self.links.own, self.links.step, self.links.rounds, self.links.doubt]
        return arrays, {
            "tree": tree_text(self.tree),
            "vocabulary": list(self.vocabulary.words),
            "scale": self.scale,
            "longest": self.max_words,
            "links": links,
            "known": list(self.linked_ids),
            "settle": self.thresholds.descend,
            "second": self.thresholds.second,
            "keyword_weight": self.keyword_weight,
            "field": self.field_name,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> TopicModel:
        """Read a model from the contents of its file. Raises ModelError if they are damaged."""
        try:
            model = cls._read(arrays, meta)
        except (KeyError, TypeError, ValueError, UsageError) as error:
            raise ModelError(f"The topic model is damaged ({error!r}). Train it again.") from None
        _check_shapes(model)
        return model

    @classmethod
    def _read(cls, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> TopicModel:
        own, step, rounds, doubt = meta["links"] or (0.5, 0.35, 5, 2.0)
        links = LinkWeights(float(own), float(step), int(rounds), float(doubt)) if meta["links"] else None
        floats = {name: array.astype(np.float64) for name, array in arrays.items()}
        return cls(
            tree=parse_tree(meta["tree"], "The tree in the model"),
            vocabulary=TopicVocabulary([str(word) for word in meta["vocabulary"]]),
            log_words=floats["words"],
            log_priors=floats["priors"],
            outside_words=floats["outside_words"],
            outside_priors=floats["outside_priors"],
            scale=float(meta["scale"]),
            max_words=float(meta["longest"]),
            links=links,
            linked_ids=tuple(str(identity) for identity in meta["known"]),
            link_scores=floats.get("met"),
            thresholds=PlacementThresholds(float(meta["settle"]), float(meta["second"])),
            keyword_worth=floats.get("keyword_worth"),
            keyword_weight=float(meta.get("keyword_weight", 0.0)),
            field_name=str(meta.get("field", "")),
        )


def _check_shapes(model: TopicModel) -> None:
    n_words, n_leaves = len(model.vocabulary), len(model.tree.leaves)
    n_outside = n_leaves + len(model.tree.interior)
    fits = (
        model.log_words.shape == (n_words, n_leaves)
        and model.log_priors.shape == (n_leaves,)
        and model.outside_words.shape == (n_words, n_outside)
        and model.outside_priors.shape == (n_outside,)
        and (model.link_scores is None or model.link_scores.shape == (len(model.linked_ids), n_leaves))
        and model.keyword_prior.worth.shape == (len(model.keyword_prior.rules.rules),)
    )
    if not fits:
        raise ModelError("The topic model is damaged: its parts do not fit together. Train it again.")

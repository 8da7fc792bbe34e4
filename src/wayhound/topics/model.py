"""A trained topic tree: places documents one by one, and turns into arrays for a model file and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayhound.errors import ModelError, UsageError
from wayhound.learn.naive_bayes import Floats, Ints, softmax
from wayhound.learn.topic_links import LinkWeights
from wayhound.topics.documents import TopicDocument
from wayhound.topics.rules import KeywordPrior, KeywordRules
from wayhound.topics.tree import Topic, TopicTree, parse_tree, tree_text
from wayhound.topics.vocabulary import LONGEST_DOCUMENT, TopicVocabulary


@dataclass(frozen=True, slots=True)
class TopicPlacement:
    """One document in the tree.

    `topic` may be an interior node where none of its children is likely enough, and is empty where the
    document fits nowhere. `leaf` is the best leaf all the same; `words` speak for it, the strongest first.
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

    @property
    def title(self) -> str:
        return " › ".join(self.topic) or "(nowhere)"


@dataclass(frozen=True, slots=True)
class Thresholds:
    """A document goes down the tree while the next topic is at least `settle` likely.

    A second leaf is named if it is at least `second` likely.
    """

    settle: float = 0.5
    second: float = 0.25


class Placer:
    """Turns probabilities of leaves, and of leaves without a topic, into placements."""

    def __init__(self, tree: TopicTree, thresholds: Thresholds) -> None:
        self._tree = tree
        self._thresholds = thresholds
        self._nodes = tree.topics
        self._children: dict[tuple[str, ...], list[int]] = {}
        for number, topic in enumerate(self._nodes):
            self._children.setdefault(topic.path[:-1], []).append(number)
        self._of_leaves = _below(self._nodes, tree.leaves)
        self._of_interior = _below(self._nodes, tree.interior)

    def place(self, document: str, leaves: Floats, outside: Floats) -> TopicPlacement:
        """`leaves` (C,) sum to one; `outside` (I,) are the probabilities of the extra leaves, root first."""
        leaves = leaves * (1.0 - outside.sum())
        masses = self._of_leaves @ leaves + self._of_interior @ outside
        topic, confidence = self._settled(masses, float(outside[0]))
        first, second = self._best_two(leaves)
        also = second is not None and leaves[second] >= self._thresholds.second
        return TopicPlacement(
            document,
            topic,
            confidence,
            self._tree.leaves[first].path,
            self._tree.leaves[second].path if also and second is not None else (),
            float(leaves[second]) if also else 0.0,
            float(outside.sum()),
        )

    def _settled(self, masses: Floats, nowhere: float) -> tuple[tuple[str, ...], float]:
        path: tuple[str, ...] = ()
        confidence = max(nowhere, 1.0 - float(masses[self._children[()]].max()))
        while below := self._children.get(path):
            best = max(below, key=lambda number: masses[number])
            if masses[best] < self._thresholds.settle:
                break
            path, confidence = self._nodes[best].path, float(masses[best])
        return path, confidence

    def _best_two(self, leaves: Floats) -> tuple[int, int | None]:
        if len(leaves) == 1:
            return 0, None
        first, second = np.argsort(-leaves, kind="stable")[:2]  # of equals, the first in the tree
        return int(first), int(second)


def _below(nodes: tuple[Topic, ...], ends: tuple[Topic, ...]) -> Floats:
    """Which ends stand at or below each node, (nodes, ends)."""
    return np.array(
        [[end.path[: len(node.path)] == node.path for end in ends] for node in nodes], dtype=float
    )


KIND = "topics"
VERSION = 1
N_WORDS_SHOWN = 6


@dataclass(frozen=True)
class TopicModel:
    """What placing needs. V words, C leaves, I interior nodes, N documents that others may link to.

    `words` (V, C) and `priors` (C,) are logarithms, `scale` calibrates them; `outside_words` (V, C + I) and
    `outside_priors` tell what fits nowhere. `met` (N, C) is what a link to each of `known` brings.
    `keyword_worth` (rules,) and `keyword_weight` are what the keywords of the tree say by themselves.
    """

    tree: TopicTree
    vocabulary: TopicVocabulary
    words: Floats
    priors: Floats
    outside_words: Floats
    outside_priors: Floats
    scale: float = 1.0
    longest: float = LONGEST_DOCUMENT
    links: LinkWeights | None = None
    known: Sequence[str] = ()
    met: Floats | None = None
    thresholds: Thresholds = field(default_factory=Thresholds)
    keyword_worth: Floats | None = None
    keyword_weight: float = 0.0

    @cached_property
    def keywords(self) -> KeywordPrior:
        rules = KeywordRules(self.tree)
        worth = np.zeros(len(rules.rules)) if self.keyword_worth is None else self.keyword_worth
        return KeywordPrior(rules, worth, self.keyword_weight)

    @cached_property
    def placer(self) -> Placer:
        return Placer(self.tree, self.thresholds)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {identity: row for row, identity in enumerate(self.known)}

    @cached_property
    def _everywhere(self) -> Floats:
        """log P(w), whatever the topic, (V,)."""
        return np.asarray(np.log(np.exp(self.words) @ np.exp(self.priors)), dtype=np.float64)

    def place(self, document: TopicDocument) -> TopicPlacement:
        """Place a document that need not have been there in training; costs its own words alone."""
        row = self.vocabulary.counts([document.bag], self.longest)
        columns, counts = row.indices.astype(np.int64), row.data
        linked = [self._rows[cited] for cited in document.cites if cited in self._rows]
        if not len(columns) and not linked:
            return nowhere(document.id)
        own = counts @ self.words[columns]
        scores = own if self.links is None or self.met is None else self.links.join(own, self.met[linked])
        leaves = softmax(self.scale * (scores + self.priors)[None])[0]
        outside = counts @ self.outside_words[columns] + self.outside_priors
        extra = softmax(outside[None])[0, len(leaves) :]
        placed = self.placer.place(document.id, *self.keywords.join(document, leaves, extra))
        return replace(placed, words=self.deciding_words(columns, counts, placed.leaf))

    def deciding_words(
        self, columns: Ints, counts: Floats, leaf: tuple[str, ...]
    ) -> tuple[tuple[str, float], ...]:
        """The words that speak most for a leaf, and by how much each raises its logarithm."""
        at = self._leaf_columns[leaf]
        gains = counts * (self.words[columns, at] - self._everywhere[columns])
        best = [index for index in np.argsort(-gains, kind="stable")[:N_WORDS_SHOWN] if gains[index] > 0]
        return tuple((self.vocabulary.words[columns[index]], round(float(gains[index]), 3)) for index in best)

    @cached_property
    def _leaf_columns(self) -> dict[tuple[str, ...], int]:
        return {leaf.path: column for column, leaf in enumerate(self.tree.leaves)}

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Arrays, and what is best written as JSON."""
        arrays: dict[str, NDArray[Any]] = {
            "words": self.words.astype(np.float32),
            "priors": self.priors,
            "outside_words": self.outside_words.astype(np.float32),
            "outside_priors": self.outside_priors,
        }
        if self.met is not None:
            arrays["met"] = self.met.astype(np.float32)
        if self.keyword_worth is not None:
            arrays["keyword_worth"] = self.keyword_worth
        links = self.links and [self.links.own, self.links.step, self.links.rounds, self.links.doubt]
        return arrays, {
            "tree": tree_text(self.tree),
            "vocabulary": list(self.vocabulary.words),
            "scale": self.scale,
            "longest": self.longest,
            "links": links,
            "known": list(self.known),
            "settle": self.thresholds.settle,
            "second": self.thresholds.second,
            "keyword_weight": self.keyword_weight,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> TopicModel:
        try:
            model = cls._read(arrays, meta)
        except (KeyError, TypeError, ValueError, UsageError) as error:
            raise ModelError(f"The topic model does not hold what it should: {error!r}.") from None
        _check_shapes(model)
        return model

    @classmethod
    def _read(cls, arrays: Mapping[str, NDArray[Any]], meta: Mapping[str, Any]) -> TopicModel:
        own, step, rounds, doubt = meta["links"] or (0.5, 0.35, 5, 2.0)
        return cls(
            parse_tree(meta["tree"], "The tree in the model"),
            TopicVocabulary([str(word) for word in meta["vocabulary"]]),
            arrays["words"].astype(np.float64),
            arrays["priors"].astype(np.float64),
            arrays["outside_words"].astype(np.float64),
            arrays["outside_priors"].astype(np.float64),
            float(meta["scale"]),
            float(meta["longest"]),
            LinkWeights(float(own), float(step), int(rounds), float(doubt)) if meta["links"] else None,
            tuple(str(identity) for identity in meta["known"]),
            arrays["met"].astype(np.float64) if "met" in arrays else None,
            Thresholds(float(meta["settle"]), float(meta["second"])),
            arrays["keyword_worth"].astype(np.float64) if "keyword_worth" in arrays else None,
            float(meta.get("keyword_weight", 0.0)),
        )


def _check_shapes(model: TopicModel) -> None:
    n_words, n_leaves = len(model.vocabulary), len(model.tree.leaves)
    n_outside = n_leaves + len(model.tree.interior)
    whole = (
        model.words.shape == (n_words, n_leaves)
        and model.priors.shape == (n_leaves,)
        and model.outside_words.shape == (n_words, n_outside)
        and model.outside_priors.shape == (n_outside,)
        and (model.met is None or model.met.shape == (len(model.known), n_leaves))
        and model.keywords.worth.shape == (len(model.keywords.rules.rules),)
    )
    if not whole:
        raise ModelError("The topic model is damaged: its parts do not fit together. Train it again.")


def nowhere(document: str) -> TopicPlacement:
    """A document of which nothing is known that could place it."""
    return TopicPlacement(document, (), 1.0, (), outside=1.0)

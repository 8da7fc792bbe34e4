"""Where a document belongs in the tree, how sure that is, and which words decided it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trailmark.learn.naive_bayes import Floats
from trailmark.organise.topics.tree import Topic, TopicTree


@dataclass(frozen=True, slots=True)
class Placement:
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

    def place(self, document: str, leaves: Floats, outside: Floats) -> Placement:
        """`leaves` (C,) sum to one; `outside` (I,) are the probabilities of the extra leaves, root first."""
        leaves = leaves * (1.0 - outside.sum())
        masses = self._of_leaves @ leaves + self._of_interior @ outside
        topic, confidence = self._settled(masses, float(outside[0]))
        first, second = self._best_two(leaves)
        also = second is not None and leaves[second] >= self._thresholds.second
        return Placement(
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

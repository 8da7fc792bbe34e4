"""What was learned from taught trails: states, the field over them, and what links in them are worth."""

from __future__ import annotations

from dataclasses import dataclass

from trailmark.learn.chain import Floats
from trailmark.learn.crf import ChainCRF
from trailmark.learn.vocabulary import Vocabulary


@dataclass(frozen=True)
class PathModel:
    """States come in pairs (section 2.4.2): the first half are pages of each label, the second links to them.

    `rewards` (2 · labels,) is what a link in each state is worth, in shares of a goal; that of pages is 0.
    """

    labels: tuple[str, ...]
    vocabulary: Vocabulary
    field: ChainCRF
    rewards: Floats
    goal: int  # the page state of goals

    @property
    def n_labels(self) -> int:
        return len(self.labels)

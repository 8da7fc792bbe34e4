"""Which page to ask a person about next: one where models are in doubt and much hangs on the answer.

Doubt is that of a committee, each member taught on another draw of the trails (Argamon-Engelson & Dagan 1999,
the reference of seed paper 1.2); a committee of one is margin sampling. Pure: it sees chances, never pages.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from wayhound.trail import Trail

SURPRISE = 0.25  # an answer this far from what was expected teaches something
PATIENCE = 6  # answers as expected, or questions worth little, one after the other, before asking ends
LITTLE = 0.04  # a question worth less than this share of the best one ever asked is hardly worth the time


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page that could be asked about.

    `chances` are the probabilities of a goal by each member of the committee. `group` names the links that
    stand like the one that led here; `stake` is the reward that hangs on the answer: what this page and those
    behind the links of its group are expected to be worth.
    """

    key: str
    site: str
    chances: tuple[float, ...]
    group: Hashable = None
    stake: float = 1.0

    @property
    def chance(self) -> float:
        return sum(self.chances) / len(self.chances)


@dataclass(frozen=True, slots=True)
class Question:
    """A page to ask about, how much in doubt it is (bits) and how much reward the answer is expected to move.

    The effect does not weigh the chance once more: models taught on few trails are too sure of themselves.
    """

    candidate: Candidate
    doubt: float
    effect: float

    @property
    def value(self) -> float:
        return self.doubt * self.effect


@dataclass(frozen=True, slots=True)
class StopAsking:
    """More answers would change little, and why."""

    reason: str


@dataclass
class QuestionPicker:
    """What was asked so far, and what to ask next. `tell` it every answer."""

    _groups: Counter[Hashable] = field(default_factory=Counter, init=False)
    _sites: Counter[str] = field(default_factory=Counter, init=False)
    _asked: set[str] = field(default_factory=set, init=False)
    _as_expected: list[bool] = field(default_factory=list, init=False)  # since the last surprise
    _worth_little: int = field(default=0, init=False)  # in a row
    _best_value: float = field(default=0.0, init=False)

    def next_question(self, candidates: Iterable[Candidate]) -> Question | StopAsking:
        """The best question, or why to stop. Candidates that were asked about are passed over."""
        left = [each for each in candidates if each.key not in self._asked]
        if not left:
            return StopAsking("Every page that was visited has been asked about.")
        best = self.best(left)
        return self._enough(best) or best

    def best(self, candidates: Iterable[Candidate]) -> Question:
        """The question that is worth most, whether or not it is worth the time."""
        questions = [self._question(each) for each in candidates]
        return max(questions, key=lambda each: (each.value, each.candidate.key))

    def tell(self, question: Question, was_goal: bool | None) -> None:
        """The answer; None if the person could not say."""
        each = question.candidate
        self._asked.add(each.key)
        self._groups[each.site, each.group] += 1
        self._sites[each.site] += 1
        if question.value >= 0:  # else it was said without being asked
            self._weigh(question.value)
        if was_goal is not None:
            expected = abs(float(was_goal) - each.chance) < SURPRISE
            self._as_expected = [*self._as_expected, was_goal] if expected else []

    def _weigh(self, value: float) -> None:
        self._best_value = max(self._best_value, value)
        self._worth_little = self._worth_little + 1 if self._is_little(value) else 0

    def _is_little(self, value: float) -> bool:
        return value <= LITTLE * self._best_value

    def _question(self, each: Candidate) -> Question:
        """Pages of one link group, and of one site, are alike: each answer makes the next one worth less."""
        known = 1 + self._groups[each.site, each.group]
        effect = each.stake / known / math.sqrt(1 + self._sites[each.site])
        return Question(each, vote_entropy(each.chances), effect)

    def _enough(self, best: Question) -> StopAsking | None:
        """Where goals are rare, "no" is what anybody would expect: only with goals among them do answers tell
        that the model has learned."""
        if len(self._as_expected) >= PATIENCE and any(self._as_expected):
            return StopAsking(
                f"The last {len(self._as_expected)} answers were as expected: more would change little."
            )
        if self._worth_little >= PATIENCE and self._is_little(best.value):
            return StopAsking("No page is left whose answer would change much.")
        return None


def vote_entropy(chances: Sequence[float]) -> float:
    """Entropy of the committee's mean vote, in bits: 0 when all are sure of the same, 1 when nobody knows."""
    mean = sum(chances) / len(chances)
    return sum(-share * math.log2(share) for share in (mean, 1 - mean) if share > 0)


def bootstrap_trails(
    trails: Sequence[Trail], members: int, generator: np.random.Generator
) -> list[list[Trail]]:
    """Trails for each member of a committee: drawn with replacement, goals and others apart.

    The first member is taught on all of them, as the model in use is. Each trail counts once in a draw: what
    a model needs is another view, not another weight.
    """
    goals = [trail for trail in trails if trail.reached_goal]
    others = [trail for trail in trails if not trail.reached_goal]
    drawn = ([*_drawn(goals, generator), *_drawn(others, generator)] for _ in range(members - 1))
    return [list(trails), *drawn]


def _drawn(trails: Sequence[Trail], generator: np.random.Generator) -> list[Trail]:
    if not trails:
        return []
    return [trails[number] for number in np.unique(generator.integers(0, len(trails), len(trails)))]

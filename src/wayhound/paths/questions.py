"""Active learning: choose the page to ask a person about next, where models are uncertain and much depends on it.

Uncertainty is the vote entropy of a committee, each member trained on another draw of the trails
(Argamon-Engelson & Dagan 1999, cited in section 1.2 of Vydiswaran & Sarawagi 2005); a committee of one is margin
sampling. This module sees probabilities, never pages.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from wayhound.trail import Trail

SURPRISE = 0.25  # an answer this far from the expected one is a surprise
PATIENCE = 6  # consecutive expected answers, or questions of little value, before asking stops
LITTLE = 0.04  # a question of at most this share of the best value ever asked is of little value


@dataclass(frozen=True, slots=True)
class Candidate:
    """A page that could be asked about.

    `probabilities` are those of a goal by each member of the committee. `group` names the links in the same list
    as the one that led here; `stake` is the reward that depends on the answer: the expected value of this page
    and of those behind the links of its group.
    """

    key: str
    site: str
    probabilities: tuple[float, ...]
    group: Hashable = None
    stake: float = 1.0

    @property
    def probability(self) -> float:
        return sum(self.probabilities) / len(self.probabilities)


@dataclass(frozen=True, slots=True)
class Question:
    """A page to ask about, its uncertainty in bits, and the reward that the answer is expected to move.

    The effect is not weighted by the probability again: models of few trails are overconfident.
    """

    candidate: Candidate
    uncertainty: float
    effect: float

    @property
    def value(self) -> float:
        return self.uncertainty * self.effect


@dataclass(frozen=True, slots=True)
class StopAsking:
    """More answers would change little; `reason` is a sentence for the person."""

    reason: str


@dataclass
class QuestionPicker:
    """Chooses the next question from the answers so far. Call `record_answer` after every question."""

    _groups: Counter[Hashable] = field(default_factory=Counter, init=False)
    _sites: Counter[str] = field(default_factory=Counter, init=False)
    _asked: set[str] = field(default_factory=set, init=False)
    _expected_answers: list[bool] = field(default_factory=list, init=False)  # since the last surprise
    _little_in_a_row: int = field(default=0, init=False)
    _best_value: float = field(default=0.0, init=False)

    def next_question(self, candidates: Iterable[Candidate]) -> Question | StopAsking:
        """Return the best question, or why to stop. Candidates that were asked about are skipped."""
        remaining = [candidate for candidate in candidates if candidate.key not in self._asked]
        if not remaining:
            return StopAsking("Every page that was visited has been asked about.")
        best = self.best(remaining)
        return self._stop(best) or best

    def best(self, candidates: Iterable[Candidate]) -> Question:
        """Return the most valuable question, even if it is not worth asking."""
        questions = [self._question(candidate) for candidate in candidates]
        return max(questions, key=lambda question: (question.value, question.candidate.key))

    def record_answer(self, question: Question, was_goal: bool | None) -> None:
        """Take the answer into account; None if the person could not say."""
        candidate = question.candidate
        self._asked.add(candidate.key)
        self._groups[candidate.site, candidate.group] += 1
        self._sites[candidate.site] += 1
        if question.value >= 0:  # below 0: the person answered without being asked
            self._count_value(question.value)
        if was_goal is not None:
            expected = abs(float(was_goal) - candidate.probability) < SURPRISE
            self._expected_answers = [*self._expected_answers, was_goal] if expected else []

    def _count_value(self, value: float) -> None:
        self._best_value = max(self._best_value, value)
        self._little_in_a_row = self._little_in_a_row + 1 if self._is_little(value) else 0

    def _is_little(self, value: float) -> bool:
        return value <= LITTLE * self._best_value

    def _question(self, candidate: Candidate) -> Question:
        """Return the question; each answer of the same link group or site makes the next one worth less."""
        answered = 1 + self._groups[candidate.site, candidate.group]
        effect = candidate.stake / answered / math.sqrt(1 + self._sites[candidate.site])
        return Question(candidate, vote_entropy(candidate.probabilities), effect)

    def _stop(self, best: Question) -> StopAsking | None:
        """Return why to stop, if so. Where goals are rare, "no" is always expected, so goals must be among the
        expected answers before they show that the model has learned."""
        if len(self._expected_answers) >= PATIENCE and any(self._expected_answers):
            return StopAsking(
                f"The last {len(self._expected_answers)} answers were as expected: more would change little."
            )
        if self._little_in_a_row >= PATIENCE and self._is_little(best.value):
            return StopAsking("No page is left whose answer would change much.")
        return None


def vote_entropy(probabilities: Sequence[float]) -> float:
    """Return the entropy of the committee's mean vote in bits: 0 if all agree and are certain, 1 at most."""
    mean = sum(probabilities) / len(probabilities)
    return sum(-share * math.log2(share) for share in (mean, 1 - mean) if share > 0)


def bootstrap_trails(
    trails: Sequence[Trail], members: int, generator: np.random.Generator
) -> list[list[Trail]]:
    """Return the trails for each member of a committee: drawn with replacement, goals and others separately.

    The first member gets all of them, as the model in use does. A trail counts once however often it is drawn:
    members should differ in what they see, not in weights.
    """
    goals = [trail for trail in trails if trail.reached_goal]
    others = [trail for trail in trails if not trail.reached_goal]
    draws = ([*_draw(goals, generator), *_draw(others, generator)] for _ in range(members - 1))
    return [list(trails), *draws]


def _draw(trails: Sequence[Trail], generator: np.random.Generator) -> list[Trail]:
    if not trails:
        return []
    return [trails[number] for number in np.unique(generator.integers(0, len(trails), len(trails)))]

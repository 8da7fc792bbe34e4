"""How many questions it takes to reach a score, asking where it matters against asking at random.

Recorded departments of 1997 (`sites/departments`, `sites/webkb`). How questions are chosen was settled on the
goals `faculty` and `student`; `course` and `project` had no say in it, and the aim is judged on them. Each split
draws its sites anew: teaching begins with one trail to a goal and one elsewhere, on one site. Half of the other
sites and two large ones are foraged by that first model with the budget that a forage has by default, and the
pages that it visits can be asked about; the recorded labels answer. After every three answers the model is taught
again and reads pages of the sites held back, none of which is ever taught. Both ways of asking have the same
trails, pages, answers and trainings. The score is the average precision of the goals held back, ranked by the
probability that the model gives them; F1 of the pages that a forage would call goals is told beside it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.app.evaluate.strategies import make_trails
from wayhound.app.evaluate.world import World, load_worlds
from wayhound.app.train import MEMBERS, candidates_of, scorer_of
from wayhound.app.walked import Walked
from wayhound.config import ForageConfig
from wayhound.fetched import Fetched
from wayhound.forage.forager import GOAL_THRESHOLD, Fetch, ForageLimits, Forager
from wayhound.forage.politeness import Politeness
from wayhound.forage.scorer import Scorer, StrategyInput
from wayhound.forage.scorers import SCORERS
from wayhound.page import Page
from wayhound.paths.model import ForageModel
from wayhound.paths.questions import Candidate, Question, QuestionPicker, StopAsking, bootstrap_trails
from wayhound.paths.settings import PathSettings
from wayhound.paths.trainers import TRAINERS
from wayhound.store.review import KeptCandidate
from wayhound.trail import FAIL, GOAL, Step, Trail
from wayhound.visit import Visit

STRATEGY = "path-learner"
SETTLED_ON = ("faculty", "student")
TESTED_ON = ("course", "project")
QUESTIONS = 30
AT_ONCE = 3  # answers between two trainings
VISITED = ForageConfig().budget_per_site  # pages a site that the first model fetches
READ = 150  # pages a site of those held back
LARGE_TO_ASK = 2  # of the three large sites; the other is held back
MOST_OF_RANDOM = 0.5
DRAWS = 200  # of the splits, to tell how far the questions needed are to be trusted

Curve = list[tuple[float, float]]  # average precision and F1, before the first question and after every few
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Split:
    """Where teaching begins, where questions are asked, and what is held back."""

    goal: str
    start: World
    pool: Sequence[World]
    held: Sequence[tuple[World, Walked]]
    trails: Sequence[Trail]
    model: ForageModel
    walked: dict[str, Walked]

    @classmethod
    def drawn(cls, goal: str, small: Sequence[World], large: Sequence[World], seed: int) -> Split:
        generator = np.random.default_rng(seed)
        smaller, larger = ([each[at] for at in generator.permutation(len(each))] for each in (small, large))
        half = len(smaller) // 2 + 1
        start, *pool = [*smaller[:half], *larger[:LARGE_TO_ASK]]
        breadth_first = SCORERS["breadth-first"](StrategyInput())
        held = [
            (each, forage(each, breadth_first, READ)) for each in (*smaller[half:], *larger[LARGE_TO_ASK:])
        ]
        trails = first_trails(start, goal)
        model = teach(trails)
        walked = {each.site.start: forage(each, scorer_of(STRATEGY, model), VISITED) for each in pool}
        return cls(goal, start, pool, held, trails, model, walked)


@dataclass
class Teacher:
    """Knows the labels, and answers as a person would."""

    split: Split
    trails: list[Trail]
    _near: dict[str, dict[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for world in self.split.pool:
            self._near[world.site.start] = world.clicks_to_nearest(world.reachable_goals(self.split.goal))

    def answer(self, asked: KeptCandidate) -> bool | None:
        """Whether it is a goal; of pages one click before one a person could not reject them."""
        clicks = self._near[asked.site].get(asked.url, 2)
        if 0 < clicks < 2:
            return None
        label = FAIL if clicks else GOAL
        self.trails.append(self.split.walked[asked.site].trail(asked.number, label))
        return label == GOAL


def forage(world: World, scorer: Scorer, budget: int) -> Walked:
    """What a forage of the recorded site would have visited."""
    forager = Forager(world.site, scorer, ForageLimits(budget=budget), Politeness(0.0))
    visits: list[Visit] = []
    pages: dict[int, Page] = {}
    while isinstance(action := forager.next_action(0.0), Fetch):
        page = world.pages[action.link.url]
        pages[len(visits)] = page
        answer = Fetched(action.link.url, 200, content_type="text/html")
        visits.append(forager.tell(action.link, answer, page, now=0.0, at=0.0))
    return Walked(world.site, visits, pages)


def teach(trails: Sequence[Trail]) -> ForageModel:
    return TRAINERS[STRATEGY](trails, PathSettings())


def first_trails(world: World, goal: str) -> list[Trail]:
    """Without milestones: a review asks for goals alone."""
    made = make_trails(world, goal, 1)
    return [Trail(trail.site, tuple(_without_milestone(step) for step in trail.steps)) for trail in made]


def _without_milestone(step: Step) -> Step:
    return step if step.label in (GOAL, FAIL) else Step(step.page, step.link)


def scores(model: ForageModel, split: Split) -> tuple[float, float]:
    """Average precision of the goals held back, and F1 of what a forage would call goals."""
    scorer = scorer_of(STRATEGY, model)
    ranked = [
        (reading.goal, world.labels.get(walked.pages[number].url) == split.goal)
        for world, walked in split.held
        for number, reading in walked.readings(scorer).items()
    ]
    ranked.sort(reverse=True)
    truth = np.array([is_goal for _, is_goal in ranked])
    precision = np.cumsum(truth) / np.arange(1, len(truth) + 1)
    called = sum(chance >= GOAL_THRESHOLD for chance, _ in ranked)
    return float(precision[truth].mean()), 2 * float(truth[:called].sum()) / (called + float(truth.sum()))


def candidates(teacher: Teacher, model: ForageModel, members: int, seed: int) -> list[KeptCandidate]:
    views = bootstrap_trails(teacher.trails, members, np.random.default_rng(seed))[1:]
    committee = [scorer_of(STRATEGY, each) for each in (model, *map(teach, views))]
    return [each for walked in teacher.split.walked.values() for each in candidates_of(walked, committee)]


class AskWhereItMatters:
    """As the review does. It goes on after enough, to tell what was still to be had."""

    members = MEMBERS

    def __init__(self) -> None:
        self._asking = QuestionPicker()
        self._asked = 0
        self.enough_after: int | None = None

    def choose(self, offered: Sequence[KeptCandidate], asked: set[str]) -> KeptCandidate:
        by_key = {each.url: each for each in offered if each.url not in asked}
        kept = [
            Candidate(key, each.site, each.chances, each.group, each.stake) for key, each in by_key.items()
        ]
        self._question: Question = self._asking.best(kept)
        if self.enough_after is None and isinstance(self._asking.next_question(kept), StopAsking):
            self.enough_after = self._asked
        return by_key[self._question.candidate.key]

    def tell(self, was_goal: bool | None) -> None:
        self._asked += 1
        self._asking.record_answer(self._question, was_goal)


class AskAtRandom:
    """Any visited page."""

    members = 1

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    def choose(self, offered: Sequence[KeptCandidate], asked: set[str]) -> KeptCandidate:
        left = [each for each in offered if each.url not in asked]
        return left[self._generator.integers(len(left))]

    def tell(self, was_goal: bool | None) -> None:
        """Chance does not learn."""


def curve(split: Split, asker: AskWhereItMatters | AskAtRandom) -> Iterator[tuple[float, float]]:
    teacher, model = Teacher(split, list(split.trails)), split.model
    asked: set[str] = set()
    yield scores(model, split)
    for round_number in range(QUESTIONS // AT_ONCE):
        offered = candidates(teacher, model, asker.members, round_number)
        for _ in range(AT_ONCE):
            chosen = asker.choose(offered, asked)
            asked.add(chosen.url)
            asker.tell(teacher.answer(chosen))
        model = teach(teacher.trails)
        yield scores(model, split)


@dataclass
class Outcome:
    """The curves of one goal, a split each; random asking is repeated on each."""

    goal: str
    chosen: list[Curve] = field(default_factory=list)
    random: list[list[Curve]] = field(default_factory=list)
    enough_after: list[int | None] = field(default_factory=list)

    def asking(self, measure: int) -> Floats:
        """(splits, rounds)."""
        return np.array(self.chosen)[:, :, measure]

    def chance(self, measure: int) -> Floats:
        """(splits, rounds), the mean over the repetitions."""
        return np.asarray(np.array(self.random).mean(axis=1)[:, :, measure])


def run_goal(goal: str, data: Path, splits: int, seeds: int) -> Outcome:
    small = [each for each in load_worlds([data / "sites" / "departments"]) if each.reachable_goals(goal)]
    large = load_worlds([data / "sites" / "webkb"])
    outcome = Outcome(goal)
    for number in range(splits):
        split = Split.drawn(goal, small, large, number)
        print(
            f"{goal}: first on {split.start.name}, then {[each.name for each in split.pool]}", file=sys.stderr
        )
        asker = AskWhereItMatters()
        outcome.chosen.append(list(curve(split, asker)))
        outcome.enough_after.append(asker.enough_after)
        outcome.random.append([list(curve(split, AskAtRandom(seed))) for seed in range(seeds)])
    return outcome


def questions_needed(asking: Floats, chance: Floats) -> tuple[int, int]:
    """By asking and by chance, to the best mean score of chance, at least that before the first question: the
    first answers can make a model worse. What never gets there needs more than all."""
    wanted = chance.max()
    by_asking, by_chance = (
        next((AT_ONCE * at for at in range(1, len(scored)) if scored[at] >= wanted), QUESTIONS + AT_ONCE)
        for scored in (asking, chance)
    )
    return by_asking, by_chance


def shares(outcome: Outcome) -> Floats:
    """The share of chance's questions that asking needs, for many draws of the splits."""
    generator = np.random.default_rng(0)
    asking, chance = outcome.asking(0), outcome.chance(0)
    drawn = (generator.integers(0, len(asking), len(asking)) for _ in range(DRAWS))
    needed = [questions_needed(asking[each].mean(axis=0), chance[each].mean(axis=0)) for each in drawn]
    return np.array([by_asking / by_chance for by_asking, by_chance in needed])


def report(outcome: Outcome) -> Report:
    by_asking, by_chance = questions_needed(outcome.asking(0).mean(axis=0), outcome.chance(0).mean(axis=0))
    rows: list[list[Cell]] = [
        [AT_ONCE * at, *(_spread(table(measure)[:, at]) for measure in (0, 1) for table in _tables(outcome))]
        for at in range(0, QUESTIONS // AT_ONCE + 1, 2)
    ]
    low, high = np.quantile(shares(outcome), (0.1, 0.9))
    settled = "settled on it" if outcome.goal in SETTLED_ON else "a test"
    title = (
        f"{outcome.goal} ({settled}), {len(outcome.chosen)} splits, mean ± spread. To the best score of chance, "
        f"asking needs {_told(by_asking)} questions and chance {_told(by_chance)}: {by_asking / by_chance:.2f} of them "
        f"({low:.2f} to {high:.2f} in 8 of 10 draws of the splits). {_told_enough(outcome)}"
    )
    header = ["questions", "precision, asking", "at random", "F1, asking", "at random"]
    bars = [] if outcome.goal in SETTLED_ON else [_bar(outcome.goal, by_asking / by_chance)]
    details = {"chosen": outcome.chosen, "random": outcome.random, "enough_after": outcome.enough_after}
    return Report(title, header, rows, bars, details)


def _tables(outcome: Outcome) -> tuple[Callable[[int], Floats], ...]:
    return outcome.asking, outcome.chance


def _told(questions: int) -> str:
    return str(questions) if questions <= QUESTIONS else f"more than {QUESTIONS}"


def _spread(values: Floats) -> str:
    return f"{values.mean():.2f} ± {values.std():.2f}"


def _told_enough(outcome: Outcome) -> str:
    """What was still to be had when the review would have ended."""
    ended = [(each, at) for each, at in zip(outcome.asking(0), outcome.enough_after, strict=True) if at]
    if not ended:
        return f"It never said enough within {QUESTIONS}."
    left = [float(scored[-1] - scored[at // AT_ONCE]) for scored, at in ended]
    return f"It said enough on {len(ended)}, {np.mean(left):+.2f} before its last score (at worst {max(left):+.2f})."


def _bar(goal: str, share: float) -> Bar:
    return Bar(
        f"{goal}: share of the questions that random asking needs for its best score",
        share,
        most=MOST_OF_RANDOM,
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--goal", action="append", help="the label that is looked for; again for more")
    parser.add_argument("--splits", type=int, default=8, help="how often sites are drawn")
    parser.add_argument("--seeds", type=int, default=2, help="how often random asking is repeated on each")
    add_data_option(parser)
    add_output_options(parser)
    arguments = parser.parse_args()
    goals = arguments.goal or (*SETTLED_ON, *TESTED_ON)
    outcomes = (run_goal(goal, arguments.data, arguments.splits, arguments.seeds) for goal in goals)
    return finish([report(each) for each in outcomes], arguments)


if __name__ == "__main__":
    sys.exit(main())

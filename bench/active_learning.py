"""How many questions it takes to reach a score, asking where it matters against asking at random.

Recorded departments of 1997 (`sites/departments`, `sites/webkb`), goal `faculty` unless another is named. How
questions are chosen was settled on `faculty`; other goals are tests. Teaching begins with one
trail to a goal and one elsewhere, on one site. Half of the other sites are foraged by that first model, and
the pages that it visits can be asked about; the recorded labels answer. After every three answers the model is
taught again and reads the pages of the other half, none of which is ever taught. The score is the average
precision of their goals, ranked by the probability that the model gives them. Then the halves change places.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from trailmark.evaluate.run import load_worlds
from trailmark.evaluate.teaching import make_trails
from trailmark.evaluate.world import World
from trailmark.fetched import Fetched
from trailmark.forage.brief import Brief
from trailmark.forage.forager import Fetch, Forager, Limits
from trailmark.forage.politeness import Politeness
from trailmark.forage.scorer import Scorer
from trailmark.forage.scorers import SCORERS
from trailmark.page import Page
from trailmark.review.committee import MEMBERS, candidates_of, scorer_of
from trailmark.review.walked import Walked
from trailmark.store.review import KeptCandidate
from trailmark.teach.asking import Asking, Candidate, draws
from trailmark.teach.training import TRAINERS, ForageModel, Settings
from trailmark.trail import FAIL, GOAL, Step, Trail
from trailmark.visit import Visit

STRATEGY = "path-learner"
QUESTIONS = 30
AT_ONCE = 3  # answers between two trainings
VISITED = 50  # pages a site that the first model fetches, and that can be asked about
READ = 200  # pages a site of those held back
MOST_OF_RANDOM = 0.5


@dataclass
class Teacher:
    """Knows the labels, and answers as a person would."""

    worlds: Sequence[World]
    goal: str
    walked: dict[str, Walked]
    trails: list[Trail]
    _near: dict[str, dict[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for world in self.worlds:
            self._near[world.site.start] = world.clicks_to_nearest(world.reachable_goals(self.goal))

    def answer(self, asked: KeptCandidate) -> bool | None:
        """Whether it is a goal; of pages one click before one a person could not say "not this way"."""
        clicks = self._near[asked.site].get(asked.url, 2)
        if 0 < clicks < 2:
            return None
        label = FAIL if clicks else GOAL
        self.trails.append(self.walked[asked.site].trail(asked.number, label))
        return label == GOAL


def forage(world: World, scorer: Scorer, budget: int) -> Walked:
    """What a forage of the recorded site would have visited."""
    forager = Forager(world.site, scorer, Limits(budget=budget), Politeness(0.0))
    visits: list[Visit] = []
    pages: dict[int, Page] = {}
    while isinstance(action := forager.next_action(0.0), Fetch):
        page = world.pages[action.link.url]
        pages[len(visits)] = page
        answer = Fetched(action.link.url, 200, content_type="text/html")
        visits.append(forager.tell(action.link, answer, page, now=0.0, at=0.0))
    return Walked(world.site, visits, pages)


def teach(trails: Sequence[Trail]) -> ForageModel:
    return TRAINERS[STRATEGY](trails, Settings())


def first_trails(world: World, goal: str) -> list[Trail]:
    """Without milestones: a review asks for goals alone."""
    made = make_trails(world, goal, 1)
    return [Trail(trail.site, tuple(_without_milestone(step) for step in trail.steps)) for trail in made]


def _without_milestone(step: Step) -> Step:
    return step if step.label in (GOAL, FAIL) else Step(step.page, step.link)


def average_precision(model: ForageModel, held: Sequence[tuple[World, Walked]], goal: str) -> float:
    ranked: list[tuple[float, bool]] = []
    for world, walked in held:
        for number, reading in walked.readings(scorer_of(STRATEGY, model)).items():
            ranked.append((reading.goal, world.labels.get(walked.pages[number].url) == goal))
    ranked.sort(reverse=True)
    truth = np.array([is_goal for _, is_goal in ranked])
    precision = np.cumsum(truth) / np.arange(1, len(truth) + 1)
    return float(precision[truth].mean())


def candidates(teacher: Teacher, model: ForageModel, members: int, seed: int) -> list[KeptCandidate]:
    generator = np.random.default_rng(seed)
    views = draws(teacher.trails, members, generator)[1:]
    committee = [scorer_of(STRATEGY, each) for each in (model, *map(teach, views))]
    return [each for walked in teacher.walked.values() for each in candidates_of(walked, committee)]


class AskWhereItMatters:
    """As the review does."""

    members = MEMBERS

    def __init__(self) -> None:
        self._asking = Asking()

    def choose(self, offered: Sequence[KeptCandidate], asked: set[str]) -> KeptCandidate:
        by_key = {each.url: each for each in offered if each.url not in asked}
        self._question = self._asking.best(
            Candidate(key, each.site, each.chances, each.group, each.stake) for key, each in by_key.items()
        )
        return by_key[self._question.candidate.key]

    def tell(self, was_goal: bool | None) -> None:
        self._asking.tell(self._question, was_goal)


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


def curve(
    goal: str,
    start: World,
    pool: Sequence[World],
    held: Sequence[tuple[World, Walked]],
    asker: AskWhereItMatters | AskAtRandom,
) -> Iterator[float]:
    """The score before the first question and after every few."""
    trails = first_trails(start, goal)
    model = teach(trails)
    walked = {world.site.start: forage(world, scorer_of(STRATEGY, model), VISITED) for world in pool}
    teacher = Teacher(pool, goal, walked, trails)
    asked: set[str] = set()
    yield average_precision(model, held, goal)
    for round_number in range(QUESTIONS // AT_ONCE):
        offered = candidates(teacher, model, asker.members, round_number)
        for _ in range(AT_ONCE):
            chosen = asker.choose(offered, asked)
            asked.add(chosen.url)
            asker.tell(teacher.answer(chosen))
        model = teach(teacher.trails)
        yield average_precision(model, held, goal)


def questions_to(scores: Sequence[float], wanted: float) -> int | None:
    return next((AT_ONCE * at for at, score in enumerate(scores) if score >= wanted), None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--goal", default="faculty", help="the label that is looked for")
    parser.add_argument("--seeds", type=int, default=3, help="how often random asking is repeated")
    add_data_option(parser)
    add_output_options(parser)
    arguments = parser.parse_args()
    large = load_worlds([arguments.data / "sites" / "webkb"])
    small = [
        world
        for world in load_worlds([arguments.data / "sites" / "departments"])
        if world.reachable_goals(arguments.goal)
    ]
    chosen, random = [], []
    for half in (0, 1):
        start, *pool = [*small[half::2], large[0]]
        breadth_first = SCORERS["breadth-first"](Brief())
        held = [
            (world, forage(world, breadth_first, READ)) for world in (*small[1 - half :: 2], large[1 + half])
        ]
        print(f"taught first on {start.name}; asked on {[each.name for each in pool]}", file=sys.stderr)
        chosen.append(list(curve(arguments.goal, start, pool, held, AskWhereItMatters())))
        random.append(
            [
                list(curve(arguments.goal, start, pool, held, AskAtRandom(seed)))
                for seed in range(arguments.seeds)
            ]
        )
    return finish(report(np.array(chosen), np.array(random)), arguments)


def report(chosen: np.ndarray, random: np.ndarray) -> Report:
    """`chosen` (halves, rounds) and `random` (halves, seeds, rounds). Means over halves and seeds are compared."""
    asking, chance = chosen.mean(axis=0), random.mean(axis=(0, 1))
    wanted = float(chance.max())
    by_asking, by_chance = questions_to(asking, wanted), questions_to(chance, wanted)
    rows: list[list[Cell]] = [
        [AT_ONCE * at, float(asking[at]), float(chance[at]), *map(float, chosen[:, at])]
        for at in range(len(asking))
    ]
    share = None if by_asking is None or not by_chance else by_asking / by_chance
    title = (
        f"Average precision of goals on sites held back. Random asking is best after {by_chance} questions "
        f"({wanted:.2f}); asking where it matters is there after {by_asking}."
    )
    header = ["questions", "asking where it matters", "at random", "first half", "second half"]
    bars = [
        Bar("share of the questions that random asking needs for its best score", share, most=MOST_OF_RANDOM)
    ]
    details = {"chosen": chosen.tolist(), "random": random.tolist()}
    return Report(title, header, rows, bars, details)


if __name__ == "__main__":
    sys.exit(main())

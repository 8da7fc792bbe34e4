"""Questions needed to reach a score: active learning against asking about random pages.

Recorded departments of 1997 (`sites/departments`, `sites/webkb`). The choice of questions was tuned on the goals
`faculty` and `student`; the target is tested on `course` and `project`. Each split draws its sites anew: teaching
begins with one trail to a goal and one elsewhere, on one site. Half of the other sites and two large ones are foraged
with that first model and the default budget; the pages that it visits can be asked about, and the recorded labels
answer. After every three answers the model is trained again and reads pages of the held-out sites, which are never
taught. Both ways of asking have the same trails, pages, answers and number of trainings. The score is the average
precision of the held-out goals, ranked by the model's probability; F1 of the pages that a forage would report as goals
is given beside it.
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
from wayhound.app.evaluate.lessons import make_trails
from wayhound.app.evaluate.world import World, load_worlds
from wayhound.app.review import COMMITTEE, candidates_of
from wayhound.app.train.models import scorer_of
from wayhound.app.visited_site import VisitedSite
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
TUNED_ON = ("faculty", "student")
TESTED_ON = ("course", "project")
QUESTIONS = 30
AT_ONCE = 3  # answers between two trainings
VISITED = ForageConfig().budget_per_site  # pages per site that the first model fetches
READ = 150  # pages per held-out site
LARGE_TO_ASK = 2  # of the three large sites; the other is held out
MOST_OF_RANDOM = 0.5
DRAWS = 200  # bootstrap samples of the splits, for the spread of the questions needed

Curve = list[tuple[float, float]]  # average precision and F1, before the first question and after every few
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Split:
    """The site where teaching begins, the sites that are asked about, and the held-out sites."""

    goal: str
    start: World
    pool: Sequence[World]
    held_out: Sequence[tuple[World, VisitedSite]]
    trails: Sequence[Trail]
    model: ForageModel
    walked: dict[str, VisitedSite]

    @classmethod
    def draw(cls, goal: str, small: Sequence[World], large: Sequence[World], seed: int) -> Split:
        generator = np.random.default_rng(seed)
        smaller, larger = (
            [worlds[at] for at in generator.permutation(len(worlds))] for worlds in (small, large)
        )
        half = len(smaller) // 2 + 1
        start, *pool = [*smaller[:half], *larger[:LARGE_TO_ASK]]
        breadth_first = SCORERS["breadth-first"](StrategyInput())
        trails = first_trails(start, goal)
        model = train(trails)
        return cls(
            goal=goal,
            start=start,
            pool=pool,
            held_out=[
                (world, forage(world, breadth_first, READ))
                for world in (*smaller[half:], *larger[LARGE_TO_ASK:])
            ],
            trails=trails,
            model=model,
            walked={world.site.start: forage(world, scorer_of(STRATEGY, model), VISITED) for world in pool},
        )


@dataclass
class Teacher:
    """A simulated person who knows the labels."""

    split: Split
    trails: list[Trail]
    _near: dict[str, dict[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for world in self.split.pool:
            self._near[world.site.start] = world.clicks_to_nearest(world.reachable_goals(self.split.goal))

    def answer(self, candidate: KeptCandidate) -> bool | None:
        """Return True for a goal; None one click before a goal, where a person could not reject the page."""
        clicks = self._near[candidate.site].get(candidate.url, 2)
        if 0 < clicks < 2:
            return None
        label = FAIL if clicks else GOAL
        self.trails.append(self.split.walked[candidate.site].trail(candidate.number, label))
        return label == GOAL


def forage(world: World, scorer: Scorer, budget: int) -> VisitedSite:
    """Return the visits of a forage of the recorded site."""
    forager = Forager(world.site, scorer, ForageLimits(budget=budget), Politeness(0.0))
    visits: list[Visit] = []
    pages: dict[int, Page] = {}
    while isinstance(action := forager.next_action(0.0), Fetch):
        page = world.pages[action.link.url]
        pages[len(visits)] = page
        response = Fetched(action.link.url, 200, content_type="text/html")
        visits.append(forager.tell(action.link, response, page, now=0.0, at=0.0))
    return VisitedSite(world.site, visits, pages)


def train(trails: Sequence[Trail]) -> ForageModel:
    return TRAINERS[STRATEGY](trails, PathSettings())


def first_trails(world: World, goal: str) -> list[Trail]:
    """Return trails without milestones: a review asks about goals alone."""
    trails = make_trails(world, goal, 1)
    return [Trail(trail.site, tuple(_without_milestone(step) for step in trail.steps)) for trail in trails]


def _without_milestone(step: Step) -> Step:
    return step if step.label in (GOAL, FAIL) else Step(step.page, step.link)


def scores(model: ForageModel, split: Split) -> tuple[float, float]:
    """Return the average precision of the held-out goals, and F1 of the pages reported as goals."""
    scorer = scorer_of(STRATEGY, model)
    ranked = [
        (reading.goal, world.labels.get(walked.pages[number].url) == split.goal)
        for world, walked in split.held_out
        for number, reading in walked.readings(scorer).items()
    ]
    ranked.sort(reverse=True)
    truth = np.array([is_goal for _, is_goal in ranked])
    precision = np.cumsum(truth) / np.arange(1, len(truth) + 1)
    reported = sum(probability >= GOAL_THRESHOLD for probability, _ in ranked)
    f1 = 2 * float(truth[:reported].sum()) / (reported + float(truth.sum()))
    return float(precision[truth].mean()), f1


def candidates(teacher: Teacher, model: ForageModel, members: int, seed: int) -> list[KeptCandidate]:
    views = bootstrap_trails(teacher.trails, members, np.random.default_rng(seed))[1:]
    committee = [scorer_of(STRATEGY, member) for member in (model, *map(train, views))]
    return [
        candidate
        for walked in teacher.split.walked.values()
        for candidate in candidates_of(walked, committee)
    ]


class ActiveAsker:
    """Asks as the review does, but goes on after the review would stop, to see what more answers bring."""

    members = COMMITTEE

    def __init__(self) -> None:
        self._picker = QuestionPicker()
        self._answers = 0
        self.stops_after: int | None = None

    def choose(self, offered: Sequence[KeptCandidate], done: set[str]) -> KeptCandidate:
        by_key = {page.url: page for page in offered if page.url not in done}
        pages = [
            Candidate(key, page.site, page.chances, page.group, page.stake) for key, page in by_key.items()
        ]
        self._question: Question = self._picker.best(pages)
        if self.stops_after is None and isinstance(self._picker.next_question(pages), StopAsking):
            self.stops_after = self._answers
        return by_key[self._question.candidate.key]

    def record_answer(self, was_goal: bool | None) -> None:
        self._answers += 1
        self._picker.record_answer(self._question, was_goal)


class RandomAsker:
    """Asks about random visited pages."""

    members = 1

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    def choose(self, offered: Sequence[KeptCandidate], done: set[str]) -> KeptCandidate:
        remaining = [page for page in offered if page.url not in done]
        return remaining[self._generator.integers(len(remaining))]

    def record_answer(self, was_goal: bool | None) -> None:
        """Do nothing: random questions do not depend on answers."""


def curve(split: Split, asker: ActiveAsker | RandomAsker) -> Iterator[tuple[float, float]]:
    """Yield the scores before the first question and after every few answers."""
    teacher, model = Teacher(split, list(split.trails)), split.model
    done: set[str] = set()
    yield scores(model, split)
    for round_number in range(QUESTIONS // AT_ONCE):
        offered = candidates(teacher, model, asker.members, round_number)
        for _ in range(AT_ONCE):
            chosen = asker.choose(offered, done)
            done.add(chosen.url)
            asker.record_answer(teacher.answer(chosen))
        model = train(teacher.trails)
        yield scores(model, split)


@dataclass
class GoalCurves:
    """The curves of one goal, one per split; random asking is repeated on each."""

    goal: str
    chosen: list[Curve] = field(default_factory=list)
    random: list[list[Curve]] = field(default_factory=list)
    stops_after: list[int | None] = field(default_factory=list)

    def active_scores(self, measure: int) -> Floats:
        """Return (splits, rounds)."""
        return np.array(self.chosen)[:, :, measure]

    def random_scores(self, measure: int) -> Floats:
        """Return (splits, rounds), the mean over the repetitions."""
        return np.asarray(np.array(self.random).mean(axis=1)[:, :, measure])


def run_goal(goal: str, data: Path, splits: int, seeds: int) -> GoalCurves:
    small = [world for world in load_worlds([data / "sites" / "departments"]) if world.reachable_goals(goal)]
    large = load_worlds([data / "sites" / "webkb"])
    curves = GoalCurves(goal)
    for number in range(splits):
        split = Split.draw(goal, small, large, number)
        pool = [world.name for world in split.pool]
        print(f"{goal}: first on {split.start.name}, then {pool}", file=sys.stderr)
        asker = ActiveAsker()
        curves.chosen.append(list(curve(split, asker)))
        curves.stops_after.append(asker.stops_after)
        curves.random.append([list(curve(split, RandomAsker(seed))) for seed in range(seeds)])
    return curves


def questions_needed(active: Floats, by_chance: Floats) -> tuple[int, int]:
    """Return the questions that each needs to the best mean score of random asking.

    At least one round is counted, since the first answers can make a model worse; a curve that never gets there
    counts as one round more than all.
    """
    target = by_chance.max()
    n_active, n_random = (
        next((AT_ONCE * at for at in range(1, len(scores)) if scores[at] >= target), QUESTIONS + AT_ONCE)
        for scores in (active, by_chance)
    )
    return n_active, n_random


def shares(curves: GoalCurves) -> Floats:
    """Return the share of random asking's questions that active asking needs, for bootstrap samples of splits."""
    generator = np.random.default_rng(0)
    active, by_chance = curves.active_scores(0), curves.random_scores(0)
    samples = (generator.integers(0, len(active), len(active)) for _ in range(DRAWS))
    needed = [questions_needed(active[rows].mean(axis=0), by_chance[rows].mean(axis=0)) for rows in samples]
    return np.array([n_active / n_random for n_active, n_random in needed])


def report(curves: GoalCurves) -> Report:
    n_active, n_random = questions_needed(
        curves.active_scores(0).mean(axis=0), curves.random_scores(0).mean(axis=0)
    )
    rows: list[list[Cell]] = [
        [AT_ONCE * at, *(_spread(table(measure)[:, at]) for measure in (0, 1) for table in _tables(curves))]
        for at in range(0, QUESTIONS // AT_ONCE + 1, 2)
    ]
    low, high = np.quantile(shares(curves), (0.1, 0.9))
    role = "used for tuning" if curves.goal in TUNED_ON else "a test"
    title = (
        f"{curves.goal} ({role}), {len(curves.chosen)} splits, mean ± spread. To the best score of random asking, "
        f"active asking needs {_format_count(n_active)} questions and random asking {_format_count(n_random)}: "
        f"{n_active / n_random:.2f} of them ({low:.2f} to {high:.2f} in 8 of 10 bootstrap samples). "
        f"{_format_stop(curves)}"
    )
    header = ["questions", "precision, asking", "at random", "F1, asking", "at random"]
    bars = [] if curves.goal in TUNED_ON else [_bar(curves.goal, n_active / n_random)]
    details = {"chosen": curves.chosen, "random": curves.random, "enough_after": curves.stops_after}
    return Report(title, header, rows, bars, details)


def _tables(curves: GoalCurves) -> tuple[Callable[[int], Floats], ...]:
    return curves.active_scores, curves.random_scores


def _format_count(questions: int) -> str:
    return str(questions) if questions <= QUESTIONS else f"more than {QUESTIONS}"


def _spread(values: Floats) -> str:
    return f"{values.mean():.2f} ± {values.std():.2f}"


def _format_stop(curves: GoalCurves) -> str:
    """Return a sentence on what more answers brought after the review would have stopped."""
    stopped = [
        (scores, at) for scores, at in zip(curves.active_scores(0), curves.stops_after, strict=True) if at
    ]
    if not stopped:
        return f"It never stopped within {QUESTIONS}."
    gains = [float(scores[-1] - scores[at // AT_ONCE]) for scores, at in stopped]
    return (
        f"It would have stopped on {len(stopped)}, {np.mean(gains):+.2f} before its last score "
        f"(at worst {max(gains):+.2f})."
    )


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
    goals = arguments.goal or (*TUNED_ON, *TESTED_ON)
    curves = (run_goal(goal, arguments.data, arguments.splits, arguments.seeds) for goal in goals)
    return finish([report(of_goal) for of_goal in curves], arguments)


if __name__ == "__main__":
    sys.exit(main())

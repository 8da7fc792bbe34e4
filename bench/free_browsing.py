"""Learning from free browsing on recorded department sites: pages marked as useful, and pages left unmarked.

A simulated person browses each teaching site: mostly clicks on a wanted page that is in sight, guesses the way to one
with every other click, and otherwise goes anywhere or back; wanted pages are marked as useful. The trails are those
that a real session keeps, by the same events. Each of `sites/webkb` is tested with the trails of the others and of
`sites/departments`: pages until 75 % of the goals, and how well goals are recognised.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as `wayhound.learn` does; reports import numpy first

from bench.forage_sites import FLOOR, GOALS, MOST_OF_BREADTH_FIRST, mean
from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.app.evaluate.lessons import make_trails
from wayhound.app.evaluate.world import World, load_worlds
from wayhound.app.teach.session import Arrived, Done, Marked, Session
from wayhound.fetched import Fetched
from wayhound.forage.forager import Fetch, ForageLimits, Forager
from wayhound.forage.politeness import Politeness
from wayhound.forage.scorer import Scorer, StrategyInput
from wayhound.forage.scorers import SCORERS
from wayhound.page import Link
from wayhound.paths.settings import PathSettings
from wayhound.paths.trainers import TRAINERS
from wayhound.trail import GOAL, Step, Trail

LEARNER = "path-learner"
MARKED, FREE, ONLY_USEFUL, CARELESS = "marks", "free", "useful only", "careless"
CLICKS = 60  # per site, going back not counted
TRAILS = 15  # per site to goals that are marked, and as many that end elsewhere
TAKEN = 0.9  # share of wanted links in sight that are clicked
GUESSED = 0.5  # share of the other clicks that lead nearer to a goal
GOES_BACK = 0.5  # share of the remaining clicks, except on the start page
CAREFUL = 0.7  # share of wanted pages that a careless person marks
LEAST_PRECISION = 0.4
TAB = 1


@dataclass
class Surfer:
    """A person who browses a site freely. `marks` is the share of wanted pages that are marked when met."""

    world: World
    goal: str
    random: Random
    marks: float = 1.0
    session: Session = field(init=False)
    _entries: int = 0

    def __post_init__(self) -> None:
        self.session = Session((self.world.site.start,), "free")

    def browse(self, clicks: int) -> Session:
        self._arrive(self.world.site.start, None)
        seen, history = {self.world.site.start}, [self.world.site.start]
        while clicks and history:
            link = self._choice(history[-1], seen)
            if link is None:
                history.pop()
                self._arrive(history[-1], None) if history else None
                continue
            clicks -= 1
            seen.add(link.url)
            history.append(link.url)
            self._arrive(link.url, link)
        self.session.apply(Done())
        return self.session

    def _arrive(self, url: str, link: Link | None) -> None:
        self._entries += 1
        self.session.apply(Arrived(TAB, self._entries, url, link))
        here = self.session.page_shown(TAB)
        assert here is not None
        wanted = self.world.labels.get(url) == self.goal and link is not None
        if wanted and not here.label and self.random.random() < self.marks:
            self.session.apply(Marked(here.number, GOAL))

    def _choice(self, url: str, seen: set[str]) -> Link | None:
        """Return a link to an unseen page, or None to go back. Links to wanted pages are mostly taken."""
        links = [link for link in self.world.pages[url].links if link.url not in seen]
        wanted = [link for link in links if self.world.labels.get(link.url) == self.goal]
        nearer = self._nearer(url, links, seen)
        for choice, share in ((wanted, TAKEN), (nearer, GUESSED)):
            if choice and self.random.random() < share:
                return self.random.choice(choice)
        goes_back = url != self.world.site.start and self.random.random() < GOES_BACK
        return self.random.choice(links) if links and not goes_back else None

    def _nearer(self, url: str, links: list[Link], seen: set[str]) -> list[Link]:
        left = [goal for goal in self.world.reachable_goals(self.goal) if goal not in seen]
        clicks = self.world.clicks_to_nearest(left)
        return [link for link in links if link.url in clicks and clicks[link.url] < clicks.get(url, math.inf)]


def browsed(world: World, goal: str, marks: float = 1.0) -> list[Trail]:
    """Return the trails of one session, as a workspace would keep them."""
    session = Surfer(world, goal, Random(f"{world.name} {goal}"), marks).browse(CLICKS)
    return [_trail(world, session, end.number) for end in session.ends()]


def _trail(world: World, session: Session, end: int) -> Trail:
    steps = tuple(Step(world.pages[node.url], node.link, label) for node, label in session.trail(end))
    return Trail(world.site.start, steps)


def lessons(worlds: Sequence[World], goal: str) -> dict[str, list[Trail]]:
    free = [trail for world in worlds for trail in browsed(world, goal)]
    return {
        MARKED: [trail for world in worlds for trail in make_trails(world, goal, TRAILS)],
        FREE: free,
        ONLY_USEFUL: [trail for trail in free if trail.reached_goal],
        CARELESS: [trail for world in worlds for trail in browsed(world, goal, marks=CAREFUL)],
    }


@dataclass(frozen=True)
class Result:
    """The result of one site and goal after one kind of lesson."""

    taught: str
    goal: str
    site: str
    pages: int  # until 75 % of the goals
    precision: float  # of all pages of the site that were reported as goals
    recall: float
    ends: tuple[int, int]  # trails to goals, and elsewhere


def results(tested: Sequence[World], teaching: Sequence[World]) -> Iterator[Result]:
    for goal in GOALS:
        for world in tested:
            yield forage(world, goal, FLOOR, SCORERS[FLOOR](StrategyInput()), [])
            others = [other for other in teaching if other.site != world.site]
            for name, trails in lessons(others, goal).items():
                model = TRAINERS[LEARNER](trails, PathSettings())
                yield forage(world, goal, name, SCORERS[LEARNER](StrategyInput(model=model)), trails)


def forage(world: World, goal: str, taught: str, scorer: Scorer, trails: Sequence[Trail]) -> Result:
    goals = set(world.reachable_goals(goal))
    forager = Forager(world.site, scorer, ForageLimits(), Politeness(0.0))
    fetched: list[str] = []
    reported: set[str] = set()
    while isinstance(action := forager.next_action(0.0), Fetch):
        url = action.link.url
        response = Fetched(url, 200, content_type="text/html")
        visit = forager.tell(action.link, response, world.pages[url], now=0.0, at=0.0)
        fetched.append(url)
        reported |= {url} if visit.is_goal else set()
    right = len(reported & goals)
    reached = sum(trail.reached_goal for trail in trails)
    return Result(
        taught=taught,
        goal=goal,
        site=world.name,
        pages=_pages_until(fetched, goals, 0.75),
        precision=right / len(reported) if reported else 0.0,
        recall=right / len(goals),
        ends=(reached, len(trails) - reached),
    )


def _pages_until(fetched: Sequence[str], goals: set[str], share: float) -> int:
    left = share * len(goals)
    for number, url in enumerate(fetched, start=1):
        left -= url in goals
        if left <= 0:
            return number
    return len(fetched)


def report(runs: Sequence[Result]) -> Report:
    floor = {(run.goal, run.site): run.pages for run in runs if run.taught == FLOOR}
    rows: list[list[Cell]] = []
    shares: dict[str, float] = {}
    precisions: dict[str, float] = {}
    for name in (MARKED, FREE, ONLY_USEFUL, CARELESS):
        own = [run for run in runs if run.taught == name]
        by_goal = [
            mean(run.pages / floor[run.goal, run.site] for run in own if run.goal == goal) for goal in GOALS
        ]
        shares[name] = mean(run.pages / floor[run.goal, run.site] for run in own)
        precisions[name] = sum(run.precision for run in own) / len(own)
        recall = sum(run.recall for run in own) / len(own)
        ends = [sum(run.ends[kind] for run in own) / len(own) for kind in (0, 1)]
        rows.append([name, *ends, *by_goal, shares[name], precisions[name], recall])
    bars = [
        Bar("of breadth-first's pages by free browsing", shares[FREE], most=MOST_OF_BREADTH_FIRST),
        Bar("precision of goals by free browsing", precisions[FREE], least=LEAST_PRECISION),
        Bar("… next to useful pages alone", precisions[FREE] / precisions[ONLY_USEFUL], least=1.0),
    ]
    header = ["by", "goals", "fails", *GOALS, "all", "P", "R"]
    title = "Pages until 75 % of the goals as a share of breadth-first's, and how well goals are recognised"
    return Report(title, header, rows, bars, details={"runs": [vars(run) for run in runs]})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    add_output_options(parser)
    arguments = parser.parse_args()
    tested = load_worlds([arguments.data / "sites" / "webkb"])
    teaching = [*tested, *load_worlds([arguments.data / "sites" / "departments"])]
    runs = []
    for run in results(tested, teaching):
        print(f"{run.site} {run.goal} {run.taught}", file=sys.stderr)
        runs.append(run)
    return finish(report(runs), arguments)


if __name__ == "__main__":
    sys.exit(main())

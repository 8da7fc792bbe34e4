"""Charts as numbers that a template draws: no script, readable in light and dark, with their values in words."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from wayhound.archive.reader import ArchiveReader
from wayhound.errors import ArchiveError
from wayhound.forage.forager import Forager
from wayhound.forage.scorer import StrategyInput
from wayhound.forage.scorers import SCORERS
from wayhound.page import Page, Unreadable
from wayhound.site import Site
from wayhound.store.runs import Course
from wayhound.visit import Visit
from wayhound.wording.faults import format_outcome
from wayhound.wording.quantities import count
from wayhound.workspace import Workspace

PAGES_AT_ONCE = 500  # a page of the studio waits for them
MOST_SITES = 50


@dataclass
class _Course:
    """A run as far as it was counted."""

    run_id: int
    foragers: dict[str, Forager] = field(default_factory=dict)
    sizes: list[int] = field(default_factory=list)


class QueueWatch:
    """Counts on where it stopped, a few pages at a time. Which links wait does not depend on their scores, so
    no model is needed. It keeps the run that was looked at last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._course = _Course(0)

    def sizes(self, workspace: Workspace, run_id: int) -> list[int]:
        """Links waiting after each page counted so far, over all sites of the run."""
        with self._lock:
            if self._course.run_id != run_id:
                self._course = _Course(run_id)
            self._count_on(workspace, self._course)
            return list(self._course.sizes)

    def _count_on(self, workspace: Workspace, course: _Course) -> None:
        reader = workspace.archive
        left = PAGES_AT_ONCE
        for summary in list(islice(workspace.stores.forage.sites(course.run_id), MOST_SITES)):
            forager = course.foragers.get(summary.start)
            if forager is None:
                forager = Forager(Site(summary.start), SCORERS["breadth-first"](StrategyInput()))
                course.foragers[summary.start] = forager
            if left <= 0 or summary.visits <= forager.visits:
                continue
            new = workspace.stores.forage.visits_of(course.run_id, summary.start, forager.visits)
            for visit in islice(new, left):
                left -= 1
                forager.replay(visit, _archived(reader, visit))
                course.sizes.append(sum(len(each.frontier) for each in course.foragers.values()))


def _archived(reader: ArchiveReader, visit: Visit) -> Page | Unreadable | None:
    try:
        return reader.page(visit.archived)
    except ArchiveError:
        return None


WIDTH, HEIGHT = 360, 170
LEFT, TOP, RIGHT, BOTTOM = 40, 10, 8, 24
MOST_POINTS = 240
BUCKETS = 40

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Chart:
    """A line over two axes. `points` is ready for an SVG; `told` says in words what it shows."""

    title: str
    points: str
    area: str
    top_label: str
    right_label: str
    x_name: str
    told: str


@dataclass(frozen=True, slots=True)
class ChartBar:
    name: str
    count: int
    width: float


def goals_chart(course: Course) -> Chart:
    goals, points = 0, [(0.0, 0.0)]
    pages = 0
    for more_pages, more_goals in course.stretches:
        pages += more_pages
        goals += more_goals
        points.append((pages, goals))
    return line_chart(
        "Goals against pages", points, "pages", f"{count(goals, 'goal')} on {count(pages, 'page')}"
    )


def speed_chart(course: Course) -> Chart:
    """Pages a second, in equal parts of the time that the run took."""
    if not course.parts:
        return line_chart("Pages a second", [], "seconds", "too few pages to tell")
    width = course.seconds / len(course.parts)
    points = [((number + 0.5) * width, count / width) for number, count in enumerate(course.parts)]
    mean = sum(course.parts) / course.seconds
    return line_chart("Pages a second", points, "seconds", f"{mean:.1f} pages a second on average")


def queue_chart(sizes: Sequence[int]) -> Chart:
    """Links that waited after each page."""
    points = [(float(number), float(size)) for number, size in enumerate(sizes)]
    told = (
        f"{count(sizes[-1], 'link')} {'waits' if sizes[-1] == 1 else 'wait'}"
        if sizes
        else "nothing counted yet"
    )
    return line_chart("Links waiting", points, "pages", told)


def outcome_bars(outcomes: Mapping[str, int]) -> list[ChartBar]:
    most = max(outcomes.values(), default=1)
    ordered = sorted(outcomes.items(), key=lambda pair: (-pair[1], pair[0]))
    return [ChartBar(format_outcome(name, "studio"), count, 100 * count / most) for name, count in ordered]


def line_chart(title: str, points: Sequence[Point], x_name: str, told: str) -> Chart:
    thin = _thinned(points)
    most_x = max((x for x, _ in thin), default=0.0) or 1.0
    most_y = max((y for _, y in thin), default=0.0) or 1.0
    across, up = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    placed = [(LEFT + across * x / most_x, TOP + up * (1 - y / most_y)) for x, y in thin]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
    ground = HEIGHT - BOTTOM
    area = f"{placed[0][0]:.1f},{ground} {line} {placed[-1][0]:.1f},{ground}" if placed else ""
    return Chart(title, line, area, _short(most_y), _short(most_x), x_name, told)


def _thinned(points: Sequence[Point]) -> list[Point]:
    """At most so many, the first and the last among them."""
    if len(points) <= MOST_POINTS:
        return list(points)
    step = (len(points) - 1) / (MOST_POINTS - 1)
    return [points[round(number * step)] for number in range(MOST_POINTS)]


def _short(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"

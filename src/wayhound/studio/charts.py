"""Charts as numbers that a template draws as SVG: no script, readable in light and dark, with a text summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wayhound.store.runs import Course
from wayhound.wording.faults import format_outcome
from wayhound.wording.quantities import count

WIDTH, HEIGHT = 360, 170
LEFT, TOP, RIGHT, BOTTOM = 40, 10, 8, 24
MOST_POINTS = 240
BUCKETS = 40

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Chart:
    """A line chart. `points` and `area` are SVG coordinates; `summary` says what the chart shows."""

    title: str
    points: str
    area: str
    top_label: str
    right_label: str
    x_name: str
    summary: str


@dataclass(frozen=True, slots=True)
class ChartBar:
    name: str
    count: int
    width: float  # percent of the longest bar


def goals_chart(course: Course) -> Chart:
    """Return the number of goals against the number of pages."""
    pages, goals, points = 0, 0, [(0.0, 0.0)]
    for more_pages, more_goals in course.stretches:
        pages += more_pages
        goals += more_goals
        points.append((pages, goals))
    summary = f"{count(goals, 'goal')} on {count(pages, 'page')}"
    return line_chart("Goals by pages fetched", points, "pages", summary)


def speed_chart(course: Course) -> Chart:
    """Return pages per second in equal parts of the time that the run took."""
    if not course.parts:
        return line_chart("Pages per second", [], "seconds", "too few pages to show")
    width = course.seconds / len(course.parts)
    points = [((number + 0.5) * width, pages / width) for number, pages in enumerate(course.parts)]
    mean = sum(course.parts) / course.seconds
    return line_chart("Pages per second", points, "seconds", f"{mean:.1f} on average")


def frontier_chart(sizes: Sequence[int]) -> Chart:
    """Return the number of links in the frontier after each page."""
    points = [(float(number), float(size)) for number, size in enumerate(sizes)]
    summary = f"{count(sizes[-1], 'link')} waiting now" if sizes else "nothing to show yet"
    return line_chart("Links waiting", points, "pages", summary)


def outcome_bars(outcomes: Mapping[str, int]) -> list[ChartBar]:
    most = max(outcomes.values(), default=1)
    ordered = sorted(outcomes.items(), key=lambda pair: (-pair[1], pair[0]))
    return [ChartBar(format_outcome(name, "studio"), number, 100 * number / most) for name, number in ordered]


def line_chart(title: str, points: Sequence[Point], x_name: str, summary: str) -> Chart:
    shown = _thinned(points)
    most_x = max((x for x, _ in shown), default=0.0) or 1.0
    most_y = max((y for _, y in shown), default=0.0) or 1.0
    across, up = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    placed = [(LEFT + across * x / most_x, TOP + up * (1 - y / most_y)) for x, y in shown]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
    ground = HEIGHT - BOTTOM
    area = f"{placed[0][0]:.1f},{ground} {line} {placed[-1][0]:.1f},{ground}" if placed else ""
    return Chart(
        title=title,
        points=line,
        area=area,
        top_label=_label(most_y),
        right_label=_label(most_x),
        x_name=x_name,
        summary=summary,
    )


def _thinned(points: Sequence[Point]) -> list[Point]:
    """Return at most MOST_POINTS, among them the first and the last."""
    if len(points) <= MOST_POINTS:
        return list(points)
    step = (len(points) - 1) / (MOST_POINTS - 1)
    return [points[round(number * step)] for number in range(MOST_POINTS)]


def _label(number: float) -> str:
    return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:.1f}"

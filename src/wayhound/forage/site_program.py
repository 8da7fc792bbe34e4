"""The program of one site: the routes of clicks that led to goals, as text that a person can read and edit.

A route is learned after two goals were reached by the same regions and URL shapes. It is followed first, until too few
of the pages at its end are goals, and the next run of the site starts with it::

    in "ul.menu>li>a": follow /people/
    in "ul.people>li>a": follow /people/*

An empty line begins another route. `*` is any part of a URL between slashes. `repeatedly` at the end of a line follows
such links again on the pages that they lead to, as through the pages of a long list. Without `in`, a link may be
anywhere.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from wayhound.errors import UsageError
from wayhound.page import Link
from wayhound.url import host_of
from wayhound.visit import Visit

MIN_GOALS = 2  # that a route must have led to
MAX_ROUTES = 20
RECENT_SHARE = 0.15  # of the last page in the yield of a route: about the last seven count
FIRST_YIELD = 0.8  # before any page at the end of the route was fetched
MIN_YIELD = 0.25  # a route with a lower yield is not followed first

_REGION_STEPS = 3  # of a region without classes that are written down
_REPEATEDLY = "repeatedly"
_LINE = re.compile(r'(?:in\s+("(?:[^"\\]|\\.)*")\s*:\s*)?follow\s+(\S+)(?:\s+(repeatedly))?')

Position = tuple[tuple[int, int], ...]
"""The progress of a path on each route: pairs of a route's number and the steps of it that were taken."""


@dataclass(frozen=True, slots=True)
class RouteStep:
    """Links to follow: by the end or any other part of their region (empty for any), and by a pattern of their URL."""

    region: str
    pattern: str
    repeated: bool = False

    def matches(self, link: Link, host: str) -> bool:
        """Return True if the step follows this link; `host` is that of the start page."""
        if self.region and f">{self.region}>" not in f">{link.region}>":
            return False
        return _compiled(self.pattern).fullmatch(_without_host(link.url, host)) is not None

    def __str__(self) -> str:
        place = f"in {json.dumps(self.region, ensure_ascii=False)}: " if self.region else ""
        return f"{place}follow {self.pattern}{f' {_REPEATEDLY}' if self.repeated else ''}"


Route = tuple[RouteStep, ...]


@dataclass(frozen=True, slots=True)
class SiteProgram:
    """Routes from the start page to goals, the best first."""

    routes: tuple[Route, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.routes)

    def __str__(self) -> str:
        return "\n\n".join("\n".join(map(str, route)) for route in self.routes) + "\n" if self.routes else ""

    @classmethod
    def parse(cls, text: str) -> SiteProgram:
        """Read a program; `#` begins a comment line. Raises UsageError if a line cannot be read."""
        routes: list[list[RouteStep]] = [[]]
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                routes.append([])
            elif not line.lstrip().startswith("#"):
                routes[-1].append(_parse_step(line.strip(), number))
        return cls(tuple(tuple(route) for route in routes if route))

    @property
    def start(self) -> Position:
        return tuple((number, 0) for number in range(len(self.routes)))

    def advance(self, position: Position, link: Link, host: str) -> Position:
        """Return the position after a click on a link; empty if no route follows it."""
        after: dict[tuple[int, int], None] = {}
        for number, taken in position:
            route = self.routes[number]
            if taken < len(route) and route[taken].matches(link, host):
                after[number, taken + 1] = None
            if taken and route[taken - 1].repeated and route[taken - 1].matches(link, host):
                after[number, taken] = None
        return tuple(after)

    def ends(self, position: Position) -> tuple[int, ...]:
        """Return the routes that end at this position: a goal is expected there."""
        return tuple(number for number, taken in position if taken == len(self.routes[number]))


@dataclass
class RouteYields:
    """The share of goals among the pages fetched last at the end of each route."""

    program: SiteProgram
    _yields: dict[int, float] = field(default_factory=dict)

    def learn(self, position: Position, goal: float) -> None:
        """Take in the goal probability of a page that was fetched."""
        for number in self.program.ends(position):
            old = self._yields.get(number, FIRST_YIELD)
            self._yields[number] = (1 - RECENT_SHARE) * old + RECENT_SHARE * goal

    def leads(self, position: Position) -> bool:
        """Return True if a link at this position is to be followed first."""
        return any(self._yields.get(number, FIRST_YIELD) >= MIN_YIELD for number, _ in position)


def learn_program(visits: Sequence[Visit], goals: Collection[str] | None = None) -> SiteProgram:
    """Return the routes by which at least two goals were reached, those to most goals first.

    `visits` are those of one site, by number. `goals` are URLs; by default the visits that were taken for goals.
    """
    by_number = {visit.number: visit for visit in visits}
    host = host_of(visits[0].url) if visits else ""
    is_goal = (lambda visit: visit.is_goal) if goals is None else (lambda visit: visit.url in goals)
    chains: dict[tuple[_StepKey, ...], list[_Chain]] = {}
    for visit in visits:
        if is_goal(visit) and (chain := _chain(visit, by_number)):
            chains.setdefault(tuple(_step_key(click) for click in chain), []).append(chain)
    found = [route for own in chains.values() for route in _routes(own, host)]
    goals_of: dict[Route, int] = {}
    for route, count in found:
        goals_of[route] = goals_of.get(route, 0) + count
    best = sorted(goals_of, key=lambda route: (-goals_of[route], str(route)))
    return SiteProgram(tuple(best[:MAX_ROUTES]))


_Click = tuple[str, tuple[str, ...]]
"""A short region, and the URLs that were followed there: several if the step was repeated."""
_Chain = tuple[_Click, ...]
_StepKey = tuple[str, str, int, str, tuple[str, ...], bool]


def _chain(visit: Visit, by_number: dict[int, Visit]) -> _Chain:
    """Return the clicks to a page, with clicks of one kind in a row taken together; empty for the start page."""
    clicks: list[tuple[str, str]] = []
    at: Visit | None = visit
    while at is not None and at.link_kind != "start":
        if at.link_kind != "redirect":  # the page has the link to what was redirected
            clicks.append((_short_region(at.link_region), at.url))
        at = by_number.get(at.parent) if at.parent is not None else None
    joined: list[tuple[str, list[str]]] = []
    for region, url in reversed(clicks[1:]):
        if joined and joined[-1][0] == region and _shape(joined[-1][1][-1]) == _shape(url):
            joined[-1][1].append(url)
        else:
            joined.append((region, [url]))
    ends = [(region, [url]) for region, url in clicks[:1]]  # the goal itself is a step of its own
    return tuple((region, tuple(urls)) for region, urls in [*joined, *ends])


def _short_region(region: str) -> str:
    """Return the end of a region, from its last list or element with a class above the link."""
    steps = region.split(">")
    for at in range(len(steps) - 2, -1, -1):
        if "." in steps[at] or steps[at] in ("ul", "ol", "dl", "table", "nav", "main", "header", "footer"):
            return ">".join(steps[at:])
    return ">".join(steps[-_REGION_STEPS:])


def _step_key(click: _Click) -> _StepKey:
    region, urls = click
    return (region, *_shape(urls[0]), len(urls) > 1)


@lru_cache(maxsize=1 << 12)
def _shape(url: str) -> tuple[str, int, str, tuple[str, ...]]:
    """Return the host, the number of folders, the file's ending and the names of the parameters of a URL."""
    location, _, query = url.partition("?")
    last = location.rpartition("/")[2]
    names = tuple(part.partition("=")[0] for part in query.split("&")) if query else ()
    return host_of(url), location.count("/"), last.rpartition(".")[2] if "." in last else "", names


def _routes(chains: Sequence[_Chain], host: str) -> Iterator[tuple[Route, int]]:
    """Yield the routes that cover these chains of one shape, with the number of goals of each.

    A step before the last one must name something: a menu entry that led to goals does not recommend the menu.
    """
    if len(chains) < MIN_GOALS:
        return
    steps = [[url for chain in chains for url in chain[at][1]] for at in range(len(chains[0]))]
    patterns = [_generalise(urls, host) for urls in steps]
    for at, pattern in enumerate(patterns[:-1]):
        if not _names_something(pattern):
            parts: dict[str, list[_Chain]] = {}
            for chain in chains:
                parts.setdefault(chain[at][1][0], []).append(chain)
            if len(parts) == 1:
                return
            for own in parts.values():
                yield from _routes(own, host)
            return
    clicks = zip(chains[0], patterns, strict=True)
    yield tuple(RouteStep(region, pattern, len(urls) > 1) for (region, urls), pattern in clicks), len(chains)


def _generalise(urls: Iterable[str], host: str) -> str:
    """Return the pattern of URLs with the same number of folders: what they share, and `*`."""
    rows = [_without_host(url, host).split("/") for url in dict.fromkeys(urls)]
    return "/".join(_generalise_part(parts) for parts in zip(*rows, strict=True))


def _generalise_part(parts: Sequence[str]) -> str:
    if len(set(parts)) == 1:
        return parts[0]
    start = _common_start(parts)
    rest = [part[len(start) :][::-1] for part in parts]
    return f"{start}*{_common_start(rest)[::-1]}"


def _common_start(parts: Sequence[str]) -> str:
    first, last = min(parts), max(parts)
    length = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return first[:length]


def _names_something(pattern: str) -> bool:
    return pattern == "/" or any(char.isalnum() for char in pattern.rpartition("//")[2].partition("/")[2])


def _without_host(url: str, host: str) -> str:
    """Return the path and query of a URL on this host; of another host, `//` and all after it."""
    rest = url.partition("://")[2]
    own = rest.removeprefix(host)
    return own or "/" if own != rest and own[:1] in ("", "/", "?") else f"//{rest}"


@lru_cache(maxsize=1 << 10)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile("[^/]*".join(map(re.escape, pattern.split("*"))))


def _parse_step(line: str, number: int) -> RouteStep:
    match = _LINE.fullmatch(line)
    try:
        region = json.loads(match[1]) if match and match[1] else ""
    except ValueError:
        match = None
    if match is None or not match[2].startswith("/"):
        raise UsageError(
            f"Line {number} of the program cannot be read: {line!r}. "
            'Write a line such as: in "ul.people>li>a": follow /people/*'
        )
    return RouteStep(region, match[2], match[3] is not None)

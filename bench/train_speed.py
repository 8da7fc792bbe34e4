"""CPU cost of the path learner: training on many trails, and rating the links of unseen pages.

The sites are synthetic: trees of pages with navigation, words drawn by Zipf's law. Only cost is measured, not
accuracy.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, field

import numpy as np

from bench.report import Bar, Report, add_output_options, finish
from wayhound.forage.scorers.path_learner import PathLearner
from wayhound.page import Link, Page
from wayhound.paths.features import PageContext, own_link_tokens
from wayhound.paths.model import ForageModel
from wayhound.paths.settings import PathSettings
from wayhound.paths.trainers import TRAINERS
from wayhound.site import Site
from wayhound.trail import FAIL, GOAL, Step, Trail

N_SITES, CHILDREN, NAVIGATION = 10, 3, 20
N_WORDS, BODY_WORDS = 5_000, 150
PAGES_RATED, LINKS_RATED = 30, 200
ROUNDS = 7  # the best of these counts: other work on the machine only adds time
MOST_TRAINING_SECONDS, MOST_RATING_MS = 10.0, 4.0
MILESTONES = {0: "home", 1: "section", 4: "group"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_output_options(parser)
    parser.add_argument("--trails", type=int, default=500)
    parser.add_argument("--length", type=int, default=8, help="pages of a trail")
    arguments = parser.parse_args()
    rng = np.random.default_rng(0)
    trails = _trails(arguments.trails, arguments.length, rng)
    seconds, model = {}, {}
    for strategy, trainer in TRAINERS.items():
        began = time.process_time()
        model[strategy] = trainer(trails, PathSettings())
        seconds[strategy] = time.process_time() - began
    costs = {strategy: _rating_ms(trained, rng) for strategy, trained in model.items()}
    rows = [
        [name, f"{seconds[name]:.2f} s", *(f"{ms:.2f} ms" for ms in (cost.features, cost.rating, cost.both))]
        for name, cost in costs.items()
    ]
    links = f"of {LINKS_RATED} links"
    head = [
        "strategy",
        f"training on {len(trails)} trails",
        f"features {links}",
        f"rating {links} by them",
        "both",
    ]
    bars = [
        Bar("path-learner, training, CPU seconds", seconds["path-learner"], most=MOST_TRAINING_SECONDS),
        Bar(
            f"path-learner, features and rating {links}, CPU ms",
            costs["path-learner"].both,
            most=MOST_RATING_MS,
        ),
    ]
    return finish(Report("Path learner: cost in CPU time", head, rows, bars), arguments)


def _trails(count: int, length: int, rng: np.random.Generator) -> list[Trail]:
    sites = [_Tree(f"http://site{number}.example/", rng) for number in range(N_SITES)]
    return [sites[number % N_SITES].trail(number // N_SITES, length) for number in range(count)]


@dataclass
class _Tree:
    """A site whose pages are made when they are needed: every page links to a few below it and to the top."""

    start: str
    rng: np.random.Generator
    _pages: dict[tuple[int, ...], Page] = field(default_factory=dict)

    def trail(self, number: int, length: int) -> Trail:
        """Return a trail that reaches a goal by the first branches if `number` is even, else a failing one."""
        digits = [number // 2 // (CHILDREN - 1) ** place % (CHILDREN - 1) for place in range(length - 1)]
        path = tuple(reversed(digits))
        if number % 2:
            path = (*path[:-1], CHILDREN - 1)
        steps = [Step(self._page(()), None, MILESTONES[0])]
        for depth in range(1, length):
            page, link = self._page(path[:depth]), self._page(path[: depth - 1]).links[path[depth - 1]]
            ending = GOAL if not number % 2 else FAIL
            steps.append(Step(page, link, ending if depth == length - 1 else MILESTONES.get(depth, "")))
        return Trail(self.start, tuple(steps))

    def _page(self, path: tuple[int, ...]) -> Page:
        if path not in self._pages:
            below = [
                self._link((*path, child), f"body>div.list{len(path)}>ul>li>a") for child in range(CHILDREN)
            ]
            menu = [self._link((child % CHILDREN,), "body>ul.menu>li>a") for child in range(NAVIGATION)]
            title = " ".join(_words(self.rng, 4))
            tokens = tuple(_words(self.rng, BODY_WORDS))
            self._pages[path] = Page(self._url(path), title, tokens=tokens, links=(*below, *menu))
        return self._pages[path]

    def _url(self, path: tuple[int, ...]) -> str:
        return self.start + "".join(f"part{branch}/" for branch in path)

    def _link(self, path: tuple[int, ...], region: str) -> Link:
        return _link(self._url(path), region, self.rng)


def _link(url: str, region: str, rng: np.random.Generator) -> Link:
    nearby = _words(rng, 20)
    text = " ".join(_words(rng, 3))
    return Link(url, text, tuple(nearby[:10]), tuple(nearby[10:]), region)


def _words(rng: np.random.Generator, count: int) -> list[str]:
    return [f"w{number % N_WORDS}" for number in rng.zipf(1.2, count).tolist()]


@dataclass(frozen=True)
class _Cost:
    """CPU milliseconds per page: for the features of its links, and for rating them."""

    features: float
    rating: float

    @property
    def both(self) -> float:
        return self.features + self.rating


def _rating_ms(model: ForageModel, rng: np.random.Generator) -> _Cost:
    """Measure unseen pages, so that the scorer has cached nothing about their links."""
    scorer, site = PathLearner(model), Site("http://new.example/")
    pages = [_new_page(number, rng) for number in range(PAGES_RATED)]
    readings = [scorer.read(scorer.start(site), page) for page in pages]
    _all_features(model, pages)  # fills the caches of words, as in a forage
    features, both = [], []
    for _ in range(ROUNDS):
        fresh = PathLearner(model)
        began = time.process_time()
        _all_features(model, pages)
        halfway = time.process_time()
        for page, reading in zip(pages, readings, strict=True):
            fresh.rate(reading, page.links)  # computes the features again, then rates
        features.append(halfway - began)
        both.append(time.process_time() - halfway)
    best = 1000 * min(features) / len(pages)
    return _Cost(best, 1000 * min(both) / len(pages) - best)


def _all_features(model: ForageModel, pages: list[Page]) -> None:
    for page in pages:
        context = PageContext.from_page(page)
        for link in page.links:
            own_link_tokens(link, context, model.settings.window, added=model.settings.features == "all")


def _new_page(number: int, rng: np.random.Generator) -> Page:
    url = f"http://new.example/{number}"
    links = [_link(f"{url}/part{link}/", "body>div>ul>li>a", rng) for link in range(LINKS_RATED)]
    title, tokens = " ".join(_words(rng, 4)), tuple(_words(rng, BODY_WORDS))
    return Page(url, title, tokens=tokens, links=tuple(links))


if __name__ == "__main__":
    sys.exit(main())

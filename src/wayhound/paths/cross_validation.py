"""How well a model tells the labels of a site that it was not taught, and settings chosen by that alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from wayhound.errors import TeachingError
from wayhound.paths.model import ForageModel
from wayhound.paths.samples import PathSample, SampleMaker, trails_by_site
from wayhound.paths.settings import PathSettings
from wayhound.paths.taught_site import TaughtSite
from wayhound.paths.trainers import TRAINERS
from wayhound.trail import GOAL, Trail

PRIORS = (0.1, 0.3, 1.0)
BODY_TOKENS = (100, 10, 0)
MOST_FOLDS = 5  # when settings are tried
CHANCE_AT_LEAST = 1e-6  # of a label that was never taught

LabelPair = tuple[str, str]
"""The label that a page has, and the one that it was given."""

Progress = Callable[[int, int], None]
"""Told how many of how many models have been taught."""


@dataclass(frozen=True, slots=True)
class LabelScore:
    """How well one label is told: of the pages given it, the share that have it; and the other way round."""

    label: str
    precision: float
    recall: float
    support: int  # pages that have it

    @property
    def f1(self) -> float:
        return _harmonic(self.precision, self.recall)


@dataclass(frozen=True, slots=True)
class LabelScores:
    """All labels, as told on sites that were held out."""

    by_label: tuple[LabelScore, ...]

    @property
    def goal(self) -> LabelScore:
        return next(score for score in self.by_label if score.label == GOAL)

    @property
    def mean(self) -> LabelScore:
        """Over all labels that some page has: mean precision and mean recall, as in Tables 2 and 3."""
        held = [score for score in self.by_label if score.support]
        precision = sum(score.precision for score in held) / len(held)
        recall = sum(score.recall for score in held) / len(held)
        return LabelScore("all labels", precision, recall, sum(score.support for score in held))


def leave_one_site_out(
    trails: Sequence[Trail], strategy: str, settings: PathSettings, progress: Progress | None = None
) -> LabelScores:
    """Teach on all sites but one, label the pages of that one's trails, for each in turn."""
    return label_scores(held_out_labels(trails, strategy, settings, progress))


def held_out_labels(
    trails: Sequence[Trail], strategy: str, settings: PathSettings, progress: Progress | None = None
) -> list[LabelPair]:
    """The same, page by page."""
    told: list[LabelPair] = []
    folds = [frozenset([site]) for site in trails_by_site(trails)]
    for number, (model, held_out) in enumerate(_models(trails, strategy, settings, folds), start=1):
        told += [pair for sample in held_out for pair in decode_labels(model, sample)]
        if progress:
            progress(number, len(folds))
    return told


def choose_settings(
    trails: Sequence[Trail], strategy: str, progress: Progress | None = None, base: PathSettings | None = None
) -> PathSettings:
    """The prior, then the number of body words, that tell most of sites held out.

    Compared by the mean logarithm of the chance that each page and link of a held-out trail was given its
    right label, with what was seen up to it: that is what foraging lives on.
    """
    chosen = base or PathSettings()
    if len(trails_by_site(trails)) < 2:
        return chosen
    tries = [replace(chosen, prior_variance=variance) for variance in PRIORS]
    total = (len(PRIORS) + len(BODY_TOKENS) - 1) * len(_folds(trails))
    search = _Search(trails, strategy, progress, total)
    chosen = search.best(tries)
    fewer = [replace(chosen, body_tokens=n) for n in BODY_TOKENS if n != chosen.body_tokens]
    return search.best([chosen, *fewer])


class _Search:
    """Remembers what was tried, and tells how far it is."""

    def __init__(self, trails: Sequence[Trail], strategy: str, progress: Progress | None, total: int) -> None:
        self._trails, self._strategy, self._progress, self._total = trails, strategy, progress, total
        self._found: dict[PathSettings, float] = {}
        self._done = 0

    def best(self, tries: Sequence[PathSettings]) -> PathSettings:
        """Of equal ones the first."""
        return max(tries, key=self._quality)

    def _quality(self, settings: PathSettings) -> float:
        if settings not in self._found:
            self._found[settings] = self._measure(settings)
        return self._found[settings]

    def _measure(self, settings: PathSettings) -> float:
        logs: list[float] = []
        for model, held_out in _models(self._trails, self._strategy, settings, _folds(self._trails)):
            logs += [
                math.log(chance) for sample in held_out for chance in true_label_probabilities(model, sample)
            ]
            self._done += 1
            if self._progress:
                self._progress(self._done, self._total)
        return float(np.mean(logs))


def decode_labels(model: ForageModel, sample: PathSample) -> list[LabelPair]:
    """The true label of each page on a path, and the one that the best labelling gives it (Eq. 2)."""
    pages, links = (model.vocabulary.rows(sample.tokens[kind::2]) for kind in (0, 1))
    given = model.judge.decode(pages, links)
    return [(true, model.labels[number]) for true, number in zip(sample.labels[::2], given, strict=True)]


def true_label_probabilities(model: ForageModel, sample: PathSample) -> Iterator[float]:
    """How likely the model finds the right label of each page and link, by what came before it on the path."""
    judge, belief = model.judge, model.judge.start()
    for at, (tokens, label) in enumerate(zip(sample.tokens, sample.labels, strict=True)):
        row = model.vocabulary.rows([tokens])
        if at % 2:
            onward = judge.links(belief, judge.link_scores(row))
            chances, belief = onward.chances[0], onward.belief(0)
        else:
            belief = judge.page(belief, judge.page_scores(row)[0])
            chances = judge.chances(belief)
        known = label in model.labels
        yield max(float(chances[model.labels.index(label)]), CHANCE_AT_LEAST) if known else CHANCE_AT_LEAST


def label_scores(told: Sequence[LabelPair]) -> LabelScores:
    """From pairs of the true and the given label."""
    labels = sorted({label for pair in told for label in pair} | {GOAL})
    return LabelScores(tuple(_label_score(told, label) for label in labels))


def _label_score(told: Sequence[LabelPair], label: str) -> LabelScore:
    right = sum(true == given == label for true, given in told)
    given = sum(given == label for _, given in told)
    support = sum(true == label for true, _ in told)
    return LabelScore(label, right / given if given else 0.0, right / support if support else 0.0, support)


def _models(
    trails: Sequence[Trail], strategy: str, settings: PathSettings, folds: Sequence[frozenset[str]]
) -> Iterator[tuple[ForageModel, list[PathSample]]]:
    """For each fold: a model taught without its sites, and the trails of those sites."""
    if len(folds) < 2:
        raise TeachingError("Trails of at least two sites are needed to test on one and teach on the others.")
    for fold in folds:
        taught = [trail for trail in trails if trail.site not in fold]
        if any(trail.reached_goal for trail in taught):
            yield TRAINERS[strategy](taught, settings), list(_held_out(trails, settings, fold))


def _held_out(trails: Sequence[Trail], settings: PathSettings, fold: frozenset[str]) -> Iterator[PathSample]:
    sampling = SampleMaker(settings)
    for site, own in trails_by_site([trail for trail in trails if trail.site in fold]).items():
        known = TaughtSite.of(own, settings.states)
        assert known.start == site
        yield from (sampling.path(known, trail.steps, 1.0) for trail in own)


def _folds(trails: Sequence[Trail]) -> list[frozenset[str]]:
    sites = list(trails_by_site(trails))
    return [frozenset(sites[number::MOST_FOLDS]) for number in range(min(MOST_FOLDS, len(sites)))]


def _harmonic(one: float, other: float) -> float:
    return 2 * one * other / (one + other) if one + other else 0.0

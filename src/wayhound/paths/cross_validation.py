"""Cross-validation over sites: how well a model labels a site that it was not taught, and settings chosen by it."""

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
from wayhound.paths.trainers import label_trainer
from wayhound.trail import GOAL, Trail

PRIORS = (0.1, 0.3, 1.0)
BODY_TOKENS = (100, 10, 0)
MAX_FOLDS = 5  # when settings are compared
MIN_PROBABILITY = 1e-6  # of a label that was never taught, so that its logarithm is finite

LabelPair = tuple[str, str]
"""The true label of a page, and the predicted one."""

Progress = Callable[[int, int], None]
"""Called with the number of models trained so far, and their total."""


@dataclass(frozen=True, slots=True)
class LabelScore:
    """Precision and recall of one label."""

    label: str
    precision: float
    recall: float
    support: int  # pages that truly have the label

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


@dataclass(frozen=True, slots=True)
class LabelScores:
    """The scores of all labels on held-out sites."""

    by_label: tuple[LabelScore, ...]

    @property
    def goal(self) -> LabelScore:
        return next(score for score in self.by_label if score.label == GOAL)

    @property
    def mean(self) -> LabelScore:
        """Mean precision and recall over all labels that some page has, as in Tables 2 and 3."""
        present = [score for score in self.by_label if score.support]
        precision = sum(score.precision for score in present) / len(present)
        recall = sum(score.recall for score in present) / len(present)
        return LabelScore("all labels", precision, recall, sum(score.support for score in present))


def leave_one_site_out(
    trails: Sequence[Trail], strategy: str, settings: PathSettings, progress: Progress | None = None
) -> LabelScores:
    """Return the label scores of each site in turn, with a model trained on all others."""
    return label_scores(held_out_labels(trails, strategy, settings, progress))


def held_out_labels(
    trails: Sequence[Trail], strategy: str, settings: PathSettings, progress: Progress | None = None
) -> list[LabelPair]:
    """Return the true and the predicted label of every page of the trails, each site held out in turn.

    Raises TeachingError if the trails are of fewer than two sites.
    """
    pairs: list[LabelPair] = []
    folds = [frozenset([site]) for site in trails_by_site(trails)]
    for number, (model, held_out) in enumerate(_models(trails, strategy, settings, folds), start=1):
        pairs += [pair for sample in held_out for pair in decode_labels(model, sample)]
        if progress:
            progress(number, len(folds))
    return pairs


def choose_settings(trails: Sequence[Trail], strategy: str, progress: Progress | None = None) -> PathSettings:
    """Return the best prior, then the best number of body words, by cross-validation over sites.

    The criterion is the mean log probability of the true label of each page and link of a held-out trail, given
    the path up to it: that is what foraging relies on. With one site, return the default settings.
    """
    chosen = PathSettings()
    if len(trails_by_site(trails)) < 2:
        return chosen
    candidates = [replace(chosen, prior_variance=variance) for variance in PRIORS]
    total = (len(PRIORS) + len(BODY_TOKENS) - 1) * len(_folds(trails))
    search = _SettingsSearch(trails, strategy, progress, total)
    chosen = search.best(candidates)
    fewer = [replace(chosen, body_tokens=n) for n in BODY_TOKENS if n != chosen.body_tokens]
    return search.best([chosen, *fewer])


class _SettingsSearch:
    """Evaluates settings, each once, and reports progress."""

    def __init__(self, trails: Sequence[Trail], strategy: str, progress: Progress | None, total: int) -> None:
        self._trails, self._strategy, self._progress, self._total = trails, strategy, progress, total
        self._qualities: dict[PathSettings, float] = {}
        self._done = 0

    def best(self, candidates: Sequence[PathSettings]) -> PathSettings:
        """Return the best candidate; ties go to the first."""
        return max(candidates, key=self._quality)

    def _quality(self, settings: PathSettings) -> float:
        if settings not in self._qualities:
            self._qualities[settings] = self._measure(settings)
        return self._qualities[settings]

    def _measure(self, settings: PathSettings) -> float:
        logs: list[float] = []
        for model, held_out in _models(self._trails, self._strategy, settings, _folds(self._trails)):
            logs += [math.log(p) for sample in held_out for p in true_label_probabilities(model, sample)]
            self._done += 1
            if self._progress:
                self._progress(self._done, self._total)
        return float(np.mean(logs))


def decode_labels(model: ForageModel, sample: PathSample) -> list[LabelPair]:
    """Return the true label of each page on a path, and that of the best labelling (Eq. 2)."""
    pages, links = (model.vocabulary.rows(sample.tokens[kind::2]) for kind in (0, 1))
    predicted = model.labeller.decode(pages, links)
    return [(true, model.labels[number]) for true, number in zip(sample.labels[::2], predicted, strict=True)]


def true_label_probabilities(model: ForageModel, sample: PathSample) -> Iterator[float]:
    """Yield the probability of the true label of each page and link, given the path up to it."""
    labeller, belief = model.labeller, model.labeller.start()
    for at, (tokens, label) in enumerate(zip(sample.tokens, sample.labels, strict=True)):
        row = model.vocabulary.rows([tokens])
        if at % 2:
            links = labeller.follow_links(belief, labeller.link_scores(row))
            probabilities, belief = links.probabilities[0], links.belief(0)
        else:
            belief = labeller.read_page(belief, labeller.page_scores(row)[0])
            probabilities = labeller.label_probabilities(belief)
        taught = label in model.labels
        yield (
            max(float(probabilities[model.labels.index(label)]), MIN_PROBABILITY)
            if taught
            else MIN_PROBABILITY
        )


def label_scores(pairs: Sequence[LabelPair]) -> LabelScores:
    """Return precision and recall of every label in these pairs."""
    labels = sorted({label for pair in pairs for label in pair} | {GOAL})
    return LabelScores(tuple(_label_score(pairs, label) for label in labels))


def _label_score(pairs: Sequence[LabelPair], label: str) -> LabelScore:
    correct = sum(true == predicted == label for true, predicted in pairs)
    n_predicted = sum(predicted == label for _, predicted in pairs)
    support = sum(true == label for true, _ in pairs)
    precision = correct / n_predicted if n_predicted else 0.0
    return LabelScore(label, precision, correct / support if support else 0.0, support)


def _models(
    trails: Sequence[Trail], strategy: str, settings: PathSettings, folds: Sequence[frozenset[str]]
) -> Iterator[tuple[ForageModel, list[PathSample]]]:
    """Yield, for each fold, a model trained without its sites, and the trails of those sites."""
    if len(folds) < 2:
        raise TeachingError("Trails of at least two sites are needed to test on one and teach on the others.")
    for fold in folds:
        training = [trail for trail in trails if trail.site not in fold]
        if any(trail.reached_goal for trail in training):
            yield label_trainer(strategy)(training, settings), list(_held_out(trails, settings, fold))


def _held_out(trails: Sequence[Trail], settings: PathSettings, fold: frozenset[str]) -> Iterator[PathSample]:
    maker = SampleMaker(settings)
    for start, own in trails_by_site([trail for trail in trails if trail.site in fold]).items():
        site = TaughtSite.from_trails(own, settings.states)
        assert site.start == start
        yield from (maker.path_to(site, trail.steps, 1.0) for trail in own)


def _folds(trails: Sequence[Trail]) -> list[frozenset[str]]:
    sites = list(trails_by_site(trails))
    return [frozenset(sites[number::MAX_FOLDS]) for number in range(min(MAX_FOLDS, len(sites)))]

"""The F1 to expect on a site that was not taught, by the number of taught sites, and what more teaching would bring.

The figures are measured on recorded sites that the shipped weights were not fitted on (`bench.fit_recogniser --write`),
each taught with three to five trails of either kind. They say what lessons of this size usually reach, not how good
one model is.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Expectation:
    """F1 of the goals reported on a new site: the mean, and the range that the middle half of the sites is in.

    `with_questions` is the mean after three answers on the site, `with_one_more_site` after one more taught site.
    """

    f1: float
    low: float
    high: float
    with_questions: float
    with_one_more_site: float


@dataclass(frozen=True, slots=True)
class Gain:
    """The gain in F1 on a new site by more teaching: the mean over pairs of recorded sites, and its standard error."""

    mean: float
    error: float


@lru_cache(maxsize=1)
def measured_gains() -> Mapping[str, Gain]:
    """Return what `ten answers` and `complete lists` bring after three taught sites (`bench.more_teaching`)."""
    text = files("wayhound.paths").joinpath("data", "gains.json").read_text(encoding="utf-8")
    return {name: Gain(figures["gain"], figures["error"]) for name, figures in json.loads(text).items()}


def expected_recognition(sites: int) -> Expectation:
    """Return the expectation after so many taught sites, interpolated between measured ones and constant beyond."""
    now, more = (_interpolated(count) for count in (sites, sites + 1))
    return Expectation(now["f1"], now["low"], now["high"], now["with_questions"], max(more["f1"], now["f1"]))


def _interpolated(sites: int) -> Mapping[str, float]:
    table = measured_expectations()
    sizes = sorted(table)
    at = bisect_left(sizes, sites)
    if at == len(sizes) or at == 0:
        return table[sizes[min(at, len(sizes) - 1)]]
    below, above = sizes[at - 1], sizes[at]
    share = (sites - below) / (above - below)
    return {name: (1 - share) * table[below][name] + share * table[above][name] for name in table[above]}


@lru_cache(maxsize=1)
def measured_expectations() -> Mapping[int, Mapping[str, float]]:
    """Return the figures that the package ships, by the number of taught sites."""
    text = files("wayhound.paths").joinpath("data", "recogniser.json").read_text(encoding="utf-8")
    return {int(sites): figures for sites, figures in json.loads(text)["expected"].items()}

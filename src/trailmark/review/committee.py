"""Models taught on draws of the trails: where they differ, an answer is worth having."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from trailmark.errors import TeachingError
from trailmark.forage.brief import Brief
from trailmark.forage.scorer import Scorer
from trailmark.forage.scorers import SCORERS
from trailmark.review.walked import Walked
from trailmark.store.review import KeptCandidate
from trailmark.teach.as_walked import as_walked
from trailmark.teach.asking import draws
from trailmark.teach.trail_check import ended
from trailmark.teach.training import TRAINERS, ForageModel, Settings
from trailmark.trail import Trail

MEMBERS = 3


def scorer_of(strategy: str, model: ForageModel) -> Scorer:
    return SCORERS[strategy](Brief(model=model))


def teach_committee(
    first: ForageModel,
    trails: Sequence[Trail],
    strategy: str,
    settings: Settings,
    on_member: Callable[[int], None] = lambda _: None,
) -> list[Scorer]:
    """The model in use and others, each taught on a draw of the trails; told how many are ready."""
    usable = as_walked(ended(trails))
    scorers = [scorer_of(strategy, first)]
    for view in draws(usable, MEMBERS, np.random.default_rng(len(usable)))[1:]:
        on_member(len(scorers))
        try:
            scorers.append(scorer_of(strategy, TRAINERS[strategy](view, settings)))
        except TeachingError:  # too little in this draw: the committee is smaller, no more
            continue
    return scorers


def candidates_of(walked: Walked, committee: Sequence[Scorer]) -> Iterator[KeptCandidate]:
    """The pages of a site that could be asked about; the start page is known to lead somewhere."""
    readings = [walked.readings(scorer) for scorer in committee]
    alike = walked.links_alike()
    for number, page in walked.pages.items():
        parent = walked.parents[number]
        if parent is None:
            continue
        region = walked.visits[number].link_region
        chances = tuple(reading[number].goal for reading in readings)
        # an answer speaks for the links that stand alike, of many less than of few for each
        stake = math.sqrt(alike[parent, region] or 1)
        yield KeptCandidate(walked.site.start, number, page.url, chances, f"{parent} {region}", stake)

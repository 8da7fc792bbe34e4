"""Teach link classifiers from whole recorded sites, where the distance of every page to a goal is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from trailmark.evaluate.world import World
from trailmark.features import Surroundings, link_tokens
from trailmark.forage.scorers.link_classifier import LinkClassifier, LinkFeatures, url_ngrams
from trailmark.learn.softmax import Softmax
from trailmark.learn.vocabulary import Vocabulary

GAMMA = 0.5
FARTHEST = 3  # clicks: 0, 1, 2, and 3 or more


def levels(worlds: Sequence[World], goal: str) -> LinkClassifier:
    """Multinomial logistic regression of a link to the clicks left behind it, worth γ to their power."""
    worths = [GAMMA**clicks for clicks in range(FARTHEST)]
    return _taught(worlds, goal, FARTHEST, worths, link_tokens, prior_variance=1.0)


def url_only(worlds: Sequence[World], goal: str) -> LinkClassifier:
    """Logistic regression on the characters of the URL: is this a goal?"""
    return _taught(worlds, goal, 1, [1.0], url_ngrams, prior_variance=1.0)


def _taught(
    worlds: Sequence[World],
    goal: str,
    farthest: int,
    worths: Sequence[float],
    features: LinkFeatures,
    prior_variance: float,
) -> LinkClassifier:
    samples = [sample for world in worlds for sample in _links(world, goal, farthest, features)]
    sets = [tokens for tokens, _, _ in samples]
    vocabulary = Vocabulary(min(2, len(worlds))).fit(sets, [name for _, _, name in samples])
    classes = np.array([clicks for _, clicks, _ in samples])
    fitted = Softmax(farthest + 1, prior_variance).fit(vocabulary.rows(sets), classes)
    return LinkClassifier(vocabulary, fitted, np.array([*worths, 0.0]), features)


def _links(
    world: World, goal: str, farthest: int, features: LinkFeatures
) -> Iterator[tuple[frozenset[str], int, str]]:
    clicks = world.clicks_to_nearest(world.reachable_goals(goal))
    for url in world.depths:
        around = Surroundings.of(world.pages[url])
        for link in world.pages[url].links:
            yield features(link, around), min(clicks.get(link.url, farthest), farthest), world.name

"""Features of a pair of citations, and the shipped classifier that decides whether both are of one work."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from wayhound.citations.citation import NormalisedCitation
from wayhound.errors import ModelError
from wayhound.learn.arrays import Floats
from wayhound.learn.logistic import LogisticRegression
from wayhound.text.author_lists import CitedName

FEATURES = (
    "title_words",
    "title_words_contained",
    "title_letters",
    "title_letters_contained",
    "title_same",
    "title_far",
    "title_content",
    "title_numbers_differ",
    "authors",
    "authors_contained",
    "authors_far",
    "first_author_same",
    "initials_differ",
    "authors_unknown",
    "year_same",
    "year_next",
    "year_distance",
    "year_unknown",
    "venue",
    "venue_unknown",
    "first_page_same",
    "pages_differ",
    "volume_same",
    "volume_differs",
)
_TITLE_WORDS = 2  # a shorter title may be a piece of another field
_UNLIKE_WORDS = 0.34  # share of the shorter title
_UNLIKE_LETTERS = 0.5  # Dice coefficient of trigrams
_MAX_CONTENT = 40.0  # nats of shared title words; more is no further evidence


class WordWeights:
    """Inverse document frequencies of title words, counted as citations arrive."""

    def __init__(self) -> None:
        self._titles = 0
        self._counts: Counter[str] = Counter()
        self._cache: dict[str, float] = {}
        self._cached_at = 1

    def count(self, citations: Iterable[NormalisedCitation]) -> None:
        for citation in citations:
            self._titles += 1
            self._counts.update(citation.title_words)

    def total(self, words: Iterable[str]) -> float:
        """Return the sum of the weights of some words."""
        # Weights may be stale by a tenth, which saves most logarithms.
        if self._titles >= 1.1 * self._cached_at:
            self._cache.clear()
            self._cached_at = self._titles
        return sum(map(self._weight, words))

    def _weight(self, word: str) -> float:
        weight = self._cache.get(word)
        if weight is None:
            weight = self._cache[word] = math.log((1 + self._titles) / (0.5 + self._counts[word]))
        return weight


def pair_features(a: NormalisedCitation, b: NormalisedCitation, weights: WordWeights) -> tuple[float, ...]:
    """Return the values of `FEATURES`, each from 0 to 1. The order of the pair does not matter."""
    return (
        *_title(a, b, weights),
        *_authors(a, b),
        *_year(a.year, b.year),
        *_venue(a, b),
        *_pages(a, b),
        *_numbers(a.volume, b.volume),
    )


def _title(a: NormalisedCitation, b: NormalisedCitation, weights: WordWeights) -> tuple[float, ...]:
    shared = a.title_words & b.title_words
    common, first, second = weights.total(shared), weights.total(a.title_words), weights.total(b.title_words)
    union, smaller = first + second - common, min(first, second)
    # Sums in another order may exceed 1 by a rounding error.
    words = min(1.0, common / union) if union else 0.0
    letters, letters_contained = _overlap(a.title_trigrams, b.title_trigrams)
    return (
        words,
        min(1.0, common / smaller) if smaller else 0.0,
        letters,
        letters_contained,
        float(a.title_letters == b.title_letters != ""),
        max(0.0, 0.6 - max(words, letters)),
        min(1.0, common / _MAX_CONTENT),
        float(a.title_numbers != b.title_numbers),
    )


def _overlap(a: int, b: int) -> tuple[float, float]:
    """Return the Dice coefficient of two bit sets, and the share of the smaller that the other contains."""
    first, second = a.bit_count(), b.bit_count()
    if not first or not second:
        return 0.0, 0.0
    shared = (a & b).bit_count()
    return 2 * shared / (first + second), shared / min(first, second)


def _authors(a: NormalisedCitation, b: NormalisedCitation) -> tuple[float, ...]:
    if not a.last_names or not b.last_names:
        return 0.0, 0.0, 0.0, 0.0, 0.0, 1.0
    shared = a.last_names & b.last_names
    # Where authors and title were split wrongly, names are in the title.
    anywhere = max(_share_found(a, b), _share_found(b, a))
    contained = max(anywhere, len(shared) / min(len(a.last_names), len(b.last_names)))
    union = len(a.last_names) + len(b.last_names) - len(shared)
    first = float(a.names[0].last == b.names[0].last)
    return len(shared) / union, contained, float(contained == 0), first, _initials_differ(a, b, shared), 0.0


def _share_found(a: NormalisedCitation, b: NormalisedCitation) -> float:
    return sum(last in b.last_names or last in b.title_words for last in a.last_names) / len(a.last_names)


def _initials_differ(a: NormalisedCitation, b: NormalisedCitation, shared: frozenset[str]) -> float:
    if not shared:
        return 0.0
    ours, theirs = _initials(a.names), _initials(b.names)
    return sum(ours[last][:1] != theirs[last][:1] for last in shared if ours[last] and theirs[last]) / len(
        shared
    )


def _initials(names: tuple[CitedName, ...]) -> dict[str, str]:
    return {name.last: name.initials for name in names}


def _year(a: int, b: int) -> tuple[float, ...]:
    if not a or not b:
        return 0.0, 0.0, 0.0, 1.0
    apart = abs(a - b)
    return float(apart == 0), float(apart == 1), min(apart, 10) / 10, 0.0


def _venue(a: NormalisedCitation, b: NormalisedCitation) -> tuple[float, float]:
    if not a.venue_words or not b.venue_words:
        return 0.0, 1.0
    shared = len(a.venue_words & b.venue_words) / min(len(a.venue_words), len(b.venue_words))
    return max(shared, _is_acronym(a, b), _is_acronym(b, a)), 0.0


def _is_acronym(short: NormalisedCitation, long: NormalisedCitation) -> float:
    """Return 1 if `short` has the acronym of `long`, as VLDB for Very Large Data Bases."""
    initials = long.venue_initials[:4]
    return float(len(initials) >= 3 and initials in short.venue_words)


def _pages(a: NormalisedCitation, b: NormalisedCitation) -> tuple[float, float]:
    if not a.first_page or not b.first_page:
        return 0.0, 0.0
    same = a.first_page == b.first_page or a.page_digits == b.page_digits
    return float(same), float(not same and a.last_page != b.last_page)


def _numbers(a: int, b: int) -> tuple[float, float]:
    return (float(a == b), float(a != b)) if a and b else (0.0, 0.0)


FORMAT = "wayhound citation matcher"
VERSION = 1
FILE_NAME = "matcher.json"


def pair_classifier() -> LogisticRegression:
    """Return an unfitted classifier of pairs: class 1 means that both citations are of the same work."""
    return LogisticRegression(2, prior_variance=10.0, max_iterations=300, reference=True)


def match_probabilities(classifier: LogisticRegression, features: npt.ArrayLike) -> Floats:
    """Return the probability that each pair is of the same work, (pairs,), from features (pairs, features)."""
    return np.asarray(expit(classifier.scores(np.asarray(features, dtype=np.float64))[:, 0]))  # log odds


def pair_probabilities(
    classifier: LogisticRegression,
    pairs: Sequence[tuple[NormalisedCitation, NormalisedCitation]],
    weights: WordWeights,
) -> Floats:
    """Return the probability that each pair is of the same work, (pairs,); 0 where the titles are unlike."""
    features = np.array([pair_features(a, b, weights) for a, b in pairs]).reshape(-1, len(FEATURES))
    unlike = np.fromiter((titles_unlike(a, b) for a, b in pairs), dtype=np.bool_, count=len(pairs))
    return np.where(unlike, 0.0, match_probabilities(classifier, features))


def titles_unlike(a: NormalisedCitation, b: NormalisedCitation) -> bool:
    """Return True if two titles are known and have next to nothing in common, and the first pages do not agree.

    Authors write several papers a year, and numbers of volumes agree by chance: no amount of such evidence makes one
    work of two titles. The classifier adds evidence up, so it cannot learn this.
    """
    if min(len(a.title_words), len(b.title_words)) < _TITLE_WORDS or (
        a.first_page and a.first_page == b.first_page
    ):
        return False
    common = len(a.title_words & b.title_words) / min(len(a.title_words), len(b.title_words))
    letters, _ = _overlap(a.title_trigrams, b.title_trigrams)
    return common <= _UNLIKE_WORDS and letters < _UNLIKE_LETTERS


def shipped_classifier() -> LogisticRegression:
    """Load the classifier made by `scripts/train_citation_matcher.py`, which names its training data."""
    file = resources.files("wayhound.citations") / FILE_NAME
    return classifier_from_json(file.read_text("utf-8"))


def classifier_to_json(classifier: LogisticRegression, trained_on: str) -> str:
    weights = dict(zip(FEATURES, classifier.weights_[:, 0].round(6).tolist(), strict=True))
    data = {"format": FORMAT, "version": VERSION, "trained_on": trained_on}
    return (
        json.dumps({**data, "bias": round(float(classifier.bias_[0]), 6), "weights": weights}, indent=1)
        + "\n"
    )


def classifier_from_json(text: str) -> LogisticRegression:
    """Read a classifier that `classifier_to_json` wrote. Raises ModelError if it is damaged."""
    data = _object(text)
    if data.get("format") != FORMAT or data.get("version") != VERSION:
        raise ModelError("This is not a citation matcher of this version of Wayhound. Train it again.")
    try:
        weights = [float(data["weights"][name]) for name in FEATURES]
        bias = float(data["bias"])
    except (KeyError, TypeError, ValueError) as error:
        raise ModelError(f"The citation matcher is damaged: {error!r}. Train it again.") from None
    classifier = pair_classifier()
    classifier.weights_, classifier.bias_ = np.array(weights)[:, None], np.array([bias])
    return classifier


def _object(text: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise ModelError(f"The citation matcher is not JSON: {error}.") from None
    if not isinstance(data, dict):
        raise ModelError("The citation matcher is not a JSON object.")
    return data

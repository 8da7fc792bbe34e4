"""What each class or state of a hidden Markov model says: word distributions from few labelled words and
many others.

Absolute discounting, a share for unknown words, and mixtures weighted by leave-one-out EM: Eqs. 6–9 and
section 4.3 of McCallum, Nigam, Rennie & Seymore (2000). Counts are (K, V): K classes or states, V words, of
which word 0 stands for every word outside the vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wayhound.learn.chain import Floats, Ints

UNKNOWN = 0


def count_words(words: Sequence[Ints], labels: Sequence[Ints], n_labels: int, n_words: int) -> Floats:
    """N(q ↑ σ), (n_labels, n_words): how often each label said each word."""
    counts = np.zeros((n_labels, n_words))
    for seen, said_by in zip(words, labels, strict=True):
        np.add.at(counts, (said_by, seen), 1.0)
    return counts


def maximum_likelihood(counts: Floats) -> Floats:
    """Eq. 6; a row without counts stays empty."""
    totals = counts.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0))


def discount(counts: Floats) -> float:
    """The amount taken off every count: n1 / (n1 + 2 n2), after Ney, Essen & Kneser (1994)."""
    once, twice = float((counts == 1).sum()), float((counts == 2).sum())
    return once / (once + 2 * twice) if once and twice else 0.5


def unknown_share(counts: Floats) -> Floats:
    """For each row, the share of its words that were met only once and in no other row, (K,)."""
    only_once = (counts == 1) & (counts.sum(axis=0) == 1)
    kinds = (counts > 0).sum(axis=1)
    share: Floats = np.full(len(counts), 0.5)
    np.divide(only_once.sum(axis=1), kinds, out=share, where=kinds > 0)
    return share


def absolute_discounting(counts: Floats) -> Floats:
    """The smoothing f of Eq. 7, (K, V): no word of the vocabulary is left without probability.

    What is taken off a row's counts goes to the unknown word by `unknown_share`, and the rest in equal
    parts to the words that the row has never said. A row without counts says all words equally.
    """
    taken = discount(counts)
    totals = counts.sum(axis=1, keepdims=True)
    kept = np.divide(np.maximum(counts - taken, 0.0), totals, out=np.zeros_like(counts), where=totals > 0)
    freed = 1.0 - kept.sum(axis=1)
    to_unknown = freed * unknown_share(counts)
    unseen = counts == 0
    unseen[:, UNKNOWN] = False
    n_unseen = unseen.sum(axis=1)
    to_unknown = np.where(n_unseen > 0, to_unknown, freed)
    each = np.divide(freed - to_unknown, n_unseen, out=np.zeros(len(counts)), where=n_unseen > 0)
    smoothed: Floats = np.where(unseen, each[:, None], kept)
    smoothed[:, UNKNOWN] += to_unknown
    return smoothed


def mixture(parts: Sequence[Floats], weights: Floats) -> Floats:
    """Eq. 9, (K, V): `parts` (M times K, V) mixed by the `weights` (K, M) of each row."""
    mixed: Floats = np.zeros_like(parts[0])
    for number, part in enumerate(parts):
        mixed += weights[:, [number]] * part
    return mixed


def mixture_weights(counts: Floats, parts: Sequence[Floats], rounds: int = 100) -> Floats:
    """The weights (K, 1 + M) of the rows' own words and of `parts`, by EM over the labelled words.

    Each word in turn is left out of its row's maximum likelihood estimate, so that the row's own words are
    judged by how well they foretell the ones not yet seen. A word that no part can explain teaches nothing. A
    row without counts, or all of whose words are such, weighs its parts equally.
    """
    weights = np.full((len(counts), 1 + len(parts)), 1.0 / (1 + len(parts)))
    for row in range(len(counts)):
        seen = np.flatnonzero(counts[row])
        times = counts[row, seen]
        own = np.maximum(times - 1.0, 0.0) / max(times.sum() - 1.0, 1.0)
        explained = np.vstack([own, *[part[row, seen] for part in parts]])
        weights[row] = em_weights(times, explained, weights[row], rounds)
    return weights


def em_weights(times: Floats, explained: Floats, weights: Floats, rounds: int = 100) -> Floats:
    """Mixture weights (M,) that make words seen `times` (W,) likeliest, `explained` (M, W) by each part."""
    known = explained.sum(axis=0) > 0
    times, explained = times[known], explained[:, known]
    if not times.sum():
        return weights
    for _ in range(rounds):
        joint = weights[:, None] * explained
        total = np.maximum(joint.sum(axis=0), np.finfo(float).tiny)
        weights = (joint / total) @ times / times.sum()
    return weights

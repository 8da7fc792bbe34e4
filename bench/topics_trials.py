"""Variants of topic training for the ablation, including those that did not pay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array, diags_array

from bench.topics_sets import SEED, LabelledSet
from wayhound.learn.arrays import Floats, softmax
from wayhound.learn.logistic import LogisticRegression
from wayhound.learn.topic_bootstrap import HierarchicalNaiveBayes
from wayhound.learn.topic_links import LinkSpread, LinkWeights
from wayhound.topics.training import TopicSettings

Trial = Callable[[LabelledSet], Floats]


def as_shipped(data: LabelledSet) -> Floats:
    return _bootstrap(data)


def first_match(data: LabelledSet) -> Floats:
    """Label by the first matching keyword, as in the paper, instead of by votes."""
    return _bootstrap(data, start=data.matches.first())


def no_rounds(data: LabelledSet) -> Floats:
    return _bootstrap(data, rounds=0)


def four_rounds(data: LabelledSet) -> Floats:
    return _bootstrap(data, rounds=4)


def more_rounds(data: LabelledSet) -> Floats:
    return _bootstrap(data, rounds=8)


def labels_not_held(data: LabelledSet) -> Floats:
    """Use keyword labels only to start EM, as in the paper."""
    return _bootstrap(data, rounds=8, hold=0.0)


def tempered(data: LabelledSet) -> Floats:
    return _bootstrap(data, temper=0.5)


def whole_length(data: LabelledSet) -> Floats:
    """Count all words of long documents."""
    settings = TopicSettings(max_words=1e9)
    return data.train(settings=settings).memberships


def every_word(data: LabelledSet) -> Floats:
    """Count words that occur in two documents, not only those in five."""
    return data.train(settings=TopicSettings(min_documents=2)).memberships


def expanded_keywords(data: LabelledSet) -> Floats:
    """Let the five words that co-occur most with a class's keywords vote as well, at half weight."""
    votes = data.matches.votes()
    together = np.asarray((data.counts > 0).T @ votes)
    frequency = np.maximum(np.asarray((data.counts > 0).sum(axis=0)).ravel(), 1.0)
    lift = np.where(together >= 3, together / frequency[:, None], 0.0)
    expanded = np.zeros_like(lift)
    for leaf in range(lift.shape[1]):
        best = np.argsort(-lift[:, leaf])[:5]
        expanded[best, leaf] = lift[best, leaf]
    more = np.asarray((data.counts > 0) @ expanded)
    mixed = votes + 0.5 * more
    return _bootstrap(data, start=mixed / np.maximum(mixed.sum(axis=1, keepdims=True), 1e-12))


def self_trained_linear(data: LabelledSet) -> Floats:
    """Train a linear model on the more confident two thirds of naive Bayes' predictions."""
    shares = _bootstrap(data)
    sure = shares.max(axis=1) >= np.quantile(shares.max(axis=1), 1 / 3)
    rows = _unit_rows(data.counts)
    model = LogisticRegression(shares.shape[1], prior_variance=10.0, max_iterations=40)
    return model.fit(rows[sure], shares.argmax(axis=1)[sure]).probabilities(rows)


def word_vectors(data: LabelledSet, size: int = 100) -> Floats:
    """Add word vectors of the collection, by PPMI and SVD, to the evidence."""
    vectors = _ppmi_vectors(data.counts, size)
    documents = _directions(np.asarray(_unit_rows(data.counts) @ vectors))
    shares = _bootstrap(data)
    centres = _directions(shares.T @ documents)
    return softmax(np.log(shares + 1e-12) + 10.0 * documents @ centres.T)


def _ppmi_vectors(counts: csr_array, size: int) -> Floats:
    present = csr_array((counts > 0).astype(np.float64))
    together = csr_array(present.T @ present)
    frequency = np.asarray(present.sum(axis=0)).ravel()
    lift = together.tocoo()
    values = np.log(lift.data * present.shape[0] / (frequency[lift.row] * frequency[lift.col]))
    positive = csr_array((np.maximum(values, 0.0), (lift.row, lift.col)), shape=together.shape)
    rng = np.random.default_rng(SEED)
    basis = np.linalg.qr(positive @ rng.standard_normal((positive.shape[1], size)))[0]
    for _ in range(3):
        basis = np.linalg.qr(positive @ (positive.T @ basis))[0]
    left, strengths, _ = np.linalg.svd(basis.T @ positive, full_matrices=False)
    return np.asarray(basis @ left * np.sqrt(strengths))


def linked(weights: LinkWeights | None = None, *, ids: bool = True) -> Trial:
    """Return a trial that spreads words along citations, with or without a word for each paper's id."""

    def trial(data: LabelledSet) -> Floats:
        settings = TopicSettings(links=weights or LinkWeights())
        if ids:
            return data.train(with_citations=True, settings=settings).memberships
        return _linked_without_ids(data, settings.links)

    return trial


def _linked_without_ids(data: LabelledSet, weights: LinkWeights) -> Floats:
    assert data.citations is not None
    rows = data.citations.rows(data.documents)
    n, size = len(data.documents), len(rows)
    counts = csr_array((data.counts.data, data.counts.indices, np.append(data.counts.indptr,
                       np.full(size - n, data.counts.indptr[-1]))), shape=(size, data.counts.shape[1]))  # fmt: skip
    start = np.vstack([data.matches.votes(), np.zeros((size - n, len(data.tree.leaves)))])
    spread = LinkSpread(data.citations.links(rows), weights)
    model = HierarchicalNaiveBayes(data.tree.leaf_paths)
    return model.fit(counts, start, np.random.default_rng(SEED), spread=spread).memberships_[:n]


def label_propagation(data: LabelledSet) -> Floats:
    """Propagate topics of text alone along citations until they converge."""
    assert data.citations is not None
    rows = data.citations.rows(data.documents)
    links = data.citations.links(rows)
    walk = csr_array(diags_array(1 / np.maximum(np.asarray(links.sum(axis=1)).ravel(), 1)) @ links)
    own = np.full((len(rows), len(data.tree.leaves)), 1 / len(data.tree.leaves))
    own[: len(data.documents)] = data.train().memberships
    shares = own
    for _ in range(50):
        shares = 0.95 * np.asarray(walk @ shares) + 0.05 * own
    return shares[: len(data.documents)]


def components(data: LabelledSet, n: int, draws: int = 3) -> Floats:
    """Model each class by a mixture of `n` components (section 5.4), which begin as random parts of its documents.

    A component is a leaf below its class, so that shrinkage smooths it by the class. Mean over draws.
    """
    start, paths = _bootstrap(data), data.tree.leaf_paths
    n_classes, first = len(paths), int(paths.max()) + 1
    parts = first + np.arange(n_classes * n)[:, None]
    model = HierarchicalNaiveBayes(
        np.hstack([parts, np.repeat(paths, n, axis=0)]), max_iterations=8, tolerance=0.0, hold=0.0
    )
    shares = []
    for draw in range(draws):
        rng = np.random.default_rng(draw)
        split = rng.dirichlet(np.full(n, 0.3), size=start.shape)
        model.fit(data.counts, (start[:, :, None] * split).reshape(len(start), -1), rng)
        shares.append(model.memberships_.reshape(len(start), n_classes, n).sum(axis=2))
    return np.asarray(np.mean(shares, axis=0))


def without_keywords(data: LabelledSet, share: float, draw: int = 0) -> Floats:
    """Remove a random share of the keywords."""
    rng = np.random.default_rng(draw)
    topics = tuple(
        replace(topic, keywords=tuple(word for word in topic.keywords if rng.random() >= share))
        for topic in data.tree.topics
    )
    return LabelledSet(data.name, type(data.tree)(topics), data.documents).train().memberships


def _bootstrap(
    data: LabelledSet,
    *,
    start: Floats | None = None,
    rounds: int = TopicSettings().rounds,
    hold: float = 0.5,
    temper: float = 1.0,
) -> Floats:
    model = HierarchicalNaiveBayes(data.tree.leaf_paths, rounds, tolerance=0.0, hold=hold, temper=temper)
    labels = data.matches.votes() if start is None else start
    return model.fit(data.counts, labels, np.random.default_rng(SEED)).memberships_


def _unit_rows(counts: csr_array) -> csr_array:
    documents = np.maximum(np.bincount(counts.indices, minlength=counts.shape[1]), 1)
    return csr_array(_unit(csr_array(counts @ diags_array(np.log(counts.shape[0] / documents)))))


def _unit(rows: csr_array) -> csr_array:
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    return csr_array(diags_array(1 / np.maximum(lengths, 1e-12)) @ rows)


def _directions(rows: Floats) -> Floats:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))


TRIALS: dict[str, Trial] = {
    "as shipped": as_shipped,
    "first match in place of votes": first_match,
    "no EM (keyword labels only)": no_rounds,
    "four rounds of EM": four_rounds,
    "eight rounds of EM": more_rounds,
    "eight rounds, labels not held": labels_not_held,
    "tempered by 0.5": tempered,
    "long documents not capped": whole_length,
    "words from 2 documents on": every_word,
    "keywords expanded by co-occurrence": expanded_keywords,
    "self-trained linear model": self_trained_linear,
    "word vectors of the collection": word_vectors,
    "eight more rounds from there, labels not held": lambda data: components(data, 1, draws=1),
    "the same with two mixture components a class": lambda data: components(data, 2),
    "the same with four mixture components a class": lambda data: components(data, 4),
    "a third of the keywords unknown": lambda data: without_keywords(data, 1 / 3),
}

LINK_TRIALS: dict[str, Trial] = {
    "as shipped": linked(),
    "no word for the paper itself": linked(ids=False),
    "direct neighbours only": linked(LinkWeights(step=1.0, rounds=1)),
    "eight steps": linked(LinkWeights(step=0.25, rounds=8)),
    "few links trusted as many": linked(LinkWeights(doubt=0.0)),
    "own words whole": linked(LinkWeights(own=1.0, step=0.7)),
    "label propagation": label_propagation,
}

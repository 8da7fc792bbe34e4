"""Proposes keywords to add or to drop and topics that are missing, for a person to accept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from trailmark.learn.naive_bayes import Floats, Ints, normalise
from trailmark.learn.topic_clusters import SphericalKMeans, unit_rows
from trailmark.organise.topics.documents import Document
from trailmark.organise.topics.rules import Rule
from trailmark.organise.topics.training import Training
from trailmark.organise.topics.tree import Topic
from trailmark.organise.topics.vocabulary import STOP_WORDS, folded_words

_LEAST_MATCHES = 6  # fewer documents say little about a keyword
_LEAST_OWN_SHARE = 0.5  # of the documents with a new keyword, those of its topic
_LEAST_SUPPORT = 0.3
_LEAST_GROUP = 5
_DOCUMENTS_A_GROUP = 25
_MOST_GROUPS = 12
_LEAST_CLOSENESS = 0.2


@dataclass(frozen=True, slots=True)
class NewKeyword:
    """A word or phrase that stands in the documents of a topic and hardly anywhere else."""

    topic: tuple[str, ...]
    keyword: str
    documents: int  # of the topic, that hold it
    elsewhere: int


@dataclass(frozen=True, slots=True)
class DoubtfulKeyword:
    """A keyword whose documents, once it is covered up, do not look like its topic."""

    topic: tuple[str, ...]
    keyword: str
    documents: int
    support: float
    instead: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NewTopic:
    """A group of documents that fit nowhere, with the words that set it apart, for a topic under `parent`."""

    parent: tuple[str, ...]
    name: str
    keywords: tuple[str, ...]
    documents: tuple[str, ...]


def new_keywords(training: Training, documents: Sequence[Document], per_topic: int = 5) -> list[NewKeyword]:
    """For every leaf, the terms that separate it best: log-odds against the rest, by how often they stand."""
    of_leaf = _documents_by_leaf(training)
    everywhere = Counter(term for document in documents for term in _terms(document))
    return [
        keyword
        for leaf in training.model.tree.leaves
        for keyword in _separating(leaf, [documents[row] for row in of_leaf.get(leaf.path, ())], everywhere,
                                   len(documents))[:per_topic]
    ]  # fmt: skip


def _separating(
    leaf: Topic, own: Sequence[Document], everywhere: Counter[tuple[str, ...]], n_documents: int
) -> list[NewKeyword]:
    """Terms of a leaf's documents, best first, without those that are part of a keyword already."""
    here = Counter(term for document in own for term in _terms(document))
    known = {word for keyword in leaf.keywords for word in folded_words(keyword)}
    scored = [
        (_separation(count, everywhere[term] - count, len(own), n_documents - len(own)), term)
        for term, count in here.items()
        if count >= 3 and count >= _LEAST_OWN_SHARE * everywhere[term] and not known.issuperset(term)
    ]
    return [
        NewKeyword(leaf.path, " ".join(term), here[term], everywhere[term] - here[term])
        for _, term in sorted(scored, reverse=True)
    ]


def doubtful_keywords(training: Training, documents: Sequence[Document]) -> list[DoubtfulKeyword]:
    """The keywords whose documents the model would put elsewhere if it could not see them, worst first."""
    model = training.model
    counts = model.vocabulary.counts((document.bag for document in documents), model.longest)
    joint = counts @ model.words + model.priors
    of_rule: dict[int, list[int]] = {}
    for row, matched in enumerate(training.matches.of_documents):
        for number in matched:
            of_rule.setdefault(number, []).append(row)
    found: list[DoubtfulKeyword] = []
    for number, rows in of_rule.items():
        rule = training.matches.rules.rules[number]
        if len(rows) >= _LEAST_MATCHES:
            found += _doubt(training, rule, joint[rows] - _said(training, rule, counts[rows]), len(rows))
    return sorted(found, key=lambda doubt: doubt.support)


def _said(training: Training, rule: Rule, counts: csr_array) -> Floats:
    """What the words of a keyword say in each document, (n, C)."""
    vocabulary = training.model.vocabulary
    columns = [vocabulary.column(word) for word in rule.words if word in vocabulary]
    return np.asarray(counts[:, columns] @ training.model.words[columns])


def _doubt(training: Training, rule: Rule, joint: Floats, n_documents: int) -> list[DoubtfulKeyword]:
    leaves = training.model.tree.leaves
    shares = normalise(training.model.scale * joint).mean(axis=0)
    below = np.array([leaf.path[: len(rule.topic.path)] == rule.topic.path for leaf in leaves])
    support = float(shares[below].sum())
    instead = leaves[int(shares.argmax())].path
    if support >= _LEAST_SUPPORT or instead[: len(rule.topic.path)] == rule.topic.path:
        return []
    return [DoubtfulKeyword(rule.topic.path, rule.keyword, n_documents, support, instead)]


def new_topics(training: Training, documents: Sequence[Document], rng: np.random.Generator) -> list[NewTopic]:
    """Groups among the documents that fit nowhere, the largest first, each named by its own words."""
    model = training.model
    rows = unit_rows(model.vocabulary.counts((document.bag for document in documents), model.longest))
    fits_nowhere = np.array([not placed.topic for placed in training.placements], dtype=bool)
    stray = np.flatnonzero(fits_nowhere & (np.diff(rows.indptr) > 0))
    if len(stray) < _LEAST_GROUP:
        return []
    n_groups = int(np.clip(len(stray) // _DOCUMENTS_A_GROUP, 1, _MOST_GROUPS))
    found = SphericalKMeans(n_groups).fit(rows[stray], rng)
    near = found.closeness_ >= _LEAST_CLOSENESS
    groups = [stray[near & (found.groups_ == group)] for group in range(len(found.centres_))]
    topics = [_new_topic(training, documents, group, rows) for group in groups if len(group) >= _LEAST_GROUP]
    return sorted(topics, key=lambda topic: -len(topic.documents))


def _new_topic(training: Training, documents: Sequence[Document], group: Ints, rows: csr_array) -> NewTopic:
    """Named by the words that weigh most more in the group than in all documents."""
    apart = np.asarray(rows[group].mean(axis=0) - rows.mean(axis=0)).ravel()
    words = [training.model.vocabulary.words[column] for column in np.argsort(-apart, kind="stable")[:5]]
    ids = tuple(documents[row].id for row in group)
    return NewTopic(_parent(training, group), " and ".join(words[:2]).capitalize(), tuple(words), ids)


def _parent(training: Training, stray: Ints) -> tuple[str, ...]:
    """The deepest interior node that holds at least half of what speaks for these documents."""
    masses = training.memberships[stray].mean(axis=0)
    leaves = training.model.tree.leaves

    def mass(node: Topic) -> float:
        return float(
            sum(m for leaf, m in zip(leaves, masses, strict=True) if leaf.path[: len(node.path)] == node.path)
        )

    holding = [node for node in training.model.tree.interior if mass(node) >= 0.5]
    return max(holding, key=lambda node: len(node.path)).path if holding else ()


def _documents_by_leaf(training: Training) -> dict[tuple[str, ...], list[int]]:
    of_leaf: dict[tuple[str, ...], list[int]] = {}
    for row, placed in enumerate(training.placements):
        if placed.topic and placed.topic == placed.leaf:
            of_leaf.setdefault(placed.leaf, []).append(row)
    return of_leaf


def _terms(document: Document) -> set[tuple[str, ...]]:
    """Words, and pairs of neighbours where the order is known; none with a stop word in it."""
    single = {(word,) for word in document.bag if _tells(word)}
    pairs = {
        pair for pair in zip(document.sequence, document.sequence[1:], strict=False) if all(map(_tells, pair))
    }
    return single | pairs


def _tells(word: str) -> bool:
    return len(word) > 2 and word not in STOP_WORDS and not word.isdecimal()


def _separation(here: int, rest: int, n_here: int, n_rest: int) -> float:
    """Log-odds of standing in a document of the topic rather than in another, times how often it does."""
    odds_here = (here + 0.5) / (n_here - here + 0.5)
    odds_rest = (rest + 0.5) / (n_rest - rest + 0.5)
    return float(np.log(odds_here / odds_rest) * np.sqrt(here))

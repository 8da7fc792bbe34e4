"""Proposes keywords to add or to drop and topics that are missing, for a person to accept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from wayhound.learn.naive_bayes import Floats, Ints, softmax
from wayhound.topics.documents import TopicDocument
from wayhound.topics.model import TopicPlacement
from wayhound.topics.rules import KeywordRule
from wayhound.topics.training import TopicTraining
from wayhound.topics.tree import Topic
from wayhound.topics.vocabulary import STOP_WORDS, folded_words

_LEAST_MATCHES = 6  # fewer documents say little about a keyword
_LEAST_OWN_SHARE = 0.5  # of the documents with a new keyword, those of its topic
_LEAST_SUPPORT = 0.3
_LEAST_GROUP = 5
_MOST_GROUPS = 12
_OUTSIDE = 0.25


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


def new_keywords(
    training: TopicTraining, documents: Sequence[TopicDocument], per_topic: int = 5
) -> list[NewKeyword]:
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
    leaf: Topic, own: Sequence[TopicDocument], everywhere: Counter[tuple[str, ...]], n_documents: int
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


def doubtful_keywords(training: TopicTraining, documents: Sequence[TopicDocument]) -> list[DoubtfulKeyword]:
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


def _said(training: TopicTraining, rule: KeywordRule, counts: csr_array) -> Floats:
    """What the words of a keyword say in each document, (n, C)."""
    vocabulary = training.model.vocabulary
    columns = [vocabulary.column(word) for word in rule.words if word in vocabulary]
    return np.asarray(counts[:, columns] @ training.model.words[columns])


def _doubt(
    training: TopicTraining, rule: KeywordRule, joint: Floats, n_documents: int
) -> list[DoubtfulKeyword]:
    leaves = training.model.tree.leaves
    shares = softmax(training.model.scale * joint).mean(axis=0)
    below = np.array([leaf.path[: len(rule.topic.path)] == rule.topic.path for leaf in leaves])
    support = float(shares[below].sum())
    instead = leaves[int(shares.argmax())].path
    if support >= _LEAST_SUPPORT or instead[: len(rule.topic.path)] == rule.topic.path:
        return []
    return [DoubtfulKeyword(rule.topic.path, rule.keyword, n_documents, support, instead)]


def new_topics(training: TopicTraining, documents: Sequence[TopicDocument]) -> list[NewTopic]:
    """Groups among the documents that fit nowhere, best set apart first.

    Each is gathered around a term that stands in them and hardly in documents that have a topic. What is
    common to the members besides gives more keywords.
    """
    stray = {row for row, placed in enumerate(training.placements) if _is_stray(placed)}
    terms = {row: _terms(documents[row]) for row in stray}
    settled = Counter(
        term for row, document in enumerate(documents) if row not in stray for term in _terms(document)
    )
    found: list[NewTopic] = []
    while len(found) < _MOST_GROUPS:
        here = Counter(term for row in terms for term in terms[row])
        best = _best_apart(here, settled, len(terms), len(documents) - len(stray))
        if best is None:
            break
        group = sorted(row for row in terms if best in terms[row])
        found.append(_new_topic(training, documents, best, group, settled))
        terms = {row: of for row, of in terms.items() if row not in group}
    return found


def _is_stray(placed: TopicPlacement) -> bool:
    """It fits nowhere, or EM found room for what the keywords alone would not have let in."""
    return not placed.topic or placed.outside >= _OUTSIDE


def _best_apart(
    here: Counter[tuple[str, ...]], settled: Counter[tuple[str, ...]], n_here: int, n_settled: int
) -> tuple[str, ...] | None:
    scored = [
        (_separation(count, settled[term], n_here, n_settled), term)
        for term, count in here.items()
        if count >= _LEAST_GROUP and count >= _LEAST_OWN_SHARE * (count + settled[term])
    ]
    return max(scored)[1] if scored else None


def _new_topic(
    training: TopicTraining,
    documents: Sequence[TopicDocument],
    centre: tuple[str, ...],
    group: Sequence[int],
    settled: Counter[tuple[str, ...]],
) -> NewTopic:
    shared = Counter(term for row in group for term in _terms(documents[row]))
    others = [term for term, count in shared.most_common() if count >= 2 and not set(term) <= set(centre)]
    others.sort(key=lambda term: -_separation(shared[term], settled[term], len(group), len(documents)))
    keywords = tuple(" ".join(term) for term in (centre, *others[:4]))
    name = " ".join(centre).capitalize()
    return NewTopic(
        _parent(training, np.array(group)), name, keywords, tuple(documents[row].id for row in group)
    )


def _parent(training: TopicTraining, stray: Ints) -> tuple[str, ...]:
    """The deepest interior node that holds at least half of what speaks for these documents."""
    masses = training.memberships[stray].mean(axis=0)
    leaves = training.model.tree.leaves

    def mass(node: Topic) -> float:
        return float(
            sum(m for leaf, m in zip(leaves, masses, strict=True) if leaf.path[: len(node.path)] == node.path)
        )

    holding = [node for node in training.model.tree.interior if mass(node) >= 0.5]
    return max(holding, key=lambda node: len(node.path)).path if holding else ()


def _documents_by_leaf(training: TopicTraining) -> dict[tuple[str, ...], list[int]]:
    of_leaf: dict[tuple[str, ...], list[int]] = {}
    for row, placed in enumerate(training.placements):
        if placed.topic and placed.topic == placed.leaf:
            of_leaf.setdefault(placed.leaf, []).append(row)
    return of_leaf


def _terms(document: TopicDocument) -> set[tuple[str, ...]]:
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

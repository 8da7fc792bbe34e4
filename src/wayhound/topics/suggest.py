"""Suggest keywords to add, keywords to drop and topics to add, for a person to accept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from wayhound.learn.arrays import Floats, Ints, softmax
from wayhound.topics.documents import TopicDocument
from wayhound.topics.model import TopicPlacement
from wayhound.topics.rules import KeywordRule
from wayhound.topics.training import TopicTraining
from wayhound.topics.tree import Topic, TopicTree
from wayhound.topics.vocabulary import STOP_WORDS, singular_words

PER_TOPIC = 3  # keywords suggested for one topic
_MIN_MATCHES = 6  # documents with a keyword; fewer are no evidence against it
_MIN_OWN_SHARE = 0.5  # share of the documents with a term that belong to the topic
_MIN_SUPPORT = 0.3  # share of a keyword's documents that look like its topic without the keyword
_MIN_GROUP = 5  # documents of a new topic
_MAX_GROUPS = 12
_MIN_SURE = 0.5  # probability of its branch below which a document counts as stray
_MIN_OUTSIDE = 0.25  # probability outside the tree from which a document counts as stray


@dataclass(frozen=True, slots=True)
class NewKeyword:
    """A word or phrase that is frequent in the documents of a topic and rare elsewhere."""

    topic: tuple[str, ...]
    keyword: str
    documents: int  # of the topic that contain it
    elsewhere: int  # other documents that contain it


@dataclass(frozen=True, slots=True)
class DoubtfulKeyword:
    """A keyword whose documents, with the keyword hidden, do not look like its topic.

    `support` is the mean probability of the topic in these documents, `instead` the leaf that they look like.
    """

    topic: tuple[str, ...]
    keyword: str
    documents: int
    support: float
    instead: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NewTopic:
    """A group of documents that fit no branch well, and the words that characterise it, for a topic under `parent`."""

    parent: tuple[str, ...]
    name: str
    keywords: tuple[str, ...]
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TopicSuggestions:
    """Everything suggested after one training."""

    keywords: tuple[NewKeyword, ...] = ()
    doubtful: tuple[DoubtfulKeyword, ...] = ()
    topics: tuple[NewTopic, ...] = ()

    def __len__(self) -> int:
        return len(self.keywords) + len(self.doubtful) + len(self.topics)

    def pending(self, tree: TopicTree) -> TopicSuggestions:
        """Return the suggestions that still apply to a tree which may have been edited since."""
        keywords = {topic.path: {word.casefold() for word in topic.keywords} for topic in tree.topics}
        return TopicSuggestions(
            tuple(
                new
                for new in self.keywords
                if new.topic in keywords and new.keyword.casefold() not in keywords[new.topic]
            ),
            tuple(old for old in self.doubtful if old.keyword.casefold() in keywords.get(old.topic, ())),
            tuple(
                new
                for new in self.topics
                if new.parent in {(), *keywords} and (*new.parent, new.name) not in keywords
            ),
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "keywords": [asdict(new) for new in self.keywords],
            "doubtful": [asdict(doubt) for doubt in self.doubtful],
            "topics": [asdict(topic) for topic in self.topics],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TopicSuggestions:
        """Read what `to_json` returned, after a round trip through JSON."""
        return cls(
            tuple(NewKeyword(**_tuples(new)) for new in data["keywords"]),
            tuple(DoubtfulKeyword(**_tuples(doubt)) for doubt in data["doubtful"]),
            tuple(NewTopic(**_tuples(topic)) for topic in data["topics"]),
        )


def _tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}


def suggest(
    training: TopicTraining, documents: Sequence[TopicDocument], per_topic: int = PER_TOPIC
) -> TopicSuggestions:
    """Return suggestions from a training and its documents, at most `per_topic` keywords for a topic."""
    return TopicSuggestions(
        tuple(new_keywords(training, documents, per_topic)),
        tuple(doubtful_keywords(training, documents)),
        tuple(new_topics(training, documents)),
    )


def new_keywords(
    training: TopicTraining, documents: Sequence[TopicDocument], per_topic: int = 5
) -> list[NewKeyword]:
    """Return, for every leaf, the terms that separate it best, by log-odds and frequency."""
    rows_by_leaf = _documents_by_leaf(training)
    everywhere = Counter(term for document in documents for term in document_terms(document))
    return [
        keyword
        for leaf in training.model.tree.leaves
        for keyword in _separating(leaf, [documents[row] for row in rows_by_leaf.get(leaf.path, ())], everywhere,
                                   len(documents))[:per_topic]
    ]  # fmt: skip


def _separating(
    leaf: Topic, own: Sequence[TopicDocument], everywhere: Counter[tuple[str, ...]], n_documents: int
) -> list[NewKeyword]:
    """Return the separating terms of a leaf's documents, best first, without words of its keywords."""
    here = Counter(term for document in own for term in document_terms(document))
    present = {word for keyword in leaf.keywords for word in singular_words(keyword)}
    scored = [
        (separation(count, everywhere[term] - count, len(own), n_documents - len(own)), term)
        for term, count in here.items()
        if count >= 3 and count >= _MIN_OWN_SHARE * everywhere[term] and not present.issuperset(term)
    ]
    return [
        NewKeyword(leaf.path, " ".join(term), here[term], everywhere[term] - here[term])
        for _, term in sorted(scored, reverse=True)
    ]


def doubtful_keywords(training: TopicTraining, documents: Sequence[TopicDocument]) -> list[DoubtfulKeyword]:
    """Return the keywords whose documents the model would place elsewhere without them, worst first."""
    model = training.model
    counts = model.vocabulary.counts((document.bag for document in documents), model.max_words)
    joint = counts @ model.log_words + model.log_priors
    rows_by_rule: dict[int, list[int]] = {}
    for row, matched in enumerate(training.matches.by_document):
        for number in matched:
            rows_by_rule.setdefault(number, []).append(row)
    doubts: list[DoubtfulKeyword] = []
    for number, rows in rows_by_rule.items():
        rule = training.matches.rules.rules[number]
        if len(rows) >= _MIN_MATCHES:
            doubts += _doubt(
                training, rule, joint[rows] - _keyword_scores(training, rule, counts[rows]), len(rows)
            )
    return sorted(doubts, key=lambda doubt: doubt.support)


def _keyword_scores(training: TopicTraining, rule: KeywordRule, counts: csr_array) -> Floats:
    """Return what the words of a keyword add to the score of each leaf, (n, C)."""
    vocabulary = training.model.vocabulary
    columns = [vocabulary.column(word) for word in rule.words if word in vocabulary]
    return np.asarray(counts[:, columns] @ training.model.log_words[columns])


def _doubt(
    training: TopicTraining, rule: KeywordRule, joint: Floats, n_documents: int
) -> list[DoubtfulKeyword]:
    leaves = training.model.tree.leaves
    shares = softmax(training.model.scale * joint).mean(axis=0)
    below = np.array([leaf.path[: len(rule.topic.path)] == rule.topic.path for leaf in leaves])
    support = float(shares[below].sum())
    instead = leaves[int(shares.argmax())].path
    if support >= _MIN_SUPPORT or instead[: len(rule.topic.path)] == rule.topic.path:
        return []
    return [DoubtfulKeyword(rule.topic.path, rule.keyword, n_documents, support, instead)]


def new_topics(training: TopicTraining, documents: Sequence[TopicDocument]) -> list[NewTopic]:
    """Return groups among the documents that fit no branch well, the most distinct first.

    A group is the stray documents that share a term which placed documents rarely contain. Other terms that its
    members share become further keywords.
    """
    stray = {row for row, placed in enumerate(training.placements) if _is_stray(placed)}
    terms = {row: document_terms(documents[row]) for row in stray}
    placed_counts = Counter(
        term
        for row, document in enumerate(documents)
        if row not in stray
        for term in document_terms(document)
    )
    groups: list[NewTopic] = []
    while len(groups) < _MAX_GROUPS:
        here = Counter(term for row in terms for term in terms[row])
        best = _most_distinct(here, placed_counts, len(terms), len(documents) - len(stray))
        if best is None:
            break
        group = sorted(row for row in terms if best in terms[row])
        groups.append(_new_topic(training, documents, best, group, placed_counts))
        terms = {row: row_terms for row, row_terms in terms.items() if row not in group}
    return groups


def _is_stray(placed: TopicPlacement) -> bool:
    """Return True if the document fits no branch well, or would not without EM, which makes room for strays."""
    return not placed.topic or placed.confidence < _MIN_SURE or placed.outside >= _MIN_OUTSIDE


def _most_distinct(
    here: Counter[tuple[str, ...]], placed_counts: Counter[tuple[str, ...]], n_here: int, n_placed: int
) -> tuple[str, ...] | None:
    scored = [
        (separation(count, placed_counts[term], n_here, n_placed), term)
        for term, count in here.items()
        if count >= _MIN_GROUP and count >= _MIN_OWN_SHARE * (count + placed_counts[term])
    ]
    return max(scored)[1] if scored else None


def _new_topic(
    training: TopicTraining,
    documents: Sequence[TopicDocument],
    centre: tuple[str, ...],
    group: Sequence[int],
    placed_counts: Counter[tuple[str, ...]],
) -> NewTopic:
    shared = Counter(term for row in group for term in document_terms(documents[row]))
    others = [term for term, count in shared.most_common() if count >= 2 and not set(term) <= set(centre)]
    others.sort(key=lambda term: -separation(shared[term], placed_counts[term], len(group), len(documents)))
    keywords = tuple(" ".join(term) for term in (centre, *others[:4]))
    name = " ".join(centre).capitalize()
    return NewTopic(
        _parent(training, np.array(group)), name, keywords, tuple(documents[row].id for row in group)
    )


def _parent(training: TopicTraining, stray: Ints) -> tuple[str, ...]:
    """Return the deepest interior topic with at least half of these documents' probability."""
    masses = training.memberships[stray].mean(axis=0)
    leaves = training.model.tree.leaves

    def mass(node: Topic) -> float:
        return float(
            sum(m for leaf, m in zip(leaves, masses, strict=True) if leaf.path[: len(node.path)] == node.path)
        )

    holding = [node for node in training.model.tree.interior if mass(node) >= 0.5]
    return max(holding, key=lambda node: len(node.path)).path if holding else ()


def _documents_by_leaf(training: TopicTraining) -> dict[tuple[str, ...], list[int]]:
    rows_by_leaf: dict[tuple[str, ...], list[int]] = {}
    for row, placed in enumerate(training.placements):
        if placed.topic and placed.topic == placed.leaf:
            rows_by_leaf.setdefault(placed.leaf, []).append(row)
    return rows_by_leaf


def document_terms(document: TopicDocument) -> set[tuple[str, ...]]:
    """Return the words, and pairs of adjacent words where the order is known, without stop words."""
    single = {(word,) for word in document.bag if _is_content_word(word)}
    pairs = {
        pair
        for pair in zip(document.sequence, document.sequence[1:], strict=False)
        if all(map(_is_content_word, pair))
    }
    return single | pairs


def _is_content_word(word: str) -> bool:
    return len(word) > 2 and word not in STOP_WORDS and not word.isdecimal()


def separation(here: int, rest: int, n_here: int, n_rest: int) -> float:
    """Return the log-odds ratio of a term, in a topic against the rest, times the root of its frequency."""
    odds_here = (here + 0.5) / (n_here - here + 0.5)
    odds_rest = (rest + 0.5) / (n_rest - rest + 0.5)
    return float(np.log(odds_here / odds_rest) * np.sqrt(here))

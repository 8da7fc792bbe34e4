"""A first topic tree for a field that has none: clusters of documents, named by the terms that set them apart.

Spherical k-means on the leading singular vectors of tf-idf weights; large clusters are divided once more. People are
expected to edit the names and keywords, from which `topics train` then learns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from scipy.sparse.linalg import svds

from wayhound.errors import UsageError
from wayhound.learn.arrays import Floats, Ints
from wayhound.topics.documents import TopicDocument
from wayhound.topics.suggest import document_terms, separation
from wayhound.topics.tree import Topic, TopicTree, parse_tree, tree_text
from wayhound.topics.vocabulary import TopicVocabulary

MIN_DOCUMENTS = 12  # fewer have no groups worth a name
_MIN_WORD_DOCUMENTS = 2
_PER_TOPIC = 8  # a set of n documents has about √(n / 8) topics on each level
_MAX_CHILDREN = 12
_MIN_DIVIDED = 60  # documents of a topic that gets topics of its own
_DIMENSIONS = 50
_RESTARTS, _ROUNDS = 8, 40
_KEYWORDS = 5
_OWN_SHARE = 0.5  # of the documents with a keyword, those of the topic
_HEADING = "# Proposed from {n} documents. Edit names and keywords: documents are placed by the keywords.\n"

Term = tuple[str, ...]


def cluster_tree(documents: Sequence[TopicDocument], seed: int = 0) -> str:
    """Return the text of a tree of topics with keywords for these documents; the same seed gives the same tree.

    Raises UsageError if there are too few documents.
    """
    if len(documents) < MIN_DOCUMENTS:
        raise UsageError(f"A tree needs at least {MIN_DOCUMENTS} documents; there are {len(documents)}.")
    rng = np.random.default_rng(seed)
    vectors = _vectors(documents, rng)
    terms = [document_terms(document) for document in documents]
    topics = _topics((), np.arange(len(documents)), vectors, terms, rng)
    text = tree_text(TopicTree(tuple(topics)))
    parse_tree(text, "The proposed tree")
    return _HEADING.format(n=f"{len(documents):,}") + text


def _topics(
    parent: tuple[str, ...], rows: Ints, vectors: Floats, terms: Sequence[set[Term]], rng: np.random.Generator
) -> list[Topic]:
    """Return the topics of these documents below a parent, and those below them, parents first."""
    n_children = min(_MAX_CHILDREN, max(2, round(float(np.sqrt(len(rows) / _PER_TOPIC)))))
    assigned = _cluster(vectors[rows], n_children, rng)
    groups = sorted((rows[assigned == number] for number in range(n_children)), key=len, reverse=True)
    siblings, everywhere = _counted(rows, terms), _counted(range(len(terms)), terms)
    named: list[Topic] = []
    taken: set[str] = set()
    for group in (group for group in groups if len(group) >= 2):
        here = _counted(group, terms)
        scores = {
            term: min(
                separation(count, siblings[term] - count, len(group), len(rows) - len(group)),
                separation(count, everywhere[term] - count, len(group), len(terms) - len(group)),
            )
            for term, count in here.items()
            if count >= 2 and count >= _OWN_SHARE * siblings[term]
        }
        keywords = _keywords(scores, taken)
        if not keywords:
            continue
        taken.update(keywords)
        path = (*parent, keywords[0].capitalize())
        below = _topics(path, group, vectors, terms, rng) if not parent and len(group) >= _MIN_DIVIDED else []
        named += [Topic(path, () if below else keywords), *below]
    return named if len([topic for topic in named if len(topic.path) == len(parent) + 1]) > 1 else []


def _counted(rows: Iterable[int], terms: Sequence[set[Term]]) -> Counter[Term]:
    return Counter(term for row in rows for term in terms[row])


def _keywords(scores: Mapping[Term, float], taken: set[str]) -> tuple[str, ...]:
    """Return the terms that set a group apart, from its siblings and from all documents, but none of a sibling."""
    chosen: list[Term] = []
    for term in sorted(scores, key=lambda term: (-scores[term], term)):
        if len(chosen) < _KEYWORDS and " ".join(term) not in taken and not _repeats(term, chosen):
            chosen.append(term)
    return tuple(" ".join(term) for term in chosen)


def _repeats(term: Term, chosen: Sequence[Term]) -> bool:
    return any(set(term) <= set(other) or set(other) <= set(term) for other in chosen)


def _vectors(documents: Sequence[TopicDocument], rng: np.random.Generator) -> Floats:
    """Return unit vectors, (documents, dimensions)."""
    bags = [document.bag for document in documents]
    counts = TopicVocabulary.from_bags(bags, _MIN_WORD_DOCUMENTS).counts(bags)
    in_documents = np.asarray((counts > 0).sum(axis=0)).ravel()
    counts.data = (1.0 + np.log(np.maximum(counts.data, 1e-9))).clip(0.1)
    weighted = counts.multiply(np.log(len(bags) / np.maximum(in_documents, 1))[None, :]).tocsr()
    rank = min(_DIMENSIONS, min(weighted.shape) - 1)
    left, sizes, _ = svds(weighted, k=rank, v0=rng.standard_normal(min(weighted.shape)))
    return _normalised(left * sizes)


def _normalised(vectors: Floats) -> Floats:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.maximum(lengths, 1e-12), dtype=np.float64)


def _cluster(vectors: Floats, n_clusters: int, rng: np.random.Generator) -> Ints:
    """Return the cluster of each vector, the best of several runs of spherical k-means."""
    runs = (_cluster_once(vectors, n_clusters, rng) for _ in range(_RESTARTS))
    return max(runs, key=lambda run: run[0])[1]


def _cluster_once(vectors: Floats, n_clusters: int, rng: np.random.Generator) -> tuple[float, Ints]:
    centres = vectors[_spread(vectors, n_clusters, rng)]
    assigned = np.full(len(vectors), -1)
    for _ in range(_ROUNDS):
        similarities = vectors @ centres.T
        nearest = similarities.argmax(axis=1)
        if np.array_equal(nearest, assigned):
            break
        assigned = nearest
        sums = np.zeros_like(centres)
        np.add.at(sums, assigned, vectors)
        centres = np.where(sums.any(axis=1, keepdims=True), _normalised(sums), centres)
    return float(similarities.max(axis=1).sum()), assigned


def _spread(vectors: Floats, n_clusters: int, rng: np.random.Generator) -> Ints:
    """Return rows to begin with, each drawn far from those before it (k-means++)."""
    chosen = [int(rng.integers(len(vectors)))]
    while len(chosen) < n_clusters:
        distances = (1.0 - (vectors @ vectors[chosen].T).max(axis=1)).clip(0.0)
        total = float(distances.sum())
        shares = distances / total if total > 0 else None
        chosen.append(int(rng.choice(len(vectors), p=shares)))
    return np.array(chosen)

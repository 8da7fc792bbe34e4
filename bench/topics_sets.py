"""The labelled collections of the topic benchmark, and the baselines that it compares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from wayhound.errors import UsageError
from wayhound.learn.arrays import Floats, Ints
from wayhound.learn.naive_bayes import ExpectationMaximisation, NaiveBayes
from wayhound.learn.topic_bootstrap import HierarchicalNaiveBayes
from wayhound.learn.topic_links import LinkSpread
from wayhound.topics.documents import CitationLinks, TopicDocument, read_citations, read_documents
from wayhound.topics.rules import KeywordMatches
from wayhound.topics.training import TopicSettings, TopicTraining, train, with_ids
from wayhound.topics.tree import TopicTree, parse_tree, read_tree, shipped_trees
from wayhound.topics.vocabulary import TopicVocabulary

TREES = Path(__file__).parent / "trees"
SEED = 0


@dataclass(frozen=True)
class LabelledSet:
    """Documents with their true topics, and the tree to place them in."""

    name: str
    tree: TopicTree
    documents: list[TopicDocument]
    citations: CitationLinks | None = None

    @classmethod
    def read(cls, name: str, tree: TopicTree, documents: Path, citations: Path | None) -> LabelledSet:
        labelled = read_documents(documents)
        links = CitationLinks.among(labelled, read_citations(citations)) if citations else None
        return cls(name, tree, labelled, links)

    @cached_property
    def truth(self) -> Ints:
        """The leaf number of each document. Raises UsageError for a label that is no leaf."""
        leaves = {leaf: number for number, leaf in enumerate(self.tree.leaves)}
        labels = {document.label for document in self.documents}
        numbers = {label: leaves.get(self.tree.find(label), -1) for label in labels}
        if missing := [label for label, number in numbers.items() if number < 0]:
            raise UsageError(f"{missing[0]!r} is no leaf of the tree.")
        return np.array([numbers[document.label] for document in self.documents], dtype=np.int64)

    @cached_property
    def matches(self) -> KeywordMatches:
        return KeywordMatches.find(self.tree, self.documents)

    @cached_property
    def counts(self) -> csr_array:
        bags = [document.bag for document in self.documents]
        return TopicVocabulary.from_bags(bags, TopicSettings().min_documents).counts(bags)

    @property
    def keyword_labelled(self) -> np.ndarray:
        return np.array([bool(matched) for matched in self.matches.by_document])

    def accuracy(self, shares: Floats) -> float:
        return float((shares.argmax(axis=1) == self.truth).mean())

    def train(self, *, with_citations: bool = False, settings: TopicSettings | None = None) -> TopicTraining:
        graph = self.citations if with_citations else None
        rng = np.random.default_rng(SEED)
        return train(self.tree, self.documents, rng, citations=graph, settings=settings)


def standard_sets(data: Path) -> dict[str, LabelledSet]:
    """Return the three sets of a data folder."""
    topics = data / "papers" / "topics"
    graph = data / "papers" / "citations" / "graph.tsv"
    science = parse_tree(shipped_trees()["computer-science"])
    return {
        "cora70": LabelledSet.read("cora70", science, topics / "cora70.jsonl", graph),
        "cora_ml": LabelledSet.read(
            "cora_ml", read_tree(TREES / "machine-learning.topics"), topics / "cora_ml.jsonl", None
        ),
        "arxiv": LabelledSet.read("arxiv", read_tree(TREES / "arxiv.topics"), topics / "arxiv.jsonl", None),
    }


def keyword_matching(data: LabelledSet) -> float:
    """Apply the rule list alone; documents without a keyword get the largest class (note 5 of the paper)."""
    labels = data.matches.first()
    labels[~data.keyword_labelled, labels.sum(axis=0).argmax()] = 1.0
    return data.accuracy(labels)


def naive_bayes_on_keywords(data: LabelledSet) -> float:
    """Train Eq. 10–12 on the documents that a keyword labels."""
    return data.accuracy(NaiveBayes().fit(data.counts, data.matches.first()).predict(data.counts))


def plain_em(data: LabelledSet) -> float:
    """Run section 5.2.2 without shrinkage: Laplace smoothing, all documents."""
    return data.accuracy(ExpectationMaximisation().fit(data.counts, data.matches.first()).memberships_)


def bootstrapping(data: LabelledSet, *, unlabelled: bool, votes: bool = True, draws: int = 5) -> float:
    """Run EM with shrinkage, with or without documents that no keyword labels; return the mean over seeds."""
    start = data.matches.votes() if votes else data.matches.first()
    rows = np.ones(len(start), dtype=bool) if unlabelled else data.keyword_labelled
    models = (
        HierarchicalNaiveBayes(data.tree.leaf_paths).fit(
            data.counts[rows], start[rows], np.random.default_rng(draw)
        )
        for draw in range(draws)
    )
    return float(np.mean([data.accuracy(model.predict(data.counts)) for model in models]))


def supervised(data: LabelledSet, n_labels: int, draws: int = 5) -> float:
    """Train Eq. 10–12 on `n_labels` true labels, and return the accuracy on the other documents."""
    return float(np.mean([_supervised_once(data, n_labels, draw) for draw in range(draws)]))


def _supervised_once(data: LabelledSet, n_labels: int, draw: int) -> float:
    order = np.random.default_rng(draw).permutation(len(data.truth))
    shown, hidden = order[:n_labels], order[n_labels:]
    labels = np.eye(len(data.tree.leaves))[data.truth[shown]]
    shares = NaiveBayes().fit(data.counts[shown], labels).predict(data.counts[hidden])
    return float((shares.argmax(axis=1) == data.truth[hidden]).mean())


def supervised_with_citations(data: LabelledSet) -> float:
    """Train the shipped model on the true labels of half the documents, and return the accuracy on the rest."""
    assert data.citations is not None
    rows = data.citations.rows(data.documents)
    n, size = len(data.documents), len(rows)
    order = np.random.default_rng(SEED).permutation(n)
    shown, hidden = order[: n // 2], order[n // 2 :]
    start = np.zeros((size, len(data.tree.leaves)))
    start[shown, data.truth[shown]] = 1.0
    model = HierarchicalNaiveBayes(data.tree.leaf_paths, max_iterations=0)
    spread = LinkSpread(data.citations.links(rows))
    model.fit(with_ids(data.counts, size), start, np.random.default_rng(SEED), spread=spread)
    return float((model.memberships_.argmax(axis=1)[hidden] == data.truth[hidden]).mean())

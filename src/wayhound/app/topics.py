"""The topics of a workspace: choose a tree, train, place, report, suggest, accept and correct."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wayhound.app.parallel import map_items
from wayhound.errors import UsageError
from wayhound.record_kinds import PAPERS_AND_DOCUMENTS
from wayhound.store.model_files import load_meta, load_model, save_model
from wayhound.topics.documents import (
    CitationLinks,
    TopicDocument,
    document_from_record,
    read_citations,
    read_documents,
)
from wayhound.topics.model import KIND, NOWHERE, VERSION, TopicModel, TopicPlacement
from wayhound.topics.suggest import PER_TOPIC, TopicSuggestions, suggest
from wayhound.topics.training import STEPS, TopicSettings, TopicTraining, train
from wayhound.topics.tree import (
    TREE_NAME,
    Topic,
    TopicTree,
    parse_tree,
    read_tree_text,
    tree_text,
    with_keywords,
    with_topic,
    without_keywords,
)
from wayhound.workspace import Workspace

if TYPE_CHECKING:
    from wayhound.app import OnProgress

PLACED_TOGETHER = (
    1_000  # documents, a quarter of a second: to send them apart would cost more than to place them
)


@dataclass(frozen=True, slots=True)
class TopicCorpus:
    """The documents to train on, and the citations among them."""

    documents: tuple[TopicDocument, ...]
    citations: CitationLinks


@dataclass(frozen=True, slots=True)
class PlacementCount:
    """The number of documents at a topic itself (`own`), and at or below it (`total`)."""

    topic: Topic
    own: int
    total: int


@dataclass(frozen=True, slots=True)
class TopicReport:
    """The distribution of documents over the tree.

    `history` describes the last training and is empty before the first one.
    """

    topics: tuple[PlacementCount, ...]
    documents: int
    nowhere: int
    history: dict[str, Any]


def read_corpus(
    workspace: Workspace, files: Sequence[Path] = (), citations: Path | None = None
) -> TopicCorpus:
    """Return the documents of JSON-lines files, or else the papers and other documents of the workspace.

    `citations` is a file of further citations. Raises UsageError if there are no documents.
    """
    documents = list(_documents_in(files) if files else _papers(workspace))
    if not documents:
        raise UsageError("There are no documents: give a file of JSON lines, or add papers first.")
    pairs = [*(() if files else _citations(workspace)), *(read_citations(citations) if citations else ())]
    return TopicCorpus(tuple(documents), CitationLinks.among(documents, pairs))


def place_papers(
    workspace: Workspace, default_tree: str, on_progress: OnProgress = lambda *_: None
) -> tuple[int, int]:
    """Train on the papers and other documents of a workspace; `default_tree` is written if there is no tree yet.

    Return how many of them have a topic, and how many there are. Raises UsageError if none could be placed.
    """
    topics = Topics(workspace)
    if not topics.tree_file.exists:
        topics.tree_file.write(default_tree)
    training = topics.train(on_progress=on_progress)
    return sum(1 for placed in training.placements if placed.topic), len(training.placements)


def _documents_in(files: Sequence[Path]) -> Iterator[TopicDocument]:
    """Yield the documents of several files. Raises UsageError if an id occurs in two of them."""
    ids: set[str] = set()
    for file in files:
        for document in read_documents(file):
            if document.id in ids:
                raise UsageError(f"The id {document.id!r} occurs in more than one file.")
            ids.add(document.id)
            yield document


def _papers(workspace: Workspace) -> Iterator[TopicDocument]:
    papers = workspace.stores.papers
    for kind in PAPERS_AND_DOCUMENTS:
        for record in workspace.stores.records.iterate(kind):
            cited = (entry.citation.title for entry in papers.citations(record.id) if entry.number)
            yield document_from_record(record, filter(None, cited))


def _citations(workspace: Workspace) -> Iterator[tuple[str, str]]:
    """Yield who cites whom; works that are not in the workspace go by their citation group."""
    papers = workspace.stores.papers
    for citation in papers.citations():
        if citation.number:
            yield citation.paper, papers.held(citation.group) or f"cited work {citation.group}"


class TreeFile:
    """The tree of a workspace, a text file that people edit. Every method reads it anew."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def exists(self) -> bool:
        return self.path.exists()

    def text(self) -> str:
        """Return the text of the file. Raises UsageError if there is none."""
        if not self.exists:
            raise UsageError(f"{self.path.parent} has no topic tree.", next_step="topics init")
        return read_tree_text(self.path)

    def tree(self) -> TopicTree:
        """Parse the file. Raises UsageError if there is none, or if it has a mistake."""
        return parse_tree(self.text(), str(self.path))

    def write(self, text: str) -> TopicTree:
        """Write the file, in place of the one that may be there. Raises UsageError if the text is no tree."""
        tree = parse_tree(text)
        self.path.write_text(text, "utf-8")
        return tree

    def add_keywords(self, topic: str, keywords: Sequence[str]) -> None:
        self.write(with_keywords(self.text(), topic, keywords))

    def drop_keywords(self, topic: str, keywords: Sequence[str]) -> None:
        self.write(without_keywords(self.text(), topic, keywords))

    def add_topic(self, parent: str, name: str, keywords: Sequence[str]) -> None:
        """Add a topic under `parent`; `/` is the top of the tree."""
        self.write(with_topic(self.text(), parent, name, keywords))


class Topics:
    """The topics of one workspace.

    The model is in `models/topics`, placements and corrections are in the database.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.tree_file = TreeFile(workspace.folder / TREE_NAME)
        self.store = workspace.stores.topics

    def train(
        self,
        corpus: TopicCorpus | None = None,
        *,
        settings: TopicSettings | None = None,
        seed: int = 0,
        with_suggestions: bool = False,
        on_progress: OnProgress = lambda *_: None,
    ) -> TopicTraining:
        """Train on a corpus, by default that of the workspace; save the model and all placements.

        Corrections are kept. With suggestions, these are saved beside the model for `suggestions`. Raises
        UsageError if there is no tree, no document, or nothing to learn from.
        """
        steps = ("reading documents", *STEPS, *(("looking for suggestions",) if with_suggestions else ()))

        def on_step(name: str) -> None:
            on_progress(name, steps.index(name), len(steps))

        on_step(steps[0])
        corpus = corpus or read_corpus(self.workspace)
        training = self._train(corpus, seed, settings, on_step)
        meta: dict[str, Any] = {"history": training.history}
        if with_suggestions:
            on_step(steps[-1])
            meta["suggestions"] = suggest(training, corpus.documents).to_json()
        self._save(training, corpus, meta)
        on_progress(steps[-1], len(steps), len(steps))
        return training

    def _train(
        self,
        corpus: TopicCorpus,
        seed: int,
        settings: TopicSettings | None,
        on_step: Callable[[str], None] = lambda _: None,
    ) -> TopicTraining:
        ids = {document.id for document in corpus.documents}
        corrections = {name: path for name, path in self.store.corrections().items() if name in ids}
        return train(
            self.tree_file.tree(),
            corpus.documents,
            np.random.default_rng(seed),
            citations=corpus.citations,
            corrections=corrections,
            settings=settings,
            on_step=on_step,
        )

    def _save(self, training: TopicTraining, corpus: TopicCorpus, meta: dict[str, Any]) -> None:
        arrays, model = training.model.to_arrays()
        save_model(self._model_folder, KIND, VERSION, arrays, model | meta)
        titles = {document.id: document.title for document in corpus.documents}
        self.store.replace_all(training.placements, titles)

    def place(self, documents: Sequence[TopicDocument], cluster: str = "") -> list[TopicPlacement]:
        """Place documents with the trained model, here or on a cluster, and save where.

        Raises UsageError if there is no model.
        """
        starts = range(0, len(documents), PLACED_TOGETHER)
        batches = ((start, documents[start : start + PLACED_TOGETHER]) for start in starts)
        placed = map_items(_placing, self.model(), batches, cluster=cluster)
        placements = [placement for _, batch in placed for placement in batch or ()]
        self.store.save(placements, {document.id: document.title for document in documents})
        return placements

    @property
    def _model_folder(self) -> Path:
        return self.workspace.models_folder / KIND

    @property
    def is_trained(self) -> bool:
        return self._model_folder.exists()

    def model(self) -> TopicModel:
        """Load the trained model. Raises UsageError if there is none, ModelError if it is damaged."""
        if not self.is_trained:
            raise UsageError("The topics have not been trained yet.", next_step="topics train")
        return TopicModel.from_arrays(*load_model(self._model_folder, KIND, VERSION))

    def report(self) -> TopicReport:
        """Return how many documents are placed at each topic of the tree."""
        counts = self.store.counts()
        topics = (
            PlacementCount(topic, counts.get(topic.path, 0), _total_below(topic.path, counts))
            for topic in self.tree_file.tree().topics
        )
        history = self._meta().get("history")
        return TopicReport(
            topics=tuple(topics),
            documents=sum(counts.values()),
            nowhere=counts.get((), 0),
            history=history if isinstance(history, dict) else {},
        )

    def documents_under(
        self, topic: str, limit: int = -1, *, offset: int = 0, least_confident_first: bool = False
    ) -> list[tuple[TopicPlacement, str]]:
        """Return the placements at or below a topic, with the documents' titles.

        `/` is the top of the tree, with every document; `NOWHERE` has those that fit no topic.
        """
        path = None if topic == NOWHERE else () if topic == "/" else self.tree_file.tree().find(topic).path
        placements = self.store.titled(
            path, limit, offset=offset, least_confident_first=least_confident_first
        )
        return list(placements)

    def tree_has_changed(self) -> bool:
        """Return True if the tree file differs from the tree of the trained model."""
        return self.is_trained and self._meta().get("tree") != tree_text(self.tree_file.tree())

    def _meta(self) -> dict[str, Any]:
        return load_meta(self._model_folder, KIND, VERSION) if self.is_trained else {}

    def suggest(self, corpus: TopicCorpus, *, seed: int = 0, per_topic: int = PER_TOPIC) -> TopicSuggestions:
        """Train on a corpus without saving anything, and return suggestions."""
        return suggest(self._train(corpus, seed, None), corpus.documents, per_topic)

    def suggestions(self) -> TopicSuggestions:
        """Return the suggestions of the last training that still apply to the tree."""
        saved = self._meta().get("suggestions")
        return (
            TopicSuggestions.from_json(saved).pending(self.tree_file.tree()) if saved else TopicSuggestions()
        )

    def correct(self, document: str, topic: str) -> int:
        """Record where a document belongs, for the next training. Return the number of corrections.

        Raises UsageError for an unknown document or topic.
        """
        if self.store.get(document) is None:
            raise UsageError(f"There is no document {document} among those that were placed.")
        self.store.correct(document, self.tree_file.tree().find(topic).path)
        return len(self.store.corrections())

    def undo_correction(self, document: str) -> int:
        """Remove a correction. Return the number that remain. Raises UsageError if there is none."""
        if not self.store.take_back(document):
            raise UsageError(f"There is no correction of {document}.")
        return len(self.store.corrections())


@contextmanager
def _placing(model: TopicModel) -> Iterator[Callable[[Sequence[TopicDocument]], list[TopicPlacement]]]:
    yield lambda documents: [model.place(document) for document in documents]


def _total_below(path: tuple[str, ...], counts: dict[tuple[str, ...], int]) -> int:
    return sum(number for placed, number in counts.items() if placed[: len(path)] == path)

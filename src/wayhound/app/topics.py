"""Where the topics of a workspace are kept: its tree file, its model, its placements, its documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wayhound.errors import UsageError
from wayhound.store.model_files import load_model, save_model
from wayhound.store.papers import PaperStore
from wayhound.store.topics import TopicStore
from wayhound.topics.documents import (
    CitationLinks,
    TopicDocument,
    document_from_record,
    read_citations,
    read_documents,
)
from wayhound.topics.model import KIND, VERSION, TopicModel
from wayhound.topics.training import TopicTraining
from wayhound.topics.tree import TopicTree, read_tree
from wayhound.workspace import Workspace

TREE_NAME = "topics.txt"


@dataclass(frozen=True)
class Topics:
    """The topics of one workspace."""

    workspace: Workspace
    store: TopicStore

    @classmethod
    @contextmanager
    def open(cls, folder: Path) -> Iterator[Topics]:
        with Workspace.open(folder) as workspace:
            yield cls(workspace, workspace.stores.topics)

    @property
    def tree_path(self) -> Path:
        path = self.workspace.folder / TREE_NAME
        if not path.exists():
            raise UsageError(f"{self.workspace.folder} has no topic tree. Next: wayhound topics init")
        return path

    @property
    def model_folder(self) -> Path:
        return self.workspace.models_folder / KIND

    def tree(self) -> TopicTree:
        return read_tree(self.tree_path)

    def model(self) -> TopicModel:
        if not self.model_folder.exists():
            raise UsageError("The topics have not been trained yet. Next: wayhound topics train")
        return TopicModel.from_arrays(*load_model(self.model_folder, KIND, VERSION))

    def history(self) -> dict[str, Any]:
        """How the last training went, as far as a report tells it."""
        if not self.model_folder.exists():
            return {}
        _, meta = load_model(self.model_folder, KIND, VERSION)
        told = meta.get("history")
        return told if isinstance(told, dict) else {}

    def keep(self, training: TopicTraining, documents: Sequence[TopicDocument]) -> None:
        """Save the model and where it puts the documents."""
        arrays, meta = training.model.to_arrays()
        save_model(self.model_folder, KIND, VERSION, arrays, meta | {"history": training.history})
        self.store.replace_all(training.placements, {document.id: document.title for document in documents})

    def corrections_of(self, documents: Sequence[TopicDocument]) -> dict[str, tuple[str, ...]]:
        """The corrections that concern these documents."""
        ids = {document.id for document in documents}
        return {name: path for name, path in self.store.corrections().items() if name in ids}

    def cited_papers(self) -> Iterator[tuple[str, str]]:
        """Who cites whom among the papers of the workspace; works that are not held count by their group."""
        papers = self.workspace.stores.papers
        for citation in papers.citations():
            if citation.number:
                yield citation.paper, papers.held(citation.group) or f"cited work {citation.group}"


def documents_from(
    topics: Topics, files: Sequence[Path], citations: Path | None
) -> tuple[list[TopicDocument], CitationLinks]:
    """The documents of files, or the papers of the workspace; and who cites whom among them."""
    if files:
        documents = [document for file in files for document in read_documents(file)]
        _refuse_twins(documents)
        known: Iterator[tuple[str, str]] = iter(())
    else:
        papers = topics.workspace.stores.papers
        documents = [
            document_from_record(record, _cited_titles(papers, record.id))
            for record in topics.workspace.stores.records.iterate("paper")
        ]
        known = topics.cited_papers()
    if not documents:
        raise UsageError("There are no documents: give a file of JSON lines, or extract papers first.")
    given = read_citations(citations) if citations else ()
    return documents, CitationLinks.among(documents, (*known, *given))


def _cited_titles(papers: PaperStore, paper: str) -> list[str]:
    return [each.citation.title for each in papers.citations(paper) if each.number and each.citation.title]


def _refuse_twins(documents: Sequence[TopicDocument]) -> None:
    seen: set[str] = set()
    for document in documents:
        if document.id in seen:
            raise UsageError(f"The id {document.id!r} stands in more than one file.")
        seen.add(document.id)

"""A paper with all that is known of it, for whoever shows it: references, who cites it, where it was found."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wayhound.app.papers.library import PaperLibrary
from wayhound.record import Record
from wayhound.store.document_files import Source, StoredFile
from wayhound.store.papers import ITSELF, Correction, StoredCitation, StoredContext


@dataclass(frozen=True, slots=True)
class CitedWork:
    """A reference of a paper, the sentences that call it, and the paper that it is to, where that is held."""

    citation: StoredCitation
    contexts: tuple[StoredContext, ...]
    held: str | None = None
    held_title: str = ""


@dataclass(frozen=True, slots=True)
class CitingPaper:
    """A paper that cites another: by which reference, and in which sentences."""

    paper: str
    title: str
    citation: StoredCitation
    contexts: tuple[StoredContext, ...]


@dataclass(frozen=True, slots=True)
class Overview:
    """All that is known of a paper."""

    record: Record
    file: StoredFile | None
    sources: tuple[Source, ...]
    references: tuple[CitedWork, ...]
    cited_by: tuple[CitingPaper, ...]
    versions: tuple[str, ...]  # other papers held that are the same work
    corrections: tuple[Correction, ...]


def overview(library: PaperLibrary, name: str) -> Overview:
    record = library.find(name)
    citations = list(library.papers.citations(record.id))
    return Overview(
        record,
        library.files.get(record.id),
        tuple(library.files.sources(record.id)),
        tuple(_cited_work(library, each) for each in citations if each.number != ITSELF),
        tuple(_citing(library, record.id)),
        tuple(_versions(library, record.id, citations)),
        tuple(library.papers.corrections(record.id)),
    )


def _cited_work(library: PaperLibrary, citation: StoredCitation) -> CitedWork:
    held = library.papers.held(citation.group)
    contexts = tuple(library.papers.contexts(citation.paper, citation.number))
    return CitedWork(citation, contexts, held, _title(library, held) if held else "")


def _citing(library: PaperLibrary, paper: str) -> Iterator[CitingPaper]:
    for citation in library.papers.cited_by(paper):
        if citation.paper != paper:
            contexts = tuple(library.papers.contexts(citation.paper, citation.number))
            yield CitingPaper(citation.paper, _title(library, citation.paper), citation, contexts)


def _versions(library: PaperLibrary, paper: str, citations: list[StoredCitation]) -> Iterator[str]:
    for own in (each for each in citations if each.number == ITSELF):
        for other in library.papers.group(own.group):
            if other.number == ITSELF and other.paper != paper:
                yield other.paper


def _title(library: PaperLibrary, paper: str) -> str:
    record = library.record(paper)
    return record.first("title") if record else ""

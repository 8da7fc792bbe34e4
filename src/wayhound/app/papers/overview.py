"""Everything known about a paper, for whatever shows it: references, citing papers, sources, corrections."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from wayhound.app.papers.library import PAPER, PaperLibrary
from wayhound.record import Record
from wayhound.store.citations import CitingReferences
from wayhound.store.document_files import DocumentSource, StoredFile
from wayhound.store.papers import ITSELF, PaperCorrection, StoredCitation, StoredContext
from wayhound.store.stores import Stores

MAX_CITING = 100


@dataclass(slots=True)  # not frozen, which takes three times as long to make
class PaperReference:
    """A reference of a paper, the sentences that cite it, and the id of the cited paper if it is held."""

    citation: StoredCitation
    contexts: tuple[StoredContext, ...]
    held: str | None = None


@dataclass(slots=True)  # not frozen, which takes three times as long to make
class PaperCitation:
    """A paper that cites another, and the sentences in which it does."""

    paper: CitingReferences
    contexts: tuple[StoredContext, ...]


@dataclass(frozen=True, slots=True)
class PaperOverview:
    """Everything known about a paper.

    `cited_by` has the newest `MAX_CITING` of `n_cited_by` papers; `versions` are other papers held that are the
    same work; `titles` are those of the papers held among references and versions, by id.
    """

    record: Record
    file: StoredFile | None
    sources: tuple[DocumentSource, ...]
    references: tuple[PaperReference, ...]
    cited_by: tuple[PaperCitation, ...]
    n_cited_by: int
    versions: tuple[str, ...]
    corrections: tuple[PaperCorrection, ...]
    titles: dict[str, str]


PAPER_ORDERS = ("cited", "title", "year")


def sorted_papers(library: PaperLibrary, order: str = "cited") -> list[tuple[Record, int]]:
    """Return all papers with how often each is cited: the most cited first, by title, or the newest first."""
    cited = library.papers.times_cited()
    papers = [(record, cited.get(record.id, 0)) for record in library.workspace.stores.records.iterate(PAPER)]
    papers.sort(key=lambda paper: (paper[0].first("title").casefold(), paper[0].id))
    if order == "cited":
        papers.sort(key=lambda paper: -paper[1])
    elif order == "year":
        papers.sort(key=lambda paper: paper[0].first("year"), reverse=True)
    return papers


def overview(library: PaperLibrary, name: str) -> PaperOverview:
    """Return the overview of a paper by its id or the beginning of it. Raises UsageError if there is none."""
    record = library.find(name)
    stores = library.workspace.stores
    references = references_of(stores, record.id)
    cited_by, n_cited_by = citations_of(stores, record.id)
    versions = tuple(_versions(stores, record.id))
    held = {*versions, *(reference.held for reference in references if reference.held)}
    return PaperOverview(
        record=record,
        file=library.files.get(record.id),
        sources=tuple(library.files.sources(record.id)),
        references=references,
        cited_by=cited_by,
        n_cited_by=n_cited_by,
        versions=versions,
        corrections=tuple(library.papers.corrections(record.id)),
        titles={paper: cited.first("title") for paper in held if (cited := library.record(paper))},
    )


def references_of(stores: Stores, paper: str) -> tuple[PaperReference, ...]:
    """Return the references of a paper in its own order."""
    contexts: dict[int, list[StoredContext]] = defaultdict(list)
    for context in stores.papers.contexts(paper):
        contexts[context.number].append(context)
    citations = [citation for citation in stores.papers.citations(paper) if citation.number != ITSELF]
    held = stores.papers.all_held([citation.group for citation in citations])
    return tuple(
        PaperReference(citation, tuple(contexts[citation.number]), held.get(citation.group))
        for citation in citations
    )


def citations_of(stores: Stores, paper: str) -> tuple[tuple[PaperCitation, ...], int]:
    """Return the newest papers that cite a paper, and how many there are in all."""
    citing, total = stores.citations.citing_papers(paper, MAX_CITING)
    return _with_contexts(stores, citing), total


def citations_of_work(stores: Stores, group: int) -> tuple[tuple[PaperCitation, ...], int]:
    """Return the newest papers that cite the work of a citation group, and how many there are in all."""
    citing, total = stores.citations.citing_work(group, MAX_CITING)
    return _with_contexts(stores, citing), total


def _with_contexts(stores: Stores, citing: Sequence[CitingReferences]) -> tuple[PaperCitation, ...]:
    references = [(paper.paper, number) for paper in citing for number in paper.numbers]
    contexts: dict[tuple[str, int], list[StoredContext]] = defaultdict(list)
    for context in stores.papers.contexts_of(references):
        contexts[context.paper, context.number].append(context)
    return tuple(
        PaperCitation(paper, tuple(chain(*(contexts[paper.paper, number] for number in paper.numbers))))
        for paper in citing
    )


def _versions(stores: Stores, paper: str) -> Iterator[str]:
    for own in (citation for citation in stores.papers.citations(paper) if citation.number == ITSELF):
        for other in stores.papers.group(own.group):
            if other.number == ITSELF and other.paper != paper:
                yield other.paper

"""Who a paper cites and who cites it, with the sentences that do so."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from trailmark.organise.citations.citation import Citation
from trailmark.serve.portal.addresses import record_url
from trailmark.serve.portal.cards import shortened
from trailmark.serve.portal.library import Library
from trailmark.store.papers import ITSELF, StoredCitation, StoredContext

MOST_CITING = 200
_LONGEST_SENTENCE = 600


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that cites: before the call-out, the call-out, after it."""

    before: str
    callout: str
    after: str
    page: int


@dataclass(frozen=True, slots=True)
class Reference:
    """A work that a paper cites. `url` leads to its page where it is held."""

    number: int
    label: str
    text: str
    title: str
    authors: str
    year: str
    url: str
    id: str
    sentences: tuple[Sentence, ...] = ()


@dataclass(frozen=True, slots=True)
class Citing:
    """A paper that cites, and where it does."""

    id: str
    title: str
    url: str
    year: str
    sentences: tuple[Sentence, ...] = ()


def references_of(library: Library, paper: str) -> tuple[Reference, ...]:
    """What a paper cites, in its own order."""
    said: dict[int, list[Sentence]] = defaultdict(list)
    for context in library.papers.contexts(paper):
        said[context.number].append(_sentence(context))
    cited = [each for each in library.papers.citations(paper) if each.number != ITSELF]
    return tuple(_reference(library, each, tuple(said[each.number])) for each in cited)


def _reference(library: Library, each: StoredCitation, said: tuple[Sentence, ...]) -> Reference:
    held = library.papers.held(each.group)
    cited = each.citation
    return Reference(
        each.number, each.label, cited.all_text, _title(cited), cited.authors, cited.year,
        record_url("paper", held) if held else "", held or "", said,
    )  # fmt: skip


def citing_papers(library: Library, paper: str, most: int = MOST_CITING) -> tuple[Citing, ...]:
    """The held papers that cite a paper, newest first."""
    numbers: dict[str, list[int]] = defaultdict(list)
    for each in library.papers.cited_by(paper):
        if each.paper != paper:
            numbers[each.paper].append(each.number)
    found = [_citing(library, other, which) for other, which in list(numbers.items())[:most]]
    return tuple(
        sorted((each for each in found if each), key=lambda each: (each.year, each.id), reverse=True)
    )


def _citing(library: Library, paper: str, numbers: list[int]) -> Citing | None:
    record = library.records.get("paper", paper)
    if record is None:
        return None
    contexts = [context for number in numbers for context in library.papers.contexts(paper, number)]
    sentences = tuple(map(_sentence, contexts))
    return Citing(paper, library.title(record), record_url("paper", paper), record.first("year"), sentences)


def _sentence(context: StoredContext) -> Sentence:
    text, start, stop = context.sentence[:_LONGEST_SENTENCE], context.start, context.stop
    return Sentence(text[:start], text[start:stop], text[stop:], context.page)


def _title(citation: Citation) -> str:
    return citation.title or shortened(citation.all_text, 160)

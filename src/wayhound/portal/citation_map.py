"""Who a paper cites and who cites it, with the sentences that do so."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from wayhound.app.papers.works import CITED_ONLY
from wayhound.citations.citation import Citation
from wayhound.portal.addresses import record_url
from wayhound.portal.library import Library
from wayhound.portal.record_view import shortened
from wayhound.store.citations import CitingPaper
from wayhound.store.papers import ITSELF, StoredCitation, StoredContext

MOST_CITING = 100
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
    """A work that a paper cites. `url` leads to its page; `id` is that of the paper where it is held, else empty."""

    number: int
    label: str
    text: str
    title: str
    authors: str
    venue: str
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
        each.number, each.label, cited.all_text, _title(cited), cited.authors.replace(" and ", ", "),
        cited.venue, cited.year, work_url(each, held), held or "", said,
    )  # fmt: skip


def work_url(each: StoredCitation, held: str | None) -> str:
    """The page of a work that is cited; of one without a title there is none."""
    if held:
        return record_url("paper", held)
    return record_url(CITED_ONLY, str(each.group)) if each.citation.title else ""


def citations_of(library: Library, paper: str, most: int = MOST_CITING) -> tuple[tuple[Citing, ...], int]:
    """The held papers that cite a paper, newest first, and how many there are in all."""
    found, total = library.workspace.stores.citations.citing_papers(paper, most)
    return tuple(_citing(library, each) for each in found), total


def citations_of_work(library: Library, group: int) -> tuple[tuple[Citing, ...], int]:
    """The same of a work that is not held."""
    found, total = library.workspace.stores.citations.citing_work(group, MOST_CITING)
    return tuple(_citing(library, each) for each in found), total


def _citing(library: Library, each: CitingPaper) -> Citing:
    contexts = [context for number in each.numbers for context in library.papers.contexts(each.paper, number)]
    sentences = tuple(map(_sentence, contexts))
    return Citing(each.paper, each.title or each.paper, record_url("paper", each.paper), each.year, sentences)


def _sentence(context: StoredContext) -> Sentence:
    text, start, stop = context.sentence[:_LONGEST_SENTENCE], context.start, context.stop
    return Sentence(text[:start], text[start:stop], text[stop:], context.page)


def _title(citation: Citation) -> str:
    return citation.title or shortened(citation.all_text, 160)

"""Facts from citing papers about a work: missing fields of a paper, and works that the collection does not hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from wayhound.citations.citation import Citation
from wayhound.record import Record, Span, Value
from wayhound.record_kinds import FieldSpec, KindSpec
from wayhound.search.schema import IndexDocument
from wayhound.store.papers import PaperStore

AS_CITED = Span("urn:wayhound:as-cited")
"""The source of values that come from citing papers."""

_FILLED_IN = ("year", "journal", "booktitle", "institution", "volume", "number", "pages", "publisher")
_VENUES = frozenset({"journal", "booktitle", "institution"})


def fill_from_citations(papers: PaperStore, record: Record) -> Record:
    """Return the record with year, venue, volume and pages from citing papers, if it lacks year or venue.

    The most frequent text is taken. Its confidence is one half for a single citation, and more for many that
    agree.
    """
    if record.kind != "paper" or not _is_incomplete(record):
        return record
    cited = [citation.fields for citation in papers.cited_by(record.id) if citation.paper != record.id]
    has_venue = any(record.fields.get(name) for name in _VENUES)
    added: dict[str, tuple[Value, ...]] = {}
    for name in _FILLED_IN:
        texts = Counter(fields[name][0].text for fields in cited if fields.get(name))
        if texts and not record.fields.get(name) and not (name in _VENUES and has_venue):
            text, votes = texts.most_common(1)[0]
            added[name] = (Value(text, votes / (texts.total() + 1), AS_CITED),)
            has_venue = has_venue or name in _VENUES
    return replace(record, fields=record.fields | added)


def _is_incomplete(record: Record) -> bool:
    return not record.fields.get("year") or not any(record.fields.get(name) for name in _VENUES)


CITED_ONLY = "cited-only"
SPEC = KindSpec(
    CITED_ONLY,
    "Cited only",
    "Works cited only",
    (
        FieldSpec("title", "title"),
        FieldSpec("author", "people", "Authors", many=True),
        FieldSpec("year", "date"),
        FieldSpec("journal", "facet"),
        FieldSpec("booktitle", "facet", "In"),
        FieldSpec("volume"),
        FieldSpec("pages"),
    ),
)

_TEXT_OF: dict[str, Callable[[Citation], str]] = {
    "title": lambda cited: cited.title.strip(" ."),
    "author": lambda cited: cited.authors,
    "year": lambda cited: cited.year[:4],
    "journal": lambda cited: cited.venue if cited.volume else "",  # only journals have volumes
    "booktitle": lambda cited: "" if cited.volume else cited.venue,
    "volume": lambda cited: cited.volume,
    "pages": lambda cited: cited.pages,
}
_SEARCHED = ("title", "author", "year", "journal", "booktitle")
_MAX_TITLE = 500


def record_of_work(group: int, citations: Sequence[Citation]) -> Record | None:
    """Return a record of the work, each field as most citations have it; None if none has a title."""
    fields: dict[str, tuple[Value, ...]] = {}
    for name in _TEXT_OF:
        text, confidence = _most_frequent(name, citations)
        parts = text.split(" and ") if name == "author" else [text]
        if text:
            fields[name] = tuple(Value(part, confidence, AS_CITED) for part in parts)
    if "journal" in fields:
        fields.pop("booktitle", None)
    return Record(CITED_ONLY, str(group), fields) if "title" in fields else None


def document_of_work(
    group: int, by_paper: Mapping[str, Sequence[Citation]], change: int
) -> IndexDocument | None:
    """Return the work for the search index, without a record: there are far more works than papers."""
    citations = [cited for cited_in_paper in by_paper.values() for cited in cited_in_paper]
    title, author, year, journal, booktitle = (_most_frequent(name, citations)[0] for name in _SEARCHED)
    if not title:
        return None
    return IndexDocument(
        CITED_ONLY,
        str(group),
        title[:_MAX_TITLE],
        tuple(author.split(" and ")) if author else (),
        journal or booktitle,
        by_name={"journal": (journal,)} if journal else {},
        date=int(year) * 10_000 if year.isdecimal() and len(year) == 4 else None,
        cited=len(by_paper),
        change=change,
        in_collection=False,
    )


def _most_frequent(name: str, citations: Sequence[Citation]) -> tuple[str, float]:
    """Return the most frequent text of a field, and its confidence."""
    text_of = _TEXT_OF[name]
    if len(citations) == 1:
        return " ".join(text_of(citations[0]).split()), 0.5
    texts = Counter(text for cited in citations if (text := " ".join(text_of(cited).split())))
    if not texts:
        return "", 0.0
    text, votes = texts.most_common(1)[0]
    return text, votes / (texts.total() + 1)

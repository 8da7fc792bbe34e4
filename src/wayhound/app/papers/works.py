"""Works that papers of the collection cite and none of them is, as those who cite them describe them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from wayhound.citations.citation import Citation
from wayhound.record import Record, Span, Value
from wayhound.record_kinds import FieldSpec, KindSpec
from wayhound.search.documents import IndexDocument
from wayhound.store.papers import PaperStore

AS_CITED = Span("urn:wayhound:as-cited")
"""The place of values that stand in no page of the paper itself."""

_MISSED = ("year", "journal", "booktitle", "institution", "volume", "number", "pages", "publisher")
_VENUES = frozenset({"journal", "booktitle", "institution"})


def as_cited(papers: PaperStore, record: Record) -> Record:
    """The record with year, venue, volume and pages where it lacks them.

    Of several opinions the most frequent is taken. One voice is believed by half, many that agree by more.
    """
    if record.kind != "paper" or not _lacks_something(record):
        return record
    cited = [each.fields for each in papers.cited_by(record.id) if each.paper != record.id]
    has_venue = any(record.fields.get(name) for name in _VENUES)
    found: dict[str, tuple[Value, ...]] = {}
    for name in _MISSED:
        opinions = Counter(fields[name][0].text for fields in cited if fields.get(name))
        if opinions and not record.fields.get(name) and not (name in _VENUES and has_venue):
            text, votes = opinions.most_common(1)[0]
            found[name] = (Value(text, votes / (opinions.total() + 1), AS_CITED),)
            has_venue = has_venue or name in _VENUES
    return replace(record, fields=record.fields | found)


def _lacks_something(record: Record) -> bool:
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

_READ: dict[str, Callable[[Citation], str]] = {
    "title": lambda cited: cited.title.strip(" ."),
    "author": lambda cited: cited.authors,
    "year": lambda cited: cited.year[:4],
    "journal": lambda cited: cited.venue if cited.volume else "",  # what has volumes is a journal
    "booktitle": lambda cited: "" if cited.volume else cited.venue,
    "volume": lambda cited: cited.volume,
    "pages": lambda cited: cited.pages,
}
_SEARCHED = ("title", "author", "year", "journal", "booktitle")
_LONGEST_TITLE = 500


def record_of_work(group: int, citations: Sequence[Citation]) -> Record | None:
    """A record of the work, each field as most citations have it; None where none of them tells a title.

    One voice is believed by half, many that agree by more.
    """
    fields: dict[str, tuple[Value, ...]] = {}
    for name in _READ:
        text, belief = _opinion(name, citations)
        parts = text.split(" and ") if name == "author" else [text]
        if text:
            fields[name] = tuple(Value(part, belief, AS_CITED) for part in parts)
    if "journal" in fields:
        fields.pop("booktitle", None)
    return Record(CITED_ONLY, str(group), fields) if "title" in fields else None


def document_of_work(
    group: int, by_paper: Mapping[str, Sequence[Citation]], change: int
) -> IndexDocument | None:
    """The same as the index takes it: what is searched and shown in lists, straight from the citations.

    There are many times more works than papers, and most of them are cited once.
    """
    citations = [cited for each in by_paper.values() for cited in each]
    title, author, year, journal, booktitle = (_opinion(name, citations)[0] for name in _SEARCHED)
    if not title:
        return None
    return IndexDocument(
        CITED_ONLY,
        str(group),
        title[:_LONGEST_TITLE],
        tuple(author.split(" and ")) if author else (),
        journal or booktitle,
        date=int(year) * 10_000 if year.isdecimal() and len(year) == 4 else None,
        cited=len(by_paper),
        change=change,
        in_collection=False,
    )


def _opinion(name: str, citations: Sequence[Citation]) -> tuple[str, float]:
    """What most citations say of a field, and how far that is believed."""
    read = _READ[name]
    if len(citations) == 1:
        return " ".join(read(citations[0]).split()), 0.5
    opinions = Counter(text for cited in citations if (text := " ".join(read(cited).split())))
    if not opinions:
        return "", 0.0
    text, votes = opinions.most_common(1)[0]
    return text, votes / (opinions.total() + 1)

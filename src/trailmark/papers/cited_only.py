"""Works that papers of the collection cite and none of them is, as those who cite them describe them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from trailmark.organise.citations.citation import Citation
from trailmark.organise.search.document import IndexDocument
from trailmark.papers.as_cited import AS_CITED
from trailmark.record import Record, Value
from trailmark.record_kinds import FieldSpec, KindSpec

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
        held=False,
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

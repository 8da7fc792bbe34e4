"""Works that papers of the collection cite and none of them is, as those who cite them describe them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from trailmark.organise.citations.citation import Citation
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


def record_of_work(group: int, citations: Sequence[Citation]) -> Record | None:
    """A record of the work, each field as most citations have it; None where none of them tells a title.

    One voice is believed by half, many that agree by more.
    """
    if not any(cited.title for cited in citations):
        return None
    fields: dict[str, tuple[Value, ...]] = {}
    for name, read in _READ.items():
        opinions = Counter(text for cited in citations if (text := " ".join(read(cited).split())))
        if opinions:
            text, votes = opinions.most_common(1)[0]
            parts = text.split(" and ") if name == "author" else [text]
            fields[name] = tuple(Value(part, votes / (opinions.total() + 1), AS_CITED) for part in parts)
    if "journal" in fields:
        fields.pop("booktitle", None)
    return Record(CITED_ONLY, str(group), fields)

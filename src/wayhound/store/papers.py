"""References of papers in groups that mean one work, the sentences that cite them, and people's corrections."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any

from pydantic_core import from_json

from wayhound.citations.citation import Citation
from wayhound.record import Value
from wayhound.store.database import Database
from wayhound.store.records import fields_from_json, fields_to_json

ITSELF = 0  # the number of a paper's own description among its references

_CITATIONS = "SELECT paper, number, group_id, label, fields, places FROM citation"
_TO_PAPER = " WHERE number > 0 AND group_id IN (SELECT group_id FROM citation WHERE paper = ? AND number = 0)"
_CONTEXTS = "SELECT paper, number, sentence, start, stop, page, box FROM citation_context"
_HELD = "SELECT id, paper FROM citation_group WHERE paper IS NOT NULL"
_BATCH = 300
# When a paper is deleted, its group passes to another version of the same work that is held.
_HAND_OVER = (
    "UPDATE citation_group AS own SET paper = "
    "(SELECT min(paper) FROM citation WHERE group_id = own.id AND number = 0) WHERE paper = ?"
)
_TIMES_CITED = (
    "SELECT own.paper, count(DISTINCT other.paper) FROM citation AS own "
    "JOIN citation AS other ON other.group_id = own.group_id AND other.number > 0 AND other.paper != own.paper "
    "WHERE own.number = 0 GROUP BY own.paper"
)
_LINKS = (
    "SELECT DISTINCT citing.paper, held.paper FROM citation AS citing "
    "JOIN citation AS held ON held.group_id = citing.group_id AND held.number = 0 "
    "WHERE citing.number > 0 AND citing.paper != held.paper ORDER BY 1, 2"
)
_TAKE = "UPDATE citation_group SET paper = ? WHERE id = ? AND paper IS NULL"
_DELETE_EMPTY = (
    "DELETE FROM citation_group AS own WHERE id = ? "
    "AND NOT EXISTS (SELECT 1 FROM citation WHERE group_id = own.id)"
)


@dataclass(frozen=True, slots=True)
class StoredCitation:
    """A reference of a paper, numbered from 1; number 0 is the paper itself."""

    paper: str
    number: int
    group: int
    citation: Citation
    label: str = ""
    # as read, with confidence and position
    fields: dict[str, tuple[Value, ...]] = field(default_factory=dict)


@dataclass(slots=True)  # not frozen, which takes three times as long to make
class StoredContext:
    """A sentence that cites the reference `number`; the call-out is `sentence[start:stop]`."""

    paper: str
    number: int
    sentence: str
    start: int
    stop: int
    page: int = 1
    box: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class PaperCorrection:
    """A person's correction: the values of a field of a paper before and after."""

    paper: str
    field: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    at: float
    by: str = ""


class PaperStore:
    """Citations by paper. Saving a paper's citations again replaces them, with their contexts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save_paper(
        self, paper: str, citations: Sequence[StoredCitation], contexts: Sequence[StoredContext] = ()
    ) -> None:
        """Save the citations of a paper in one transaction; number 0 of `citations` is the paper itself."""
        with self._database.transaction():
            self.put_paper(paper, citations, contexts)

    def put_paper(
        self, paper: str, citations: Sequence[StoredCitation], contexts: Sequence[StoredContext] = ()
    ) -> None:
        """Do the same within the open transaction."""
        self.delete(paper)
        for citation in citations:
            self._save_citation(paper, citation)
        for place, context in enumerate(contexts):
            self._save_context(paper, place, context)

    def delete(self, paper: str) -> None:
        """Delete the citations of a paper, within the open transaction."""
        execute = self._database.execute
        groups = execute("SELECT DISTINCT group_id FROM citation WHERE paper = ?", (paper,)).fetchall()
        execute("DELETE FROM citation WHERE paper = ?", (paper,))
        execute(_HAND_OVER, (paper,))
        for group in groups:
            execute(_DELETE_EMPTY, group)

    def replace_citation(self, citation: StoredCitation) -> None:
        """Replace one citation and keep its contexts, within the open transaction."""
        execute, own = self._database.execute, (citation.paper, citation.number)
        (before,) = execute("SELECT group_id FROM citation WHERE paper = ? AND number = ?", own).fetchone()
        execute("INSERT INTO citation_group (id) VALUES (?) ON CONFLICT DO NOTHING", (citation.group,))
        execute(
            "UPDATE citation SET group_id = ?, fields = ?, places = ? WHERE paper = ? AND number = ?",
            (citation.group, _written(citation.citation), _places(citation), *own),
        )
        if citation.number == ITSELF:
            execute(_HAND_OVER, (citation.paper,))
            execute(_TAKE, (citation.paper, citation.group))
        # Puts the papers of both groups into the change feed: their citation counts have changed.
        execute("UPDATE citation_group SET paper = paper WHERE id IN (?, ?)", (before, citation.group))
        execute(_DELETE_EMPTY, (before,))

    def _save_citation(self, paper: str, citation: StoredCitation) -> None:
        execute = self._database.execute
        execute("INSERT INTO citation_group (id) VALUES (?) ON CONFLICT DO NOTHING", (citation.group,))
        execute(
            "INSERT INTO citation (paper, number, group_id, label, fields, places) VALUES (?, ?, ?, ?, ?, ?)",
            (
                paper,
                citation.number,
                citation.group,
                citation.label,
                _written(citation.citation),
                _places(citation),
            ),
        )
        if citation.number == ITSELF:
            execute(_TAKE, (paper, citation.group))

    def _save_context(self, paper: str, place: int, context: StoredContext) -> None:
        box = json.dumps(context.box) if context.box else None
        self._database.execute(
            "INSERT INTO citation_context (paper, place, number, sentence, start, stop, page, box) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (paper, place, context.number, context.sentence, context.start, context.stop, context.page, box),
        )

    def citations(self, paper: str | None = None) -> Iterator[StoredCitation]:
        """Yield the citations of one paper, or all, in order of paper and number."""
        where, values = ("", ()) if paper is None else (" WHERE paper = ?", (paper,))
        rows = self._database.stream(f"{_CITATIONS}{where} ORDER BY paper, number", values)
        yield from map(_citation, rows)

    def cited_by(self, paper: str) -> list[StoredCitation]:
        """Return the references of other papers to this one."""
        rows = self._database.execute(f"{_CITATIONS}{_TO_PAPER} ORDER BY paper, number", (paper,))
        return [_citation(row) for row in rows]

    def held(self, group: int) -> str | None:
        """Return the id of the paper that a group means, if it is held."""
        return self.all_held([group]).get(group)

    def all_held(self, groups: Sequence[int]) -> dict[int, str]:
        """Return the ids of the papers that are held among those that some groups mean."""
        held: dict[int, str] = {}
        for first in range(0, len(groups), _BATCH):
            some = tuple(groups[first : first + _BATCH])
            held |= self._database.execute(
                f"{_HELD} AND id IN ({', '.join('?' * len(some))})", some
            ).fetchall()
        return held

    def group(self, group: int) -> list[StoredCitation]:
        """Return all citations of one work, including the held papers that are this work."""
        rows = self._database.execute(f"{_CITATIONS} WHERE group_id = ? ORDER BY paper, number", (group,))
        return [_citation(row) for row in rows]

    def times_cited(self) -> dict[str, int]:
        """Return how many other papers cite each held paper; papers that nobody cites are left out."""
        return dict(self._database.execute(_TIMES_CITED).fetchall())

    def links(self) -> list[tuple[str, str]]:
        """Return the citation graph of the held papers as pairs of citing and cited paper."""
        return self._database.execute(_LINKS).fetchall()

    def contexts(self, paper: str) -> list[StoredContext]:
        """Return the sentences in which a paper cites, in order."""
        rows = self._database.execute(f"{_CONTEXTS} WHERE paper = ? ORDER BY place", (paper,))
        return [_context(row) for row in rows]

    def contexts_of(self, references: Sequence[tuple[str, int]]) -> list[StoredContext]:
        """Return the sentences that cite some references; each of these is a paper and the number of its reference."""
        contexts: list[StoredContext] = []
        for first in range(0, len(references), _BATCH):
            some = references[first : first + _BATCH]
            which = " OR ".join(["paper = ? AND number = ?"] * len(some))
            rows = self._database.execute(f"{_CONTEXTS} WHERE {which} ORDER BY place", tuple(chain(*some)))
            contexts += map(_context, rows)
        return contexts

    def put_correction(self, correction: PaperCorrection) -> None:
        """Save a correction within the open transaction."""
        self._database.execute(
            "INSERT INTO correction (paper, field, before, after, at, author) VALUES (?, ?, ?, ?, ?, ?)",
            (
                correction.paper,
                correction.field,
                _texts(correction.before),
                _texts(correction.after),
                correction.at,
                correction.by,
            ),
        )

    def remove_correction(self, correction: PaperCorrection) -> None:
        """Remove the newest correction that is equal to this one."""
        where = "paper = ? AND field = ? AND after = ? AND at = ?"
        with self._database.transaction():
            self._database.execute(
                f"DELETE FROM correction WHERE id = (SELECT max(id) FROM correction WHERE {where})",  # noqa: S608
                (correction.paper, correction.field, _texts(correction.after), correction.at),
            )

    def corrections(self, paper: str | None = None) -> list[PaperCorrection]:
        """Return all corrections or those of a paper, oldest first: the last one of a field counts."""
        where, values = ("", ()) if paper is None else ("WHERE paper = ?", (paper,))
        rows = self._database.execute(
            f"SELECT paper, field, before, after, at, author FROM correction {where} ORDER BY id",  # noqa: S608
            values,
        )
        return [
            PaperCorrection(paper, name, tuple(json.loads(before)), tuple(json.loads(after)), at, by)
            for paper, name, before, after, at, by in rows
        ]


def _citation(row: tuple[Any, ...]) -> StoredCitation:
    paper, number, group, label, fields, places = row
    read = fields_from_json(from_json(places))  # in a third of the time that `json` takes
    return StoredCitation(paper, number, group, Citation(**from_json(fields)), label, read)


def _written(citation: Citation) -> str:
    return json.dumps({name: text for name, text in asdict(citation).items() if text}, ensure_ascii=False)


def _places(citation: StoredCitation) -> str:
    return json.dumps(fields_to_json(citation.fields), ensure_ascii=False, separators=(",", ":"))


def _context(row: tuple[Any, ...]) -> StoredContext:
    paper, number, sentence, start, stop, page, box = row
    return StoredContext(
        paper=paper, number=number, sentence=sentence, start=start, stop=stop, page=page, box=_box(box)
    )


def _box(text: str | None) -> tuple[float, float, float, float] | None:
    if text is None:
        return None
    left, top, right, bottom = json.loads(text)
    return left, top, right, bottom


def _texts(texts: Sequence[str]) -> str:
    return json.dumps(list(texts), ensure_ascii=False)

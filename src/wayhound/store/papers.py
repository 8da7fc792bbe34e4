"""Keeps what papers cite: references in groups, the sentences that cite them, and people's corrections."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from wayhound.citations.citation import Citation
from wayhound.record import Value
from wayhound.store.database import Database
from wayhound.store.records import fields_from_json, fields_to_json

ITSELF = 0  # the number under which a paper's own description stands among its references

_CITATIONS = "SELECT paper, number, group_id, label, fields, places FROM citation"
_TO_PAPER = " WHERE number > 0 AND group_id IN (SELECT group_id FROM citation WHERE paper = ? AND number = 0)"
_CONTEXTS = (
    "SELECT paper, number, sentence, start, stop, page, box FROM citation_context "
    "WHERE paper = ? AND (? IS NULL OR number = ?) ORDER BY place"
)
# A paper that goes leaves its group to another version of the same work, where that is held.
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
    """A reference of a paper, from 1; or, as number 0, the paper itself."""

    paper: str
    number: int
    group: int
    citation: Citation
    label: str = ""
    fields: dict[str, tuple[Value, ...]] = field(default_factory=dict)  # as read, with confidence and place


@dataclass(frozen=True, slots=True)
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
class Correction:
    """What a person put right: the values of a field of a paper before and after."""

    paper: str
    field: str
    before: tuple[str, ...]
    after: tuple[str, ...]
    at: float
    by: str = ""


class PaperStore:
    """The citation graph. Saving a paper's citations again replaces them, with their contexts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save_paper(
        self, paper: str, citations: Sequence[StoredCitation], contexts: Sequence[StoredContext] = ()
    ) -> None:
        """All that a paper cites, in one transaction; its own description is number 0 of `citations`."""
        with self._database.transaction():
            self.put_paper(paper, citations, contexts)

    def put_paper(
        self, paper: str, citations: Sequence[StoredCitation], contexts: Sequence[StoredContext] = ()
    ) -> None:
        """The same as a part of a transaction that is open."""
        self.forget(paper)
        for each in citations:
            self._save_citation(paper, each)
        for place, context in enumerate(contexts):
            self._save_context(paper, place, context)

    def forget(self, paper: str) -> None:
        """Take away what a paper cites, as a part of a transaction that is open."""
        execute = self._database.execute
        groups = execute("SELECT DISTINCT group_id FROM citation WHERE paper = ?", (paper,)).fetchall()
        execute("DELETE FROM citation WHERE paper = ?", (paper,))
        execute(_HAND_OVER, (paper,))
        for group in groups:
            execute(_DELETE_EMPTY, group)

    def replace_citation(self, each: StoredCitation) -> None:
        """One citation read or matched anew, its contexts kept, as a part of a transaction that is open."""
        execute, own = self._database.execute, (each.paper, each.number)
        (before,) = execute("SELECT group_id FROM citation WHERE paper = ? AND number = ?", own).fetchone()
        execute("INSERT OR IGNORE INTO citation_group (id) VALUES (?)", (each.group,))
        execute(
            "UPDATE citation SET group_id = ?, fields = ?, places = ? WHERE paper = ? AND number = ?",
            (each.group, _written(each.citation), _places(each), *own),
        )
        if each.number == ITSELF:
            execute(_HAND_OVER, (each.paper,))
            execute(_TAKE, (each.paper, each.group))
        # Whoever follows the papers of groups learns that they are cited more, or less, than before.
        execute("UPDATE citation_group SET paper = paper WHERE id IN (?, ?)", (before, each.group))
        execute(_DELETE_EMPTY, (before,))

    def _save_citation(self, paper: str, each: StoredCitation) -> None:
        execute = self._database.execute
        execute("INSERT OR IGNORE INTO citation_group (id) VALUES (?)", (each.group,))
        execute(
            "INSERT INTO citation (paper, number, group_id, label, fields, places) VALUES (?, ?, ?, ?, ?, ?)",
            (paper, each.number, each.group, each.label, _written(each.citation), _places(each)),
        )
        if each.number == ITSELF:
            execute(_TAKE, (paper, each.group))

    def _save_context(self, paper: str, place: int, each: StoredContext) -> None:
        box = json.dumps(each.box) if each.box else None
        self._database.execute(
            "INSERT INTO citation_context (paper, place, number, sentence, start, stop, page, box) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (paper, place, each.number, each.sentence, each.start, each.stop, each.page, box),
        )

    def citations(self, paper: str | None = None) -> Iterator[StoredCitation]:
        """Those of one paper, or all, in order of paper and number."""
        where, values = ("", ()) if paper is None else (" WHERE paper = ?", (paper,))
        rows = self._database.stream(f"{_CITATIONS}{where} ORDER BY paper, number", values)
        yield from map(_citation, rows)

    def cited_by(self, paper: str) -> list[StoredCitation]:
        """References of other papers to this one."""
        rows = self._database.execute(f"{_CITATIONS}{_TO_PAPER} ORDER BY paper, number", (paper,))
        return [_citation(row) for row in rows]

    def held(self, group: int) -> str | None:
        """The id of the paper that the citations of a group are to, where it is held."""
        row = self._database.execute("SELECT paper FROM citation_group WHERE id = ?", (group,)).fetchone()
        return row[0] if row else None

    def group(self, group: int) -> list[StoredCitation]:
        """All citations to one work, and the papers held that are it."""
        rows = self._database.execute(f"{_CITATIONS} WHERE group_id = ? ORDER BY paper, number", (group,))
        return [_citation(row) for row in rows]

    def times_cited(self) -> dict[str, int]:
        """How many other papers cite each paper that is held; those that nobody cites are left out."""
        return dict(self._database.execute(_TIMES_CITED).fetchall())

    def links(self) -> list[tuple[str, str]]:
        """The citation graph among papers held: who cites whom, each pair once."""
        return self._database.execute(_LINKS).fetchall()

    def contexts(self, paper: str, number: int | None = None) -> list[StoredContext]:
        """The sentences in which a paper cites, in order; all, or those to one reference."""
        rows = self._database.execute(_CONTEXTS, (paper, number, number))
        return [_context(row) for row in rows]

    def add_correction(self, correction: Correction) -> None:
        with self._database.transaction():
            self.put_correction(correction)

    def put_correction(self, each: Correction) -> None:
        """The same as a part of a transaction that is open."""
        self._database.execute(
            "INSERT INTO correction (paper, field, before, after, at, author) VALUES (?, ?, ?, ?, ?, ?)",
            (each.paper, each.field, _texts(each.before), _texts(each.after), each.at, each.by),
        )

    def corrections(self, paper: str | None = None) -> list[Correction]:
        """All of them or those of a paper, oldest first: a later one of the same field holds."""
        where, values = ("", ()) if paper is None else ("WHERE paper = ?", (paper,))
        rows = self._database.execute(
            f"SELECT paper, field, before, after, at, author FROM correction {where} ORDER BY id",  # noqa: S608
            values,
        )
        return [
            Correction(paper, name, tuple(json.loads(before)), tuple(json.loads(after)), at, by)
            for paper, name, before, after, at, by in rows
        ]


def _citation(row: tuple[Any, ...]) -> StoredCitation:
    paper, number, group, label, fields, places = row
    read = fields_from_json(json.loads(places))
    return StoredCitation(paper, number, group, Citation(**json.loads(fields)), label, read)


def _written(citation: Citation) -> str:
    return json.dumps({name: text for name, text in asdict(citation).items() if text}, ensure_ascii=False)


def _places(each: StoredCitation) -> str:
    return json.dumps(fields_to_json(each.fields), ensure_ascii=False, separators=(",", ":"))


def _context(row: tuple[Any, ...]) -> StoredContext:
    paper, number, sentence, start, stop, page, box = row
    return StoredContext(paper, number, sentence, start, stop, page, _box(box))


def _box(text: str | None) -> tuple[float, float, float, float] | None:
    if text is None:
        return None
    left, top, right, bottom = json.loads(text)
    return left, top, right, bottom


def _texts(texts: Sequence[str]) -> str:
    return json.dumps(list(texts), ensure_ascii=False)

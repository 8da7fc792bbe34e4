"""Keeps what papers cite: references in groups, the sentences that cite them, and people's corrections."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from trailmark.organise.citations.citation import Citation
from trailmark.store.database import Database

ITSELF = 0  # the number under which a paper's own description stands among its references

_CITATIONS = "SELECT paper, number, group_id, label, fields FROM citation"
_TO_PAPER = " WHERE number > 0 AND group_id IN (SELECT group_id FROM citation WHERE paper = ? AND number = 0)"
_CONTEXTS = (
    "SELECT paper, number, sentence, start, stop, page, box FROM citation_context "
    "WHERE paper = ? AND (? IS NULL OR number = ?) ORDER BY place"
)
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


class PaperStore:
    """The citation graph. Saving a paper's citations again replaces them, with their contexts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def save_paper(
        self, paper: str, citations: Sequence[StoredCitation], contexts: Sequence[StoredContext] = ()
    ) -> None:
        """All that a paper cites, in one transaction; its own description is number 0 of `citations`."""
        with self._database.transaction():
            self._forget(paper)
            for each in citations:
                self._save_citation(paper, each)
            for place, context in enumerate(contexts):
                self._save_context(paper, place, context)

    def _forget(self, paper: str) -> None:
        execute = self._database.execute
        groups = execute("SELECT DISTINCT group_id FROM citation WHERE paper = ?", (paper,)).fetchall()
        execute("DELETE FROM citation WHERE paper = ?", (paper,))
        execute("UPDATE citation_group SET paper = NULL WHERE paper = ?", (paper,))
        for group in groups:
            execute(_DELETE_EMPTY, group)

    def _save_citation(self, paper: str, each: StoredCitation) -> None:
        execute = self._database.execute
        execute("INSERT OR IGNORE INTO citation_group (id) VALUES (?)", (each.group,))
        if each.number == ITSELF:
            execute("UPDATE citation_group SET paper = ? WHERE id = ?", (paper, each.group))
        fields = {name: text for name, text in asdict(each.citation).items() if text}
        execute(
            "INSERT INTO citation (paper, number, group_id, label, fields) VALUES (?, ?, ?, ?, ?)",
            (paper, each.number, each.group, each.label, json.dumps(fields, ensure_ascii=False)),
        )

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

    def contexts(self, paper: str, number: int | None = None) -> list[StoredContext]:
        """The sentences in which a paper cites, in order; all, or those to one reference."""
        rows = self._database.execute(_CONTEXTS, (paper, number, number))
        return [_context(row) for row in rows]

    def add_correction(self, correction: Correction) -> None:
        with self._database.transaction():
            self._database.execute(
                "INSERT INTO correction (paper, field, before, after, at) VALUES (?, ?, ?, ?, ?)",
                (
                    correction.paper,
                    correction.field,
                    _texts(correction.before),
                    _texts(correction.after),
                    correction.at,
                ),
            )

    def corrections(self) -> list[Correction]:
        """All of them, oldest first: a later one of the same field holds."""
        rows = self._database.execute("SELECT paper, field, before, after, at FROM correction ORDER BY id")
        return [
            Correction(paper, field, tuple(json.loads(before)), tuple(json.loads(after)), at)
            for paper, field, before, after, at in rows
        ]


def _citation(row: tuple[Any, ...]) -> StoredCitation:
    paper, number, group, label, fields = row
    return StoredCitation(paper, number, group, Citation(**json.loads(fields)), label)


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

"""Who cites a paper or a work, told by the citing papers' own descriptions, without reading their records."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trailmark.organise.citations.citation import Citation
from trailmark.store.database import Database

_CITING = """
SELECT cites.paper, json_group_array(cites.number), coalesce(json_extract(own.fields, '$.title'), ''),
       coalesce(json_extract(own.fields, '$.year'), '') AS year, count(*) OVER ()
FROM citation AS cites LEFT JOIN citation AS own ON own.paper = cites.paper AND own.number = 0
WHERE cites.number > 0 AND cites.paper <> ?1
  AND cites.group_id {groups}
GROUP BY cites.paper ORDER BY year DESC, cites.paper LIMIT ?2
"""
_OF_PAPER = _CITING.format(groups="IN (SELECT group_id FROM citation WHERE paper = ?1 AND number = 0)")
_OF_WORK = _CITING.format(groups="= ?1")  # no paper goes by the number of a group


@dataclass(frozen=True, slots=True)
class CitingPaper:
    """A paper, and the numbers under which it has another among its references."""

    paper: str
    numbers: tuple[int, ...]
    title: str
    year: str


def citing_papers(database: Database, paper: str, most: int) -> tuple[list[CitingPaper], int]:
    """The papers that cite one, the newest first and `most` of them; and how many there are in all."""
    return _told(database.execute(_OF_PAPER, (paper, most)).fetchall())


def citing_work(database: Database, group: int, most: int) -> tuple[list[CitingPaper], int]:
    """The papers that cite the work of a group, told in the same way."""
    return _told(database.execute(_OF_WORK, (group, most)).fetchall())


def _told(rows: Sequence[tuple[Any, ...]]) -> tuple[list[CitingPaper], int]:
    found = [
        CitingPaper(each, tuple(sorted(json.loads(numbers))), title, year)
        for each, numbers, title, year, _ in rows
    ]
    return found, rows[0][4] if rows else 0


def citations_to(database: Database, groups: Sequence[int]) -> dict[int, dict[str, list[Citation]]]:
    """Of works that are not held, what each of the papers that cite them says they are; by group and paper.

    Held works, those that were withdrawn, and those that nobody cites are left out.
    """
    rows = database.execute(
        "SELECT group_id, citation.paper, fields FROM citation JOIN citation_group AS own ON own.id = group_id "
        "WHERE number > 0 AND own.paper IS NULL AND group_id IN (SELECT value FROM json_each(?)) "
        "AND NOT EXISTS (SELECT 1 FROM withheld WHERE kind = 'cited-only' AND id = CAST(group_id AS TEXT)) "
        "ORDER BY group_id, citation.paper, number",
        (json.dumps(list(groups)),),
    )
    found: dict[int, dict[str, list[Citation]]] = {}
    for group, paper, fields in rows:
        found.setdefault(group, {}).setdefault(paper, []).append(Citation(**json.loads(fields)))
    return found

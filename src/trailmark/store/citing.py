"""Who cites a paper, told by the citing papers' own descriptions, without reading their records."""

from __future__ import annotations

import json
from dataclasses import dataclass

from trailmark.store.database import Database

_CITING = """
SELECT cites.paper, json_group_array(cites.number), coalesce(json_extract(own.fields, '$.title'), ''),
       coalesce(json_extract(own.fields, '$.year'), '') AS year, count(*) OVER ()
FROM citation AS cites LEFT JOIN citation AS own ON own.paper = cites.paper AND own.number = 0
WHERE cites.number > 0 AND cites.paper <> ?1
  AND cites.group_id IN (SELECT group_id FROM citation WHERE paper = ?1 AND number = 0)
GROUP BY cites.paper ORDER BY year DESC, cites.paper LIMIT ?2
"""


@dataclass(frozen=True, slots=True)
class CitingPaper:
    """A paper, and the numbers under which it has another among its references."""

    paper: str
    numbers: tuple[int, ...]
    title: str
    year: str


def citing_papers(database: Database, paper: str, most: int) -> tuple[list[CitingPaper], int]:
    """The papers that cite one, the newest first and `most` of them; and how many there are in all."""
    rows = database.execute(_CITING, (paper, most)).fetchall()
    found = [
        CitingPaper(each, tuple(sorted(json.loads(numbers))), title, year)
        for each, numbers, title, year, _ in rows
    ]
    return found, rows[0][4] if rows else 0

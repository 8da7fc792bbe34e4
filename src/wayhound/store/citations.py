"""The citation graph: who cites a work, how it is described, and the hub and authority scores of papers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from wayhound.citations.citation import Citation
from wayhound.citations.hubs import HubScores
from wayhound.store.database import Database

_CITING = """
SELECT cites.paper, json_group_array(cites.number), coalesce(max(json_extract(own.fields, '$.title')), ''),
       coalesce(max(json_extract(own.fields, '$.year')), '') AS year, count(*) OVER ()
FROM citation AS cites LEFT JOIN citation AS own ON own.paper = cites.paper AND own.number = 0
WHERE cites.number > 0 AND {groups}
GROUP BY cites.paper ORDER BY year DESC, cites.paper LIMIT ?2
"""
_OF_PAPER = _CITING.format(
    groups="cites.paper <> ?1 AND cites.group_id IN (SELECT group_id FROM citation WHERE paper = ?1 AND number = 0)"
)
_BATCH = 500
_OF_WORK = _CITING.format(groups="cites.group_id = ?1")


@dataclass(frozen=True, slots=True)
class CitingReferences:
    """A paper, and the numbers of its references to a given work."""

    paper: str
    numbers: tuple[int, ...]
    title: str
    year: str


class CitationStore:
    """The citation graph seen from the works that are cited; read only."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def citing_papers(self, paper: str, limit: int) -> tuple[list[CitingReferences], int]:
        """Return the newest `limit` papers that cite a paper, and how many there are in all."""
        return _citing(self._database.execute(_OF_PAPER, (paper, limit)).fetchall())

    def citing_work(self, group: int, limit: int) -> tuple[list[CitingReferences], int]:
        """Return the same for the work that a group of citations means."""
        return _citing(self._database.execute(_OF_WORK, (group, limit)).fetchall())

    def citations_to(self, groups: Sequence[int]) -> dict[int, dict[str, list[Citation]]]:
        """Return how the citing papers describe works that are not held, by group and paper.

        Held works, withdrawn works and works that nobody cites are left out.
        """
        citations: dict[int, dict[str, list[Citation]]] = {}
        for first in range(0, len(groups), _BATCH):
            some = tuple(groups[first : first + _BATCH])
            for group, paper, fields in self._database.execute(
                "SELECT group_id, citation.paper, fields FROM citation JOIN citation_group AS own "  # noqa: S608
                "ON own.id = group_id WHERE number > 0 AND own.paper IS NULL "
                f"AND group_id IN ({', '.join('?' * len(some))}) AND NOT EXISTS (SELECT 1 FROM withheld "
                "WHERE kind = 'cited-only' AND withheld.id = CAST(group_id AS TEXT)) "
                "ORDER BY group_id, citation.paper, number",
                some,
            ):
                citations.setdefault(group, {}).setdefault(paper, []).append(Citation(**json.loads(fields)))
        return citations


def _citing(rows: Sequence[tuple[Any, ...]]) -> tuple[list[CitingReferences], int]:
    papers = [
        CitingReferences(paper, tuple(sorted(json.loads(numbers))), title, year)
        for paper, numbers, title, year, _ in rows
    ]
    return papers, rows[0][4] if rows else 0


TopicPath = tuple[str, ...]

_BETWEEN = "\x1f"  # cannot occur in the name of a topic

# A paper may cite another more than once, and itself: neither counts twice.
_HELD = (
    "FROM citation_group AS held JOIN citation ON citation.group_id = held.id "
    "WHERE number > 0 AND held.paper IS NOT NULL AND citation.paper <> held.paper"
)


class ScoreStore:
    """Citations between held papers, and scores by paper."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def edges(self) -> Iterator[tuple[str, str]]:
        """Yield pairs of citing and cited paper, each once."""
        yield from self._database.stream(f"SELECT DISTINCT citation.paper, held.paper {_HELD}")

    def cited(self, paper: str) -> int:
        """Return the number of other papers that cite a paper."""
        sql = f"SELECT count(DISTINCT citation.paper) {_HELD} AND held.paper = ?"
        return int(self._database.execute(sql, (paper,)).fetchone()[0])

    def get(self, paper: str) -> HubScores:
        sql = "SELECT authority, hub FROM paper_score WHERE paper = ?"
        row = self._database.execute(sql, (paper,)).fetchone()
        return HubScores(*row) if row else HubScores()

    def by_topic(self, paper: str) -> dict[TopicPath, HubScores]:
        """Return the scores of a paper among the papers of each of its topics."""
        sql = "SELECT topic, authority, hub FROM topic_score WHERE paper = ?"
        return {tuple(topic.split(_BETWEEN)): HubScores(*both) for topic, *both in self._rows(sql, paper)}

    def _rows(self, sql: str, paper: str) -> list[tuple[Any, ...]]:
        return self._database.execute(sql, (paper,)).fetchall()

    def replace_all(
        self, overall: Mapping[str, HubScores], by_topic: Mapping[tuple[str, TopicPath], HubScores]
    ) -> int:
        """Replace all scores and return how many changed; rows that did not change are not touched."""
        topics: dict[tuple[str, ...], HubScores] = {
            (paper, _BETWEEN.join(path)): scores for (paper, path), scores in by_topic.items()
        }
        with self._database.transaction():
            changed = self._replace(
                "paper_score", ("paper",), {(paper,): scores for paper, scores in overall.items()}
            )
            return changed + self._replace("topic_score", ("paper", "topic"), topics)

    def _replace(self, table: str, keys: tuple[str, ...], scores: Mapping[tuple[str, ...], HubScores]) -> int:
        rows = self._database.stream(f"SELECT authority, hub, {', '.join(keys)} FROM {table}")  # noqa: S608
        stored = {tuple(key): HubScores(authority, hub) for authority, hub, *key in rows}
        obsolete = stored.keys() - scores.keys()
        changed = {key: new for key, new in scores.items() if stored.get(key) != new}
        where = " AND ".join(f"{name} = ?" for name in keys)
        for key in sorted(obsolete | (stored.keys() & changed.keys())):
            self._database.execute(f"DELETE FROM {table} WHERE {where}", key)  # noqa: S608
        insert = f"INSERT INTO {table} VALUES ({'?, ' * len(keys)}?, ?)"  # noqa: S608
        for key, new in changed.items():
            self._database.execute(insert, (*key, new.authority, new.hub))
        return len(obsolete) + len(changed)

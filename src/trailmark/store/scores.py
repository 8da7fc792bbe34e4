"""Keeps what the citation graph says of papers: who cites whom, how often, and the scores worked out from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trailmark.organise.hubs import HubScores
from trailmark.store.database import Database

TopicPath = tuple[str, ...]

_BETWEEN = "\x1f"  # cannot stand in the name of a topic

# A paper may cite another more than once, and itself: neither makes it better known.
_HELD = (
    "FROM citation_group AS held JOIN citation ON citation.group_id = held.id "
    "WHERE number > 0 AND held.paper IS NOT NULL AND citation.paper <> held.paper"
)


class ScoreStore:
    """Citations between papers that are held, and scores by paper."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def edges(self) -> Iterator[tuple[str, str]]:
        """Who cites whom, each pair once."""
        yield from self._database.stream(f"SELECT DISTINCT citation.paper, held.paper {_HELD}")

    def cited(self, paper: str) -> int:
        """How many of the other papers cite one."""
        sql = f"SELECT count(DISTINCT citation.paper) {_HELD} AND held.paper = ?"
        return int(self._database.execute(sql, (paper,)).fetchone()[0])

    def get(self, paper: str) -> HubScores:
        found = self._database.execute("SELECT authority, hub FROM paper_score WHERE paper = ?", (paper,))
        row = found.fetchone()
        return HubScores(*row) if row else HubScores()

    def of_topics(self, paper: str) -> dict[TopicPath, HubScores]:
        """Its scores among the papers of each topic it is in."""
        sql = "SELECT topic, authority, hub FROM topic_score WHERE paper = ?"
        return {tuple(topic.split(_BETWEEN)): HubScores(*both) for topic, *both in self._rows(sql, paper)}

    def _rows(self, sql: str, paper: str) -> list[tuple[Any, ...]]:
        return self._database.execute(sql, (paper,)).fetchall()

    def replace_all(
        self, whole: Mapping[str, HubScores], of_topics: Mapping[tuple[str, TopicPath], HubScores]
    ) -> int:
        """Keep these scores and no others; tell how many changed. What did not change is not touched."""
        topics: dict[tuple[str, ...], HubScores] = {
            (paper, _BETWEEN.join(path)): each for (paper, path), each in of_topics.items()
        }
        with self._database.transaction():
            changed = self._replace(
                "paper_score", ("paper",), {(paper,): each for paper, each in whole.items()}
            )
            return changed + self._replace("topic_score", ("paper", "topic"), topics)

    def _replace(self, table: str, keys: tuple[str, ...], scores: Mapping[tuple[str, ...], HubScores]) -> int:
        rows = self._database.stream(f"SELECT authority, hub, {', '.join(keys)} FROM {table}")  # noqa: S608
        kept = {tuple(key): HubScores(authority, hub) for authority, hub, *key in rows}
        gone = kept.keys() - scores.keys()
        changed = {key: each for key, each in scores.items() if kept.get(key) != each}
        where = " AND ".join(f"{name} = ?" for name in keys)
        for key in sorted(gone):
            self._database.execute(f"DELETE FROM {table} WHERE {where}", key)  # noqa: S608
        insert = f"INSERT OR REPLACE INTO {table} VALUES ({'?, ' * len(keys)}?, ?)"  # noqa: S608
        for key, each in changed.items():
            self._database.execute(insert, (*key, each.authority, each.hub))
        return len(gone) + len(changed)

"""Keeps what the citation graph says of papers: who cites whom, how often, and the scores worked out from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trailmark.organise.hubs import HubScores
from trailmark.store.database import Database

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

    def replace_all(self, scores: Mapping[str, HubScores]) -> int:
        """Keep these scores and no others; tell how many changed. What did not change is not touched."""
        kept = {
            paper: HubScores(*both) for paper, *both in self._database.stream("SELECT * FROM paper_score")
        }
        gone = kept.keys() - scores.keys()
        changed = {paper: each for paper, each in scores.items() if kept.get(paper) != each}
        with self._database.transaction():
            for paper in sorted(gone):
                self._database.execute("DELETE FROM paper_score WHERE paper = ?", (paper,))
            for paper, each in changed.items():
                row = (paper, each.authority, each.hub)
                self._database.execute("INSERT OR REPLACE INTO paper_score VALUES (?, ?, ?)", row)
        return len(gone) + len(changed)

"""Placements of documents in the topic tree, with the words that decided, and people's corrections."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from wayhound.store.database import NO_LIMIT, Database
from wayhound.topics.model import TopicPlacement

_BETWEEN = "\x1f"  # cannot occur in the name of a topic
_AFTER = chr(ord(_BETWEEN) + 1)
_COLUMNS = "document, topic, confidence, leaf, second, second_confidence, outside, words, corrected, best"
_INSERT = f"INSERT INTO topic_placement (title, {_COLUMNS}) VALUES (?{', ?' * 10})"  # noqa: S608
_SELECT = f"SELECT {_COLUMNS} FROM topic_placement"  # noqa: S608
_UNDER = "WHERE topic = ? OR (topic > ? AND topic < ?)"


class TopicStore:
    """Placements by document; a placement saved again replaces the one before."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def replace_all(self, placements: Iterable[TopicPlacement], titles: Mapping[str, str]) -> None:
        """Replace all placements by those of a new training."""
        with self._database.transaction():
            self._database.execute("DELETE FROM topic_placement")
            self._insert(placements, titles)

    def save(self, placements: Iterable[TopicPlacement], titles: Mapping[str, str]) -> None:
        placed = list(placements)
        with self._database.transaction():
            for placement in placed:
                self._database.execute(
                    "DELETE FROM topic_placement WHERE document = ?", (placement.document,)
                )
            self._insert(placed, titles)

    def _insert(self, placements: Iterable[TopicPlacement], titles: Mapping[str, str]) -> None:
        for placement in placements:
            self._database.execute(_INSERT, (titles.get(placement.document, ""), *_row(placement)))

    def get(self, document: str) -> TopicPlacement | None:
        row = self._database.execute(f"{_SELECT} WHERE document = ?", (document,)).fetchone()
        return _placement(row) if row else None

    def title(self, document: str) -> str:
        sql = "SELECT title FROM topic_placement WHERE document = ?"
        row = self._database.execute(sql, (document,)).fetchone()
        return str(row[0]) if row else ""

    def under(self, topic: tuple[str, ...]) -> Iterator[TopicPlacement]:
        """Yield the placements at or below a topic, the most confident first."""
        return (placement for placement, _ in self.titled(topic))

    def titled(
        self,
        topic: tuple[str, ...] | None,
        limit: int = NO_LIMIT,
        *,
        offset: int = 0,
        least_confident_first: bool = False,
    ) -> Iterator[tuple[TopicPlacement, str]]:
        """Yield placements at or below a topic with the documents' titles, in order of confidence.

        `()` is the top of the tree, with every document; None has those that fit no topic.
        """
        where, values = "", tuple[str, ...]()
        if topic is None:
            where = "WHERE topic = ''"
        elif topic:
            path = _BETWEEN.join(topic)
            where, values = _UNDER, (path, path + _BETWEEN, path + _AFTER)
        order = "confidence" if least_confident_first else "confidence DESC"
        query = (
            f"SELECT title, {_COLUMNS} FROM topic_placement {where} "  # noqa: S608 - no value is part of the text
            f"ORDER BY {order}, document LIMIT ? OFFSET ?"
        )
        for title, *row in self._database.stream(query, (*values, limit, offset)):
            yield _placement(tuple(row)), str(title)

    def counts(self) -> dict[tuple[str, ...], int]:
        """Return the number of documents at each topic itself; the empty path has those that fit nowhere."""
        rows = self._database.execute("SELECT topic, count(*) FROM topic_placement GROUP BY topic")
        return {_path(topic): count for topic, count in rows}

    def counts_of(self, kind: str) -> dict[tuple[str, ...], int]:
        """Return the same for records of one kind."""
        rows = self._database.execute(
            "SELECT topic, count(*) FROM record JOIN topic_placement ON document = id WHERE kind = ? GROUP BY topic",
            (kind,),
        )
        return {_path(topic): count for topic, count in rows}

    def correct(self, document: str, topic: tuple[str, ...]) -> None:
        """Save where a person says that a document belongs; the next training learns from it."""
        with self._database.transaction():
            self._database.execute(
                "INSERT INTO topic_correction (document, topic, number) "
                "SELECT ?, ?, coalesce(max(number), 0) + 1 FROM topic_correction WHERE true "
                "ON CONFLICT (document) DO UPDATE SET topic = excluded.topic, number = excluded.number",
                (document, _BETWEEN.join(topic)),
            )

    def take_back(self, document: str) -> bool:
        """Delete the correction of a document. Returns False if there was none."""
        with self._database.transaction():
            deleted = self._database.execute("DELETE FROM topic_correction WHERE document = ?", (document,))
            return deleted.rowcount > 0

    def last_corrected(self) -> str | None:
        """Return the document that was corrected last, or None if there is no correction."""
        rows = self._database.execute(
            "SELECT document FROM topic_correction ORDER BY number DESC, document DESC LIMIT 1"
        )
        return next((str(document) for (document,) in rows), None)

    def corrections(self) -> dict[str, tuple[str, ...]]:
        rows = self._database.execute("SELECT document, topic FROM topic_correction ORDER BY document")
        return {document: _path(topic) for document, topic in rows}


def _row(placement: TopicPlacement) -> tuple[Any, ...]:
    return (
        placement.document,
        _BETWEEN.join(placement.topic),
        placement.confidence,
        _BETWEEN.join(placement.leaf),
        _BETWEEN.join(placement.second),
        placement.second_confidence,
        placement.outside,
        json.dumps(placement.words, ensure_ascii=False),
        placement.corrected,
        json.dumps(placement.best, ensure_ascii=False),
    )


def _placement(row: tuple[Any, ...]) -> TopicPlacement:
    document, topic, confidence, leaf, second, second_confidence, outside, words, corrected, best = row
    return TopicPlacement(
        document=document,
        topic=_path(topic),
        confidence=confidence,
        leaf=_path(leaf),
        second=_path(second),
        second_confidence=second_confidence,
        outside=outside,
        words=tuple((word, weight) for word, weight in json.loads(words)),
        corrected=bool(corrected),
        best=tuple((tuple(path), share) for path, share in json.loads(best)),
    )


def _path(text: str) -> tuple[str, ...]:
    return tuple(text.split(_BETWEEN)) if text else ()

"""Queries of pages that people open use an index, however much the workspace holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from wayhound.store.database import Database
from wayhound.store.forage import ForageStore
from wayhound.store.papers import PaperStore
from wayhound.store.sqlite import SqliteDatabase
from wayhound.store.topics import TopicStore
from wayhound.store.visits import ClickPaths


class WatchedDatabase(SqliteDatabase):
    """Notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Sequence[Any]]] = []
        super().__init__(None)

    def execute(self, sql: str, values: Sequence[Any] = ()) -> Any:
        self.asked.append((sql, values))
        return super().execute(sql, values)

    def stream(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        self.asked.append((sql, values))
        return super().stream(sql, values)

    def plans(self) -> list[str]:
        rows = (self.connection.execute(f"EXPLAIN QUERY PLAN {sql}", values) for sql, values in self.asked)
        return [detail for plan in rows for *_, detail in plan]


@pytest.mark.parametrize(
    "ask",
    [
        lambda database: ClickPaths(database).to_visit("http://a.example/", 3),
        lambda database: PaperStore(database).corrections("a-paper"),
        lambda database: list(TopicStore(database).titled(("Animals",), 10)),
        lambda database: ForageStore(database).last_page("http://a.example/"),
    ],
)
def test_no_table_is_read_whole(ask: Callable[[Database], object]) -> None:
    with WatchedDatabase() as database:
        database.asked.clear()
        ask(database)
        plans = database.plans()
        assert any(plan.startswith("SEARCH") for plan in plans)
        assert [plan for plan in plans if plan.startswith("SCAN")] == []

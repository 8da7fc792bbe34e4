from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.record import Record, Span, Value
from wayhound.store.database import Database
from wayhound.store.records import RecordStore
from wayhound.store.sqlite import SqliteDatabase

texts = st.text(max_size=20)
sure = st.floats(0, 1)
counts = st.integers(0, 10**9)
boxes = st.none() | st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 4)
spans = st.none() | st.builds(Span, texts, counts, counts, counts, boxes)
fields = st.dictionaries(
    texts, st.lists(st.builds(Value, texts, sure, spans), max_size=3).map(tuple), max_size=4
)
records = st.builds(Record, texts, texts, fields, texts, st.none() | counts)


@pytest.fixture(scope="module")
def one_database() -> Iterator[Database]:
    """A database for all examples of a test, since making one takes most of the time of an example."""
    with SqliteDatabase(None) as opened:
        yield opened


@given(record=records)
def test_any_record_survives_the_store_with_its_sources(one_database: Database, record: Record) -> None:
    store = RecordStore(one_database)
    assert store.save([record]) == 1
    assert store.get(record.kind, record.id) == record
    one_database.execute("DELETE FROM record")


def test_a_record_saved_again_replaces_the_one_before(database: Database) -> None:
    store = RecordStore(database)
    store.save([Record("paper", "1", {"title": (Value("Old"),)}), Record("paper", "2")])
    store.save([Record("paper", "1", {"title": (Value("New"),)})])
    assert [record.first("title") for record in store.iterate()] == ["New", ""]


def test_records_are_iterated_by_kind_and_id(database: Database) -> None:
    store = RecordStore(database)
    store.save(Record(kind, str(number)) for number in (2, 1) for kind in ("person", "paper"))
    assert [(each.kind, each.id) for each in store.iterate()] == [
        ("paper", "1"),
        ("paper", "2"),
        ("person", "1"),
        ("person", "2"),
    ]
    assert [each.id for each in store.iterate("person")] == ["1", "2"]
    assert list(store.iterate("place")) == []


def test_a_record_that_is_not_there_is_none(database: Database) -> None:
    assert RecordStore(database).get("paper", "1") is None


def test_more_records_than_a_batch_are_all_saved(database: Database) -> None:
    store = RecordStore(database)
    assert store.save(Record("paper", f"{number:05}") for number in range(2_345)) == 2_345
    assert sum(1 for _ in store.iterate("paper")) == 2_345


def test_half_a_character_pair_does_not_stop_a_record(database: Database) -> None:
    store = RecordStore(database)
    store.save([Record("paper", "1", {"title": (Value("a \udc00 b"),)})])
    assert [record.first("title") for record in store.iterate()] == ["a ? b"]

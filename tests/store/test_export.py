from __future__ import annotations

import csv
import gc
import io
import json
import os
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from pyarrow import parquet

from tests.store.samples import begin, lease, site, visit_of
from wayhound.errors import UsageError, WorkspaceError
from wayhound.record import Record, Span, Value
from wayhound.store.database import Database
from wayhound.store.export import TABLES, export, export_wide
from wayhound.store.forage import ForageStore
from wayhound.store.protocol import RunLimits
from wayhound.store.records import RecordStore
from wayhound.store.table_files import FORMATS, write_rows
from wayhound.visit import ArchiveRef


def filled(database: Database) -> None:
    """A site whose goal lies two clicks and a redirect away, another site, and a record."""
    store = ForageStore(database)
    run = begin(store, sites=2)
    job = lease(store, run)
    click = {"link_kind": "a", "depth": 1}
    changes: list[dict[str, Any]] = [
        {"title": "Home", "archived": ArchiveRef("w0.warc.gz", 10, 20)},
        {**click, "parent": 0, "outcome": "redirect", "link_text": " Our\n  people "},
        {
            **click,
            "parent": 1,
            "link_kind": "redirect",
            "link_text": "Our people",
            "title": "People",
            "not_modified": True,
        },
        {**click, "parent": 2, "title": "=cmd|' /C calc'!A0", "label": "Goal", "goal": 0.9, "is_goal": True},
        {**click, "parent": 2, "outcome": "http_404", "link_text": "Gone", "spent": False},
    ]
    for number, changed in enumerate(changes):
        store.save_visit(job, visit_of(job, number, **changed))
    store.finish_site(job, "no links left")
    source = Span("https://a.example/", 3, 9)
    person = Record("person", "1", {"name": (Value("Ann", 0.5, source), Value("-Anna")), "mail": ()}, "s", 2)
    RecordStore(database).save([person])


def exported(database: Database, table: str, file_format: str, run_id: int | None = None) -> bytes:
    stream = io.BytesIO()
    export(database, table, file_format, stream, run_id=run_id)
    return stream.getvalue()


def lines(database: Database, table: str, run_id: int | None = None) -> list[dict[str, Any]]:
    return [json.loads(line) for line in exported(database, table, "jsonl", run_id).splitlines()]


def test_pages_are_the_visits_that_gave_one_with_the_clicks_that_led_there(database: Database) -> None:
    filled(database)
    assert [(page["number"], page["path"]) for page in lines(database, "pages")] == [
        (0, ""),
        (2, "Our people"),
        (3, "Our people › (no text)"),
    ]


def test_a_page_says_what_was_thought_of_it_and_where_it_is_archived(database: Database) -> None:
    filled(database)
    home, _, goal = lines(database, "pages")
    assert (home["archive_file"], home["archive_offset"]) == ("w0.warc.gz", 10)
    assert (goal["label"], goal["goal"], goal["is_goal"]) == ("Goal", 0.9, True)
    assert goal["at"] == "2023-11-14T22:13:23.500Z"


def test_visits_hold_everything_that_was_asked_for(database: Database) -> None:
    filled(database)
    visits = lines(database, "visits")
    assert [visit["outcome"] for visit in visits] == ["ok", "redirect", "ok", "ok", "http_404"]
    assert [visit["spent"] for visit in visits] == [True] * 4 + [False]
    assert [visit["not_modified"] for visit in visits] == [False, False, True, False, False]
    assert [page["not_modified"] for page in lines(database, "pages")] == [False, True, False]
    assert visits[0]["site"] == site(0).start
    assert list(visits[0]) == list(TABLES["visits"].columns)


def test_sites_say_how_far_each_came(database: Database) -> None:
    filled(database)
    first, second = lines(database, "sites")
    assert (first["state"], first["reason"]) == ("done", "no links left")
    assert (first["pages"], first["spent"], first["failures"], first["goals"]) == (3, 4, 1, 1)
    assert (second["site"], second["state"]) == (site(1).start, "waiting")


def test_a_record_is_a_row_with_a_column_for_each_field(database: Database) -> None:
    filled(database)
    RecordStore(database).save([Record("paper", "7", {"title": (Value("Hops"),), "kind": (Value("x"),)})])
    person, paper = sorted(
        csv.DictReader(io.StringIO(exported(database, "records", "csv").decode())),
        key=lambda row: -len(row["name"]),
    )
    assert (person["name"], person["title"]) == ("Ann; -Anna", "")
    assert (paper["id"], paper["title"], paper["kind"], paper["kind_field"]) == ("7", "Hops", "paper", "x")
    stream = io.BytesIO()
    assert export(database, "records", "csv", stream, kind="paper") == 1
    assert stream.getvalue().decode().splitlines()[0] == "kind,id,site,visit,kind_field,title"
    assert export(database, "records", "jsonl", io.BytesIO(), kind="paper") == 1


def test_a_page_that_two_sites_share_is_one_row(database: Database) -> None:
    store = ForageStore(database)
    run = begin(store, sites=2)
    for job in (lease(store, run), lease(store, run)):
        store.save_visit(job, visit_of(job, 0, url="https://shared.example/", is_goal=True))
    for table in ("pages", "goals"):
        assert [row["url"] for row in lines(database, table)] == ["https://shared.example/"]
    assert len(lines(database, "visits")) == 2


def test_dates_are_dates_in_parquet(database: Database) -> None:
    filled(database)
    for table in ("visits", "pages", "goals"):
        read = parquet.read_table(io.BytesIO(exported(database, table, "parquet")))
        assert str(read.schema.field("at").type) == "timestamp[ms, tz=UTC]"
        assert read.to_pylist()[0]["at"].year == 2023


def wide(database: Database, run_id: int) -> list[dict[str, str]]:
    stream = io.BytesIO()
    export_wide(database, "csv", stream, run_id)
    return list(csv.DictReader(io.StringIO(stream.getvalue().decode())))


def test_each_row_of_a_persons_table_has_its_best_goal_or_the_reason(database: Database) -> None:
    store = ForageStore(database)
    run = begin(store, sites=3)
    starts = [site(number).start for number in range(3)]
    cells = [("Ann", starts[0]), ("Bob", starts[1]), ("Cid", ""), ("Dan", starts[2])]
    store.keep_list(run.id, ["name", "goal"], [(row, row[1]) for row in cells])
    first, second = lease(store, run), lease(store, run)
    for number, (goal, title) in enumerate(((0.6, "A"), (0.9, "Best"), (0.7, "B"))):
        store.save_visit(first, visit_of(first, number, goal=goal, title=title, is_goal=True))
    store.finish_site(first, "goals found")
    store.save_visit(second, visit_of(second, 0, outcome="dns", spent=False))
    store.finish_site(second, "start page failed (dns)")
    rows = wide(database, run.id)
    assert [(row["name"], row["goal_title"], row["status"], row["reason"]) for row in rows] == [
        ("Ann", "Best", "found", ""),
        ("Bob", "", "failed", "start page failed (dns)"),
        ("Cid", "", "no address", ""),
        ("Dan", "", "not finished", ""),
    ]
    assert list(rows[0])[:3] == ["name", "goal_", "goal"]  # a heading of one's own is kept apart from ours
    assert rows[0]["probability"] == "0.9"


def test_another_table_is_written_once_and_changes_nothing(database: Database) -> None:
    filled(database)
    before = wide(database, 1)
    stream = io.BytesIO()
    own = [(("Ann",), site(0).start), (("Eve",), "https://elsewhere.example/"), (("Cid",), "")]
    assert export_wide(database, "csv", stream, 1, ["name"], own) == 3
    rows = csv.DictReader(io.StringIO(stream.getvalue().decode()))
    assert [(row["name"], row["status"]) for row in rows] == [
        ("Ann", "found"),
        ("Eve", "not foraged"),
        ("Cid", "no address"),
    ]
    assert wide(database, 1) == before


def test_without_a_table_each_site_is_a_row(database: Database) -> None:
    filled(database)
    assert [(row["site"], row["status"]) for row in wide(database, 1)] == [
        (site(0).start, "found"),
        (site(1).start, "not finished"),
    ]


def test_records_are_nested_in_json_and_values_have_a_row_each(database: Database) -> None:
    filled(database)
    (record,) = lines(database, "records")
    source = {"url": "https://a.example/", "start": 3, "end": 9, "page": 0}
    assert record["fields"]["name"][0] == {"text": "Ann", "confidence": 0.5, "source": source}
    rows = list(csv.DictReader(io.StringIO(exported(database, "values", "csv").decode())))
    assert [(row["field"], row["text"], row["start"]) for row in rows] == [
        ("name", "Ann", "3"),
        ("name", "'-Anna", ""),
    ]


def test_one_run_can_be_exported_alone(database: Database) -> None:
    filled(database)
    store = ForageStore(database)
    other = store.open_run({"strategy": "random"}, RunLimits(), [site(7)], now=0.0)
    assert [row["site"] for row in lines(database, "sites", other.id)] == [site(7).start]
    assert lines(database, "visits", other.id) == []
    assert len(lines(database, "sites")) == 3


def test_every_table_is_the_same_in_every_format(database: Database) -> None:
    filled(database)
    for table in ("sites", "visits", "pages"):
        as_json = lines(database, table)
        as_parquet = parquet.read_table(io.BytesIO(exported(database, table, "parquet"))).to_pylist()
        as_csv = list(csv.DictReader(io.StringIO(exported(database, table, "csv").decode(), newline="")))
        for row in as_parquet:
            if "at" in row:
                row["at"] = row["at"].isoformat(timespec="milliseconds").replace("+00:00", "Z")
        assert as_parquet == as_json
        assert [as_text(row) for row in as_json] == as_csv
        heading, *cells = sheet(exported(database, table, "xlsx"))
        assert [dict(zip(heading, row, strict=True)) for row in cells] == [in_cells(row) for row in as_json]


def sheet(book: bytes) -> list[list[str]]:
    """The cells of the only sheet of a workbook, row by row."""
    with zipfile.ZipFile(io.BytesIO(book)) as parts:
        rows = ET.fromstring(parts.read("xl/worksheets/sheet1.xml")).findall(".//{*}row")
    return [["".join(cell.itertext()) for cell in row] for row in rows]


def in_cells(row: dict[str, Any]) -> dict[str, str]:
    def cell(value: Any) -> str:
        if isinstance(value, bool):
            return str(int(value))
        if value is None or isinstance(value, str):
            return value or ""
        return json.dumps(value, ensure_ascii=False)

    return {name: cell(value) for name, value in row.items()}


def as_text(row: dict[str, Any]) -> dict[str, str]:
    def text(value: Any) -> str:
        if isinstance(value, str):
            return f"'{value}" if value.startswith("=") else value
        return "" if value is None else json.dumps(value)

    return {name: text(value) for name, value in row.items()}


@pytest.mark.parametrize("value", ["=1+1", "+1", "-1", "@sum", "\t=1", "\r=1", "\n=1"])
def test_what_a_spreadsheet_would_take_for_a_formula_stays_text(database: Database, value: str) -> None:
    RecordStore(database).save([Record("person", "1", {"name": (Value(value),)})])
    (row,) = csv.DictReader(io.StringIO(exported(database, "records", "csv").decode(), newline=""))
    assert row["name"] == f"'{value}"


def test_numbers_below_zero_stay_numbers_in_csv(database: Database) -> None:
    store = ForageStore(database)
    job = lease(store, begin(store, sites=1))
    store.save_visit(job, visit_of(job, 0, score=-1.5))
    (row,) = csv.DictReader(io.StringIO(exported(database, "visits", "csv").decode()))
    assert row["score"] == "-1.5"


@pytest.mark.parametrize("file_format", FORMATS)
def test_an_empty_store_exports_an_empty_table(database: Database, file_format: str) -> None:
    for table in TABLES:
        assert export(database, table, file_format, io.BytesIO()) == 0


def test_a_file_appears_whole_and_replaces_what_was_there(database: Database, tmp_path: Path) -> None:
    filled(database)
    out = tmp_path / "sites.jsonl"
    out.write_text("old")
    assert export(database, "sites", "jsonl", out) == 2
    assert len(out.read_text().splitlines()) == 2
    assert not list(tmp_path.glob(".*"))


def test_an_export_that_fails_leaves_the_old_file_and_no_draft(database: Database, tmp_path: Path) -> None:
    out = tmp_path / "records.jsonl"
    out.write_text("old")
    RecordStore(database).save([Record("person", "1")])
    database.execute("UPDATE record SET fields = 'not json'")
    with pytest.raises(json.JSONDecodeError):
        export(database, "records", "jsonl", out)
    assert out.read_text() == "old"
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("file_format", FORMATS)
def test_an_export_that_fails_leaves_a_stream_to_its_owner(file_format: str) -> None:
    def rows() -> Iterator[tuple[Any, ...]]:
        yield ("one",)
        raise WorkspaceError("the disk")

    stream = io.BytesIO()
    with pytest.raises(WorkspaceError):
        write_rows({"name": "text"}, rows(), file_format, stream)
    gc.collect()
    assert not stream.closed


def test_a_pipe_is_written_to_and_not_replaced(database: Database, tmp_path: Path) -> None:
    filled(database)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        export(database, "sites", "jsonl", pipe)
        assert reader.communicate()[0].count(b"\n") == 2
    assert pipe.is_fifo()


def test_a_place_that_cannot_be_written_is_named(database: Database, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="cannot be written: No such file"):
        export(database, "sites", "csv", tmp_path / "gone" / "sites.csv")


@pytest.mark.parametrize(("table", "file_format"), [("people", "csv"), ("sites", "ods")])
def test_an_unknown_table_or_format_is_a_clear_error(
    database: Database, table: str, file_format: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="choose one of"):
        export(database, table, file_format, tmp_path / "out")


WITHOUT_PYARROW = """
import io, sys
sys.modules["pyarrow"] = None  # as where the extra is not installed
from wayhound.store.database import Database
from wayhound.store.sqlite import SqliteDatabase
from wayhound.store.export import export
export(SqliteDatabase(None), "sites", "parquet", io.BytesIO())
"""


def test_parquet_without_its_extra_says_what_to_install() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", WITHOUT_PYARROW], capture_output=True, text=True, check=False
    )
    assert "MissingExtra: Parquet needs pyarrow, which is not installed." in ended.stderr
    assert "pip install '.[parquet]'" in ended.stderr


def test_a_long_export_needs_no_more_memory_than_a_short_one(database: Database, tmp_path: Path) -> None:
    RecordStore(database).save(
        Record("person", str(number), {"name": (Value("x" * 1_000),)}) for number in range(5_000)
    )
    tracemalloc.start()
    try:
        export(database, "records", "csv", tmp_path / "records.csv")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000

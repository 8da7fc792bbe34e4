from __future__ import annotations

from dataclasses import replace

from tests.store.samples import lease
from wayhound.site import Site
from wayhound.store.database import Database
from wayhound.store.document_files import DocumentFileStore, DocumentSource, StoredFile
from wayhound.store.forage import ForageStore
from wayhound.store.protocol import RunLimits
from wayhound.visit import ArchiveRef, Visit

PLACE = ArchiveRef("a.warc.gz", 10, 20)
FILE = StoredFile("ab12", "hops.pdf", "paper", "It is one.", "pdf", 9, 1_000, PLACE, "shipped", 5.0)
START = "http://a.example/"


def forage(database: Database) -> None:
    """A site with a list of papers, three of which were fetched as files, one that asks not to be indexed."""
    store = ForageStore(database)
    run = store.open_run({"strategy": "x"}, RunLimits(), [Site(START)], 0.0)
    job = lease(store, run, "h:1:0", 0.0)
    page = Visit(START, 0, START, "ok", 1.0, status=200, content_type="text/html", archived=PLACE)
    papers = replace(page, number=1, url=f"{START}papers", parent=0, link_text="Our  papers", link_kind="a")
    pdf = replace(
        papers, number=2, url=f"{START}1", parent=1, link_text="PDF", content_type="application/pdf"
    )
    named = replace(
        pdf, number=3, url=f"{START}2.PS.gz", link_text="", content_type="application/octet-stream"
    )
    gone = replace(pdf, number=4, url=f"{START}3.pdf", status=404, outcome="http_404")
    private = replace(pdf, number=5, url=f"{START}4.pdf", robots="noindex")
    for visit in (page, papers, pdf, named, gone, private):
        store.save_visit(job, visit)


def test_a_file_and_where_it_was_found_survive_the_store(database: Database) -> None:
    store, source = (
        DocumentFileStore(database),
        DocumentSource("http://a.example/1", 3, 7, START, ("Papers", "PDF")),
    )
    store.put(FILE)
    store.add_source("ab12", source)
    store.add_source("ab12", source)
    store.add_source("ab12", DocumentSource("file:///hops.pdf"))
    assert store.get("ab12") == FILE
    assert store.get("ab") is None
    assert store.sources("ab12") == [source, DocumentSource("file:///hops.pdf")]
    assert list(store.iterate()) == [FILE]
    assert store.outcomes() == {"paper": 1}


def test_a_file_read_again_keeps_its_sources(database: Database) -> None:
    store = DocumentFileStore(database)
    store.put(FILE)
    store.add_source("ab12", DocumentSource("file:///hops.pdf"))
    store.put(replace(FILE, outcome="broken"))
    assert store.outcomes() == {"broken": 1}
    assert len(store.sources("ab12")) == 1


def test_every_change_is_counted(database: Database) -> None:
    store = DocumentFileStore(database)
    seen = [store.last_change()]
    store.put(FILE)
    seen.append(store.last_change())
    store.put(replace(FILE, id="cd34"))
    seen.append(store.last_change())
    store.touch("ab12")
    seen.append(store.last_change())
    assert seen == [0, 1, 2, 3]


def test_ids_are_found_by_their_beginning_and_by_that_alone(database: Database) -> None:
    store = DocumentFileStore(database)
    for name in ("ab12", "ab34", "cd56"):
        store.put(replace(FILE, id=name))
    assert store.ids_with_prefix("ab") == ["ab12", "ab34"]
    assert store.ids_with_prefix("cd56") == ["cd56"]
    assert store.ids_with_prefix("%") == store.ids_with_prefix("b12") == []


def test_files_that_a_forage_fetched_are_found_with_the_way_to_them(database: Database) -> None:
    forage(database)
    store = DocumentFileStore(database)
    first, second = store.found_by_forage()
    assert (first.source.url, first.source.visit, first.source.site) == (f"{START}1", 2, START)
    assert first.source.path == ("Our papers", "PDF")
    assert second.source.path == ("Our papers", "")
    assert first.archived == PLACE
    assert list(store.found_by_forage(run_id=99)) == []
    store.put(FILE)
    store.add_source("ab12", first.source)
    assert [found.source.visit for found in store.found_by_forage()] == [3]


def test_files_that_ask_not_to_be_indexed_are_counted(database: Database) -> None:
    forage(database)
    store = DocumentFileStore(database)
    assert (store.count_noindex(), store.count_noindex(1), store.count_noindex(99)) == (1, 1, 0)

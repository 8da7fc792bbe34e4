"""Papers are added, listed, looked at, corrected and learned from in the studio without JavaScript."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pytest

from tests.app.papers.made import write_papers, write_unreadable
from tests.servers import Answer, serve
from tests.studio.conftest import Visitor
from wayhound.app.papers.library import PaperLibrary
from wayhound.config import FILE_NAME
from wayhound.workspace import Workspace


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    write_papers(tmp_path / "texts")
    return tmp_path / "texts"


def add(visitor: Visitor, *paths: Path) -> str:
    visitor.send("/papers", "/papers", action="files", paths="\n".join(map(str, paths)))
    return visitor.wait_for_job("/papers")


def paper_of(page: str, title: str) -> str:
    """The address of a paper in a list."""
    found = re.search(rf'href="(/papers/[0-9a-f]+)">{title}', page)
    assert found is not None, page
    return found[1]


def test_files_and_folders_of_this_machine_are_read_in_the_background(
    visitor: Visitor, texts: Path, tmp_path: Path
) -> None:
    assert "There are" not in visitor.get("/papers")
    write_unreadable(tmp_path / "bad")
    page = add(visitor, texts, tmp_path / "bad" / "broken.pdf")
    assert "4 files: 4 added; 3 papers, 1 broken." in page
    assert "Papers <span" in page
    assert page.index("Hops to the distant goal") < page.index("Growing trees of many topics")  # cited twice
    assert "broken.pdf: broken." in page
    assert "1 file that is not a paper, or could not be read" in page
    assert "4 files: 4 known before" in add(visitor, texts, tmp_path / "bad" / "broken.pdf")


def test_the_list_is_ordered_and_searched(visitor: Visitor, texts: Path) -> None:
    add(visitor, texts)
    page = visitor.get("/papers?order=title")
    assert page.index("Growing trees") < page.index("Hops to") < page.index("Where do rivers")
    page = visitor.get("/papers?q=stone+TREES")
    assert "1 paper with “stone TREES”" in page
    assert "Hops to the distant goal" not in page
    assert "0 papers with" in visitor.get("/papers?q=nothing&order=bogus")


def test_a_paper_is_shown_with_its_fields_references_and_citations(visitor: Visitor, texts: Path) -> None:
    page = visitor.get(paper_of(add(visitor, texts), "Hops to the distant goal"))
    assert "Anna Lind" in page
    assert "Annals of Water" in page
    assert "step 2 of the method is sound" in page
    assert "Cited by" in page
    trees = visitor.get(paper_of(page, "Growing trees of many topics"))
    assert "Bo Wood" in trees
    file = visitor.client.get(f"{paper_of(page, 'Growing trees')}/file")
    assert "Growing trees of many topics" in file.text
    assert file.headers["content-disposition"].startswith("attachment")
    assert file.headers["content-security-policy"].startswith("sandbox")
    assert "There is no paper" in visitor.get("/papers/none", status=400)


def test_a_field_is_corrected_and_the_correction_undone(
    visitor: Visitor, texts: Path, workspace: Workspace
) -> None:
    address = paper_of(add(visitor, texts), "Where do rivers begin")
    page = visitor.get(f"{address}?field=author")
    assert ">Eva Brook</textarea>" in page
    notice = visitor.send(address, f"{address}/correct", field="author", values="Eva Brook\r\nFinn Lake\r\n")
    assert "Corrected: author." in notice
    assert "Finn Lake" in visitor.get("/papers")
    record = PaperLibrary(workspace).find(address.rpartition("/")[2])
    assert [value.text for value in record.fields["author"]] == ["Eva Brook", "Finn Lake"]
    notice = html.unescape(visitor.send(address, "/papers/undo", paper=record.id))
    assert "Undone: the correction of author" in notice
    assert "Finn Lake" not in visitor.get("/papers")
    assert "nothing to undo" in visitor.send(address, "/papers/undo", paper=record.id)
    assert "author2" in visitor.send(address, f"{address}/correct", status=400, field="author2", values="x")


def test_a_file_that_is_taken_for_a_paper_can_be_counted_as_a_document(visitor: Visitor, texts: Path) -> None:
    address = paper_of(add(visitor, texts), "Where do rivers begin")
    notice = visitor.send(address, f"{address}/correct", field="kind", values="document")
    assert "counts as a document from now on" in notice
    assert "Where do rivers" not in visitor.get("/papers").split("<details>")[0]


def test_corrections_are_learned_and_files_read_again(visitor: Visitor, texts: Path) -> None:
    page = add(visitor, texts)
    assert re.search(r'value="train" disabled', page)
    address = paper_of(page, "Where do rivers begin")
    visitor.send(address, f"{address}/correct", field="author", values="Eva Brook")
    visitor.send("/papers", "/papers", action="train")
    assert "Learned from" in visitor.wait_for_job("/papers")
    visitor.send("/papers", "/papers", action="read")
    assert "3 files: 3 read again; 3 papers." in visitor.wait_for_job("/papers")


def test_files_that_a_forage_fetched_are_read(visitor: Visitor, folder: Path, texts: Path) -> None:
    (folder / FILE_NAME).write_text("[fetch]\nallow_private = true\ndelay_seconds = 0.0\n")
    body = (texts / "hops.txt").read_bytes()
    pages: dict[str, str | Answer] = {
        "/": "<title>Home</title><a href='/papers'>Papers</a>",
        "/papers": "<title>Papers</title><a href='/hops.pdf'>Hops</a>",
        "/hops.pdf": Answer(body, headers=(("Content-Type", "application/pdf"),)),
    }
    with serve(pages) as server:
        order: dict[str, Any] = {
            "sites": f"{server}/",
            "words": "papers",
            "budget": 5,
            "delay": 0,
            "files": "yes",
        }
        visitor.send("/runs", "/runs", **order)
        visitor.wait_for_job("/runs")
    assert "1 file that runs have fetched is not read yet." in visitor.get("/papers")
    visitor.send("/papers", "/papers", action="forage")
    page = visitor.wait_for_job("/papers")
    assert "Hops to the distant goal" in page
    assert "Papers" in visitor.get(paper_of(page, "Hops"))  # the click that led to it
    assert "not read yet" not in page


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"action": "files", "paths": " "}, "Enter the path"),
        ({"action": "files", "paths": "/no/such/folder"}, "There is no file or folder /no/such/folder"),
        ({"action": "files", "paths": "archive"}, "There are no files to read"),
        ({"action": "dance"}, "no such action"),
    ],
)
def test_what_cannot_be_added_is_refused_in_words(
    visitor: Visitor, fields: dict[str, str], sentence: str
) -> None:
    assert sentence in visitor.send("/papers", "/papers", status=400, **fields)

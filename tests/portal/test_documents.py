"""Files that are no papers: placed, indexed, cited and counted as papers are, under their own kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs
from xml.etree.ElementTree import Element

import pytest

from tests.app.papers.made import add, write_papers
from tests.portal.served import Served, serve_portal
from tests.portal.test_machines import DC, OAI, found, oai
from tests.portal.test_pages import page
from wayhound.app.index import build, catch_up
from wayhound.app.topics import Topics
from wayhound.workspace import Workspace

TREE = "Walking: link, walk, trail\nWater: pump, water\n"
THESIS = """Trails of the northern forest

Dora Field

A dissertation submitted in partial fulfillment of the requirements for the degree of Doctor of Philosophy

University of Somewhere

June 2004

Abstract

Every trail of the forest was walked twice, and the time that a walk takes was written down.

1 Introduction

Trails are older than roads. Nobody has counted the steps of a trail in winter before.
"""
HANDBOOK = """The pump in the garden

Carl Stone

Fill the pump with water before the first use. The water must be clean, and the pump must be level.
"""


@pytest.fixture(scope="module")
def workspace_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    paths = write_papers(folder / "files")
    for name, text in (("thesis.txt", THESIS), ("handbook.txt", HANDBOOK)):
        (folder / "files" / name).write_text(text)
        paths.append(folder / "files" / name)
    with Workspace.create(folder / "workspace") as workspace:
        add(workspace, *paths)
        build(workspace)
        topics = Topics(workspace)
        topics.tree_file.write(TREE)
        topics.train()
        catch_up(workspace)  # placements alone make records change
    return folder / "workspace"


@pytest.fixture(scope="module")
def portal(workspace_folder: Path) -> Iterator[Served]:
    with serve_portal(workspace_folder) as served:
        yield served


@pytest.fixture(scope="module")
def thesis(workspace_folder: Path) -> str:
    with Workspace.open(workspace_folder) as workspace:
        records = workspace.stores.records.iterate("document")
        return next(record.id for record in records if "forest" in record.first("title"))


def test_a_document_comes_in_the_forms_that_others_read(portal: Served, thesis: str) -> None:
    url = f"/records/document/{thesis}"
    bib = portal.get(f"{url}.bib").text
    assert bib.startswith("@phdthesis{field2004trails")
    assert portal.get(f"{url}.ris").text.startswith("TY  - THES")
    assert portal.get(f"{url}.csl.json").json[0]["type"] == "thesis"
    assert portal.get(f"{url}.jsonld").json["@type"] == "Thesis"
    assert bib in portal.get("/search.bib?q=forest").text
    html = page(portal, url)
    assert "@phdthesis" in html.text()
    tags = [(tag.attributes["name"], tag.attributes["content"]) for tag in html.css("meta[name^=citation_]")]
    assert ("citation_title", "Trails of the northern forest") in tags
    assert ("citation_author", "Dora Field") in tags
    span = html.css_first("span.Z3988")
    assert span is not None
    coins = parse_qs(str(span.attributes["title"]))
    assert coins["rft_val_fmt"] == ["info:ofi/fmt:kev:mtx:dissertation"]
    assert coins["rft.title"] == ["Trails of the northern forest"]


def test_the_abstract_of_a_document_stands_where_that_of_a_paper_does(portal: Served, thesis: str) -> None:
    html = page(portal, f"/records/document/{thesis}")
    headings = [node.text(strip=True) for node in html.css("h2")]
    assert headings[0] == "Abstract"
    assert "Beginning" not in headings
    [hit] = portal.get("/search.json?q=forest&filter=type:document").json["hits"]
    snippet = "".join(part["text"] for part in hit["snippet"])
    assert snippet.startswith("Every trail of the forest")


def test_the_snippet_of_a_document_without_an_abstract_repeats_no_title(portal: Served) -> None:
    [hit] = portal.get("/search.json?q=pump&filter=type:document").json["hits"]
    snippet = "".join(part["text"] for part in hit["snippet"])
    assert snippet.startswith("Fill the pump")


def test_documents_stand_in_topics_and_are_counted_apart(portal: Served, thesis: str) -> None:
    topic = portal.get("/topics/walking.json").json
    assert thesis in [hit["id"] for hit in topic["hits"]]
    assert (topic["count"], topic["documents"]) == (4, 1)
    heading = page(portal, "/topics/walking").css_first("h1")
    assert heading is not None
    assert heading.text().split("Walking", 1)[1].strip() == "3 papers and 1 other document"
    assert len(portal.get("/topics.json").json["hits"]) == 5
    assert "Walking" in page(portal, f"/records/document/{thesis}").css("nav")[1].text()
    assert f"/records/document/{thesis}" in portal.get("/topics/walking.atom").text
    assert "@phdthesis" in portal.get("/topics/walking.bib").text


def test_documents_are_harvested_as_papers_are(portal: Served, thesis: str) -> None:
    sets = found(oai(portal, "verb=ListSets"), f".//{OAI}setSpec")
    assert {"paper:walking", "document:walking"} <= set(sets)
    listed = oai(portal, "verb=ListRecords&metadataPrefix=oai_dc&set=document:walking")
    assert found(listed, f".//{DC}creator") == ["Dora Field"]
    assert _descriptions(listed)[0].startswith("Every trail of the forest")
    assert "2004" in found(listed, f".//{DC}date")


def _descriptions(answer: Element) -> list[str]:
    return found(answer, f".//{DC}description")


def test_a_collection_of_documents_alone_has_topics_and_files_of_them(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text(THESIS)
    with Workspace.create(tmp_path / "workspace") as workspace:
        add(workspace, tmp_path / "thesis.txt")
        topics = Topics(workspace)
        topics.tree_file.write(TREE)
        topics.train()
        build(workspace)
    with serve_portal(tmp_path / "workspace") as portal:
        assert portal.get("/search.json?q=forest&filter=type:document").json["citation_urls"]
        assert portal.get("/index.json").json["topics"][0]["count"] == 1
        heading = page(portal, "/topics").css_first("h1")
        assert heading is not None
        assert heading.text().endswith("1 document")

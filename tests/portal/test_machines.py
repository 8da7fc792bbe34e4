"""Formats for programs: feeds, metadata, exports, harvesting, discovery."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit
from xml.etree.ElementTree import Element, fromstring

import pytest

from tests.portal.collection import PAPERS, paper_id, papers
from tests.portal.served import Served, serve_portal
from tests.portal.test_pages import PAPER, WORK, page
from wayhound.app.index import build
from wayhound.citations.citation import Citation
from wayhound.papers.bibliography import to_bibtex
from wayhound.portal.addresses import record_url
from wayhound.portal.discovery import sitemap_index
from wayhound.portal.oai import PAGE
from wayhound.record import Record, Value
from wayhound.store.papers import StoredCitation
from wayhound.workspace import Workspace

ATOM = "{http://www.w3.org/2005/Atom}"
OAI = "{http://www.openarchives.org/OAI/2.0/}"
DC = "{http://purl.org/dc/elements/1.1/}"
SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def tree(portal: Served, path: str) -> Element:
    got = portal.get(path)
    assert got.status == 200, got.text
    return fromstring(got.body)


def found(parent: Element, path: str) -> list[str]:
    return [element.text or "" for element in parent.iterfind(path)]


# Feeds


@pytest.mark.parametrize(
    "path", ["/search.atom?q=learning", "/topics/computer-science/machine-learning.atom"]
)
def test_a_feed_has_what_atom_asks_for(portal: Served, path: str) -> None:
    feed = tree(portal, path)
    assert feed.tag == f"{ATOM}feed"
    for name in ("id", "title", "updated"):
        assert found(feed, f"{ATOM}{name}")
    entries = feed.findall(f"{ATOM}entry")
    assert len(entries) == 6
    for entry in entries:
        for name in ("id", "title", "updated", "summary"):
            assert found(entry, f"{ATOM}{name}")[0]
    self_link = next(each for each in feed.iterfind(f"{ATOM}link") if each.get("rel") == "self")
    assert self_link.get("href") == portal.url + path


def test_pages_name_their_feeds(portal: Served) -> None:
    for path in ("/search?q=learning&filter=year:1998", "/topics/computer-science", "/"):
        link = page(portal, path).css_first('link[type="application/atom+xml"]')
        assert link is not None
        assert portal.get(str(link.attributes["href"])).status == 200


# Metadata


def test_a_paper_carries_tags_for_scholarly_search_and_reference_managers(portal: Served) -> None:
    html = page(portal, PAPER)
    tags = [
        (node.attributes["name"], node.attributes["content"]) for node in html.css("meta[name^=citation_]")
    ]
    assert ("citation_title", "A survey of crawling") in tags
    assert [value for name, value in tags if name == "citation_author"] == ["Eero Salmi", "Dana Petrov"]
    assert ("citation_publication_date", "2003") in tags
    assert ("citation_firstpage", "12") in tags
    assert ("citation_pdf_url", f"{portal.url}{PAPER}/archived") in tags
    span = html.css_first("span.Z3988")
    assert span is not None
    coins = parse_qs(str(span.attributes["title"]))
    assert coins["rft.atitle"] == ["A survey of crawling"]
    assert coins["rft.au"] == ["Eero Salmi", "Dana Petrov"]
    block = html.css_first('script[type="application/ld+json"]')
    assert block is not None
    told = json.loads(block.text())
    assert told["@type"] == "ScholarlyArticle"
    assert [author["name"] for author in told["author"]] == ["Eero Salmi", "Dana Petrov"]
    assert portal.get(f"{PAPER}.jsonld").json == told


def test_a_paper_comes_in_the_forms_that_others_read(portal: Served) -> None:
    record = list(papers())[4]
    bib = portal.get(f"{PAPER}.bib")
    assert bib.text == to_bibtex([record])
    assert bib.headers["content-type"] == "application/x-bibtex; charset=utf-8"
    assert portal.get(f"{PAPER}.ris").text.startswith("TY  - JOUR")
    assert portal.get(f"{PAPER}.csl.json").json[0]["title"] == "A survey of crawling"


def test_what_citing_papers_add_is_wherever_a_paper_is_shown_or_sent(own_collection: Path) -> None:
    key = paper_id(4)
    with Workspace.open(own_collection) as workspace:
        paper = workspace.stores.records.get("paper", key)
        assert paper is not None
        fields = {name: paper.fields[name] for name in ("title", "author")}
        workspace.stores.records.save([replace(paper, fields=fields)])
        said: dict[str, tuple[Value, ...]] = {
            "year": (Value("2003"),),
            "journal": (Value("Surveys of the Web"),),
        }
        citing = StoredCitation(paper_id(11), 1, 5, Citation(), fields=said)
        workspace.stores.papers.save_paper(paper_id(11), [citing])
        build(workspace)
        with serve_portal(own_collection) as portal:
            own = portal.get(f"/records/paper/{key}.bib").text
            listed = {end: portal.get(f"/search.{end}?q=survey").text for end in ("bib", "ris", "csl.json")}
            home = portal.get("/").text
            item = oai(portal, f"verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:127.0.0.1:paper/{key}")
    assert "year = {2003}" in own
    assert "@article" in own
    assert own.strip() in listed["bib"]
    assert "JO  - Surveys of the Web" in listed["ris"]
    assert json.loads(listed["csl.json"])[0]["issued"] == {"date-parts": [[2003]]}
    assert "Surveys of the Web" in home
    assert "2003" in found(item, f".//{DC}date")


def test_works_that_are_only_cited_are_in_the_file_of_a_search(portal: Served) -> None:
    bib = portal.get("/search.bib?q=nobody+holds").text
    assert bib == portal.get(f"{WORK}.bib").text


def test_a_search_without_results_offers_no_files_of_them(portal: Served) -> None:
    assert "/search.bib" in portal.get("/search?q=learning").text
    assert "/search.bib" not in portal.get("/search?q=zzzxqy").text
    assert portal.get("/search.json?q=zzzxqy").json["citation_urls"] == {}


# Exports


def test_an_export_is_every_record_once_one_a_line(portal: Served) -> None:
    lines = [json.loads(line) for line in portal.get("/export/paper.jsonl").text.splitlines()]
    assert [line["id"] for line in lines] == sorted(paper_id(number) for number in range(len(PAPERS)))
    first = portal.get("/export/paper.jsonl?fields=year").text.splitlines()[0]
    assert list(json.loads(first)["fields"]) == ["year"]


def test_records_are_paged_through_by_cursor(portal: Served) -> None:
    seen, cursor = list[str](), ""
    while True:
        part = portal.get(f"/records/paper.json?limit=5&cursor={cursor}").json
        seen += [record["id"] for record in part["records"]]
        if not (cursor := part["cursor"]):
            break
    assert seen == sorted(paper_id(number) for number in range(len(PAPERS)))
    assert portal.get("/records/paper.json?cursor=nonsense").status == 400
    assert portal.get("/records/nothing.json").status == 404


# Discovery


def test_a_browser_can_add_the_search(portal: Served) -> None:
    described = tree(portal, "/opensearch.xml")
    space = "{http://a9.com/-/spec/opensearch/1.1/}"
    urls = [each.get("template", "") for each in described.iterfind(f"{space}Url")]
    for url in urls:
        assert portal.get(url.removeprefix(portal.url).replace("{searchTerms}", "learning")).status == 200
    assert page(portal, "/").css_first('link[rel="search"]') is not None


def test_the_sitemap_names_every_record_and_topic(portal: Served) -> None:
    (part,) = found(tree(portal, "/sitemap.xml"), f"{SITEMAP}sitemap/{SITEMAP}loc")
    urls = found(tree(portal, urlsplit(part).path), f"{SITEMAP}url/{SITEMAP}loc")
    assert len(urls) == len(set(urls)) == 2 + 8 + len(PAPERS) + 2
    for url in urls:
        assert portal.get(url.removeprefix(portal.url)).status == 200
    assert f"Sitemap: {portal.url}/sitemap.xml" in portal.get("/robots.txt").text


def test_a_part_of_the_sitemap_is_read_from_its_place_on(portal: Served, collection: Path) -> None:
    with Workspace.open(collection) as workspace:
        catalogue = workspace.stores.catalogue
        places = catalogue.cursors(2)
        stamps = catalogue.changed_after(places[2], 1e12, 100)
    (whole, _, second, *_) = found(fromstring(sitemap_index("", places)), f"{SITEMAP}sitemap/{SITEMAP}loc")
    urls = found(tree(portal, second), f"{SITEMAP}url/{SITEMAP}loc")
    assert urls == [portal.url + record_url(stamp.kind, stamp.id) for stamp in stamps]
    assert portal.get(whole).status == 200
    assert portal.get("/sitemap-part.xml?changed=99999999999").status == 404


def test_the_description_for_programs_names_every_route(portal: Served) -> None:
    paths = portal.get("/openapi.json").json["paths"]
    for path in ("/search.json", "/records/{kind}/{key}.json", "/topics/{slug}.json", "/oai", "/submit"):
        assert path in paths


# Harvesting


def oai(portal: Served, arguments: str) -> Element:
    return tree(portal, f"/oai?{arguments}")


def error(answer: Element) -> str:
    told = answer.find(f"{OAI}error")
    return "" if told is None else str(told.get("code"))


def test_the_repository_says_who_it_is(portal: Served) -> None:
    told = oai(portal, "verb=Identify").find(f"{OAI}Identify")
    assert told is not None
    assert found(told, f"{OAI}baseURL") == [f"{portal.url}/oai"]
    assert found(told, f"{OAI}deletedRecord") == ["persistent"]
    assert found(told, f"{OAI}granularity") == ["YYYY-MM-DDThh:mm:ssZ"]


def test_sets_are_kinds_and_topics(portal: Served) -> None:
    sets = found(oai(portal, "verb=ListSets"), f".//{OAI}setSpec")
    assert {"paper", "contact", "paper:computer-science:machine-learning"} <= set(sets)
    listed = oai(
        portal, "verb=ListIdentifiers&metadataPrefix=oai_dc&set=paper:computer-science:machine-learning"
    )
    assert len(found(listed, f".//{OAI}identifier")) == 6


def test_records_come_as_dublin_core(portal: Served) -> None:
    listed = oai(portal, "verb=ListRecords&metadataPrefix=oai_dc")
    assert len(listed.findall(f".//{OAI}record")) == len(PAPERS) + 2
    one = oai(portal, f"verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:127.0.0.1:paper/{paper_id(4)}")
    assert found(one, f".//{DC}title") == ["A survey of crawling"]
    assert found(one, f".//{DC}creator") == ["Eero Salmi", "Dana Petrov"]
    assert f"{portal.url}{PAPER}" in found(one, f".//{DC}identifier")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("", "badVerb"),
        ("verb=Nonsense", "badVerb"),
        ("verb=Identify&verb=Identify", "badVerb"),
        ("verb=Identify&more=1", "badArgument"),
        ("verb=ListRecords", "badArgument"),
        ("verb=ListRecords&metadataPrefix=oai_dc&metadataPrefix=oai_dc", "badArgument"),
        ("verb=ListRecords&metadataPrefix=marc", "cannotDisseminateFormat"),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=yesterday", "badArgument"),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=2004-99-99", "badArgument"),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=2004-01-01&until=2003-01-01", "badArgument"),
        ("verb=ListRecords&metadataPrefix=oai_dc&from=2004-01-01&until=2004-01-01T00:00:00Z", "badArgument"),
        ("verb=ListRecords&metadataPrefix=oai_dc&until=1999-01-01", "noRecordsMatch"),
        ("verb=ListRecords&metadataPrefix=oai_dc&set=nothing", "noRecordsMatch"),
        ("verb=ListRecords&resumptionToken=nonsense", "badResumptionToken"),
        ("verb=ListRecords&resumptionToken=eyJwbGFjZSI6IDF9", "badResumptionToken"),
        ("verb=ListSets&resumptionToken=x", "badResumptionToken"),
        ("verb=GetRecord&metadataPrefix=oai_dc&identifier=oai:127.0.0.1:paper/none", "idDoesNotExist"),
        ("verb=GetRecord&metadataPrefix=oai_dc&identifier=nonsense", "idDoesNotExist"),
        ("verb=GetRecord&identifier=oai:127.0.0.1:paper/none", "badArgument"),
        ("verb=ListMetadataFormats&identifier=oai:x:paper/none", "idDoesNotExist"),
        ("verb=%00%ff", "badVerb"),
    ],
)
def test_mistakes_are_told_by_the_codes_of_the_protocol(portal: Served, arguments: str, code: str) -> None:
    assert error(oai(portal, arguments)) == code


def test_a_long_list_goes_on_by_tokens_and_deleted_records_are_told(tmp_path: Path) -> None:
    n_records = 2 * PAGE + 7
    with Workspace.create(tmp_path / "many") as workspace:
        workspace.stores.records.save(
            Record("note", f"n{n:04}", {"name": (Value(f"Note {n}"),)}) for n in range(n_records)
        )
        workspace.stores.records.delete("note", "n0003")
    with serve_portal(tmp_path / "many") as portal:
        identifiers, deleted, parts, arguments = list[str](), list[Element](), 0, "metadataPrefix=oai_dc"
        while arguments:
            part = oai(portal, f"verb=ListIdentifiers&{arguments}")
            identifiers += found(part, f".//{OAI}identifier")
            deleted += [each for each in part.iterfind(f".//{OAI}header") if each.get("status") == "deleted"]
            token = found(part, f".//{OAI}resumptionToken")
            arguments = f"resumptionToken={quote(token[0])}" if token and token[0] else ""
            parts += 1
        assert token == [""]  # the last part of a list that came in parts says so
        assert parts == 3
        assert len(identifiers) == len(set(identifiers)) == n_records
        assert [found(each, f"{OAI}identifier") for each in deleted] == [["oai:127.0.0.1:note/n0003"]]


def test_the_same_can_be_asked_by_a_form(portal: Served) -> None:
    got = portal.post("/oai", {"verb": "ListMetadataFormats"})
    assert found(fromstring(got.body), f".//{OAI}metadataPrefix") == ["oai_dc"]


def test_absolute_addresses_are_those_that_the_operator_named(collection: Path) -> None:
    from tests.portal.served import NO_LIMIT
    from wayhound.portal.portal import PortalSettings

    with serve_portal(
        collection, PortalSettings(public_url="https://papers.example.org/"), NO_LIMIT
    ) as portal:
        assert "Sitemap: https://papers.example.org/sitemap.xml" in portal.get("/robots.txt").text
        assert 'href="https://papers.example.org/records/paper/' in portal.get(PAPER).text

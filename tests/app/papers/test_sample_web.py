"""The sample web, foraged, its papers added, and the records compared with the truth."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from click.testing import CliRunner

from wayhound.app.forage import open_run
from wayhound.app.forage_worker import run_worker
from wayhound.app.order import Order
from wayhound.app.papers.adding import content_id, fetched_files
from wayhound.app.papers.library import PaperLibrary
from wayhound.app.papers.overview import overview
from wayhound.cli.papers import papers
from wayhound.samples import SampleWeb, sample_web, serve_samples
from wayhound.samples.builder import TruePublication
from wayhound.site import Site
from wayhound.store.protocol import RunLimits
from wayhound.url import normalise
from wayhound.workspace import Workspace

HIGH_SHARE = 0.97


@dataclass(frozen=True)
class Foraged:
    library: PaperLibrary
    said: str
    exit_code: int
    true: dict[str, TruePublication]  # by id
    links: set[tuple[str, str]]  # who cites whom


@pytest.fixture(scope="module")
def foraged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Foraged]:
    folder, web = tmp_path_factory.mktemp("sample") / "w", sample_web()
    with Workspace.create(folder) as workspace:
        forage(workspace, web)
        command = ["add", "--from-forage", "--workers", "2", "-w", str(folder)]
        result = CliRunner().invoke(papers, command, catch_exceptions=False)
        yield Foraged(PaperLibrary(workspace), result.stderr, result.exit_code, *truth(web))


def forage(workspace: Workspace, web: SampleWeb) -> None:
    with serve_samples(web) as server:
        sites = [Site(normalise(seed)) for seed in server.seeds("department")]
        fetch = replace(workspace.config.fetch, allow_private=True, delay_seconds=0.0)
        run = open_run(workspace, Order(), RunLimits(2_000), sites, time.time())
        config = replace(workspace.config, fetch=fetch)
        asyncio.run(run_worker(workspace, run, config, on_start=lambda _: None, on_visit=lambda _: None))


def truth(web: SampleWeb) -> tuple[dict[str, TruePublication], set[tuple[str, str]]]:
    true: dict[str, TruePublication] = {}
    links: set[tuple[str, str]] = set()
    for site in web.sites:
        held = {
            cited(each): content_id(site.respond(each.pdf).body)
            for each in site.truth.publications
            if each.pdf
        }
        for each in site.truth.publications:
            if each.pdf:
                true[held[cited(each)]] = each
                links |= {(held[cited(each)], held[entry]) for entry in each.references if entry in held}
    return true, links


def cited(paper: TruePublication) -> str:
    """Return a reference as the sample web prints it."""
    return f"{', '.join(paper.authors)}. {paper.title}. {paper.venue}, {paper.year}."


def plain(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


def test_every_paper_is_taken_up(foraged: Foraged) -> None:
    assert foraged.exit_code == 0
    assert "160 files: 160 added; 160 papers." in foraged.said
    assert {record.id for record in foraged.library.workspace.stores.records.iterate("paper")} == set(
        foraged.true
    )


def test_titles_authors_and_abstracts_are_those_of_the_papers(foraged: Foraged) -> None:
    right = {"title": 0, "author": 0, "abstract": 0}
    for paper_id, true in foraged.true.items():
        record = foraged.library.find(paper_id)
        authors = [plain(value.text) for value in record.fields.get("author", ())]
        right["title"] += plain(record.first("title")) == plain(true.title)
        right["author"] += authors == [plain(name) for name in true.authors]
        right["abstract"] += plain(record.first("abstract")) == plain(true.abstract)
    assert min(right.values()) >= HIGH_SHARE * len(foraged.true), right


def test_references_are_cut_where_they_end(foraged: Foraged) -> None:
    right = 0
    for paper_id, true in foraged.true.items():
        found = [each.citation.text for each in foraged.library.papers.citations(paper_id) if each.number]
        right += [plain(text) for text in found] == [plain(text) for text in true.references]
    assert right >= HIGH_SHARE * len(foraged.true)


def test_the_citation_graph_is_that_of_the_papers(foraged: Foraged) -> None:
    found = set(foraged.library.papers.links())
    right = len(found & foraged.links)
    assert right >= HIGH_SHARE * len(foraged.links)
    assert right >= HIGH_SHARE * len(found)


def test_papers_know_the_site_and_the_clicks_that_led_to_them(foraged: Foraged) -> None:
    library = foraged.library
    for paper_id in list(foraged.true)[:20]:
        record = library.find(paper_id)
        (source, *_) = library.files.sources(paper_id)
        assert record.site == source.site
        assert record.visit == source.visit
        assert record.first("url") == source.url
        visits = list(library.workspace.stores.forage.visits(source.site_id))
        assert visits[source.visit or 0].url == source.url
        assert source.path, "nobody gets to a paper without a click"
        assert source.path[-1] == " ".join(visits[source.visit or 0].link_text.split())


def test_the_bytes_are_those_that_the_forage_fetched(foraged: Foraged) -> None:
    for paper_id in list(foraged.true)[:5]:
        assert content_id(foraged.library.body(paper_id)) == paper_id
    names = [path.name for path in foraged.library.workspace.archive_folder.iterdir()]
    assert not any("papers" in name for name in names), "nothing was stored twice"


def test_every_value_that_was_read_says_where(foraged: Foraged) -> None:
    for paper_id in list(foraged.true)[:20]:
        record = foraged.library.find(paper_id)
        for name in ("title", "author", "abstract", "email"):
            for value in record.fields[name]:
                assert value.source is not None
                assert value.source.url == record.first("url")
                assert value.source.page == 1
                assert value.source.box is not None
                assert value.source.end > value.source.start


def test_a_paper_is_shown_with_those_that_cite_it_and_their_words(foraged: Foraged) -> None:
    library = foraged.library
    most = max(library.papers.times_cited().items(), key=lambda entry: entry[1])[0]
    shown = overview(library, most)
    assert {citing.paper.paper for citing in shown.cited_by} == {
        citing for citing, cited in library.papers.links() if cited == most
    }
    assert any(citing.contexts for citing in shown.cited_by)
    assert shown.n_cited_by == len(shown.cited_by)
    assert all(reference.citation.group for reference in shown.references)
    assert {reference.held for reference in shown.references if reference.held} <= shown.titles.keys()


def test_what_was_taken_up_is_not_offered_again(foraged: Foraged) -> None:
    assert fetched_files(foraged.library, None) == []

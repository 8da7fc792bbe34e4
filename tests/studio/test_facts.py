"""Facts can be looked at, downloaded and corrected in the studio without JavaScript."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers import Page, Served, serve
from tests.studio.conftest import Visitor
from wayhound.config import FILE_NAME
from wayhound.entities.graph import Claim, Description
from wayhound.workspace import Workspace

KEY = "http://acme.example/"


@pytest.fixture
def facts(workspace: Workspace) -> Workspace:
    claims = (
        Claim("name", "Acme <b>", 0.9, f"{KEY}contact"),
        Claim("email", "info@acme.example", 0.9, f"{KEY}contact"),
        Claim("phone", "+15124713434", 0.9, f"{KEY}contact"),
    )
    workspace.stores.facts.save("organisation", Description(KEY, claims, "acme.example"), KEY, 1, "state")
    return workspace


def test_the_table_shows_values_with_their_pages_and_what_is_missing(
    facts: Workspace, visitor: Visitor
) -> None:
    shown = visitor.get("/facts")
    assert "info@acme.example" in shown
    assert "found, but no address" in shown
    assert f"{KEY}contact" in shown
    assert "Acme <b>" not in shown  # what a page says is never markup of ours


def test_a_correction_is_kept_and_shown(facts: Workspace, visitor: Visitor) -> None:
    said, before = "+1 512 1; +1 512 2", "+15124713434"
    shown = visitor.send(
        "/facts", "/facts/correct", field_phone=said, before_phone=before, kind="contact", key=KEY
    )
    assert "Corrected: phone." in shown
    assert "+1 512 1; +1 512 2" in shown
    assert facts.stores.facts.corrections("organisation") == {KEY: {"phone": ("+1 512 1", "+1 512 2")}}


def test_facts_can_be_downloaded(facts: Workspace, visitor: Visitor) -> None:
    assert "info@acme.example" in visitor.get("/facts.csv")


def test_without_facts_the_page_says_how_to_get_them(visitor: Visitor) -> None:
    assert "Start a run" in visitor.get("/facts?kind=restaurant")


def test_rows_are_merged_and_split_for_good(facts: Workspace, visitor: Visitor) -> None:
    other = "http://acme.test/"
    claims = (Claim("name", "Other", 0.9, other), Claim("email", "a@other.example", 0.9, other))
    facts.stores.facts.save("organisation", Description(other, claims, "acme.test"), other, 1, "state")
    shown = visitor.send("/facts", "/facts/same", kind="contact", key=KEY, other=other, do="merge")
    assert "Merged" in shown
    assert "One with 1 more" in shown
    assert other in shown
    shown = visitor.send("/facts", "/facts/same", kind="contact", key=KEY, do="split")
    assert "One with" not in shown
    assert facts.stores.facts.pairs("organisation") == [(KEY, other, False)]


def test_what_cannot_be_merged_or_marked_is_explained(facts: Workspace, visitor: Visitor) -> None:
    refused = visitor.send("/facts", "/facts/same", 400, kind="contact", key=KEY, other="nobody", do="merge")
    assert "There are no facts of nobody" in refused
    assert "is not archived" in visitor.get(f"/facts/page?site={KEY}&url={KEY}contact", 400)


PAGES: dict[str, Page] = {
    "/": "<title>Acme</title><a href=/news>News</a><a href=/contact>Contact</a>",
    "/news": "<title>News</title>",
    "/contact": "<title>Contact</title><p>Acme<br>12 Main Street<br>Austin, TX 78701</p>"
    "<p>Phone: (512) 471-3434</p><p>info@acme.com</p>",
}


@pytest.fixture
def server(workspace: Workspace) -> Iterator[Served]:
    (workspace.folder / FILE_NAME).write_text("[fetch]\nallow_private = true\n")
    with serve(PAGES) as served:
        yield served


def test_a_run_that_looks_for_facts_ends_with_them_in_the_table(
    workspace: Workspace, visitor: Visitor, server: Served
) -> None:
    page = visitor.send("/runs", "/runs", sites=f"{server}/", model="facts:contact", budget=10, delay=0)
    assert "for facts: contact" in page
    visitor.wait_for_job("/runs")
    job = workspace.stores.jobs.last("forage")
    assert job is not None
    assert job.sentence.startswith("Run 1: 1 goal on 2 pages of 1 site. Read 2 pages")
    assert "info@acme.com" in visitor.get("/facts")
    assert 'value="facts:contact" selected' in visitor.get("/runs?like=1")
    assert "1 organisation." in visitor.get("/")


def test_facts_are_read_from_the_pages_of_earlier_runs(visitor: Visitor, server: Served) -> None:
    visitor.send("/runs", "/runs", sites=f"{server}/", words="contact", budget=10, delay=0)
    visitor.wait_for_job("/runs")
    assert "There are no facts of this kind yet" in visitor.get("/facts")
    visitor.send("/facts", "/facts/extract", kind="contact")
    assert "info@acme.com" in visitor.wait_for_job("/facts")

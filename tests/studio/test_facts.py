"""Facts can be looked at, downloaded and corrected in the studio without JavaScript."""

from __future__ import annotations

import pytest

from tests.studio.conftest import Visitor
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
    assert "wayhound extract" in visitor.get("/facts?kind=restaurant")


def test_rows_are_merged_and_split_for_good(facts: Workspace, visitor: Visitor) -> None:
    other = "http://acme.test/"
    claims = (Claim("name", "Other", 0.9, other), Claim("email", "a@other.example", 0.9, other))
    facts.stores.facts.save("organisation", Description(other, claims, "acme.test"), other, 1, "state")
    shown = visitor.send("/facts", "/facts/same", kind="contact", key=KEY, other=other, do="merge")
    assert "Merged" in shown
    assert f"One with {other}" in shown
    shown = visitor.send("/facts", "/facts/same", kind="contact", key=KEY, do="split")
    assert "One with" not in shown
    assert facts.stores.facts.pairs("organisation") == [(KEY, other, False)]


def test_what_cannot_be_merged_or_marked_is_explained(facts: Workspace, visitor: Visitor) -> None:
    refused = visitor.send("/facts", "/facts/same", 400, kind="contact", key=KEY, other="nobody", do="merge")
    assert "There are no facts of nobody" in refused
    assert "is not archived" in visitor.get(f"/facts/page?site={KEY}&url={KEY}contact", 400)

"""Thousands of results stay in hand: pages of them, words that narrow them, and tables for spreadsheets."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

from tests.store.samples import lease, visit_of
from tests.studio.conftest import Visitor
from wayhound.app.order import Order
from wayhound.site import Site
from wayhound.store.export import TABLES
from wayhound.store.protocol import RunLimits
from wayhound.studio.tables import Paging
from wayhound.workspace import Workspace

SITES, GOALS_A_SITE = 120, 3
TITLES = ("Über uns", '=HYPERLINK("http://evil.example")', "100 % of_it")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run by words over many sites; the last site is not done."""
    made = tmp_path_factory.mktemp("many") / "firms with ü"
    with Workspace.create(made) as workspace:
        store = workspace.stores.forage
        order = Order(strategy="best-first", goal="contact", keywords=("contact",))
        sites = [Site(f"http://firm{number:03}.example/") for number in range(SITES)]
        run = store.open_run(order.identity(), RunLimits(budget_per_site=9), sites, 0.0)
        for _ in range(SITES - 1):
            job = lease(store, run, "worker", 0.0)
            store.save_visit(job, visit_of(job, 0, title="Home"))
            for number, title in enumerate(TITLES, 1):
                found = visit_of(
                    job, number, title=title, is_goal=True, goal=1.0, parent=0, link_text="Contact"
                )
                store.save_visit(job, found)
            store.finish_site(job, "start page failed (dns)" if "007" in job.site.start else "goals found")
    return made


def rows(text: str) -> list[dict[str, str]]:
    assert text.startswith("\ufeff")  # or spreadsheets on Windows show umlauts as two letters
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


def test_a_page_of_a_list_says_where_it_stands() -> None:
    assert Paging.of(3, 357, 50).range == "101 to 150 of 357"
    assert Paging.of(99, 357, 50).range == "351 to 357 of 357"
    assert Paging.of(-1, 0, 50).pages == 1


def test_results_come_in_pages(visitor: Visitor) -> None:
    page = visitor.get("/runs/1/goals")
    assert page.count('<li class="card result">') == 50
    assert "1 to 50 of 357" in page
    assert 'href="?page=8">Last' in page
    assert "351 to 357 of 357" in visitor.get("/runs/1/goals?page=8")
    assert "351 to 357 of 357" in visitor.get("/runs/1/goals?page=9999")
    assert "1 to 50" in visitor.get("/runs/1/goals?page=x")


def test_results_are_narrowed_by_words_of_title_address_or_site(visitor: Visitor) -> None:
    assert "3 results with “firm007”" in visitor.get("/runs/1/goals?q=firm007")
    assert "119 results" in visitor.get("/runs/1/goals?q=100 %25 of_")
    assert "0 results" in visitor.get("/runs/1/goals?q=firm%25example")
    assert "No result has these words." in visitor.get("/runs/1/goals?q=nowhere")
    assert 'href="?q=uns&amp;page=2"' in visitor.get("/runs/1/goals?q=uns")


def test_a_rejection_leads_back_to_where_its_button_stood(visitor: Visitor) -> None:
    key = re.search(r'name="form_key" value="(\w+)"', visitor.get("/runs/1/goals"))
    assert key is not None
    given = {"form_key": key[1], "site": "http://firm007.example/", "visit": 1, "from_page": 2, "q": "firm"}
    answer = visitor.client.post("/runs/1/unreject", data=given)
    assert answer.url.params["page"] == "2"
    assert answer.url.params["q"] == "firm"


def test_results_are_a_table_that_spreadsheets_read(visitor: Visitor) -> None:
    found = rows(visitor.get("/runs/1/goals.csv"))
    assert len(found) == 357
    assert found[0]["title"] == "Über uns"
    assert found[0]["path"] == "Contact"
    assert found[1]["title"].startswith("'=")
    assert len(rows(visitor.get("/runs/1/goals.csv?q=firm007"))) == 3


@pytest.mark.parametrize("table", ["goals", "sites"])
def test_a_download_has_the_columns_and_words_of_the_command(
    visitor: Visitor, address: str, table: str
) -> None:
    found = rows(visitor.get(f"/runs/1/{table}.csv"))
    assert list(found[0]) == list(TABLES[table].columns)


def test_results_by_words_are_not_given_a_chance(visitor: Visitor) -> None:
    assert "% certain" not in visitor.get("/runs/1/goals")


def test_every_site_of_a_run_can_be_seen_and_had_as_a_table(visitor: Visitor) -> None:
    assert "1 to 100 of 120" in visitor.get("/runs/1")
    assert "http://firm119.example/" in visitor.get("/runs/1?page=2")
    found = {row["site"]: row for row in rows(visitor.get("/runs/1/sites.csv"))}
    assert len(found) == SITES
    assert found["http://firm007.example/"]["reason"] == "start page failed (dns)"
    assert found["http://firm119.example/"]["state"] == "waiting"


def test_results_have_a_place_of_their_own(visitor: Visitor) -> None:
    assert "357 goals" in visitor.get("/results")
    assert 'href="/results"' in visitor.get("/")


def test_results_of_a_run_by_words_lead_to_no_dead_end(visitor: Visitor) -> None:
    page = visitor.get("/review?run=1")
    assert 'href="/teach"' in page

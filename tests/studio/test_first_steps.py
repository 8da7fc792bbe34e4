"""First steps of a new user in the studio: the next step, lists as they were pasted, and forms that are not lost."""

from __future__ import annotations

import csv
import html
import io
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers import Served, serve
from tests.studio.conftest import TOKEN, Visitor, small_trails
from wayhound.config import FILE_NAME
from wayhound.store.goals import FoundGoal
from wayhound.studio.app import make_studio
from wayhound.studio.charts import outcome_bars
from wayhound.studio.goal_pages import _shown
from wayhound.web.app import running
from wayhound.workspace import Workspace

SITE = {
    "/": "<title>Home</title><a href='/about'>About us</a> <a href='/contact'>Contact</a>",
    "/about": "<title>About</title>We",
    "/contact": "<title>Contact us</title>Our address",
}


@pytest.fixture
def server() -> Iterator[Served]:
    with serve(SITE) as served:
        yield served


@pytest.fixture
def newcomer(tmp_path: Path) -> Iterator[Visitor]:
    """Somebody who opens the studio of a workspace that holds nothing."""
    folder = tmp_path / "mine"
    Workspace.create(folder).close()
    (folder / FILE_NAME).write_text("[fetch]\nallow_private = true\ndelay_seconds = 0\n")
    with running(make_studio(folder, TOKEN)) as address:
        coming = Visitor(address)
        with coming.client:
            coming.get(f"/?token={TOKEN}")
            yield coming


def test_every_page_of_an_empty_workspace_leads_to_teaching(newcomer: Visitor) -> None:
    for path in ("/", "/trails", "/train"):
        assert '<a class="button" href="/teach">' in newcomer.get(path), path
    assert 'Without teaching, a <a href="/runs#begin">run</a> looks for words' in newcomer.get("/")


def test_the_overview_shows_the_next_step_alone_as_a_button(visitor: Visitor) -> None:
    page = visitor.get("/")
    assert '<a class="button" href="/train">Train</a>' in page
    assert page.count('class="button"') == 1


def test_the_overview_says_when_trails_were_added_after_the_last_training(
    visitor: Visitor, workspace: Workspace
) -> None:
    visitor.send("/train", "/train", name="paths", strategy="naive-bayes", settings="default")
    visitor.wait_for_job("/train")
    assert "Start a run" in visitor.get("/")
    assert '<a class="button" href="/runs">Forage with it</a>' in visitor.get("/train")
    workspace.stores.trails.add_all(small_trails("http://three.example/"), time.time(), "test")
    assert "Train again" in visitor.get("/")


def test_the_commands_that_pages_name_exist(visitor: Visitor, newcomer: Visitor) -> None:
    assert "wayhound trails import" in newcomer.get("/trails")
    assert "trails add" not in visitor.get("/trails") + newcomer.get("/trails")


def test_a_pasted_table_is_foraged_by_words_and_comes_back_as_one(newcomer: Visitor, server: Served) -> None:
    host = str(server).removeprefix("http://")
    order: dict[str, Any] = {"model": "", "words": "contact, kontakt", "budget": "10", "delay": "0"}
    newcomer.send("/runs", "/runs", sites=f"Name;Website\r\nAcme;{host}\r\nAcme again;{host}\r\n", **order)
    page = newcomer.wait_for_job("/runs")
    assert "by the words contact, kontakt" in page
    [row] = csv.DictReader(io.StringIO(newcomer.get("/runs/1/goals.csv").removeprefix("\ufeff")))
    assert row["url"] == f"{server}/contact"
    assert f'href="{server}/contact"' in newcomer.get("/runs/1/goals")
    newcomer.get("/runs/9/goals.csv", status=404)
    assert '<a href="/results">See the 1 result</a>' in newcomer.get("/")


def test_a_form_that_cannot_be_taken_comes_back_as_it_was_filled_in(newcomer: Visitor) -> None:
    order: dict[str, Any] = {"model": "", "words": "contact", "budget": "10", "delay": "0"}
    page = html.unescape(
        newcomer.send("/runs", "/runs", status=400, sites="Acme Ltd\nnot an address", **order)
    )
    assert "Skipped 2 lines without a usable web address: lines 1, 2 of the list." in page
    assert "Acme Ltd\nnot an address</textarea>" in page
    assert 'value="contact"' in page


def test_what_came_of_requests_is_told_in_words() -> None:
    assert [bar.name for bar in outcome_bars({"ok": 3, "http_404": 2, "dns": 1})] == [
        "read",
        "no such page",
        "no host has that name",
    ]


def test_a_site_that_gave_nothing_says_why_in_words(newcomer: Visitor) -> None:
    order: dict[str, Any] = {
        "sites": "http://nowhere.invalid/",
        "model": "",
        "words": "contact",
        "budget": "10",
        "delay": "0",
    }
    newcomer.send("/runs", "/runs", **order)
    newcomer.wait_for_job("/runs")
    shown = newcomer.get("/runs/1")
    assert "start page failed: no host has that name" in shown
    assert "probably none" not in shown  # nothing was read
    assert "Program" not in shown


def test_a_result_is_told_by_what_spoke_for_it_and_not_against() -> None:
    why = (("says papers", 1.0), ("body logo", -0.5))
    goal = FoundGoal(1, "http://a.example/", 2, "http://a.example/p", "P", "goal", 0.9, 0.8, 0.0, "", (), why)
    assert _shown(goal, 0).why == "“papers” in the link +1.00"


def test_a_mistyped_address_keeps_the_form_and_says_which_line(newcomer: Visitor) -> None:
    urls = "https://one.example/\nhttps//two.example\nhttps://three.example/"
    shown = newcomer.send("/teach", "/teach", status=400, urls=urls, mode="free", keywords="hops")
    assert (
        "&#39;https//two.example&#39; is not a web address that can be fetched (the list, line 2)." in shown
    )
    assert urls in shown
    assert 'value="hops"' in shown

"""A run that is ordered in the studio begins where it can be watched, says what was made of the order, and goes on."""

from __future__ import annotations

import html
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers import Answer, Served, serve
from tests.store.samples import lease_next
from tests.studio.conftest import Visitor
from wayhound.app.order import Order
from wayhound.config import FILE_NAME
from wayhound.site import Site
from wayhound.store.protocol import RunLimits
from wayhound.workspace import Workspace

LINKS = "".join(f"<a href='/{number}'>Page {number}</a>" for number in range(8))
PAGES = {"/": f"<title>Home</title>{LINKS}"} | {
    f"/{each}": f"<title>Contact {each}</title>" for each in range(8)
}
SLOW = 3600.0  # seconds between two pages: such a run does not end before it is stopped


@pytest.fixture
def server() -> Iterator[Served]:
    with serve(PAGES) as served:
        yield served


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "Meine Übersicht"
    Workspace.create(made).close()
    (made / FILE_NAME).write_text("[fetch]\nallow_private = true\ndelay_seconds = 0.0\n")
    return made


def order(server: Served, **changes: Any) -> dict[str, Any]:
    return {"sites": f"{server}/", "words": "contact", "budget": 4, "delay": 0, **changes}


def visits(folder: Path, run: int = 1) -> int:
    with Workspace.open(folder) as workspace:
        return workspace.stores.forage.progress(run).visits


def test_the_order_leads_to_the_page_where_the_run_is_watched(visitor: Visitor, server: Served) -> None:
    page = visitor.send("/runs", "/runs", **order(server, delay=SLOW))
    assert "The forage has started." in page
    assert "<h1>Run 1 " in page
    assert 'data-live="/runs/1?page=1"' in page
    assert 'href="/runs/1">Watch run 1</a>' in visitor.get("/runs")
    job = re.search(r'data-job="(\d+)" data-state="running"', page)
    assert job is not None
    page = visitor.send("/runs/1", f"/jobs/{job[1]}/stop")
    assert "Stopped by you." in page
    assert "Resume</button>" in page


def test_a_second_order_is_not_lost_in_the_first_without_a_word(visitor: Visitor, server: Served) -> None:
    page = visitor.send("/runs", "/runs", **order(server, delay=SLOW))
    key = re.search(r'name="form_key" value="(\w+)"', page)
    assert key is not None
    answer = visitor.client.post("/runs", data={"form_key": key[1], **order(server, words="other")})
    assert answer.status_code == 400
    assert "Another forage is running" in answer.text
    answer = visitor.client.post("/runs/1/resume", data={"form_key": key[1], "budget": 9})
    assert "Another forage is running" in answer.text


def test_a_stopped_run_goes_on_by_a_button(visitor: Visitor, server: Served, folder: Path) -> None:
    page = visitor.send("/runs", "/runs", **order(server, delay=SLOW))
    job = re.search(r'data-job="(\d+)"', page)
    assert job is not None
    visitor.send("/runs/1", f"/jobs/{job[1]}/stop")
    assert "The run is resumed." in visitor.send("/runs", "/runs/1/resume", budget=4)
    page = visitor.wait_for_job("/runs/1")
    assert visits(folder) == 4
    assert "budget spent" in page


def test_a_finished_run_goes_on_with_more_pages_a_site(
    visitor: Visitor, server: Served, folder: Path
) -> None:
    visitor.send("/runs", "/runs", **order(server))
    visitor.wait_for_job("/runs/1")
    assert "All sites are finished." in visitor.send("/runs/1", "/runs/1/resume", budget=4)
    visitor.send("/runs/1", "/runs/1/resume", budget=7)
    visitor.wait_for_job("/runs/1")
    assert visits(folder) == 7


def test_a_site_is_left_after_as_many_goals_as_are_wanted(
    visitor: Visitor, server: Served, folder: Path
) -> None:
    visitor.send("/runs", "/runs", **order(server, budget=9, goals=1))
    visitor.wait_for_job("/runs/1")
    with Workspace.open(folder) as workspace:
        progress = workspace.stores.forage.progress(1)
        assert Order.from_identity(workspace.stores.forage.run(1).identity).goals_wanted == 1
    assert progress.goals == 1
    assert progress.visits < 9


def test_lines_without_an_address_are_told_and_hosts_that_belong_to_a_site_are_kept(
    visitor: Visitor, server: Served, folder: Path
) -> None:
    host = str(server).removeprefix("http://")
    table = f"Name;Website\nAcme;{host}\nNo site;\nNone either;unknown\n"
    page = visitor.send("/runs", "/runs", **order(server, sites=table))
    assert "Skipped 2 lines without a usable web address: lines 3, 4 of the list." in page
    visitor.wait_for_job("/runs/1")
    visitor.send("/runs", "/runs", **order(server, sites=f"{server}/ papers.example", words="kept"))
    visitor.wait_for_job("/runs/2")
    with Workspace.open(folder) as workspace:
        [hosts] = workspace.database.execute("SELECT hosts FROM site WHERE run_id = 2").fetchone()
    assert "papers.example" in hosts


def test_the_same_order_again_says_that_nothing_is_new(visitor: Visitor, server: Served) -> None:
    visitor.send("/runs", "/runs", **order(server))
    visitor.wait_for_job("/runs/1")
    assert "visited these sites in the same way" in visitor.send("/runs", "/runs", **order(server))
    visitor.wait_for_job("/runs/1")
    assert "Run 2" in visitor.send("/runs", "/runs", **order(server, new_run="yes"))


def test_the_form_for_a_new_run_is_filled_in_like_an_old_one(visitor: Visitor, server: Served) -> None:
    visitor.send("/runs", "/runs", **order(server, goals=2, files="yes"))
    visitor.wait_for_job("/runs/1")
    assert "/runs?like=1" in visitor.get("/runs/1")
    page = visitor.get("/runs?like=1")
    assert f">{server}/</textarea>" in page
    assert 'value="contact"' in page
    assert re.search(r'name="goals"[^>]*value="2"', page)
    assert 'name="files" value="yes" checked' in page


def test_a_run_whose_model_is_gone_says_why_it_cannot_go_on(visitor: Visitor, folder: Path) -> None:
    taught = Order(strategy="path-learner", model="paths", model_digest="of before")
    with Workspace.open(folder) as workspace:
        workspace.stores.forage.open_run(taught.identity(), RunLimits(3), [Site("http://a.example/")], 0.0)
    page = html.unescape(visitor.send("/runs/1", "/runs/1/resume", budget=4))
    assert "no model 'paths'" in page
    assert "<h1>Run 1 " in page


def test_sites_of_a_process_that_died_wait_and_are_not_under_way(visitor: Visitor, folder: Path) -> None:
    died = subprocess.Popen([sys.executable, "-c", ""])
    died.wait()
    with Workspace.open(folder) as workspace:
        store = workspace.stores.forage
        run = store.open_run(Order().identity(), RunLimits(3), [Site("http://a.example/")], 0.0)
        assert lease_next(store, run.id, f"{socket.gethostname()}:{died.pid}:0", 0.0)
    page = visitor.get("/runs/1")
    assert "1 site not finished." in page
    assert "Resume</button>" in page


def test_a_run_of_several_machines_shows_which_are_at_work(visitor: Visitor, folder: Path) -> None:
    with Workspace.open(folder) as workspace:
        store = workspace.stores.forage
        sites = [Site("https://one.example/"), Site("https://two.example/")]
        run = store.open_run(Order().identity(), RunLimits(5), sites, 0.0)
        for number in (1, 2):
            store.lease_sites(run.id, f"node{number}.example:1:0", 0.0, 1)
    assert "At work: node1.example 0.0 pages/s, node2.example 0.0 pages/s" in visitor.get(f"/runs/{run.id}")


def test_a_result_can_be_seen_as_it_was_saved_before_any_model_is_trained(
    visitor: Visitor, server: Served
) -> None:
    visitor.send("/runs", "/runs", **order(server))
    visitor.wait_for_job("/runs/1")
    saved = re.search(r'href="(/ratings\?[^"]+)"', visitor.get("/runs/1/goals"))
    assert saved is not None
    page = visitor.get(html.unescape(saved[1]))
    assert "This is the archived page." in page
    frame = re.search(r'sandbox src="([^"]+)"', page)
    assert frame is not None
    assert "Archived page" in visitor.get(html.unescape(frame[1]))
    assert 'href="/train"' in visitor.get("/ratings")


def test_a_start_page_that_leads_on_is_shown_by_the_page_behind_it(visitor: Visitor) -> None:
    moved = Answer(status=301, headers=(("Location", "/home"),))
    with serve(
        {"/": moved, "/home": "<title>Behind</title><a href='/c'>Contact</a>", "/c": "Contact"}
    ) as server:
        visitor.send("/runs", "/runs", **order(server))
        visitor.wait_for_job("/runs/1")
        ratings = re.search(r'href="(/ratings\?[^"]+visit=0)"', visitor.get("/runs/1"))
        assert ratings is not None
        assert "<h1>Behind</h1>" in visitor.get(html.unescape(ratings[1]))


def test_a_host_to_which_most_links_lead_can_be_included(visitor: Visitor, folder: Path) -> None:
    pages: dict[str, str] = {f"/{number}": f"<title>Contact {number}</title>" for number in range(3)}
    with serve(pages) as server:
        other = server.at("shop.localhost")
        pages["//old.localhost/"] = "<title>Home</title>" + "".join(
            f"<a href='{other}{path}'>x</a>" for path in pages
        )
        visitor.send("/runs", "/runs", **order(server, sites=f"{server.at('old.localhost')}/", budget=9))
        visitor.wait_for_job("/runs/1")
        host = f"shop.localhost:{server.port}"
        page = visitor.get("/runs/1")
        assert f"3 links lead to other hosts, most to {host}" in page
        assert f"Include {host}" in page
        start = f"{server.at('old.localhost')}/"
        told = visitor.send("/runs/1", "/runs/1/include", site=start, host=host)
        assert "belongs to the site now" in told
        visitor.wait_for_job("/runs/1")
    with Workspace.open(folder) as workspace:
        assert workspace.stores.forage.progress(1).goals == 3

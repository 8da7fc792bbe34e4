"""Runs are shown with charts, results with their paths, and a review goes round without JavaScript."""

from __future__ import annotations

import html
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.app.review.taught import FORAGED, GOAL_LABEL, label_of, start_of, taught_workspace
from tests.studio.conftest import TOKEN, Visitor
from wayhound.app.forage import open_run, run_limits
from wayhound.app.order import Order
from wayhound.config import FILE_NAME
from wayhound.forage.explain import RatedLink
from wayhound.page import Link
from wayhound.samples.server import SampleServer, serve_samples
from wayhound.samples.web import sample_web
from wayhound.site import Site
from wayhound.studio.app import make_studio
from wayhound.studio.rating_pages import COLOURS, shown_links
from wayhound.web.app import running
from wayhound.workspace import Workspace

HIDDEN = re.compile(r'name="(run|site|visit)" value="([^"]*)"')


@pytest.fixture(scope="module")
def web() -> Iterator[SampleServer]:
    with serve_samples(sample_web()) as server:
        yield server


@pytest.fixture(scope="module")
def original(web: SampleServer, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    folder = tmp_path_factory.mktemp("studio") / "workspace"
    return folder, taught_workspace(folder, web)


@pytest.fixture
def taught(original: tuple[Path, int], tmp_path: Path) -> Iterator[tuple[Visitor, int, Path]]:
    folder = tmp_path / "workspace"
    shutil.copytree(original[0], folder)
    (folder / FILE_NAME).write_text("[fetch]\nallow_private = true\ndelay_seconds = 0.0\n")
    with running(make_studio(folder, TOKEN)) as address:
        visitor = Visitor(address)
        with visitor.client:
            visitor.get(f"/?token={TOKEN}")
            yield visitor, original[1], folder


def test_a_run_is_shown_with_charts_that_say_in_words_what_they_show(
    taught: tuple[Visitor, int, Path],
) -> None:
    visitor, run, _ = taught
    assert f"/runs/{run}" in visitor.get("/runs")
    page = visitor.get(f"/runs/{run}")
    assert page.count('role="img"') == 3
    assert re.search(r"\d+ goals on 60 pages", page)
    assert re.search(r"[\d,]+ links? waiting now", page)
    assert "by the model paths" in page


def test_results_have_their_paths_and_can_be_rejected(taught: tuple[Visitor, int, Path]) -> None:
    visitor, run, folder = taught
    page = visitor.get(f"/runs/{run}/goals")
    assert "start</li><li>" in page
    form = dict(HIDDEN.findall(page))
    fields = {"site": html.unescape(form["site"]), "visit": form["visit"]}
    assert "the path to this page was added to the trails" in visitor.send(
        f"/runs/{run}/goals", f"/runs/{run}/reject", **fields
    )
    with Workspace.open(folder) as workspace:
        assert workspace.stores.trails.summaries()[-1].ending == "Fail"
    page = visitor.send(f"/runs/{run}/goals", f"/runs/{run}/reject", **fields, all="yes")
    assert "The list was rejected" in page


def test_a_rejection_is_undone_where_it_was_done(taught: tuple[Visitor, int, Path]) -> None:
    visitor, run, folder = taught
    goals, reject, undo = f"/runs/{run}/goals", f"/runs/{run}/reject", f"/runs/{run}/unreject"
    with Workspace.open(folder) as workspace:
        before = len(workspace.stores.trails)
    page = visitor.get(goals)
    assert undo not in page
    form = dict(HIDDEN.findall(page))
    fields = {"site": html.unescape(form["site"]), "visit": form["visit"]}
    page = visitor.send(goals, reject, **fields, all="yes")
    assert re.search(r"Rejected with its list, \d pages", page)
    assert "Learn from" in visitor.get(f"/review?run={run}")
    page = visitor.send(goals, undo, **fields)
    assert "Undone: the rejection of a list" in page
    assert undo not in page
    with Workspace.open(folder) as workspace:
        assert len(workspace.stores.trails) == before
    assert "Rejected." in visitor.send(goals, reject, **fields)
    assert "Undone: the answer “reject”." in visitor.send(goals, undo, **fields)
    assert "nothing to undo" in visitor.send(goals, undo, **fields)


def test_ratings_are_on_the_page_and_in_a_table(taught: tuple[Visitor, int, Path], web: SampleServer) -> None:
    visitor, run, _ = taught
    site = quote(start_of(web, FORAGED), safe="")
    page = visitor.get(f"/ratings?run={run}&site={site}&visit=1")
    assert "<iframe" in page
    assert "Links of the page, the highest score first" in page
    frame = html.unescape(re.search(r'sandbox src="([^"]+)"', page)[1])  # type: ignore[index]
    answer = visitor.client.get(frame)
    assert 'class="link s5"' in answer.text
    assert "Expected:" in answer.text
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert "href" not in answer.text


@pytest.mark.parametrize(("least", "best"), [(0.0, 1.0), (0.514, 0.952), (0.041, 0.981)])
def test_the_best_link_of_a_page_has_the_strongest_colour(least: float, best: float) -> None:
    links = [RatedLink(Link(f"http://s.example/{score}"), score, "", 0.0, ()) for score in (best, least)]
    assert [link.colour for link in shown_links(links)] == [COLOURS - 1, 0]


def test_the_links_of_any_page_are_rated_on_the_page_itself(
    taught: tuple[Visitor, int, Path], web: SampleServer
) -> None:
    visitor, run, _ = taught
    for page in ("/ratings", "/train"):
        assert 'action="/ratings"' in visitor.get(page)
    known = visitor.send("/ratings", "/ratings", url=start_of(web, FORAGED))
    assert f"Run {run}</a>" in known
    assert re.search(
        r'sandbox src="/ratings/page\?run=\d+&amp;site=[^"]+&amp;visit=0&amp;model=paths"', known
    )
    strange = visitor.send("/ratings", "/ratings", url=start_of(web, "biology").removeprefix("http://"))
    assert "as it was just fetched" in strange
    frame = html.unescape(re.search(r'sandbox src="([^"]+)"', strange)[1])  # type: ignore[index]
    assert 'class="link s5"' in visitor.client.get(frame).text
    page = visitor.send("/ratings", "/ratings", status=400, url="mailto:me")
    assert "is not a web address" in page
    assert 'value="mailto:me"' in page
    gone = f"{start_of(web, 'math')}no-such-page"
    assert "could not be read: no such page" in visitor.send("/ratings", "/ratings", status=400, url=gone)
    assert "Enter the address" in visitor.send("/ratings", "/ratings", status=400, url=" ")


def test_strange_addresses_of_visits_are_refused_in_words(taught: tuple[Visitor, int, Path]) -> None:
    visitor, run, _ = taught
    assert "no longer in memory" in visitor.get("/ratings?fetched=7", status=400)
    assert "does not name a page" in visitor.get("/ratings/page?fetched=²", status=400)
    assert "does not name a page" in visitor.get("/ratings?run=x&site=y&visit=-1", status=400)
    assert "has no visit 3" in visitor.get(f"/ratings?run={run}&site=y&visit=3", status=404)
    assert "There is no run 77 in this workspace. Next: Runs." in visitor.get("/runs/77", status=404)
    assert "First forage some sites" in visitor.get("/review?run=77")
    visitor.get("/review?run=²", status=404)


def test_a_review_goes_from_questions_to_a_model_that_has_learned_from_the_answers(
    taught: tuple[Visitor, int, Path], web: SampleServer
) -> None:
    visitor, run, folder = taught
    with Workspace.open(folder) as workspace:
        before = len(workspace.stores.trails)
    review = f"/review?run={run}"
    visitor.send(review, "/review/prepare", run=run)
    page = visitor.wait_for_job(review)
    for _ in range(3):
        asked = dict(HIDDEN.findall(page))
        url = re.search(r'<a href="(http://history[^"]+)"', page)
        assert url is not None, page
        answer = "goal" if label_of(web, html.unescape(url[1])) == GOAL_LABEL else "reject"
        page = visitor.send(
            review, "/review/answer", run=run, site=asked["site"], visit=asked["visit"], answer=answer
        )
    assert "3 answers so far, 3 not learned yet" in page
    with Workspace.open(folder) as workspace:
        trail = workspace.stores.trails.summaries()[-1]
    shown = visitor.get(f"/trails/{trail.id}")
    assert shown.count("<iframe sandbox") == trail.steps
    assert 'class="link plain"' in visitor.get(f"/trails/{trail.id}/steps/{trail.steps - 1}/page")
    visitor.get(f"/trails/{trail.id}/steps/99/page", status=404)
    assert "Undone" in visitor.send(review, "/review/undo", run=run)
    with Workspace.open(folder) as workspace:
        assert len(workspace.stores.trails) == before + 2
    visitor.send(review, "/review/prepare", run=run, retrain="yes")
    page = visitor.wait_for_job(review)
    assert "The model has learned from your answers." in page
    assert "What your answers change" in page


def test_a_review_is_of_the_last_run_that_followed_a_model(taught: tuple[Visitor, int, Path]) -> None:
    visitor, run, folder = taught
    with Workspace.open(folder) as workspace:
        limits = run_limits(workspace.config)
        later = open_run(
            workspace, Order(facts="contact"), limits, [Site("http://firm.example/")], time.time()
        )
    shown = visitor.get("/review")
    assert f'value="{later.id}"' in shown
    assert f'value="{run}" selected' in shown


def test_an_answer_that_says_nothing_is_refused(taught: tuple[Visitor, int, Path]) -> None:
    visitor, run, _ = taught
    fields = {"run": run, "site": "x", "visit": 1}
    visitor.send("/runs", "/review/answer", status=400, **fields, answer="")
    visitor.send("/runs", "/review/answer", status=400, **fields, answer="label", label=" ")
    assert "has no visit 1" in visitor.send("/runs", "/review/answer", status=404, **fields, answer="goal")


def test_a_run_can_be_ordered_from_a_form(taught: tuple[Visitor, int, Path], web: SampleServer) -> None:
    visitor, _, _ = taught
    order: dict[str, Any] = {
        "sites": f"{start_of(web, 'math')}  # a comment",
        "model": "paths",
        "budget": 12,
        "delay": 0,
    }
    order["new_run"] = "yes"  # else the run of the same model goes on, with one site more
    assert "The forage has started" in visitor.send("/runs", "/runs", **order)
    page = visitor.wait_for_job("/runs")
    assert re.search(r"Run 3: \d+ goals on 12 pages of 1 site", page)
    assert "budget spent" in visitor.get("/runs/3")


def test_a_forage_can_be_stopped_and_goes_on_where_it_was(
    taught: tuple[Visitor, int, Path], web: SampleServer
) -> None:
    visitor, _, folder = taught
    order: dict[str, Any] = {"sites": start_of(web, "math"), "words": "x", "budget": 4, "delay": 2}
    page = visitor.send("/runs", "/runs", **order)
    job = re.search(r'data-job="(\d+)"', page)
    assert job is not None
    wait_for_pages(folder, start_of(web, "math"), 1)
    assert "Stopped." in visitor.send("/runs", f"/jobs/{job[1]}/stop")
    assert "Stopped by you." in visitor.get("/runs")
    assert "is resumed" in visitor.send("/runs", "/runs", **order | {"delay": 0})
    assert re.search(r"pages of \d site", visitor.wait_for_job("/runs"))
    assert len(visits(folder, start_of(web, "math"))) == 4


def visits(folder: Path, start: str) -> list[str]:
    with Workspace.open(folder) as workspace:
        store = workspace.stores.forage
        return [visit.url for run in store.runs() for visit in store.visits_of(run.id, start)]


def wait_for_pages(folder: Path, start: str, wanted: int) -> None:
    end = time.monotonic() + 240
    while len(visits(folder, start)) < wanted:
        assert time.monotonic() < end, "nothing was fetched"
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("sites", "mailto:x", "start page. Skipped 1 line without a usable web address: line 1 of the list."),
        ("sites", "", "at least one start page"),
        ("budget", "many", "is not a number"),
        ("budget", "0", "is not a number from 1"),
        ("delay", "-1", "is not a number from 0"),
        ("goals", "0", "is not a number from 1"),
        ("words", " ", "Choose a model, or enter a word"),
        ("questions", "-1", "is not a number from 0"),
    ],
)
def test_an_order_that_cannot_be_met_is_refused_in_words(
    taught: tuple[Visitor, int, Path], field: str, value: str, sentence: str
) -> None:
    visitor, _, _ = taught
    order = {"sites": "http://a.example/", "words": "x", "budget": "5", "delay": "0", field: value}
    assert sentence in html.unescape(visitor.send("/runs", "/runs", status=400, **order))


def ask_about(folder: Path, run: int, label: str, web: SampleServer) -> tuple[str, int]:
    """Let a question wait about a visited page that is a person, or is not; return its URL and visit."""
    with Workspace.open(folder) as workspace:
        visits = list(workspace.stores.forage.visits_of(run, start_of(web, FORAGED)))
        pages = [visit for visit in visits if visit.outcome == "ok" and visit.parent is not None]
        page = next(
            visit for visit in pages if (label_of(web, visit.url) == GOAL_LABEL) == (label == GOAL_LABEL)
        )
        [site] = workspace.database.execute("SELECT id FROM site WHERE run_id = ?", (run,)).fetchone()
        workspace.stores.site_notes.ask(site, page.url, 0.4, time.time())
    return page.url, page.number


def test_a_waiting_question_is_answered_on_the_page_of_the_run_and_acts_at_once(
    taught: tuple[Visitor, int, Path], web: SampleServer
) -> None:
    visitor, run, folder = taught
    url, number = ask_about(folder, run, GOAL_LABEL, web)
    page = visitor.get(f"/runs/{run}")
    assert "Is this what you are looking for?" in page
    assert html.escape(url) in page
    fields: dict[str, Any] = {"site": start_of(web, FORAGED), "visit": number}
    visitor.send(f"/runs/{run}", f"/runs/{run}/answer", status=400, **fields, answer="perhaps")
    page = visitor.send(f"/runs/{run}", f"/runs/{run}/answer", **fields, answer="yes")
    assert "Is this what you are looking for?" not in page
    visitor.wait_for_job(f"/runs/{run}")
    with Workspace.open(folder) as workspace:
        goals = {goal.url: goal.tier for goal in workspace.stores.goals.goals(run)}
        assert goals[url] == "confirmed"
        assert workspace.stores.forage.progress(run).is_over
        assert workspace.stores.trails.summaries()[-1].end_url == url
    # in another window the same question may still be open: its answer changes nothing
    visitor.send(f"/runs/{run}", f"/runs/{run}/answer", **fields, answer="no")
    with Workspace.open(folder) as workspace:
        assert workspace.stores.trails.summaries()[-1].ending == "Goal"


def test_a_page_that_is_none_leaves_the_results_and_a_skipped_one_does_not(
    taught: tuple[Visitor, int, Path], web: SampleServer
) -> None:
    visitor, run, folder = taught
    _, skipped = ask_about(folder, run, GOAL_LABEL, web)
    with Workspace.open(folder) as workspace:
        before = len(workspace.stores.trails)
    fields: dict[str, Any] = {"site": start_of(web, FORAGED)}
    visitor.send(f"/runs/{run}", f"/runs/{run}/answer", **fields, visit=skipped, answer="skip")
    with Workspace.open(folder) as workspace:
        assert len(workspace.stores.trails) == before
        assert workspace.stores.site_notes.waiting(run) == []
    url, number = ask_about(folder, run, "other", web)
    visitor.send(f"/runs/{run}", f"/runs/{run}/answer", **fields, visit=number, answer="no")
    visitor.wait_for_job(f"/runs/{run}")
    with Workspace.open(folder) as workspace:
        assert url not in {goal.url for goal in workspace.stores.goals.goals(run)}
        assert workspace.stores.trails.summaries()[-1].ending == "Fail"


def test_the_program_of_a_site_is_written_corrected_and_forgotten(
    taught: tuple[Visitor, int, Path], web: SampleServer
) -> None:
    visitor, run, folder = taught
    start = start_of(web, FORAGED)
    address = f"/program?run={run}&site={quote(start, safe='')}"
    fields: dict[str, Any] = {"run": run, "site": start}
    wrong = visitor.send(address, "/program", status=400, **fields, program="follow /people/*\ngo to /staff/")
    assert "Line 2 of the program cannot be read" in html.unescape(wrong)
    assert "go to /staff/</textarea>" in wrong  # nothing that was written is lost
    saved = visitor.send(address, "/program", **fields, program='in "ul>li>a": follow /people/*')
    assert "Saved: the next run of this site begins with it." in saved
    assert "Edited by hand" in saved
    with Workspace.open(folder) as workspace:
        [kept] = workspace.stores.site_notes.programs(start)
        assert (kept.program, kept.edited, kept.purpose) == (
            'in "ul>li>a": follow /people/*\n',
            True,
            "paths",
        )
    assert "Forgotten" in visitor.send(address, "/program", **fields, do="forget", program="")
    assert "There is none yet" in visitor.get(address)
    assert "does not name a site" in visitor.get("/program", status=400)
    assert "There is no run 77" in visitor.get(f"/program?run=77&site={quote(start, safe='')}", status=404)


def test_the_form_suggests_questions_after_two_taught_sites_and_a_batch_asks_none(
    taught: tuple[Visitor, int, Path],
) -> None:
    visitor, run, folder = taught
    assert re.search(r'name="questions"[^>]* value="3"', visitor.get("/runs"))
    with Workspace.open(folder) as workspace:
        assert workspace.stores.forage.run(run).limits.questions is None
        assert run_limits(workspace.config).questions is None

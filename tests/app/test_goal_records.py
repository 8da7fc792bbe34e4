from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.store.samples import lease
from wayhound.app.goal_records import GoalFollower, goal_id, sync_goals
from wayhound.app.index import Follower, build, catch_up
from wayhound.app.moderate import approve
from wayhound.app.order import Order
from wayhound.app.review import Review
from wayhound.archive.writer import ArchiveWriter
from wayhound.fetched import Fetched
from wayhound.record import Record
from wayhound.search.results import SearchRequest
from wayhound.site import Site
from wayhound.store.document_files import DocumentSource, StoredFile
from wayhound.store.protocol import RunLimits
from wayhound.store.sqlite import SqliteDatabase
from wayhound.store.submissions import Submission
from wayhound.visit import ArchiveRef, Visit
from wayhound.workspace import Workspace

START = "http://harbour.example/"
CONTACT = f"{START}contact"
KEYWORD = Order(strategy="best-first", keywords=("contact", "kontakt"), goal="contact|kontakt")
TAUGHT = Order(strategy="path-learner", model="mine", model_digest="1")


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace.create(tmp_path / "workspace") as made:
        yield made


def page(words: str, title: str = "Contact us", **more: str) -> bytes:
    description = more.get("description", "")
    return (
        f"<html lang=en-GB><head><title>{title}</title><meta name=description content='{description}'></head>"
        f"<body><nav><a href=/>Home</a><a href=/about>About</a></nav><h1>{title}</h1><p>{words}</p></body></html>"
    ).encode()


class Forage:
    """Writes the visits of one run of one site: the start page, and what a test adds."""

    def __init__(self, workspace: Workspace, order: Order, start: str = START, fresh: str = "") -> None:
        self.workspace, self.start = workspace, start
        identity = order.identity() | ({"fresh": json.dumps(fresh)} if fresh else {})
        self.store = workspace.stores.forage
        self.run = self.store.open_run(identity, RunLimits(), [Site(start)], time.time())
        job = lease(self.store, self.run, f"test {self.run.id}", time.time())
        self.job, self.number = job, 0
        self.visit(start, page("Welcome to the harbour.", "Harbour"), goal=0.1)

    def visit(self, url: str, body: bytes = b"", *, goal: float = 1.0, **more: Any) -> int:
        archived: ArchiveRef | None = None
        kind = more.pop("content_type", "text/html")
        if body:
            with ArchiveWriter(self.workspace.archive_folder, f"r{self.run.id}", software="test") as archive:
                answer = Fetched(url, 200, body=body, headers=(("Content-Type", kind),))
                archived = archive.write(answer, at=time.time())
        number = self.number
        told: dict[str, Any] = {
            "parent": 0 if number else None, "link_text": "Contact  us" if number else "",
            "link_kind": "a" if number else "start",
            "goal": goal, "is_goal": goal >= 0.5, "content_type": kind, "title": "A title", "archived": archived,
        }  # fmt: skip
        self.store.save_visit(
            self.job, Visit(self.start, number, url, more.pop("outcome", "ok"), time.time(), **told | more)
        )
        self.number += 1
        return number

    def finish(self) -> Forage:
        self.store.finish_site(self.job, "no links left")
        return self


def foraged(
    workspace: Workspace, order: Order = KEYWORD, *, words: str = "Harbour Lane 3, Port Example.", fresh: str = "",
    **more: Any,
) -> Forage:  # fmt: skip
    forage = Forage(workspace, order, fresh=fresh)
    forage.visit(CONTACT, page(words), **more)
    return forage.finish()


def records(workspace: Workspace) -> list[Record]:
    return list(workspace.stores.records.iterate("page"))


def hits(workspace: Workspace, query: str) -> list[str]:
    found = workspace.search_index.search(SearchRequest(query, limit=100)).hits
    return [hit.title for hit in found]


def test_a_goal_becomes_a_record_that_says_what_it_is_and_how_it_was_found(workspace: Workspace) -> None:
    foraged(workspace)
    done = sync_goals(workspace)
    assert (done.added, done.updated, done.removed) == (1, 0, 0)
    [record] = records(workspace)
    assert (record.id, record.site, record.visit) == (goal_id(CONTACT), START, 1)
    told = {name: record.first(name) for name in record.fields}
    assert told["title"] == "Contact us"
    assert told["snippet"] == "Contact us · Harbour Lane 3, Port Example."
    assert told["around"] == "Home About"
    assert (told["label"], told["certainty"], told["probability"]) == ("contact", "goal", "1")
    assert (told["path"], told["language"], told["run"], told["url"]) == ("Contact us", "en", "1", CONTACT)
    assert told["why"] == "matches contact +1.00"
    assert told["found"].startswith("20")
    assert told["first_found"] == told["found"]


def test_a_taught_goal_tells_the_reasons_of_its_model(workspace: Workspace) -> None:
    foraged(workspace, TAUGHT, label="Goal", goal=0.8123456, why=(("says contact", 1.5), ("depth 1", -0.25)))
    sync_goals(workspace)
    [record] = records(workspace)
    assert [value.text for value in record.fields["why"]] == ["says contact +1.50", "depth 1 -0.25"]
    assert record.first("probability") == "0.8123"
    assert record.first("label") == "Goal"
    assert record.fields["label"][0].confidence == pytest.approx(0.8123456)


def test_a_milestone_that_a_person_named_is_the_label(workspace: Workspace) -> None:
    foraged(workspace, TAUGHT, label="imprint")
    sync_goals(workspace)
    assert records(workspace)[0].first("label") == "imprint"


@pytest.mark.parametrize("state", ["<<Goal", "Fail", ""])
def test_a_goal_in_which_the_model_sees_another_state_is_called_a_goal(
    workspace: Workspace, state: str
) -> None:
    foraged(workspace, TAUGHT, label=state)
    sync_goals(workspace)
    assert records(workspace)[0].first("label") == "Goal"


def test_again_changes_nothing(workspace: Workspace) -> None:
    foraged(workspace)
    build(workspace)
    before = workspace.database.version()
    assert not sync_goals(workspace).changed
    assert workspace.database.version() == before
    assert catch_up(workspace).added == 0


def test_goals_are_indexed_without_a_further_command(workspace: Workspace) -> None:
    forage = Forage(workspace, KEYWORD)
    forage.visit(CONTACT, page("Harbour Lane 3, Port Example."))
    assert build(workspace).goals.added == 1
    for query in ("harbour lane", "type:page", "label:contact", "site:harbour.example", "certainty:goal"):
        assert hits(workspace, query) == ["Contact us"], query
    forage.visit(f"{START}impressum", page("Register of the harbour.", "Imprint"))
    assert catch_up(workspace).goals.added == 1
    assert hits(workspace, "register") == ["Imprint"]


def test_numbers_and_reasons_are_not_words_to_search_for(workspace: Workspace) -> None:
    foraged(workspace, TAUGHT, goal=0.8123, why=(("says rowing", 1.5),))
    build(workspace)
    assert hits(workspace, "rowing") == []


def test_one_record_for_a_page_over_runs_from_the_newest_one(workspace: Workspace) -> None:
    foraged(workspace, words="Old Quay 1.")
    sync_goals(workspace)
    [old] = records(workspace)
    time.sleep(1.1)
    foraged(workspace, words="New Quay 2.", fresh="2")
    assert sync_goals(workspace).updated == 1
    [new] = records(workspace)
    assert (new.id, new.first("run")) == (old.id, "2")
    assert "New Quay" in new.first("snippet")
    assert new.first("first_found") == old.first("found") < new.first("found")


@pytest.mark.parametrize("outcome", ["ok", "redirect", "http_404", "http_410", "duplicate"])
def test_a_goal_that_a_later_run_no_longer_finds_leaves(workspace: Workspace, outcome: str) -> None:
    foraged(workspace)
    build(workspace)
    foraged(workspace, fresh="2", goal=0.1, outcome=outcome)
    done = catch_up(workspace)
    assert done.goals.removed == 1
    assert records(workspace) == []
    assert hits(workspace, "harbour") == []


def test_a_page_that_a_later_run_could_not_reach_stays(workspace: Workspace) -> None:
    foraged(workspace)
    sync_goals(workspace)
    foraged(workspace, fresh="2", goal=0.0, outcome="timeout")
    assert not sync_goals(workspace).removed
    assert len(records(workspace)) == 1


def test_a_run_that_looks_for_something_else_takes_no_goals_away(workspace: Workspace) -> None:
    foraged(workspace)
    foraged(workspace, TAUGHT, goal=0.1)
    sync_goals(workspace)
    assert records(workspace)[0].first("run") == "1"


def test_a_rejected_goal_leaves_and_comes_back_when_that_is_undone(workspace: Workspace) -> None:
    forage = foraged(workspace)
    build(workspace)
    review = Review(workspace, forage.run.id)
    review.reject(START, 1, time.time())
    assert catch_up(workspace).goals.removed == 1
    assert (records(workspace), hits(workspace, "harbour")) == ([], [])
    foraged(workspace, fresh="2")  # the next run finds it again; the person's word still counts
    assert not sync_goals(workspace).changed
    review.undo(time.time())
    assert catch_up(workspace).goals.added == 1
    assert hits(workspace, "harbour") == ["Contact us"]


def test_a_goal_that_a_person_confirmed_is_certain(workspace: Workspace) -> None:
    forage = foraged(workspace, goal=0.3)
    assert not sync_goals(workspace).changed
    Review(workspace, forage.run.id).answer(START, 1, "Goal", time.time())
    assert sync_goals(workspace).added == 1
    assert records(workspace)[0].first("certainty") == "confirmed"


def test_a_page_that_asks_not_to_be_indexed_has_no_record(workspace: Workspace) -> None:
    foraged(workspace, robots="noindex nofollow")
    done = sync_goals(workspace)
    assert (done.added, done.hidden) == (0, 1)
    assert records(workspace) == []


def test_a_file_is_a_page_until_it_is_read_as_a_paper(workspace: Workspace) -> None:
    forage = Forage(workspace, TAUGHT)
    url = f"{START}paper.pdf"
    number = forage.visit(url, b"%PDF-1.4 x", content_type="application/pdf", title="A paper")
    sync_goals(workspace)
    [record] = records(workspace)
    assert (record.first("title"), record.first("snippet"), record.first("text")) == ("A paper", "", "")
    files = workspace.stores.documents
    with workspace.database.transaction():
        files.put(StoredFile("p1", "paper.pdf", "paper", "", "pdf", 1, 9, ArchiveRef("a", 0, 1)))
        files.add_source("p1", DocumentSource(url, forage.job.id, number, START))
    assert sync_goals(workspace).removed == 1


def test_what_was_put_right_outlives_the_next_run(workspace: Workspace) -> None:
    foraged(workspace)
    sync_goals(workspace)
    submissions = workspace.stores.submissions
    for texts in (("Harbour",), ("Harbour office",)):
        submissions.add(Submission("correction", "", "page", goal_id(CONTACT), "title", texts), time.time())
    for sent in submissions.all("waiting"):
        approve(workspace, sent.id, "", time.time())
    assert records(workspace)[0].first("title") == "Harbour office"
    foraged(workspace, words="New Quay 2.", fresh="2")
    sync_goals(workspace)
    [record] = records(workspace)
    assert (record.first("title"), record.first("run")) == ("Harbour office", "2")


def test_what_was_removed_on_request_does_not_come_back(workspace: Workspace) -> None:
    foraged(workspace)
    build(workspace)
    submissions = workspace.stores.submissions
    submissions.add(Submission("removal", CONTACT), time.time())
    approve(workspace, submissions.all()[0].id, "", time.time())
    foraged(workspace, fresh="2")
    catch_up(workspace)
    assert (records(workspace), hits(workspace, "harbour")) == ([], [])


def test_without_its_archive_a_goal_keeps_what_the_visit_tells(workspace: Workspace) -> None:
    forage = Forage(workspace, KEYWORD)
    forage.visit(CONTACT, archived=ArchiveRef("gone.warc.gz", 0, 9), title="Kept")
    sync_goals(workspace)
    [record] = records(workspace)
    assert (record.first("title"), record.first("path")) == ("Kept", "Contact us")


def test_runs_that_were_ordered_otherwise_do_no_harm(workspace: Workspace) -> None:
    """Identities are data of old versions and of tests: what is not understood is an order of its own."""
    store = workspace.stores.forage
    run = store.open_run({"test": "not JSON"}, RunLimits(), [Site(START)], 1.0)
    job = lease(store, run, "w", 1.0)
    store.save_visit(job, Visit(START, 0, START, "ok", 1.0, goal=1.0, is_goal=True, title="Home"))
    sync_goals(workspace)
    assert [record.first("title") for record in records(workspace)] == ["Home"]


def test_a_follower_brings_new_goals_into_the_index_while_a_portal_runs(workspace: Workspace) -> None:
    build(workspace)
    with Follower(workspace.folder, every_seconds=0.05):
        forage = foraged(workspace)
        _until(lambda: hits(workspace, "harbour") == ["Contact us"])
        Review(workspace, forage.run.id).reject(START, 1, time.time())
        _until(lambda: hits(workspace, "harbour") == [])


def test_a_follower_looks_only_when_something_changed_and_rests_after_work(workspace: Workspace) -> None:
    now = [0.0]

    def clock() -> float:
        now[0] += 1.0  # every look takes seconds
        return now[0]

    follower = GoalFollower(clock)
    foraged(workspace)
    follower.look(workspace)
    assert len(records(workspace)) == 1
    foraged(workspace, fresh="2", goal=0.1)
    follower.look(workspace)
    assert len(records(workspace)) == 1, "it rests"
    now[0] += 100
    follower.look(workspace)
    assert records(workspace) == []


def test_goals_that_are_records_already_cost_a_few_queries_however_many_they_are(
    workspace: Workspace,
) -> None:
    forage = Forage(workspace, KEYWORD)
    body = page("Harbour Lane 3, Port Example. Call us any time between nine and five.")
    with ArchiveWriter(workspace.archive_folder, "many", software="test") as archive:
        for number in range(1, 1001):
            url = f"{START}contact/{number}"
            answer = Fetched(url, 200, body=body + b"%d" % number, headers=(("Content-Type", "text/html"),))
            visit = Visit(
                START, number, url, "ok", 1.0, parent=0, goal=1.0, is_goal=True, content_type="text/html",
                archived=archive.write(answer, at=1.0),
            )  # fmt: skip
            workspace.stores.forage.save_visit(forage.job, visit)
    told: list[tuple[int, int]] = []
    assert sync_goals(workspace, lambda done, of: told.append((done, of))).added == 1000
    assert told[0] == (0, 1000)
    assert told[-1] == (1000, 1000)
    assert isinstance(workspace.database, SqliteDatabase)
    queries: list[str] = []
    workspace.database.connection.set_trace_callback(queries.append)
    assert not sync_goals(workspace).changed
    assert 0 < len(queries) < 100


def _until(holds: Any) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)

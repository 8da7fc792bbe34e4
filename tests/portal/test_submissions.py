"""From a visitor's form to the operator's decision, and what comes of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.portal.collection import PAPERS, START, paper_id
from tests.portal.served import Got, Served, serve_portal
from tests.portal.test_pages import CONTACT, page, texts
from wayhound.app.index import build, catch_up
from wayhound.app.moderate import SITE_LIST_NAME, approve
from wayhound.cli import run
from wayhound.errors import UsageError
from wayhound.record import Record, Value
from wayhound.store.records import RecordStore
from wayhound.store.sqlite import SqliteDatabase
from wayhound.store.submissions import Submission, SubmissionStore
from wayhound.wording.submissions import format_decision
from wayhound.workspace import Workspace

PAPER = f"/records/paper/{paper_id(3)}"


def sent(portal: Served, path: str, form: dict[str, str]) -> str:
    """Send a form; the token of the submission."""
    got = portal.post(path, form)
    assert got.status == 303, got.text
    found = re.fullmatch(r"/submissions/([\w-]{22})", got.headers["location"])
    assert found is not None
    return found[1]


def status(portal: Served, token: str) -> Got:
    return portal.get(f"/submissions/{token}.json")


def waiting(folder: Path, token: str) -> int:
    with Workspace.open(folder) as workspace:
        found = workspace.stores.submissions.by_token(token)
    assert found is not None
    return found.id


def test_a_site_goes_from_the_form_to_the_seeds(
    own_collection: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serve_portal(own_collection) as portal:
        form = {
            "kind": "site",
            "url": "papers.example.org/list",
            "note": "<b>good</b> one",
            "contact": "a@example.org",
        }
        token = sent(portal, "/submit", form)
        assert status(portal, token).json["state"] == "waiting"
        number = waiting(own_collection, token)
        assert run(["submissions", "list", "-w", str(own_collection), "--json"]) == 0
        listed = json.loads(capsys.readouterr().out)
        assert (listed["url"], listed["contact"]) == ("https://papers.example.org/list", "a@example.org")
        assert (
            run(["submissions", "approve", str(number), "-w", str(own_collection), "--reply", "Soon."]) == 0
        )
        assert (own_collection / SITE_LIST_NAME).read_text() == "https://papers.example.org/list\n"
        told = status(portal, token).json
        assert (told["state"], told["reply"]) == ("approved", "Soon.")
        page = portal.get(f"/submissions/{token}")
        assert "approved" in page.text
        assert "a@example.org" not in page.text  # whoever knows the address need not know the sender
    assert run(["submissions", "approve", str(number), "-w", str(own_collection)]) == 2
    assert "approved already" in capsys.readouterr().err


def test_the_same_again_is_the_same_submission(own_collection: Path) -> None:
    with serve_portal(own_collection) as portal:
        form = {"kind": "paper", "url": "https://example.org/a.pdf"}
        assert sent(portal, "/submit", form) == sent(portal, "/submit", form)
        assert sent(portal, "/submit", form | {"kind": "site"}) != sent(portal, "/submit", form)


def test_a_rejected_submission_changes_nothing(own_collection: Path) -> None:
    with serve_portal(own_collection) as portal:
        token = sent(portal, "/submit", {"kind": "paper", "url": "https://example.org/a.pdf"})
        number = waiting(own_collection, token)
        assert (
            run(["submissions", "reject", str(number), "-w", str(own_collection), "--reply", "Not ours."])
            == 0
        )
        assert status(portal, token).json["state"] == "rejected"
    assert not (own_collection / SITE_LIST_NAME).exists()


def test_a_correction_waits_and_then_holds_and_is_learned_from(own_collection: Path) -> None:
    with Workspace.open(own_collection) as workspace:
        build(workspace)
    with serve_portal(own_collection) as portal:
        form = {
            "field": "title",
            "texts": "Focused crawling with few samples\n",
            "contact": "reader@example.org",
        }
        token = sent(portal, f"{PAPER}/correct", form)
        assert "few examples" in portal.get(PAPER).text
        with Workspace.open(own_collection) as workspace:
            decided = approve(workspace, waiting(own_collection, token), "", 1e9)
            catch_up(workspace)
            corrections = workspace.database.execute("SELECT field, after, author FROM correction").fetchall()
        assert "few samples" in format_decision(decided)
        assert corrections == [("title", '["Focused crawling with few samples"]', "reader@example.org")]
        assert "few samples" in portal.get(PAPER).text
        assert portal.get("/search.json?q=samples").json["total"] == 1


def test_a_correction_of_another_kind_of_record_is_made_too(own_collection: Path) -> None:
    with serve_portal(own_collection) as portal:
        token = sent(portal, f"{CONTACT}/correct", {"field": "town", "texts": "Other Town"})
        with Workspace.open(own_collection) as workspace:
            approve(workspace, waiting(own_collection, token), "", 1e9)
        assert "Other Town" in portal.get(CONTACT).text


def test_a_visitor_may_say_what_a_file_is_and_the_operator_decides(own_collection: Path) -> None:
    with serve_portal(own_collection) as portal:
        token = sent(portal, f"{PAPER}/correct", {"field": "kind", "texts": "document"})
        with Workspace.open(own_collection) as workspace:
            decided = approve(workspace, waiting(own_collection, token), "", 1e9)
            assert workspace.stores.records.get("document", paper_id(3)) is not None
        assert format_decision(decided) == f"kind of {paper_id(3)} is now: document"
        assert portal.get(PAPER).status == 404
        document = portal.get(PAPER.replace("/paper/", "/document/"))
        assert "/correct?field=kind" in document.text
        strange = portal.post(
            f"{PAPER.replace('/paper/', '/document/')}/correct", {"field": "kind", "texts": "poem"}
        )
        assert (strange.status, "a paper or a document" in strange.text) == (400, True)


def test_what_is_no_correction_is_told(portal: Served) -> None:
    same = portal.post(f"{PAPER}/correct", {"field": "title", "texts": PAPERS[3][0]})
    assert (same.status, "says that already" in same.text) == (400, True)
    strange = portal.post(f"{PAPER}/correct", {"field": "no such field", "texts": "x"})
    assert (strange.status, "Please choose" in strange.text) == (400, True)
    long = portal.post(f"{PAPER}/correct", {"field": "title", "texts": "x" * 11_000})
    assert (long.status, "too long" in long.text) == (400, True)


def test_the_form_of_a_correction_shows_what_stands_there(portal: Served) -> None:
    tree = page(portal, f"{PAPER}/correct?field=author")
    assert texts(tree, "textarea#field-texts") == ["Dana Petrov"]
    assert texts(tree, ".chip[aria-current]") == ["Authors"]


def test_a_removal_takes_a_record_out_for_good(own_collection: Path) -> None:
    with Workspace.open(own_collection) as workspace:
        build(workspace)
        saved = workspace.stores.records.get("paper", paper_id(3))
    assert saved is not None
    with serve_portal(own_collection) as portal:
        token = sent(portal, "/remove", {"url": f"{portal.url}{PAPER}", "note": "It is mine."})
        with Workspace.open(own_collection) as workspace:
            approve(workspace, waiting(own_collection, token), "Done.", 1e9)
            workspace.stores.records.save([saved])  # as a new forage would
            catch_up(workspace)
        gone = portal.get(PAPER)
        assert (gone.status, "removed from the collection on request" in gone.text) == (404, True)
        assert portal.get("/search.json?q=focused").json["total"] == 0
        assert portal.get(f"{PAPER}/archived").status == 404
        assert PAPERS[3][0] not in portal.get(f"/records/paper/{paper_id(4)}").text.split("Cited by")[1]


def test_a_whole_site_is_taken_out_when_its_owner_asks(own_collection: Path) -> None:
    with serve_portal(own_collection) as portal:
        token = sent(portal, "/remove", {"url": START, "note": "My site."})
        with Workspace.open(own_collection) as workspace:
            decided = approve(workspace, waiting(own_collection, token), "", 1e9)
            assert list(workspace.stores.records.iterate()) == []
    assert format_decision(decided) == f"Removed {len(PAPERS) + 2} records for good."


def test_required_fields_are_asked_for_again_with_what_was_typed(portal: Served) -> None:
    got = portal.post("/remove", {"url": "https://example.org/<x>", "note": ""})
    assert got.status == 400
    assert "Please fill in" in got.text
    assert "https://example.org/&lt;x&gt;" in got.text


def test_no_more_are_taken_than_anybody_reads() -> None:
    with SqliteDatabase(None) as database:
        store = SubmissionStore(database, most_waiting=2)
        for number in range(2):
            store.add(Submission("paper", f"https://example.org/{number}"), 1e9)
        with pytest.raises(UsageError, match="Too many"):
            store.add(Submission("paper", "https://example.org/3"), 1e9)
        store.decide(1, "rejected", "", 1e9)
        store.add(Submission("paper", "https://example.org/3"), 1e9)


def test_withheld_records_cannot_be_saved_again() -> None:
    with SqliteDatabase(None) as database:
        records, store = RecordStore(database), SubmissionStore(database)
        record = Record("contact", "a", {"name": (Value("A"),)})
        records.save([record])
        store.withhold("contact", "a")
        records.save([record])
        assert list(records.iterate()) == []
        assert store.is_withheld("contact", "a")


def test_words_of_strangers_do_nothing_to_a_terminal(
    own_collection: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Workspace.open(own_collection) as workspace:
        sneaky = Submission("paper", "https://example.org/", note="\x1b[2Jgone [bold]loud[/bold]")
        workspace.stores.submissions.add(sneaky, 1e9)
    assert run(["submissions", "list", "-w", str(own_collection)]) == 0
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "[bold]" in printed.replace("\n", "")


def test_an_unknown_number_is_told(own_collection: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["submissions", "approve", "99", "-w", str(own_collection)]) == 2
    assert "There is no submission 99" in capsys.readouterr().err

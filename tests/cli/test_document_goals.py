"""A model that was taught documents makes a forage take them as servers send them, without any option."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.taught import LOOPBACK
from tests.servers import Answer, serve
from wayhound.app.review import Review
from wayhound.cli import run
from wayhound.media import DOCUMENT
from wayhound.trail import FAIL
from wayhound.visit import Visit
from wayhound.workspace import Workspace

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
LARGE = b"%PDF-1.4\n" + bytes(6_000_000)
PAPERS = """<h1>Publications</h1><p>Papers as PDF:<ul>
<li><a href="/pub/large.pdf">Full text (PDF)</a> <li><a href="/pub/saved.pdf">Full text (PDF)</a>
<li><a href="/pub/word.docx">Full text (PDF)</a> <li><a href="/pub/data.zip">Full text (PDF)</a>
<li><a href="/pub/note.html">Full text (PDF)</a></ul>"""


def file(media_type: str, body: bytes) -> Answer:
    return Answer(body, headers=(("Content-Type", media_type),))


SITE: dict[str, str | Answer] = {
    "/": "<h1>Department</h1><nav><a href='/publications/'>Publications</a> <a href='/news'>News</a></nav>",
    "/publications/": PAPERS,
    "/news": "<h1>News</h1>",
    "/pub/large.pdf": file("application/pdf", LARGE),
    "/pub/saved.pdf": file("application/octet-stream", b"%PDF-1.4\nsaved"),
    "/pub/word.docx": file(WORD, b"PK\x03\x04word"),
    "/pub/data.zip": file("application/zip", b"PK\x03\x04zip"),
    "/pub/note.html": "<title>Full text</title><p>On paper only.",
}


@pytest.fixture(scope="module")
def once_taught(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents") / "workspace"
    assert run(["init", str(folder)]) == 0
    teach = ["trails", "from-samples", "physics", "biology", "--goal", "paper", "--trails", "4"]
    assert run([*teach, "-w", str(folder)]) == 0
    assert run(["train", "--settings", "default", "-w", str(folder)]) == 0
    return folder


def foraged(folder: Path, *options: str) -> dict[str, Visit]:
    with serve(SITE) as site:
        assert run(["forage", f"{site}/", "-w", str(folder), *LOOPBACK, *options]) == 0
        with Workspace.open(folder) as workspace:
            [last] = workspace.stores.forage.runs()
            visits = workspace.stores.forage.visits_of(last.id, f"{site}/")
            return {visit.url.rpartition("/")[2]: visit for visit in visits}


def test_documents_of_any_kind_and_size_are_goals_and_nothing_else_is(
    once_taught: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(once_taught, tmp_path / "w"))
    visits = foraged(folder, "--strategy", "adaptive")
    assert {name for name, visit in visits.items() if visit.is_goal} == {
        "large.pdf",
        "saved.pdf",
        "word.docx",
    }
    assert visits["data.zip"].outcome == "content_type"  # no ZIP was shown
    assert visits["note.html"].outcome == "ok"


def test_a_document_that_is_no_goal_is_rejected_and_learned_from(once_taught: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(once_taught, tmp_path / "w"))
    wrong = foraged(folder, "--strategy", "adaptive")["word.docx"]
    with Workspace.open(folder) as workspace:
        [last] = workspace.stores.forage.runs()
        number = Review(workspace, last.id).reject(wrong.site, wrong.number, 1.0)
        assert number is not None
        trail = workspace.stores.trails.get(number).trail
    end = trail.steps[-1]
    assert (end.page.url, end.page.kind, end.page.content_type, end.label) == (
        wrong.url,
        DOCUMENT,
        WORD,
        FAIL,
    )
    assert [step.link.text for step in trail.steps if step.link] == ["Publications", "Full text (PDF)"]


def test_a_forage_that_was_taught_nothing_takes_files_as_it_always_did(tmp_path: Path) -> None:
    assert run(["init", str(tmp_path / "w")]) == 0
    visits = foraged(tmp_path / "w", "--goal-pattern", "note")
    assert {name: visit.outcome for name, visit in visits.items() if name.endswith((".pdf", ".docx"))} == {
        "large.pdf": "too_big",
        "saved.pdf": "content_type",
        "word.docx": "content_type",
    }
    assert [name for name, visit in visits.items() if visit.is_goal] == ["note.html"]

"""Papers as a person types them, also when the command is killed in the middle."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tests.app.papers.made import add, dump, write_papers, write_sample_pdfs, write_unreadable
from tests.store.samples import lease
from wayhound.cli.papers import papers
from wayhound.errors import UsageError
from wayhound.site import Site
from wayhound.store.protocol import RunLimits
from wayhound.visit import ArchiveRef, Visit
from wayhound.workspace import Workspace

WAYHOUND = [sys.executable, "-m", "wayhound"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Workspace.create(tmp_path / "w").close()
    return tmp_path


def call(folder: Path, *arguments: str) -> Result:
    """Run a command; errors of ours come through, as the wrapper of all commands expects."""
    return CliRunner().invoke(papers, [*arguments, "-w", str(folder / "w")], catch_exceptions=False)


def ready(folder: Path) -> str:
    """Three papers; the id of the one that is cited most."""
    write_papers(folder / "files")
    call(folder, "add", str(folder / "files"))
    return str(json.loads(call(folder, "list", "--json").stdout.splitlines()[0])["id"])


def test_papers_are_added_with_a_line_each_and_a_summary(folder: Path) -> None:
    write_papers(folder / "files")
    result = call(folder, "add", str(folder / "files"))
    assert result.exit_code == 0
    assert [line.split("  ")[1:] for line in result.stdout.splitlines()] == [
        ["Hops to the distant goal", "[2 references]"],
        ["Where do rivers begin in spring", "[1 reference]"],
        ["Growing trees of many topics", "[2 references]"],
    ]
    assert "3 files: 3 added; 3 papers." in result.stderr
    again = call(folder, "add", str(folder / "files"))
    assert (again.exit_code, again.stdout) == (0, "")
    assert "3 known before" in again.stderr


def test_a_file_that_comes_twice_is_counted_once_and_told(folder: Path) -> None:
    first = write_papers(folder / "files")[0]
    (folder / "files" / "zz-copy.txt").write_bytes(first.read_bytes())
    result = call(folder, "add", str(folder / "files"))
    assert result.stdout.splitlines()[-1].endswith(f"  zz-copy.txt: the same content as {first.name}.")
    assert "4 files: 3 added, 1 with the same content as another; 3 papers." in result.stderr
    assert "wayhound serve" in result.stderr


def test_files_that_cannot_be_read_have_a_line_with_the_reason(folder: Path) -> None:
    outcomes = write_unreadable(folder / "files")
    expected = {name: outcome.replace("_", " ") for name, outcome in outcomes.items()}
    write_papers(folder / "files")
    result = call(folder, "add", str(folder / "files"))
    assert result.exit_code == 1
    for name, reason in expected.items():
        (line,) = [line for line in result.stdout.splitlines() if name in line]
        assert f"{name}: {reason}. " in line
    assert "8 files: 8 added; 3 papers, " in result.stderr
    listed = call(folder, "list", "--unread").stdout
    assert all(f"{name}: {reason}. " in listed for name, reason in expected.items())
    assert "5 unread files: " in call(folder, "list").stderr


def test_documents_are_exported_with_the_papers_and_counted_apart(folder: Path) -> None:
    ready(folder)
    (folder / "pump.txt").write_text(f"The pump in the garden\n\nCarl Stone\n\n{'Fill the pump. ' * 30}")
    call(folder, "add", str(folder / "pump.txt"))
    exported = call(folder, "export")
    assert exported.stderr.strip() == "3 papers and 1 other document"
    assert "@misc{stonepump" in exported.stdout
    assert "1 other document: " in call(folder, "list").stderr


def test_files_that_ask_not_to_be_indexed_are_left_out_and_it_is_said(folder: Path) -> None:
    with Workspace.open(folder / "w") as workspace:
        store = workspace.stores.forage
        run = store.open_run({"strategy": "x"}, RunLimits(), [Site("http://a.example/")], 0.0)
        job = lease(store, run, "h:1:0", 0.0)
        place = ArchiveRef("a.warc.gz", 10, 20)
        file = Visit(
            job.site.start, 0, job.site.start, "ok", 1.0, status=200, robots="noindex", archived=place
        )
        store.save_visit(job, replace(file, content_type="application/pdf"))
    told = call(folder, "add", "--from-forage").stderr
    assert "Left out 1 fetched file: servers ask not to index" in told
    assert "There is nothing new to read." in told


def test_what_is_asked_for_must_make_sense(folder: Path) -> None:
    with pytest.raises(UsageError, match="Name files or folders"):
        call(folder, "add")
    with pytest.raises(UsageError, match="--run goes with --from-forage"):
        call(folder, "add", str(folder), "--run", "1")
    with pytest.raises(UsageError, match="There is no run 7"):
        call(folder, "add", "--from-forage", "--run", "7")
    assert "There is nothing new to read." in call(folder, "add", "--from-forage").stderr
    assert "There are no papers yet" in call(folder, "list").stderr


def test_papers_are_listed_by_what_is_asked_for(folder: Path) -> None:
    ready(folder)
    by_cited = [line.split()[1:3] for line in call(folder, "list").stdout.splitlines()[1:]]
    assert by_cited[0] == ["2", "Hops"]
    titles = [json.loads(line)["fields"]["title"][0]["text"] for line in
              call(folder, "list", "--sort", "title", "--json").stdout.splitlines()]  # fmt: skip
    assert titles == sorted(titles)
    assert "3 papers, 1 of them shown" in call(folder, "list", "--limit", "1", "--sort", "year").stderr


def test_a_paper_is_shown_with_fields_references_and_who_cites_it(folder: Path) -> None:
    shown = call(folder, "show", ready(folder)[:8]).stdout
    for part in (
        "Hops to the distant goal", "Anna Lind", "p. 1", "References (2)", "in the workspace as",
        "not in the workspace", "Cited by (2)", "As was shown in [1]", "hops.txt",
    ):  # fmt: skip
        assert part in shown, part


def test_a_paper_is_told_as_json(folder: Path) -> None:
    told = json.loads(call(folder, "show", ready(folder), "--json").stdout)
    assert told["fields"]["title"][0]["text"] == "Hops to the distant goal"
    assert told["fields"]["title"][0]["page"] == 1
    assert [each["number"] for each in told["references"]] == [1, 2]
    assert told["references"][0]["held"]
    assert len(told["cited_by"]) == 2
    assert told["cited_by"][0]["sentences"][0]["sentence"].startswith("As was shown")


@pytest.mark.parametrize(
    ("file_format", "part"),
    [
        ("bibtex", "title = {Hops to the distant goal}"),
        ("ris", "TI  - Hops to"),
        ("csl-json", '"title": "Hops to'),
    ],
)
def test_papers_are_exported_with_what_others_say_of_them(folder: Path, file_format: str, part: str) -> None:
    paper = ready(folder)
    text = call(folder, "export", paper, "--format", file_format).stdout
    assert part in text
    assert "Journal of Trails" in text
    assert "1999" in text
    out = folder / "out"
    assert "3 papers in" in call(folder, "export", "--format", file_format, "--out", str(out)).stderr
    assert part in out.read_text()


def test_a_correction_goes_round(folder: Path) -> None:
    paper = ready(folder)
    done = call(folder, "correct", paper, "author", "Anna Lind", "Bo Wood", "--by", "Eva")
    assert done.stdout == "- author: Anna Lind\n+ author: Anna Lind\n+ author: Bo Wood\n"
    call(folder, "correct", paper, "email", "--none")
    assert call(folder, "read", "--again").exit_code == 0
    shown = call(folder, "show", paper).stdout
    assert "author: Anna Lind → Anna Lind | Bo Wood (Eva)" in shown
    told = json.loads(call(folder, "show", paper, "--json").stdout)
    assert [each["text"] for each in told["fields"]["author"]] == ["Anna Lind", "Bo Wood"]
    assert "email" not in told["fields"]
    with pytest.raises(UsageError, match="Give the values"):
        call(folder, "correct", paper, "title")


def test_corrections_are_undone_the_last_one_first(folder: Path) -> None:
    paper = ready(folder)
    fields = json.loads(call(folder, "show", paper, "--json").stdout)["fields"]
    call(folder, "correct", paper, "title", "Leaps to the goal")
    call(folder, "correct", paper, "title", "Bounds to the goal")
    call(folder, "correct", paper, "email", "--none")
    assert "Undone: the correction of email of " in call(folder, "undo").stderr
    assert "to Bounds to the goal." in call(folder, "undo", paper[:8]).stderr
    data = json.loads(call(folder, "show", paper, "--json").stdout)
    assert [value["text"] for value in data["fields"]["title"]] == ["Leaps to the goal"]
    assert len(data["corrections"]) == 1
    call(folder, "undo")
    assert json.loads(call(folder, "show", paper, "--json").stdout)["fields"] == fields
    with pytest.raises(UsageError, match="nothing to undo"):
        call(folder, "undo")


def test_models_are_trained_and_files_read_with_them(folder: Path) -> None:
    paper = ready(folder)
    call(folder, "correct", paper, "address", "University of Somewhere")
    call(folder, "correct", paper, "affiliation", "Department of Walking")
    result = call(folder, "train")
    assert "Learned from 1 corrected header" in result.stdout
    assert "of 2 before, 2 of 2 now" in result.stdout
    assert json.loads(call(folder, "train", "--json").stdout)["right_after"] == 2
    assert "3 read again" in call(folder, "read").stderr
    assert "All files have been read with the current models" in call(folder, "read").stderr


def test_papers_are_read_with_the_model_that_was_chosen(folder: Path) -> None:
    ready(folder)
    assert "3 read again" in call(folder, "read", "--model", "hmm").stderr
    assert "All files have been read" in call(folder, "read").stderr
    tagged = folder / "data" / "papers" / "references"
    tagged.mkdir(parents=True)
    (tagged / "cora.train.txt").write_text("<author> A. Lind. </author> <title> Hops. </title>\n")
    result = call(folder, "train", "--data", str(folder / "data"))
    assert "Learned from 1 tagged references" in result.stdout
    assert "with the new HMM" in result.stderr
    assert "3 read again" in call(folder, "read", "--model", "crf").stderr


def start(folder: Path, workers: int) -> subprocess.Popen[str]:
    options = ["-w", str(folder / "w"), "--workers", str(workers)]
    return subprocess.Popen(
        [*WAYHOUND, "papers", "add", str(folder / "pdfs"), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def children_of(process: int) -> list[int]:
    """All processes below one, as the system lists them."""
    try:
        own = [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except FileNotFoundError:
        return []
    return [each for child in own for each in (child, *children_of(child))]


@pytest.mark.parametrize("workers", [1, 2])
def test_killed_in_the_middle_it_goes_on_and_ends_as_if_nothing_had_been(folder: Path, workers: int) -> None:
    files = write_sample_pdfs(folder / "pdfs", "math")[:9]
    for path in (folder / "pdfs").iterdir():
        if path not in files:
            path.unlink()
    for lines in (1, 3):
        process = start(folder, workers)
        assert process.stdout
        for _ in range(lines):
            process.stdout.readline()
        below = children_of(process.pid)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        wait_until_gone(below)
    process = start(folder, workers)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 0, said
    assert "9 files: " in said
    assert " known before; 9 papers." in said
    with Workspace.open(folder / "w") as killed, Workspace.create(folder / "other") as whole:
        add(whole, folder / "pdfs")
        assert dump(killed) == dump(whole)


def wait_until_gone(processes: list[int]) -> None:
    """Nobody is left to read for a command that is no more."""
    deadline = time.monotonic() + 120
    while any(is_running(process) for process in processes):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_ctrl_c_ends_after_the_file_under_way_and_the_same_command_goes_on(folder: Path) -> None:
    write_sample_pdfs(folder / "pdfs", "math")
    process = start(folder, 2)
    assert process.stdout
    process.stdout.readline()
    os.kill(process.pid, signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "The same command resumes it." in said
    assert "Traceback" not in said

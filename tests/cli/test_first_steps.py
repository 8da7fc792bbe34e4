"""First steps of a new user: mistyped words, lists as spreadsheets save them, and always a next step."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.servers import Served, serve
from wayhound.cli import run
from wayhound.cli.console import command_for, short_path
from wayhound.fetched import FailureReason
from wayhound.wording.faults import FAULTS, format_ending, format_fault

SITE = {
    "/": "<title>Home</title><a href='/about'>About us</a> <a href='/contact'>Contact</a>",
    "/about": "<title>About</title><a href='/'>Home</a>",
    "/contact": "<title>Contact us</title>Our address",
}
LOOPBACK = ["--allow-private", "--delay", "0"]


@pytest.fixture
def server() -> Iterator[Served]:
    with serve(SITE) as served:
        yield served


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert run(["init", "mine"]) == 0
    return Path("mine")


# words


@pytest.mark.parametrize(
    ("typo", "meant"), [("int", "init"), ("teech", "teach"), ("review", "studio"), ("crawl", "forage")]
)
def test_a_word_that_is_no_command_gets_the_one_that_is_meant(
    typo: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([typo]) == 2
    assert f"Do you mean `wayhound {meant}`" in capsys.readouterr().err


def test_nothing_is_guessed_for_a_word_that_is_like_no_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["xyzzy"]) == 2
    assert "mean" not in capsys.readouterr().err


def test_help_can_be_asked_for_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["help"]) == 0
    assert "First steps" in capsys.readouterr().out
    assert run(["help", "forage"]) == 0
    assert "wayhound forage [OPTIONS]" in capsys.readouterr().out
    assert run(["trails", "lst"]) == 2
    assert "Do you mean `wayhound trails list`" in capsys.readouterr().err
    assert run(["help", "review"]) == 2
    assert "Do you mean `wayhound studio`" in capsys.readouterr().err


def test_every_reason_of_a_failed_fetch_has_words() -> None:
    assert set(FailureReason.__args__) <= set(FAULTS)  # type: ignore[attr-defined]
    assert format_ending("start page failed (dns)") == "start page failed: no host has that name"
    assert format_ending("budget spent") == "budget spent"
    assert format_fault("http_418") == "the site answered 418"
    assert format_fault("looping_path") == "the address repeats itself"


# next steps


def test_a_new_workspace_says_what_comes_next(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["init", "yours"]) == 0
    said = capsys.readouterr().err
    assert "Next:" in said
    assert "wayhound teach https://one.example https://two.example -w yours" in said


def test_tables_in_a_pipe_are_not_folded(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["samples"]) == 0
    [physics] = (line for line in capsys.readouterr().out.splitlines() if line.startswith("physics."))
    assert "Department of Physics, University of Quillhaven" in physics


def test_a_command_is_told_as_it_can_be_typed_here(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command_for(workspace, "train") == "wayhound train -w mine"
    assert command_for(tmp_path / "my sites", "train") == "wayhound train -w 'my sites'"
    monkeypatch.chdir(workspace)
    assert command_for(Path(), "train") == "wayhound train"
    assert short_path(Path()) == "this folder"


def test_who_stands_beside_the_workspace_is_told_where_it_is(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["status"]) == 3
    assert "mine is one: add -w mine, or go there with cd." in capsys.readouterr().err
    assert run(["status", "-w", "yours"]) == 3
    assert "mine is one" not in capsys.readouterr().err
    assert run(["init", "mine"]) == 3
    assert capsys.readouterr().err == "wayhound: mine is a workspace already.\n"


def test_status_of_an_empty_workspace_leads_to_teaching_and_then_to_training(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["status", "-w", "mine"]) == 0
    assert "wayhound teach" in capsys.readouterr().err
    assert run(["trails", "from-samples", "physics", "--goal", "course", "--trails", "2", "-w", "mine"]) == 0
    capsys.readouterr()
    assert run(["status", "-w", "mine"]) == 0
    told = capsys.readouterr()
    assert "4 trails, 0 trained models" in told.out
    assert "wayhound train -w mine" in told.err


def test_an_empty_list_of_trails_names_the_command_that_makes_them(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["trails", "list", "-w", "mine"]) == 0
    assert "wayhound teach https://one.example -w mine" in capsys.readouterr().err


def test_an_export_of_nothing_says_so_and_of_an_unknown_run_is_refused(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", "goals", "-w", "mine"]) == 0
    assert "0 goals. To see what there is: wayhound status -w mine" in capsys.readouterr().err
    assert run(["export", "goals", "-w", "mine", "--run", "9"]) == 2
    assert "no run 9" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["goals.ods", "goals.txt"])
def test_a_file_is_never_written_in_another_format_than_its_name_promises(
    name: str, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", "goals", "-w", "mine", "--out", name]) == 2
    assert "ends in .csv (for spreadsheets)" in capsys.readouterr().err
    assert not Path(name).exists()
    assert run(["export", "goals", "-w", "mine", "--out", name, "--format", "jsonl"]) == 0


def test_a_training_says_in_a_sentence_how_well_it_went(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["train", "--show", "-w", str(trained)]) == 0
    told = capsys.readouterr().out
    assert "goal pages on 2 sites: too few to trust. Teach 1 more site" in told
    assert "says course" not in told  # features are told in words
    assert "in the link" in told


def test_links_of_a_page_are_told_by_their_paths_and_in_words(
    trained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = "<title>Home</title><a href='/courses'>Courses</a><a href='http://other.example/'>Other</a>"
    with serve({"/": page}) as server:
        assert run(["explain", f"{server}/", "-w", str(trained), "--allow-private"]) == 0
    told = capsys.readouterr()
    assert "/courses" in told.out
    assert f"{server}/courses" not in told.out
    assert "not followed: 1 (it leads to another site)" in told.err


# lists of sites


def test_a_keyword_is_all_that_a_forage_needs(
    server: Served, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only pages that match the wanted words count as found."""
    assert run(["forage", f"{server}/", "-w", "mine", "--keyword", "contact", *LOOPBACK]) == 0
    told = capsys.readouterr()
    assert told.out == f"{server}/contact\tContact us\n"
    assert "by the words contact" in told.err
    assert "1 goal on 1 site." in told.err
    assert "wayhound export goals --out goals.csv -w mine" in told.err


def test_a_trained_model_is_used_without_being_named(
    trained: Path, server: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["forage", f"{server}/", "-w", str(trained), *LOOPBACK]) == 0
    assert "by the model paths" in capsys.readouterr().err


def test_a_pattern_is_obeyed_even_where_a_model_is(
    trained: Path, server: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["forage", f"{server}/", "-w", str(trained), "--goal-pattern", "contact", *LOOPBACK]) == 0
    assert "breadth-first" in capsys.readouterr().err


def test_a_forage_that_looks_for_nothing_says_so(
    server: Served, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["forage", f"{server}/", "-w", "mine", *LOOPBACK]
    assert run(command) == 0
    told = capsys.readouterr().err
    assert "nothing says what you are looking for" in told
    assert "--keyword contact" in told
    assert run(command) == 0
    assert "add --again" in capsys.readouterr().err


def test_another_list_of_sites_is_another_run_and_that_is_said(
    server: Served, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        assert run(["forage", f"{server.at(f'{name}.localhost')}/", "-w", "mine", *LOOPBACK]) == 0
    assert "To add these sites to it instead: --into 1" in capsys.readouterr().err
    added = ["forage", f"{server.at('b.localhost')}/", "-w", "mine", *LOOPBACK, "--into", "1"]
    assert run(added) == 0
    assert "The run also has 1 site of earlier lists" in capsys.readouterr().err


def test_a_table_of_companies_is_read_as_the_spreadsheet_saved_it(
    server: Served, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    host = str(server).removeprefix("http://")
    Path("firms.csv").write_bytes(f"Name;Website\r\nMüller;{host}\r\nBit;\r\n".encode("cp1252"))
    assert run(["forage", "firms.csv", "-w", "mine", *LOOPBACK]) == 0
    told = capsys.readouterr().err
    assert "Skipped 1 line without a usable web address: line 3 of firms.csv." in told
    assert "3 pages" in told


def test_a_list_in_utf_16_is_read_too(server: Served, workspace: Path) -> None:
    Path("sites.txt").write_text(f"{server}/\r\n", encoding="utf-16")
    assert run(["forage", "sites.txt", "-w", "mine", *LOOPBACK]) == 0


def test_a_bare_host_is_an_address_and_a_missing_file_is_none(
    server: Served, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["forage", str(server).removeprefix("http://"), "-w", "mine", *LOOPBACK]) == 0
    capsys.readouterr()
    for wrong, words in {
        "sites.md": "There is no file sites.md here",
        "mine": "is a folder",
        "book.xlsx": "no file",
    }.items():
        assert run(["forage", wrong, "-w", "mine"]) == 2
        assert words in capsys.readouterr().err
    Path("book.xlsx").write_bytes(b"PK")
    assert run(["forage", "book.xlsx", "-w", "mine"]) == 2
    assert "Save it as CSV" in capsys.readouterr().err


def test_why_a_site_gave_nothing_is_told_in_words(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["forage", "http://127.0.0.1:8099/", "-w", "mine", "--delay", "0"]) == 1
    told = capsys.readouterr().err
    assert "start page failed: a private address" in told
    assert "1 site returned no page." in told


def test_a_port_that_is_taken_is_told_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert run(["samples", "--serve", "--port", str(taken.getsockname()[1])]) == 2
    assert "cannot be used" in capsys.readouterr().err


def test_a_site_that_cannot_be_recorded_keeps_no_other_from_it(
    server: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["record", "http://nowhere.invalid/", f"{server}/", "--out", str(tmp_path / "kept"), *LOOPBACK]
    assert run(command) == 1
    told = capsys.readouterr().err
    assert "http://nowhere.invalid/ start page failed: no host has that name" in told
    assert "1 site of 2 could not be recorded." in told
    assert "nothing says what you are looking for" not in told
    assert [folder.name for folder in (tmp_path / "kept").iterdir()] == [
        str(server).removeprefix("http://").replace(":", "_")
    ]


def test_status_can_be_asked_of_one_run(
    server: Served, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in (["--goal-pattern", "about"], ["--goal-pattern", "contact"]):
        assert run(["forage", f"{server}/", "-w", "mine", *words, *LOOPBACK]) == 0
    capsys.readouterr()
    assert run(["status", "-w", "mine", "--run", "1"]) == 0
    told = capsys.readouterr().out
    assert "Run 1" in told
    assert "Run 2" not in told
    assert run(["status", "-w", "mine", "--run", "9"]) == 2


# narrow, plain and piped


def test_a_table_of_sites_fits_a_narrow_terminal(server: Served, workspace: Path) -> None:
    assert run(["forage", f"{server}/", "-w", "mine", *LOOPBACK]) == 0
    command = [sys.executable, "-m", "wayhound", "status", "-w", "mine"]
    environment = {**os.environ, "COLUMNS": "60"}
    told = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    assert [line for line in told.splitlines() if line.startswith(str(server).removeprefix("http://"))]
    assert "http://" not in told


@pytest.mark.parametrize("columns", ["60", "200"])
def test_nothing_but_words_reaches_a_file_whatever_the_width(columns: str, workspace: Path) -> None:
    environment = {**os.environ, "COLUMNS": columns, "NO_COLOR": "1"}
    command = [sys.executable, "-m", "wayhound", "status", "-w", "mine"]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    assert "\x1b" not in ran.stdout + ran.stderr

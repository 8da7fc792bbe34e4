"""The commands as a person types them: what they do, and what they say when they cannot."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest

from tests.servers import Served, serve
from wayhound import __version__
from wayhound.cli import COMMANDS, SECTIONS, run

SITE = {
    "/": "<title>Home</title><a href='/about'>About us</a> <a href='/contact'>Contact</a>",
    "/about": "<title>About</title><a href='/'>Home</a><a href='/team'>Team</a>",
    "/contact": "<title>Contact us</title>Our address",
    "/team": "<title>Team</title>People",
}
LOOPBACK = ["--allow-private", "--delay", "0"]


@pytest.fixture
def server() -> Iterator[Served]:
    with serve(SITE) as served:
        yield served


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    assert run(["init", str(folder)]) == 0
    return folder


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().err.strip()


def last_sentence(capsys: pytest.CaptureFixture[str]) -> str:
    return said(capsys).splitlines()[-1]


# what the commands do


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert __version__ in capsys.readouterr().out


def test_help_tells_of_every_command_but_the_one_for_processes_of_our_own() -> None:
    told = [name for verbs in SECTIONS.values() for name in verbs]
    assert sorted(told) == sorted(set(COMMANDS) - {"forage-worker"})


def test_what_needs_no_model_and_no_network_loads_no_library_for_them() -> None:
    """numpy and scipy take longer to load, and more memory, than all the rest of a forage's start; aiohttp as long."""
    verbs = ("forage", "status", "compare", "export", "init", "trails")
    modules = ", ".join(COMMANDS[verb].partition(":")[0] for verb in verbs)
    told = f"import sys, {modules}; print({{'numpy', 'scipy', 'aiohttp'}} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", told], check=True, capture_output=True, text=True)
    assert ran.stdout.strip() == "set()"


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    assert "Usage:" in capsys.readouterr().out


def test_a_forage_prints_its_goals_and_says_why_it_stopped(
    server: Served, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["forage", f"{server}/", "-w", str(workspace), "--goal-pattern", "contact", *LOOPBACK]) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{server}/contact\tContact us\n"
    assert "no links left" in printed.err
    assert "4 pages, 1 goal" in printed.err


def test_the_same_command_again_fetches_nothing_and_a_larger_budget_goes_on(
    server: Served, workspace: Path
) -> None:
    command = ["forage", f"{server}/", "-w", str(workspace), *LOOPBACK]
    assert run([*command, "--budget", "2"]) == 0
    assert sum(server.requests.values()) == 3  # robots.txt and two pages
    assert run([*command, "--budget", "2"]) == 0
    pages = {path: asked for path, asked in server.requests.items() if path != "/robots.txt"}
    assert sum(pages.values()) == 2
    assert run([*command, "--budget", "10"]) == 0
    pages = {path: asked for path, asked in server.requests.items() if path != "/robots.txt"}
    assert pages == dict.fromkeys(SITE, 1)


def test_a_total_budget_is_obeyed_exactly_over_sites_and_processes(tmp_path: Path, workspace: Path) -> None:
    with serve(lambda path: None if path.startswith("//") else SITE.get(path)) as server:
        starts = [f"{server.at(f'{name}.localhost')}/" for name in "abcdef"]
        total = ["--total-budget", "11", "--workers", "3"]
        assert run(["forage", *starts, "-w", str(workspace), *total, *LOOPBACK]) == 0
    pages = [seen for seen in server.seen if seen.target != "/robots.txt"]
    assert len(pages) == 11


def test_more_keywords_than_a_command_line_holds_reach_the_processes(server: Served, workspace: Path) -> None:
    words = [word for number in range(20) for word in ("--keyword", f"{'x' * 10_000}{number}")]
    command = ["forage", f"{server}/", "-w", str(workspace), "--workers", "2", *words, *LOOPBACK]
    assert run(command) == 0
    assert server.requests["/"] == 1


def test_status_and_export_show_what_was_fetched(
    server: Served, workspace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["forage", f"{server}/", "-w", str(workspace), *LOOPBACK])
    capsys.readouterr()
    assert run(["status", "-w", str(workspace), "--json"]) == 0
    [forage] = json.loads(capsys.readouterr().out)
    assert forage["progress"]["spent"] == 4
    assert run(["export", "pages", "-w", str(workspace), "--out", str(tmp_path / "pages.csv")]) == 0
    rows = (tmp_path / "pages.csv").read_text().splitlines()
    assert len(rows) == 5
    assert rows[-1].endswith("About us › Team")


def test_a_recorded_site_can_be_replayed(
    server: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["record", f"{server}/", "--out", str(tmp_path / "sites"), *LOOPBACK]) == 0
    capsys.readouterr()
    assert run(["replay", str(tmp_path / "sites"), "--urls"]) == 0
    assert set(capsys.readouterr().out.split()) == {f"{server}{path}" for path in SITE}
    assert run(["replay", str(tmp_path / "sites"), "--json"]) == 0
    [summary] = json.loads(capsys.readouterr().out)
    assert summary["pages"] == 4


def test_a_recorded_site_is_served_on_loopback_until_ctrl_c(server: Served, tmp_path: Path) -> None:
    assert run(["record", f"{server}/", "--out", str(tmp_path / "sites"), *LOOPBACK]) == 0
    command = [sys.executable, "-m", "wayhound", "replay", str(tmp_path / "sites"), "--serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            address = urlsplit(process.stdout.readline().strip())
            assert address.hostname is not None
            assert address.hostname.endswith(
                ".localhost"
            )  # which is this machine, whether it is looked up or not
            asked = Request(f"http://127.0.0.1:{address.port}/", headers={"Host": address.netloc})
            with urlopen(asked) as answer:
                assert "About us" in answer.read().decode()
            process.send_signal(signal.SIGINT)
            assert process.wait(60) in (0, 130)
        finally:
            process.kill()


def test_the_sample_web_is_listed_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["samples"]) == 0
    assert "physics.localhost" in capsys.readouterr().out
    assert run(["samples", "--out", str(tmp_path / "samples")]) == 0
    assert list((tmp_path / "samples").glob("*/labels.tsv"))


# what they say when they cannot


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["forage", "nowhere.txt"], "There is no file nowhere.txt"),
        (["forage", "http://"], "not a web address"),
        (["forage", "http://a.example/", "--budget", "many"], "not a valid integer"),
        (["forage", "http://a.example/", "--strategy", "luck"], "'luck' is not one of"),
        (["forage", "http://a.example/", "--goal-pattern", "("], "not a valid regular expression"),
        (["forage", "http://a.example/", "--strategy", "best-first"], "needs keywords"),
        (
            ["forage", "http://a.example/", "--keyword", "contact", "--ask", "2"],
            "best-first has no questions",
        ),
        (["forage", "http://a.example/", "--agent", "two words"], "letters"),
        (["export", "everything"], "'everything' is not one of"),
        (["replay", "nowhere"], "does not exist"),
        (["dance"], "No such command"),
    ],
)
def test_bad_input_ends_with_one_clear_sentence(
    arguments: list[str], words: str, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["-w", str(workspace)] if arguments[0] in ("forage", "export") else []
    assert run([*arguments, *options]) == 2
    sentence = said(capsys)
    assert words in sentence
    assert "Traceback" not in sentence


def test_a_seed_file_that_is_not_text_is_refused(
    tmp_path: Path, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "seeds.txt").write_bytes(b"\xff\xfe\x00junk")
    assert run(["forage", str(tmp_path / "seeds.txt"), "-w", str(workspace)]) == 2
    assert "not a text file" in last_sentence(capsys)


def test_a_bad_line_of_a_seed_file_is_named_and_skipped(
    tmp_path: Path, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "seeds.txt").write_text("# companies\nhttp://127.0.0.1:9/\nmailto:someone@a.example\n")
    assert run(["forage", str(tmp_path / "seeds.txt"), "--keyword", "x", "-w", str(workspace)]) == 1
    message = " ".join(capsys.readouterr().err.split())
    assert "Skipped 1 line without a usable web address: line 3 of" in message
    assert "its port belongs to another kind of server" in message


def test_a_folder_that_is_no_workspace_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status", "-w", str(tmp_path)]) == 3
    assert "wayhound init" in last_sentence(capsys)


def test_a_private_address_is_refused_unless_asked_for(
    server: Served, workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["forage", f"{server}/", "-w", str(workspace), "--delay", "0"]) == 1
    assert "private_address" in said(capsys)
    assert not server.requests


def test_a_locked_database_ends_with_one_sentence_and_no_damage(
    server: Served, workspace: Path, tmp_path: Path
) -> None:
    holder = sqlite3.connect(workspace / "wayhound.db")
    holder.execute("BEGIN EXCLUSIVE")
    command = [sys.executable, "-m", "wayhound", "forage", f"{server}/", "-w", str(workspace), *LOOPBACK]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    holder.rollback()
    holder.close()
    assert refused.returncode == 3
    assert len(refused.stderr.strip().splitlines()) == 1
    assert "Traceback" not in refused.stderr
    assert run(["forage", f"{server}/", "-w", str(workspace), *LOOPBACK]) == 0


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_ends_with_one_sentence_and_the_same_command_goes_on(tmp_path: Path) -> None:
    pages = {"/": "<a href='/1'>one</a>"}
    for n in range(1, 60):  # bodies that do not compress
        noise = " ".join(f"{(n * 7919 + step * 104729) ** 5:x}" for step in range(4000))
        pages[f"/{n}"] = f"<title>{n}</title><a href='/{n + 1}'>next</a>{noise}"
    with serve(pages) as server, small_disk(tmp_path / "disk", 4) as disk:
        filler = disk / "filler"
        workspace = disk / "workspace"
        assert run(["init", str(workspace)]) == 0
        filler.write_bytes(bytes(1_500_000))
        command = [sys.executable, "-m", "wayhound", "forage", f"{server}/", "-w", str(workspace), *LOOPBACK]
        status = [sys.executable, "-m", "wayhound", "status", "-w", str(workspace), "--json"]
        full = subprocess.run([*command, "--budget", "59"], capture_output=True, text=True, check=False)
        assert full.returncode in (3, 4)
        assert "disk is full" in full.stderr.strip().splitlines()[-1]
        assert "Traceback" not in full.stderr
        saved = json.loads(subprocess.run(status, capture_output=True, check=True).stdout)[0]["progress"][
            "spent"
        ]
        filler.unlink()
        before = sum(server.requests.values())
        assert (
            subprocess.run(
                [*command, "--budget", str(saved + 3)], capture_output=True, check=False
            ).returncode
            == 0
        )
        # three more, and perhaps the one whose answer found no room; robots.txt is asked anew
        assert sum(server.requests.values()) - before == 3 + 1

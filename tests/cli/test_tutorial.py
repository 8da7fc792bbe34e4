"""README and tutorial are followed, command by command, on the sample web; goals are found where they say so."""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from wayhound.cli import run
from wayhound.samples import SampleServer, sample_web, serve_samples
from wayhound.workspace import Workspace

ROOT = Path(__file__).parent.parent.parent
SERVED = "8765"  # the port that the pages name
# what a test cannot do: install, browse by hand, and serve until somebody stops it
NOT_RUN = ("make ", "source ", "cat ", "cd ", "wayhound studio", "wayhound teach", "wayhound serve",
           "wayhound samples --serve")  # fmt: skip
COMPANIES = ("lanterns", "teahouse", "pumpen")
DEPARTMENTS = ("math", "biology")


@pytest.fixture(scope="module")
def web() -> Iterator[SampleServer]:
    with serve_samples(sample_web()) as server:
        yield server


def steps(page: str, section: str = "") -> list[str]:
    """Return the lines of the shell blocks of a page, or of one of its sections, with what they write to files."""
    text = (ROOT / page).read_text()
    if section:
        text = text.partition(f"## {section}\n")[2].partition("\n## ")[0]
    lines: list[str] = []
    for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL):
        lines += re.sub(r"(cat > \S+) <<'END'\n.*?\nEND", r"\1", block, flags=re.DOTALL).splitlines()
    return [line for line in lines if line.strip()]


def files(page: str) -> dict[str, str]:
    """Return the files that a page writes with `cat`, by name."""
    text = (ROOT / page).read_text()
    return dict(re.findall(r"cat > (\S+) <<'END'\n(.*?)END", text, re.DOTALL))


def follow(line: str, port: int, *more: str) -> None:
    words = shlex.split(line.replace(SERVED, str(port)), comments=True)
    if words[1] == "forage" and "--delay" not in words:
        more = (*more, "--delay", "0")  # nobody else is asked
    try:
        code = run([*words[1:], *more])
    except SystemExit as end:
        code = int(end.code or 0)
    assert code == 0, line


def goals_on(workspace: str, host: str) -> int:
    with Workspace.open(Path(workspace)) as opened:
        return sum(host in goal.site for goal in opened.stores.goals.goals())


def test_the_tutorial_can_be_followed_and_finds_what_it_says(
    web: SampleServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    written = files("docs/tutorial.md")
    ran = 0
    for line in steps("docs/tutorial.md"):
        if line.startswith("cat > "):
            name = line.removeprefix("cat > ")
            Path(name).write_text(written[name].replace(SERVED, str(web.port)))
        if not line.startswith(NOT_RUN):
            follow(line, web.port)
            ran += 1
    assert ran > 15
    assert goals_on("tea", "lanterns") > 0
    assert goals_on("tea", "teahouse") > 0
    assert goals_on("courses", "informatik") >= 10  # in a language that was not taught
    assert len(Path("goals.csv").read_text().splitlines()) > 10
    follow(
        f"wayhound forage http://linguistique.localhost:{SERVED}/ -w courses --delay 0 --budget 30",
        web.port,
        "--allow-private",
    )
    assert goals_on("courses", "linguistique") >= 8
    capsys.readouterr()


def test_the_commands_of_the_readme_can_be_followed_with_sites_of_the_sample_web(
    web: SampleServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    local = ("--allow-private",)
    [init, *rest] = [
        line for line in steps("README.md", "Your own sites") if not line.startswith(("source ", "cd "))
    ]
    follow(init, web.port)
    monkeypatch.chdir(tmp_path / "mine")
    rows = "\n".join(f"{name},http://{name}.localhost:{web.port}/" for name in COMPANIES)
    Path("firms.csv").write_text(f"firm,website\n{rows}\nNobody,\n")
    starts = [f"http://{name}.localhost:{web.port}/" for name in DEPARTMENTS]
    Path("departments.txt").write_text("\n".join(starts))
    ran = []
    for line in rest:
        if line.startswith("wayhound teach"):  # by labels in place of clicks
            follow("wayhound trails from-samples physics cs --goal publication --trails 4", web.port)
        elif line.startswith("wayhound train"):
            follow("wayhound train", web.port)
        elif line.startswith("wayhound topics init"):
            for part in line.split(" && "):
                follow(part, web.port)
        elif not line.startswith(NOT_RUN):
            follow(line, web.port, *(local if line.startswith("wayhound forage") else ()))
            ran.append(line.split()[1])
    assert {"forage", "export", "status", "papers"} <= set(ran)
    contacts = list(csv.DictReader(Path("contacts.csv").read_text().splitlines()))
    assert {row["site"] for row in contacts} >= {f"http://lanterns.localhost:{web.port}/"}
    facts = {row["firm"]: row for row in csv.DictReader(Path("facts.csv").read_text().splitlines())}
    assert facts["lanterns"]["email"] == "info@lanterns.example"
    assert facts["Nobody"]["status"] == "no web address in this row"
    assert sum(goals_on(".", name) for name in DEPARTMENTS) > 0
    capsys.readouterr()

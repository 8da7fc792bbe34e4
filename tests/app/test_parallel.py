"""Work on independent items: in this process, in others, and on a real Ray cluster that is started here."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from subprocess import PIPE

import pytest

from tests.app.evaluate.test_lessons import SIZE, WORLDS
from tests.app.papers.made import dump, write_papers
from tests.cli.test_topics import call, folder, ready
from tests.servers import serve
from wayhound.app.evaluate.evaluation import Evaluation
from wayhound.app.parallel import map_items
from wayhound.cli import run
from wayhound.errors import ArchiveError, WayhoundError
from wayhound.workspace import Workspace

__all__ = ["folder"]

HOLD = """
import sys
from wayhound.app.ray_cluster import ClusterOptions, connect
ray = connect(ClusterOptions("local"))
print(ray.get_runtime_context().gcs_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """A Ray cluster on this machine that all tests share; commands find it as `auto`."""
    if not find_spec("ray"):
        pytest.skip("Ray is not installed (the extra cluster)")
    command = [sys.executable, "-c", HOLD]
    with ExitStack() as stack:
        environment = stack.enter_context(pytest.MonkeyPatch.context())
        environment.setenv("RAY_AUTH_MODE", "disabled")  # else other processes would need its token
        holder = stack.enter_context(
            subprocess.Popen(command, stdin=PIPE, stdout=PIPE, stderr=PIPE, text=True)
        )
        assert holder.stdout is not None
        address = holder.stdout.readline().strip()
        if not address and "No Ray cluster answers" in holder.communicate()[1]:
            pytest.skip("Ray's own processes do not start within its patience on this machine")
        environment.setenv("RAY_ADDRESS", address)
        yield "auto"
        holder.communicate(timeout=60)  # the end of its input ends the cluster


@contextmanager
def squaring(setup: tuple[int, Path]) -> Iterator[Callable[[int], int]]:
    """Open what adds a number to squares. Some items do what real ones do at times."""
    plus, marks = setup

    def work(item: int) -> int:
        if item == 5:
            _die_once(marks / "died")
        if item == 6:
            os.kill(os.getpid(), signal.SIGKILL)
        if item == 7:
            raise ArchiveError("The page is gone.")
        return item * item + plus

    yield work


def _die_once(mark: Path) -> None:
    """End this process as the loss of its machine does; the next one that comes here goes on."""
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)


ITEMS = [("one", 1), ("none", None), ("three", 3), ("four", 4)]
SQUARES = [("one", 11), ("none", None), ("three", 19), ("four", 26)]


@pytest.mark.parametrize("workers", [1, 2])
def test_results_come_in_the_order_of_the_items(tmp_path: Path, workers: int) -> None:
    assert list(map_items(squaring, (10, tmp_path), ITEMS, workers=workers)) == SQUARES


def test_a_process_that_is_killed_ends_the_work_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(WayhoundError, match="was killed, perhaps for lack of memory"):
        list(map_items(squaring, (10, tmp_path), [("six", 6)], workers=2))


def test_the_items_of_a_process_that_dies_on_a_cluster_are_done_again(tmp_path: Path, cluster: str) -> None:
    items = [*ITEMS, ("five", 5), *((str(number), number) for number in range(10, 20))]
    squares = [*SQUARES, ("five", 35), *((str(number), number**2 + 10) for number in range(10, 20))]
    assert list(map_items(squaring, (10, tmp_path), items, cluster=cluster)) == squares
    assert (tmp_path / "died").exists()


def test_errors_of_items_arrive_from_a_cluster_as_they_are(tmp_path: Path, cluster: str) -> None:
    with pytest.raises(ArchiveError, match="The page is gone"):
        list(map_items(squaring, (10, tmp_path), [("seven", 7)], cluster=cluster))


def test_an_item_that_kills_every_process_is_given_up_with_a_sentence(tmp_path: Path, cluster: str) -> None:
    with pytest.raises(WayhoundError, match="ended again and again at the same item"):
        list(map_items(squaring, (10, tmp_path), [("six", 6)], cluster=cluster))


def test_papers_are_read_alike_on_a_cluster(tmp_path: Path, cluster: str) -> None:
    papers = tmp_path / "papers"
    write_papers(papers)
    contents = []
    for name, options in (("here", []), ("there", ["--cluster", cluster])):
        Workspace.create(tmp_path / name).close()
        with pytest.raises(SystemExit, match="0"):
            run(["papers", "add", str(papers), "-w", str(tmp_path / name), *options])
        with Workspace.open(tmp_path / name) as workspace:
            contents.append(dump(workspace))
    assert contents[0] == contents[1]
    assert contents[0]["record"]


def test_facts_are_extracted_alike_on_a_cluster(tmp_path: Path, cluster: str) -> None:
    workspace = str(tmp_path / "mine")
    (tmp_path / "shared").mkdir()
    pages = {
        f"//{name}.localhost/": f"<title>{name}</title><p>Write to office@{name}.org, phone (512) 471-343{number}</p>"
        for number, name in enumerate(("acme", "bolt", "cord"))
    }
    with serve(pages) as server:
        assert run(["init", workspace, "--archive", (tmp_path / "shared").as_uri()]) == 0
        sites = [f"{server.at(f'{name}.localhost')}/" for name in ("acme", "bolt", "cord")]
        options = ["--keyword", "contact", "--delay", "0", "--allow-private"]
        assert run(["forage", *sites, "-w", workspace, *options]) == 0
    there, here = tmp_path / "there.jsonl", tmp_path / "here.jsonl"
    assert run(["extract", "-w", workspace, "--cluster", cluster, "--out", str(there)]) == 0
    with Workspace.open(Path(workspace)) as opened:
        opened.database.execute("UPDATE fact_page SET state = ''")  # read again
    assert run(["extract", "-w", workspace, "--out", str(here)]) == 0
    assert there.read_text() == here.read_text()
    assert "office@bolt.org" in there.read_text()


def test_documents_are_placed_alike_on_a_cluster(folder: Path, cluster: str) -> None:
    ready(folder)
    documents = [
        {"id": str(number), "title": title} for number, title in enumerate(["purr", "leash", "root"] * 4)
    ]
    (folder / "new.jsonl").write_text("\n".join(map(json.dumps, documents)), "utf-8")
    here = call(folder, "place", str(folder / "new.jsonl"), "--json").stdout
    there = call(folder, "place", str(folder / "new.jsonl"), "--json", "--cluster", cluster).stdout
    assert there == here != ""


def test_strategies_are_measured_alike_and_in_the_same_order_on_a_cluster(cluster: str) -> None:
    strategies = ["breadth-first", "path-learner", "adaptive"]
    evaluation = Evaluation(
        WORLDS, [], ["person"], strategies, lesson=SIZE, draws=2, questions=1, pass_answers=True
    )

    def outcomes(where: str) -> list[object]:  # the times alone may differ
        return [replace(run, cpu_seconds=0.0, training_seconds=0.0) for run in evaluation.run(where)]

    assert outcomes(cluster) == outcomes("")

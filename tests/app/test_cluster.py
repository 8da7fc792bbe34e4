"""A forage on a Ray cluster. `python -m bench.cluster` does the same on three nodes, with many more faults."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench.cluster import Web
from tests.postgres_server import postgres_server, why_not
from wayhound.app.cluster import node_folder
from wayhound.app.forage import lost_segments, open_run
from wayhound.app.order import Order
from wayhound.app.ray_cluster import ClusterOptions, check_cluster, connect
from wayhound.app.workers import forage_run
from wayhound.cli import cli
from wayhound.config import Config, FetchConfig
from wayhound.errors import UsageError
from wayhound.processes import child_environment
from wayhound.site import Site
from wayhound.store.protocol import Run, RunLimits
from wayhound.workspace import Workspace

SITES, BUDGET = 10, 8
WHY_NOT = why_not() or ("" if find_spec("ray") else "Ray is not installed (the extra cluster)")


def descendants(pid: int) -> Iterator[int]:
    for path in Path("/proc").iterdir():
        if path.name.isdigit() and parent_of(int(path.name)) == pid:
            yield int(path.name)
            yield from descendants(int(path.name))


def parent_of(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except (OSError, IndexError):
        return -1


def is_worker(pid: int) -> bool:
    try:
        return b"ray::ClusterWorker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def until(is_so: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    """Wait for a condition while a process runs."""
    while not is_so() and process.poll() is None:
        time.sleep(0.05)


@pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
def test_a_killed_worker_loses_nothing(tmp_path: Path) -> None:
    web = Web(SITES, "127.0.0.1", "s{}.localhost")
    (tmp_path / "shared").mkdir()
    folder = tmp_path / "workspace"
    with postgres_server() as server, web.serving():
        with Workspace.create(folder, database=server.create(), archive=(tmp_path / "shared").as_uri()):
            pass
        settings = folder / "wayhound.toml"
        settings.write_text(settings.read_text().replace("lease_seconds = 60.0", "lease_seconds = 2.0"))
        command = [
            sys.executable, "-m", "wayhound", "forage", *web.starts(), "--workspace", str(folder), "--keyword", "none",
            "--budget", str(BUDGET), "--delay", "0.2", "--allow-private", "--render", "never",
            "--cluster", "local", "--workers-per-node", "2",
        ]  # fmt: skip
        with (tmp_path / "log").open("wb") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=log, env=child_environment(), start_new_session=True
            )
        try:
            until(lambda: len(web.requests) >= SITES, process)
            if "No Ray cluster answers" in (tmp_path / "log").read_text():
                pytest.skip("Ray's own processes do not start within its patience on this machine")
            victims = [pid for pid in descendants(process.pid) if is_worker(pid)]
            assert victims, (tmp_path / "log").read_text()
            os.kill(victims[0], signal.SIGKILL)
            assert process.wait(300) == 0, (tmp_path / "log").read_text()
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        assert web.overlaps == 0
        with Workspace.open(folder) as workspace:
            store = workspace.stores.forage
            (run,) = store.runs()
            assert {site.spent for site in store.sites(run.id)} == {BUDGET}
            visits = [visit for start in web.starts() for visit in store.visits_of(run.id, start)]
            assert len({visit.url for visit in visits}) == SITES * BUDGET
            assert not list(workspace.archive_folder.glob("*.warc.gz")), "all segments are at the location"
            for visit in visits:
                assert visit.archived is not None
                assert workspace.archive.read(visit.archived).url == visit.url
    requests = sum(web.requests.values())
    assert requests <= SITES * BUDGET + SITES, "only what was under way may be fetched twice"


def forage_here(workspace: Workspace, web: Web, budget: int = BUDGET, stop_after: float | None = None) -> Run:
    """Run an order on this machine until it is over, or for so many seconds."""
    config = replace(workspace.config, fetch=FetchConfig(delay_seconds=0, allow_private=True, render="never"))
    sites = [Site(start) for start in web.starts()]
    order = Order("breadth-first", goal="nosuchword")
    run = open_run(workspace, order, RunLimits(budget_per_site=budget), sites, time.time())

    async def forage() -> None:
        stop = asyncio.Event()
        if stop_after is not None:
            asyncio.get_running_loop().call_later(stop_after, stop.set)
        await forage_run(workspace, run, config, on_goal=lambda _: None, stop=stop)

    asyncio.run(forage())
    return run


def test_pages_of_a_lost_segment_are_fetched_again_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    web = Web(3, "127.0.0.1", "s{}.localhost")
    with (
        web.serving(),
        Workspace.create(tmp_path / "one", archive=(tmp_path / "shared").as_uri()) as workspace,
    ):
        run, store = forage_here(workspace, web), workspace.stores.forage
        before = [list(store.visits_of(run.id, start)) for start in web.starts()]
        assert lost_segments(workspace, run) == set()
        (segment,) = (tmp_path / "shared/archive").iterdir()
        segment.unlink()  # it went down with its machine: it was never uploaded
        assert lost_segments(workspace, run) == {segment.name}
        forage_here(workspace, web)
        after = [list(store.visits_of(run.id, start)) for start in web.starts()]
        assert [[visit.url for visit in site] for site in after] == [
            [visit.url for visit in site] for site in before
        ]
        assert all(
            workspace.archive.holds(visit.archived) for site in after for visit in site if visit.archived
        )
        assert set(web.requests.values()) == {2}
        assert store.progress(run.id).spent == 3 * BUDGET, "what was lost is not counted"
        forage_here(workspace, web)
        assert set(web.requests.values()) == {2}, "nothing is lost now"


def test_a_forage_that_is_stopped_while_a_segment_is_awaited_forgets_no_visit(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    web = Web(3, "127.0.0.1", "s{}.localhost")
    with (
        web.serving(),
        Workspace.create(tmp_path / "one", archive=(tmp_path / "shared").as_uri()) as workspace,
    ):
        forage_here(workspace, web, budget=2)
        (segment,) = (tmp_path / "shared/archive").iterdir()
        segment.rename(tmp_path / segment.name)  # its machine is not back yet
        run = forage_here(workspace, web, stop_after=1.0)
        assert workspace.stores.forage.progress(run.id).spent == 3 * 2
        (tmp_path / segment.name).rename(segment)
        forage_here(workspace, web)
        assert workspace.stores.forage.progress(run.id).spent == 3 * BUDGET
    assert set(web.requests.values()) == {1}


def test_a_workspace_in_one_file_says_what_to_do(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed (the extra cluster)")
    with Workspace.create(tmp_path / "one") as workspace:
        check_cluster(workspace, ClusterOptions("local"))
        with pytest.raises(UsageError, match="--cluster local"):
            check_cluster(workspace, ClusterOptions("auto"))


@pytest.mark.parametrize("scheme", ["ray://", ""])
def test_a_cluster_that_is_not_there_is_told_at_once(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ray", reason="Ray is not installed (the extra cluster)")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"{scheme}127.0.0.1:{probe.getsockname()[1]}"
    with pytest.raises(
        UsageError, match=r"answers at .*127.*Connection refused.*ray start --head.*auth_token"
    ):
        connect(ClusterOptions(address))
    monkeypatch.setenv("RAY_ADDRESS", address)
    with pytest.raises(UsageError, match="Connection refused"):
        connect(ClusterOptions("auto"))


def test_the_place_of_a_cluster_is_checked(tmp_path: Path) -> None:
    asked = ["forage", "http://one.example/", "--workspace", str(tmp_path)]
    assert "none of ray://HOST:PORT" in CliRunner().invoke(cli, [*asked, "--cluster", "nowhere"]).output


def test_all_processes_of_a_machine_share_the_folder_of_a_workspace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAYHOUND_NODE_FOLDER", str(tmp_path))
    one, other = Config(archive="s3://one/x"), Config(archive="s3://one/y")
    assert node_folder(one) == node_folder(one) != node_folder(other)
    assert node_folder(one).is_relative_to(tmp_path)


@pytest.mark.parametrize(("has_token", "mode"), [(True, "token"), (False, None)])
def test_the_token_of_a_cluster_is_sent_if_this_machine_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_token: bool, mode: str | None
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    if has_token:
        (tmp_path / ".ray").mkdir()
        (tmp_path / ".ray" / "auth_token").write_text("0" * 64)
    found = subprocess.run(
        [sys.executable, "-c", "import os; from wayhound.app.ray_cluster import load_ray; load_ray(); "
         "print(os.environ.get('RAY_AUTH_MODE'))"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert found.stdout.strip() == str(mode)

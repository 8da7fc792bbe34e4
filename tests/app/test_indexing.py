from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from wayhound.app.index import (
    Follower,
    ScoreKeeper,
    build,
    catch_up,
    fetch_index,
    is_behind,
    publish_index,
    refresh_scores,
)
from wayhound.citations.citation import Citation
from wayhound.citations.hubs import HubScores
from wayhound.cli import cli
from wayhound.errors import WayhoundError, WorkspaceLocked
from wayhound.record import Record, Value
from wayhound.search.index import SearchIndex
from wayhound.search.query import parse
from wayhound.search.results import SearchRequest, SearchResults
from wayhound.search.snapshot import IndexWriter, SnapshotOpener, current_build
from wayhound.store.papers import StoredCitation
from wayhound.topics.model import TopicPlacement
from wayhound.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace.create(tmp_path / "workspace") as made:
        yield made


def paper(name: str, title: str, **more: str) -> Record:
    texts = {"title": title} | more
    return Record(
        "paper", name, {field: (Value(text),) for field, text in texts.items()}, "http://cs.example/people/"
    )


def cite(workspace: Workspace, citing: str, *cited: str) -> None:
    """Groups are numbered after the papers' names."""
    citations = [StoredCitation(citing, 0, ord(citing[0]), Citation("x"))]
    citations += [StoredCitation(citing, at, ord(each[0]), Citation("x")) for at, each in enumerate(cited, 1)]
    workspace.stores.papers.save_paper(citing, citations)


def asked(workspace: Workspace, query: str = "", **more: object) -> SearchResults:
    return SearchIndex(workspace.index_folder).search(SearchRequest(query, limit=100, **more))  # type: ignore[arg-type]


def found(workspace: Workspace, query: str = "") -> list[str]:
    return sorted(hit.id for hit in asked(workspace, query).hits)


def everything(workspace: Workspace) -> list[tuple[object, ...]]:
    """All that an index shows and counts, in an order of its own."""
    answer = asked(workspace)
    shown = [hit for offset in range(0, answer.total, 100) for hit in asked(workspace, offset=offset).hits]
    hits = sorted(
        (hit.kind, hit.id, hit.title, hit.year, hit.cited, hit.authority, hit.topics) for hit in shown
    )
    return [*hits, *sorted(answer.facets.items())]


def test_a_record_is_found_by_what_its_fields_are_declared_to_be(workspace: Workspace) -> None:
    record = Record(
        "paper",
        "p",
        {
            "title": (Value("Learning to  forage"),),
            "author": (Value("Ada Lovelace"), Value("Kurt Gödel")),
            "year": (Value("July 1999"),),
            "booktitle": (Value("NIPS"),),
            "abstract": (Value("We walk the web."),),
            "keyword": (Value("spiders"),),
        },
        "http://www.cs.example:8080/papers/",
    )
    workspace.stores.records.save([record])
    build(workspace)
    queries = ["title:forage", "author:gödel", "year:1999", "venue:nips", "walk", "keyword:spiders", "spiders",
               "site:cs.example", "type:paper"]  # fmt: skip
    assert [found(workspace, query) for query in queries] == [["p"]] * len(queries)
    hit = asked(workspace).hits[0]
    assert (hit.title, hit.year, hit.venue, hit.site) == (
        "Learning to forage",
        1999,
        "NIPS",
        "www.cs.example",
    )
    assert asked(workspace, facets=("keyword",)).facets == {"keyword": [("spiders", 1)]}


def test_a_kind_that_a_workspace_declares_needs_no_code(workspace: Workspace) -> None:
    (workspace.folder / "kinds.toml").write_text(
        '[restaurant.fields]\nname = "title"\ncuisine = "facet"\nchef = "people"\nopened = "date"\n'
    )
    fields = {
        "name": "Blue Door",
        "cuisine": "Thai",
        "chef": "Ann Lee",
        "opened": "2011-05-01",
        "phone": "555-0101",
    }
    record = Record("restaurant", "r", {name: (Value(text),) for name, text in fields.items()})
    workspace.stores.records.save(
        [record, Record("thing", "t", {"name": (Value("Undeclared"),), "size": (Value("9"),)})]
    )
    build(workspace)
    for query in ["blue", "cuisine:thai", "author:lee", "year:2011", "phone:0101", "type:restaurant"]:
        assert found(workspace, query) == ["r"], query
    assert asked(workspace, facets=("cuisine", "type")).facets == {
        "cuisine": [("Thai", 1)],
        "type": [("restaurant", 1), ("thing", 1)],
    }
    assert [hit.title for hit in asked(workspace, "size:9").hits] == ["Undeclared"]
    assert "".join(piece.text for piece in asked(workspace, "thai").hits[0].snippet) == "Thai · 555-0101"


def test_works_that_are_only_cited_are_found_after_what_is_held(workspace: Workspace) -> None:
    workspace.stores.records.save([paper("a", "Walks on graphs", year="1999"), paper("b", "Other matters")])
    work = Citation("Random walks on large graphs", "A. Lind and B. Wood", "J. Walks", "1993", volume="3")
    unnamed = Citation(text="Private communication on walks")
    cited = [StoredCitation("b", 1, 98, unnamed), StoredCitation("b", 2, 99, work)]
    workspace.stores.papers.save_paper("b", cited)
    catch_up(workspace)
    answer = asked(workspace, "walks graphs")
    assert [(hit.kind, hit.id, hit.cited) for hit in answer.hits] == [
        ("paper", "a", 0),
        ("cited-only", "99", 1),
    ]
    assert (answer.total, answer.cited_only) == (2, 1)
    assert answer.facets["type"] == [("cited-only", 1), ("paper", 1)]
    last = asked(workspace, "walks graphs", offset=1)
    assert [hit.people for hit in last.hits] == [("A. Lind", "B. Wood")]
    for sort in ("cited", "oldest", "log-tf"):
        assert [hit.id for hit in asked(workspace, "walks graphs", sort=sort).hits] == ["a", "99"]
    for query in ["author:wood", "year:1993", 'type:"cited only"', "venue:walks", "title:large"]:
        assert found(workspace, query) == ["99"], query
    assert [hit.id for hit in asked(workspace, filters=(("type", "cited-only"),)).hits] == ["99"]


def test_who_asks_for_nothing_in_particular_sees_what_is_held(workspace: Workspace) -> None:
    workspace.stores.records.save([paper("a", "Walks on graphs")])
    workspace.stores.papers.save_paper("a", [StoredCitation("a", 1, 99, Citation("Walks of cats"))])
    catch_up(workspace)
    index = SearchIndex(workspace.index_folder)
    assert found(workspace) == found(workspace, "-cats") == ["a"]
    assert asked(workspace).facets["type"] == [("paper", 1)]
    assert [each.id for each in index.suggest("walks")] == ["a"]
    assert index.similar("paper", "a") == []
    assert [hit.id for hit in index.similar("cited-only", "99")] == ["a"]


def test_a_work_that_comes_to_be_held_is_found_once(workspace: Workspace) -> None:
    workspace.stores.records.save([paper("a", "Walks on graphs")])
    workspace.stores.papers.save_paper("a", [StoredCitation("a", 1, 99, Citation("Walks of cats"))])
    catch_up(workspace)
    assert found(workspace, "cats") == ["99"]
    workspace.stores.records.save([paper("b", "Walks of cats")])
    workspace.stores.papers.save_paper("b", [StoredCitation("b", 0, 99, Citation("Walks of cats"))])
    catch_up(workspace)
    assert found(workspace, "cats") == ["b"]


def test_what_changes_while_an_index_is_built_is_in_it_once(workspace: Workspace) -> None:
    workspace.stores.records.save(paper(name, f"Paper {name}") for name in "abc")
    waiting = [paper("a", "Changed meanwhile")]

    def change(_done: int, _of: int) -> None:
        while waiting:
            workspace.stores.records.save([waiting.pop()])

    build(workspace, change)
    assert found(workspace) == ["a", "b", "c"]
    assert found(workspace, "meanwhile") == ["a"]


def test_an_index_that_grew_is_the_index_built_anew(workspace: Workspace) -> None:
    workspace.stores.records.save(paper(name, f"Paper {name}", year="1999") for name in "abcd")
    catch_up(workspace)
    cite(workspace, "b", "a")
    cite(workspace, "c", "a", "b")
    cite(workspace, "a")
    workspace.stores.records.save([paper("e", "Another"), paper("b", "Changed", year="2003")])
    workspace.database.execute("DELETE FROM record WHERE id = 'd'")
    workspace.stores.topics.save([TopicPlacement("a", ("AI", "Agents"), 1.0, ("AI", "Agents"))], {})
    refresh_scores(workspace)
    catch_up(workspace)
    grown = everything(workspace)
    build(workspace)
    assert everything(workspace) == grown
    assert found(workspace) == ["a", "b", "c", "e"]
    hit = asked(workspace, "title:a").hits[0]
    assert (hit.cited, hit.authority, hit.topics) == (2, 1.0, (("AI", "Agents"),))


def test_catching_up_does_only_what_is_new(workspace: Workspace) -> None:
    workspace.stores.records.save([paper("a", "One"), paper("b", "Two")])
    assert (catch_up(workspace).added, catch_up(workspace).added) == (2, 0)
    workspace.stores.records.save([paper("b", "Two again")])
    assert is_behind(workspace)
    done = catch_up(workspace)
    assert (done.added, done.removed) == (1, 0)
    assert not is_behind(workspace)
    workspace.database.execute("DELETE FROM record WHERE id = 'a'")
    done = catch_up(workspace)
    assert (done.added, done.removed) == (0, 1)
    assert found(workspace) == ["b"]


def test_a_first_index_removes_nothing(workspace: Workspace) -> None:
    workspace.stores.records.save([paper("a", "One"), paper("b", "Two")])
    workspace.database.execute("DELETE FROM record WHERE id = 'a'")
    done = catch_up(workspace)
    assert (done.added, done.removed) == (1, 0)


def test_progress_is_told_to_the_end(workspace: Workspace) -> None:
    workspace.stores.records.save(paper(f"{number:04}", "x") for number in range(2_500))
    told: list[tuple[int, int]] = []
    build(workspace, lambda done, total: told.append((done, total)))
    assert told == [(1_000, 2_500), (2_000, 2_500), (2_500, 2_500)]


def test_a_topic_has_hubs_and_authorities_of_its_own(workspace: Workspace) -> None:
    for citing, cited in [
        ("a", "xy"),
        ("b", "x"),
        ("c", "yz"),
        ("d", "z"),
        ("e", "z"),
        ("x", ""),
        ("y", ""),
        ("z", ""),
    ]:
        cite(workspace, citing, *cited)
    placed = [TopicPlacement(name, ("AI",), 1.0, ("AI",)) for name in "abxy"]
    workspace.stores.topics.save(placed, {})
    workspace.stores.records.save(paper(name, "x") for name in "abcdexyz")
    build(workspace)
    filters = (("topic", "AI"),)
    assert [hit.id for hit in asked(workspace, sort="authority", filters=filters).hits][:2] == ["x", "y"]
    assert asked(workspace, sort="hub", filters=filters).hits[0].id == "a"
    assert asked(workspace, sort="authority").hits[0].id == "z"


def wait_until(true: Callable[[], bool]) -> float:
    """Seconds until it is; fails after two minutes, since machines may be slow."""
    started = time.monotonic()
    while not true():
        if time.monotonic() - started > 120:
            raise AssertionError("It did not come.")
        time.sleep(0.02)
    return time.monotonic() - started


def test_a_follower_makes_what_is_saved_findable_and_what_is_deleted_not(workspace: Workspace) -> None:
    index = SearchIndex(workspace.index_folder)
    with Follower(workspace.folder, every_seconds=0.05) as follower:
        workspace.stores.records.save([paper("a", "Sudden insight")])
        wait_until(lambda: index.search(SearchRequest("insight")).total == 1)
        workspace.stores.records.save([paper("a", "Slow insight")])
        wait_until(lambda: index.search(SearchRequest("slow")).total == 1)
        workspace.database.execute("DELETE FROM record")
        wait_until(lambda: index.search(SearchRequest("insight")).total == 0)
    assert follower.failure is None


def test_a_follower_lets_another_writer_finish_first(workspace: Workspace) -> None:
    workspace.stores.records.save([paper("a", "Waiting")])
    index = SearchIndex(workspace.index_folder)
    with IndexWriter(workspace.index_folder), Follower(workspace.folder, every_seconds=0.05) as follower:
        time.sleep(0.3)
        assert not index.is_ready
        assert follower.failure is None
    with Follower(workspace.folder, every_seconds=0.05):
        wait_until(lambda: index.search(SearchRequest("waiting")).total == 1)


def test_a_follower_works_out_scores_when_citations_have_changed(workspace: Workspace) -> None:
    workspace.stores.records.save([paper("a", "Seminal"), paper("b", "Survey")])
    catch_up(workspace)
    index = SearchIndex(workspace.index_folder)
    with Follower(workspace.folder, every_seconds=0.05, scores=ScoreKeeper(quiet_seconds=0.2)):
        cite(workspace, "a")
        cite(workspace, "b", "a")
        wait_until(lambda: index.search(SearchRequest("seminal")).hits[0].authority == 1.0)
        wait_until(lambda: index.search(SearchRequest("survey")).hits[0].hub == 1.0)


def test_scores_wait_for_a_quiet_moment_and_then_rest(workspace: Workspace) -> None:
    now = [0.0]
    keeper, store = ScoreKeeper(clock=lambda: now[0]), workspace.stores.scores
    workspace.stores.records.save([paper("a", "Seminal"), paper("b", "Survey")])
    keeper.look(workspace)
    keeper.computed = workspace.stores.changes.newest()
    cite(workspace, "a")
    cite(workspace, "b", "a")
    keeper.look(workspace)
    now[0] += 1.5
    workspace.stores.records.save([paper("c", "Another")])
    keeper.look(workspace)
    now[0] += 1.5
    keeper.look(workspace)
    assert store.get("a") == HubScores()
    now[0] += 1.0
    keeper.look(workspace)
    assert store.get("a") == HubScores(1.0, 0.0)
    now[0] += 2.5
    keeper.look(workspace)
    keeper.look(workspace)
    before = workspace.stores.changes.newest()
    workspace.stores.records.save([Record("contact", "x")])
    now[0] += 9.0
    keeper.look(workspace)
    assert workspace.stores.changes.newest() == before + 1


def built(workspace: Workspace) -> bool:
    """Return true if the index could be built: a follower may have the lock for a moment."""
    try:
        build(workspace)
    except WorkspaceLocked:
        return False
    return True


def test_a_follower_lets_others_write_when_nothing_comes_any_more(workspace: Workspace) -> None:
    workspace.stores.records.save([paper("a", "One")])
    index = SearchIndex(workspace.index_folder)
    with Follower(workspace.folder, every_seconds=0.05):
        wait_until(lambda: index.search(SearchRequest("one")).total == 1)
        assert wait_until(lambda: built(workspace)) > 1
        workspace.stores.records.save([paper("b", "Two")])
        wait_until(lambda: index.search(SearchRequest("two")).total == 1)


def test_a_follower_reports_a_failure_once_and_recovers(workspace: Workspace) -> None:
    failures: list[Exception] = []
    workspace.stores.records.save([paper("a", "x")])
    catch_up(workspace)
    in_use = current_build(workspace.index_folder)
    assert in_use is not None
    (in_use / "meta.json").write_text("{}")
    workspace.stores.records.save([paper("b", "y")])
    with Follower(workspace.folder, every_seconds=0.05, on_failure=failures.append) as follower:
        wait_until(lambda: follower.failure is not None)
        wait_until(lambda: built(workspace))
        wait_until(lambda: follower.failure is None)
    assert [error.next_step for error in failures if isinstance(error, WayhoundError)] == ["index --rebuild"]
    assert found(workspace) == ["a", "b"]


COMMITTING = """
import sys
from dataclasses import replace
from pathlib import Path
from wayhound import indexing
from wayhound.workspace import Workspace
indexing.COMMIT_EVERY = 1
with Workspace.open(Path(sys.argv[1])) as workspace:
    print("ready", flush=True)
    while True:
        indexing.catch_up(workspace)
"""


def test_nothing_is_lost_when_the_writer_is_killed_again_and_again(workspace: Workspace) -> None:
    saved = 0
    for turn in range(4):
        writer = subprocess.Popen(
            [sys.executable, "-c", COMMITTING, str(workspace.folder)], stdout=subprocess.PIPE
        )
        assert writer.stdout is not None
        writer.stdout.readline()
        killed_at = time.monotonic() + 0.15 + 0.07 * turn
        while time.monotonic() < killed_at:
            workspace.stores.records.save([paper(f"{saved:05}", f"number {saved}")])
            workspace.stores.records.save([paper("again", f"version {saved}")])
            saved += 1
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
    catch_up(workspace)
    assert asked(workspace, "number").total == saved
    assert [hit.title for hit in asked(workspace, "title:version").hits] == [f"version {saved - 1}"]
    grown = everything(workspace)
    build(workspace)
    assert everything(workspace) == grown


def test_a_killed_rebuild_leaves_the_old_index_in_use(workspace: Workspace) -> None:
    workspace.stores.records.save(paper(f"{number:04}", "same") for number in range(1_500))
    build(workspace)
    rebuilding = COMMITTING.replace("indexing.catch_up(workspace)", "indexing.build(workspace)")
    writer = subprocess.Popen(
        [sys.executable, "-c", rebuilding, str(workspace.folder)], stdout=subprocess.PIPE
    )
    assert writer.stdout is not None
    writer.stdout.readline()
    time.sleep(0.3)
    writer.kill()
    writer.wait()
    writer.stdout.close()
    assert asked(workspace, "same").total == 1_500
    build(workspace)
    assert asked(workspace, "same").total == 1_500
    assert len([path for path in workspace.index_folder.iterdir() if path.is_dir()]) == 1


LITTLE_ROOM = """
import resource, sys
from wayhound.cli import run
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
sys.exit(run(["index", "--rebuild", "--workspace", sys.argv[1]]))
"""


def test_a_disk_without_room_for_the_index_is_told_in_a_sentence(workspace: Workspace) -> None:
    workspace.stores.records.save(
        paper(f"{number:04}", f"number{number} other{number * 7}") for number in range(3_000)
    )
    catch_up(workspace)
    command = [sys.executable, "-c", LITTLE_ROOM, str(workspace.folder)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 3
    assert "could not be written" in run.stderr
    assert "Traceback" not in run.stderr
    assert asked(workspace, "number7").total == 1


def test_who_reads_an_old_build_may_finish_after_a_rebuild(workspace: Workspace) -> None:
    workspace.stores.records.save([paper("a", "Steady"), paper("b", "Steady too")])
    build(workspace)
    opened = SnapshotOpener(workspace.index_folder).newest()
    assert opened is not None
    build(workspace)
    assert not opened.build.exists()
    query = opened.ranking.by_bm25(parse("steady"), (), every=True)
    found = opened.searcher.search(query, 10).hits
    assert sorted(opened.shown(address)["id"] for _, address in found) == ["a", "b"]


def test_the_command_indexes_and_says_what_it_did(workspace: Workspace) -> None:
    workspace.stores.records.save([paper("a", "One"), paper("b", "Two")])
    run = CliRunner().invoke(cli, ["index", "--workspace", str(workspace.folder)])
    assert "Indexed 2 records, in" in run.stderr
    workspace.database.execute("DELETE FROM record WHERE id = 'a'")
    run = CliRunner().invoke(cli, ["index", "--workspace", str(workspace.folder)])
    assert "Indexed 0 records, removed 1, in" in run.stderr
    run = CliRunner().invoke(cli, ["index", "--rebuild", "--workspace", str(workspace.folder)])
    assert run.exit_code == 0
    assert found(workspace) == ["b"]


def test_the_command_does_not_wait_for_another_writer(workspace: Workspace) -> None:
    with IndexWriter(workspace.index_folder):
        run = CliRunner().invoke(cli, ["index", "--workspace", str(workspace.folder)])
    assert isinstance(run.exception, WorkspaceLocked)


def test_another_machine_begins_with_the_published_index(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    config = replace(workspace.config, archive=(tmp_path / "shared").as_uri())
    workspace.stores.records.save([paper("a", "Trails")])
    with Workspace(workspace.folder, config) as here, Workspace.on_node(tmp_path / "there", config) as there:
        assert not fetch_index(there), "nothing was published"
        catch_up(here)
        assert publish_index(here).startswith("index/")
        assert fetch_index(there)
        assert [hit.id for hit in asked(there, "trails").hits] == ["a"]
        assert not fetch_index(there), "it is there already"
        for name in ("b", "c"):
            here.stores.records.save([paper(name, f"More trails of {name}")])
            catch_up(here)
            publish_index(here)
        assert fetch_index(there)
        assert sorted(hit.id for hit in asked(there, "trails").hits) == ["a", "b", "c"]
        snapshots = {
            path.name
            for path in (tmp_path / "shared/index").iterdir()
            if path.is_dir() and any(path.iterdir())
        }
        assert len(snapshots) == 2, "the last one and the one before"


def test_an_index_of_this_folder_alone_is_not_published(workspace: Workspace) -> None:
    catch_up(workspace)
    assert publish_index(workspace) == ""

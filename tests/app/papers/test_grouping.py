"""Regrouping of all citations: wrong groups are repaired, corrections hold, and it is all or nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.app.papers.made import add, dump, write_papers
from wayhound.app.papers.grouping import keep_numbers, regroup
from wayhound.app.papers.library import PaperLibrary
from wayhound.cli.papers import papers
from wayhound.errors import UsageError
from wayhound.workspace import Workspace


@pytest.fixture
def ids(workspace: Workspace, tmp_path: Path) -> tuple[str, str, str]:
    """Hops, trees and rivers; the two last cite the first, and the first cites the second."""
    hops, trees, rivers = (each.id for each in add(workspace, *write_papers(tmp_path / "files")))
    return hops, trees, rivers


def scatter(library: PaperLibrary) -> None:
    """Put every reference into a group of its own."""
    citations = list(library.papers.citations())
    with library.workspace.database.transaction():
        for at, each in enumerate(citations):
            if each.number:
                library.papers.replace_citation(replace(each, group=1_000 + at))


def test_scattered_citations_are_grouped_again(library: PaperLibrary, ids: tuple[str, str, str]) -> None:
    hops, trees, rivers = ids
    right = library.papers.links()
    assert set(right) == {(hops, trees), (trees, hops), (rivers, hops)}
    scatter(library)
    assert not library.papers.links()
    done = regroup(library.workspace)
    assert library.papers.links() == right
    assert (done.citations, done.groups_before, done.groups_after) == (8, 8, 4)
    assert done.moved == 4  # two to hops, one to trees, one of two to the seas


def test_regrouping_right_groups_changes_nothing(
    workspace: Workspace, library: PaperLibrary, ids: tuple[str, str, str]
) -> None:
    before = dump(workspace)
    assert regroup(library.workspace).moved == 0
    assert dump(workspace) == before


def test_corrections_hold_and_decide_the_groups(
    workspace: Workspace, library: PaperLibrary, ids: tuple[str, str, str]
) -> None:
    hops, trees, rivers = ids
    library.correct(rivers, "1.title", ["Quite another matter of brooks"])
    library.correct(rivers, "1.author", ["Eva Brook"])
    corrections, record = library.papers.corrections(), library.find(rivers)
    scatter(library)
    regroup(library.workspace)
    assert library.papers.corrections() == corrections
    assert library.find(rivers) == record
    assert set(library.papers.links()) == {(hops, trees), (trees, hops)}


def test_a_library_opened_before_a_regrouping_continues_with_the_new_groups(
    library: PaperLibrary, ids: tuple[str, str, str]
) -> None:
    hops, trees, rivers = ids
    scatter(library)
    regroup(library.workspace)  # another process
    library.correct(rivers, "1.title", ["Quite another matter of brooks"])
    library.correct(rivers, "1.author", ["Eva Brook"])
    assert set(library.papers.links()) == {(hops, trees), (trees, hops)}
    assert len(library.papers.cited_by(hops)) == 1


def test_stopped_it_leaves_all_as_it_was(
    workspace: Workspace, library: PaperLibrary, ids: tuple[str, str, str]
) -> None:
    scatter(library)
    before = dump(workspace)

    def stop(at: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        regroup(library.workspace, stop)
    assert dump(workspace) == before


def test_a_change_meanwhile_is_not_overwritten(library: PaperLibrary, ids: tuple[str, str, str]) -> None:
    scatter(library)
    other = PaperLibrary(library.workspace)

    def correct_meanwhile(at: int, total: int) -> None:
        other.correct(ids[0], "keyword", ["hops"])

    with pytest.raises(UsageError, match="Try again"):
        regroup(library.workspace, correct_meanwhile)
    assert not library.papers.links()


def test_the_command_tells_what_it_did(
    workspace: Workspace, library: PaperLibrary, ids: tuple[str, str, str]
) -> None:
    scatter(library)
    folder = str(workspace.folder)
    result = CliRunner().invoke(papers, ["regroup", "-w", folder, "--json"], catch_exceptions=False)
    assert '"moved": 4' in result.stdout
    assert "8 citations: 4 moved to another group; 8 groups before, 4 now." in result.stderr


def test_a_group_keeps_the_number_of_most_of_its_members() -> None:
    assert keep_numbers([5, 5, 6, 8], [0, 0, 0, 1]) == [5, 5, 5, 8]
    assert keep_numbers([5, 5, 5], [0, 0, 1]) == [5, 5, 6]
    assert keep_numbers([], []) == []

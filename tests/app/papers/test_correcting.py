"""Corrections hold for every later reading, and update the citation graph."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.papers.made import add, dump, write_papers
from wayhound.app.papers.adding import Intake, decide_kind
from wayhound.app.papers.library import PaperLibrary
from wayhound.app.papers.training import train
from wayhound.errors import UsageError
from wayhound.record import Record
from wayhound.workspace import Workspace


@pytest.fixture
def ids(workspace: Workspace, tmp_path: Path) -> tuple[str, str, str]:
    """Hops, trees and rivers; the two last cite the first, and the first cites the second."""
    hops, trees, rivers = (each.id for each in add(workspace, *write_papers(tmp_path / "files")))
    return hops, trees, rivers


def texts(record: Record, field: str) -> list[str]:
    return [value.text for value in record.fields.get(field, ())]


def read_again(library: PaperLibrary) -> None:
    for each in Intake(library).read_again(list(library.files.iterate())):
        assert each.state == "read again"


def test_a_correction_is_put_into_the_record_and_written_down(
    workspace: Workspace, library: PaperLibrary, ids: tuple[str, str, str]
) -> None:
    done = PaperLibrary(workspace).correct(ids[0][:8], "author", ["Anna  Lind", "Bo\nWood"], by="Eva")
    assert (done.before, done.after) == (("Anna Lind",), ("Anna Lind", "Bo Wood"))
    record = library.find(ids[0])
    assert texts(record, "author") == ["Anna Lind", "Bo Wood"]
    assert all(value.confidence == 1.0 for value in record.fields["author"])
    assert record.fields["author"][0].source is not None
    (kept,) = library.papers.corrections(ids[0])
    assert (kept.field, kept.before, kept.after, kept.by) == ("author", done.before, done.after, "Eva")


def test_a_correction_outlives_adding_and_reading_again(
    workspace: Workspace, library: PaperLibrary, ids: tuple[str, str, str], tmp_path: Path
) -> None:
    library.correct(ids[0], "title", ["Leaps to the distant goal"])
    library.correct(ids[0], "2.title", ["Tides of all the seas"])
    library.correct(ids[0], "note", [])
    before = dump(workspace)
    add(workspace, tmp_path / "files")
    read_again(library)
    assert dump(workspace) == before
    read_again(PaperLibrary(workspace))
    assert dump(workspace) == before
    assert library.find(ids[0]).first("title") == "Leaps to the distant goal"


def test_the_last_word_on_a_field_holds(library: PaperLibrary, ids: tuple[str, str, str]) -> None:
    library.correct(ids[0], "title", ["One"])
    library.correct(ids[0], "title", ["Two"])
    read_again(library)
    assert library.find(ids[0]).first("title") == "Two"


def test_no_values_take_a_field_away(library: PaperLibrary, ids: tuple[str, str, str]) -> None:
    assert texts(library.find(ids[0]), "email")
    library.correct(ids[0], "email", [])
    assert "email" not in library.find(ids[0]).fields


def test_the_year_follows_the_date(library: PaperLibrary, ids: tuple[str, str, str]) -> None:
    library.correct(ids[0], "date", ["12 May 1999"])
    assert library.find(ids[0]).first("year") == "1999"
    library.correct(ids[0], "date", [])
    assert "year" not in library.find(ids[0]).fields
    library.correct(ids[0], "year", ["1998"])
    read_again(library)
    assert library.find(ids[0]).first("year") == "1998"


def test_a_paper_put_right_leaves_its_citations_and_finds_them_again(
    library: PaperLibrary, ids: tuple[str, str, str]
) -> None:
    hops, trees, rivers = ids
    library.correct(hops, "title", ["On the colours of medieval glass"])
    library.correct(hops, "author", ["Quentin Zuse"])
    assert set(library.papers.links()) == {(hops, trees)}
    library.correct(hops, "title", ["Hops to the distant goal"])
    library.correct(hops, "author", ["Anna Lind"])
    assert set(library.papers.links()) == {(hops, trees), (trees, hops), (rivers, hops)}


def test_a_reference_put_right_finds_the_paper_that_it_is_to(
    library: PaperLibrary, ids: tuple[str, str, str]
) -> None:
    hops, trees, rivers = ids
    assert (hops, rivers) not in library.papers.links()
    library.correct(hops, "2.title", ["Where do rivers begin in spring"])
    library.correct(hops, "2.author", ["Eva Brook"])
    library.correct(hops, "2.date", ["2003"])
    assert (hops, rivers) in library.papers.links()
    cited = list(library.papers.citations(hops))[2]
    assert (cited.citation.year, cited.fields["year"][0].text) == ("2003", "2003")
    assert library.papers.contexts_of([(hops, 2)]), "sentences that cite it are kept"
    assert (hops, trees) in library.papers.links()


def test_whoever_follows_changes_learns_that_a_paper_is_cited_now(
    workspace: Workspace, library: PaperLibrary, ids: tuple[str, str, str]
) -> None:
    hops, _, rivers = ids
    change = "SELECT change FROM record_change WHERE kind = 'paper' AND id = ?"
    before = workspace.database.execute(change, (rivers,)).fetchone()
    library.correct(hops, "2.title", ["Where do rivers begin in spring"])
    library.correct(hops, "2.author", ["Eva Brook"])
    assert workspace.database.execute(change, (rivers,)).fetchone() > before


@pytest.mark.parametrize("field", ["colour", "3.colour", "0.title", "url", "page_count", "x.title", ""])
def test_what_is_no_field_is_refused_with_those_that_are(
    library: PaperLibrary, ids: tuple[str, str, str], field: str
) -> None:
    with pytest.raises(UsageError, match="that can be corrected"):
        library.correct(ids[0], field, ["x"])
    assert library.papers.corrections() == []


def test_a_reference_that_there_is_not_is_refused_and_nothing_is_kept(
    workspace: Workspace, library: PaperLibrary, ids: tuple[str, str, str]
) -> None:
    before = dump(workspace)
    with pytest.raises(UsageError, match="has 2 references, and no number 9"):
        library.correct(ids[0], "9.title", ["x"])
    assert dump(workspace) == before
    with pytest.raises(UsageError, match="at most 20,000 characters"):
        library.correct(ids[0], "title", ["x" * 30_000])


def test_two_processes_number_works_without_taking_each_others_numbers(
    workspace: Workspace, library: PaperLibrary, ids: tuple[str, str, str], tmp_path: Path
) -> None:
    """A second connection plays another process, which adds papers while the first is in a transaction."""
    with Workspace.open(workspace.folder) as second:
        other = PaperLibrary(second)
        other.correct(ids[0], "title", ["On the colours of medieval glass"])
        library.correct(ids[1], "title", ["A history of bridges and ferries"])
        other.correct(ids[2], "title", ["Sparse solvers for chains of matrices"])
        library.correct(ids[0], "2.title", ["Wholly different matters of taste"])
    own = {each.paper: each.group for each in library.papers.citations() if each.number == 0}
    assert len(set(own.values())) == 3
    assert {library.papers.held(group) for group in own.values()} == set(ids)


def test_versions_of_one_work_stand_in_one_group_and_take_over_from_each_other(
    workspace: Workspace, library: PaperLibrary, ids: tuple[str, str, str], tmp_path: Path
) -> None:
    hops, trees, _ = ids
    draft = tmp_path / "draft.txt"
    draft.write_text((tmp_path / "files" / "hops.txt").read_text() + "\nA later draft.\n")
    (result,) = add(workspace, draft)
    group = next(iter(library.papers.citations(hops))).group
    assert next(iter(library.papers.citations(result.id))).group == group
    assert library.papers.held(group) == hops
    library.correct(hops, "title", ["On the colours of medieval glass"])
    library.correct(hops, "author", ["Quentin Zuse"])
    assert library.papers.held(group) == result.id
    assert (trees, result.id) in library.papers.links()


def test_a_person_may_say_that_a_file_is_a_paper_and_it_stays_one(
    workspace: Workspace, library: PaperLibrary, ids: tuple[str, str, str], tmp_path: Path
) -> None:
    note = tmp_path / "note.txt"
    note.write_text(
        "A note on walking\n\nAnna Lind\n\nWe walk, and that is all that there is to say of it.\n"
    )
    (taken,) = add(workspace, note)
    assert taken.outcome == "document"
    done = decide_kind(library, taken.id[:8], "paper", by="Eva")
    assert (done.outcome, done.detail, library.find(taken.id).kind) == (
        "paper",
        "A person decided this.",
        "paper",
    )
    assert library.find(taken.id).first("title") == "A note on walking"
    add(workspace, note)
    read_again(library)
    assert library.find(taken.id).kind == "paper"
    assert [each.paper for each in library.papers.citations(taken.id)] == [taken.id]
    assert library.decided_kind(taken.id) == "paper"


def test_what_was_taken_for_a_paper_may_be_none(
    workspace: Workspace, library: PaperLibrary, ids: tuple[str, str, str]
) -> None:
    decide_kind(library, ids[0], "document")
    record = library.find(ids[0])
    assert (record.kind, record.first("reason")) == ("document", "A person decided this.")
    assert list(library.papers.citations(ids[0])) == []
    decide_kind(library, ids[0], "paper")
    assert library.find(ids[0]).kind == "paper"
    library.correct(ids[0], "title", ["Leaps"])
    read_again(library)
    assert library.find(ids[0]).first("title") == "Leaps"
    assert [each for each in train(library).not_found if "kind" in each] == []


def test_a_file_is_a_paper_or_a_document(library: PaperLibrary, ids: tuple[str, str, str]) -> None:
    with pytest.raises(UsageError, match="is paper or document"):
        decide_kind(library, ids[0], "poem")

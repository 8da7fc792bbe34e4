"""Adding files: their outcomes, that none is added twice, and that the number of processes does not matter."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.app.papers.made import (
    SEAS,
    add,
    dump,
    paper_text,
    write_papers,
    write_sample_pdfs,
    write_unreadable,
)
from tests.documents.pages import drawn, needs_ocr, paragraph, pdf_of, scan_of
from wayhound.app.papers.adding import Intake, content_id, find_files, local_files
from wayhound.app.papers.library import PaperLibrary
from wayhound.documents.document import Document
from wayhound.documents.reader import DocumentReader
from wayhound.errors import UsageError
from wayhound.workspace import Workspace


def test_papers_are_read_and_matched(workspace: Workspace, library: PaperLibrary, tmp_path: Path) -> None:
    paths = write_papers(tmp_path / "files")
    result = add(workspace, *paths)
    assert [(each.state, each.outcome, each.references) for each in result] == [
        ("added", "paper", 2), ("added", "paper", 2), ("added", "paper", 1),
    ]  # fmt: skip
    hops, trees, rivers = (each.id for each in result)
    assert library.find(hops).first("title") == "Hops to the distant goal"
    assert [value.text for value in library.find(trees).fields["author"]] == ["Bo Wood", "Carl Stone"]
    assert set(library.papers.links()) == {(hops, trees), (trees, hops), (rivers, hops)}
    assert library.papers.times_cited() == {hops: 2, trees: 1}


@pytest.mark.parametrize(
    ("printed", "title"),
    [
        ("Hops to the distant goal∗", "Hops to the distant goal"),
        ("Hops to the distant goal †‡", "Hops to the distant goal"),
        ("Hops to the distant goal by IDA∗", "Hops to the distant goal by IDA∗"),
    ],
)
def test_the_mark_of_a_footnote_is_no_part_of_a_title(
    workspace: Workspace, library: PaperLibrary, tmp_path: Path, printed: str, title: str
) -> None:
    (tmp_path / "hops.txt").write_text(paper_text(printed, "Anna Lind", [SEAS]))
    [result] = add(workspace, tmp_path / "hops.txt")
    assert library.find(result.id).first("title") == title


def test_works_that_nobody_holds_are_grouped_too(
    workspace: Workspace, library: PaperLibrary, tmp_path: Path
) -> None:
    hops, trees, _ = (each.id for each in add(workspace, *write_papers(tmp_path / "files")))
    groups = {
        each.group for paper in (hops, trees) for each in library.papers.citations(paper)
        if each.citation.text == SEAS
    }  # fmt: skip
    assert len(groups) == 1
    assert library.papers.held(groups.pop()) is None


def test_sentences_that_cite_are_kept_with_their_reference(
    workspace: Workspace, library: PaperLibrary, tmp_path: Path
) -> None:
    hops, trees, rivers = (each.id for each in add(workspace, *write_papers(tmp_path / "files")))
    (context,) = library.papers.contexts_of([(rivers, 1)])
    assert context.sentence == "As was shown in [1], step 1 of the method is sound."
    assert context.sentence[context.start : context.stop] == "[1]"
    assert {each.paper for each in library.papers.cited_by(hops)} == {trees, rivers}


def test_fields_of_references_have_confidence_and_place(
    workspace: Workspace, library: PaperLibrary, tmp_path: Path
) -> None:
    paths = write_sample_pdfs(tmp_path / "pdfs", "math")[:1]
    (result,) = add(workspace, *paths)
    with DocumentReader() as reader:
        document = reader.read(paths[0].read_bytes())
    assert isinstance(document, Document)
    first = list(library.papers.citations(result.id))[1]
    for name in ("author", "title", "date"):
        value = first.fields[name][0]
        assert 0 < value.confidence <= 1
        assert value.source is not None
        assert value.source.box is not None
        assert value.source.page == 1
    title = first.fields["title"][0]
    assert title.source is not None
    said = document.text[title.source.start : title.source.end]
    assert " ".join(said.split()).rstrip(".") == title.text


def test_adding_the_same_files_again_changes_nothing(workspace: Workspace, tmp_path: Path) -> None:
    paths = write_papers(tmp_path / "files")
    add(workspace, *paths)
    before, archive = dump(workspace), sorted(workspace.archive_folder.iterdir())
    changes = workspace.database.execute("SELECT max(change) FROM record_change").fetchone()
    assert {each.state for each in add(workspace, *paths)} == {"known"}
    assert dump(workspace) == before
    assert workspace.database.execute("SELECT max(change) FROM record_change").fetchone() == changes
    assert sorted(workspace.archive_folder.iterdir()) == archive


def test_the_same_content_under_another_name_is_one_paper_found_twice(
    workspace: Workspace, library: PaperLibrary, tmp_path: Path
) -> None:
    path = write_papers(tmp_path / "files")[0]
    copy = tmp_path / "copy.txt"
    copy.write_bytes(path.read_bytes())
    first, second = add(workspace, path, copy)
    assert (first.state, second.state) == ("added", "known")
    assert first.id == second.id
    assert [each.url for each in library.files.sources(first.id)] == [copy.as_uri(), path.as_uri()]


def test_processes_that_read_together_come_to_the_same_as_one(workspace: Workspace, tmp_path: Path) -> None:
    paths = write_sample_pdfs(tmp_path / "pdfs", "math")[:6]
    add(workspace, *paths, workers=2)
    with Workspace.create(tmp_path / "other") as other:
        add(other, *paths, workers=1)
        assert dump(other) == dump(workspace)


def test_the_bytes_of_a_file_are_kept_in_the_archive(
    workspace: Workspace, library: PaperLibrary, tmp_path: Path
) -> None:
    path = write_sample_pdfs(tmp_path / "pdfs", "math")[0]
    (result,) = add(workspace, path)
    path.unlink()
    assert library.body(result.id).startswith(b"%PDF")
    assert content_id(library.body(result.id)) == result.id


def test_files_that_cannot_be_read_are_reported_and_remembered(
    workspace: Workspace, library: PaperLibrary, tmp_path: Path
) -> None:
    expected = write_unreadable(tmp_path / "files")
    result = {each.name: each for each in add(workspace, tmp_path / "files")}
    assert {name: each.outcome for name, each in result.items()} == expected
    assert not any(each.has_text for each in result.values())
    assert library.files.outcomes() == dict.fromkeys(expected.values(), 1)
    with pytest.raises(UsageError, match=r"encrypted\.pdf .* has no record\. .*password"):
        library.find(result["encrypted.pdf"].id)
    assert list(workspace.stores.records.iterate()) == []


def test_what_is_no_paper_is_kept_as_a_document_with_the_reason(
    workspace: Workspace, library: PaperLibrary, tmp_path: Path
) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Anna,\n\nthe tea is ready and the boats are in.\n\nYours, Bo\n")
    (result,) = add(workspace, letter)
    assert result.outcome == "document"
    record = library.find(result.id)
    assert record.kind == "document"
    assert record.first("title") == "Dear Anna"
    assert record.first("reason") == "It has neither an abstract or introduction, nor references."
    assert list(library.papers.citations(result.id)) == []


def test_words_cut_at_the_ends_of_lines_are_whole_in_the_beginning_of_a_document(
    workspace: Workspace, library: PaperLibrary, tmp_path: Path
) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear Anna,\n\nthe semisu-\npervised boats\nare in.\n")
    (result,) = add(workspace, letter)
    assert library.find(result.id).first("text") == "the semisupervised boats\nare in."


def test_mail_addresses_are_kept_one_by_one(
    workspace: Workspace, library: PaperLibrary, tmp_path: Path
) -> None:
    paper = tmp_path / "hops.txt"
    text = paper_text("Hops to the distant goal", "Anna Lind and Bo Wood", [SEAS])
    paper.write_text(text.replace("walker@", "{lind,wood}@"))
    (result,) = add(workspace, paper)
    found = [value.text for value in library.find(result.id).fields["email"]]
    assert found == ["lind@somewhere.example", "wood@somewhere.example"]


def test_a_file_that_is_far_too_large_is_not_even_opened(workspace: Workspace, tmp_path: Path) -> None:
    huge = tmp_path / "huge.pdf"
    with huge.open("wb") as file:
        file.truncate(200 << 20)
    (result,) = add(workspace, huge)
    assert (result.state, result.has_text) == ("refused", False)
    assert "MB" in result.detail
    assert list(workspace.archive_folder.iterdir()) == []


def test_a_file_that_vanishes_is_reported(workspace: Workspace, tmp_path: Path) -> None:
    (result,) = add(workspace, tmp_path / "gone.txt")
    assert result.state == "refused"
    assert result.detail == "It cannot be opened: No such file or directory."


def test_folders_are_searched_for_papers_of_all_kinds(tmp_path: Path) -> None:
    for name in ("b.pdf", "a.ps.gz", "below/c.TXT", "picture.png", ".hidden.pdf"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert [path.name for path in find_files([tmp_path])] == ["a.ps.gz", "b.pdf", "c.TXT"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no files to read"):
        find_files([tmp_path / "empty"])


def test_packed_papers_are_read(workspace: Workspace, tmp_path: Path) -> None:
    path = tmp_path / "paper.txt.gz"
    path.write_bytes(gzip.compress(paper_text("A packed paper about boxes", "Anna Lind", [SEAS]).encode()))
    (result,) = add(workspace, path)
    assert (result.outcome, result.title) == ("paper", "A packed paper about boxes")


def test_ids_may_be_shortened_as_long_as_they_are_clear(
    workspace: Workspace, library: PaperLibrary, tmp_path: Path
) -> None:
    result = add(workspace, *write_papers(tmp_path / "files"))
    assert library.find(result[0].id[:8]).id == result[0].id
    with pytest.raises(UsageError, match="There is no paper 'zz'"):
        library.find("zz")
    with pytest.raises(UsageError, match="There is no paper ''"):
        library.find("")


def test_a_paper_that_was_withdrawn_does_not_come_back(
    workspace: Workspace, library: PaperLibrary, tmp_path: Path
) -> None:
    hops, trees, _ = (each.id for each in add(workspace, *write_papers(tmp_path / "files")))
    workspace.stores.submissions.withhold("paper", hops)
    library.papers.save_paper(hops, ())
    (result,) = Intake(library).read_again([file for file in library.files.iterate() if file.id == hops])
    assert result.outcome == "withheld"
    assert library.record(hops) is None
    assert list(library.papers.citations(hops)) == []
    assert library.papers.contexts(hops) == []
    assert [link for link in library.papers.links() if hops in link] == []
    assert library.find(trees).first("title") == "Growing trees of many topics"
    assert {each.state for each in add(workspace, tmp_path / "files")} == {"known"}
    assert library.record(hops) is None


def test_an_identifier_on_the_first_page_is_kept(
    workspace: Workspace, library: PaperLibrary, tmp_path: Path
) -> None:
    path = tmp_path / "paper.txt"
    text = paper_text("Hops to the distant goal", "Anna Lind", [SEAS])
    path.write_text(text.replace("Abstract", "https://doi.org/10.1000/trails.5(2).12.\n\nAbstract", 1))
    (result,) = add(workspace, path)
    assert library.find(result.id).first("doi") == "10.1000/trails.5(2).12"


def test_the_text_of_a_paper_is_kept_by_page_and_goes_with_its_record(
    workspace: Workspace, library: PaperLibrary, tmp_path: Path
) -> None:
    _, trees, _ = add(workspace, *write_papers(tmp_path / "papers"))
    (page,) = library.files.pages(trees.id)
    assert "Much has been written about walking." in page
    assert "Annals of Water" not in page  # references are not of the body
    with workspace.database.transaction():
        workspace.stores.records.delete("paper", trees.id)
    assert library.files.pages(trees.id) == []


@needs_ocr
def test_a_scan_is_read_when_ocr_is_asked_for_and_stays_read(
    workspace: Workspace, library: PaperLibrary, tmp_path: Path
) -> None:
    lines = paper_text("Hops to the distant goal", "Anna Lind", [SEAS]).splitlines()
    (tmp_path / "scan.pdf").write_bytes(scan_of(drawn(pdf_of(paragraph(lines, size=11)))))
    (before,) = add(workspace, tmp_path / "scan.pdf")
    assert before.outcome == "scanned"
    (after,) = Intake(library, ocr=True).add(local_files([tmp_path / "scan.pdf"]))
    assert (after.state, after.id, after.outcome) == ("added", before.id, "paper")
    assert library.find(after.id).first("title") == "Hops to the distant goal"
    (again,) = Intake(library).read_again(list(library.files.iterate()))
    assert again.outcome == "paper"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        (kept,) = Intake(library).read_again(list(library.files.iterate()))
    assert kept.outcome == "paper"

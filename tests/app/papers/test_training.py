"""Models that learn from corrections: what was corrected is read right, also without the correction."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.papers.made import HOPS, add, paper_text, write_papers
from wayhound.app.papers.adding import Intake
from wayhound.app.papers.library import PaperLibrary
from wayhound.app.papers.reading import PaperReader
from wayhound.app.papers.training import train
from wayhound.errors import TeachingError
from wayhound.papers.paper import ReadPaper
from wayhound.workspace import Workspace

ODD = "Tech Rep 12, The Walking Company, London. Trails for all. Wood, B. (1999)."
FOREST = paper_text("Walking Paths in Winter Forests", "The Trail Collective", [ODD])
SMITH = paper_text("Smith and Jones", "Eva Brook", [HOPS])


def read(library: PaperLibrary, text: str) -> ReadPaper:
    """What the models of now make of a text, whatever was corrected."""
    reader = PaperReader(library.models.load())
    outcome = reader.read(text.encode(), "").outcome
    reader.close()
    assert isinstance(outcome, ReadPaper)
    return outcome


def texts(read: ReadPaper, field: str) -> list[str]:
    return [value.text for value in read.fields.get(field, ())]


@pytest.fixture
def forest(workspace: Workspace, tmp_path: Path) -> str:
    """A paper that the shipped models misread."""
    path = tmp_path / "forest.txt"
    path.write_text(FOREST)
    return add(workspace, path)[0].id


def test_a_corrected_header_is_read_right_after_training(library: PaperLibrary, forest: str) -> None:
    assert texts(read(library, FOREST), "author") != ["The Trail Collective"]
    library.correct(forest, "title", ["Walking Paths in Winter Forests"])
    library.correct(forest, "author", ["The Trail Collective"])
    told = train(library)
    assert told.lessons == {"header": 1, "reference": 0}
    assert (told.fields, told.right_before, told.right_after, told.not_found) == (2, 0, 2, ())
    now = read(library, FOREST)
    assert texts(now, "title") == ["Walking Paths in Winter Forests"]
    assert texts(now, "author") == ["The Trail Collective"]
    assert texts(now, "email") == ["walker@somewhere.example"]


def test_a_corrected_reference_is_read_right_after_training(library: PaperLibrary, forest: str) -> None:
    library.correct(forest, "1.author", ["Wood, B."])
    library.correct(forest, "1.title", ["Trails for all"])
    library.correct(forest, "1.editor", [])
    told = train(library)
    assert told.lessons == {"header": 0, "reference": 1}
    fields = read(library, FOREST).references[0].fields
    assert fields["title"][0].text == "Trails for all"
    assert "editor" not in fields


def test_what_was_read_well_is_still_read_well(
    workspace: Workspace, library: PaperLibrary, forest: str, tmp_path: Path
) -> None:
    paths = write_papers(tmp_path / "files")
    before = [texts(read(library, path.read_text()), "author") for path in paths]
    library.correct(forest, "author", ["The Trail Collective"])
    train(library)
    assert [texts(read(library, path.read_text()), "author") for path in paths] == before


def test_files_are_read_again_with_the_new_models_and_once(
    workspace: Workspace, library: PaperLibrary, forest: str, tmp_path: Path
) -> None:
    """A second paper by the same people gains by what was said of the first."""
    second = tmp_path / "second.txt"
    second.write_text(paper_text("Skiing Paths in Autumn Forests", "The Trail Collective", [HOPS]))
    (other,) = add(workspace, second)
    assert not library.find(other.id).fields.get("author")
    library.correct(forest, "title", ["Walking Paths in Winter Forests"])
    library.correct(forest, "author", ["The Trail Collective"])
    train(library)
    digest = library.models.digest()
    stale = [file for file in library.files.iterate() if file.read_with != digest]
    assert {file.id for file in stale} == {forest, other.id}
    list(Intake(library).read_again(stale))
    assert [value.text for value in library.find(other.id).fields["author"]] == ["The Trail Collective"]
    assert all(file.read_with == digest for file in library.files.iterate())


def test_a_field_with_a_value_that_stands_nowhere_does_not_teach_that_the_others_are_none(
    library: PaperLibrary, workspace: Workspace, tmp_path: Path
) -> None:
    """`Karl Stone` is printed `Carl Stone`: his words must not be learned to be no author's."""
    trees = write_papers(tmp_path / "files")[1]
    (told,) = add(workspace, trees)
    library.correct(told.id, "author", ["Bo Wood", "Karl Stone"])
    assert train(library).lessons["header"] == 0
    assert texts(read(library, trees.read_text()), "author") == ["Bo Wood", "Carl Stone"]


def test_papers_that_were_not_learned_from_are_watched(
    workspace: Workspace, library: PaperLibrary, forest: str, tmp_path: Path
) -> None:
    subjects = "rivers lakes ponds seas dunes woods fields roads bridges towers mills barns".split()
    for number, subject in enumerate(subjects * 2):
        title = f"A short account of {subject} and their keepers, part {number}"
        (tmp_path / f"{number}.txt").write_text(paper_text(title, "Anna Lind, Bo Wood", [HOPS]))
    add(workspace, *(tmp_path / f"{number}.txt" for number in range(len(subjects) * 2)))
    library.correct(forest, "author", ["The Trail Collective"])
    told = train(library)
    assert 0 < told.watched <= 10
    assert told.unchanged == told.watched


def test_training_twice_comes_to_the_same(library: PaperLibrary, forest: str) -> None:
    library.correct(forest, "author", ["The Trail Collective"])
    train(library)
    digest = library.models.digest()
    train(library)
    assert library.models.digest() == digest


def test_values_that_stand_nowhere_are_named_and_not_learned(library: PaperLibrary, forest: str) -> None:
    library.correct(forest, "author", ["Nobody at all"])
    told = train(library)
    assert told.lessons == {"header": 0, "reference": 0}
    assert told.not_found == (f"author 'Nobody at all' is not in {forest}",)
    assert library.models.digest() == "shipped"


def test_a_title_that_the_model_does_not_see_is_taken_from_the_layout(library: PaperLibrary) -> None:
    assert texts(read(library, SMITH), "title") == ["Smith and Jones"]


def test_there_must_be_corrections_to_learn_from(library: PaperLibrary) -> None:
    with pytest.raises(TeachingError, match="Nothing was corrected yet"):
        train(library)

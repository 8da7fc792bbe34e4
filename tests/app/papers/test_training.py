"""Training: corrected fields are read right, also without the correction; and other models and data."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.papers.made import HOPS, add, paper_text, write_papers
from wayhound.app.papers.adding import Intake
from wayhound.app.papers.library import PaperLibrary
from wayhound.app.papers.reading import FileToRead, PaperReader
from wayhound.app.papers.training import train
from wayhound.errors import ModelError, TeachingError
from wayhound.papers.models import ModelName
from wayhound.papers.paper import ReadPaper
from wayhound.papers.tokens import reference_line
from wayhound.papers.training_data import PaperData
from wayhound.workspace import Workspace

ODD = "Tech Rep 12, The Walking Company, London. Trails for all. Wood, B. (1999)."
FOREST = paper_text("Walking Paths in Winter Forests", "The Trail Collective", [ODD])
SMITH = paper_text("Smith and Jones", "Eva Brook", [HOPS])


def read(library: PaperLibrary, text: str) -> ReadPaper:
    """Read a text with the current models, without corrections."""
    reader = PaperReader(library.models.load())
    outcome = reader.read(FileToRead(text.encode(), "")).outcome
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
    result = train(library)
    assert result.lessons == {"header": 1, "reference": 0}
    assert (result.fields, result.right_before, result.right_after, result.not_found) == (2, 0, 2, ())
    now = read(library, FOREST)
    assert texts(now, "title") == ["Walking Paths in Winter Forests"]
    assert texts(now, "author") == ["The Trail Collective"]
    assert texts(now, "email") == ["walker@somewhere.example"]


def test_a_corrected_reference_is_read_right_after_training(library: PaperLibrary, forest: str) -> None:
    library.correct(forest, "1.author", ["Wood, B."])
    library.correct(forest, "1.title", ["Trails for all"])
    library.correct(forest, "1.editor", [])
    result = train(library)
    assert result.lessons == {"header": 0, "reference": 1}
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
    """A second paper by the same people gains from corrections of the first."""
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
    """`Karl Stone` is printed `Carl Stone`: these words must not be learned as another field."""
    trees = write_papers(tmp_path / "files")[1]
    (result,) = add(workspace, trees)
    library.correct(result.id, "author", ["Bo Wood", "Karl Stone"])
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
    result = train(library)
    assert 0 < result.watched <= 10
    assert result.unchanged == result.watched


def test_training_twice_gives_the_same_models(library: PaperLibrary, forest: str) -> None:
    library.correct(forest, "author", ["The Trail Collective"])
    train(library)
    digest = library.models.digest()
    train(library)
    assert library.models.digest() == digest


def test_values_that_are_not_in_the_text_are_listed_and_not_learned(
    library: PaperLibrary, forest: str
) -> None:
    library.correct(forest, "author", ["Nobody at all"])
    result = train(library)
    assert result.lessons == {"header": 0, "reference": 0}
    assert result.not_found == (f"author 'Nobody at all' is not in {forest}",)
    assert library.models.digest() == "shipped"


def test_a_title_that_the_model_misses_is_taken_from_the_layout(library: PaperLibrary) -> None:
    assert texts(read(library, SMITH), "title") == ["Smith and Jones"]


def test_there_must_be_corrections_to_learn_from(library: PaperLibrary) -> None:
    with pytest.raises(TeachingError, match="There are no corrections yet"):
        train(library)


REFERENCES = """\
<author> A. Lind. </author> <title> Hops to the goal. </title> <journal> Trails, </journal> <date> 1999. </date>
<author> B. Wood. </author> <title> Growing trees. </title> <journal> Forests, </journal> <date> 2001. </date>
<author> D. Field. </author> <title> Tides of seas. </title> <journal> Annals of Water, </journal> <date> 1987. </date>
"""


@pytest.fixture
def data(tmp_path: Path) -> PaperData:
    """Tagged references, and nothing else."""
    folder = tmp_path / "data" / "papers" / "references"
    folder.mkdir(parents=True)
    (folder / "cora.train.txt").write_text(REFERENCES)
    return PaperData(tmp_path / "data")


def test_a_hidden_markov_model_can_be_chosen_to_read_with(
    workspace: Workspace, library: PaperLibrary, forest: str
) -> None:
    assert library.models.digest() == "shipped"
    library.models.choose("hmm")
    assert library.models.digest() == "hmm-shipped"
    files = list(library.files.iterate())
    (again,) = Intake(library).read_again(files)
    assert again.outcome == "paper"
    stored = library.files.get(forest)
    assert stored is not None
    assert stored.read_with == "hmm-shipped"
    assert PaperLibrary(workspace).models.chosen() == "hmm"


def test_a_hidden_markov_model_learns_from_corrections(library: PaperLibrary, forest: str) -> None:
    library.correct(forest, "1.author", ["Wood, B."])
    library.correct(forest, "1.title", ["Trails for all"])
    report = train(library, "hmm")
    assert report.model == library.models.chosen() == "hmm"
    assert report.lessons == {"header": 0, "reference": 1}
    assert report.right_after >= report.right_before
    assert library.models.is_trained("hmm", "reference")
    assert not library.models.is_trained("hmm", "header")
    assert not library.models.is_trained("crf", "reference")
    assert library.models.digest().startswith("hmm-")


@pytest.mark.parametrize("name", ["crf", "hmm"])
def test_models_are_trained_from_a_folder_of_tagged_texts(
    library: PaperLibrary, data: PaperData, name: ModelName
) -> None:
    report = train(library, name, data)
    assert report.trained_on.keys() == {"reference"}
    assert "3 tagged references" in report.trained_on["reference"]
    model = library.models.load_one(name, "reference")
    lines = [reference_line("E. Brook. Hops of trees. Annals of Trails, 1993.")]
    assert model.label(lines).labels == ("author",) * 2 + ("title",) * 3 + ("journal",) * 3 + ("date",)


def test_a_folder_without_tagged_texts_is_refused(library: PaperLibrary, tmp_path: Path) -> None:
    with pytest.raises(TeachingError, match="no tagged texts"):
        train(library, "hmm", PaperData(tmp_path))


def test_a_damaged_choice_of_model_is_refused_with_a_way_out(library: PaperLibrary) -> None:
    (library.models.folder / "papers.json").write_text("{}")
    with pytest.raises(ModelError, match="does not name a model") as refusal:
        library.models.digest()
    assert refusal.value.next_step == "papers read --model crf"

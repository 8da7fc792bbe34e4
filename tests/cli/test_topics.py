"""The commands of `wayhound topics`, run as typed."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from wayhound.app.topics import Topics
from wayhound.cli.topics import report_table, topics
from wayhound.errors import ModelError, UsageError
from wayhound.learn.model_file import META_NAME
from wayhound.record import Record, Value
from wayhound.workspace import Workspace

TREE = "Animals\n  Cats: cat\n  Dogs: dog\nPlants\n  Trees: tree\n  Herbs: herb\n"
TEXTS = {
    "cat": "purr whisker claw sofa kitten",
    "dog": "growl leash bone fetch puppy",
    "tree": "bark root branch forest timber",
    "herb": "basil kitchen scent mint thyme",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    Workspace.create(tmp_path / "w").close()
    (tmp_path / "tree.txt").write_text(TREE, "utf-8")
    lines = []
    for number in range(80):
        keyword, words = list(TEXTS.items())[number % 4]
        title = f"{words} {keyword}" if number % 3 == 0 else words
        lines.append(json.dumps({"id": f"d{number}", "title": title}))
    (tmp_path / "docs.jsonl").write_text("\n".join(lines), "utf-8")
    return tmp_path


def call(folder: Path, *arguments: str) -> Result:
    """Run a command; WayhoundError is raised, for the wrapper of all commands to report."""
    return CliRunner().invoke(
        topics, [*arguments, "-w", str(folder / "w")], standalone_mode=False, catch_exceptions=False
    )


def ready(folder: Path) -> None:
    call(folder, "init", "--tree", str(folder / "tree.txt"))
    call(folder, "train", str(folder / "docs.jsonl"))


def test_a_ready_tree_is_put_into_the_workspace_and_not_written_over(folder: Path) -> None:
    result = call(folder, "init")
    assert "70 leaves" in result.stderr
    assert "topics train -w " in result.stderr
    with pytest.raises(UsageError, match="there already"):
        call(folder, "init", "--tree", "medicine")
    assert "12 leaves" in call(folder, "init", "--tree", "medicine", "--replace").stderr


def test_a_tree_is_proposed_from_documents_and_places_them(folder: Path) -> None:
    result = call(folder, "init", str(folder / "docs.jsonl"), "--from-documents")
    assert "leaves" in result.stderr
    proposed = (folder / "w" / "topics.txt").read_text()
    assert proposed.startswith("# Proposed from 80 documents.")
    call(folder, "train", str(folder / "docs.jsonl"))
    with Workspace.open(folder / "w") as workspace:
        placed = {f"d{number}": workspace.stores.topics.get(f"d{number}") for number in range(80)}
    leaves = [
        {one.leaf for key, one in placed.items() if one and int(key[1:]) % 4 == kind} for kind in range(4)
    ]
    assert all(len(leaf) == 1 for leaf in leaves), leaves
    assert len(set.union(*leaves)) >= 2
    with pytest.raises(UsageError, match="FILES go with --from-documents"):
        call(folder, "init", str(folder / "docs.jsonl"), "--replace")
    (folder / "few.jsonl").write_text(json.dumps({"id": "1", "title": "a cat"}), "utf-8")
    with pytest.raises(UsageError, match="at least 12 documents; there are 1"):
        call(folder, "init", str(folder / "few.jsonl"), "--from-documents", "--replace")


def test_an_unknown_or_broken_tree_is_told_in_a_sentence(folder: Path) -> None:
    with pytest.raises(UsageError, match="There is no tree 'astronomy'"):
        call(folder, "init", "--tree", "astronomy")
    (folder / "broken.txt").write_text("  A: x\n", "utf-8")
    with pytest.raises(UsageError, match="line 1"):
        call(folder, "init", "--tree", str(folder / "broken.txt"))


def test_training_shows_its_rounds_and_reports_follow(folder: Path) -> None:
    call(folder, "init", "--tree", str(folder / "tree.txt"))
    shown = call(folder, "train", str(folder / "docs.jsonl")).stdout
    assert "80 documents, 34% of them with a keyword" in shown
    assert "keywords alone" in shown
    report = call(folder, "report").stdout
    assert "Cats" in report
    assert "(nowhere)" in report
    listed = call(folder, "report", "Cats", "--limit", "3").stdout
    assert "Animals › Cats" in listed
    assert "kitten" in listed


def test_the_shipped_tree_fits_into_a_terminal_of_80_columns(folder: Path) -> None:
    titles = ("Robot navigation with sonar", "Query optimization in a relational database") * 20
    lines = (json.dumps({"id": f"d{number}", "title": title}) for number, title in enumerate(titles))
    (folder / "papers.jsonl").write_text("\n".join(lines), "utf-8")
    call(folder, "init")
    call(folder, "train", str(folder / "papers.jsonl"))
    with Workspace.open(folder / "w") as workspace:
        table = report_table(Topics(workspace).report())
    console = Console(width=80, file=StringIO(), record=True)
    console.print(table)
    shown = console.export_text()
    assert "…" not in shown
    assert "Data Structures, Algorithms and Theory" in shown


def test_everything_can_be_had_as_json(folder: Path) -> None:
    call(folder, "init", "--tree", str(folder / "tree.txt"))
    result = json.loads(call(folder, "train", str(folder / "docs.jsonl"), "--json", "--rounds", "3").stdout)
    assert result["documents"] == 80
    assert result["converged"]
    counts = json.loads(call(folder, "report", "--json").stdout)
    assert counts["Animals › Cats"] == 20
    rows = [json.loads(line) for line in call(folder, "report", "Trees", "--json").stdout.splitlines()]
    assert len(rows) == 20
    assert rows[0]["words"]
    suggestions = json.loads(call(folder, "suggest", str(folder / "docs.jsonl"), "--json").stdout)
    assert {"keywords", "doubtful", "topics"} == set(suggestions)
    of_cats = [new["keyword"] for new in suggestions["keywords"] if new["topic"] == ["Animals", "Cats"]]
    assert of_cats
    assert set(" ".join(of_cats).split()) <= {*TEXTS["cat"].split(), "cat"}


def test_new_documents_are_placed_and_kept(folder: Path) -> None:
    ready(folder)
    (folder / "new.jsonl").write_text('{"id": "n", "title": "A puppy with a bone"}\n{"id": "e"}\n', "utf-8")
    first, second = call(folder, "place", str(folder / "new.jsonl"), "--json").stdout.splitlines()
    assert json.loads(first)["topic"] == ["Animals", "Dogs"]
    assert json.loads(second)["topic"] == []
    assert "puppy" in call(folder, "place", str(folder / "new.jsonl")).stdout
    assert json.loads(call(folder, "report", "--json").stdout)["Animals › Dogs"] == 21


def test_a_correction_holds_after_the_next_training_and_can_be_taken_back(folder: Path) -> None:
    ready(folder)
    assert "1 corrections" in call(folder, "correct", "d1", "Herbs").stderr
    call(folder, "train", str(folder / "docs.jsonl"))
    assert "hand)" in call(folder, "report", "Herbs").stdout
    rows = [json.loads(line) for line in call(folder, "report", "Herbs", "--json").stdout.splitlines()]
    assert [row["document"] for row in rows if row["corrected"]] == ["d1"]
    call(folder, "correct", "d3", "Herbs")
    call(folder, "correct", "d2", "Herbs")
    assert "Undone: the correction of d2." in call(folder, "undo").stderr
    assert "Undone: the correction of d3." in call(folder, "undo").stderr
    assert "0 corrections" in call(folder, "correct", "d1", "--forget").stderr
    with pytest.raises(UsageError, match="nothing to undo"):
        call(folder, "undo")
    with pytest.raises(UsageError, match="no correction"):
        call(folder, "undo", "d1")
    for arguments, complaint in (
        (["nobody", "Herbs"], "no document nobody"),
        (["d1", "Fish"], "no topic 'Fish'"),
    ):
        with pytest.raises(UsageError, match=complaint):
            call(folder, "correct", *arguments)


def test_accepted_suggestions_change_the_tree_file(folder: Path) -> None:
    ready(folder)
    call(folder, "accept", "Cats", "kitten", "house cat")
    call(folder, "accept", "Animals", "newt", "--new", "Newts")
    call(folder, "accept", "Dogs", "dog", "--drop")
    text = (folder / "w" / "topics.txt").read_text("utf-8")
    assert text == (
        "Animals\n  Cats: cat, kitten, house cat\n  Dogs\n  Newts: newt\nPlants\n  Trees: tree\n  Herbs: herb\n"
    )
    with pytest.raises(UsageError, match="--new or --drop"):
        call(folder, "accept", "Cats", "x", "--new", "y", "--drop")
    assert "stay empty" in call(folder, "train", str(folder / "docs.jsonl")).stdout


def test_the_papers_of_the_workspace_are_taken_without_files(folder: Path) -> None:
    call(folder, "init", "--tree", str(folder / "tree.txt"))
    with pytest.raises(UsageError, match="There are no documents"):
        call(folder, "train")
    with Workspace.open(folder / "w") as workspace:
        workspace.stores.records.save(
            Record("paper", f"p{number}", {"title": (Value(f"{keyword} {words}"),)})
            for number, (keyword, words) in enumerate(TEXTS.items())
        )
    assert json.loads(call(folder, "train", "--json").stdout)["documents"] == 4


def test_citations_are_read_from_a_file(folder: Path) -> None:
    call(folder, "init", "--tree", str(folder / "tree.txt"))
    (folder / "c.tsv").write_text("d0\td4\nd4\td8\n", "utf-8")
    citations = ["--citations", str(folder / "c.tsv")]
    assert call(folder, "train", str(folder / "docs.jsonl"), *citations).exit_code == 0


def test_what_is_missing_is_named_with_the_next_step(folder: Path) -> None:
    with pytest.raises(UsageError, match="no topic tree") as missing:
        call(folder, "train", str(folder / "docs.jsonl"))
    assert missing.value.next_step == "topics init"
    call(folder, "init", "--tree", str(folder / "tree.txt"))
    with pytest.raises(UsageError, match="not been trained") as untrained:
        call(folder, "place", str(folder / "docs.jsonl"))
    assert untrained.value.next_step == "topics train"
    with pytest.raises(UsageError, match="No document has been placed"):
        call(folder, "report")
    with pytest.raises(UsageError, match="more than one file"):
        call(folder, "train", str(folder / "docs.jsonl"), str(folder / "docs.jsonl"))


def test_a_damaged_model_is_told_in_a_sentence(folder: Path) -> None:
    ready(folder)
    (folder / "w" / "models" / "topics" / META_NAME).write_text("{}", "utf-8")
    with pytest.raises(ModelError, match="damaged"):
        call(folder, "place", str(folder / "docs.jsonl"))

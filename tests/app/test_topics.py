"""The use case of topics, as the command line, the studio and the Python API call it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from wayhound.app.topics import Topics, place_papers
from wayhound.errors import UsageError
from wayhound.record import Record, Value
from wayhound.topics.model import NOWHERE
from wayhound.topics.suggest import DoubtfulKeyword, NewKeyword, NewTopic, TopicSuggestions
from wayhound.topics.tree import parse_tree
from wayhound.workspace import Workspace

TREE = "Animals\n  Cats: cat\n  Dogs: dog\n"
WORDS = {"cat": "purr whisker claw sofa kitten", "dog": "growl leash bone fetch puppy"}


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with Workspace.create(tmp_path / "w") as made:
        texts = [f"{words} {keyword}" for keyword, words in WORDS.items() for _ in range(10)]
        made.stores.records.save(
            Record("paper", f"p{number}", {"title": (Value(text),)}) for number, text in enumerate(texts)
        )
        yield made


def test_training_reports_each_step_and_ends_with_all_done(workspace: Workspace) -> None:
    topics = Topics(workspace)
    topics.tree_file.write(TREE)
    steps: list[tuple[str, int, int]] = []
    topics.train(with_suggestions=True, on_progress=lambda *step: steps.append(step))
    assert [done for _, done, _ in steps] == list(range(7))
    assert {total for _, _, total in steps} == {6}
    assert steps[0][0] == "reading documents"
    assert steps[-1][0] == "looking for suggestions"


def test_suggestions_are_kept_with_the_model_until_they_no_longer_apply(workspace: Workspace) -> None:
    topics = Topics(workspace)
    topics.tree_file.write(TREE)
    assert not topics.suggestions()
    topics.train()
    assert not topics.suggestions()  # they cost time, and are made only where they are shown
    topics.train(with_suggestions=True)
    kept = topics.suggestions()
    assert kept.keywords
    assert TopicSuggestions.from_json(kept.to_json()) == kept
    topics.tree_file.add_keywords("Cats", [new.keyword for new in kept.keywords if new.topic[-1] == "Cats"])
    assert {new.topic[-1] for new in topics.suggestions().keywords} == {"Dogs"}


def test_only_suggestions_that_fit_the_tree_are_pending() -> None:
    tree = parse_tree("A: x\n  B: y\n")
    keywords = (
        NewKeyword(("A", "B"), "z", 5, 0),
        NewKeyword(("A", "B"), "Y", 5, 0),
        NewKeyword(("C",), "z", 5, 0),
    )
    doubts = (DoubtfulKeyword(("A",), "X", 9, 0.1, ("A", "B")), DoubtfulKeyword(("A",), "gone", 9, 0.1, ()))
    groups = (
        NewTopic(("A",), "B", ("y",), ()),
        NewTopic((), "C", ("c",), ()),
        NewTopic(("D",), "E", ("e",), ()),
    )
    pending = TopicSuggestions(keywords, doubts, groups).pending(tree)
    assert pending == TopicSuggestions(keywords[:1], doubts[:1], groups[1:2])


def test_a_change_of_the_tree_is_noticed_but_not_one_of_its_comments(workspace: Workspace) -> None:
    topics = Topics(workspace)
    topics.tree_file.write(TREE)
    assert not topics.tree_has_changed()
    topics.train()
    topics.tree_file.write(f"# a comment\n{TREE}")
    assert not topics.tree_has_changed()
    topics.tree_file.add_keywords("Cats", ["kitten"])
    assert topics.tree_has_changed()


def test_papers_are_placed_in_a_default_tree_unless_there_is_one(workspace: Workspace) -> None:
    assert place_papers(workspace, TREE) == (20, 20)
    Topics(workspace).tree_file.write("Minerals: quartz\n")
    with pytest.raises(UsageError, match="No keyword"):
        place_papers(workspace, TREE)


def test_documents_are_listed_with_their_titles_in_either_order(workspace: Workspace) -> None:
    place_papers(workspace, TREE)
    topics = Topics(workspace)
    surest = topics.documents_under("Cats")
    assert len(surest) == 10
    assert surest[0][1].startswith("purr")
    confidences = [placed.confidence for placed, _ in topics.documents_under("/", least_confident_first=True)]
    assert confidences == sorted(confidences)
    assert topics.documents_under("Cats", 3, offset=8) == surest[8:]
    assert topics.documents_under(NOWHERE) == []

"""Topics can be chosen, trained, looked at, improved and corrected in the studio without JavaScript."""

from __future__ import annotations

import html

import pytest

from tests.studio.conftest import Visitor
from wayhound.app.topics import Topics
from wayhound.record import Record, Value
from wayhound.topics.tree import shipped_trees
from wayhound.workspace import Workspace

TREE = "# Pets\nAnimals\n  Cats: cat\n  Dogs: dog\nPlants\n  Trees: tree\n"
WORDS = {
    "cat": "purr whisker claw sofa kitten",
    "dog": "growl leash bone fetch puppy",
    "tree": "bark root branch forest timber",
}
STRAYS = "orbit satellite telescope launch"


@pytest.fixture
def papers(workspace: Workspace) -> Workspace:
    """Papers of three topics, every second with its keyword, and a group that no topic is made for."""
    texts = []
    for number in range(60):
        keyword, words = list(WORDS.items())[number % 3]
        texts.append(f"{words} {keyword}" if number % 2 else words)
    texts += [f"{STRAYS} {number}" for number in range(8)]
    workspace.stores.records.save(
        Record("paper", f"p{number}", {"title": (Value(text),)}) for number, text in enumerate(texts)
    )
    return workspace


def train(visitor: Visitor) -> str:
    visitor.send("/topics", "/topics/train")
    page = visitor.wait_for_job("/topics")
    assert "Train again" in page, page
    return page


def test_a_tree_is_chosen_from_those_that_are_shipped(visitor: Visitor, workspace: Workspace) -> None:
    page = visitor.get("/topics")
    assert '<a href="/topics" aria-current="page">Topics</a>' in page
    assert "Use this tree" in page
    assert "Saved a tree with 12 leaves" in visitor.send("/topics", "/topics/tree", shipped="medicine")
    assert Topics(workspace).tree_file.text() == shipped_trees()["medicine"]
    assert "There are no papers" in visitor.get("/topics")
    visitor.send("/topics", "/topics/tree", status=400, shipped="/etc/passwd")


def test_a_tree_is_edited_as_text_and_a_mistake_loses_nothing(visitor: Visitor, workspace: Workspace) -> None:
    visitor.send("/topics", "/topics/tree", text=TREE.replace("\n", "\r\n"))
    assert Topics(workspace).tree_file.text() == TREE
    page = visitor.send("/topics", "/topics/tree", status=400, text="Animals\n\tCats: cat")
    assert "Nothing was saved" in page
    assert "line 2: indent with spaces" in page
    assert "\tCats: cat" in page
    assert Topics(workspace).tree_file.text() == TREE


def test_a_tree_that_was_broken_outside_the_studio_is_shown_for_mending(
    visitor: Visitor, workspace: Workspace
) -> None:
    Topics(workspace).tree_file.path.write_text("  Cats: cat\n", "utf-8")
    page = visitor.get("/topics")
    assert "line 1: the first topic must not be indented" in page
    assert "  Cats: cat" in page
    assert "line 1" in visitor.send("/topics", "/topics/train", status=400)


def test_training_places_the_papers_and_shows_how_many_each_topic_has(
    visitor: Visitor, papers: Workspace
) -> None:
    visitor.send("/topics", "/topics/tree", text=TREE)
    assert "from 68 papers" in visitor.get("/topics")
    page = train(visitor)
    assert "68 documents, " in page
    assert "Documents by topic" in page
    listed = html.unescape(visitor.get("/topics/documents?topic=Animals › Cats"))
    assert "20 documents" in listed
    assert "whisker" in listed
    assert visitor.get("/topics/documents?topic=/").count("<tr>") == 51  # a page, and the heading
    assert "51 to 68 of 68" in visitor.get("/topics/documents?topic=/&page=2")
    nowhere = Topics(papers).report().nowhere
    assert f"{nowhere} document" in visitor.get("/topics/documents?topic=(nowhere)")
    assert "no topic" in visitor.get("/topics/documents?topic=Fish", status=400)


def test_suggestions_are_accepted_by_one_click_and_leave_the_page(
    visitor: Visitor, papers: Workspace
) -> None:
    visitor.send("/topics", "/topics/tree", text=TREE)
    assert "Keywords to add" in train(visitor)
    topics = Topics(papers)
    first = topics.suggestions().keywords[0]
    title = " › ".join(first.topic)
    page = html.unescape(
        visitor.send("/topics", "/topics/accept", kind="add", topic=title, keywords=first.keyword)
    )
    assert f"{title} has the keyword {first.keyword} now" in page
    assert first.keyword in topics.tree_file.tree().find(title).keywords
    assert topics.tree_file.text().startswith("# Pets\n")
    assert first not in topics.suggestions().keywords
    assert "have changed since the last training" in page
    visitor.send("/topics", "/topics/accept", kind="drop", topic=title, keywords=first.keyword)
    assert first in topics.suggestions().keywords


def test_a_topic_for_papers_that_fit_nowhere_is_added(visitor: Visitor, papers: Workspace) -> None:
    visitor.send("/topics", "/topics/tree", text=TREE)
    train(visitor)
    missing = Topics(papers).suggestions().topics
    assert set(missing[0].documents) == {f"p{number}" for number in range(60, 68)}
    visitor.send(
        "/topics", "/topics/accept", kind="new", topic="/", name="Space", keywords="orbit, satellite"
    )
    assert Topics(papers).tree_file.tree().find("Space").keywords == ("orbit", "satellite")
    train(visitor)
    assert "8 documents" in visitor.get("/topics/documents?topic=Space")


@pytest.mark.parametrize(
    "fields",
    [{"kind": "add", "topic": "Cats", "keywords": " ,"}, {"kind": "burn", "topic": "Cats", "keywords": "x"},
     {"kind": "add", "topic": "Fish", "keywords": "x"}],
)  # fmt: skip
def test_what_is_no_suggestion_is_refused(visitor: Visitor, fields: dict[str, str]) -> None:
    visitor.send("/topics", "/topics/tree", text=TREE)
    visitor.send("/topics", "/topics/accept", status=400, **fields)


def test_a_correction_is_learned_by_the_next_training_and_can_be_undone(
    visitor: Visitor, papers: Workspace
) -> None:
    visitor.send("/topics", "/topics/tree", text=TREE)
    train(visitor)
    fields = {"document": "p1", "topic": "trees", "list": "/", "list_page": "2"}
    page = html.unescape(visitor.send("/topics/documents?topic=/", "/topics/correct", 200, **fields))
    assert "Corrected to Plants › Trees" in page
    assert "51 to 68 of 68" in page  # the same page of the list
    page = visitor.get("/topics")
    assert "waits for the next training" in page
    assert "have changed since the last training" in page
    assert "learned" in train(visitor)
    placed = papers.stores.topics.get("p1")
    assert placed is not None
    assert placed.corrected
    visitor.send("/topics", "/topics/correct", document="p1", undo="1")
    assert papers.stores.topics.corrections() == {}
    assert "no correction" in visitor.send("/topics", "/topics/correct", 400, document="p1", undo="1")
    assert "no document" in visitor.send("/topics", "/topics/correct", 400, document="x", topic="Trees")


def test_a_training_that_has_nothing_to_learn_from_says_why(visitor: Visitor, papers: Workspace) -> None:
    visitor.send("/topics", "/topics/tree", text="Minerals: quartz\n")
    visitor.send("/topics", "/topics/train")
    page = visitor.wait_for_job("/topics")
    assert 'data-state="failed"' in page
    assert "No keyword of the tree occurs in any document" in page

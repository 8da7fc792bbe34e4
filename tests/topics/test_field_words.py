"""Documents of another field: told apart by the words of a shipped tree's field."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from wayhound.topics.documents import TopicDocument
from wayhound.topics.field_words import FieldWords, field_of, shipped_field, with_field
from wayhound.topics.model import TopicModel
from wayhound.topics.training import train
from wayhound.topics.tree import parse_tree, shipped_trees

COMPUTING = ("compiler", "algorithm", "parser", "network", "database", "query", "cache", "robot")
LAW = ("court", "contract", "liability", "tenant", "statute", "appeal", "judge", "plaintiff")
MUSIC = ("violin", "sonata", "chord", "melody", "tempo", "opera", "choir", "rhythm")


def documents(words: tuple[str, ...], n_documents: int = 24) -> list[TopicDocument]:
    """Documents of five words of a field each, and one that all fields share."""
    return [
        TopicDocument.from_text(f"{words[0]}{number}", " ".join([*np.roll(words, number)[:5], "analysis"]))
        for number in range(n_documents)
    ]


@pytest.fixture
def words() -> FieldWords:
    return FieldWords.learn(documents(COMPUTING), [documents(LAW), documents(MUSIC)])


def test_a_field_that_was_not_taught_is_outside(words: FieldWords) -> None:
    history = TopicDocument.from_text("h", "the analysis of guilds, abbeys and charters in medieval towns")
    assert words.outside(history) > 0.5
    assert words.outside(documents(LAW)[0]) > 0.9
    assert words.outside(documents(COMPUTING)[0]) < 0.5


def test_a_document_without_words_is_not_called_foreign(words: FieldWords) -> None:
    assert words.outside(TopicDocument.from_text("e", "")) < 0.5


def test_words_survive_their_file(words: FieldWords) -> None:
    again = FieldWords.from_bytes(words.to_bytes())
    law = documents(LAW)[0]
    assert again.outside(law) == pytest.approx(words.outside(law), abs=0.02)


def test_the_root_takes_what_is_foreign_and_leaves_the_rest(words: FieldWords) -> None:
    law = documents(LAW)[0]
    mixed = with_field(words, law, np.array([0.1, 0.2]))
    foreign = words.outside(law)
    assert mixed.tolist() == pytest.approx([foreign + 0.1 * (1 - foreign), 0.2 * (1 - foreign)])
    assert with_field(None, law, np.array([0.1, 0.2])).tolist() == [0.1, 0.2]


def test_an_edited_tree_keeps_its_field_and_another_has_none() -> None:
    text = shipped_trees()["computer-science"]
    assert field_of(parse_tree(text)) == "computer-science"
    assert field_of(parse_tree(text + "My own topic: something\n")) == "computer-science"
    assert field_of(parse_tree("Wine\n  Red: merlot\n  White: riesling\n")) == ""


def test_papers_of_other_fields_fit_nowhere_in_a_small_collection() -> None:
    """Keywords that other sciences share do not pull their papers into the tree."""
    foreign = [
        "Superconductivity, magnetic order and critical temperature of thin films",
        "Sea surface temperature and routing of moisture over the tropical ocean",
        "Spin liquids, phase transitions and thermal transport in frustrated magnets",
    ]
    own = [
        "Routing protocols for wireless networks with low latency and congestion control",
        "Parsing context free languages: an efficient algorithm for compilers",
    ]
    collection = [  # twice, because words of a single document are not learned
        TopicDocument.from_text(f"{copy} {title}", title) for copy in (1, 2) for title in (*foreign, *own)
    ]
    training = train(parse_tree(shipped_trees()["computer-science"]), collection, np.random.default_rng(0))
    nowhere = {placed.document[2:] for placed in training.placements if placed.outside > 0.5}
    assert nowhere == set(foreign)
    loaded = TopicModel.from_arrays(*training.model.to_arrays())
    assert [loaded.place(document).topic for document in collection[:3]] == [()] * 3
    assert shipped_field(loaded.field_name) is loaded.field_words


def test_a_paper_of_the_field_is_not_lost_because_its_branch_is_in_doubt() -> None:
    """Strays around it change nothing, and it is placed alike when it comes later."""
    torn = TopicDocument.from_text(
        "torn",
        "Learning to compress routing tables",
        "We learn classifiers that choose an algorithm for data compression in network routing, store the tables in "
        "a database, and prove the complexity of the user interface.",
    )
    strays = [
        TopicDocument.from_text(f"s{number}", "Thermal transport in frustrated magnets", text)
        for number, text in enumerate(
            ("Spin liquids and routing of heat.", "Phase transitions of thin films.") * 8
        )
    ]
    tree = parse_tree(shipped_trees()["computer-science"])
    for n_strays in (0, 2, 16):
        training = train(
            tree, [torn, replace(torn, id="again"), *strays[:n_strays]], np.random.default_rng(0)
        )
        mine, *others = training.placements[:1] + training.placements[2:]
        assert mine.outside < 0.5
        assert mine.confidence < 0.5
        assert len(mine.topic) == 1
        assert training.model.place(torn).topic == mine.topic
        assert all(placed.topic == () for placed in others)

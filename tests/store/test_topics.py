from __future__ import annotations

import pytest

from wayhound.store.database import Database
from wayhound.store.topics import TopicStore
from wayhound.topics.model import TopicPlacement

CAT = TopicPlacement(
    "1", ("Animals", "Cats"), 0.9, ("Animals", "Cats"), ("Animals", "Dogs"), 0.3, 0.05, (("purr", 1.5),), True
)
DOG = TopicPlacement(
    "2", ("Animals",), 0.7, ("Animals", "Dogs"), best=((("Animals", "Dogs"), 0.4), (("Animals", "Cats"), 0.3))
)
TREE = TopicPlacement("3", ("Animals of Wood",), 0.8, ("Animals of Wood",))
STRAY = TopicPlacement("4", (), 0.6, ())


@pytest.fixture
def store(database: Database) -> TopicStore:
    topics = TopicStore(database)
    topics.replace_all([CAT, DOG, TREE, STRAY], {"1": "On cats"})
    return topics


def test_a_placement_comes_back_as_it_was_saved(store: TopicStore) -> None:
    assert [store.get(name) for name in ("1", "2", "4")] == [CAT, DOG, STRAY]
    assert store.get("5") is None
    assert (store.title("1"), store.title("2"), store.title("5")) == ("On cats", "", "")


def test_a_topic_lists_what_stands_at_it_and_below_the_surest_first(store: TopicStore) -> None:
    assert list(store.under(("Animals",))) == [CAT, DOG]
    assert list(store.under(("Animals", "Cats"))) == [CAT]
    assert list(store.titled((), limit=2)) == [(CAT, "On cats"), (TREE, "")]


def test_counts_are_those_of_each_topic_itself(store: TopicStore) -> None:
    assert store.counts() == {("Animals", "Cats"): 1, ("Animals",): 1, ("Animals of Wood",): 1, (): 1}


def test_saving_replaces_one_and_training_replaces_all(store: TopicStore) -> None:
    moved = TopicPlacement("4", ("Animals",), 0.5, ("Animals", "Cats"))
    store.save([moved], {})
    assert store.get("4") == moved
    store.replace_all([DOG], {})
    assert list(store.under(())) == [DOG]


def test_corrections_are_kept_changed_and_taken_back(store: TopicStore) -> None:
    store.correct("2", ("Animals", "Dogs"))
    store.correct("1", ("Animals",))
    store.correct("1", ("Animals", "Cats"))
    assert store.corrections() == {"1": ("Animals", "Cats"), "2": ("Animals", "Dogs")}
    assert store.take_back("2")
    assert not store.take_back("2")
    store.replace_all([], {})
    assert store.corrections() == {"1": ("Animals", "Cats")}

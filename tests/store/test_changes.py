from __future__ import annotations

from collections.abc import Callable

import pytest

from wayhound.citations.citation import Citation
from wayhound.citations.hubs import HubScores
from wayhound.record import Record, Value
from wayhound.store.citations import CitationStore, ScoreStore
from wayhound.store.database import Database
from wayhound.store.papers import PaperStore, StoredCitation
from wayhound.store.records import ChangeStore, RecordChange, RecordStore
from wayhound.store.topics import TopicStore
from wayhound.topics.model import TopicPlacement


def changed_after(database: Database, number: int) -> list[str]:
    return [change.id for batch in ChangeStore(database).since(number) for change in batch]


def paper(name: str, title: str = "") -> Record:
    return Record("paper", name, {"title": (Value(title),)})


def cite(database: Database, citing: str, own_group: int, *groups: int) -> None:
    references = [StoredCitation(citing, at, group, Citation("x")) for at, group in enumerate(groups, 1)]
    PaperStore(database).save_paper(
        citing, [StoredCitation(citing, 0, own_group, Citation("x")), *references]
    )


def test_every_saved_record_has_a_larger_number_than_those_before(database: Database) -> None:
    store, changes = RecordStore(database), ChangeStore(database)
    assert changes.newest() == 0
    store.save([paper("a"), paper("b")])
    store.save([paper("a", "again")])
    assert [(change.id, change.number) for batch in changes.since(0) for change in batch] == [
        ("b", 2),
        ("a", 3),
    ]
    assert (changes.newest(), changes.waiting(0), changes.waiting(2)) == (3, 2, 1)


def test_a_place_in_a_topic_changes_papers_and_other_documents(database: Database) -> None:
    RecordStore(database).save([paper("a"), Record("document", "b", {}), Record("page", "c", {})])
    TopicStore(database).save([TopicPlacement(name, ("Walking",), 1.0, ("Walking",)) for name in "abc"], {})
    assert sorted(changed_after(database, 3)) == ["a", "b"]
    assert TopicStore(database).counts_of("document") == {("Walking",): 1}


def test_batches_together_are_all_that_changed(database: Database) -> None:
    RecordStore(database).save(paper(str(number)) for number in range(25))
    batches = list(ChangeStore(database).since(0, batch=10))
    assert [len(batch) for batch in batches] == [10, 10, 5]
    assert [change.number for batch in batches for change in batch] == list(range(1, 26))


def test_a_deleted_record_is_a_change_too(database: Database) -> None:
    store = RecordStore(database)
    store.save([paper("a"), paper("b")])
    database.execute("DELETE FROM record WHERE id = 'a'")
    assert changed_after(database, 2) == ["a"]
    assert ChangeStore(database).latest(5) == [RecordChange(2, "paper", "b")]


def test_the_latest_records_come_first(database: Database) -> None:
    RecordStore(database).save([paper("a"), paper("b"), paper("c"), paper("a")])
    assert [change.id for change in ChangeStore(database).latest(2)] == ["a", "c"]


@pytest.mark.parametrize(
    "change",
    [
        lambda database: TopicStore(database).save([TopicPlacement("a", ("AI",), 1.0, ("AI",))], {}),
        lambda database: TopicStore(database).replace_all([], {}),
        lambda database: cite(database, "c", 30, 10),
        lambda database: cite(database, "b", 20),
        lambda database: ScoreStore(database).replace_all({"a": HubScores(0.5, 0.5)}, {}),
        lambda database: ScoreStore(database).replace_all({}, {("a", ("AI",)): HubScores(0.5, 0.5)}),
    ],
    ids=["placed", "no longer placed", "cited once more", "no longer cited", "scored", "scored in a topic"],
)
def test_what_else_becomes_known_of_a_paper_changes_it(
    database: Database, change: Callable[[Database], object]
) -> None:
    RecordStore(database).save([paper("a"), paper("b"), paper("c")])
    TopicStore(database).save([TopicPlacement("a", ("Theory",), 1.0, ("Theory",))], {})
    cite(database, "a", 10)
    cite(database, "b", 20, 10)
    before = ChangeStore(database).newest()
    change(database)
    assert "a" in changed_after(database, before)


def test_what_is_known_of_no_record_changes_none(database: Database) -> None:
    TopicStore(database).save([TopicPlacement("elsewhere", ("AI",), 1.0, ("AI",))], {})
    cite(database, "elsewhere", 1)
    assert ChangeStore(database).newest() == 0


def test_citations_between_papers_are_counted_once_and_never_to_oneself(database: Database) -> None:
    cite(database, "a", 10, 20, 10)
    cite(database, "b", 20, 10, 99)
    cite(database, "c", 30, 10, 10)
    scores = ScoreStore(database)
    assert sorted(scores.edges()) == [("a", "b"), ("b", "a"), ("c", "a")]
    assert [scores.cited(name) for name in ("a", "b", "c", "none")] == [2, 1, 0, 0]


def test_only_scores_that_differ_are_written(database: Database) -> None:
    scores = ScoreStore(database)
    topics: dict[tuple[str, tuple[str, ...]], HubScores] = {("a", ("AI", "Logic")): HubScores(0.3, 0.0)}
    assert scores.replace_all({"a": HubScores(1.0, 0.0), "b": HubScores(0.5, 0.5)}, topics) == 3
    assert scores.replace_all({"a": HubScores(1.0, 0.0), "c": HubScores(0.1, 0.1)}, topics) == 2
    assert scores.replace_all({"a": HubScores(1.0, 0.0), "c": HubScores(0.1, 0.1)}, topics) == 0
    assert [scores.get(name) for name in ("a", "b")] == [HubScores(1.0, 0.0), HubScores()]
    assert scores.by_topic("a") == {("AI", "Logic"): HubScores(0.3, 0.0)}
    assert scores.replace_all({}, {}) == 3
    assert scores.by_topic("a") == {}


def works_after(database: Database, number: int) -> list[str]:
    changes = (change for batch in ChangeStore(database).since(number) for change in batch)
    return sorted(change.id for change in changes if change.kind == "cited-only")


def test_a_work_that_is_not_held_changes_with_its_citations(database: Database) -> None:
    changes = ChangeStore(database)
    cite(database, "a", 10, 20, 99)
    assert works_after(database, 0) == ["20", "99"]  # and not 10, which is the paper itself
    before = changes.newest()
    cite(database, "b", 20, 99)
    assert works_after(database, before) == ["20", "99"]  # 20 is held from now on
    before = changes.newest()
    cite(database, "c", 30, 20, 10)
    assert works_after(database, before) == []
    before = changes.newest()
    PaperStore(database).save_paper("b", ())
    assert works_after(database, before) == ["20", "99"]  # nobody holds 20 any longer


def test_a_citation_that_is_matched_anew_changes_both_works(database: Database) -> None:
    cite(database, "a", 10, 98)
    before = ChangeStore(database).newest()
    with database.transaction():
        PaperStore(database).replace_citation(StoredCitation("a", 1, 99, Citation("x")))
    assert works_after(database, before) == ["98", "99"]


def test_who_cites_a_work_is_told_until_it_is_held(database: Database) -> None:
    cite(database, "a", 10, 99, 99)
    cite(database, "b", 20, 99)
    assert {work: [*said] for work, said in CitationStore(database).citations_to([10, 99, 500]).items()} == {
        99: ["a", "b"]
    }
    papers, total = CitationStore(database).citing_work(99, 1)
    assert ([each.paper for each in papers], papers[0].numbers, total) == (["a"], (1, 2), 2)
    cite(database, "c", 99)
    assert CitationStore(database).citations_to([99]) == {}

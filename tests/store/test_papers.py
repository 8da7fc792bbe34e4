from __future__ import annotations

from wayhound.citations.citation import Citation
from wayhound.record import Span, Value
from wayhound.store.database import Database
from wayhound.store.papers import PaperCorrection, PaperStore, StoredCitation, StoredContext

HOPS = Citation(title="Hops to the goal", authors="A. Lind", year="1999")
TREES = Citation(text="B. Wood. Trees of topics. 2001.")


def test_a_papers_citations_and_contexts_survive_the_store(database: Database) -> None:
    store = PaperStore(database)
    citations = [StoredCitation("p1", 0, 7, HOPS), StoredCitation("p1", 1, 8, TREES, "[1]")]
    context = StoredContext("p1", 1, "As shown in [1], trees help.", 12, 15, 2, (1.0, 2.0, 3.5, 4.0))
    store.save_paper("p1", citations, [context])
    assert list(store.citations("p1")) == citations
    assert store.contexts("p1") == store.contexts_of([("p1", 1)]) == [context]
    assert store.contexts_of([("p1", 0)]) == []


def test_a_paper_held_is_found_by_the_group_of_those_that_cite_it(database: Database) -> None:
    store = PaperStore(database)
    store.save_paper("cited", [StoredCitation("cited", 0, 1, HOPS)])
    citing = StoredCitation("citing", 1, 1, HOPS)
    store.save_paper("citing", [StoredCitation("citing", 0, 2, TREES), citing])
    assert store.held(1) == "cited"
    assert store.held(99) is None
    assert store.cited_by("cited") == [citing]
    assert store.cited_by("citing") == []


def test_a_paper_saved_again_replaces_what_it_cited(database: Database) -> None:
    store = PaperStore(database)
    context = StoredContext("p1", 1, "See [1].", 4, 7)
    store.save_paper("p1", [StoredCitation("p1", 0, 1, HOPS), StoredCitation("p1", 1, 2, TREES)], [context])
    store.save_paper("p1", [StoredCitation("p1", 0, 3, HOPS)])
    assert [each.group for each in store.citations()] == [3]
    assert store.contexts("p1") == []
    assert [store.held(group) for group in (1, 2, 3)] == [None, None, "p1"]


def test_a_group_that_others_cite_outlives_its_paper(database: Database) -> None:
    store = PaperStore(database)
    store.save_paper("cited", [StoredCitation("cited", 0, 1, HOPS)])
    store.save_paper("citing", [StoredCitation("citing", 0, 2, TREES), StoredCitation("citing", 1, 1, HOPS)])
    store.save_paper("cited", [StoredCitation("cited", 0, 5, HOPS)])
    assert store.held(1) is None
    assert [each.group for each in store.citations("citing")] == [2, 1]


def test_corrections_are_kept_in_the_order_they_were_made(database: Database) -> None:
    store = PaperStore(database)
    made = [
        PaperCorrection("p1", "title", ("Hopps",), ("Hops",), 1.0),
        PaperCorrection("p1", "author", (), ("A. Lind", "B. Wood"), 2.0),
    ]
    for each in made:
        store.put_correction(each)
    assert store.corrections() == made


def test_a_group_goes_over_to_another_version_when_its_paper_goes(database: Database) -> None:
    store = PaperStore(database)
    for paper in ("draft", "final"):
        store.save_paper(paper, [StoredCitation(paper, 0, 1, HOPS)])
    assert store.held(1) == "draft"
    store.save_paper("draft", ())
    assert store.held(1) == "final"


def test_a_citation_that_is_replaced_keeps_its_contexts_and_leaves_no_empty_group(database: Database) -> None:
    store = PaperStore(database)
    own, other = StoredCitation("p1", 0, 1, HOPS), StoredCitation("p1", 1, 2, TREES, "[1]")
    store.save_paper("p1", [own, other], [StoredContext("p1", 1, "See [1].", 4, 7)])
    new = StoredCitation("p1", 1, 5, HOPS, "[1]", {"title": (Value("Hops", 0.5, Span("u", 1, 2, 3)),)})
    with database.transaction():
        store.replace_citation(new)
    assert list(store.citations("p1")) == [own, new]
    assert len(store.contexts_of([("p1", 1)])) == 1
    assert store.group(2) == []
    groups = database.execute("SELECT id FROM citation_group ORDER BY id").fetchall()
    assert groups == [(1,), (5,)]


def test_the_graph_counts_each_citing_paper_once_and_none_that_cites_itself(database: Database) -> None:
    store = PaperStore(database)
    store.save_paper("a", [StoredCitation("a", 0, 1, HOPS), StoredCitation("a", 1, 1, HOPS)])
    twice = [StoredCitation("b", number, 1, HOPS) for number in (1, 2)]
    store.save_paper("b", [StoredCitation("b", 0, 2, TREES), *twice])
    assert store.links() == [("b", "a")]
    assert store.times_cited() == {"a": 1}


def test_corrections_tell_who_made_them_and_are_found_by_paper(database: Database) -> None:
    store = PaperStore(database)
    first = PaperCorrection("p1", "title", ("Hop",), ("Hops",), 1.0, "Eva")
    store.put_correction(first)
    store.put_correction(PaperCorrection("p2", "title", (), ("Trees",), 2.0))
    assert store.corrections("p1") == [first]
    assert len(store.corrections()) == 2

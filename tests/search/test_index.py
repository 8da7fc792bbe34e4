from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.search.brute_force import bm25, log_frequency, matches
from wayhound.citations.hubs import HubScores
from wayhound.errors import WorkspaceError, WorkspaceLocked
from wayhound.search.index import MAX_HITS, SearchIndex, count_facets
from wayhound.search.query import Clause, Query, Sign, Term, YearRange, parse, to_text
from wayhound.search.results import MAX_DEPTH, SORTS, SearchRequest, SearchResults, Sort
from wayhound.search.schema import IndexDocument, facet_values, tantivy
from wayhound.search.similar import MOST_SIMILAR, SIMILAR, write_similar
from wayhound.search.snapshot import (
    CURRENT,
    FACET_VALUES,
    IndexWriter,
    SnapshotOpener,
    current_build,
)


def index_of(documents: Sequence[IndexDocument], folder: Path) -> SearchIndex:
    with IndexWriter(folder) as writer:
        for document in documents:
            writer.add(document)
        writer.commit()
        writer.finish()
    return SearchIndex(folder)


def ids(answer: SearchResults) -> list[str]:
    return [hit.id for hit in answer.hits]


WORDS = ["ape", "apple", "bee", "beet", "cat", "Dôme", "dome's", "日本語"]
short_text = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
topic_paths = st.lists(st.sampled_from(WORDS[:4]), min_size=1, max_size=3).map(tuple)
contents = st.builds(
    IndexDocument,
    kind=st.sampled_from(["paper", "talk"]),
    id=st.just(""),
    title=short_text,
    people=st.lists(short_text, max_size=3).map(tuple),
    venue=short_text,
    topics=st.lists(topic_paths, max_size=2).map(tuple),
    site=st.sampled_from(["cat.example", "bee.cat.example", ""]),
    date=st.none() | st.integers(1990, 2010).map(lambda year: year * 10_000),
    text=st.lists(short_text, max_size=2).map(tuple),
    fields=st.dictionaries(
        st.sampled_from(["colour", "shape"]), short_text.map(lambda text: (text,)), max_size=2
    ),
    body=st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join),
    cited=st.integers(0, 5),
)
collections = st.lists(contents, max_size=12).map(
    lambda made: [replace(document, id=str(number)) for number, document in enumerate(made)]
)
parts = st.builds(
    Term,
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=2).map(" ".join),
    st.none()
    | st.sampled_from(["author", "title", "abstract", "body", "venue", "topic", "site", "type", "colour"]),
) | st.builds(
    Term,
    st.sampled_from(["a", "ap", "be", "do"]),
    st.none() | st.sampled_from(["title", "colour"]),
    st.just(True),
)
years = st.tuples(st.integers(1990, 2010), st.integers(0, 9)).map(lambda pair: YearRange(pair[0], sum(pair)))
clauses = st.builds(
    Clause, st.lists(parts | years, min_size=1, max_size=2).map(tuple), st.sampled_from(["", "+"])
) | st.builds(Clause, (parts | years).map(lambda part: (part,)), st.just("-"))
queries = st.lists(clauses, max_size=3).map(tuple).map(Query)


@settings(max_examples=12, deadline=None)
@given(documents=collections, queries=st.lists(queries, min_size=4, max_size=12))
def test_what_is_found_is_what_looking_at_every_document_finds(
    documents: list[IndexDocument], queries: list[Query]
) -> None:
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        index = index_of(
            [*documents, IndexDocument("other", "o", fields={"colour": ("none",)})], Path(folder)
        )
        for query in queries:
            answer = index.search(SearchRequest(to_text(query), limit=20, facet_values=1_000))
            true = [document for document in documents if matches(document, query)]
            assert parse(to_text(query), index.fields) == query
            if true:  # else some of the words may do
                hits = [hit for hit in answer.hits if hit.kind != "other"]
                assert sorted(hit.id for hit in hits) == sorted(document.id for document in true)
                assert not answer.some_words
                check_facets(answer, true)


def check_facets(answer: SearchResults, true: list[IndexDocument]) -> None:
    counted = Counter(
        (name, value[1:])
        for document in true
        for name, values in facet_values(document).items()
        for value in set(values)
    )
    for name in ("topic", "venue"):
        assert dict(answer.facets.get(name, [])) == {
            value: n for (of, value), n in counted.items() if of == name
        }
    assert dict(answer.facets["year"]) == dict(
        Counter(str(document.year) for document in true if document.year)
    )


@settings(max_examples=5, deadline=None)
@given(
    documents=collections.filter(bool),
    words=st.lists(st.sampled_from(["ape", "bee", "cat"]), min_size=1, max_size=2, unique=True),
)
def test_log_frequencies_are_weighted_as_the_formula_says(
    documents: list[IndexDocument], words: list[str]
) -> None:
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        answer = index_of(documents, Path(folder)).search(
            SearchRequest(" OR ".join(words), "log-tf", limit=20)
        )
    by_id = {document.id: document for document in documents}
    for hit in answer.hits:
        assert hit.score == pytest.approx(log_frequency(documents, by_id[hit.id], words), rel=1e-5)
    assert [hit.score for hit in answer.hits] == sorted((hit.score for hit in answer.hits), reverse=True)


@settings(max_examples=5, deadline=None)
@given(documents=collections.filter(bool), word=st.sampled_from(["ape", "bee", "cat"]))
def test_relevance_is_bm25_with_field_weights(documents: list[IndexDocument], word: str) -> None:
    plain = [
        IndexDocument(
            "paper",
            document.id,
            document.title,
            document.people,
            document.venue,
            document.topics,
            text=document.text,
            body=document.body,
        )
        for document in documents
    ]
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        answer = index_of(plain, Path(folder)).search(SearchRequest(word, limit=20))
    by_id = {document.id: document for document in plain}
    for hit in answer.hits:
        assert hit.score == pytest.approx(bm25(plain, by_id[hit.id], word), rel=1e-3)


LIBRARY = [
    IndexDocument(
        "paper", "forage", "Learning to forage", ("Ada Lovelace", "Donald E. Knuth"), "NIPS",
        (("AI", "Machine Learning"),), "cs.example", 19990000, ("We learn to walk the web, the wide web.",),
        cited=3, scores=HubScores(0.5, 0.1), topic_scores={("AI",): HubScores(0.25, 0.8765)}, change=1,
    ),
    IndexDocument(
        "paper", "graph", "Graphs of Gödel", ("Kurt Gödel",), "JACM", (("AI", "Logic"),), "math.example",
        20010300, ("Proofs about self-organizing graphs on the web.",), cited=9,
        scores=HubScores(0.2, 0.9), topic_scores={("AI",): HubScores(1.0, 0.0001)}, change=2,
    ),
    IndexDocument("talk", "plain", "Nothing dated", (), "", (), "", None, ("A word about the web.",), change=3),
]  # fmt: skip


@pytest.fixture
def library(tmp_path: Path) -> SearchIndex:
    return index_of(LIBRARY, tmp_path)


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("cited", ["graph", "forage", "plain"]),
        ("authority", ["forage", "graph", "plain"]),
        ("hub", ["graph", "forage", "plain"]),
        ("newest", ["graph", "forage", "plain"]),
        ("oldest", ["forage", "graph", "plain"]),
        ("added", ["plain", "graph", "forage"]),
    ],
)
def test_hits_come_in_the_order_that_was_asked_for(
    library: SearchIndex, sort: Sort, order: list[str]
) -> None:
    assert ids(library.search(SearchRequest("web", sort))) == order
    assert ids(library.search(SearchRequest("", sort))) == order


def test_in_one_topic_hubs_and_authorities_are_those_of_its_own_papers(library: SearchIndex) -> None:
    def scored(sort: Sort, query: str = "") -> list[tuple[str, float]]:
        answer = library.search(SearchRequest(query, sort, filters=(("topic", "AI"),)))
        return [(hit.id, hit.score) for hit in answer.hits]

    assert scored("authority") == [("graph", 10_000.0), ("forage", 2_500.0)]
    assert scored("hub") == [("forage", 8_765.0), ("graph", 1.0)]
    assert scored("hub", "graphs") == [("graph", 1.0)]


def test_a_hit_tells_what_a_list_shows(library: SearchIndex) -> None:
    hit = library.search(SearchRequest("forage")).hits[0]
    assert (hit.kind, hit.id, hit.title, hit.people) == (
        "paper",
        "forage",
        "Learning to forage",
        LIBRARY[0].people,
    )
    assert (hit.venue, hit.year, hit.site, hit.topics) == ("NIPS", 1999, "cs.example", LIBRARY[0].topics)
    assert (hit.cited, hit.authority, hit.hub) == (3, 0.5, 0.1)
    assert [(piece.text, piece.marked) for piece in hit.title_pieces] == [
        ("Learning to ", False),
        ("forage", True),
    ]
    assert "".join(piece.text for piece in hit.snippet) == LIBRARY[0].text[0]


def test_passages_of_a_text_are_joined_by_one_ellipsis(tmp_path: Path) -> None:
    document = IndexDocument("page", "1", text=("The office is open …", "Ask at the desk …"))
    (hit,) = index_of([document], tmp_path).search(SearchRequest()).hits
    assert "".join(piece.text for piece in hit.snippet) == "The office is open … Ask at the desk …"


def test_where_nothing_has_all_words_some_will_do_and_it_says_so(library: SearchIndex) -> None:
    answer = library.search(SearchRequest("forage gödel"))
    assert answer.some_words
    assert sorted(ids(answer)) == ["forage", "graph"]


def test_what_must_be_there_must_be_there_even_then(library: SearchIndex) -> None:
    assert ids(library.search(SearchRequest("+forage gödel"))) == ["forage"]
    assert ids(library.search(SearchRequest("forage gödel year:2001"))) == ["graph"]
    answer = library.search(SearchRequest("forage author:gödel"))
    assert ids(answer) == ["graph"]
    assert library.search(SearchRequest("author:ada year:2001")).total == 0


def test_no_phrase_reaches_from_one_name_to_the_next(library: SearchIndex) -> None:
    assert library.search(SearchRequest('author:"ada lovelace"')).total == 1
    assert library.search(SearchRequest('author:"lovelace donald"')).total == 0


def test_a_chosen_facet_holds_exactly_and_either_of_two_values_will_do(library: SearchIndex) -> None:
    def filtered(*filters: tuple[str, str]) -> list[str]:
        return sorted(ids(library.search(SearchRequest("web", filters=filters))))

    assert filtered(("topic", "AI")) == ["forage", "graph"]
    assert filtered(("topic", "AI › Logic")) == ["graph"]
    assert filtered(("topic", "ai")) == []
    assert filtered(("year", "1999"), ("year", "2001")) == ["forage", "graph"]
    assert filtered(("year", "1999"), ("venue", "JACM")) == []
    assert filtered(("type", "talk")) == ["plain"]
    assert filtered(("year", "nineteen"), ("no such facet", "x")) == []


def test_a_document_with_two_topics_counts_once_for_the_topic_above_both(tmp_path: Path) -> None:
    both = IndexDocument("paper", "1", topics=(("AI", "Logic"), ("AI", "Agents")))
    index = index_of([both, IndexDocument("paper", "2", topics=(("AI", "Logic"),))], tmp_path)
    facets = index.search(SearchRequest(facets=("topic", "type"))).facets
    assert facets == {
        "topic": [("AI", 2), ("AI › Logic", 2), ("AI › Agents", 1)],
        "type": [("paper", 2)],
    }


def test_a_declared_facet_may_be_called_class(tmp_path: Path) -> None:
    index = index_of([IndexDocument("talk", "1", topics=(("AI",),), facets={"class": ("a", "b")})], tmp_path)
    facets = index.search(SearchRequest(facets=("class", "topic"))).facets
    assert facets == {"class": [("a", 1), ("b", 1)], "topic": [("AI", 1)]}


def test_facets_count_a_topic_for_all_topics_above_it(library: SearchIndex) -> None:
    facets = library.search(SearchRequest("web")).facets
    assert facets["topic"] == [("AI", 2), ("AI › Logic", 1), ("AI › Machine Learning", 1)]
    assert facets["year"] == [("2001", 1), ("1999", 1)]
    assert facets["type"] == [("paper", 2), ("talk", 1)]


def test_pages_follow_one_another_without_gaps_or_doubles(tmp_path: Path) -> None:
    index = index_of(
        [IndexDocument("paper", str(number), f"same {number}") for number in range(25)], tmp_path
    )
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        answer = index.search(SearchRequest("same", offset=offset, limit=10))
        seen += ids(answer)
        offset = answer.next_offset
    assert sorted(seen, key=int) == [str(number) for number in range(25)]
    assert answer.total == 25


@pytest.mark.parametrize("offset", [-5, 0, 3, 10_000, 10**12])
@pytest.mark.parametrize("limit", [-1, 0, 1, 10**9])
def test_no_page_is_too_far(library: SearchIndex, offset: int, limit: int) -> None:
    answer = library.search(SearchRequest("web", offset=offset, limit=limit))
    assert answer.total == 3
    assert len(answer.hits) <= max(0, limit)


@pytest.mark.parametrize(
    ("n_held", "offset", "limit", "shown"),
    [(2, 0, 10, 5), (MAX_HITS + 1, 0, MAX_HITS + 5, MAX_HITS), (MAX_DEPTH + 1, MAX_DEPTH - 2, 5, 2),
     (MAX_DEPTH + 1, MAX_DEPTH + 2, 5, 0)],
)  # fmt: skip
def test_works_that_are_only_cited_come_after_all_records_that_match(
    tmp_path: Path, n_held: int, offset: int, limit: int, shown: int
) -> None:
    held = [IndexDocument("paper", f"held {number}", "same") for number in range(n_held)]
    cited = [IndexDocument("work", f"cited {number}", "same", in_collection=False) for number in range(3)]
    answer = index_of([*held, *cited], tmp_path).search(SearchRequest("same", offset=offset, limit=limit))
    assert len(answer.hits) == shown
    assert sum(hit.kind == "work" for hit in answer.hits) == max(0, shown - n_held)


def test_a_page_before_the_first_is_the_first(tmp_path: Path) -> None:
    index = index_of([IndexDocument("paper", str(number), "same") for number in range(9)], tmp_path)
    assert index.search(SearchRequest("same", offset=-5, limit=3)).next_offset == 3


def test_a_misspelt_word_is_put_right(library: SearchIndex) -> None:
    assert library.search(SearchRequest("lovelaec")).did_you_mean == "lovelace"
    assert library.search(SearchRequest("author:lovelaec -x")).did_you_mean == "author:lovelace -x"
    assert library.search(SearchRequest("qqqqqqq")).did_you_mean is None
    assert library.search(SearchRequest("forage")).did_you_mean is None


def test_names_topics_and_titles_are_completed_from_any_of_their_words(library: SearchIndex) -> None:
    def suggested(typed: str) -> list[tuple[str, str]]:
        return [(suggestion.text, suggestion.kind) for suggestion in library.suggest(typed)]

    assert suggested("knu") == [("Donald E. Knuth", "author")]
    assert suggested("DONALD e k") == [("Donald E. Knuth", "author")]
    assert suggested("göd") == [("Kurt Gödel", "author"), ("Graphs of Gödel", "title")]
    assert suggested("learning") == [("Machine Learning", "topic"), ("Learning to forage", "title")]
    assert suggested("learning to f") == [("Learning to forage", "title")]
    assert suggested("") == suggested("zzz") == suggested("***") == []
    assert library.suggest("learning", 1) == library.suggest("learning")[:1]


def test_titles_that_begin_so_come_before_others_and_the_most_cited_before_the_rest(tmp_path: Path) -> None:
    titles = {"Deep nets": 1, "Deep learning": 5, "On deep thoughts": 9, "Shallow seas": 20}
    papers = [IndexDocument("paper", title, title, cited=cited) for title, cited in titles.items()]
    suggested = index_of(papers, tmp_path).suggest("dee")
    assert [suggestion.text for suggestion in suggested] == ["Deep learning", "Deep nets", "On deep thoughts"]
    assert [(suggestion.record_kind, suggestion.id) for suggestion in suggested[:1]] == [
        ("paper", "Deep learning")
    ]


def test_documents_that_share_rare_words_are_alike(tmp_path: Path) -> None:
    texts = [
        "hidden markov models of text",
        "markov models and text",
        "a recipe for soup",
        "soup of the day",
        "text of the day",
    ]
    index = index_of([IndexDocument("paper", str(n), text=(text,)) for n, text in enumerate(texts)], tmp_path)
    assert [hit.id for hit in index.similar("paper", "0", 1)] == ["1"]
    assert [hit.id for hit in index.similar("paper", "2", 1)] == ["3"]
    assert index.similar("paper", "none") == []
    assert index.similar("paper", "0", -1) == index.similar("paper", "0", 0) == []
    assert "0" not in {hit.id for hit in index.similar("paper", "0", 10)}


def similar_collection(folder: Path, count: int = 40) -> list[IndexDocument]:
    """Index papers that share a few of thirty words each."""
    documents = [
        IndexDocument(
            "paper", str(number), f"w{number % 5} w{5 + number % 7}",
            text=(" ".join(f"w{(number * step) % 31}" for step in range(2, 4 + number % 9)),),
        )
        for number in range(count)
    ]  # fmt: skip
    index_of(documents, folder)
    return documents


def found_by_query(folder: Path, record_id: str) -> list[float]:
    """Return the scores of similar documents as a query finds them."""
    build = current_build(folder)
    assert build
    kept = build / SIMILAR
    content = kept.read_bytes() if kept.exists() else b""
    kept.unlink(missing_ok=True)
    scores = [hit.score for hit in SearchIndex(folder).similar("paper", record_id, MOST_SIMILAR)]
    if content:
        kept.write_bytes(content)
    return scores


def compared(folder: Path) -> bool:
    snapshot = SnapshotOpener(folder).newest()
    assert snapshot
    return write_similar(snapshot)


def test_documents_compared_at_once_are_those_that_a_query_finds(tmp_path: Path) -> None:
    documents = similar_collection(tmp_path)
    assert compared(tmp_path)
    snapshot = SnapshotOpener(tmp_path).newest()
    assert snapshot
    assert snapshot.similar
    n_known = 0
    for document in documents:
        address = snapshot.address("paper", document.id)
        assert address
        known = snapshot.similar.of(snapshot.shown(address))
        n_known += known is not None
        similar = SearchIndex(tmp_path).similar("paper", document.id, MOST_SIMILAR)
        assert document.id not in {hit.id for hit in similar}
        assert [hit.score for hit in similar] == pytest.approx(
            found_by_query(tmp_path, document.id), rel=1e-4
        )
    assert n_known > len(documents) / 2


def test_changed_new_and_orphaned_documents_are_searched_for(tmp_path: Path) -> None:
    documents = similar_collection(tmp_path)
    compared(tmp_path)
    before = {each.id: SearchIndex(tmp_path).similar("paper", each.id, MOST_SIMILAR) for each in documents}
    removed, changed = "7", replace(documents[3], text=documents[4].text)
    with IndexWriter(tmp_path) as writer:
        writer.remove("paper", removed)
        writer.add(changed)
        writer.add(replace(documents[5], id="new"))
        writer.commit()
        writer.finish()
    index = SearchIndex(tmp_path)
    for document in documents:
        similar = index.similar("paper", document.id, MOST_SIMILAR) if document.id != removed else []
        assert removed not in {hit.id for hit in similar}
        if document.id == changed.id or removed in {hit.id for hit in before[document.id]}:
            expected = found_by_query(tmp_path, document.id) if document.id != removed else []
            assert [hit.score for hit in similar] == expected
    assert index.similar("paper", "new", 1)[0].id == "5"


def test_documents_are_compared_again_after_many_changes_only(tmp_path: Path) -> None:
    documents = similar_collection(tmp_path)
    assert compared(tmp_path)
    assert not compared(tmp_path)
    for count, is_due in ((4, False), (5, True)):
        with IndexWriter(tmp_path) as writer:
            for number in range(count):
                writer.add(replace(documents[number], id=f"new {number}"))
            writer.commit()
            writer.finish()
        assert compared(tmp_path) is is_due


def test_works_that_are_only_cited_are_not_compared(tmp_path: Path) -> None:
    documents = similar_collection(tmp_path)
    compared(tmp_path)
    with IndexWriter(tmp_path) as writer:
        for document in documents:
            writer.add(replace(document, kind="cited-only", in_collection=False))
        writer.commit()
        writer.finish()
    assert not compared(tmp_path)
    index = SearchIndex(tmp_path)
    assert {hit.kind for each in documents for hit in index.similar("paper", each.id, MOST_SIMILAR)} == {
        "paper"
    }
    assert index.similar("cited-only", "3", 1)[0].id == "3"


@pytest.mark.parametrize("n_kept", [0, 10, 600])
def test_a_damaged_file_of_similar_documents_is_passed_over(tmp_path: Path, n_kept: int) -> None:
    similar_collection(tmp_path)
    compared(tmp_path)
    build = current_build(tmp_path)
    assert build
    (build / SIMILAR).write_bytes((build / SIMILAR).read_bytes()[:n_kept])
    assert SearchIndex(tmp_path).similar("paper", "0", MOST_SIMILAR)


hostile = st.text() | st.sampled_from(
    [
        "\x00",
        "\udc80",
        "a" * 70_000,
        '"' * 999,
        "(((",
        "a:b:c",
        "*",
        "+-+-x",
        "year:99999999999999999999",
        "facet.x:1",
    ]
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> SearchIndex:
    return index_of(LIBRARY, tmp_path_factory.mktemp("index"))


@settings(deadline=None)
@given(text=hostile, sort=st.sampled_from(SORTS), name=hostile, value=hostile)
def test_whatever_is_asked_is_answered(
    shared: SearchIndex, text: str, sort: Sort, name: str, value: str
) -> None:
    answer = shared.search(SearchRequest(text, sort, facets=(name, "topic"), filters=((name, value),)))
    assert answer.read_as.encode()
    shared.search(SearchRequest(text, sort))
    shared.suggest(text)
    shared.similar(name, value)


@settings(max_examples=6, deadline=None)
@given(text=hostile, name=hostile)
def test_whatever_a_page_says_can_be_kept_and_found(text: str, name: str) -> None:
    document = IndexDocument(
        "paper",
        text,
        text,
        (text,),
        text,
        ((text, text),),
        text,
        0,
        (text,),
        {name: (text,)},
        {name: (text,)},
    )
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        index = index_of([document, LIBRARY[0]], Path(folder))
        assert index.document_count == 2
        hit = next(hit for hit in index.search(SearchRequest("")).hits if hit.id != "forage")
        assert hit.title == text.encode("utf-8", "replace").decode()


def test_a_text_that_looks_like_a_date_stays_a_text(tmp_path: Path) -> None:
    date = "2020-01-01T00:00:00Z"
    index = index_of(
        [IndexDocument("talk", "1", fields={"held": (date,)}, facets={"held": (date,)})], tmp_path
    )
    assert index.search(SearchRequest("", facets=("held",))).facets == {"held": [(date, 1)]}
    assert index.search(SearchRequest("", filters=(("held", date),))).total == 1
    assert index.search(SearchRequest("held:2020")).total == 1


def test_without_an_index_everything_is_answered_with_nothing(tmp_path: Path) -> None:
    index = SearchIndex(tmp_path / "nowhere")
    assert not index.is_ready
    assert (index.search(SearchRequest("x")).total, index.suggest("x"), index.similar("a", "b")) == (
        0,
        [],
        [],
    )


def test_what_another_writer_commits_is_seen_at_once(tmp_path: Path) -> None:
    index = index_of(LIBRARY[:1], tmp_path)
    assert index.search(SearchRequest("")).total == 1
    index_of(LIBRARY[1:], tmp_path)
    assert index.search(SearchRequest("")).total == 3
    with IndexWriter(tmp_path) as writer:
        writer.add(LIBRARY[0])
        writer.remove("paper", "graph")
        writer.commit(7)
    assert sorted(ids(index.search(SearchRequest("")))) == ["forage", "plain"]
    assert index.change == 7


def test_what_was_not_committed_is_not_kept(tmp_path: Path) -> None:
    index = index_of(LIBRARY[:1], tmp_path)
    with IndexWriter(tmp_path) as writer:
        writer.add(LIBRARY[1])
    assert index.document_count == 1


def test_only_one_may_write(tmp_path: Path) -> None:
    with (
        IndexWriter(tmp_path),
        pytest.raises(WorkspaceLocked, match="Another process is writing"),
        IndexWriter(tmp_path),
    ):
        pass


def test_the_old_index_answers_until_a_fresh_one_is_finished(tmp_path: Path) -> None:
    index = index_of(LIBRARY, tmp_path)
    with IndexWriter(tmp_path, fresh=True) as writer:
        writer.add(LIBRARY[0])
        writer.commit(9)
        assert index.document_count == 3
        writer.finish()
    assert (index.document_count, index.change) == (1, 9)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["0002"]


def test_a_search_that_began_before_a_fresh_index_was_finished_has_its_facets(tmp_path: Path) -> None:
    index_of(LIBRARY, tmp_path)
    snapshot = SnapshotOpener(tmp_path).newest()
    assert snapshot
    with IndexWriter(tmp_path, fresh=True) as writer:
        writer.commit(9)
        writer.finish()
    assert not snapshot.build.exists()
    assert count_facets(snapshot, tantivy.Query.all_query(), ("type",), 5) == {
        "type": [("paper", 2), ("talk", 1)]
    }


def test_an_index_of_another_format_counts_as_none(tmp_path: Path) -> None:
    index = index_of(LIBRARY, tmp_path)
    (tmp_path / CURRENT).write_text('{"format": 0, "build": "0001"}')
    assert not index.is_ready
    assert index_of(LIBRARY[:1], tmp_path).document_count == 1


@pytest.mark.parametrize("note", ["", "[]", '{"format": 3}', '{"format": 3, "build": "../.."}', "\x00"])
def test_a_damaged_note_counts_as_none(tmp_path: Path, note: str) -> None:
    index = index_of(LIBRARY, tmp_path)
    (tmp_path / CURRENT).write_text(note)
    assert index.search(SearchRequest("web")).total == 0


def test_damaged_files_are_told_in_a_sentence(tmp_path: Path) -> None:
    index_of(LIBRARY, tmp_path)
    build = current_build(tmp_path)
    assert build is not None
    (build / "meta.json").write_text("{}")
    with pytest.raises(WorkspaceError, match="cannot be read") as refused:
        SearchIndex(tmp_path).search(SearchRequest("web"))
    with pytest.raises(WorkspaceError, match="damaged") as damaged, IndexWriter(tmp_path):
        pass
    assert refused.value.next_step == damaged.value.next_step == "index --rebuild"
    with IndexWriter(tmp_path, fresh=True) as writer:
        writer.add(LIBRARY[0])
        writer.commit()
        writer.finish()
    assert SearchIndex(tmp_path).document_count == 1


def test_a_plus_is_a_sign() -> None:
    signs: list[Sign] = [clause.sign for clause in parse("+a b -c").clauses]
    assert signs == ["+", "", "-"]


def test_the_body_is_searched_below_title_and_abstract_and_quoted_with_its_page(tmp_path: Path) -> None:
    pages = {"deep": ["Nothing here.", "Only on this page do voles dig their burrows.", "The end."]}
    index = index_of(
        [
            IndexDocument(
                "paper", "deep", "On moles", text=("Moles dig.",), file="pdf", body=" ".join(pages["deep"])
            ),
            IndexDocument(
                "paper", "named", "Voles", text=("A study of voles.",), file="pdf", body="voles " * 40
            ),
        ],
        tmp_path,
    )
    answer = index.search(SearchRequest("voles"), lambda _kind, record_id: pages.get(record_id, []))
    assert ids(answer) == ["named", "deep"]
    named, deep = answer.hits
    assert (named.page, deep.page, deep.file) == (None, 2, "pdf")
    assert [part.text for part in deep.snippet if part.marked] == ["voles"]
    assert ids(index.search(SearchRequest("body:burrows"))) == ["deep"]
    assert ids(index.search(SearchRequest('"their burrows"'))) == ["deep"]
    assert ids(index.search(SearchRequest('"voles burrows"'))) == []
    assert ids(index.search(SearchRequest('"voles burrows"~2'))) == ["deep"]
    assert ids(index.search(SearchRequest("burro*"))) == ["deep"]
    assert ids(index.search(SearchRequest("burrows moles", "log-tf"))) == ["deep"]


def test_journal_and_references_are_fields_of_their_own(tmp_path: Path) -> None:
    by_name = {"journal": ("Annals of Water",), "reference": ("Dora Field. Tides. 1987.",)}
    water = IndexDocument("paper", "1", "Waves", venue="Annals of Water", by_name=by_name)
    index = index_of([water, IndexDocument("paper", "2", "Tides", venue="Annals of Sand")], tmp_path)
    assert ids(index.search(SearchRequest('journal:"annals of water"'))) == ["1"]
    assert ids(index.search(SearchRequest("reference:field"))) == ["1"]
    # A paper is found by what it says, not by what it cites.
    assert ids(index.search(SearchRequest("dora"))) == []


def test_a_doi_is_found_however_it_is_written(tmp_path: Path) -> None:
    index = index_of([IndexDocument("paper", "1", "Waves", fields={"doi": ("10.1000/ab-12.x",)})], tmp_path)
    for query in ("doi:10.1000/ab-12.x", "doi:https://doi.org/10.1000/AB-12.x", "10.1000/ab-12.x"):
        assert ids(index.search(SearchRequest(query))) == ["1"], query
    assert ids(index.search(SearchRequest("doi:10.1000/ab-13"))) == []


def venues(index: SearchIndex) -> list[tuple[str, int]]:
    return index.search(SearchRequest(facets=("venue",))).facets["venue"]


def test_the_names_of_facets_survive_a_line_that_was_cut_off(tmp_path: Path) -> None:
    index_of([IndexDocument("paper", "a", venue="Old"), IndexDocument("paper", "b", venue="Older")], tmp_path)
    names = current_build(tmp_path) / FACET_VALUES  # type: ignore[operator]
    with names.open("ab") as file:
        file.write(b"=Cut o")
    index = SearchIndex(tmp_path)
    assert venues(index) == [("Old", 1), ("Older", 1)]
    for number, venue in enumerate(("New", "Old", "Newer")):
        with IndexWriter(tmp_path) as writer:
            writer.add(IndexDocument("paper", f"c{number}", venue=venue))
            writer.commit()
    assert venues(index) == [("Old", 2), ("New", 1), ("Newer", 1), ("Older", 1)]
    assert names.read_bytes().split(b"\n").count(b"=Old") == 1


def test_documents_that_were_not_committed_leave_no_wrong_names(tmp_path: Path) -> None:
    index_of([IndexDocument("paper", "a", venue="Kept")], tmp_path)
    with IndexWriter(tmp_path) as writer:
        writer.add(IndexDocument("paper", "b", venue="Dropped"))
    with IndexWriter(tmp_path) as writer:
        writer.add(IndexDocument("paper", "c", venue="Next"))
        writer.commit()
    assert venues(SearchIndex(tmp_path)) == [("Kept", 1), ("Next", 1)]


@pytest.mark.parametrize(
    "venue", ["Line\nfeed and\ttab", "\udc80 lone", "1999-01-01", "=", "日本\u2028語\x85", "0"]
)
def test_any_value_of_a_facet_is_counted_by_its_name(tmp_path: Path, venue: str) -> None:
    documents = [IndexDocument("paper", str(number), venue=venue) for number in range(3)]
    index = index_of([*documents, IndexDocument("paper", "x", venue="Other")], tmp_path)
    (name, count), other = venues(index)
    assert (count, other) == (3, ("Other", 1))
    assert index.search(SearchRequest(filters=(("venue", name),))).total == 3


def test_a_search_that_reads_much_of_the_index_is_not_quick(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = [
        IndexDocument("paper", str(number), f"common {'rare' * (number == 0)}") for number in range(40)
    ]
    index = index_of(documents, tmp_path)
    assert not index.is_quick("rare")  # the words for corrections have yet to be read
    index.warm()
    assert all(
        index.is_quick(query) for query in ("rare", "common", "com*", '"common rare"', "year:1999", "")
    )
    monkeypatch.setattr("wayhound.search.index.QUICK_ENTRIES", 20)
    assert index.is_quick("rare")
    assert not any(index.is_quick(query) for query in ("common", "rare OR common", "ra*", "year:1999", ""))

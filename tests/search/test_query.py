from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayhound.search.query import (
    FIELDS,
    MAX_PARTS,
    MAX_PREFIXES,
    MAX_QUERY_LENGTH,
    Clause,
    Query,
    Term,
    YearRange,
    describe,
    parse,
    to_text,
)

# Text as people type it and as attackers do: marks of the language between any characters at all.
marks = st.sampled_from(
    [
        '"',
        "“",
        "+",
        "-",
        "*",
        ":",
        "..",
        "OR",
        "AND",
        "|",
        "(",
        ")",
        " ",
        " OR ",
        "year:",
        "author:",
        "\udc80",
    ]
)
typed = st.lists(marks | st.text(max_size=6) | st.sampled_from(FIELDS), max_size=12).map("".join)


@settings(deadline=None)  # a busy machine may pause at any time
@given(text=typed)
def test_anything_that_is_typed_can_be_read_and_told(text: str) -> None:
    query = parse(text)
    description = describe(query) + to_text(query)
    assert description.encode("utf-8")
    assert all(clause.any_of for clause in query.clauses)


@settings(deadline=None)
@given(text=typed)
def test_a_query_written_out_is_read_as_the_same_query(text: str) -> None:
    query = parse(text)
    assert parse(to_text(query)) == query


@settings(deadline=None)
@given(text=typed)
def test_every_term_has_a_word_to_look_for(text: str) -> None:
    parts = [part for clause in parse(text).clauses for part in clause.any_of]
    assert all(part.words for part in parts if isinstance(part, Term))
    assert all(
        part.first is not None or part.last is not None for part in parts if isinstance(part, YearRange)
    )


names = st.text("abcdefgh_", min_size=1, max_size=6).filter(lambda name: name[0] != "_")


@settings(deadline=None)
@given(declared=st.sets(names, max_size=4), text=st.lists(marks | names, max_size=10).map("".join))
def test_declared_fields_are_read_back_too(declared: set[str], text: str) -> None:
    fields = (*FIELDS, *declared)
    query = parse(text, fields)
    assert parse(to_text(query), fields) == query


def one(*parts: Term | YearRange, sign: str = "") -> Clause:
    return Clause(parts, sign)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("neural nets", [one(Term("neural")), one(Term("nets"))]),
        ("author:knuth", [one(Term("knuth", "author"))]),
        ("Author: Knuth", [one(Term("Knuth", "author"))]),
        ('author:"donald knuth"', [one(Term("donald knuth", "author"))]),
        ('"self organizing"', [one(Term("self organizing"))]),
        ("“curly quotes”", [one(Term("curly quotes"))]),
        ('"never closed', [one(Term("never closed"))]),
        ("+must -not", [one(Term("must"), sign="+"), one(Term("not"), sign="-")]),
        ('-"not this" -author:x', [one(Term("not this"), sign="-"), one(Term("x", "author"), sign="-")]),
        ("a OR b c", [one(Term("a"), Term("b")), one(Term("c"))]),
        ("+a OR b", [one(Term("a"), Term("b"), sign="+")]),
        ("a OR -b", [one(Term("a")), one(Term("b"), sign="-")]),
        ("-a OR b", [one(Term("a"), sign="-"), one(Term("b"))]),
        ("OR a OR", [one(Term("a"))]),
        ("a AND b", [one(Term("a")), one(Term("b"))]),
        ("or", [one(Term("or"))]),
        ("learn*", [one(Term("learn", prefix=True))]),
        ('title:"deep lear"*', [one(Term("deep lear", "title", prefix=True))]),
        ("year:1998..2003", [one(YearRange(1998, 2003))]),
        ("year:1998-2003", [one(YearRange(1998, 2003))]),
        ("year:2003..1998", [one(YearRange(1998, 2003))]),
        ("year:1998", [one(YearRange(1998, 1998))]),
        ("year:..2003", [one(YearRange(None, 2003))]),
        ("year:1998..", [one(YearRange(1998, None))]),
        ("year:199*", [one(YearRange(1990, 1999))]),
        ("year:so*", [one(Term("year:so", prefix=True))]),
        ("year:soon", [one(Term("year:soon"))]),
        ("colour:red", [one(Term("colour:red"))]),
        ("- + * ... ()", []),
        ("", []),
    ],
)
def test_the_language(text: str, clauses: list[Clause]) -> None:
    assert parse(text) == Query(tuple(clauses))


@pytest.mark.parametrize(
    ("text", "description"),
    [
        ("", "everything"),
        ("-graph", "everything, but not “graph”"),
        ("neural author:knuth", "“neural” and “knuth” in author"),
        ('+"deep nets" year:..1999', "certainly the phrase “deep nets” and until 1999"),
        ("a OR b* -c -d", "(“a” or a word beginning with “b”), but not “c” nor “d”"),
        ("self-made year:1998..2003", "the phrase “self made” and from 1998 to 2003"),
        ("c++ year:2001..", "“c” and since 2001"),
        ('"a b"* year:7', "a phrase beginning with “a b” and of the year 7"),
        ("+a OR b", "certainly (“a” or “b”)"),
    ],
)
def test_the_reader_is_told_how_the_query_was_read(text: str, description: str) -> None:
    assert describe(parse(text)) == description


def test_of_an_endless_query_the_beginning_is_read() -> None:
    assert len(to_text(parse("word " * 100_000))) <= MAX_QUERY_LENGTH
    parts = [part for clause in parse("a OR " * 100 + "b c").clauses for part in clause.any_of]
    assert len(parts) == MAX_PARTS
    stars = [part for clause in parse("a* " * 9 + "b").clauses for part in clause.any_of]
    assert [isinstance(part, Term) and part.prefix for part in stars] == [True] * MAX_PREFIXES + [False] * 5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("GÖDEL", ["godel"]),
        ("Łukasiewicz", ["lukasiewicz"]),
        ("Straße", ["strasse"]),
        ("l’équipe", ["l", "equipe"]),
    ],
)
def test_words_are_compared_without_accents_and_case(text: str, words: list[str]) -> None:
    assert Term(text).words == words


@pytest.mark.parametrize("typed", ["apes NOT bees", "apes AND NOT bees", "apes ! bees", "apes -bees"])
def test_not_excludes_the_next_word(typed: str) -> None:
    assert parse(typed) == Query((Clause((Term("apes"),)), Clause((Term("bees"),), "-")))


def test_words_near_each_other_can_be_asked_for() -> None:
    query = parse('body:"hidden chain"~5')
    assert query == Query((Clause((Term("hidden chain", "body", near=5),)),))
    assert to_text(query) == 'body:"hidden chain"~5'
    assert describe(query) == "near each other, “hidden chain” in body"

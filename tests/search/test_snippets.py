from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wayhound.search.query import parse
from wayhound.search.results import Fragment, Highlighter, best_page, highlight, snippet


def marker(text: str) -> Highlighter:
    return Highlighter.from_query(parse(text))


def shown(pieces: tuple[Fragment, ...]) -> str:
    return "".join(f"[{piece.text}]" if piece.marked else piece.text for piece in pieces)


def test_the_words_asked_for_are_marked_whatever_their_case_and_accents() -> None:
    assert (
        shown(highlight("Gödel and GODEL, but not godels", marker("gödel")))
        == "[Gödel] and [GODEL], but not godels"
    )


def test_beginnings_and_phrases_are_marked_by_their_words() -> None:
    text = "Learning self-organizing maps"
    assert shown(highlight(text, marker('learn* "self organizing"'))) == "[Learning] [self]-[organizing] maps"


def test_what_must_not_be_there_is_not_marked() -> None:
    assert shown(highlight("a graph", marker("a -graph"))) == "[a] graph"


def test_a_name_with_an_apostrophe_is_marked_whole() -> None:
    assert shown(highlight("by O’Hara", marker("hara"))) == "by [O’Hara]"


def test_the_snippet_is_where_most_of_the_words_are() -> None:
    text = "deep " + "filler " * 100 + "deep neural nets here " + "filler " * 100
    text_shown = shown(snippet(text, marker("deep neural nets"), 120))
    assert "[deep] [neural] [nets]" in text_shown
    assert text_shown.startswith("… ")
    assert text_shown.endswith(" …")


def test_without_a_word_to_show_the_snippet_is_the_beginning() -> None:
    assert shown(snippet("one two three four", marker("nothing"), 8)) == "one two …"
    assert snippet("", marker("x")) == ()


def test_a_snippet_that_is_cut_where_its_text_was_cut_has_one_ellipsis_there() -> None:
    text = "one two … three four … five six"
    assert shown(snippet(text, marker("nothing"), 10)) == "one two …"
    assert shown(snippet("filler " * 9 + text, marker("three"), 20)).count("…") == 2
    assert shown(snippet("word " * 40 + "… deep …", marker("deep"), 12)) == "… [deep] …"


@settings(deadline=None)  # a busy machine may pause at any time
@given(text=st.text(), query=st.text(max_size=20), length=st.integers(1, 60))
def test_pieces_are_the_text_itself_and_short(text: str, query: str, length: int) -> None:
    whole = highlight(text, marker(query))
    assert "".join(piece.text for piece in whole) == text
    part = snippet(text, marker(query), length)
    inner = "".join(piece.text for piece in part if piece.text not in ("… ", " …") or piece.marked)
    assert inner.strip("… ") in text
    assert len(inner) <= length + 4


def test_a_long_text_full_of_hits_is_marked_in_reasonable_steps() -> None:
    assert snippet("word " * 2_000, marker("word")) != ()
    # They would take seconds if the beginning of the word were looked for from each sign.
    for text in ("a''" * 20_000, "a'" * 20_000, "ab'a" * 20_000):
        assert highlight(text, marker("a")) != ()


letters = st.text(alphabet="aAbéÉİıK'’_- \u0301ß中", max_size=30) | st.text(
    alphabet="aAbB1'_- .", max_size=30
)


@settings(deadline=None)
@given(text=letters, query=st.text(alphabet="aAbéİK'*中 ", max_size=8))
def test_words_are_marked_as_if_each_were_looked_at(text: str, query: str) -> None:
    chosen = marker(query)
    words = list(re.finditer(r"[^\W_]+(?:['’][^\W_]+)*", text)) if chosen.whole or chosen.prefixes else []
    expected = [(word.start(), word.end(), term) for word in words if (term := chosen.match(word[0]))]
    assert chosen.spans(text) == expected


def test_the_page_with_most_of_the_words_is_quoted_with_or_without_accents() -> None:
    pages = ["Nothing.", "The vole of Gödel", "A vole and a mole", "Mole, vole and Gödel"]
    assert best_page(pages, ["vole", "mole"]) == 2
    assert best_page(pages, ["godel"]) == 1
    assert best_page(pages, ["tiger"]) is None


@pytest.mark.parametrize(
    ("word", "text", "marked"),
    [
        ("a", "A banana, a data-a: (a) 'a' area.", ["A", "a", "a", "a", "a"]),
        ("of", "often of, off; the roof of_it, OF.", ["of", "of", "OF"]),
        ("in", "in-in inn éin in’ in", ["in", "in", "in", "in"]),
    ],
)
def test_short_words_are_marked_where_they_stand_alone(word: str, text: str, marked: list[str]) -> None:
    pieces = highlight(text, Highlighter(frozenset({word})))
    assert [piece.text for piece in pieces if piece.marked] == marked
    assert "".join(piece.text for piece in pieces) == text

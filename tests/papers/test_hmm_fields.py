"""Hidden Markov models of headers and references: words, gaps, distant labels and a small model end to end."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.papers.texts import token_lines
from wayhound.errors import NotFitted
from wayhound.papers.distant import BIBTEX_IN_HEADERS, DistantWords, parse_bibtex
from wayhound.papers.field_hmm import (
    FieldHMM,
    header_text,
    header_word,
    reference_text,
    reference_word,
    token_labels,
)
from wayhound.papers.models import shipped_hmm
from wayhound.papers.tagged import HEADER_FIELDS, TaggedText, parse_references, parse_tagged
from wayhound.papers.tokens import Hint


@pytest.mark.parametrize(
    ("token", "word"),
    [
        ("fjun,singhalg@cis.ohio-state.edu", "<email>"), ("http://www.unisa.it/~carblu,", "<web>"),
        ("1992", "<year>"), ("(1992),", "<year>"), ("30332-0280", "<zip>"), ("D-79110", "<zip>"),
        ("GIT-CC-92/28", "<report>"), ("94-09-04", "<number>"), ("(614)-292-5199,", "<number>"),
        ("Collecting", "collecting"), ("k-ary", "kary"), ("Keywords|", "keywords"), ("*", ""), ("&", ""),
    ],
)  # fmt: skip
def test_header_words_lose_case_and_punctuation_and_some_become_a_kind(token: str, word: str) -> None:
    assert header_word(token) == word


@pytest.mark.parametrize(
    ("token", "word"),
    [
        ("520-540.", "<range>"),
        ("42(2-3),", "<issue>"),
        ("I.", "<initial>"),
        ("C.-C.", "<initial>"),
        ("In", "in"),
    ],
)
def test_reference_words_distinguish_ranges_issues_and_initials(token: str, word: str) -> None:
    assert reference_word(token) == word


HEADER = """Walking on Ice
A. Walker, B. Runner
Abstract
We walk. And walk
on.
Keywords: ice, walking
1 Introduction"""


def test_a_header_is_one_word_for_the_abstract_and_one_for_the_introduction() -> None:
    text = header_text(token_lines(HEADER))
    assert text.words == ("walking", "on", "ice", "a", "walker", "b", "runner", "<abstract>", "keywords", "ice",
                          "walking", "<intro>")  # fmt: skip
    assert text.spans[7] == (7, 13)
    assert text.gaps == (2, 0, 0, 2, 0, 1, 0, 2, 2, 0, 1, 2)


def test_a_header_without_introduction_ends_with_the_page() -> None:
    text = header_text(token_lines("Walking on Ice"))
    assert text.words[-1] == "<page>"
    assert text.spans[-1] == (3, 3)


def test_known_fields_say_where_the_abstract_is() -> None:
    fields = ["title"] * 3 + ["abstract"] * 2
    assert header_text(token_lines("Walking on Ice\nWe walk."), fields).words == (
        "walking", "on", "ice", "<abstract>", "<page>",
    )  # fmt: skip


def test_gaps_of_references_depend_on_the_end_of_the_word_before() -> None:
    text = reference_text('B. Horn. "Robot Vision," MIT Press, 1986'.split())
    assert text.words == ("<initial>", "horn", "robot", "vision", "mit", "press", "<year>")
    assert text.gaps == (0, 7, 1, 0, 6, 0, 2)


def test_labels_of_words_are_spread_over_all_tokens() -> None:
    assert token_labels([(1, 2), (3, 5)], ["a", "b"], 6) == ["a", "a", "a", "b", "b", "b"]


BIBTEX = r"""
@string{ice = "Journal of Ice"}
Some remark.
@article{one, title = {Walking on {T}hin Ice}, author = "Walker, {\'A}nna and M{\"u}ller, B.",
  year = 1999, journal = ice, note={unbalanced, }
@book{two, title = "A {"}quoted{"} Title", address = {K{\o}benhavn}, publisher={Ice \& Sons}}
@broken{three, title = {never closed
@misc{four, title={Last}}
"""


@given(st.text(alphabet='@{}=,"\\ \n#ab1²\x00é', max_size=80))
def test_any_text_can_be_read_as_bibtex(text: str) -> None:
    assert [entry.kind for entry in parse_bibtex(text)] == [
        entry.kind for entry in parse_bibtex(text + " no entry")
    ]
    assert list(parse_bibtex("")) == []


def test_bibtex_is_read_with_braces_quotes_accents_and_breaks() -> None:
    entries = {entry.key: entry for entry in parse_bibtex(BIBTEX)}
    assert entries["one"].fields["title"] == "Walking on Thin Ice"
    assert entries["one"].fields["author"] == "Walker, Anna and Muller, B."
    assert entries["one"].fields["year"] == "1999"
    assert entries["two"].fields["title"] == 'A "quoted" Title'
    assert entries["two"].fields["publisher"] == "Ice & Sons"
    assert entries["four"].fields == {"title": "Last"}
    assert list(entries) == ["one", "two", "three", "four"]


def test_distant_words_are_counted_for_the_classes_that_their_field_lends_them_to() -> None:
    words = DistantWords(header_word)
    words.add_bibtex(parse_bibtex(BIBTEX), BIBTEX_IN_HEADERS)
    assert words.counts["title"]["ice"] == words.counts["keyword"]["ice"] == 1
    assert words.counts["author"]["walker"] == 1
    numbers = {"ice": 1, "walker": 2}
    matrix = words.matrix(["title", "author", "phone"], numbers, 3)
    assert matrix.tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert words.vocabulary(min_count=2) >= {"ice"}


def headers(n: int) -> list[TaggedText]:
    """Return headers of one structure, with words from short lists."""
    rng = np.random.default_rng(0)
    titles, people, towns = (
        ["ice", "snow", "walking", "on", "thick"],
        ["Anna", "Berta", "Carl"],
        ["Oslo", "Bergen"],
    )
    made = []
    for _ in range(n):
        title = " ".join(rng.choice(titles, size=rng.integers(2, 5)))
        text = (
            f"<title> {title} </title>\n<author> {rng.choice(people)} Walker </author>\n<affiliation> University of"
            f" {rng.choice(towns)} </affiliation>\n<abstract> Abstract\nWe walk on ice. </abstract>\n"
            "<intro> 1 Introduction </intro>"
        )
        made.append(parse_tagged(text, HEADER_FIELDS))
    return made


@pytest.mark.parametrize("use_gaps", [False, True])
def test_a_model_of_headers_labels_every_token_of_a_new_header(use_gaps: bool) -> None:
    model = FieldHMM("header", use_gaps=use_gaps).fit(headers(30))
    lines = token_lines(
        "thick snow\nBerta Walker\nUniversity of Bergen\nAbstract\nNew things, said\nhere.\n1 Introduction"
    )
    found = model.label(lines)
    assert (
        found.labels
        == ("title",) * 2 + ("author",) * 2 + ("affiliation",) * 3 + ("abstract",) * 5 + ("intro",) * 2
    )
    assert [segment.field for segment in found.segments] == [
        "title",
        "author",
        "affiliation",
        "abstract",
        "intro",
    ]
    assert all(0.5 < segment.confidence <= 1.0 for segment in found.segments)


def test_a_model_of_references_learns_from_distant_words() -> None:
    taught = parse_references(
        "\n".join(f"<author> X. N{n}, </author> <title> T{n} things. </title>" for n in range(20))
    )
    distant = DistantWords(reference_word)
    distant.add_tagged(
        parse_references("\n".join(["<author> Known Person </author> <title> of ice </title>"] * 9))
    )
    model = FieldHMM("reference", merging="one").fit(taught, distant)
    assert model.label(token_lines("X. Person, ice things.")).labels == ("author", "author", "title", "title")


def test_an_untaught_model_says_so() -> None:
    with pytest.raises(NotFitted):
        FieldHMM().label_read(header_text(token_lines("x")), 1)


def test_hints_overrule_a_hidden_markov_model() -> None:
    model = shipped_hmm("reference")
    lines = token_lines("Walker, A. Walking on ice. 1998.")
    before = model.label(lines).labels
    assert "publisher" not in before
    hints = [Hint(word, "publisher", 50.0) for word in range(2, 5)]
    assert model.label(lines, hints).labels[2:5] == ("publisher",) * 3
    assert model.label(lines, [Hint(99, "publisher", 50.0)]).labels == before


def test_a_hidden_markov_model_learns_corrected_texts_and_their_new_words() -> None:
    model = shipped_hmm("reference")
    right = "<author> Zyx, Q. </author> <title> Qqq wvv hhj. </title> <publisher> Tsk & Tsk, </publisher>"
    text = parse_tagged(right, ("author", "title", "publisher"))
    assert model.label(text.lines).labels != text.labels
    after = model.corrected([text] * 8)
    assert after.label(text.lines).labels == text.labels
    assert "wvv" in after.vocabulary_
    assert "wvv" not in model.vocabulary_
    arrays, meta = after.to_arrays()
    assert FieldHMM.from_arrays(arrays, meta).label(text.lines).labels == text.labels

"""Tagged texts and their words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.documents.document import Line
from wayhound.errors import TeachingError
from wayhound.papers.tagged import (
    HEADER_FIELDS,
    REFERENCE_FIELDS,
    parse_headers,
    parse_nested_references,
    parse_references,
    parse_tagged,
)
from wayhound.papers.tokens import document_lines, token_line

HEADERS = """<NEW_HEADER>
<title> Learning to Walk
on Thin Ice  </title>
<author> A. Walker </author>
<affiliation> University of Nowhere, </affiliation> <address> Nowhere, NW 12345 </address>

<NEW_HEADER>
<title> A Second Paper </title>
"""


def test_headers_keep_their_lines_and_know_the_field_of_every_word() -> None:
    first, second = parse_headers(HEADERS)
    assert [line.words for line in first.lines] == [
        ("Learning", "to", "Walk"),
        ("on", "Thin", "Ice"),
        ("A.", "Walker"),
        ("University", "of", "Nowhere,", "Nowhere,", "NW", "12345"),
    ]
    assert first.labels == ("title",) * 6 + ("author",) * 2 + ("affiliation",) * 3 + ("address",) * 3
    assert second.words == ["A", "Second", "Paper"]


def test_references_stand_one_on_a_line() -> None:
    text = "<author> B. Horn. </author> <title> Robot Vision. </title>\n\n<title> Alone </title>\n"
    one, other = parse_references(text)
    assert one.labels == ("author", "author", "title", "title")
    assert other.words == ["Alone"]


def test_words_between_two_fields_belong_to_the_one_before_and_at_the_front_to_the_first() -> None:
    text = parse_tagged("1 <title> A </title> * <author> B </author>", HEADER_FIELDS)
    assert text.words == ["1", "A", "*", "B"]
    assert text.labels == ("title", "title", "title", "author")


def test_what_looks_like_a_tag_but_is_no_field_is_a_word() -> None:
    text = parse_tagged("<title> The <b> of a < c </title>", HEADER_FIELDS)
    assert text.words == ["The", "<b>", "of", "a", "<", "c"]


def test_nested_tags_are_read_as_the_fields_of_plain_references() -> None:
    text = (
        "<ref-marker> [7] </ref-marker> <authors> <person> <person-first> A. </person-first> <person-last> Lee ,"
        " </person-last> </person> </authors> <title> On Ice . </title> <venue> in : <journal> J. Ice </journal>"
        " <volume> ( 3 ) </volume> <date> <year> 1999 </year> </date> </venue>"
    )
    (reference,) = parse_nested_references(text)
    assert list(zip(reference.words, reference.labels, strict=True)) == [
        ("A.", "author"), ("Lee,", "author"), ("On", "title"), ("Ice.", "title"), ("in:", "journal"),
        ("J.", "journal"), ("Ice", "journal"), ("(3)", "volume"), ("1999", "date"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("read", "text"),
    [
        (parse_headers, "nothing here"),
        (parse_headers, "<NEW_HEADER>\nuntagged words"),
        (parse_references, ""),
    ],
)
def test_a_file_that_cannot_be_learned_from_is_refused(read: object, text: str) -> None:
    assert callable(read)
    with pytest.raises(TeachingError, match=r"\.$"):
        read(text)


words = st.text(st.characters(categories=["L", "N", "P"], exclude_characters="<>"), min_size=1, max_size=8)


@given(st.lists(st.lists(st.tuples(words, st.sampled_from(REFERENCE_FIELDS)), min_size=1), min_size=1))
def test_each_word_has_the_field_of_its_tags(lines: list[list[tuple[str, str]]]) -> None:
    text = "\n".join(" ".join(f"<{label}> {word} </{label}>" for word, label in line) for line in lines)
    tagged = parse_tagged(text, REFERENCE_FIELDS)
    assert [line.words for line in tagged.lines] == [tuple(word for word, _ in line) for line in lines]
    assert tagged.labels == tuple(label for line in lines for _, label in line)


def test_tokens_know_where_they_stand_in_their_line() -> None:
    line = token_line("  Deep  ice,")
    assert [(token.text, token.start, token.end) for token in line.tokens] == [
        ("Deep", 2, 6),
        ("ice,", 8, 12),
    ]


def test_lines_of_a_document_bring_their_layout_if_there_is_one() -> None:
    body = [Line("words", box=(100, 300, 500, 310), size=10.0)] * 3
    title = Line("A Title", box=(200, 50, 400, 70), size=20.0, bold=True)
    plain = Line("no box")
    layouts = [line.layout for line in document_lines([title, *body, plain], (600, 800))]
    assert layouts[0] is not None
    assert (layouts[0].size, layouts[0].depth, layouts[0].off_centre) == (2.0, 50 / 800, 0.0)
    assert layouts[0].bold
    assert layouts[-1] is None

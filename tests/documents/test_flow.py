"""Running text made of lines, and regions of its characters."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from wayhound.documents.document import Line, Word
from wayhound.documents.flow import PageRegion, flow, whole_words


def lines_of(*texts: str) -> list[Line]:
    return [Line(text, page=number) for number, text in enumerate(texts, start=1)]


def joined(*texts: str, known: str = "") -> str:
    return flow(lines_of(*texts), whole_words(lines_of(known))).text


def test_lines_are_joined_by_blanks() -> None:
    assert joined("one line", "and another") == "one line and another"


def test_a_cut_word_is_made_whole() -> None:
    assert joined("we esti-", "mate it") == "we estimate it"


def test_a_compound_keeps_its_hyphen() -> None:
    assert joined("J. Shawe-", "Taylor") == "J. Shawe-Taylor"
    assert joined("the actor-", "critic method", known="an actor and a critic") == "the actor-critic method"
    assert joined("well-", "known work", known="a well-known fact") == "well-known work"
    assert joined("a bag-", "of-words model", known="the bag of words") == "a bag-of-words model"


def test_a_word_that_the_document_knows_is_no_compound() -> None:
    assert joined("be-", "cause of it", known="because to be is a cause") == "because of it"


def test_pages_and_years_stay_apart() -> None:
    assert joined("pages 47–", "51.") == "pages 47–51."
    assert joined("pages 143-", "157. Springer") == "pages 143-157. Springer"


def test_an_address_goes_on_at_the_next_line() -> None:
    assert (
        joined("see http://www.example.org/", "papers/1.pdf for it")
        == "see http://www.example.org/papers/1.pdf for it"
    )


def test_halves_of_cut_words_are_no_words() -> None:
    assert whole_words(lines_of("we esti-", "mate all")) == {"we", "all"}


def test_superscripts_move_with_their_line() -> None:
    running = flow([Line("as seen"), Line("before12 and", superscripts=((6, 8),))])
    assert [running.text[start:end] for start, end in running.superscripts] == ["12"]


@given(st.lists(st.text(alphabet="ab- ", max_size=8), max_size=6))
def test_every_character_leads_back_to_its_line(texts: list[str]) -> None:
    lines = lines_of(*texts)
    running = flow(lines)
    for offset, letter in enumerate(running.text):
        line = running.line_at(offset)
        assert letter in line.text + " "
    assert len(running.text) <= sum(len(text) + 1 for text in texts)


def test_a_range_of_characters_has_its_regions() -> None:
    running = flow([placed("one two", page=1), placed("three", page=2), Line("four", page=3)])
    assert running.text == "one two three four"
    assert running.regions(4, 7) == (PageRegion(1, (20.0, 0.0, 35.0, 10.0)),)
    assert running.regions(0, 13) == (
        PageRegion(1, (0.0, 0.0, 35.0, 10.0)),
        PageRegion(2, (0.0, 0.0, 25.0, 10.0)),
    )
    assert running.regions(14, 18) == (PageRegion(3, None),)


def placed(text: str, page: int) -> Line:
    """Every letter is five points wide."""
    words, at = list[Word](), 0
    for word in text.split():
        words.append(Word(word, (5.0 * at, 0.0, 5.0 * (at + len(word)), 10.0), 10))
        at += len(word) + 1
    return Line(text, page, (0.0, 0.0, 5.0 * len(text), 10.0), 10, words=tuple(words))

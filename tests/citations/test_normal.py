from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.citations.citation import Citation, guess_fields, normalise, trigram_bits
from wayhound.text.words import fold, plain_words

FIELDS = Citation(
    title="Hops to the Goal: A Study",
    authors="A. Lind and B. Wood",
    venue="Proceedings of the 3rd Workshop on Trails",
    year="(1999).",
    pages="pp. 112-19",
    volume="vol. 5, no. 2,",
)


def test_fields_become_words_names_and_numbers() -> None:
    normal = normalise(FIELDS)
    assert normal.title_words == {"hops", "goal", "study"}
    assert normal.last_names == {"lind", "wood"}
    assert (normal.year, normal.first_page, normal.last_page, normal.volume) == (1999, 112, 119, 5)
    assert normal.venue_words == {"trai"}


@pytest.mark.parametrize(
    "text",
    [
        "[3] A. Lind and B. Wood. Hops to the goal. Journal of Trails, 5(2):112-119, 1999.",
        "Lind, A., & Wood, B. (1999). Hops to the goal. Journal of Trails, 5, 112-119.",
        'A. Lind, B. Wood, "Hops to the goal," Journal of Trails, vol. 5, pp. 112-119, 1999.',
    ],
)
def test_fields_of_a_bare_text_are_guessed(text: str) -> None:
    normal = normalise(Citation(text=text))
    assert normal.title_words == {"hops", "goal"}
    assert normal.last_names == {"lind", "wood"}
    assert (normal.year, normal.first_page, normal.volume) == (1999, 112, 5)
    assert "trai" in normal.venue_words


def test_numbers_that_strayed_into_other_fields_are_found() -> None:
    normal = normalise(Citation(title="Hops", venue="Trails '93,", note="82(3):247-251"))
    assert (normal.year, normal.volume, normal.first_page) == (1993, 82, 247)


@pytest.mark.parametrize("field", ["volume", "venue", "note"])
def test_a_number_of_any_length_may_stand_for_a_volume(field: str) -> None:
    normal = normalise(replace(Citation(title="Hops"), **{field: f"vol. {'1' * 5_000}"}))
    assert normal.volume == 111_111_111


def test_accents_entities_and_tex_do_not_part_words() -> None:
    assert fold("Ludäscher") == fold("Lud&auml;scher") == "ludascher"
    assert plain_words("The {WASA}'s \\emph{way}") == ["the", "wasas", "way"]


def test_trigrams_of_like_texts_are_mostly_shared() -> None:
    a, b = trigram_bits("thestrengthofweaklearnability"), trigram_bits("onthestrengthofweaklearnability")
    assert (a & b) == a
    assert trigram_bits("") == 0


@given(st.text())
def test_any_text_can_be_normalised(text: str) -> None:
    guessed = guess_fields(Citation(text=text))
    assert normalise(Citation(text=text)).title_letters == normalise(guessed).title_letters
    normalise(Citation(text, text, text, text, text, text, text))

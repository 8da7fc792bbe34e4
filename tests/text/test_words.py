"""Splitting text into words."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.text.words import fold, normalised, spaced, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Faculty's e-mail: Ann@CS.example.edu", "the faculty s e mail ann cs example edu"),
        ("L’équipe de l'Élysée", "l équipe de l élysée"),
        ("file_name v2.10 (2024)", "file name v2 10 2024"),
        ("Cafe\u0301 \u212bngström ﬁne", "café ångström fine"),
        ("co\u00adoperate “now”\u00a0— today…", "cooperate now today"),
        ("Wayhound™ ½ x² ❤\ufe0f", "wayhound 1 2 x2"),
        ("ΑΘΗΝΑ Москва İletişim", "αθηνα москва iletişim"),
        ("हिन्दी विभाग", "हिन्दी विभाग"),
        ("서울 대학교", "서울 대학교"),
        ("师资队伍 2024年", "师资 资队 队伍 2024 年"),
        ("東京大学のPhD", "東京 京大 大学 学の phd"),
        ("", ""),
        (" \t\n…", ""),
    ],
)
def test_words_are_runs_of_letters_and_digits_in_lower_case(text: str, expected: str) -> None:
    assert words(text) == expected.split()


def test_thai_gives_pairs_of_characters() -> None:
    assert words("ติดต่อ") == ["ติ", "ิด", "ดต", "ต่", "่อ"]


def test_separators_keep_their_places() -> None:
    assert spaced("a,\x1cB!\x1dç") == "a \x1cb \x1dç"
    assert words("a,\x1cB!\x1dç") == ["a", "b", "ç"]


@given(st.text(st.characters(codec=None)))
def test_any_text_gives_words_without_white_space(text: str) -> None:
    assert all(word and not any(map(str.isspace, word)) for word in words(text))


@given(st.text(alphabet=st.characters(max_codepoint=0x24F)))
def test_words_of_words_are_the_same_words(text: str) -> None:
    once = words(text)
    assert words(" ".join(once)) == once


def test_any_number_of_combining_marks_is_read_in_linear_time() -> None:
    """Python sorts the marks of a letter, which would take hours here."""
    many = "a\u0301" + "\u0316\u0301" * 100_000 + " b"
    assert words(many)[0].startswith("á\u0316\u0316")
    assert words(many)[1] == "b"
    assert fold(many) == "a b"
    assert words("ab" + "\uff9e\u0316" * 50_000)[0].startswith("ab")


@given(st.text("aé가が\u0301\u0316\u3099\uff9e·— \u0f73", max_size=300))
def test_a_text_with_few_marks_is_normalised_as_ever(text: str) -> None:
    for form in ("NFC", "NFKC", "NFKD"):
        assert normalised(form, f"{text:—>200}") == unicodedata.normalize(form, f"{text:—>200}")

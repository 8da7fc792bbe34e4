"""E-mail addresses in headers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.papers.normalise_fields import mail_addresses


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("anna@one.example, berta@two.example", ["anna@one.example", "berta@two.example"]),
        ("{anna.lind, b-wood}@one.example", ["anna.lind@one.example", "b-wood@one.example"]),
        ("{anna|berta} @one.example", ["anna@one.example", "berta@one.example"]),
        ("anna, berta@one.example", ["anna@one.example", "berta@one.example"]),
        ("(Email: anna@one.example)", ["anna@one.example"]),
        ("anna@one.example.", ["anna@one.example"]),
        ("{Firstname}.{Lastname}@one.example", []),
        ("anna at one dot example", []),
        ("", []),
    ],
)
def test_each_address_stands_by_itself(text: str, addresses: list[str]) -> None:
    assert mail_addresses(text) == addresses


@given(st.text(alphabet="ab{},|@. ()[]", max_size=80))
def test_any_text_gives_whole_addresses_or_none(text: str) -> None:
    assert all(address.count("@") == 1 and " " not in address for address in mail_addresses(text))

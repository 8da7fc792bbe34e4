"""Repair of extracted text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.documents.letters import repair_text


@pytest.mark.parametrize(
    ("raw", "meant"),
    [
        ("e\ufb03cient \ufb02ow of o\ufb00ers", "efficient flow of offers"),
        ("e\x1ecient e\x0ecient \x1crst", "efficient efficient first"),
        ("pages 12\x1534", "pages 12–34"),
        ("Sch¨olkopf and M¨uller", "Schölkopf and Müller"),
        ("Andr´e Mart´ınez", "André Martínez"),
        ("Franc¸ois", "François"),
        ("Dvoˇr´ak", "Dvořák"),
        ("e\u0301tude", "étude"),
        ("soft\u00adhyphen", "softhyphen"),
        ("a\u00a0b\u2003c  d\te", "a b c d e"),
        ("x\x00\x01y", "xy"),
        ("tall \uf8eb bracket", "tall bracket"),
    ],
)
def test_text_is_repaired(raw: str, meant: str) -> None:
    assert repair_text(raw) == meant


@pytest.mark.parametrize("plain", ["f(x) = x^2 ~ y", "a `quoted' word", "¨5 and ´!", "naïve café", "東京"])
def test_what_is_in_order_stays(plain: str) -> None:
    assert repair_text(plain) == plain


@given(st.text())
def test_repaired_text_is_not_changed_again(text: str) -> None:
    once = repair_text(text)
    assert repair_text(once) == once

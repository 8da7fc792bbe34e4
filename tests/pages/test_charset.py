"""Bytes are decoded by byte order mark, header, the page's own declaration, and detection, in that order."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.pages.sniff import decode, sixteen_bit_codec

RUSSIAN = "Кафедра информатики. Преподаватели и сотрудники, список публикаций, контакты. "
JAPANESE = "東京大学の研究室へようこそ。メンバーと論文の一覧です。"


def test_a_byte_order_mark_counts_more_than_the_header() -> None:
    assert decode(codecs.BOM_UTF8 + "é".encode(), "iso-8859-1") == ("é", "utf-8")
    assert decode(codecs.BOM_UTF16_BE + "é".encode("utf-16-be"), "utf-8") == ("é", "utf-16-be")


def test_the_header_counts_more_than_the_page() -> None:
    body = b"<meta charset=windows-1252>" + "Привет".encode("koi8-r")
    text, codec = decode(body, "koi8-r")
    assert text.endswith("Привет")
    assert codec == "koi8-r"


@pytest.mark.parametrize(
    "declaration",
    [
        '<meta charset="windows-1251">',
        '<META HTTP-EQUIV=Content-Type CONTENT="text/html; charset=windows-1251">',
        '<?xml version="1.0" encoding="windows-1251"?>',
    ],
)
def test_the_page_may_name_its_character_set(declaration: str) -> None:
    text, codec = decode((declaration + "Привет").encode("cp1251"))
    assert text.endswith("Привет")
    assert codec == "cp1251"


def test_latin_1_means_windows_1252_as_in_browsers() -> None:
    assert decode(b"\x93quoted\x94", "ISO-8859-1") == ("“quoted”", "cp1252")


def test_undeclared_utf_8_is_read_as_such() -> None:
    assert decode("naïve".encode()) == ("naïve", "utf-8")


def test_undeclared_western_text_is_read_as_such() -> None:
    text = "L'équipe pédagogique du département où être à la hauteur"
    assert decode(text.encode("cp1252")) == (text, "cp1252")


@pytest.mark.parametrize(
    ("text", "codec"),
    [(RUSSIAN, "cp1251"), (RUSSIAN, "koi8_r"), (JAPANESE, "cp932"), (JAPANESE, "euc_jp")],
)
def test_undeclared_text_of_other_scripts_is_detected(text: str, codec: str) -> None:
    page = f"<html><body><p>{text * 10}</p></body></html>"
    assert decode(page.encode(codec)) == (page, codec)


def test_utf_16_is_recognised_by_its_zeros() -> None:
    page = "<p>Hello there, reader"
    assert decode(page.encode("utf-16-le")) == (page, "utf-16-le")
    assert decode(page.encode("utf-16-be")) == (page, "utf-16-be")
    assert sixteen_bit_codec(b"\x89PNG\x00\x00\x00\rIHDR\x00\x00") == ""


def test_a_declaration_that_does_not_fit_is_ignored() -> None:
    text = "Les élèves préfèrent l'été"
    assert decode(text.encode("cp1252"), "utf-8") == (text, "cp1252")


def test_a_damaged_byte_does_not_change_the_character_set() -> None:
    text, codec = decode("Ünïcödé tèxt".encode() + b"\xff", "utf-8")
    assert text == "Ünïcödé tèxt\ufffd"
    assert codec == "utf-8"


@pytest.mark.parametrize(
    "label", ["punycode", "unicode_escape", "hex", "utf-7", "nonsense", "\x00", "…", "x" * 99]
)
def test_codecs_that_are_not_for_the_web_are_not_used(label: str) -> None:
    assert decode(b"plain +ADw- \\u0041", label) == ("plain +ADw- \\u0041", "utf-8")


@given(
    body=st.binary(),
    declared=st.one_of(st.text(), st.sampled_from(["utf-8", "utf-16", "gb18030", "big5", "iso-2022-jp"])),
)
def test_any_bytes_give_text_that_can_be_encoded(body: bytes, declared: str) -> None:
    text, codec = decode(body, declared)
    assert text.encode("utf-8").decode("utf-8") == text
    assert codecs.lookup(codec)

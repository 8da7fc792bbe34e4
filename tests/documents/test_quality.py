"""Garbled text is distinguished from languages, and from text that is too short to judge."""

from __future__ import annotations

import pytest

from wayhound.documents.plain_text import is_garbled

ENGLISH = (
    "A spider starts from a few pages and follows the links that it finds there. What it brings home is of "
    "use only when the text of each document can be had in the order in which people read it. "
) * 8
GERMAN = (
    "Wer durch eine Stadt geht, die er nicht kennt, merkt sich den Weg an Dingen, die ihm auffallen: an "
    "einem Brunnen, einem Baum, der Farbe einer Tür. Ebenso lernt das Programm, woran es sich halten kann. "
) * 8
POLISH = (
    "Kto idzie przez miasto, którego nie zna, zapamiętuje drogę według rzeczy, które rzucają mu się w oczy: "
    "fontanny, drzewa, koloru drzwi. Podobnie program uczy się, czego może się trzymać. "
) * 8
JAPANESE = "知らない町を歩く人は、目に留まるもので道を覚える。噴水や木、扉の色などである。" * 20


def shifted(text: str, by: int) -> str:
    return "".join(chr((ord(c) - 97 + by) % 26 + 97) if "a" <= c <= "z" else c for c in text.lower())


@pytest.mark.parametrize("text", [ENGLISH, GERMAN, POLISH, JAPANESE, "", "xq zrt", "1 2 3 4"])
def test_languages_and_short_texts_pass(text: str) -> None:
    assert not is_garbled(text)


@pytest.mark.parametrize("by", range(1, 26))
def test_letters_of_another_order_do_not(by: int) -> None:
    assert is_garbled(shifted(ENGLISH, by))


@pytest.mark.parametrize(
    "text",
    [
        "❈☞✌♣✍✎✏ ❙✑✒✓✎✌✒ and" * 60,
        "\ue001\ue002\ue003 abc" * 100,
        "\ufffd\ufffd abc def " * 60,
        "#$%& ()*+ 0123 !!!! ???? " * 40,
        ENGLISH.replace(" ", ""),
        " ".join([" " * 300 + "❈☞✌♣✍"] * 300),
    ],
)
def test_signs_without_meaning_do_not(text: str) -> None:
    assert is_garbled(text)

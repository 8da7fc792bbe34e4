"""Accents drawn as glyphs are moved to their letters, and the blanks that they caused are removed."""

from __future__ import annotations

import pytest

from wayhound.documents.document import Box
from wayhound.documents.letters import repair_text, reseat_accents


def read(text: str, above: dict[int, int], wide: frozenset[int] = frozenset()) -> str:
    """Return what is read of `text`, in which the accent at each key of `above` stands above the letter at its value.

    Blanks have no width, but for those at `wide`.
    """
    boxes, x = list[Box](), 0.0
    for index, letter in enumerate(text):
        width = 0.0 if index in above else 5.0 if letter != " " else 3.0 * (index in wide)
        boxes.append((x, 0.0, x + width, 5.0))
        x += width
    for accent, below in above.items():
        left, _, right, top = boxes[below]
        boxes[accent] = (left + 1, top + 1, right - 1, top + 2)
    found = reseat_accents(text, lambda index: boxes[index])
    if found:
        assert sorted({*found.order, *text_blanks(text)}) == list(range(len(text)))
    return repair_text(found.text if found else text)


def text_blanks(text: str) -> list[int]:
    return [index for index, letter in enumerate(text) if letter == " "]


@pytest.mark.parametrize(
    ("text", "above", "wide", "meant"),
    [
        ("MORE´, J.", {4: 3}, (), "MORÉ, J."),
        ("RA¨ TSCH", {2: 1}, (), "RÄTSCH"),
        ("Et´ e", {2: 0}, (), "Éte"),
        ("Probabilit ´ es", {11: 13}, (), "Probabilités"),
        ("prevu, ses ´ vues", {11: 2}, (6, 12), "prévu, ses vues"),
        ("Mayaguez ¨", {9: 5}, (8,), "Mayagüez"),
        ("the ˆx", {4: 5}, (3,), "the ˆx"),
        ("a βˆ is", {3: 2}, (1, 4), "a β\u0302 is"),
        ("a pˆ, so", {3: 2}, (1, 5), "a p\u0302, so"),
    ],
)
def test_an_accent_is_read_with_the_letter_below_it(
    text: str, above: dict[int, int], wide: tuple[int, ...], meant: str
) -> None:
    assert read(text, above, frozenset(wide)) == meant


def test_pages_without_loose_accents_stay_as_they_are() -> None:
    assert reseat_accents("Schölkopf and Müller", lambda _: (0.0, 0.0, 0.0, 0.0)) is None

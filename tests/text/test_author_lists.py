from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.text.author_lists import parse_cited_names


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p. auer, n. cesa-bianchi, and r. e. schapire,", "auer p, cesabianchi n, schapire re"),
        ("blum, a., furst, m., & rudich, s.", "blum a, furst m, rudich s"),
        ("drucker, h., r. schapire & p. simard", "drucker h, schapire r, simard p"),
        ("Gottfried Vossen, Mathias Weske", "vossen g, weske m"),
        ("Freund, Yoav and Schapire, Robert E.", "freund y, schapire re"),
        ("Freund Y, Schapire RE", "freund y, schapire re"),
        ("schapire, r.e.:", "schapire re"),
        ("Bertram Lud&#228;scher", "ludascher b"),
        ("de la Cruz, M. and van Dijk, J.", "cruz m, dijk j"),
        ("Lind, A. et al.", "lind a"),
        ("Dijk, J. van, and Cruz, M. de la", "dijk j, cruz m"),
        ("S. Das and B. Yu", "das s, yu b"),
        ("", ""),
    ],
)
def test_names_are_read_however_they_are_printed(text: str, expected: str) -> None:
    assert ", ".join(f"{name.last} {name.initials}".strip() for name in parse_cited_names(text)) == expected


@given(st.text())
def test_any_text_gives_names_with_letters(text: str) -> None:
    assert all(name.last.isalpha() for name in parse_cited_names(text))

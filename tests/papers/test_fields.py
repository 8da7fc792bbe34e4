"""Ends of fields that punctuation determines."""

from __future__ import annotations

import pytest

from wayhound.papers.fields import FieldSpan, repair_fields


def marked(text: str) -> tuple[str, list[FieldSpan]]:
    """`[date (2006,] [title May). Walking]` as a reference and its fields."""
    plain, spans = "", list[FieldSpan]()
    for part in text.split("]")[:-1]:
        field, _, words = part.lstrip().removeprefix("[").partition(" ")
        plain += " " if plain else ""
        spans.append(FieldSpan(field, words, len(plain), len(plain) + len(words), 0.9))
        plain += words
    return plain, spans


def shown(text: str) -> str:
    plain, spans = marked(text)
    found = repair_fields(plain, spans)
    assert all(plain[span.start : span.end].strip() == span.text for span in found)
    return " ".join(f"[{span.field} {span.text}]" for span in found)


@pytest.mark.parametrize(
    ("model", "meant"),
    [
        ("[date (2006,] [title May). Walking on ice.]", "[date (2006, May).] [title Walking on ice.]"),
        ("[date (2006).] [title May (be) ice.]", "[date (2006).] [title May (be) ice.]"),
        ("[title Walking (Tech.] [tech Rep. No. 7).]", "[title Walking] [tech (Tech. Rep. No. 7).]"),
        ("[title Walking (Tech.] [note Rep. No. 7).]", "[title Walking (Tech.] [note Rep. No. 7).]"),
        ("[title “Walking on ice,” Cold Journal,]", "[title “Walking on ice,”] [journal Cold Journal,]"),
        ("[title “Walking on ice,” in Proc. Cold,]", "[title “Walking on ice,”] [booktitle in Proc. Cold,]"),
        ("[title “Walking on ice,” Cold] [journal Snow]", "[title “Walking on ice,” Cold] [journal Snow]"),
        ("[title “Walking on ice,” URL:]", "[title “Walking on ice,” URL:]"),
        ("[editor In A. Berg, editors, ICE05,]", "[editor In A. Berg, editors,] [booktitle ICE05,]"),
        ("[editor eds. A. Berg, B. Runner,]", "[editor eds. A. Berg, B. Runner,]"),
    ],
)
def test_brackets_quotes_and_roles_end_a_field(model: str, meant: str) -> None:
    assert shown(model) == meant

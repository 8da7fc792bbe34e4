from __future__ import annotations

import pytest

from wayhound.papers.normalise_fields import (
    in_mixed_case,
    normalise_reference,
    parse_volume,
    tidy,
    venue_kind,
)
from wayhound.text.numbers import PageRange


@pytest.mark.parametrize(
    ("text", "volume", "number"),
    [("30,", "30", ""), ("42(2-3),", "42", "2-3"), ("Vol. 39, No. 9,", "39", "9"), ("16, 1,", "16", "1"),
     ("volume IV", "IV", ""), ("47(2/3):", "47", "2/3"), ("No. 7", "", "7"), ("", "", "")],
)  # fmt: skip
def test_volumes_and_numbers(text: str, volume: str, number: str) -> None:
    assert parse_volume(text) == (volume, number)


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"journal": "Artificial Intelligence"}, "journal"),
        ({"booktitle": "In Proceedings of IJCAI-95"}, "meeting"),
        ({"booktitle": "Current Research", "editor": "A. Berg (ed.)"}, "chapter"),
        ({"publisher": "MIT Press"}, "book"),
        ({"tech": "Ph.D. Thesis", "institution": "Uppsala University"}, "thesis"),
        ({"tech": "Technical Report CS-1"}, "report"),
        ({"institution": "University of Nowhere"}, "report"),
        ({"note": "to appear"}, "unpublished"),
        ({"note": "http://x.org/"}, "web"),
        ({"title": "Nothing known"}, "unknown"),
    ],
)
def test_the_kind_of_venue_follows_from_fields_and_words(fields: dict[str, str], kind: str) -> None:
    assert venue_kind(fields) == kind


@pytest.mark.parametrize(
    ("text", "bare"),
    [('"Thin Ice",', "Thin Ice"), ("Robot Vision.", "Robot Vision"), ("MIT Press,", "MIT Press"),
     ("J. Logic Comput.", "J. Logic Comput"), ("Am. J. Hum. Gen.,", "Am. J. Hum. Gen.")],
)  # fmt: skip
def test_punctuation_between_fields_is_taken_off(text: str, bare: str) -> None:
    assert tidy(text) == bare


@pytest.mark.parametrize(
    ("field", "text", "bare"),
    [
        ("title", "Statistics for Spatial Data.", "Statistics for Spatial Data"),
        ("title", "Made in the U.S.", "Made in the U.S."),
        ("title", "Walking on ice (pp.", "Walking on ice"),
        ("title", "(Approximate) walks on ice.", "(Approximate) walks on ice"),
        ("title", "Walking on ice, in:", "Walking on ice"),
        ("publisher", "MIT Press.", "MIT Press"),
        ("publisher", "Berg & Sons, Inc.", "Berg & Sons, Inc."),
        ("location", "New York.", "New York"),
        ("location", "Vancouver, B.C.", "Vancouver, B.C."),
        ("journal", "J. Chem. Phys.,", "J. Chem. Phys."),
        ("booktitle", "In In Proc, ICE-90.", "Proc, ICE-90"),
        ("booktitle", "In Workshop on Partly Known Data.", "Workshop on Partly Known Data"),
        ("booktitle", "In: European Conference on Ice (pp. II:", "European Conference on Ice"),
        ("booktitle", "Conference on ”Challenges of Ice”,", "Conference on ”Challenges of Ice”"),
        ("tech", "(Technical Report).", "Technical Report"),
        ("tech", "Technical Report TR-94-003).", "Technical Report TR-94-003"),
        ("date", "(2003).", "2003"),
        ("affiliation", "Live Labs, Berg Corp.", "Live Labs, Berg Corp."),
    ],
)  # fmt: skip
def test_dots_and_brackets_stay_where_they_belong_to_the_field(field: str, text: str, bare: str) -> None:
    assert tidy(text, field) == bare


def test_a_whole_reference() -> None:
    found = normalise_reference(
        {
            "author": "Walker, A. B., & Runner, C.", "date": "(1994).", "title": "Walking on ice.",
            "booktitle": "In Proceedings of the Ice Conference,", "pages": "pp. 101-9.", "volume": "3(2),",
        }
    )  # fmt: skip
    assert [one.last for one in found.authors] == ["Walker", "Runner"]
    assert (found.title, found.venue) == ("Walking on ice", "Proceedings of the Ice Conference")
    assert (found.year, found.volume, found.number, found.pages) == (1994, "3", "2", PageRange("101", "109"))
    assert found.venue_kind == "meeting"


@pytest.mark.parametrize(
    ("printed", "usual"),
    [
        ("BEN MCKAY", "Ben McKay"),
        ("JULIUS P. KUMQUAT", "Julius P. Kumquat"),
        ("MARIE-LOUISE O'NEIL", "Marie-Louise O'Neil"),
        ("MARK VAN DE WIEL", "Mark van de Wiel"),
        ("VALERIE BÉRANGER", "Valerie Béranger"),
        ("J. R. LI", "J. R. LI"),
        ("Ben McKay", "Ben McKay"),
    ],
)
def test_names_in_capitals_are_written_as_usual(printed: str, usual: str) -> None:
    assert in_mixed_case(printed) == usual


def test_a_count_of_pages_is_no_page() -> None:
    assert str(normalise_reference({"pages": "10 pages."}).pages) == ""
    assert str(normalise_reference({"pages": "pages 10-19"}).pages) == "10-19"

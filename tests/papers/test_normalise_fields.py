"""People, years, pages, volumes and venues, as references print them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.papers.lexicon import Lexicon
from wayhound.papers.normalise_fields import (
    Pages,
    normalise_reference,
    read_month,
    read_pages,
    read_volume,
    read_year,
    tidy,
    venue_kind,
)
from wayhound.text.person_names import read_people

KNOWN = Lexicon({"anna": "f", "berta": "f", "carl": "f", "walker": "l"})


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Walker, A. B., Runner C. D., and Berg E. F.", ["A./B./Walker/", "C./D./Runner/", "E./F./Berg/"]),
        ("A. Walker, C.-C. Runner and E. Berg,", ["A.//Walker/", "C.-C.//Runner/", "E.//Berg/"]),
        ("Michael, Richard S., Robert E. Stepson, and Edwin Days,",
         ["Richard/S./Michael/", "Robert/E./Stepson/", "Edwin//Days/"]),
        ("van Berg, Paul", ["Paul//van Berg/"]),
        ("Scott, D., and de Souza, C. S.", ["D.//Scott/", "C./S./de Souza/"]),
        ("Raymond O. Wells, Jr. and A. Berg III", ["Raymond/O./Wells/Jr.", "A.//Berg/III"]),
        ("Wells, R. O., Jr.", ["R./O./Wells/Jr."]),
        ("Walker AB, Runner CD", ["A./B./Walker/", "C./D./Runner/"]),
        ("M.Walker, N.Runner", ["M.//Walker/", "N.//Runner/"]),
        ("J. von Neumann", ["J.//von Neumann/"]),
        ("Aho, Hopcroft, Ullman", ["//Aho/", "//Hopcroft/", "//Ullman/"]),
        ("B. K. P. Horn.", ["B./K. P./Horn/"]),
        ("In Tesar, G., Berg, D. S., & Also, J. (Eds.),", ["G.//Tesar/", "D./S./Berg/", "J.//Also/"]),
        ("Paul Berg 1 , Anna Walker 2", ["Paul//Berg/", "Anna//Walker/"]),
        ("Paul Berg a,∗, Anna Walker a,b and Carl Runner b", ["Paul//Berg/", "Anna//Walker/", "Carl//Runner/"]),
        ("Paul Berg, Member, IEEE, and Anna Walker, Fellow, IEEE", ["Paul//Berg/", "Anna//Walker/"]),
        ("WALKER, A., RUNNER, C. AND BERG, E.", ["A.//WALKER/", "C.//RUNNER/", "E.//BERG/"]),
        ("GU, C., AND AN, L.", ["C.//GU/", "L.//AN/"]),
        ("Berg, Y. and Le Roux, N.", ["Y.//Berg/", "N.//Le Roux/"]),
        ("Garcia Molina, H., Berg, P.", ["H.//Garcia Molina/", "P.//Berg/"]),
        ("Berg, T. N. Walker, J., & Runner, B.", ["T./N./Berg/", "J.//Walker/", "B.//Runner/"]),
        ("C. F. Van Berg and B. De Moor", ["C./F./Van Berg/", "B.//De Moor/"]),
        ("L. J. van’t Berg", ["L./J./van’t Berg/"]),
        ("Berg, J., W. T. Walker, W., & Runner, Y.", ["J.//Berg/", "W./T./Walker/", "Y.//Runner/"]),
        ("Berg, K.R and Walker, A.", ["K./R./Berg/", "A.//Walker/"]),
        ("D. J. Berg, C. B., & Walker, C.", ["D./J./Berg/", "C.//Walker/"]),
        ("", []),
    ],
)  # fmt: skip
def test_people_are_taken_apart_whatever_the_order(text: str, people: list[str]) -> None:
    found = read_people(text).people
    assert [f"{one.first}/{one.middle}/{one.last}/{one.suffix}" for one in found] == people


@pytest.mark.parametrize(
    "text", ["A. Walker et al.", "Walker, A., et al", "A. Walker and others", "A. Walker, et. al."]
)
def test_a_list_that_is_cut_short_says_so(text: str) -> None:
    found = read_people(text)
    assert found.et_al
    assert [one.last for one in found.people] == ["Walker"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Paul Berg Anna E. Walker Zorro H. Runner", ["Paul Berg", "Anna E. Walker", "Zorro H. Runner"]),
        ("Yelena Berg Mukesh Walker", ["Yelena Berg", "Mukesh Walker"]),
        ("Wee Kheng Berg", ["Wee Kheng Berg"]),
        ("A. Berg B. Runner", ["A. Berg", "B. Runner"]),
        ("S. Della Anna", ["S. Della Anna"]),
        ("J.-M. St. Berta", ["J.-M. St Berta"]),
    ],
)
def test_rows_of_names_without_commas_are_parted_with_the_help_of_first_names(
    text: str, names: list[str]
) -> None:
    assert [one.full for one in read_people(text, KNOWN).people] == names


@given(st.text(max_size=200))
def test_any_text_gives_people_with_a_last_name(text: str) -> None:
    assert all(one.last for one in read_people(text, KNOWN).people)


@pytest.mark.parametrize(
    ("text", "year", "month"),
    [("(1987).", 1987, 0), ("September 1996.", 1996, 9), ("Oct '97", 1997, 10), ("1995a", 1995, 0), ("", 0, 0),
     ("April 1-5, 1990).", 1990, 4), ("'03", 2003, 0), ("pp. 12345", 0, 0)],
)  # fmt: skip
def test_years_and_months(text: str, year: int, month: int) -> None:
    assert (read_year(text), read_month(text)) == (year, month)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [("pp. 37-41,", "37", "41"), ("pages 433--44", "433", "444"), ("Page 15", "15", "15"), ("S12–S19", "S12", "S19"),
     ("in press", "", ""), ("1098 to 1101", "1098", "1101"), ("(16-4)", "16", "4"), ("2007-001", "2007", "001")],
)  # fmt: skip
def test_pages(text: str, first: str, last: str) -> None:
    assert read_pages(text) == Pages(first, last)


@pytest.mark.parametrize(
    ("text", "volume", "number"),
    [("30,", "30", ""), ("42(2-3),", "42", "2-3"), ("Vol. 39, No. 9,", "39", "9"), ("16, 1,", "16", "1"),
     ("volume IV", "IV", ""), ("47(2/3):", "47", "2/3"), ("No. 7", "", "7"), ("", "", "")],
)  # fmt: skip
def test_volumes_and_numbers(text: str, volume: str, number: str) -> None:
    assert read_volume(text) == (volume, number)


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
    assert [one.last for one in found.authors.people] == ["Walker", "Runner"]
    assert (found.title, found.venue) == ("Walking on ice", "Proceedings of the Ice Conference")
    assert (found.year, found.volume, found.number, found.pages) == (1994, "3", "2", Pages("101", "109"))
    assert found.venue_kind == "meeting"

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.text.person_names import parse_names, split_name


def is_first_name(word: str) -> bool:
    return word.lower() in {"anna", "berta", "carl"}


@pytest.mark.parametrize(
    ("text", "expected"),
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
        ("Ada Berg et Carl Walker", ["Ada//Berg/", "Carl//Walker/"]),
        ("Ada Berg2, Ed Walker1", ["Ada//Berg/", "Ed//Walker/"]),
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
def test_names_are_split_whatever_their_order(text: str, expected: list[str]) -> None:
    names = parse_names(text)
    assert [f"{name.first}/{name.middle}/{name.last}/{name.suffix}" for name in names] == expected


@pytest.mark.parametrize(
    "text", ["A. Walker et al.", "Walker, A., et al", "A. Walker and others", "A. Walker, et. al."]
)
def test_the_others_of_a_list_that_is_cut_short_are_no_name(text: str) -> None:
    assert [name.last for name in parse_names(text)] == ["Walker"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Paul Berg Anna E. Walker Zorro H. Runner", ["Paul Berg", "Anna E. Walker", "Zorro H. Runner"]),
        ("Yelena Berg Mukesh Walker", ["Yelena Berg", "Mukesh Walker"]),
        ("Wee Kheng Berg", ["Wee Kheng Berg"]),
        ("A. Berg B. Runner", ["A. Berg", "B. Runner"]),
        ("S. Della Anna", ["S. Della Anna"]),
        ("J.-M. St. Berta", ["J.-M. St Berta"]),
    ],
)
def test_names_without_commas_are_separated_at_known_first_names(text: str, expected: list[str]) -> None:
    assert [name.full for name in parse_names(text, is_first_name)] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Zorro Runner1, Paul Anna Yelena Berg2, and Mukesh Walker1",
            ["Zorro Runner", "Paul Anna Yelena Berg", "Mukesh Walker"],
        ),
        (
            "Paul Berg Anna Walker, Yelena Berg Mukesh Walker, Zorro Runner",
            ["Paul Berg", "Anna Walker", "Yelena Berg", "Mukesh Walker", "Zorro Runner"],
        ),
    ],
)
def test_a_name_of_four_words_is_one_if_all_others_are_separated(text: str, expected: list[str]) -> None:
    assert [name.full for name in parse_names(text, is_first_name)] == expected


@given(st.text(max_size=200))
def test_every_name_in_any_text_has_a_last_name(text: str) -> None:
    assert all(name.last for name in parse_names(text, is_first_name))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna van der Berg", "Anna|van der Berg|"),
        ("Laurent El Berg", "Laurent|El Berg|"),
        ("Li Bin Yu", "Li Bin|Yu|"),
        ("Berg, Anna E.", "Anna E.|Berg|"),
        ("A. Berg Jr.", "A.|Berg|Jr."),
        ("Plato", "|Plato|"),
    ],
)
def test_a_single_name_is_split_as_it_is_printed(text: str, expected: str) -> None:
    name = split_name(text)
    assert f"{name.given}|{name.last}|{name.suffix}" == expected


@pytest.mark.parametrize("sign", [" ", "\n", "("])
def test_a_gap_between_names_is_looked_through_once(sign: str) -> None:
    """Looking for `and` or `et al.` from every blank would take hours."""
    gap = sign * 100_000
    assert [name.last for name in parse_names(f"Anna Lind{gap}and Bo Wood{gap}et al.")] == ["Lind", "Wood"]

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from wayhound.search.suggestions import Spelling, edit_distance

words = st.text("abc", max_size=6)


def brute_force(first: str, second: str) -> int:
    """Optimal string alignment by its definition."""
    if not first or not second:
        return len(first) + len(second)
    best = min(
        brute_force(first[1:], second) + 1,
        brute_force(first, second[1:]) + 1,
        brute_force(first[1:], second[1:]) + (first[0] != second[0]),
    )
    if first[:2] == second[1::-1] and len(first) > 1 and len(second) > 1:
        best = min(best, brute_force(first[2:], second[2:]) + 1)
    return best


@settings(deadline=None)  # a busy machine may pause at any time
@given(first=words, second=words)
def test_mistakes_are_counted_as_by_definition(first: str, second: str) -> None:
    true = brute_force(first, second)
    counted = edit_distance(first, second, 3)
    assert counted == true if true <= 3 else counted > 3


KNOWN = {"learning": 900, "leaning": 20, "neural": 500, "network": 400, "graph": 50, "graphs": 60}


def nearest(word: str) -> str | None:
    nearest = Spelling(KNOWN.items()).nearest(word)
    return nearest and nearest[0]


def test_one_mistake_of_any_kind_is_found() -> None:
    wrong = ["lerning", "learnning", "laerning", "learming"]
    assert [nearest(word) for word in wrong] == ["learning"] * 4


def test_the_first_letter_may_be_wrong() -> None:
    assert nearest("nearning") == "learning"


def test_long_words_may_have_two_mistakes_and_short_ones_one() -> None:
    assert nearest("etworkk") == "network"
    assert nearest("grqqh") is None


def test_of_equally_near_words_the_commoner_is_meant() -> None:
    assert nearest("grapha") == "graphs"
    assert nearest("lerning") == "learning"


def test_the_word_itself_is_no_guess() -> None:
    assert nearest("graph") == "graphs"


def test_short_words_and_an_empty_index_have_no_guess() -> None:
    assert nearest("gra") is None
    assert Spelling([]).nearest("learning") is None


@settings(deadline=None)
@given(
    word=st.text("abcd", min_size=4, max_size=9),
    words=st.dictionaries(st.text("abcd", min_size=4), st.integers(1, 9)),
)
def test_every_known_word_one_mistake_away_is_found(word: str, words: dict[str, int]) -> None:
    near = [other for other in words if edit_distance(word, other, 1) == 1 and len(other) <= 30]
    nearest = Spelling(words.items()).nearest(word)
    assert (nearest is not None and nearest[0] in near) if near else True

from __future__ import annotations

import pytest

from wayhound.text.words import singular


@pytest.mark.parametrize(
    ("word", "expected"),
    [("networks", "network"), ("theories", "theory"), ("analysis", "analysis"), ("class", "class"),
     ("classes", "class"), ("robotics", "robotics"), ("gas", "gas"), ("corpus", "corpus"),
     ("ties", "tie"), ("größe", "größe")],
)  # fmt: skip
def test_plurals_become_singulars_and_other_words_stay(word: str, expected: str) -> None:
    assert singular(word) == expected


def test_a_caller_may_choose_the_endings_of_singulars() -> None:
    assert singular("campus", ("ss",)) == "campu"
    assert singular("class", ("ss",)) == "class"

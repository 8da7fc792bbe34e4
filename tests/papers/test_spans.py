from __future__ import annotations

import pytest

from wayhound.papers.spans import find_words


@pytest.mark.parametrize(
    ("line", "text", "expected"),
    [
        ("Hops to the Goal", "hops to the goal", range(4)),
        ("A Mini- malist’s Guide*", "a minimalist's guide", range(4)),
        ("by Anna Lind1, Bo Wood2", "Bo Wood", range(3, 5)),
        ("by Anna Lind1, Bo Wood2", "Anna Lind", range(1, 3)),
        ("Zoë Müller", "Zoe Muller", range(2)),
        ("one two", "three", None),
        ("one two", "two three", None),
        ("one twofold", "one two", None),
        ("one two", "--", None),
        ("", "one", None),
    ],
)
def test_a_text_is_found_among_words(line: str, text: str, expected: range | None) -> None:
    assert find_words(line.split(), text) == expected


def test_the_search_may_begin_later() -> None:
    words = "Lind and Lind".split()
    assert find_words(words, "Lind", start=1) == range(2, 3)

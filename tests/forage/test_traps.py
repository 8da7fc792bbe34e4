from __future__ import annotations

import pytest

from wayhound.forage.scope import TrapLimits, trap_reason


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://s/people/smith.html", None),
        ("http://s/a/b/a/b/a/b/", "looping_path"),
        ("http://s/" + "x" * 600, "long_url"),
        ("http://s/" + "/".join(map(str, range(30))), "deep_path"),
        ("http://s/list?a=1&b=2&c=3&d=4&e=5&f=6&g=7", "many_parameters"),
        ("http://s/list?id=17", None),
    ],
)
def test_traps_are_recognised_by_the_url(url: str, reason: str | None) -> None:
    assert trap_reason(url) == reason


def fetched_of(urls: list[str]) -> int:
    limits = TrapLimits()
    fetched = 0
    for url in urls:
        if limits.refuses(url) is None:
            limits.count(url)
            fetched += 1
    return fetched


def test_an_endless_calendar_is_left_after_some_pages() -> None:
    months = [f"http://s/calendar/{year}/{month}" for year in range(1900, 2100) for month in range(1, 13)]
    assert fetched_of(months) == TrapLimits().calendar_pages
    queries = [f"http://s/events?month={month}" for month in range(1000)]
    assert fetched_of(queries) == TrapLimits().calendar_pages


def test_a_mix_of_parameters_is_left_after_some_pages() -> None:
    mixes = [f"http://s/shop?sort={a}&colour={b}" for a in range(50) for b in range(50)]
    assert fetched_of(mixes) == TrapLimits().parameter_mixes


def test_a_catalogue_numbered_by_one_parameter_is_walked_to_the_end() -> None:
    assert fetched_of([f"http://s/item?id={n}" for n in range(5000)]) == 5000


def test_dated_posts_with_titles_of_their_own_are_not_a_calendar() -> None:
    assert fetched_of([f"http://s/2024/05/post-about-{chr(97 + n)}" for n in range(26)] * 1) == 26

"""The small parts that pages are made of."""

from __future__ import annotations

import contextlib
import math
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from xml.etree.ElementTree import Element, fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.net.guard import Guard
from wayhound.pages.prose import shorten
from wayhound.portal.addresses import doi_url, field_query, from_key, outside_url, search_url, slugs, to_key
from wayhound.portal.library import CACHE_SECONDS, PageCache, SharedCache, TopicMap
from wayhound.portal.search_pages import from_cursor, to_cursor
from wayhound.portal.submit_pages import public_url
from wayhound.web.guards import Buckets, RateLimiter, client_of
from wayhound.web.pages import BadRequest, RenderedPage, document, legal

names = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@given(names)
def test_every_id_has_a_key_and_the_key_leads_back(text: str) -> None:
    key = to_key(text)
    assert from_key(key) == text
    assert not set(key) & set("/.?#%& \\")


@given(st.text(max_size=40))
def test_what_is_no_key_leads_nowhere_and_no_id_has_two(key: str) -> None:
    found = from_key(key)
    assert found is None or to_key(found) == key


@given(st.lists(names, max_size=12))
def test_sibling_topics_never_share_an_address(siblings: list[str]) -> None:
    found = slugs(siblings)
    assert len(set(found)) == len(siblings)
    assert all(slug and set(slug) <= set("abcdefghijklmnopqrstuvwxyz0123456789-") for slug in found)


topic_names = st.sampled_from(["A", "B", "a", "B!", "b-2", "Ä"])
paths = st.lists(topic_names, min_size=1, max_size=3).map(tuple)


@given(st.lists(paths, max_size=6), st.dictionaries(paths, st.integers(0, 9), max_size=6))
def test_a_topic_counts_all_that_stands_under_it(
    order: list[tuple[str, ...]], counts: dict[tuple[str, ...], int]
) -> None:
    topics = TopicMap(order, counts, counts)
    assert topics.root.count == topics.root.documents == sum(counts.values())
    for node in topics.root.walk():
        assert topics.at(node.slug) is node
        below = [count for path, count in counts.items() if path[: len(node.path)] == node.path]
        assert node.count == sum(below)


@given(st.integers(1, 999_999))
def test_a_cursor_leads_to_its_page(page: int) -> None:
    assert from_cursor(to_cursor(page)) == page


@given(st.text(min_size=1, max_size=30))
def test_made_up_cursors_are_refused(cursor: str) -> None:
    with contextlib.suppress(BadRequest):
        assert to_cursor(from_cursor(cursor)) == cursor


def test_a_client_gets_its_burst_and_then_its_rate() -> None:
    now = [0.0]
    limiter = RateLimiter(per_second=2.0, burst=3.0, clock=lambda: now[0])
    assert [limiter.wait_seconds("a") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    assert limiter.wait_seconds("b") == 0.0
    now[0] += 0.5
    assert limiter.wait_seconds("a") == 0.0
    assert limiter.wait_seconds("a") == 0.5
    now[0] += 1_000
    assert [limiter.wait_seconds("a") for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]


def test_processes_that_share_a_table_count_together() -> None:
    buckets = Buckets()
    limiter = RateLimiter(2.0, 3.0, lambda: 0.0, buckets)
    program = (
        "import sys; from wayhound.web.guards import Buckets, RateLimiter; "
        "limiter = RateLimiter(2.0, 3.0, lambda: 0.0, Buckets(int(sys.argv[1]))); "
        "print(limiter.wait_seconds('a'), limiter.wait_seconds('a'))"
    )
    assert limiter.wait_seconds("a") == 0.0
    told = subprocess.run(
        [sys.executable, "-c", program, str(buckets.handle)],
        pass_fds=[buckets.handle],
        check=True,
        capture_output=True,
        text=True,
    )
    assert told.stdout == "0.0 0.0\n"
    assert limiter.wait_seconds("a") == 0.5
    assert RateLimiter(2.0, 3.0, lambda: 0.0, buckets, "another").wait_seconds("a") == 0.0


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2::9", "2001:db8:1:2::"),
        ("2001:db8::a:b:c:d", "2001:db8::"),
        ("2001:db8::b:b:c:d", "2001:db8::"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("fe80::1%eth0", "fe80::"),
    ],
)
def test_all_addresses_of_a_visitor_are_one_client(address: str, client: str) -> None:
    assert client_of({"client": (address, 1)}) == client


def test_sums_are_kept_for_a_moment_and_then_made_anew() -> None:
    now, made = [100.0], list[int]()
    shelf = SharedCache(clock=lambda: now[0])

    def make() -> int:
        made.append(1)
        return len(made)

    assert [shelf.get("n", int, make), shelf.get("n", int, make)] == [1, 1]
    now[0] += 3
    assert shelf.get("n", int, make) == 2


def test_a_sum_that_stayed_the_same_leaves_pages_valid() -> None:
    now, found = 0.0, [1]
    cache = SharedCache(lambda: now)
    first, generation = cache.get("counts", list, lambda: [*found]), cache.generation
    now = 10.0
    assert cache.get("counts", list, lambda: [*found]) is first
    assert cache.generation == generation
    now, found = 20.0, [2]
    assert cache.get("counts", list, lambda: [*found]) == [2]
    assert cache.generation > generation


def test_a_sum_is_not_made_anew_while_its_version_is_the_same() -> None:
    now, change, made = 0.0, 7, list[int]()
    cache = SharedCache(lambda: now)

    def make() -> list[int]:
        made.append(change)
        return [*made]

    assert cache.get("counts", list, make, lambda: change) == [7]
    now = 10.0
    assert cache.get("counts", list, make, lambda: change) == [7]
    now, change = 20.0, 8
    assert cache.get("counts", list, make, lambda: change) == [7, 8]


def test_the_event_loop_takes_an_old_sum_and_waits_for_no_thread() -> None:
    cache, now, begun, go_on = SharedCache(lambda: now[0]), [0.0], Event(), Event()
    assert cache.get("count", int, lambda: 1) == 1
    now[0] += CACHE_SECONDS

    def slow() -> int:
        begun.set()
        go_on.wait(60)
        return 2

    with ThreadPoolExecutor(1) as threads:
        made = threads.submit(lambda: cache.get("count", int, slow))
        begun.wait(60)
        assert cache.get("count", int, lambda: 3, seconds=math.inf) == 1
        go_on.set()
        assert made.result(60) == 2
    assert cache.get("count", int, lambda: 3, seconds=math.inf) == 2


def page(letter: str, size: int = 1) -> RenderedPage:
    return RenderedPage(letter.encode() * size, "text/html", letter)


def test_pages_are_kept_until_the_collection_changes() -> None:
    cache = PageCache()
    assert cache.get("a", version=1) is None
    cache.put("a", 1, page("a"))
    assert cache.get("a", version=1) == page("a")
    assert cache.get("a", version=2) is None
    cache.put("a", 1, page("a"))  # made before the change
    assert cache.get("a", version=2) is None


def test_the_pages_used_last_are_kept_within_the_limit() -> None:
    cache = PageCache(most_bytes=10_000)
    cache.get("", version=1)
    for name in "ab":
        cache.put(name, 1, page(name, 3_000))
    cache.get("a", version=1)
    cache.put("c", 1, page("c", 3_000))
    assert [name for name in "abc" if cache.get(name, version=1)] == ["a", "c"]
    cache.put("d", 1, page("d", 20_000))
    assert cache.get("d", version=1) is None


@pytest.mark.parametrize(
    ("typed", "url"),
    [
        ("example.org/papers", "https://example.org/papers"),
        ("HTTP://Example.org:80/a/../b", "http://example.org/b"),
        ("http://8.8.8.8/", "http://8.8.8.8/"),
        ("http://müller.example/", "http://xn--mller-kva.example/"),
    ],
)
def test_public_addresses_are_taken_in_normal_form(typed: str, url: str) -> None:
    assert public_url(typed, Guard()) == (url, "")


@given(st.text(max_size=60))
def test_any_typed_address_is_taken_or_refused_with_a_sentence(typed: str) -> None:
    url, error = public_url(typed, Guard())
    assert bool(url) != bool(error)


@given(names)
def test_only_web_addresses_become_links(text: str) -> None:
    assert outside_url(text) in {"", text}
    assert outside_url(f"javascript:{text}") == outside_url(f"data:{text}") == ""


@pytest.mark.parametrize(
    "url", ["javascript://a.example/%0aalert(1)", "ftp://a.example/", "http:a", "https:///a"]
)
def test_an_address_needs_both_the_scheme_of_the_web_and_a_host(url: str) -> None:
    assert outside_url(url) == ""


def test_dois_become_links_in_any_spelling() -> None:
    link = "https://doi.org/10.1000/a(b)%3Cc%3E"
    assert (
        doi_url("10.1000/a(b)<c>")
        == doi_url("doi:10.1000/a(b)<c>")
        == doi_url(" https://doi.org/10.1000/a(b)<c>")
        == link
    )
    assert doi_url("javascript:alert(1)") == ""


@given(st.text(max_size=80), st.integers(5, 40))
def test_a_shortened_text_is_short(text: str, most: int) -> None:
    assert len(shorten(text, most)) <= most + 2


@given(st.text(max_size=60))
def test_any_text_makes_sound_xml(text: str) -> None:
    root = Element("a", {"b": legal(text)})
    root.text = legal(text)
    assert fromstring(document(root)).tag == "a"


def test_addresses_of_the_web_become_links_as_they_are() -> None:
    assert outside_url("https://a.example/b?c#d") == "https://a.example/b?c#d"
    assert outside_url("https://a.example/\n") == outside_url(f"https://a.example/{'b' * 4000}") == ""


def test_a_search_for_a_value_is_written_as_a_person_would_type_it() -> None:
    assert field_query("author", "Lovelace") == "author:Lovelace"
    assert field_query("author", 'Ada "King" Lovelace') == 'author:"Ada King Lovelace"'
    assert search_url("a b", page=2, sort="") == "/search?q=a+b&page=2"

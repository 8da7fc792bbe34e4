from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.bad_manners import BAD_MANNERS
from tests.servers import Served, misbehaving
from wayhound.fetched import Failed, Fetched
from wayhound.net.http import HttpFetcher, Timeouts

BRIEF = Timeouts(connect_seconds=10, read_seconds=0.4, total_seconds=0.8)
PATIENT = Timeouts(connect_seconds=30, read_seconds=30, total_seconds=60)

SLOW = ("/silence", "/slow-drip", "/dripping-headers", "/endless-interim")

OUTCOMES = {
    **dict.fromkeys(SLOW, "timeout"),
    "/endless-body": "too_big",
    "/endless-chunks": "too_big",
    "/endless-headers": "bad_response",
    "/endless-header": "bad_response",
    "/gzip-bomb": "too_big",
    "/gzip-members": "bad_response",
    "/gzip-cut": "bad_response",
    "/gzip-not": "bad_response",
    "/coding-unknown": "bad_response",
    "/announced-huge": "too_big",
    "/redirect-loop": "redirect",
    "/redirect-nowhere": "http_302",
    "/body-too-short": "reset",
    "/body-too-long": "ok",
    "/negative-length": "bad_response",
    "/two-lengths": "bad_response",
    "/bad-chunks": "bad_response",
    "/chunks-cut": "reset",
    "/reset": "reset",
    "/hang-up": "reset",
    "/garbage": "bad_response",
    "/status-zero": "bad_response",
    "/status-999": "http_999",
    "/upgrade": "bad_response",
    "/no-headers": "ok",
    "/bad-charset": "ok",
    "/latin-headers": "ok",
    "/error-cut": "http_404",
    "/many-links": "ok",
    "/busy-429": "http_429",
    "/busy-503": "http_503",
}


@pytest.fixture(scope="module")
def rude() -> Iterator[Served]:
    with misbehaving() as server:
        yield server


def fetch(
    *urls: str, timeouts: Timeouts = PATIENT, max_body_bytes: int = 5_000_000
) -> list[Fetched | Failed]:
    async def run() -> list[Fetched | Failed]:
        fetcher = HttpFetcher(
            allow_private=True, respect_robots=False, timeouts=timeouts, max_body_bytes=max_body_bytes
        )
        async with fetcher:
            return [await fetcher.fetch(url) for url in urls]

    return asyncio.run(run())


def fetch_page(url: str) -> Fetched:
    (answer,) = fetch(url)
    assert isinstance(answer, Fetched), answer
    return answer


def test_every_bad_manner_is_known_here() -> None:
    assert OUTCOMES.keys() == BAD_MANNERS.keys()


@pytest.mark.parametrize("path", sorted(OUTCOMES.keys() - set(SLOW)))
def test_a_server_that_misbehaves_gives_an_outcome(rude: Served, path: str) -> None:
    limit = 200_000 if path == "/endless-chunks" else 5_000_000
    (answer,) = fetch(f"{rude}{path}", max_body_bytes=limit)
    assert answer.outcome == OUTCOMES[path]


@pytest.mark.parametrize("path", SLOW)
def test_a_server_that_never_ends_runs_into_a_time_out(rude: Served, path: str) -> None:
    (answer,) = fetch(f"{rude}{path}", timeouts=BRIEF)
    assert answer.outcome == "timeout"


def test_a_well_behaved_page_follows_every_bad_one_on_the_same_fetcher(rude: Served) -> None:
    urls = [f"{rude}{path}" for path in OUTCOMES if path not in {*SLOW, "/endless-chunks", "/many-links"}]
    between = [url for bad in urls for url in (bad, f"{rude}/")]
    answers = fetch(*between)
    good = answers[1::2]
    assert {answer.outcome for answer in good} == {"ok"}
    assert all(isinstance(answer, Fetched) and b"Bad manners" in answer.body for answer in good)


def test_a_redirect_loop_is_one_hop_at_a_call(rude: Served) -> None:
    url = f"{rude}/redirect-loop"
    for number in range(1, 4):
        url = fetch_page(url).location
        assert url == f"{rude}/redirect-loop?{number}"


def test_a_body_longer_than_announced_is_cut_where_it_was_announced(rude: Served) -> None:
    assert fetch_page(f"{rude}/body-too-long").body == b"<title>A page</title>"


def test_a_charset_of_nonsense_is_no_charset(rude: Served) -> None:
    assert fetch_page(f"{rude}/bad-charset").charset == ""


def test_headers_keep_their_order_spelling_and_number_and_can_be_written(rude: Served) -> None:
    headers = fetch_page(f"{rude}/latin-headers").headers
    assert headers[2:] == (
        ("X-Author", "Jörg"),
        ("Set-Cookie", "a=1"),
        ("Set-Cookie", "b=2"),
        ("x-lower", "Kept"),
    )
    assert str(headers).encode("utf-8")


def test_a_page_of_a_hundred_thousand_links_is_read_whole(rude: Served) -> None:
    assert fetch_page(f"{rude}/many-links").body.count(b"<a ") == 100_000


def test_what_a_server_says_reaches_no_terminal_as_an_escape(rude: Served) -> None:
    (answer,) = fetch(f"{rude}/garbage")
    assert isinstance(answer, Failed)
    assert answer.detail
    assert answer.detail.isprintable()
    assert len(answer.detail) <= 200


def test_a_gzip_bomb_takes_little_more_memory_than_the_limit(rude: Served) -> None:
    tracemalloc.start()
    try:
        (answer,) = fetch(f"{rude}/gzip-bomb")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert answer.outcome == "too_big"
    assert peak < 20_000_000  # of 200 million


def test_an_endless_body_takes_little_more_memory_than_the_limit(rude: Served) -> None:
    tracemalloc.start()
    try:
        fetch(f"{rude}/endless-body")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000


LINES = st.sampled_from(
    [
        b"HTTP/1.1 200 OK",
        b"HTTP/1.0 302 Found",
        b"HTTP/1.1 404",
        b"HTTP/9.9 200 ?",
        b"Content-Length: 5",
        b"Content-Length: 5, 5",
        b"Content-Type: text/html; charset=",
        b"Content-Type: ;;;",
        b"Content-Encoding: gzip, br, deflate",
        b"Content-Encoding: \xff",
        b"Transfer-Encoding: chunked",
        b"Transfer-Encoding: gzip",
        b"Location: //",
        b"Location: http://[",
        b"Location: \xe4\xff",
        b"Retry-After: 99999999999999999999",
        b"Retry-After: Tue, 99 Foo 20000 99:99:99",
        b"Connection: upgrade",
        b"Upgrade: h2c",
        b" folded",
        b":",
        b"",
        b"5",
        b"hello",
        b"0",
    ]
)
RESPONSES = st.one_of(
    st.binary(max_size=200),
    st.lists(LINES | st.binary(max_size=20), max_size=10).map(b"\r\n".join),
    st.lists(LINES, max_size=10).map(
        lambda lines: b"HTTP/1.1 200 OK\r\n" + b"\r\n".join(lines) + b"\r\n\r\nhello"
    ),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(response=RESPONSES)
def test_whatever_bytes_a_server_sends_the_fetcher_returns_a_value(rude: Served, response: bytes) -> None:
    (answer,) = fetch(f"{rude}/say?{response.hex()}")
    assert isinstance(answer, Fetched | Failed)
    assert repr(answer).encode("utf-8")  # nothing in it that cannot be written down

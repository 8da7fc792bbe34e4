from __future__ import annotations

import asyncio
import gzip
import socket
from collections.abc import Iterator

import pytest

from tests.servers import Answer, Page, Served, certificates, closed_port, misbehaving, serve
from wayhound import __version__
from wayhound.errors import UsageError
from wayhound.fetched import Failed, Fetched
from wayhound.net.http import ACCEPTED_TYPES, Agent, HttpFetcher, Timeouts

PATIENT = Timeouts(connect_seconds=30, read_seconds=30, total_seconds=60)


async def fetch_with(fetcher: HttpFetcher, *urls: str) -> list[Fetched | Failed]:
    async with fetcher:
        return [await fetcher.fetch(url) for url in urls]


def fetch_once(url: str, fetcher: HttpFetcher | None = None) -> Fetched | Failed:
    return asyncio.run(fetch_with(fetcher or HttpFetcher(allow_private=True, timeouts=PATIENT), url))[0]


def page(url: str, fetcher: HttpFetcher | None = None) -> Fetched:
    answer = fetch_once(url, fetcher)
    assert isinstance(answer, Fetched), answer
    return answer


def failed(url: str, fetcher: HttpFetcher | None = None) -> Failed:
    answer = fetch_once(url, fetcher)
    assert isinstance(answer, Failed), answer
    return answer


@pytest.fixture(scope="module")
def rude() -> Iterator[Served]:
    with misbehaving() as server:
        yield server


def test_a_page_comes_back_with_all_that_was_said_about_it() -> None:
    sent = Answer(
        "<p>Grüße",
        headers=(("Content-Type", "Text/HTML; Charset=ISO-8859-1"), ("X-Odd", "a"), ("X-Odd", "b")),
    )
    with serve({"/people": sent}) as site:
        got = page(f"{site}/people")
    assert (got.url, got.status, got.reason_phrase, got.outcome) == (f"{site}/people", 200, "OK", "ok")
    assert (got.content_type, got.charset, got.ip) == ("text/html", "iso-8859-1", "127.0.0.1")
    assert got.body == "<p>Grüße".encode()
    assert [pair for pair in got.headers if pair[0] == "X-Odd"] == [("X-Odd", "a"), ("X-Odd", "b")]
    assert got.wait_seconds == 0.0


def test_a_missing_page_is_an_outcome_not_an_error() -> None:
    with serve({"/": "<a href='/people'>People</a>"}) as site:
        got = page(f"{site}/gone")
    assert got.status == 404
    assert got.outcome == "http_404"
    assert got.body


def test_a_redirect_is_not_followed_but_says_where_it_leads() -> None:
    moved = Answer(status=301, headers=(("Location", "../b/./Grüße?utm_source=x#top"),))
    with serve({"/a/old": moved}) as site:
        got = page(f"{site}/a/old")
        assert site.requests["/a/old"] == 1
        assert not any(target.startswith("/b/") for target in site.requests)
    assert got.location == f"{site}/b/Gr%C3%BC%C3%9Fe"
    assert got.outcome == "redirect"


def test_a_location_without_a_redirect_leads_nowhere() -> None:
    with serve({"/made": Answer("x", status=201, headers=(("Location", "/other"),))}) as site:
        assert page(f"{site}/made").location == ""


def test_every_request_says_who_asks_and_carries_nothing_else_of_ours() -> None:
    pages = {"/": Answer("x", headers=(("Set-Cookie", "id=7"),))}
    agent = Agent("Trail-test", contact="https://example.org/bot")
    fetcher = HttpFetcher(agent, allow_private=True, timeouts=PATIENT)
    with serve(pages) as site:
        asyncio.run(fetch_with(fetcher, f"{site}/", f"{site}/"))
    version = ".".join(__version__.split(".")[:2])
    for request in site.seen:
        assert request.headers["User-Agent"] == f"Trail-test/{version} (+https://example.org/bot)"
        assert set(request.headers) == {"Host", *(name for name, _ in fetcher.request_headers)}


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy resolves names itself, so the address guard would see the proxy's address alone."""
    with serve({"/": "<p>Home"}) as site, serve({}) as proxy:
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, str(proxy))
        assert page(f"{site}/").body == b"<p>Home"
        assert not proxy.seen


def test_an_agent_without_a_contact_is_named_alone() -> None:
    assert Agent("Wayhound", "0.1").header == "Wayhound/0.1"
    assert Agent("Wayhound", "").header == "Wayhound"


@pytest.mark.parametrize(
    "agent",
    [
        {"product": ""},
        {"product": "Two words"},
        {"product": "Bot/1.0"},
        {"version": "1\r\nX: y"},
        {"contact": "https://example.org/\r\nX-Injected: yes"},
        {"contact": "me (at) example.org"},
    ],
)
def test_an_agent_that_cannot_stand_in_a_header_is_refused_in_a_sentence(agent: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="The agent's"):
        Agent(**agent)


def test_connections_are_kept_for_the_next_page() -> None:
    with serve({"/": "a", "/b": "b"}) as site:
        fetcher = HttpFetcher(allow_private=True, timeouts=PATIENT)
        asyncio.run(fetch_with(fetcher, *[f"{site}/", f"{site}/b", f"{site}/none"] * 5))
        assert site.connections == 1
        assert site.requests.total() == 16  # robots.txt once


def test_compressed_pages_are_unpacked_and_their_headers_kept() -> None:
    packed = Answer(gzip.compress(b"<p>small"), headers=(("Content-Encoding", "gzip"),))
    with serve({"/": packed}) as site:
        got = page(f"{site}/")
    assert got.body == b"<p>small"
    assert ("Content-Encoding", "gzip") in got.headers


def test_content_that_was_not_asked_for_is_left_unread() -> None:
    with serve({"/logo": Answer(b"\x89PNG", headers=(("Content-Type", "image/png"),))}) as site:
        got = failed(f"{site}/logo")
        assert (got.reason, got.detail, got.sent) == ("content_type", "image/png", True)
        images = HttpFetcher(allow_private=True, accept=(*ACCEPTED_TYPES, "image/"), timeouts=PATIENT)
        assert page(f"{site}/logo", images).body == b"\x89PNG"


def test_an_error_page_counts_by_its_status_whatever_its_content() -> None:
    with serve({"/logo": Answer(b"\x89PNG", 410, headers=(("Content-Type", "image/png"),))}) as site:
        assert page(f"{site}/logo").outcome == "http_410"


def test_a_page_without_a_content_type_is_read(rude: Served) -> None:
    got = page(f"{rude}/no-headers")
    assert (got.content_type, got.body) == ("", b"<title>A page</title>")


def test_the_size_limit_is_the_callers() -> None:
    with serve({"/": "x" * 1000}) as site:
        assert page(f"{site}/", HttpFetcher(allow_private=True, max_body_bytes=1000, timeouts=PATIENT)).ok
        small = HttpFetcher(allow_private=True, max_body_bytes=999, max_file_bytes=2000, timeouts=PATIENT)
        assert failed(f"{site}/", small).reason == "too_big"


def test_files_may_be_larger_than_pages_to_who_wants_them() -> None:
    report = Answer(b"x" * 1000, headers=(("Content-Type", "application/pdf"),))
    with serve({"/report": report}) as site:
        plain = HttpFetcher(allow_private=True, max_body_bytes=999, timeouts=PATIENT)
        assert failed(f"{site}/report", plain).reason == "too_big"
        wanting = HttpFetcher(allow_private=True, max_body_bytes=999, max_file_bytes=1000, timeouts=PATIENT)
        assert page(f"{site}/report", wanting).ok


def test_a_host_that_asks_to_wait_is_heard(rude: Served) -> None:
    assert page(f"{rude}/busy-429").wait_seconds == 7.0
    assert page(f"{rude}/busy-503").wait_seconds == 3600.0  # it asked for centuries


def test_the_crawl_delay_of_robots_txt_comes_with_every_answer() -> None:
    robots = "User-agent: *\nCrawl-delay: 2.5\n"
    busy = Answer("", 503, headers=(("Retry-After", "9"),))
    pages: dict[str, Page] = {
        "/robots.txt": robots,
        "/": "x",
        "/busy": busy,
        "/logo": Answer(headers=(("Content-Type", "image/png"),)),
    }
    with serve(pages) as site:
        fetcher = HttpFetcher(allow_private=True, timeouts=PATIENT)
        waits = asyncio.run(fetch_with(fetcher, f"{site}/", f"{site}/busy", f"{site}/logo"))
    assert [answer.wait_seconds for answer in waits] == [2.5, 9.0, 2.5]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "people.html",
        "ftp://example.org/",
        "file:///etc/passwd",
        "http://",
        "http:///path",
        "http://user:secret@example.org/",
        "http://example.org/a b",
        "http://example.org/\r\nX-Injected: yes",
        "http://example.org/ü",
        "http://exämple.org/",
        "http://example.org:99999/",
        "http://example.org:port/",
        "http://example.org:0/",
        "http://[::1/",
        "http://example.org\\@127.0.0.1/",
    ],
)
@pytest.mark.parametrize("respect_robots", [True, False])
def test_what_is_no_url_to_fetch_is_not_fetched(url: str, respect_robots: bool) -> None:
    got = failed(url, HttpFetcher(allow_private=True, respect_robots=respect_robots, timeouts=PATIENT))
    assert (got.url, got.reason, got.sent) == (url, "bad_url", False)


@pytest.mark.parametrize("respect_robots", [True, False])
def test_a_port_of_another_service_is_not_asked(respect_robots: bool) -> None:
    url = "http://example.org:22/"
    got = failed(url, HttpFetcher(allow_private=True, respect_robots=respect_robots, timeouts=PATIENT))
    assert (got.url, got.reason, got.sent) == (url, "refused_port", False)


def test_a_name_that_cannot_be_looked_up_is_a_dns_failure() -> None:
    got = failed(f"http://{'a' * 64}.example/")
    assert (got.reason, got.sent) == ("dns", False)


@pytest.mark.parametrize("respect_robots", [True, False])
def test_a_port_where_nobody_listens_is_a_connect_failure(respect_robots: bool) -> None:
    fetcher = HttpFetcher(allow_private=True, respect_robots=respect_robots, timeouts=PATIENT)
    got = failed(f"http://127.0.0.1:{closed_port()}/", fetcher)
    assert (got.reason, got.sent) == ("connect", False)


def test_https_is_verified_against_the_trusted_authorities() -> None:
    own = certificates()
    with serve({"/": "secret"}, tls=own.server) as site:
        got = page(f"{site}/", HttpFetcher(allow_private=True, tls=own.trusting, timeouts=PATIENT))
        assert got.body == b"secret"
        refused = failed(f"{site}/")
        assert (refused.reason, refused.sent) == ("tls", False)
        assert site.requests == {"/robots.txt": 1, "/": 1}


def test_a_certificate_for_another_name_is_refused() -> None:
    other = certificates("elsewhere.example")
    with serve({"/": "secret"}, tls=other.server) as site:
        fetcher = HttpFetcher(allow_private=True, tls=other.trusting, timeouts=PATIENT)
        assert failed(f"{site}/", fetcher).reason == "tls"


def test_https_to_a_server_that_speaks_plain_http_is_a_tls_failure(rude: Served) -> None:
    assert failed(f"https://127.0.0.1:{rude.port}/").reason == "tls"


@pytest.mark.parametrize(("scheme", "sent"), [("http", True), ("https", False)])
def test_a_time_out_tells_whether_the_request_had_gone_out(scheme: str, sent: bool) -> None:
    connect = 0.3 if scheme == "https" else 30  # TLS is a part of connecting
    brief = Timeouts(connect_seconds=connect, read_seconds=0.3, total_seconds=600)
    fetcher = HttpFetcher(allow_private=True, respect_robots=False, timeouts=brief)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"{scheme}://127.0.0.1:{silent.getsockname()[1]}/"
        (got,) = asyncio.run(asyncio.wait_for(fetch_with(fetcher, url), timeout=120))
    assert isinstance(got, Failed)
    assert (got.reason, got.sent) == ("timeout", sent)


def test_a_server_that_hangs_up_was_asked_once(rude: Served) -> None:
    before = rude.requests["/hang-up"]
    got = failed(f"{rude}/hang-up", HttpFetcher(allow_private=True, respect_robots=False, timeouts=PATIENT))
    assert (got.reason, got.sent) == ("reset", True)
    assert rude.requests["/hang-up"] == before + 1


def test_a_kept_connection_that_was_closed_unannounced_costs_no_page(rude: Served) -> None:
    fetcher = HttpFetcher(allow_private=True, respect_robots=False, timeouts=PATIENT)
    answers = asyncio.run(fetch_with(fetcher, *[f"{rude}/bad-charset"] * 20))
    assert [answer.outcome for answer in answers] == ["ok"] * 20


async def asked_for(server: Served, path: str, times: int) -> None:
    """Wait until the server was asked for a path so often."""
    while server.requests[path] < times:  # noqa: ASYNC110 - the server runs in a thread
        await asyncio.sleep(0.01)


def test_a_fetch_that_is_given_up_leaves_the_fetcher_usable(rude: Served) -> None:
    before = rude.requests["/silence"]

    async def give_up() -> Fetched | Failed:
        async with HttpFetcher(allow_private=True, timeouts=PATIENT) as fetcher:
            waiting = asyncio.create_task(fetcher.fetch(f"{rude}/silence"))
            await asked_for(rude, "/silence", before + 1)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            return await fetcher.fetch(f"{rude}/")

    assert asyncio.run(give_up()).outcome == "ok"


def test_leaving_while_a_host_is_asked_for_its_rules_ends_the_asking() -> None:
    slow = {"/robots.txt": Answer("", delay_seconds=0.5)}

    async def leave(site: Served) -> None:
        async with HttpFetcher(allow_private=True, timeouts=PATIENT) as fetcher:
            waiting = asyncio.create_task(fetcher.fetch(f"{site}/"))
            await asked_for(site, "/robots.txt", 1)
            waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    with serve(slow) as site:
        asyncio.run(leave(site))


def test_a_fetcher_that_was_not_opened_says_so() -> None:
    with pytest.raises(RuntimeError, match="context manager"):
        asyncio.run(HttpFetcher().fetch("http://example.org/"))

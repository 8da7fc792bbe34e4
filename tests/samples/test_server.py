"""The sample server on loopback: sites by Host header, counts, HEAD, keep-alive, and a clean end."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection, HTTPException, HTTPResponse

import pytest

from wayhound.samples import SampleServer, SampleWeb, serve_samples


@pytest.fixture
def server(web: SampleWeb) -> Iterator[SampleServer]:
    with serve_samples(web) as running:
        yield running


def ask(connection: HTTPConnection, host: str, path: str, method: str = "GET") -> tuple[HTTPResponse, bytes]:
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", f"{host}:{connection.port}")
    connection.endheaders()
    response = connection.getresponse()
    return response, response.read()


def ask_once(server: SampleServer, host: str, path: str, method: str = "GET") -> tuple[HTTPResponse, bytes]:
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=120)) as connection:
        return ask(connection, host, path, method)


def test_every_site_is_served_by_its_host_name(server: SampleServer, web: SampleWeb) -> None:
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=120)) as connection:
        for site in web.sites:
            response, body = ask(connection, site.host, "/")
            assert response.status == site.pages["/"].status
            assert body == site.pages["/"].body
            assert response.getheader("Content-Type") == site.pages["/"].content_type


def test_a_connection_is_kept_for_many_requests(server: SampleServer) -> None:
    with closing(HTTPConnection("127.0.0.1", server.port, timeout=120)) as connection:
        ask(connection, "physics.localhost", "/people/")
        used = connection.sock
        ask(connection, "cs.localhost", "/faculty.html")
        assert connection.sock is used is not None


def test_head_gives_the_headers_of_get_and_no_body(server: SampleServer) -> None:
    full, body = ask_once(server, "math.localhost", "/welcome.htm")
    head, nothing = ask_once(server, "math.localhost", "/welcome.htm", "HEAD")
    assert nothing == b""
    assert head.status == full.status
    assert head.getheader("Content-Length") == str(len(body))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_the_plain_host_lists_all_sites(server: SampleServer, web: SampleWeb, host: str) -> None:
    response, body = ask_once(server, host, "/")
    assert response.status == 200
    assert all(f'href="{url}"'.encode() in body for url in server.seeds())
    assert len(server.seeds()) == len(web.sites)


def test_an_unknown_host_is_answered_404(server: SampleServer) -> None:
    assert ask_once(server, "elsewhere.localhost", "/")[0].status == 404
    assert ask_once(server, "", "/")[0].status == 404


def test_requests_are_counted_by_host_and_path(server: SampleServer) -> None:
    for path in ("/people/", "/people/", "/nothing"):
        ask_once(server, "physics.localhost", path)
    assert server.counts["physics.localhost", "/people/"] == 2
    assert server.counts["physics.localhost", "/nothing"] == 1
    assert server.counts["cs.localhost", "/"] == 0


def test_many_clients_at_once_lose_no_request(server: SampleServer) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = [pool.submit(ask_once, server, "teahouse.localhost", "/menu.htm") for _ in range(80)]
        assert {one.result()[0].status for one in answers} == {200}
    assert server.counts["teahouse.localhost", "/menu.htm"] == 80


def test_the_busy_page_answers_503_once_and_then_200(server: SampleServer, web: SampleWeb) -> None:
    first, _ = ask_once(server, "physics.localhost", "/about.html")
    second, body = ask_once(server, "physics.localhost", "/about.html")
    assert (first.status, first.getheader("Retry-After")) == (503, "1")
    assert second.status == 200
    assert body == web.sites[0].pages["/about.html"].body


def test_the_server_ends_although_a_client_keeps_its_connection_open(web: SampleWeb) -> None:
    with serve_samples(web) as server:
        connection = HTTPConnection("127.0.0.1", server.port, timeout=120)
        ask(connection, "cs.localhost", "/")
    with closing(connection), pytest.raises((OSError, HTTPException)):
        ask(connection, "cs.localhost", "/")


def test_a_port_can_be_chosen(web: SampleWeb) -> None:
    with serve_samples(web) as first:
        port = first.port
    with serve_samples(web, port=port) as second:
        assert second.port == port
        assert second.seeds("company")[0] == f"http://lanterns.localhost:{port}/"

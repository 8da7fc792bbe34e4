"""The gate stands before all layers of the application, and templates escape what they are given."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from urllib.parse import urlsplit

import httpx
import markupsafe
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup
from starlette.types import Scope

from wayhound.web.app import WebSettings, make_app, running
from wayhound.web.pages import Pages, RenderedPage

SETTINGS = WebSettings(requests_per_second=0)


@asynccontextmanager
async def nothing(_: FastAPI) -> AsyncIterator[None]:
    yield


@pytest.fixture
def pages() -> Pages:
    return Pages("wayhound.portal", {"site_name": "A portal"})


def test_an_error_page_has_the_safe_headers_too(pages: Pages) -> None:
    app = make_app("A portal", "", pages, SETTINGS, nothing)

    @app.get("/broken")
    def broken() -> str:
        raise ZeroDivisionError

    with running(app) as address:
        answer = httpx.get(f"{address}broken")
    assert answer.status_code == 500
    assert "default-src 'none'" in answer.headers["content-security-policy"]


def test_a_page_that_cannot_be_made_at_once_is_left_to_its_route(
    pages: Pages, caplog: pytest.LogCaptureFixture
) -> None:
    def find_page(scope: Scope) -> RenderedPage | None:
        if scope["path"] == "/known":
            return RenderedPage(b"known", "text/plain", '"1"')
        raise ZeroDivisionError

    app = make_app("A portal", "", pages, SETTINGS, nothing, find_page=find_page)

    @app.get("/other")
    def other() -> str:
        return "from the route"

    with running(app) as address, caplog.at_level(logging.ERROR, "wayhound.serve"):
        assert httpx.get(f"{address}known").text == "known"
        assert httpx.get(f"{address}other").json() == "from the route"
    assert [record.getMessage() for record in caplog.records] == ["/other could not be made at once"]


@given(st.text())
def test_templates_escape_text_as_markupsafe_does(text: str) -> None:
    drawn = Pages("wayhound.portal", {})._environment.from_string("{{ text }}").render(text=text)
    expected = str(markupsafe.escape(text))
    assert drawn == expected


@pytest.mark.parametrize("value", [Markup("<b>bold</b>"), 3, 0.5, None, True, ["<", "'"]])
def test_templates_write_other_values_as_markupsafe_does(pages: Pages, value: object) -> None:
    drawn = pages._environment.from_string("{{ value }}").render(value=value)
    assert drawn == str(markupsafe.escape(value))


# Answers at once


@contextmanager
def known_pages(pages: Pages, settings: WebSettings = SETTINGS) -> Iterator[tuple[str, int]]:
    """Serve `/known`, which is answered at once, and `/other`, which a route answers."""

    def find_page(scope: Scope) -> RenderedPage | None:
        is_known = scope["path"] == "/known"
        return RenderedPage(b"known", "text/plain", '"1"', "inline") if is_known else None

    app = make_app("A portal", "", pages, settings, nothing, find_page=find_page)

    @app.get("/other")
    async def other() -> str:
        await asyncio.sleep(0.01)
        return "other"

    with running(app) as address:
        parts = urlsplit(address)
        yield parts.hostname or "", parts.port or 0


def sent(address: tuple[str, int], *requests: str, end: str = "Connection: close\r\n") -> str:
    """Send GET requests in one piece, the last with the header `end`, and return all that is received."""
    heads = [f"GET {path} HTTP/1.1\r\nHost: localhost\r\n" for path in requests]
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall(("\r\n".join(heads) + end + "\r\n").encode())
        return b"".join(iter(lambda: connection.recv(4_096), b"")).decode()


def test_an_answer_at_once_has_the_headers_of_the_usual_way(pages: Pages) -> None:
    with known_pages(pages) as address:
        at_once = sent(address, "/known")
        # What names a tag takes the usual way.
        usual = sent(address, "/known", end='If-None-Match: "2"\r\nConnection: close\r\n')
    head, _, body = at_once.partition("\r\n\r\n")
    other_head, _, other_body = usual.partition("\r\n\r\n")
    assert body == other_body == "known"
    assert sorted(head.split("\r\n")) == sorted(other_head.split("\r\n"))
    assert "content-security-policy: default-src 'none'" in head


def test_requests_in_one_piece_are_answered_in_their_order(pages: Pages) -> None:
    with known_pages(pages) as address:
        received = sent(address, *["/known", "/other", "/known", "/known", "/other", "/known"])
    bodies = [part.partition("\r\n\r\n")[2] for part in received.split("HTTP/1.1 200 OK\r\n")[1:]]
    assert bodies == ["known", '"other"', "known", "known", '"other"', "known"]


def test_a_connection_is_kept_after_an_answer_at_once(pages: Pages) -> None:
    with known_pages(pages) as (host, port), httpx.Client() as client:
        answers = [client.get(f"http://{host}:{port}/{name}") for name in ("known", "other", "known")]
        head = client.head(f"http://{host}:{port}/known")
        unchanged = client.get(f"http://{host}:{port}/known", headers={"if-none-match": '"1"'})
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert (head.status_code, head.text, head.headers["content-length"]) == (200, "", "5")
    assert unchanged.status_code == 304


@pytest.mark.parametrize("path", ["known", "other"])
def test_a_request_is_counted_once_towards_the_rate(pages: Pages, path: str) -> None:
    settings = WebSettings(requests_per_second=0.001, burst=3)
    with known_pages(pages, settings) as (host, port), httpx.Client() as client:
        statuses = [client.get(f"http://{host}:{port}/{path}").status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]


def test_a_strangers_host_and_a_forwarded_client_are_checked_before_a_known_page(pages: Pages) -> None:
    with known_pages(pages) as (host, port), httpx.Client() as client:
        url = f"http://{host}:{port}/known"
        assert client.get(url, headers={"host": "evil.example"}).status_code == 400
    limited = WebSettings(requests_per_second=20)
    with known_pages(pages, limited) as (host, port), httpx.Client() as client:
        forwarded = client.get(f"http://{host}:{port}/known", headers={"x-forwarded-for": "nobody"})
        assert forwarded.status_code == 400

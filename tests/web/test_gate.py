"""The gate refuses a request by its head alone, before any of its body is read."""

from __future__ import annotations

import asyncio

import pytest
from starlette.types import Message, Receive, Scope, Send

from wayhound.web.guards import Gate, client_of
from wayhound.web.pages import TooManyRequests

HOST = (b"host", b"portal.example")
ELSEWHERE = (b"origin", b"https://elsewhere.example")


def status_of(method: str, *headers: tuple[bytes, bytes]) -> int:
    """Return the status that an application behind the gate answers with, which answers 200 and reads no body."""
    statuses: list[int] = []

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def receive() -> Message:
        raise AssertionError("the body of the request was read")

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope: Scope = {"type": "http", "method": method, "path": "/x.json", "headers": [HOST, *headers]}
    asyncio.run(Gate(app, most_body_bytes=10)(scope, receive, send))
    return statuses[0]


@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS"])
def test_pages_are_read_from_other_sites(method: str) -> None:
    assert status_of(method, ELSEWHERE) == 200


def test_forms_are_not_sent_from_other_sites() -> None:
    assert status_of("POST", ELSEWHERE) == 400
    assert status_of("POST", (b"origin", b"http://portal.example")) == 200


@pytest.mark.parametrize(("length", "status"), [(b"10", 200), (b"11", 413), (b"eleven", 200)])
def test_a_body_that_is_said_to_be_too_large_is_refused_unread(length: bytes, status: int) -> None:
    assert status_of("POST", (b"content-length", length)) == status


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8::a:b:c:d", "2001:db8::"),
    ],
)
def test_a_client_is_an_address_or_the_prefix_of_one(address: str, client: str) -> None:
    assert client_of({"client": (address, 1234)}) == client


def test_a_request_over_a_unix_socket_has_no_address() -> None:
    assert client_of({"client": None}) == ""


@pytest.mark.parametrize(
    ("seconds", "wait"), [(0.2, "a second"), (1.5, "2 seconds"), (119.5, "2 minutes"), (170.0, "3 minutes")]
)
def test_nobody_is_asked_to_come_back_too_early(seconds: float, wait: str) -> None:
    assert TooManyRequests(seconds).sentence.endswith(f"again in {wait}.")

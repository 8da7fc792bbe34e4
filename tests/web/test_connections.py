"""Connections that send slowly, without end or nothing at all do not keep others from being answered."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import pytest
from fastapi import FastAPI, Request

from wayhound.web.app import running
from wayhound.web.guards import ConnectionLimits

LIMITS = ConnectionLimits(head_bytes=4_000, request_seconds=120.0, waiting=20)


@contextmanager
def served(limits: ConnectionLimits | None) -> Iterator[tuple[str, int]]:
    app = FastAPI()

    @app.get("/")
    def hello() -> str:
        return "hello"

    @app.post("/")
    async def take(request: Request) -> int:
        return len(await request.body())

    with running(app, limits=limits) as address:
        parts = urlsplit(address)
        yield parts.hostname or "", parts.port or 0


def connected(address: tuple[str, int]) -> socket.socket:
    return socket.create_connection(address, timeout=60)


def status_of(connection: socket.socket) -> int:
    """Return the status of the response, or 0 if the connection was closed without one."""
    try:
        line = connection.recv(4_096).split(b"\r\n")[0].split()
    except ConnectionResetError:
        return 0
    return int(line[1]) if line else 0


def get(address: tuple[str, int]) -> int:
    with connected(address) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return status_of(connection)


def test_a_header_without_end_is_refused() -> None:
    with served(LIMITS) as address, connected(address) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
        for _ in range(100):
            try:
                connection.sendall(b"a" * 100)
            except OSError:  # refused already
                break
        assert status_of(connection) in {431, 0}
        assert get(address) == 200


@pytest.mark.parametrize("header", [b"X: " + b"a" * 5_000 + b"\r\n", b"a:\r\n" * 1_500])
def test_a_large_head_in_one_piece_is_refused(header: bytes) -> None:
    with served(LIMITS) as address, connected(address) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n" + header + b"\r\n")
        assert status_of(connection) in {400, 431}


def test_a_body_may_be_larger_than_a_head() -> None:
    with served(LIMITS) as address, connected(address) as connection:
        body = b"a" * 20_000
        head = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20000\r\n\r\n"
        connection.sendall(head + body)
        assert status_of(connection) == 200


def test_one_connection_may_send_many_requests() -> None:
    with served(LIMITS) as address, connected(address) as connection:
        for _ in range(50):
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 500 + b"\r\n\r\n")
            assert status_of(connection) == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: lo",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nab",
    ],
)
def test_a_request_that_never_ends_is_given_up(sent: bytes) -> None:
    limits = ConnectionLimits(request_seconds=0.2)
    with served(limits) as address, connected(address) as connection:
        connection.sendall(sent)
        answer = connection.recv(4_096)
        assert not answer or answer.startswith(b"HTTP/1.1 408")


def test_each_of_several_connections_that_wait_is_given_up_in_turn() -> None:
    limits = ConnectionLimits(request_seconds=0.2)
    with served(limits) as address, connected(address) as first:
        assert get(address) == 200
        with connected(address) as second:
            assert status_of(first) == 408
            assert status_of(second) == 408
            assert get(address) == 200


def test_the_oldest_of_too_many_half_sent_requests_are_dropped() -> None:
    with served(LIMITS) as address, ExitStack() as stack:
        half = [stack.enter_context(connected(address)) for _ in range(3 * LIMITS.waiting)]
        for connection in half:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        assert [get(address) for _ in range(30)] == [200] * 30
        assert status_of(half[0]) == 0
        half[-1].sendall(b"\r\n")
        assert status_of(half[-1]) in {200, 0}


def test_servers_have_these_limits_by_default() -> None:
    with served(None) as address, connected(address) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
        connection.sendall(b"a" * (ConnectionLimits().head_bytes + 1_000))
        assert status_of(connection) in {431, 0}

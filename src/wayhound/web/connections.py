"""Limits on connections that send their requests slowly, without end, or not at all.

uvicorn bounds the head of a request only with its slower parser, and waits for a first request for ever. A few clients
that drip header bytes would so take the memory of a server, and many that send half a request its file descriptors.
"""

from __future__ import annotations

import asyncio
import resource
from dataclasses import dataclass
from typing import Any, ClassVar

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState


@dataclass(frozen=True)
class ConnectionLimits:
    """Bounds of one server process. `waiting` connections may have a request that is not complete."""

    head_bytes: int = 32_768
    request_seconds: float = 20.0
    waiting: int = 1_000
    requests: int = 500

    @classmethod
    def of_this_machine(cls) -> ConnectionLimits:
        """Return the defaults, with fewer waiting connections where a process may open few files."""
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        return cls() if soft == resource.RLIM_INFINITY else cls(waiting=min(1_000, max(soft // 4, 16)))


class LimitedProtocol(HttpToolsProtocol):
    """An HTTP connection within limits.

    A request must be complete within `request_seconds`. Of more than `waiting` incomplete ones the oldest is dropped: a
    browser sends its request at once, so those that have waited longest are not browsers. Over `requests` at a time the
    answer is 503.
    """

    limits: ClassVar[ConnectionLimits]
    waiting: ClassVar[dict[LimitedProtocol, None]]

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._head_bytes = 0  # received, of a head that is not complete
        self._parsed_bytes = 0  # of names and values
        self._in_head = True
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._in_head and self.parser is not None:
            self._head_bytes += len(data)
            if self._head_bytes > self.limits.head_bytes:
                self._refuse(b"431 Request Header Fields Too Large")

    def on_message_begin(self) -> None:
        self._head_bytes = self._parsed_bytes = 0
        self._in_head = True
        self._wait_for_request()
        super().on_message_begin()

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value)
        self._parsed_bytes += len(name) + len(value) + len(b": \r\n")
        if self._parsed_bytes > self.limits.head_bytes:
            raise ValueError("The head of the request is too large.")  # the parser answers with 400

    def on_headers_complete(self) -> None:
        self._in_head = False
        # With this limit at 1 the base class answers 503. Its own count would include idle connections.
        self.limit_concurrency = 1 if len(self.tasks) >= self.limits.requests else None
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._stop_waiting()
        super().on_message_complete()

    def handle_websocket_upgrade(self) -> None:
        self._stop_waiting()
        super().handle_websocket_upgrade()

    def _wait_for_request(self) -> None:
        self._stop_waiting()
        self.waiting[self] = None
        self._deadline = self.loop.call_later(
            self.limits.request_seconds, self._refuse, b"408 Request Timeout"
        )
        if len(self.waiting) > self.limits.waiting:
            next(iter(self.waiting)).transport.abort()

    def _stop_waiting(self) -> None:
        self.waiting.pop(self, None)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _refuse(self, status: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(
                b"HTTP/1.1 " + status + b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            )
            self.transport.close()


def limited_protocol(limits: ConnectionLimits) -> type[LimitedProtocol]:
    """Return a protocol class for one uvicorn server, whose connections share `limits`."""
    return type("LimitedProtocol", (LimitedProtocol,), {"limits": limits, "waiting": {}})

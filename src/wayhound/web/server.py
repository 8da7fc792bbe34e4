"""Serve an ASGI application on a port of this machine."""

from __future__ import annotations

import errno
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from wayhound.errors import UsageError

BACKLOG = 2048
_LOOK_SECONDS = 0.01


def open_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket, before anything slower is started. Raises UsageError if the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only if the protocol is named; without it, a response may wait 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listening.close()
        raise UsageError(_bind_error(error, host, port)) from None
    return listening


def _bind_error(error: Exception, host: str, port: int) -> str:
    match getattr(error, "errno", None):
        case errno.EADDRINUSE:
            return f"Port {port} is in use by another program. Choose another with --port."
        case errno.EACCES:
            return f"You may not use port {port}. Choose one above 1023 with --port."
        case _:
            return f"{host} is not an address of this machine. Choose another with --host."


def address_of(listening: socket.socket) -> str:
    """Return the address by which a browser on this machine reaches the socket."""
    host, port = listening.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{shown}:{port}/"


def make_server(app: ASGIApp) -> uvicorn.Server:
    """Return a server without an access log: what visitors search for is private."""
    config = uvicorn.Config(
        app,
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=True,
        timeout_graceful_shutdown=5,
        h11_max_incomplete_event_size=32_768,
        forwarded_allow_ips="127.0.0.1",
    )
    return uvicorn.Server(config)


@contextmanager
def running(app: ASGIApp, host: str = "127.0.0.1", port: int = 0) -> Iterator[str]:
    """Serve the application in a thread of this process and yield its address."""
    with open_socket(host, port) as listening:
        server = make_server(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="server")
        thread.start()
        try:
            while not server.started and thread.is_alive():
                time.sleep(_LOOK_SECONDS)
            if not server.started:
                raise UsageError("The server could not start; the error is above.")
            yield address_of(listening)
        finally:
            server.should_exit = True
            thread.join()

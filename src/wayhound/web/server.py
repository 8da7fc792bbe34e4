"""Runs an application on a port of this machine until it is told to stop."""

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
    """A listening socket, so that a port that is taken is told before anything else is done."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sends small packets at once; without, an answer may wait 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listening.close()
        raise UsageError(_in_words(error, host, port)) from None
    return listening


def _in_words(error: Exception, host: str, port: int) -> str:
    match getattr(error, "errno", None):
        case errno.EADDRINUSE:
            return f"Port {port} is taken by another program. Choose another with --port."
        case errno.EACCES:
            return f"Port {port} may not be used by this user. Choose one above 1023 with --port."
        case _:
            return f"{host} is not an address of this machine. Choose another with --host."


def address_of(listening: socket.socket) -> str:
    """Where a browser on this machine finds it."""
    host, port = listening.getsockname()[:2]
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{shown}:{port}/"


def make_server(app: ASGIApp) -> uvicorn.Server:
    """A server that says nothing of single requests: what visitors look for is nobody's business."""
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
    """The application served by a thread of this process, at the address that is told."""
    with open_socket(host, port) as listening:
        server = make_server(app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="server")
        thread.start()
        try:
            while not server.started and thread.is_alive():
                time.sleep(_LOOK_SECONDS)
            if not server.started:
                raise UsageError("The server could not be started; what is wrong stands above.")
            yield address_of(listening)
        finally:
            server.should_exit = True
            thread.join()

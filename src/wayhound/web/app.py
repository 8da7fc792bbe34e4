"""Build a web application (pages behind the guards, safe headers, plain error pages) and serve it on a port."""

from __future__ import annotations

import errno
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.types import ASGIApp, Receive, Scope, Send

from wayhound import __version__
from wayhound.errors import UsageError
from wayhound.web.guards import (
    LOOPBACK_NAMES,
    MOST_BODY_BYTES,
    AtOnce,
    Buckets,
    ConnectionLimits,
    Gate,
    RateLimiter,
    limited_protocol,
)
from wayhound.web.pages import Pages, RenderedPage, add_error_pages, add_static_files

_ERRORS = {
    "400": "The request is not valid; `error` says what to change.",
    "404": "Not found.",
    "429": "Too many requests; Retry-After says when to try again.",
}
_BODY_ERRORS = {
    "413": f"The body is larger than {MOST_BODY_BYTES:,} bytes.",
    "415": "The body is no form.",
}
_ERROR = {
    "Error": {
        "type": "object",
        "properties": {"status": {"type": "integer"}, "error": {"type": "string"}},
        "required": ["status", "error"],
    }
}

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True)
class WebSettings:
    """Limits of a server. `requests_per_second` is per client; 0 means no limit."""

    hosts: tuple[str, ...] = LOOPBACK_NAMES
    requests_per_second: float = 20.0
    burst: float = 100.0
    open_types: Iterable[str] = field(default=())
    most_body_bytes: int = MOST_BODY_BYTES


class GuardedApp(FastAPI):
    """An application behind `outermost`, which is called before FastAPI's own layers: these cost a page 0.05 ms."""

    outermost: ASGIApp
    at_once: AtOnce | None = None  # returns a response that needs no task of its own, if there is one

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["app"] = self
        await self.outermost(scope, receive, send)

    async def answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the response of a route, or an error page."""
        await super().__call__(scope, receive, send)


def make_app(
    title: str, about: str, pages: Pages, settings: WebSettings, lifespan: Lifespan,
    buckets: Buckets | None = None, find_page: Callable[[Scope], RenderedPage | None] | None = None,
) -> GuardedApp:  # fmt: skip
    """Return an application without routes of its own; its OpenAPI description is at `/openapi.json`.

    Processes that share `buckets` count the requests of a client together. What `find_page` returns for a request is
    sent without looking for a route.
    """
    app = GuardedApp(
        title=title,
        description=about,
        version=__version__,
        lifespan=lifespan,
        docs_url=None,  # FastAPI's page loads scripts from a CDN
        redoc_url=None,
    )
    app.state.pages = pages
    app.openapi = lambda: _openapi_schema(app)  # type: ignore[method-assign]
    add_error_pages(app)
    add_static_files(app, pages.static)
    rate, limiter = settings.requests_per_second, None
    if rate:
        limiter = RateLimiter(rate, settings.burst, buckets=buckets)
    gate = Gate(
        app.answer,
        hosts=settings.hosts,
        most_body_bytes=settings.most_body_bytes,
        open_types=settings.open_types,
        limiter=limiter,
        find_page=find_page,
    )
    app.outermost, app.at_once = gate, gate.answer_at_once
    return app


def _openapi_schema(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI schema, with 400 for invalid requests instead of FastAPI's 422."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        schema["components"]["schemas"] |= _ERROR
        for path, operations in schema["paths"].items():
            for operation in operations.values():
                operation["responses"].pop("422", None)
                _add_errors(
                    path,
                    operation["responses"],
                    _ERRORS | (_BODY_ERRORS if "requestBody" in operation else {}),
                )
        app.openapi_schema = schema
    return app.openapi_schema


def _add_errors(path: str, responses: dict[str, Any], errors: Mapping[str, str]) -> None:
    json_error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    content = json_error if path.endswith((".json", ".jsonl")) else {"text/html": {}}
    for status, description in errors.items():
        responses.setdefault(status, {"description": description, "content": content})


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


def make_server(app: ASGIApp, limits: ConnectionLimits | None = None) -> uvicorn.Server:
    """Return a server without an access log: what visitors search for is private."""
    limits = limits or ConnectionLimits.of_this_machine()
    config = uvicorn.Config(
        app,
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=True,
        timeout_graceful_shutdown=5,
        http=limited_protocol(limits, getattr(app, "at_once", None)),
        forwarded_allow_ips="127.0.0.1",
    )
    return uvicorn.Server(config)


@contextmanager
def running(
    app: ASGIApp, host: str = "127.0.0.1", port: int = 0, limits: ConnectionLimits | None = None
) -> Iterator[str]:
    """Serve the application in a thread of this process and yield its address."""
    with open_socket(host, port) as listening:
        server = make_server(app, limits)
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

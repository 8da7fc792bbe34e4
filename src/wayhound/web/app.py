"""Puts a server together: its pages behind the guards, with safe headers and plain error pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from wayhound import __version__
from wayhound.web.errors import add_error_pages
from wayhound.web.guards import LOOPBACK_NAMES, MOST_BODY_BYTES, Guards, SafeHeaders
from wayhound.web.limits import Buckets, LimitedRate, RateLimiter
from wayhound.web.pages import Pages, add_static_files

_ERRORS = {
    "400": "The request must be changed; a sentence says how.",
    "404": "There is no such thing.",
    "429": "Asked too often; Retry-After says when to try again.",
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
    """How a server meets the world. `requests_per_second` is for each client; 0 is without limit."""

    hosts: tuple[str, ...] = LOOPBACK_NAMES
    requests_per_second: float = 20.0
    burst: float = 100.0
    open_types: Iterable[str] = field(default=())
    most_body_bytes: int = MOST_BODY_BYTES


def make_app(
    title: str, about: str, pages: Pages, settings: WebSettings, lifespan: Lifespan,
    buckets: Buckets | None = None,
) -> FastAPI:  # fmt: skip
    """An application without pages of its own. Its description for machines is at `/openapi.json`.

    Processes that share `buckets` count the requests of a client together.
    """
    app = FastAPI(
        title=title,
        description=about,
        version=__version__,
        lifespan=lifespan,
        docs_url=None,  # FastAPI's page for it loads scripts from elsewhere
        redoc_url=None,
    )
    app.state.pages = pages
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    add_error_pages(app)
    add_static_files(app, pages.static)
    # Each stands around those before it: headers are put on refusals too.
    app.add_middleware(Guards, hosts=settings.hosts, most_body_bytes=settings.most_body_bytes)
    if settings.requests_per_second:
        limiter = RateLimiter(settings.requests_per_second, settings.burst, buckets=buckets)
        app.add_middleware(LimitedRate, limiter=limiter)
    app.add_middleware(SafeHeaders, open_types=settings.open_types)
    return app


def _described(app: FastAPI) -> dict[str, Any]:
    """The description for machines. What is not valid is told by 400 here, and not as FastAPI has it."""
    if app.openapi_schema is None:
        schema = get_openapi(
            title=app.title, version=app.version, description=app.description, routes=app.routes
        )
        schema["components"]["schemas"] |= _ERROR
        for path, operations in schema["paths"].items():
            for operation in operations.values():
                operation["responses"].pop("422", None)
                _add_errors(path, operation["responses"])
        app.openapi_schema = schema
    return app.openapi_schema


def _add_errors(path: str, responses: dict[str, Any]) -> None:
    told = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    content = told if path.endswith((".json", ".jsonl")) else {"text/html": {}}
    for status, about in _ERRORS.items():
        responses.setdefault(status, {"description": about, "content": content})

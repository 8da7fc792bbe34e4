"""Build a web application: pages behind the guards, with safe headers and plain error pages."""

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
    "400": "The request is not valid; `error` says what to change.",
    "404": "Not found.",
    "429": "Too many requests; Retry-After says when to try again.",
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


def make_app(
    title: str, about: str, pages: Pages, settings: WebSettings, lifespan: Lifespan,
    buckets: Buckets | None = None,
) -> FastAPI:  # fmt: skip
    """Return an application without routes of its own; its OpenAPI description is at `/openapi.json`.

    Processes that share `buckets` count the requests of a client together.
    """
    app = FastAPI(
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
    # Each middleware wraps those before it, so that refusals carry the safe headers too.
    app.add_middleware(Guards, hosts=settings.hosts, most_body_bytes=settings.most_body_bytes)
    if settings.requests_per_second:
        limiter = RateLimiter(settings.requests_per_second, settings.burst, buckets=buckets)
        app.add_middleware(LimitedRate, limiter=limiter)
    app.add_middleware(SafeHeaders, open_types=settings.open_types)
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
                _add_errors(path, operation["responses"])
        app.openapi_schema = schema
    return app.openapi_schema


def _add_errors(path: str, responses: dict[str, Any]) -> None:
    json_error = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    content = json_error if path.endswith((".json", ".jsonl")) else {"text/html": {}}
    for status, description in _ERRORS.items():
        responses.setdefault(status, {"description": description, "content": content})

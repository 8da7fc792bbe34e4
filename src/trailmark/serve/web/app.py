"""Puts a server together: its pages behind the guards, with safe headers and plain error pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from fastapi import FastAPI

from trailmark import __version__
from trailmark.serve.web.errors import add_error_pages
from trailmark.serve.web.guards import LOOPBACK_NAMES, Guards
from trailmark.serve.web.headers import SafeHeaders
from trailmark.serve.web.limits import LimitedRate, RateLimiter
from trailmark.serve.web.pages import Pages
from trailmark.serve.web.static import add_static_files

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True)
class WebSettings:
    """How a server meets the world. `requests_per_second` is for each client; 0 is without limit."""

    hosts: tuple[str, ...] = LOOPBACK_NAMES
    requests_per_second: float = 20.0
    burst: float = 100.0
    open_types: Iterable[str] = field(default=())


def make_app(title: str, about: str, pages: Pages, settings: WebSettings, lifespan: Lifespan) -> FastAPI:
    """An application without pages of its own. Its description for machines is at `/openapi.json`."""
    app = FastAPI(
        title=title,
        description=about,
        version=__version__,
        lifespan=lifespan,
        docs_url=None,  # FastAPI's page for it loads scripts from elsewhere
        redoc_url=None,
    )
    app.state.pages = pages
    add_error_pages(app)
    add_static_files(app, pages.static)
    # Each stands around those before it: headers are put on refusals too.
    app.add_middleware(Guards, hosts=settings.hosts)
    if settings.requests_per_second:
        limiter = RateLimiter(settings.requests_per_second, settings.burst)
        app.add_middleware(LimitedRate, limiter=limiter)
    app.add_middleware(SafeHeaders, open_types=settings.open_types)
    return app

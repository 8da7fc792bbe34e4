"""The portal as an ASGI application: all its pages over one workspace."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from pathlib import Path

from fastapi import FastAPI
from starlette.types import Message, Receive, Scope, Send

from wayhound.app.visitors import VisitorCounts
from wayhound.errors import WayhoundError
from wayhound.portal.citations import map_routes
from wayhound.portal.discovery import discovery_routes, feed_routes, list_routes
from wayhound.portal.exports import export_routes
from wayhound.portal.home import about_routes, home_routes
from wayhound.portal.library import SLOW_THREADS, Readers, WorkspaceAccess
from wayhound.portal.oai import oai_routes
from wayhound.portal.originals import original_routes
from wayhound.portal.portal import Portal, PortalSettings, make_pages
from wayhound.portal.record_pages import record_routes
from wayhound.portal.search_pages import search_routes
from wayhound.portal.submit_pages import submit_routes
from wayhound.portal.topic_pages import first_pages, topic_routes
from wayhound.web.app import GuardedApp, WebSettings, make_app
from wayhound.web.guards import Buckets

ABOUT = "Search, browse and cite what was found. Every page is available as JSON."
GARBAGE_THRESHOLD = 20_000
"""Objects after which garbage is searched for: a page is made of some thousand, and leaves nearly none."""

REST_SECONDS = 30.0
"""Seconds without a commit after which pages are prepared; an index that grows would make them useless at once."""

PAUSE_SECONDS = 0.01  # between two of them, for the visitors

OPEN_TYPES = (
    "application/json",
    "application/x-ndjson",
    "application/atom+xml",
    "application/ld+json",
    "application/x-bibtex",
    "application/x-research-info-systems",
    "application/vnd.citationstyles.csl+json",
    "text/xml",
)
"""Media types that scripts of other origins may read."""

_ROUTES = (
    search_routes,  # those asked for most come first: routes are tried one after the other
    export_routes,  # before records, whose keys may have any suffix
    record_routes,
    home_routes,
    feed_routes,  # before topics, whose addresses may have any suffix
    list_routes,
    topic_routes,
    map_routes,
    original_routes,
    submit_routes,
    about_routes,
    discovery_routes,
    oai_routes,
)


class CountedPages:
    """Middleware that counts the pages that are sent, by kind."""

    def __init__(self, app: GuardedApp, counts: VisitorCounts) -> None:
        self._app, self._at_once = app.outermost, app.at_once
        self._counts = counts

    def answer_at_once(self, scope: Scope) -> list[bytes] | None:
        answer = self._at_once(scope) if self._at_once else None
        if answer:
            self._counts.add(scope["path"])
        return answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == HTTPStatus.OK:
                self._counts.add(scope["path"])
            await send(message)

        is_page = scope["type"] == "http" and scope["method"] == "GET"
        await self._app(scope, receive, counted if is_page else send)


async def _keep_prepared(portal: Portal) -> None:
    """Make the first pages of topics anew after the index has changed, and then rested."""
    prepared = seen = portal.readers.index.stamp
    while True:
        await asyncio.sleep(REST_SECONDS)
        before, seen = seen, portal.readers.index.stamp
        if before == seen != prepared:
            await _prepare(portal, PAUSE_SECONDS)
            prepared = seen


async def _prepare(portal: Portal, pause_seconds: float = 0.0) -> None:
    with suppress(WayhoundError):  # a page that is asked for tells what is wrong
        await portal.readers.prepare(partial(first_pages, portal), pause_seconds)


def make_portal(
    folder: Path | WorkspaceAccess, settings: PortalSettings, web: WebSettings, buckets: Buckets | None = None
) -> GuardedApp:
    """Return an application over the workspace in `folder`; it reads the index there and updates nothing.

    Processes that share `buckets` count the requests of a visitor together.
    """
    buckets = buckets or Buckets()
    access = folder if isinstance(folder, WorkspaceAccess) else WorkspaceAccess(folder)
    readers = Readers(access)
    slow_readers = Readers(access, SLOW_THREADS, readers.index)
    image_readers = Readers(access, 1, readers.index)
    counts = VisitorCounts(Path(settings.counts_folder)) if settings.counts_folder else None
    portal = Portal(settings, readers, slow_readers, image_readers, make_pages(settings), buckets)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        portal.pages.compile()
        await asyncio.to_thread(readers.index.warm)
        await _prepare(portal)
        preparing = asyncio.create_task(_keep_prepared(portal))
        gc.freeze()  # modules and the index's words stay; searching them for garbage again and again costs time
        gc.set_threshold(GARBAGE_THRESHOLD)
        try:
            yield
        finally:
            preparing.cancel()
            if counts:
                counts.write()
            for pool in (readers, slow_readers, image_readers):
                pool.close()

    limits = replace(web, open_types=OPEN_TYPES)
    app = make_app(settings.name, ABOUT, portal.pages, limits, lifespan, buckets, find_page=portal.known_page)
    if counts:
        counted = CountedPages(app, counts)  # so that pages made before are counted too
        app.outermost, app.at_once = counted, counted.answer_at_once
    for routes in _ROUTES:
        app.include_router(routes(portal))
    return app

"""The studio as an application: all its pages over one workspace, for whoever has the token."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from starlette.middleware import Middleware

from wayhound.studio.access import Access
from wayhound.studio.background import Background
from wayhound.studio.goal_pages import goal_routes
from wayhound.studio.home import home_routes
from wayhound.studio.job_pages import job_routes
from wayhound.studio.rating_pages import rating_routes
from wayhound.studio.remote_browser import RemoteBrowser
from wayhound.studio.review_pages import review_routes
from wayhound.studio.run_pages import run_deeds, run_routes
from wayhound.studio.studio import NAME, Studio, make_pages
from wayhound.studio.teach_pages import picture_routes, teach_routes
from wayhound.studio.topic_pages import topic_changes, topic_routes
from wayhound.studio.trail_pages import trail_changes, trail_routes
from wayhound.studio.train_pages import train_routes
from wayhound.web.app import WebSettings, make_app

ABOUT = "The operator's pages of a workspace."
MOST_BODY_BYTES = 2_000_000  # the longest list of start pages that a run takes

_ROUTES = (
    home_routes,
    trail_routes,
    trail_changes,
    train_routes,
    job_routes,
    run_routes,
    run_deeds,
    goal_routes,
    rating_routes,
    review_routes,
    topic_routes,
    topic_changes,
)


def make_studio(folder: Path, token: str) -> FastAPI:
    studio = Studio(folder, token, make_pages(), Background(folder))
    browser = RemoteBrowser(folder)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            await browser.close()
            studio.background.close()

    settings = WebSettings(requests_per_second=0, most_body_bytes=MOST_BODY_BYTES)
    app = make_app(NAME, ABOUT, studio.pages, settings, lifespan)
    for routes in _ROUTES:
        app.include_router(routes(studio), include_in_schema=False)
    for teaching in (teach_routes, picture_routes):
        app.include_router(teaching(studio, browser), include_in_schema=False)
    # Within the guards: a strange host is refused before the token is looked at, refusals have safe headers.
    app.user_middleware.append(Middleware(Access, token=token))
    return app

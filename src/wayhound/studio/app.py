"""The studio as an ASGI application: all its pages over one workspace, behind a token."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import JSONResponse, Response
from starlette.middleware import Middleware

from wayhound.store.jobs import Job
from wayhound.studio.access import Access, origin_name
from wayhound.studio.background import Background
from wayhound.studio.chain_pages import chain_changes, chain_routes
from wayhound.studio.fact_pages import fact_routes
from wayhound.studio.goal_pages import goal_routes, rejection_routes
from wayhound.studio.home import home_routes
from wayhound.studio.paper_pages import paper_changes, paper_routes
from wayhound.studio.rating_pages import rating_routes
from wayhound.studio.remote_browser import RemoteBrowser
from wayhound.studio.review_pages import review_routes
from wayhound.studio.run_pages import run_actions, run_routes
from wayhound.studio.site_pages import program_routes, question_routes
from wayhound.studio.studio import NAME, Studio, make_pages, read_form, to
from wayhound.studio.teach_pages import picture_routes, teach_routes
from wayhound.studio.topic_pages import topic_changes, topic_routes
from wayhound.studio.trail_pages import trail_changes, trail_routes
from wayhound.studio.train_pages import complete_routes, train_routes
from wayhound.web.app import WebSettings, make_app
from wayhound.web.guards import LOOPBACK_NAMES
from wayhound.web.pages import NotFound
from wayhound.workspace import Workspace

ABOUT = "The operator's pages of a workspace."
MOST_BODY_BYTES = 2_000_000  # enough for a list of 10,000 start pages
JOB_PAGES = {
    "train": "/train",
    "review": "/review",
    "forage": "/runs",
    "topics": "/topics",
    "papers": "/papers",
    "chains": "/chains",
    "facts": "/facts",
}


def job_routes(studio: Studio) -> APIRouter:
    """Routes that report the progress of a job, and stop it."""
    router = APIRouter()

    def find(workspace: Workspace, job_id: int) -> Job:
        job = workspace.stores.jobs.get(job_id)
        if job is None:
            raise NotFound
        return job

    @router.get("/jobs/{job_id}.json")
    def progress(job_id: int) -> Response:
        with studio.workspace() as workspace:
            studio.background.clean_up(workspace)
            job = find(workspace, job_id)
        data = {"state": job.state, "sentence": job.sentence, "done": job.done, "total": job.total}
        return JSONResponse(data, headers={"cache-control": "no-store"})

    @router.post("/jobs/{job_id}/stop")
    async def stop(request: Request, job_id: int) -> Response:
        await read_form(studio, request)

        def act(workspace: Workspace) -> Job:
            job = find(workspace, job_id)
            studio.background.stop(workspace, job)
            return job

        job = await studio.run(act)
        run = job.run_id if job.kind == "forage" else None
        return to(f"/runs/{run}" if run else JOB_PAGES[job.kind], "Stopped.")

    return router


_ROUTES = (
    home_routes,
    trail_routes,
    trail_changes,
    train_routes,
    complete_routes,
    job_routes,
    run_routes,
    question_routes,
    program_routes,
    run_actions,
    goal_routes,
    rejection_routes,
    rating_routes,
    review_routes,
    fact_routes,
    paper_changes,
    paper_routes,
    topic_routes,
    topic_changes,
    chain_routes,
    chain_changes,
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

    settings = WebSettings(
        hosts=(*LOOPBACK_NAMES, origin_name(token)), requests_per_second=0, most_body_bytes=MOST_BODY_BYTES
    )
    app = make_app(NAME, ABOUT, studio.pages, settings, lifespan)
    for routes in _ROUTES:
        app.include_router(routes(studio), include_in_schema=False)
    for teaching in (teach_routes, picture_routes):
        app.include_router(teaching(studio, browser), include_in_schema=False)
    # Inside the guards: an unknown host is refused before the token is checked, and refusals have safe headers.
    app.user_middleware.append(Middleware(Access, token=token))
    return app

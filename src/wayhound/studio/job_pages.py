"""Jobs in the background: how far they are, for the script of a page; and the button that stops them."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from starlette.concurrency import run_in_threadpool

from wayhound.store.jobs import Job
from wayhound.studio.forms import read_form
from wayhound.studio.studio import Studio, to
from wayhound.web.errors import NotFound
from wayhound.workspace import Workspace

PAGES = {"train": "/train", "review": "/review", "forage": "/runs", "topics": "/topics"}


def job_of(workspace: Workspace, job_id: int) -> Job:
    job = workspace.stores.jobs.get(job_id)
    if job is None:
        raise NotFound
    return job


def job_routes(studio: Studio) -> APIRouter:
    router = APIRouter()

    @router.get("/jobs/{job_id}.json")
    def job(job_id: int) -> Response:
        with studio.workspace() as workspace:
            studio.background.clean_up(workspace)
            told = job_of(workspace, job_id)
        shown = {"state": told.state, "sentence": told.sentence, "done": told.done, "total": told.total}
        return JSONResponse(shown, headers={"cache-control": "no-store"})

    @router.post("/jobs/{job_id}/stop")
    async def stop(request: Request, job_id: int) -> Response:
        await read_form(studio, request)

        def act() -> Job:
            with studio.workspace() as workspace:
                job = job_of(workspace, job_id)
                studio.background.stop(workspace, job)
            return job

        job = await run_in_threadpool(act)
        run = job.run_id if job.kind == "forage" else None
        return to(f"/runs/{run}" if run else PAGES[job.kind], "Stopped.")

    return router

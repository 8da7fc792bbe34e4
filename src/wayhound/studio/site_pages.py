"""One site of a run: the questions about it, and its program."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from wayhound.app.forage import resume_run
from wayhound.app.order import Order
from wayhound.app.programs import edit_program
from wayhound.app.review import answer_question
from wayhound.store.protocol import Run
from wayhound.store.site_notes import KeptProgram
from wayhound.studio.run_pages import start_forage
from wayhound.studio.studio import Studio, query_number, read_form, to
from wayhound.web.pages import BadRequest
from wayhound.workspace import Workspace

ANSWERS = {"yes": True, "no": False, "skip": None}


def question_routes(studio: Studio) -> APIRouter:
    router = APIRouter()

    @router.post("/runs/{run_id}/answer")
    async def answer(request: Request, run_id: int) -> Response:
        """Answer the question about a page. It acts at once, also on a site that is finished."""
        form = await read_form(studio, request)
        site, number = form.visit()
        if form.text("answer") not in ANSWERS:
            raise BadRequest("The answer is neither yes nor no.")

        def act(workspace: Workspace) -> None:
            waiting = workspace.stores.site_notes.waiting(run_id)
            asked = next((each for each in waiting if (each.site, each.number) == (site, number)), None)
            if asked is not None:  # else it was answered in another window
                answer_question(workspace, asked, ANSWERS[form.text("answer")], time.time())
            _continue(studio, workspace, workspace.stores.forage.run(run_id))

        notice = ""
        try:
            await studio.run(act)
        except BadRequest as error:
            notice = str(error)
        return to(f"/runs/{run_id}", notice)

    return router


def _continue(studio: Studio, workspace: Workspace, run: Run) -> None:
    """Look at finished sites again that an answer has sent back, if nobody does so already."""
    progress = workspace.stores.forage.progress(run.id)
    if progress.waiting and not progress.leased:
        resume_run(workspace, run, run.limits, time.time())
        start_forage(studio, workspace, run.id, delay=None, workers=1)


@dataclass(frozen=True, slots=True)
class ProgramView:
    run: int
    start: str
    purpose: str
    kept: KeptProgram | None
    text: str


def program_routes(studio: Studio) -> APIRouter:
    router = APIRouter()

    def view_of(workspace: Workspace, run_id: int, start: str) -> ProgramView:
        purpose = Order.from_identity(workspace.stores.forage.run(run_id).identity).purpose
        kept = workspace.stores.site_notes.program(start, purpose)
        return ProgramView(run_id, start, purpose, kept, kept.program if kept else "")

    @router.get("/program", response_class=HTMLResponse)
    def program(request: Request) -> Response:
        run_id, start = query_number(request, "run"), request.query_params.get("site", "")
        if run_id is None or not start:
            raise BadRequest("The address does not name a site. Open it from a run.")
        with studio.workspace() as workspace:
            view = view_of(workspace, run_id, start)
        return studio.html(request, "program.html", section="/runs", view=view)

    @router.post("/program")
    async def save(request: Request) -> Response:
        form = await read_form(studio, request)
        run_id, start = form.run_id(), form.text("site")

        def act(workspace: Workspace) -> str:
            view = view_of(workspace, run_id, start)
            if form.text("do") == "forget":
                workspace.stores.site_notes.forget_program(start, view.purpose)
                return "Forgotten: the next run of this site finds its own way."
            kept = view.kept or KeptProgram(start, view.purpose, "", True, run_id, time.time())
            edit_program(workspace, kept, form.text("program"))
            return "Saved: the next run of this site begins with it."

        try:
            notice = await studio.run(act)
        except BadRequest as error:  # show the program again as it was written, so that it can be corrected
            view = await studio.run(lambda workspace: view_of(workspace, run_id, start))
            values = {"view": replace(view, text=form.text("program")), "complaint": str(error)}
            return studio.html(request, "program.html", section="/runs", status=error.status, **values)
        return to("/program", notice, run=run_id, site=start)

    return router

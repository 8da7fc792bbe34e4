"""The page Teach: a picture of a browser, operated by the mouse and keys of the person who looks at it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from starlette.concurrency import run_in_threadpool

from wayhound.app.look_around import PAGES_A_SITE
from wayhound.app.site_list import start_pages
from wayhound.app.teach.session import TeachMode
from wayhound.app.teach.teaching import split_keywords
from wayhound.app.train.training import DEFAULT_NAME
from wayhound.errors import WayhoundError
from wayhound.store.teaching import TeachSession
from wayhound.studio.access import check_form
from wayhound.studio.remote_browser import (
    BUTTONS,
    InputEvent,
    KeyEvent,
    MouseEvent,
    Picture,
    RemoteBrowser,
    read_events,
)
from wayhound.studio.studio import Studio, read_form, to
from wayhound.trail import FAIL, GOAL
from wayhound.web.pages import BadRequest

WAIT_SECONDS = 10.0  # for a new picture, before the page asks again
SETTLE_SECONDS = 1.0  # for a page to react to a click, where no script shows later pictures
MOST_TYPED = 200


@dataclass(frozen=True, slots=True)
class TeachView:
    is_open: bool
    outcome: str
    mode: TeachMode  # of the session that is open, or else of the unfinished one
    unfinished: tuple[str, ...]  # sites of the unfinished session
    labels: tuple[str, ...]
    size: tuple[int, int]
    number: int
    keywords: tuple[str, ...] = ()  # of the unfinished session
    urls: str = ""  # as they were typed, if one of them is no address
    has_marks: bool = True  # of the session that has ended
    model: str = DEFAULT_NAME
    look_around_pages: int = PAGES_A_SITE


def teach_routes(studio: Studio, browser: RemoteBrowser) -> APIRouter:
    router = APIRouter()

    def saved() -> tuple[TeachSession | None, tuple[str, ...]]:
        with studio.workspace() as workspace:
            labels = (label for label in workspace.stores.trails.labels() if label not in (GOAL, FAIL))
            return workspace.stores.teaching.unfinished(), tuple(labels)

    async def teach_view() -> TeachView:
        unfinished, labels = await run_in_threadpool(saved)
        sites = unfinished.sites if unfinished else ()
        mode = browser.mode if browser.is_open or unfinished is None else _mode(unfinished.way)
        picture = await browser.newer_picture(0, SETTLE_SECONDS) if browser.is_open else None
        size = (int(picture.frame.width), int(picture.frame.height)) if picture else (1280, 800)
        return TeachView(
            is_open=browser.is_open,
            outcome=browser.outcome(),
            mode=mode,
            unfinished=sites,
            labels=labels,
            size=size,
            number=picture.number if picture else 0,
            keywords=unfinished.keywords if unfinished else (),
            has_marks=browser.has_marks,
        )

    @router.get("/teach", response_class=HTMLResponse)
    async def teach(request: Request) -> Response:
        return studio.html(request, "teach.html", section="/teach", view=await teach_view())

    @router.post("/teach")
    async def begin(request: Request) -> Response:
        form = await read_form(studio, request)
        keywords = split_keywords(form.text("keywords"))
        try:
            await browser.open(start_pages(form.text("urls")), _mode(form.text("mode")), keywords)
        except WayhoundError as error:  # show the form again as it was filled in, so that it can be corrected
            view = replace(
                await teach_view(), urls=form.text("urls"), keywords=keywords, mode=_mode(form.text("mode"))
            )
            values = {"complaint": str(error), "status": 400}
            return studio.html(request, "teach.html", section="/teach", view=view, **values)
        return to("/teach")

    @router.post("/teach/do")
    async def do(request: Request) -> Response:
        form = await read_form(studio, request)
        if form.text("do") not in BUTTONS:
            raise BadRequest("There is no such button.")
        try:
            await browser.press(form.text("do"), form.text("label"))
        except WayhoundError as error:
            raise BadRequest(str(error)) from None
        return to("/teach")

    return router


def picture_routes(studio: Studio, browser: RemoteBrowser) -> APIRouter:
    """Routes for pictures, and for mouse and key events."""
    router = APIRouter()

    @router.get("/teach/picture")
    async def picture(after: int = 0) -> Response:
        """Return the first picture after number `after` as soon as there is one, or 204 if nothing changes."""
        newer = await browser.newer_picture(after, WAIT_SECONDS)
        if newer is None:
            status = 204 if browser.is_open else 410
            return Response(status_code=status, headers={"cache-control": "no-store"})
        return _jpeg(newer)

    @router.get("/teach/now")
    async def now() -> Response:
        """Return the latest picture, for pages without scripts."""
        if browser.picture is None:
            raise BadRequest("There is no picture yet.")
        return _jpeg(browser.picture)

    @router.post("/teach/events")
    async def events(request: Request) -> Response:
        check_form(studio.token, request.headers.get("x-form-key", ""))
        try:
            data = await request.json()
        except ValueError:
            raise BadRequest("The body is not valid JSON.") from None
        await browser.send(read_events(data))
        return Response(status_code=204)

    @router.post("/teach/click")
    async def click(request: Request) -> Response:
        """Pass on a click on the picture and typed text, for pages without scripts."""
        form = await read_form(studio, request)
        frame = browser.picture.frame if browser.picture else None
        if frame is not None and form.text("at.x"):
            x = form.whole("at.x", 0, 100_000) / frame.width
            y = form.whole("at.y", 0, 100_000) / frame.height
            await browser.send(_click(min(x, 1.0), min(y, 1.0)))
        await browser.send(_typed(form.text("typed")[:MOST_TYPED]))
        if browser.picture:
            await browser.newer_picture(browser.picture.number, SETTLE_SECONDS)
        return to("/teach")

    return router


def _mode(name: str) -> TeachMode:
    return "free" if name == "free" else "trails"


def _jpeg(picture: Picture) -> Response:
    headers = {"cache-control": "no-store", "x-picture-number": str(picture.number)}
    return Response(picture.frame.jpeg, headers=headers, media_type="image/jpeg")


def _click(x: float, y: float) -> list[InputEvent]:
    return [
        MouseEvent("mouseMoved", x, y),
        MouseEvent("mousePressed", x, y, "left", 1),
        MouseEvent("mouseReleased", x, y, "left", 1),
    ]


def _typed(text: str) -> list[InputEvent]:
    return [
        event for char in text for event in (KeyEvent("keyDown", char, "", char), KeyEvent("keyUp", char, ""))
    ]

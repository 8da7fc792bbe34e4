"""Teach here: a page with the picture of a browser, whose mouse and keys are yours."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from starlette.concurrency import run_in_threadpool

from wayhound.app.site_list import start_pages
from wayhound.app.teach.session import Way
from wayhound.errors import WayhoundError
from wayhound.store.teaching import TeachSession
from wayhound.studio.access import check_form
from wayhound.studio.forms import read_form
from wayhound.studio.studio import Studio, to
from wayhound.studio.teach_events import KeyEvent, MouseEvent, TeachEvent, read_events
from wayhound.studio.teach_room import DEEDS, Picture, TeachRoom
from wayhound.trail import FAIL, GOAL
from wayhound.web.errors import BadRequest

WAIT_SECONDS = 10.0  # for a new picture, before the page asks again
SETTLE_SECONDS = 1.0  # for a page to answer a click, where no script shows what comes
MOST_TYPED = 200


@dataclass(frozen=True, slots=True)
class TeachView:
    is_open: bool
    outcome: str
    way: Way  # of the session that is open, or else of the one that has not ended
    unfinished: tuple[str, ...]  # sites of the session that has not ended, or not begun
    labels: tuple[str, ...]
    size: tuple[int, int]
    number: int


def teach_routes(studio: Studio, room: TeachRoom) -> APIRouter:
    router = APIRouter()

    def known() -> tuple[TeachSession | None, tuple[str, ...]]:
        with studio.workspace() as workspace:
            labels = (label for label in workspace.stores.trails.labels() if label not in (GOAL, FAIL))
            return workspace.stores.teaching.unfinished(), tuple(labels)

    @router.get("/teach", response_class=HTMLResponse)
    async def teach(request: Request) -> Response:
        unfinished, labels = await run_in_threadpool(known)
        sites = unfinished.sites if unfinished else ()
        way = room.way if room.is_open or unfinished is None else _way(unfinished.way)
        picture = await room.newer(0, SETTLE_SECONDS) if room.is_open else None
        size = (int(picture.frame.width), int(picture.frame.height)) if picture else (1280, 800)
        number = picture.number if picture else 0
        view = TeachView(room.is_open, room.outcome(), way, sites, labels, size, number)
        return studio.html(request, "teach.html", section="/teach", view=view)

    @router.post("/teach")
    async def begin(request: Request) -> Response:
        form = await read_form(studio, request)
        try:
            await room.begin(start_pages(form.text("urls")), _way(form.text("way")))
        except WayhoundError as error:
            raise BadRequest(str(error)) from None
        return to("/teach")

    @router.post("/teach/do")
    async def do(request: Request) -> Response:
        form = await read_form(studio, request)
        deed = next((each for each in DEEDS if each == form.text("do")), None)
        if deed is None:
            raise BadRequest("There is no such button.")
        try:
            await room.do(deed, form.text("label"))
        except WayhoundError as error:
            raise BadRequest(str(error)) from None
        return to("/teach")

    return router


def picture_routes(studio: Studio, room: TeachRoom) -> APIRouter:
    """Pictures out, mouse and keys in."""
    router = APIRouter()

    @router.get("/teach/picture")
    async def picture(after: int = 0) -> Response:
        """The first picture after that of a number, as soon as there is one; 204 if nothing moves."""
        found = await room.newer(after, WAIT_SECONDS)
        if found is None:
            return Response(status_code=204 if room.is_open else 410, headers={"cache-control": "no-store"})
        return _jpeg(found)

    @router.get("/teach/now")
    async def now() -> Response:
        """The latest picture, for pages without scripts."""
        if room.picture is None:
            raise BadRequest("There is no picture yet.")
        return _jpeg(room.picture)

    @router.post("/teach/events")
    async def events(request: Request) -> Response:
        check_form(studio.token, request.headers.get("x-form-key", ""))
        try:
            told = await request.json()
        except ValueError:
            raise BadRequest("That is not JSON.") from None
        await room.hand(read_events(told))
        return Response(status_code=204)

    @router.post("/teach/click")
    async def click(request: Request) -> Response:
        """A click on the picture, and words to be typed, without scripts."""
        form = await read_form(studio, request)
        size = room.picture.frame if room.picture else None
        if size is not None and form.text("at.x"):
            x = form.whole("at.x", 0, 100_000) / size.width
            y = form.whole("at.y", 0, 100_000) / size.height
            await room.hand(_click(min(x, 1.0), min(y, 1.0)))
        await room.hand(_typed(form.text("typed")[:MOST_TYPED]))
        if room.picture:
            await room.newer(room.picture.number, SETTLE_SECONDS)
        return to("/teach")

    return router


def _way(name: str) -> Way:
    return "free" if name == "free" else "trails"


def _jpeg(picture: Picture) -> Response:
    headers = {"cache-control": "no-store", "x-picture-number": str(picture.number)}
    return Response(picture.frame.jpeg, headers=headers, media_type="image/jpeg")


def _click(x: float, y: float) -> list[TeachEvent]:
    return [
        MouseEvent("mouseMoved", x, y),
        MouseEvent("mousePressed", x, y, "left", 1),
        MouseEvent("mouseReleased", x, y, "left", 1),
    ]


def _typed(text: str) -> list[TeachEvent]:
    return [
        event for char in text for event in (KeyEvent("keyDown", char, "", char), KeyEvent("keyUp", char, ""))
    ]

"""Shared by all pages of the studio: the workspace, templates, forms and redirects."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from wayhound.errors import NotInWorkspace, WayhoundError
from wayhound.studio.access import check_form, derived
from wayhound.studio.background import Background
from wayhound.web.pages import BadRequest, NotFound, Pages
from wayhound.wording.faults import format_ending, format_error, other_host
from wayhound.wording.quantities import count, format_probability, shorten
from wayhound.wording.runs import format_goals_left, format_verdict
from wayhound.workspace import Workspace

Result = TypeVar("Result")

NAME = "Wayhound studio"
SECTIONS = (
    ("/", "Overview"),
    ("/teach", "Teach"),
    ("/trails", "Trails"),
    ("/train", "Train"),
    ("/runs", "Runs"),
    ("/results", "Results"),
    ("/review", "Review"),
    ("/chains", "Relations"),
    ("/facts", "Facts"),
    ("/papers", "Papers"),
    ("/topics", "Topics"),
)


@dataclass
class Studio:
    """One studio over one workspace. Each request opens the workspace for itself: threads share no connection."""

    folder: Path
    token: str
    pages: Pages
    background: Background

    @contextmanager
    def workspace(self) -> Iterator[Workspace]:
        """Open the workspace for one request. A WayhoundError becomes NotFound or BadRequest, with its message."""
        try:
            with Workspace.open(self.folder) as workspace:
                yield workspace
        except WayhoundError as error:
            kind = NotFound if isinstance(error, NotInWorkspace) else BadRequest
            raise kind(format_error(error, "studio")) from error

    async def run(self, function: Callable[[Workspace], Result]) -> Result:
        """Call a function with the workspace in a worker thread, for routes that have to await a form."""

        def call() -> Result:
            with self.workspace() as workspace:
                return function(workspace)

        return await run_in_threadpool(call)

    def html(self, request: Request, template: str, *, section: str = "", **values: Any) -> Response:
        """Render a page. `headers`, `status` and `complaint` (shown above the page) are taken from `values`."""
        headers, status = values.pop("headers", {}), values.pop("status", 200)
        body = self.pages.render(
            template,
            section=section,
            sections=SECTIONS,
            form_key=derived(self.token, "form"),
            notice=values.pop("complaint", "") or request.query_params.get("notice", ""),
            here=str(request.url.path),
            **values,
        )
        headers = {"cache-control": "no-store", **headers}
        return Response(body, status, headers=headers, media_type="text/html")


# Requests


class StudioForm:
    """The fields of a submitted form as text; a missing field is empty."""

    def __init__(self, fields: dict[str, list[str]]) -> None:
        self._fields = fields

    def text(self, name: str) -> str:
        return self._fields.get(name, [""])[0].strip()

    def texts(self, name: str) -> list[str]:
        return [value.strip() for value in self._fields.get(name, []) if value.strip()]

    def checked(self, name: str) -> bool:
        return self.text(name) == "yes"

    def number(self, name: str, least: float, most: float) -> float | None:
        """Return a number, or None if the field is empty. Raises BadRequest if it is not within the range."""
        text = self.text(name)
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            raise BadRequest(f"{name}: {text!r} is not a number from {least:g} to {most:g}.")
        return value

    def whole(self, name: str, least: int, most: int) -> int:
        """Return a whole number. Raises BadRequest if it is missing or not within the range."""
        value = self.number(name, least, most)
        if value is None or value != int(value):
            raise BadRequest(f"{name} must be a whole number from {least} to {most}.")
        return int(value)

    def run_id(self) -> int:
        return self.whole("run", 1, 10**9)

    def visit(self) -> tuple[str, int]:
        """Return the site and the number of the visit that the form is about."""
        return self.text("site"), self.whole("visit", 0, 10**9)


async def read_form(studio: Studio, request: Request) -> StudioForm:
    """Read a form. Raises Forbidden if it does not carry the key of our own pages."""
    data = await request.form(max_files=0)
    fields: dict[str, list[str]] = {}
    for name, value in data.multi_items():
        fields.setdefault(name, []).append(str(value))
    form = StudioForm(fields)
    check_form(studio.token, form.text("form_key"))
    return form


def query_number(request: Request, name: str) -> int | None:
    """Return a number of the address's query; None if it is missing or not a number."""
    text = request.query_params.get(name, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 12 else None


@dataclass(frozen=True, slots=True)
class VisitAddress:
    """A visit as addresses of the studio name it."""

    run: int
    site: str
    visit: int

    @classmethod
    def of(cls, request: Request) -> VisitAddress:
        run, visit = query_number(request, "run"), query_number(request, "visit")
        site = request.query_params.get("site", "")
        if run is None or visit is None or not site:
            raise BadRequest("The address does not name a page. Open it from a run or from the review.")
        return cls(run, site, visit)

    @property
    def fields(self) -> dict[str, object]:
        return {"run": self.run, "site": self.site, "visit": self.visit}

    @property
    def query(self) -> str:
        return urlencode(self.fields)


# Responses


def to(path: str, notice: str = "", **query: Any) -> RedirectResponse:
    """Redirect to a page after a form, with a notice of what was done."""
    shown = {name: value for name, value in query.items() if value not in ("", None)}
    shown |= {"notice": notice} if notice else {}
    return RedirectResponse(path + (f"?{urlencode(shown)}" if shown else ""), 303)


def make_pages() -> Pages:
    pages = Pages("wayhound.studio", {"site_name": NAME})
    pages.add_filters(_FILTERS)
    return pages


def format_time(seconds: float | None) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%-d %b %Y, %H:%M UTC") if seconds else "–"


def host_of(url: str) -> str:
    return url.removeprefix("https://").removeprefix("http://").split("/", 1)[0]


def now() -> float:
    return time.time()


_FILTERS: Mapping[str, Any] = {
    "time": format_time,
    "host": host_of,
    "without_scheme": lambda url: url.partition("://")[2].removesuffix("/") or url,
    "path_of": lambda url: url.partition("://")[2].partition("/")[2] or host_of(url),
    "counted": count,
    "ending": lambda reason: format_ending(reason, "studio"),
    "other_host": other_host,
    "verdict": format_verdict,
    "goals_left": format_goals_left,
    "quoted": lambda text: quote(text, safe=""),
    "percent": format_probability,
    "short": lambda text, most=80: shorten(text, most),
}

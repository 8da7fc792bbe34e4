"""What every page of the studio is made with: the workspace, templates, forms and jobs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from wayhound.errors import WayhoundError
from wayhound.studio.access import derived
from wayhound.studio.background import Background
from wayhound.web.errors import BadRequest
from wayhound.web.pages import Pages
from wayhound.wording.faults import format_ending, format_error
from wayhound.wording.quantities import count
from wayhound.workspace import Workspace


@dataclass(frozen=True, slots=True)
class VisitAddress:
    run: int
    site: str
    visit: int

    @classmethod
    def of(cls, request: Request) -> VisitAddress:
        query = request.query_params
        run, visit = query.get("run", ""), query.get("visit", "")
        if not (_is_number(run) and _is_number(visit) and query.get("site")):
            raise BadRequest("Which page is meant? Open it from a run or from the review.")
        return cls(int(run), query["site"], int(visit))

    @property
    def fields(self) -> dict[str, object]:
        return {"run": self.run, "site": self.site, "visit": self.visit}

    @property
    def query(self) -> str:
        return urlencode(self.fields)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 12


NAME = "Wayhound studio"
SECTIONS = (
    ("/", "Overview"),
    ("/teach", "Teach"),
    ("/trails", "Trails"),
    ("/train", "Train"),
    ("/runs", "Runs"),
    ("/results", "Results"),
    ("/review", "Review"),
    ("/topics", "Topics"),
)


@dataclass
class Studio:
    """Shared by all routes. Each request opens the workspace for itself: threads share no connection."""

    folder: Path
    token: str
    pages: Pages
    background: Background

    @contextmanager
    def workspace(self) -> Iterator[Workspace]:
        """The workspace for one request; what it complains of becomes a sentence on a page."""
        try:
            with Workspace.open(self.folder) as workspace:
                yield workspace
        except WayhoundError as error:
            raise BadRequest(format_error(error, "studio")) from error

    def html(self, request: Request, template: str, *, section: str = "", **values: Any) -> Response:
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


def make_pages() -> Pages:
    pages = Pages("wayhound.studio", {"site_name": NAME})
    pages.add_filters(_FILTERS)
    return pages


def to(path: str, notice: str = "", **query: Any) -> RedirectResponse:
    """After a form: lead on to a page, with a word about what was done."""
    given = {name: value for name, value in query.items() if value not in ("", None)}
    given |= {"notice": notice} if notice else {}
    return RedirectResponse(path + (f"?{urlencode(given)}" if given else ""), 303)


def shown_time(seconds: float | None) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%-d %b %Y, %H:%M UTC") if seconds else "–"


def host_of(url: str) -> str:
    return url.removeprefix("https://").removeprefix("http://").split("/", 1)[0]


def now() -> float:
    return time.time()


_FILTERS: Mapping[str, Any] = {
    "time": shown_time,
    "host": host_of,
    "counted": count,
    "ending": lambda reason: format_ending(reason, "studio"),
    "quoted": lambda text: quote(text, safe=""),
    "percent": lambda share: f"{100 * share:.0f} %",
    "short": lambda text, most=80: text if len(text) <= most else text[: most - 1].rstrip() + "…",
}

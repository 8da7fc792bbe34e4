"""Error pages: one sentence, in HTML or JSON, never a traceback."""

from __future__ import annotations

import json
import logging
import math
import secrets
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Scope

from wayhound.errors import WayhoundError, WorkspaceLocked

log = logging.getLogger("wayhound.serve")

_SENTENCES = {
    400: "The request could not be understood.",
    404: "There is no such page. It may have moved, or the address may be mistyped.",
    405: "This address does not accept that kind of request.",
    413: "That is more data than this server accepts.",
    500: "Something went wrong on our side. It has been logged; please try again later.",
    503: "The collection is busy. Please try again in a moment.",
}


class WebError(Exception):
    """A request that cannot be answered; `sentence` is shown to the visitor."""

    status = 400

    def __init__(self, sentence: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence or _SENTENCES[self.status]
        self.headers: dict[str, str] = {}


class BadRequest(WebError):  # noqa: N818 - the name of the status
    """The request is not valid: the visitor has to change something."""


class NotFound(WebError):  # noqa: N818 - the name of the status
    """There is no such page."""

    status = 404


class TooMuch(WebError):  # noqa: N818 - the name of the status
    """The request body is too large."""

    status = 413


class TooManyRequests(WebError):  # noqa: N818 - the name of the status
    """The client exceeded its rate limit."""

    status = 429

    def __init__(self, wait_seconds: float) -> None:
        wait = math.ceil(wait_seconds)
        again = "a second" if wait == 1 else f"{wait} seconds" if wait < 120 else f"{wait // 60} minutes"
        super().__init__(f"You have sent many requests in a short time. Please try again in {again}.")
        self.headers = {"retry-after": str(wait)}


class _StatusError(WebError):
    """An error of any status."""

    def __init__(self, status: int, sentence: str = "") -> None:
        self.status = status
        super().__init__(sentence)


def error_response(scope: Scope, error: WebError) -> Response:
    """Return the error page, or a JSON object for paths that end in .json or .jsonl."""
    headers = {"cache-control": "no-store"} | error.headers
    if _wants_json(scope):
        body = json.dumps({"status": error.status, "error": error.sentence})
        return Response(body, error.status, headers, "application/json")
    return Response(_page(scope, error), error.status, headers, "text/html")


def _wants_json(scope: Scope) -> bool:
    return str(scope["path"]).endswith((".json", ".jsonl"))


def _page(scope: Scope, error: WebError) -> str:
    pages = scope["app"].state.pages
    title = HTTPStatus(error.status).phrase.capitalize()
    return str(pages.render("error.html", title=title, status=error.status, sentence=error.sentence))


def add_error_pages(app: FastAPI) -> None:
    """Turn every exception into an error page; unexpected ones are logged under a reference number."""
    app.add_exception_handler(WebError, _on_web_error)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_exception_handler(RequestValidationError, _on_invalid)
    app.add_exception_handler(WayhoundError, _on_fault)
    app.add_exception_handler(Exception, _on_fault)


async def _on_web_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, WebError)
    return error_response(request.scope, error)


async def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    shown = _StatusError(error.status_code if error.status_code in _SENTENCES else 400)
    shown.headers = dict(error.headers or {})
    return error_response(request.scope, shown)


async def _on_invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return error_response(request.scope, BadRequest(" ".join(map(_validation_message, error.errors()[:3]))))


def _validation_message(problem: dict[str, object]) -> str:
    location = problem.get("loc")
    name = str(location[-1]) if isinstance(location, tuple | list) and location else "The request"
    return f"{name}: {str(problem.get('msg', 'is not valid')).rstrip('.')}."


async def _on_fault(request: Request, error: Exception) -> Response:
    if isinstance(error, WorkspaceLocked):
        return error_response(request.scope, _StatusError(503))
    reference = secrets.token_hex(4)
    # The path without its query, which may hold what a visitor searched for.
    log.error("%s: %s failed", reference, request.scope["path"], exc_info=error)
    return error_response(request.scope, _StatusError(500, f"{_SENTENCES[500]} (Reference {reference}.)"))

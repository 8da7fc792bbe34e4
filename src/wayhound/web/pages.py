"""Responses as HTML, JSON or XML with an ETag, error pages, and static files under content digests.

An error page is one sentence, in HTML or JSON, never a traceback.
"""

from __future__ import annotations

import json
import logging
import math
import mimetypes
import re
import secrets
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from hashlib import blake2b
from http import HTTPStatus
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any
from xml.etree.ElementTree import Element, SubElement, tostring

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from pydantic import TypeAdapter
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope

from wayhound import __version__
from wayhound.errors import WayhoundError, WorkspaceLocked

log = logging.getLogger("wayhound.serve")

_SENTENCES = {
    400: "The request could not be understood.",
    404: "There is no such page. It may have moved, or the address may be mistyped.",
    405: "This address does not accept that kind of request.",
    415: "Only a form can be sent here.",
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


class NoForm(WebError):  # noqa: N818 - the name of the status
    """The request body is of another type than a form."""

    status = 415


class TooManyRequests(WebError):  # noqa: N818 - the name of the status
    """The client exceeded its rate limit."""

    status = 429

    def __init__(self, wait_seconds: float) -> None:
        wait, minutes = math.ceil(wait_seconds), math.ceil(wait_seconds / 60)
        again = "a second" if wait == 1 else f"{wait} seconds" if wait < 120 else f"{minutes} minutes"
        super().__init__(f"You have sent many requests in a short time. Please try again in {again}.")
        self.headers = {"retry-after": str(wait)}


class Busy(WebError):  # noqa: N818 - the name of the status
    """The server has too much to do at the moment."""

    status = 503

    def __init__(self, wait_seconds: int) -> None:
        super().__init__()
        self.headers = {"retry-after": str(wait_seconds)}


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
    if error.status_code == 405:
        shown.headers["Allow"] = ", ".join(_allowed_methods(request))
    return error_response(request.scope, shown)


def _allowed_methods(request: Request) -> list[str]:
    """Return the methods of all routes at an address: the first one alone does not know those of the others."""

    def is_allowed(method: str) -> bool:
        scope = {**request.scope, "method": method}
        return any(route.matches(scope)[0] is Match.FULL for route in request.app.routes)

    return [method for method in ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT") if is_allowed(method)]


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


FOREVER = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A static file and the digest of its content."""

    name: str
    body: bytes
    digest: str

    @property
    def url(self) -> str:
        return f"/static/{self.digest}/{self.name}"

    @property
    def media_type(self) -> str:
        return mimetypes.guess_type(self.name)[0] or "application/octet-stream"


class StaticFiles:
    """All files of some folders, read once. Of two files with the same name, the one in the later folder wins."""

    def __init__(self, folders: Iterable[Traversable]) -> None:
        files = (file for folder in folders for file in folder.iterdir() if file.is_file())
        self._files = {file.name: _read(file) for file in files}

    def url(self, name: str) -> str:
        return self._files[name].url

    def answer(self, digest: str, name: str) -> Response:
        """Return the file, cacheable forever only under its current digest. Raises NotFound."""
        file = self._files.get(name)
        if file is None:
            raise NotFound
        caching = FOREVER if digest == file.digest else "no-cache"
        return Response(file.body, headers={"cache-control": caching}, media_type=file.media_type)


def _read(file: Traversable) -> StaticFile:
    body = file.read_bytes()
    return StaticFile(file.name, body, blake2b(body, digest_size=6).hexdigest())


def add_static_files(app: FastAPI, files: StaticFiles) -> None:
    async def static(digest: str, name: str) -> Response:
        return files.answer(digest, name)

    app.add_api_route("/static/{digest}/{name}", static, methods=["GET"], include_in_schema=False)


_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def add(parent: Element, tag: str, text: str = "", **attributes: str) -> Element:
    """Add a child element. A trailing `_` of an attribute name is dropped (`class_`)."""
    named = {name.rstrip("_"): legal(value) for name, value in attributes.items()}
    child = SubElement(parent, tag, named)
    if text:
        child.text = legal(text)
    return child


def legal(text: str) -> str:
    """Replace characters that XML 1.0 does not allow."""
    return _ILLEGAL.sub("\ufffd", text)


def document(root: Element) -> bytes:
    return ('<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode")).encode()


@dataclass(frozen=True, slots=True)
class RenderedPage:
    """A page as it is sent, and its ETag."""

    body: bytes
    content_type: str
    tag: str
    disposition: str = ""  # a name for who saves it

    def answer(
        self, request: Request, status: int = 200, headers: Mapping[str, str] | None = None
    ) -> Response:
        """Return a response, or 304 without a body if the client has the page already."""
        sent = {"etag": self.tag, "cache-control": REVALIDATE, "vary": "accept", **(headers or {})}
        if self.disposition:
            sent["content-disposition"] = self.disposition
        if status == 200 and self.is_named_in(request.headers.get("if-none-match", "").encode("latin-1")):
            return Response(status_code=304, headers=sent)
        return Response(self.body, status, sent | {"content-type": self.content_type})

    def headers(self, *, with_body: bool) -> list[tuple[bytes, bytes]]:
        """Return the headers of the same response as the server sends them."""
        usual = [(b"etag", self.tag.encode()), *_PAGE_HEADERS]
        if self.disposition:
            usual.append((b"content-disposition", self.disposition.encode()))
        if with_body:
            usual.append((b"content-length", str(len(self.body)).encode()))
            usual.append((b"content-type", self.content_type.encode()))
        return usual

    def is_named_in(self, if_none_match: bytes) -> bool:
        """Return True if the value of `If-None-Match` names the tag, weak or strong."""
        if not if_none_match:
            return False
        names = (name.strip().removeprefix("W/") for name in if_none_match.decode("latin-1").split(","))
        return if_none_match.strip() == b"*" or self.tag in names


BASE = "wayhound.web"
HTML = "text/html; charset=utf-8"
REVALIDATE = "no-cache"
"""Cache-Control for pages: cache them, but revalidate each time."""

_PAGE_HEADERS = ((b"cache-control", REVALIDATE.encode()), (b"vary", b"accept"))

_adapters: dict[type, TypeAdapter[Any]] = {}  # making one costs milliseconds


class _Environment(Environment):
    """Gives every template its globals in one dict: jinja's chain of two is looked through for each page."""

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        return {**self.globals, **(d or {})}


class Pages:
    """The templates and static files of one server, on top of the shared ones; values are always escaped."""

    def __init__(self, package: str, shared: Mapping[str, Any]) -> None:
        """`package` holds the folders `templates` and `static`; `shared` are globals of every template."""
        folders = [resources.files(name) / "static" for name in (BASE, package)]
        self.static = StaticFiles(folders)
        self._environment = _Environment(
            loader=ChoiceLoader([PackageLoader(package), PackageLoader(BASE)]),
            autoescape=True,
            auto_reload=False,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals.update(shared)
        # The address of a file is a filter, so that it is put into a template when that is compiled.
        self._environment.filters["static"] = self.static.url

    def add_filters(self, filters: Mapping[str, Callable[..., Any]]) -> None:
        self._environment.filters.update(filters)

    def compile(self) -> None:
        """Compile every template, which the first visitors would otherwise wait for: up to 30 ms."""
        for name in self._environment.list_templates():
            self._environment.get_template(name)

    def render(self, template: str, **values: Any) -> str:
        return self._environment.get_template(template).render(**values)

    def html(
        self, request: Request, template: str, *, etag_of: object = None, status: int = 200, **values: Any
    ) -> Response:
        return self.rendered(template, etag_of=etag_of, **values).answer(request, status)

    def rendered(self, template: str, *, etag_of: object = None, **values: Any) -> RenderedPage:
        """Return a page. Its ETag is computed from `etag_of` if given, else from the page itself.

        `etag_of` is for pages whose markup varies while what they say does not.
        """
        body = self.render(template, **values).encode("utf-8", "replace")
        return RenderedPage(body, HTML, _tag(body if etag_of is None else _seed(etag_of)))


def answer(
    request: Request, body: bytes, content_type: str, *, seed: bytes | None = None, status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:  # fmt: skip
    """Return a response with an ETag, or 304 without a body if the client has it already."""
    page = RenderedPage(body, content_type, _tag(body if seed is None else seed))
    return page.answer(request, status, headers)


def rendered_file(body: bytes, content_type: str, name: str) -> RenderedPage:
    """Return something to be shown, or saved under a name."""
    return RenderedPage(body, content_type, _tag(body), f'inline; filename="{name}"')


def _tag(seed: bytes) -> str:
    return f'"{blake2b(seed, digest_size=12).hexdigest()}"'


def json_answer(request: Request, view: Any, *, etag_of: object = None) -> Response:
    """Return the dataclass that a page was rendered from as JSON."""
    return rendered_json(view, etag_of=etag_of).answer(request)


def rendered_json(view: Any, *, etag_of: object = None) -> RenderedPage:
    if type(view) not in _adapters:
        _adapters[type(view)] = TypeAdapter(type(view))
    body = _adapters[type(view)].dump_json(view)
    return RenderedPage(body, "application/json", _tag(body if etag_of is None else _seed(etag_of)))


def _seed(etag_of: object) -> bytes:
    """Include the version: another release may render the same data differently."""
    return repr((__version__, etag_of)).encode("utf-8", "replace")

"""What visitors send in: sites and papers, removal requests, corrections. All of it waits for the operator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal
from urllib.parse import quote, urlsplit

import fastapi
from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from wayhound.app.papers.corrections import KIND
from wayhound.app.papers.works import CITED_ONLY
from wayhound.errors import UsageError
from wayhound.net.guard import Guard
from wayhound.portal.addresses import from_key, record_url
from wayhound.portal.library import Library
from wayhound.portal.portal import Portal, now
from wayhound.portal.record_pages import Key, Kind, find_record
from wayhound.record import Record
from wayhound.store.submissions import Submission, SubmissionKind
from wayhound.url import normalise
from wayhound.web.errors import NotFound, TooManyRequests
from wayhound.web.limits import client_of

LONGEST = {"text": 500, "url": 2000, "area": 10_000, "choice": 200, "hidden": 200}
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class FormField:
    """Something that is asked. Of a choice, `options` are the values with what people read.

    What is hidden was chosen before; it must be an option all the same.
    """

    name: str
    label: str
    kind: Literal["text", "url", "area", "choice", "hidden"] = "text"
    hint: str = ""
    value: str = ""
    options: tuple[tuple[str, str], ...] = ()
    required: bool = False


@dataclass(frozen=True, slots=True)
class Switch:
    """A link to another form of the same sort."""

    label: str
    url: str
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """A form with its values. `error` is the sentence that tells what to change."""

    title: str
    about: str
    action: str
    fields: tuple[FormField, ...]
    button: str = "Send"
    error: str = ""
    switches: tuple[Switch, ...] = ()

    def filled(self, typed: Mapping[str, str]) -> Form:
        """The same with what was typed; what is too long or no option is told."""
        fields = tuple(
            replace(field, value=typed.get(field.name, field.value).strip()) for field in self.fields
        )
        complaint = next((said for field in fields if (said := _complaint(field))), "")
        return replace(self, fields=fields, error=complaint)

    def refused(self, error: str) -> Form:
        return replace(self, error=error)

    def __getitem__(self, name: str) -> str:
        return next(field.value for field in self.fields if field.name == name)


def _complaint(field: FormField) -> str:
    if field.required and not field.value:
        return f"Please fill in: {field.label}."
    if len(field.value) > LONGEST[field.kind]:
        return f"{field.label} is too long: at most {LONGEST[field.kind]:,} characters."
    if field.options and field.value not in dict(field.options):
        return f"Please choose one of what is offered for: {field.label}."
    if not "".join(field.value.split()).isprintable():
        return f"{field.label} holds characters that cannot be printed."
    return ""


def public_url(text: str, guard: Guard) -> tuple[str, str]:
    """The address in normal form, or "" and why it is not taken. Nothing is looked up and nothing is fetched."""
    typed = text if "://" in text else f"https://{text}"
    url = normalise(typed)
    parts = urlsplit(url)
    if not url or not parts.hostname:
        return "", "This is not the address of a web page, such as https://example.org/papers"
    refusal = guard.refusal(parts.hostname, parts.port or _PORTS[parts.scheme])
    if refusal:
        return "", f"This address cannot be visited: {refusal.detail}."
    if "." not in parts.hostname and ":" not in parts.hostname and not guard.allow_private:
        return "", "This address cannot be visited: it has no public name."
    return url, ""


_EMPTY = "One value a line. Leave it empty if there should be none."
_WHEN = (
    "Corrections are shown once the operator has agreed, and the programs that read papers learn from them."
)
_NOTE = FormField("note", "Anything else we should know (not needed)", "area")
_CONTACT = FormField(
    "contact",
    "How we can reach you (not needed)",
    hint="A mail address, if you want an answer. Nobody else sees it.",
)
SUBMIT = Form(
    "Submit a paper or a site",
    "Tell us of a paper, or of a site that holds some. The operator looks at it before anything is visited.",
    "/submit",
    (
        FormField("kind", "What is it?", "choice", value="paper",
                  options=(("paper", "A paper"), ("site", "A site with papers")), required=True),
        FormField("url", "Address", "url", "Such as https://example.org/papers/lind1999.pdf", required=True),
        _NOTE,
        _CONTACT,
    ),
)  # fmt: skip
REMOVE = Form(
    "Ask for removal",
    "If you have a right to what is shown here and want it taken out, tell us its address: of its page here, or of the "
    "original, or of your site. The operator decides; what was taken out does not come back.",
    "/remove",
    (
        FormField("url", "Address", "url", required=True),
        FormField("note", "Why it should be removed", "area", required=True),
        _CONTACT,
    ),
)


_FACTS = frozenset({"file", "file_type", "page_count", "remark", "reason"})
"""Fields that nobody read, and nobody can correct."""

_FILES = ("paper", "document")
"""Kinds of records that are read from files, and may be taken for each other."""


@dataclass(frozen=True, slots=True)
class Status:
    """How a submission stands, as its sender sees it."""

    kind: str
    what: str
    state: str
    reply: str
    sent: float
    decided: float | None


def status_of(library: Library, token: str) -> Status:
    found = library.submissions.by_token(token)
    if found is None:
        raise NotFound("There is no such submission.")
    what = found.url or f"{found.field} of {found.record_id}"
    return Status(found.kind, what, found.state, found.reply, found.at, found.decided_at)


def correction_form(library: Library, record: Record, field: str = "") -> Form:
    """For one field, with its values as they are, and links to the forms of the others."""
    spec = library.spec(record.kind)
    known = dict.fromkeys((*(each.name for each in spec.fields), *record.fields))
    names = [name for name in known if name not in _FACTS]
    if record.kind in _FILES:
        names.append(KIND)
    chosen = field if field in names else spec.title or names[0]
    values = "\n".join(_values(record, chosen))
    action = f"{record_url(record.kind, record.id)}/correct"
    options = tuple((name, spec.field(name).shown) for name in names)
    hint = " or ".join(_FILES) if chosen == KIND else _EMPTY
    asked = FormField("texts", spec.field(chosen).shown, "area", hint, values, required=False)
    return Form(
        "Correct a record",
        f"What should be different about “{library.title(record)}”? {_WHEN}",
        action,
        (FormField("field", "Field", "hidden", value=chosen, options=options), asked, _NOTE, _CONTACT),
        switches=tuple(
            Switch(label, f"{action}?field={quote(name)}", name == chosen) for name, label in options
        ),
    )


def _values(record: Record, field: str) -> tuple[str, ...]:
    return (record.kind,) if field == KIND else tuple(value.text for value in record.fields.get(field, ()))


def record_at(library: Library, url: str, base_url: str) -> Record | None:
    """The record whose page here has this address."""
    parts = urlsplit(url)
    words = parts.path.strip("/").split("/")
    here = not parts.netloc or parts.netloc == urlsplit(base_url).netloc
    if not here or len(words) < 3 or words[0] != "records":
        return None
    kind, record_id = from_key(words[1]), from_key(words[2])
    return library.records.get(kind, record_id) if kind and record_id else None


class Desk:
    """Takes filled-in forms and keeps them, or tells what is wrong."""

    def __init__(self, portal: Portal) -> None:
        self._portal = portal
        self._guard = Guard(allow_private=portal.settings.allow_private)

    def submitted(self, form: Form) -> Submission | Form:
        url, error = public_url(form["url"], self._guard)
        if error:
            return form.refused(error)
        kind: SubmissionKind = "site" if form["kind"] == "site" else "paper"
        return Submission(kind, url, note=form["note"], contact=form["contact"])

    def removal(self, form: Form, record: Record | None) -> Submission | Form:
        if record is not None:
            url, kind, record_id = record_url(record.kind, record.id), record.kind, record.id
            return Submission("removal", url, kind, record_id, note=form["note"], contact=form["contact"])
        url, error = public_url(
            form["url"], Guard(allow_private=True)
        )  # it is only looked for, never visited
        if error:
            return form.refused(error)
        return Submission("removal", url, note=form["note"], contact=form["contact"])

    def correction(self, form: Form, record: Record) -> Submission | Form:
        texts = tuple(line.strip() for line in form["texts"].splitlines() if line.strip())
        if texts == _values(record, form["field"]):
            return form.refused("That is what stands there already.")
        if form["field"] == KIND and texts not in {(kind,) for kind in _FILES}:
            return form.refused(f"It can be a {' or a '.join(_FILES)}.")
        return Submission(
            "correction", "", record.kind, record.id, form["field"], texts, form["note"], form["contact"]
        )

    async def answer(self, request: Request, taken: Submission | Form) -> Response:
        """Keep it and lead to its status page; or show the form again, with what is wrong."""
        if isinstance(taken, Form):
            return self._portal.html(request, "form.html", taken, status=400)
        if wait := self._portal.submitting.wait_seconds(client_of(request.scope)):
            raise TooManyRequests(wait)
        try:
            token = await self._portal.readers.ask(lambda library: library.submissions.add(taken, now()))
        except UsageError as error:
            return self._portal.html(request, "form.html", SUBMIT.refused(str(error)), status=400)
        return RedirectResponse(f"/submissions/{token}", 303)


Token = Annotated[str, Path(max_length=100)]
FieldName = Annotated[str, Query(max_length=200)]
_POSTED: dict[str, Any] = {
    "response_class": RedirectResponse,
    "status_code": 303,
    "responses": {400: {"description": "What is wrong stands in the form.", "content": {"text/html": {}}}},
}
Typed = Annotated[str, fastapi.Form(max_length=20_000)]


def submit_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["submissions"])
    desk = Desk(portal)
    _add_form(router, portal, "/submit", SUBMIT)
    _add_form(router, portal, "/remove", REMOVE)
    _add_status(router, portal)
    _add_corrections(router, portal, desk)

    @router.post("/submit", **_POSTED)
    async def send_submission(
        request: Request, kind: Typed = "", url: Typed = "", note: Typed = "", contact: Typed = ""
    ) -> Response:
        form = SUBMIT.filled({"kind": kind, "url": url, "note": note, "contact": contact})
        return await desk.answer(request, form if form.error else desk.submitted(form))

    @router.post("/remove", **_POSTED)
    async def send_removal(
        request: Request, url: Typed = "", note: Typed = "", contact: Typed = ""
    ) -> Response:
        form = REMOVE.filled({"url": url, "note": note, "contact": contact})
        base_url = portal.base_url(request)
        record = await portal.readers.ask(lambda library: record_at(library, form["url"], base_url))
        return await desk.answer(request, form if form.error else desk.removal(form, record))

    return router


def _add_form(router: APIRouter, portal: Portal, path: str, form: Form) -> None:
    name = path.strip("/")

    async def shown(request: Request, url: Annotated[str, Query(max_length=2000)] = "") -> Response:
        view = replace(form, fields=tuple(_with_url(field, url) for field in form.fields))
        return portal.html(request, "form.html", view, json_url=f"{path}.json")

    async def as_json(request: Request) -> Response:
        return portal.json(request, form)

    router.add_api_route(path, shown, name=f"{name}_form", response_class=HTMLResponse)
    router.add_api_route(f"{path}.json", as_json, name=f"{name}_form_json", response_model=Form)


def _with_url(field: FormField, url: str) -> FormField:
    return replace(field, value=url) if field.name == "url" else field


def _add_status(router: APIRouter, portal: Portal) -> None:
    @router.get("/submissions/{token}.json", response_model=Status)
    async def status_json(request: Request, token: Token) -> Response:
        return portal.json(request, await portal.readers.ask(lambda library: status_of(library, token)))

    @router.get("/submissions/{token}", response_class=HTMLResponse)
    async def status(request: Request, token: Token) -> Response:
        view = await portal.readers.ask(lambda library: status_of(library, token))
        return portal.html(request, "status.html", view, json_url=f"/submissions/{token}.json")


def _add_corrections(router: APIRouter, portal: Portal, desk: Desk) -> None:
    def form_of(library: Library, kind: str, key: str, field: str) -> tuple[Form, Record]:
        record = find_record(library, kind, key)
        if record.kind == CITED_ONLY:
            raise NotFound("What others say of a work is corrected in the papers that cite it.")
        return correction_form(library, record, field), record

    @router.get("/records/{kind}/{key}/correct.json", response_model=Form)
    async def correct_json(request: Request, kind: Kind, key: Key, field: FieldName = "") -> Response:
        form, _ = await portal.readers.ask(lambda library: form_of(library, kind, key, field))
        return portal.json(request, form)

    @router.get("/records/{kind}/{key}/correct", response_class=HTMLResponse)
    async def correct(request: Request, kind: Kind, key: Key, field: FieldName = "") -> Response:
        form, _ = await portal.readers.ask(lambda library: form_of(library, kind, key, field))
        return portal.html(request, "form.html", form, json_url=f"{form.action}.json")

    @router.post("/records/{kind}/{key}/correct", **_POSTED)
    async def send_correction(
        request: Request, kind: Kind, key: Key, field: Typed = "", texts: Typed = "", note: Typed = "",
        contact: Typed = "",
    ) -> Response:  # fmt: skip
        empty, record = await portal.readers.ask(lambda library: form_of(library, kind, key, field))
        form = empty.filled({"field": field, "texts": texts, "note": note, "contact": contact})
        return await desk.answer(request, form if form.error else desk.correction(form, record))

"""Submissions of visitors: sites and papers, removal requests, corrections. All of them wait for the operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from wayhound.portal.portal import Key, Kind, Portal, now
from wayhound.record import Record
from wayhound.store.submissions import Submission, SubmissionKind
from wayhound.url import normalise
from wayhound.web.guards import client_of
from wayhound.web.pages import NoForm, NotFound, TooManyRequests

LONGEST = {"text": 500, "url": 2000, "area": 10_000, "choice": 200, "hidden": 200}
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class FormField:
    """A field of a form. Of a choice, `options` are the values with what people read.

    A hidden field was chosen before; its value must be an option all the same.
    """

    name: str
    label: str
    kind: Literal["text", "url", "area", "choice", "hidden"] = "text"
    hint: str = ""
    value: str = ""
    options: tuple[tuple[str, str], ...] = ()
    required: bool = False


@dataclass(frozen=True, slots=True)
class FormSwitch:
    """A link to the same form for another field."""

    label: str
    url: str
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class SubmissionForm:
    """A form with its values. `error` is a message that says what to change."""

    title: str
    about: str
    action: str
    fields: tuple[FormField, ...]
    button: str = "Send"
    error: str = ""
    switches: tuple[FormSwitch, ...] = ()

    def filled(self, typed: Mapping[str, str]) -> SubmissionForm:
        """Return the form with what was typed, and an error for a value that is too long or not an option."""
        fields = tuple(
            replace(field, value=typed.get(field.name, field.value).strip()) for field in self.fields
        )
        error = next((message for field in fields if (message := _error_in(field))), "")
        return replace(self, fields=fields, error=error)

    def with_error(self, error: str) -> SubmissionForm:
        return replace(self, error=error)

    def __getitem__(self, name: str) -> str:
        return next(field.value for field in self.fields if field.name == name)


def _error_in(field: FormField) -> str:
    if field.required and not field.value:
        return f"Please fill in: {field.label}."
    if len(field.value) > LONGEST[field.kind]:
        return f"{field.label} is too long: at most {LONGEST[field.kind]:,} characters."
    if field.options and field.value not in dict(field.options):
        return f"Please choose one of the options of: {field.label}."
    if not "".join(field.value.split()).isprintable():
        return f"{field.label} holds characters that cannot be printed."
    return ""


def public_url(text: str, guard: Guard) -> tuple[str, str]:
    """Return the normalised address, or an empty one and the reason. Nothing is resolved or fetched."""
    typed = text if "://" in text else f"https://{text}"
    url = normalise(typed)
    parts = urlsplit(url)
    if not url or not parts.hostname:
        return "", "This is not a web address such as https://example.org/papers"
    refusal = guard.refusal(parts.hostname, parts.port or _PORTS[parts.scheme])
    if refusal:
        return "", f"This address cannot be visited: {refusal.detail}."
    if "." not in parts.hostname and ":" not in parts.hostname and not guard.allow_private:
        return "", "This address cannot be visited: it has no public name."
    return url, ""


_EMPTY = "One value per line. Leave it empty if there should be none."
_WHEN = "Corrections are shown once the operator has approved them."
_LEARNED = " The programs that read papers learn from them."
_NOTE = FormField("note", "Anything else we should know (optional)", "area")
_CONTACT = FormField(
    "contact",
    "How we can reach you (optional)",
    hint="An email address, if you want an answer. Only the operator sees it.",
)
SUBMIT = SubmissionForm(
    "Submit a paper or a site",
    "Tell us about a paper, or a site that has some. The operator looks at it before anything is visited.",
    "/submit",
    (
        FormField("kind", "What is it?", "choice", value="paper",
                  options=(("paper", "A paper"), ("site", "A site with papers")), required=True),
        FormField("url", "Address", "url", "Such as https://example.org/papers/lind1999.pdf", required=True),
        _NOTE,
        _CONTACT,
    ),
)  # fmt: skip
SUBMIT_SITE = SubmissionForm(
    "Submit a site",
    "Tell us about a site that should be in this collection. The operator looks at it before anything is visited.",
    "/submit",
    (
        FormField("kind", "What is it?", "hidden", value="site", options=(("site", "A site"),)),
        FormField("url", "Address", "url", "Such as https://example.org/", required=True),
        _NOTE,
        _CONTACT,
    ),
)
REMOVE = SubmissionForm(
    "Ask for removal",
    "If you have rights to something here and want it removed, tell us its address: that of its page here, of the "
    "original, or of your site. The operator decides. What was removed does not come back.",
    "/remove",
    (
        FormField("url", "Address", "url", required=True),
        FormField("note", "Why it should be removed", "area", required=True),
        _CONTACT,
    ),
)


_FILES = ("paper", "document")
"""Kinds of records that are read from files, and may be mistaken for each other."""


@dataclass(frozen=True, slots=True)
class SubmissionStatus:
    """The state of a submission as its sender sees it."""

    kind: str
    what: str
    state: str
    reply: str
    sent: float
    decided: float | None


def status_of(library: Library, token: str) -> SubmissionStatus:
    submission = library.submission(token)
    if submission is None:
        raise NotFound("There is no such submission.")
    what = submission.url or f"{submission.field} of {submission.record_id}"
    return SubmissionStatus(
        submission.kind, what, submission.state, submission.reply, submission.at, submission.decided_at
    )


def submit_form(library: Library) -> SubmissionForm:
    """Return the form for sites and papers; a collection of pages alone takes no papers."""
    kinds = library.counts()
    return SUBMIT if "paper" in kinds or not kinds else SUBMIT_SITE


def correction_form(library: Library, record: Record, field: str = "") -> SubmissionForm:
    """Return a form for one field with its values, and links to the forms of the others."""
    spec = library.spec(record.kind)
    all_names = dict.fromkeys((*(declared.name for declared in spec.fields), *record.fields))
    names = [name for name in all_names if not spec.field(name).fact]
    if record.kind in _FILES:
        names.append(KIND)
    chosen = field if field in names else spec.title or names[0]
    values = "\n".join(_values(record, chosen))
    action = f"{record_url(record.kind, record.id)}/correct"
    options = tuple((name, spec.field(name).shown) for name in names)
    hint = " or ".join(_FILES) if chosen == KIND else _EMPTY
    texts = FormField("texts", spec.field(chosen).shown, "area", hint, values, required=False)
    when = _WHEN + (_LEARNED if record.kind in _FILES else "")
    return SubmissionForm(
        "Correct a record",
        f"What should be different about “{library.title(record)}”? {when}",
        action,
        (FormField("field", "Field", "hidden", value=chosen, options=options), texts, _NOTE, _CONTACT),
        switches=tuple(
            FormSwitch(label, f"{action}?field={quote(name)}", name == chosen) for name, label in options
        ),
    )


def _values(record: Record, field: str) -> tuple[str, ...]:
    return (record.kind,) if field == KIND else tuple(value.text for value in record.fields.get(field, ()))


def record_at(library: Library, url: str, base_url: str) -> Record | None:
    """Return the record whose page on this portal has the address."""
    parts = urlsplit(url)
    words = parts.path.strip("/").split("/")
    here = not parts.netloc or parts.netloc == urlsplit(base_url).netloc
    if not here or len(words) < 3 or words[0] != "records":
        return None
    kind, record_id = from_key(words[1]), from_key(words[2])
    return library.stores.records.get(kind, record_id) if kind and record_id else None


class SubmissionDesk:
    """Turns filled-in forms into submissions, or returns them with an error."""

    def __init__(self, portal: Portal) -> None:
        self._portal = portal
        self._guard = Guard(allow_private=portal.settings.allow_private)

    def submitted(self, form: SubmissionForm) -> Submission | SubmissionForm:
        url, error = public_url(form["url"], self._guard)
        if error:
            return form.with_error(error)
        kind: SubmissionKind = "site" if form["kind"] == "site" else "paper"
        return Submission(kind, url, note=form["note"], contact=form["contact"])

    def removal(self, form: SubmissionForm, record: Record | None) -> Submission | SubmissionForm:
        if record is not None:
            url, kind, record_id = record_url(record.kind, record.id), record.kind, record.id
            return Submission("removal", url, kind, record_id, note=form["note"], contact=form["contact"])
        url, error = public_url(
            form["url"], Guard(allow_private=True)
        )  # it is only looked up in the collection, never visited
        if error:
            return form.with_error(error)
        return Submission("removal", url, note=form["note"], contact=form["contact"])

    def correction(self, form: SubmissionForm, record: Record) -> Submission | SubmissionForm:
        texts = tuple(line.strip() for line in form["texts"].splitlines() if line.strip())
        if texts == _values(record, form["field"]):
            return form.with_error("The record says that already.")
        if form["field"] == KIND and texts not in {(kind,) for kind in _FILES}:
            return form.with_error(f"It can be a {' or a '.join(_FILES)}.")
        return Submission(
            "correction",
            record_kind=record.kind,
            record_id=record.id,
            field=form["field"],
            texts=texts,
            note=form["note"],
            contact=form["contact"],
        )

    async def answer(self, request: Request, taken: Submission | SubmissionForm) -> Response:
        """Save a submission and redirect to its status page; or show the form again with its error."""
        if isinstance(taken, SubmissionForm):
            return self._portal.html(request, "form.html", taken, status=400)
        if wait := self._portal.submitting.wait_seconds(client_of(request.scope)):
            raise TooManyRequests(wait)
        try:
            token = await self._portal.readers.run(lambda library: library.submit(taken, now()))
        except UsageError as error:
            return self._portal.html(request, "form.html", SUBMIT.with_error(str(error)), status=400)
        return RedirectResponse(f"/submissions/{token}", 303)


Token = Annotated[str, Path(max_length=100)]
FieldName = Annotated[str, Query(max_length=200)]
_FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")


def _check_type(request: Request) -> None:
    """Refuse a body that is no form: its fields would be taken for empty ones. Raises NoForm."""
    media = request.headers.get("content-type", _FORM_TYPES[0]).partition(";")[0].strip().lower()
    if media not in _FORM_TYPES:
        raise NoForm


_POSTED: dict[str, Any] = {
    "dependencies": [fastapi.Depends(_check_type)],
    "response_class": RedirectResponse,
    "status_code": 303,
    "responses": {400: {"description": "The form, with what is wrong.", "content": {"text/html": {}}}},
}
Typed = Annotated[str, fastapi.Form(max_length=20_000)]


def submit_routes(portal: Portal) -> APIRouter:
    router = APIRouter(tags=["submissions"])
    desk = SubmissionDesk(portal)
    _add_form(router, portal, "/submit", submit_form)
    _add_form(router, portal, "/remove", lambda _: REMOVE)
    _add_status(router, portal)
    _add_corrections(router, portal, desk)

    @router.post("/submit", **_POSTED)
    async def send_submission(
        request: Request, kind: Typed = "", url: Typed = "", note: Typed = "", contact: Typed = ""
    ) -> Response:
        empty = await portal.readers.run(submit_form)
        form = empty.filled({"kind": kind, "url": url, "note": note, "contact": contact})
        return await desk.answer(request, form if form.error else desk.submitted(form))

    @router.post("/remove", **_POSTED)
    async def send_removal(
        request: Request, url: Typed = "", note: Typed = "", contact: Typed = ""
    ) -> Response:
        form = REMOVE.filled({"url": url, "note": note, "contact": contact})
        base_url = portal.base_url(request)
        record = await portal.readers.run(lambda library: record_at(library, form["url"], base_url))
        return await desk.answer(request, form if form.error else desk.removal(form, record))

    return router


def _add_form(
    router: APIRouter, portal: Portal, path: str, form_for: Callable[[Library], SubmissionForm]
) -> None:
    name = path.strip("/")

    async def shown(request: Request, url: Annotated[str, Query(max_length=2000)] = "") -> Response:
        form = await portal.readers.run(form_for)
        view = replace(form, fields=tuple(_with_url(field, url) for field in form.fields))
        return portal.html(request, "form.html", view, json_url=f"{path}.json")

    async def as_json(request: Request) -> Response:
        return portal.json(request, await portal.readers.run(form_for))

    router.add_api_route(path, shown, name=f"{name}_form", response_class=HTMLResponse)
    router.add_api_route(f"{path}.json", as_json, name=f"{name}_form_json", response_model=SubmissionForm)


def _with_url(field: FormField, url: str) -> FormField:
    return replace(field, value=url) if field.name == "url" else field


def _add_status(router: APIRouter, portal: Portal) -> None:
    @router.get("/submissions/{token}.json", response_model=SubmissionStatus)
    async def status_json(request: Request, token: Token) -> Response:
        return portal.json(request, await portal.readers.run(lambda library: status_of(library, token)))

    @router.get("/submissions/{token}", response_class=HTMLResponse)
    async def status(request: Request, token: Token) -> Response:
        view = await portal.readers.run(lambda library: status_of(library, token))
        return portal.html(request, "status.html", view, json_url=f"/submissions/{token}.json")


def _add_corrections(router: APIRouter, portal: Portal, desk: SubmissionDesk) -> None:
    def form_of(library: Library, kind: str, key: str, field: str) -> tuple[SubmissionForm, Record]:
        record = library.at(kind, key)
        if record.kind == CITED_ONLY:
            raise NotFound("A work that is only cited is corrected in the papers that cite it.")
        return correction_form(library, record, field), record

    @router.get("/records/{kind}/{key}/correct.json", response_model=SubmissionForm)
    async def correct_json(request: Request, kind: Kind, key: Key, field: FieldName = "") -> Response:
        form, _ = await portal.readers.run(lambda library: form_of(library, kind, key, field))
        return portal.json(request, form)

    @router.get("/records/{kind}/{key}/correct", response_class=HTMLResponse)
    async def correct(request: Request, kind: Kind, key: Key, field: FieldName = "") -> Response:
        form, _ = await portal.readers.run(lambda library: form_of(library, kind, key, field))
        return portal.html(request, "form.html", form, json_url=f"{form.action}.json")

    @router.post("/records/{kind}/{key}/correct", **_POSTED)
    async def send_correction(
        request: Request, kind: Kind, key: Key, field: Typed = "", texts: Typed = "", note: Typed = "",
        contact: Typed = "",
    ) -> Response:  # fmt: skip
        empty, record = await portal.readers.run(lambda library: form_of(library, kind, key, field))
        form = empty.filled({"field": field, "texts": texts, "note": note, "contact": contact})
        return await desk.answer(request, form if form.error else desk.correction(form, record))

"""Facts: a table to correct, merge and split, and pages to mark values on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from wayhound.app.facts.review import (
    MarkedLine,
    correct_fact,
    mark_value,
    marked_page,
    merge_entities,
    split_entity,
)
from wayhound.app.facts.search import CONTACT, Wanted, fact_kinds, parse_wanted
from wayhound.app.facts.tables import FactRow, fact_rows
from wayhound.store.jobs import Job
from wayhound.studio.studio import Studio, read_form, to
from wayhound.studio.tables import Paging, csv_text, download, requested_page
from wayhound.wording.facts import format_row
from wayhound.workspace import Workspace

ON_A_PAGE = 50
SEPARATOR = "; "


@dataclass(frozen=True, slots=True)
class ShownRow:
    key: str
    site: str
    status: str
    cells: tuple[tuple[str, str, str], ...]  # field, values, and where they were read
    others: tuple[str, ...] = ()  # rows that are of the same entity


@dataclass(frozen=True, slots=True)
class FactView:
    chosen: str
    kinds: tuple[str, ...]
    columns: tuple[str, ...]  # the names of the fields, for people
    rows: tuple[ShownRow, ...]
    paging: Paging
    job: Job | None
    has_pages: bool  # there are archived pages to read facts from


@dataclass(frozen=True, slots=True)
class MarkingView:
    """A page with its facts in their places, to mark values on."""

    chosen: str
    site: str
    url: str
    title: str
    fields: tuple[str, ...]
    lines: tuple[MarkedLine, ...]
    taught: tuple[tuple[str, str], ...]


def fact_view(workspace: Workspace, chosen: str, page: int) -> FactView:
    wanted = parse_wanted(workspace, chosen)
    rows = fact_rows(workspace, wanted)
    paging = Paging.of(page, len(rows), ON_A_PAGE)
    fields = tuple(dict.fromkeys(("name", *wanted.fields)))
    shown = tuple(
        replace(
            _shown(row, fields, wanted), others=workspace.stores.facts.companions(wanted.kind.kind, row.key)
        )
        for row in rows[paging.first : paging.first + ON_A_PAGE]
    )
    return FactView(
        chosen=chosen,
        kinds=(CONTACT, *sorted(fact_kinds(workspace))),
        columns=tuple(wanted.kind.field(name).shown for name in fields),
        rows=shown,
        paging=paging,
        job=workspace.stores.jobs.last("facts"),
        has_pages=bool(workspace.stores.forage.runs()),
    )


def _shown(row: FactRow, fields: Sequence[str], wanted: Wanted) -> ShownRow:
    cells = tuple(
        (name, SEPARATOR.join(row.texts(name)), next((c.url for c in row.values.get(name, ()) if c.url), ""))
        for name in fields
    )
    return ShownRow(row.key, row.site, format_row(row, wanted.fields), cells)


def fact_routes(studio: Studio) -> APIRouter:
    router = APIRouter()

    @router.get("/facts", response_class=HTMLResponse)
    def facts(request: Request) -> Response:
        chosen = request.query_params.get("kind", CONTACT)
        with studio.workspace() as workspace:
            studio.background.clean_up(workspace)
            view = fact_view(workspace, chosen, requested_page(request))
        return studio.html(request, "facts.html", section="/facts", view=view)

    @router.post("/facts/correct")
    async def correct(request: Request) -> Response:
        """Keep the fields of a row that a person changed; those left as they were are not touched."""
        form = await read_form(studio, request)
        chosen, key = form.text("kind") or CONTACT, form.text("key")

        def act(workspace: Workspace) -> list[str]:
            wanted = parse_wanted(workspace, chosen)
            changed = []
            for name in dict.fromkeys(("name", *wanted.fields)):
                text = form.text(f"field_{name}")
                if text != form.text(f"before_{name}"):
                    taught = correct_fact(workspace, wanted, key, name, text.split(SEPARATOR.strip()))
                    changed.append(f"{name}, which also teaches the site" if taught else name)
            return changed

        changed = await studio.run(act)
        notice = f"Corrected: {', '.join(changed)}." if changed else "Nothing was changed."
        page = int(form.number("from_page", 1, 1_000_000) or 1)
        return to("/facts", notice, kind=chosen, page=page if page > 1 else "")

    @router.post("/facts/same")
    async def decide(request: Request) -> Response:
        """Merge two rows, or split one off the others of its entity, for good."""
        form = await read_form(studio, request)
        chosen, key, other = form.text("kind") or CONTACT, form.text("key"), form.text("other").strip()

        def act(workspace: Workspace) -> str:
            kind = parse_wanted(workspace, chosen).kind
            if form.text("do") == "split":
                split_entity(workspace, kind, key)
                return "Split: these are two things from now on."
            merge_entities(workspace, kind, key, other)
            return "Merged: these are one thing from now on."

        return to("/facts", await studio.run(act), kind=chosen)

    _add_table_routes(studio, router)
    _add_page_routes(studio, router)
    return router


def _add_table_routes(studio: Studio, router: APIRouter) -> None:
    @router.get("/facts.csv")
    def table(request: Request) -> Response:
        with studio.workspace() as workspace:
            wanted = parse_wanted(workspace, request.query_params.get("kind", CONTACT))
            fields = tuple(dict.fromkeys(("name", *wanted.fields)))
            rows = (
                (
                    row.site,
                    *(SEPARATOR.join(row.texts(name)) for name in fields),
                    format_row(row, wanted.fields),
                )
                for row in fact_rows(workspace, wanted)
            )
            return download("facts.csv", csv_text(("site", *fields, "status"), rows))

    @router.post("/facts/extract")
    async def extract(request: Request) -> Response:
        """Read the facts of all archived pages that are new or changed, in the background."""
        form = await read_form(studio, request)
        chosen = form.text("kind") or CONTACT

        def act(workspace: Workspace) -> None:
            parse_wanted(workspace, chosen)  # raises for an unknown kind
            studio.background.start(workspace, "facts", {"facts": chosen}, "Reading facts.")

        await studio.run(act)
        return to("/facts", kind=chosen)


def _add_page_routes(studio: Studio, router: APIRouter) -> None:
    @router.get("/facts/page", response_class=HTMLResponse)
    def show_page(request: Request) -> Response:
        chosen = request.query_params.get("kind", CONTACT)
        site, url = request.query_params.get("site", ""), request.query_params.get("url", "")
        with studio.workspace() as workspace:
            wanted = parse_wanted(workspace, chosen)
            page, lines = marked_page(workspace, wanted, site, url)
            fields = tuple(spec.name for spec in wanted.kind.fields if not spec.fact)
            taught = workspace.stores.facts.examples(wanted.kind.kind)
        view = MarkingView(
            chosen=chosen,
            site=site,
            url=url,
            title=page.title,
            fields=fields,
            lines=tuple(lines),
            taught=tuple((name, text) for where, name, text in taught if where == url),
        )
        return studio.html(request, "fact_page.html", section="/facts", view=view)

    @router.post("/facts/mark")
    async def mark(request: Request) -> Response:
        form = await read_form(studio, request)
        chosen, site, url = form.text("kind") or CONTACT, form.text("site"), form.text("url")
        name = form.text("field")

        def act(workspace: Workspace) -> None:
            mark_value(workspace, parse_wanted(workspace, chosen), site, url, name, form.text("text"))

        await studio.run(act)
        notice = f"Marked as {name}. On two pages of a site, it becomes a rule for all of them."
        return to("/facts/page", notice, kind=chosen, site=site, url=url)

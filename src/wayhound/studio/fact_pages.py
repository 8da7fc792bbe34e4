"""Facts: a table of what was extracted, to correct field by field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from wayhound.app.facts import CONTACT, FactRow, Wanted, correct_fact, fact_kinds, fact_rows, parse_wanted
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


@dataclass(frozen=True, slots=True)
class FactView:
    chosen: str
    kinds: tuple[str, ...]
    fields: tuple[str, ...]
    rows: tuple[ShownRow, ...]
    paging: Paging


def fact_view(workspace: Workspace, chosen: str, page: int) -> FactView:
    wanted = parse_wanted(workspace, chosen)
    rows = fact_rows(workspace, wanted)
    paging = Paging.of(page, len(rows), ON_A_PAGE)
    fields = tuple(dict.fromkeys(("name", *wanted.fields)))
    shown = tuple(_shown(row, fields, wanted) for row in rows[paging.first : paging.first + ON_A_PAGE])
    return FactView(chosen, (CONTACT, *sorted(fact_kinds(workspace))), fields, shown, paging)


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
            view = fact_view(workspace, chosen, requested_page(request))
        return studio.html(request, "facts.html", section="/facts", view=view)

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
                    correct_fact(workspace, wanted.kind, key, name, text.split(SEPARATOR.strip()))
                    changed.append(name)
            return changed

        changed = await studio.run(act)
        notice = f"Corrected: {', '.join(changed)}." if changed else "Nothing was changed."
        page = int(form.number("from_page", 1, 1_000_000) or 1)
        return to("/facts", notice, kind=chosen, page=page if page > 1 else "")

    return router

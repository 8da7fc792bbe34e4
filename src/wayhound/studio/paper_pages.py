"""Papers: add files, see what was read from them, correct fields, and train on the corrections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from wayhound.app.papers.adding import decide_kind, fetched_files, find_files, undo_correction
from wayhound.app.papers.corrections import KIND
from wayhound.app.papers.library import PAPER, PaperLibrary
from wayhound.app.papers.overview import PAPER_ORDERS, PaperOverview, overview, sorted_papers
from wayhound.record import Record, Value
from wayhound.record_kinds import FieldSpec, spec_of
from wayhound.store.jobs import Job
from wayhound.studio.studio import Studio, StudioForm, read_form, to
from wayhound.studio.tables import Paging, requested_page
from wayhound.web.guards import STRANGERS_POLICY
from wayhound.web.pages import BadRequest
from wayhound.wording.papers import NO_TITLE, format_place, format_unread
from wayhound.wording.quantities import format_probability
from wayhound.wording.runs import format_order
from wayhound.wording.undo import format_correction_undo
from wayhound.workspace import Workspace

JOB = "papers"
ON_A_PAGE = 50
UNREAD_SHOWN = 100
LONGEST_SEARCH = 200


@dataclass(frozen=True, slots=True)
class ListedPaper:
    id: str
    title: str
    authors: str
    year: str
    cited: int


@dataclass(frozen=True, slots=True)
class PaperList:
    job: Job | None
    papers: tuple[ListedPaper, ...]
    total: int
    paging: Paging
    order: str
    words: str
    unread: tuple[str, ...]  # files that are not papers or could not be read, one line each
    n_unread: int
    fetched: int  # files of runs that are not added yet
    hidden: int  # files of runs that may not be added: their servers ask not to index them
    runs: tuple[tuple[int, str], ...]
    has_corrections: bool


@dataclass(frozen=True, slots=True)
class PaperField:
    spec: FieldSpec
    values: tuple[tuple[str, str, str], ...]  # text, confidence, place in the file


@dataclass(frozen=True, slots=True)
class PaperView:
    paper: PaperOverview
    title: str
    fields: tuple[PaperField, ...]
    correctable: tuple[FieldSpec, ...]
    correcting: str  # name of the field in the form
    values: str  # of that field, one per line


def paper_list(workspace: Workspace, order: str, words: str, page: int) -> PaperList:
    job = workspace.stores.jobs.last(JOB)  # before what it writes: the page never shows half of it
    library = PaperLibrary(workspace)
    papers = sorted_papers(library, order)
    matches = [paper for paper in papers if _matches(paper[0], words)]
    paging = Paging.of(page, len(matches), ON_A_PAGE)
    others = [file for file in library.files.iterate() if file.outcome != PAPER]
    return PaperList(
        job=job,
        papers=tuple(_listed(*paper) for paper in matches[paging.first : paging.first + ON_A_PAGE]),
        total=len(papers),
        paging=paging,
        order=order,
        words=words,
        unread=tuple(format_unread(file) for file in others[:UNREAD_SHOWN]),
        n_unread=len(others),
        fetched=len(fetched_files(library, None)),
        hidden=library.files.count_noindex(None),
        runs=tuple((run.id, format_order(run.identity)) for run in workspace.stores.forage.runs()),
        has_corrections=bool(library.papers.corrections()),
    )


def _matches(record: Record, words: str) -> bool:
    text = " ".join([record.first("title"), *_texts(record.fields.get("author", ()))]).casefold()
    return all(word in text for word in words.casefold().split())


def _texts(values: Sequence[Value]) -> list[str]:
    return [value.text for value in values]


def _listed(record: Record, cited: int) -> ListedPaper:
    authors = ", ".join(_texts(record.fields.get("author", ())))
    return ListedPaper(record.id, record.first("title") or NO_TITLE, authors, record.first("year"), cited)


def paper_view(workspace: Workspace, name: str, correcting: str) -> PaperView:
    """Return everything known about a paper or document. Raises UsageError if there is none."""
    paper = overview(PaperLibrary(workspace), name)
    record = paper.record
    spec = spec_of(record.kind, record.fields)
    correctable = tuple(field for field in spec.fields if not field.fact)
    if correcting not in {field.name for field in correctable}:
        correcting = correctable[0].name if correctable else ""
    return PaperView(
        paper=paper,
        title=record.first("title") or (paper.file.name if paper.file else record.id),
        fields=tuple(
            PaperField(field, tuple(_shown(value) for value in record.fields[field.name]))
            for field in spec.fields
            if record.fields.get(field.name)
        ),
        correctable=correctable,
        correcting=correcting,
        values="\n".join(_texts(record.fields.get(correcting, ()))),
    )


def _shown(value: Value) -> tuple[str, str, str]:
    return value.text, format_probability(value.confidence), format_place(value)


def paper_routes(studio: Studio) -> APIRouter:
    router = APIRouter()

    @router.get("/papers", response_class=HTMLResponse)
    def papers(request: Request) -> Response:
        order = request.query_params.get("order", "")
        words = request.query_params.get("q", "").strip()[:LONGEST_SEARCH]
        with studio.workspace() as workspace:
            studio.background.clean_up(workspace)
            view = paper_list(
                workspace, order if order in PAPER_ORDERS else "cited", words, requested_page(request)
            )
        return studio.html(request, "papers.html", section="/papers", view=view)

    @router.get("/papers/{paper_id}", response_class=HTMLResponse)
    def paper(request: Request, paper_id: str) -> Response:
        with studio.workspace() as workspace:
            view = paper_view(workspace, paper_id, request.query_params.get("field", ""))
        return studio.html(request, "paper.html", section="/papers", view=view)

    @router.get("/papers/{paper_id}/file")
    def file(paper_id: str) -> Response:
        """Return the file as it was added or fetched, to be saved."""
        with studio.workspace() as workspace:
            library = PaperLibrary(workspace)
            record = library.find(paper_id)
            stored, body = library.files.get(record.id), library.body(record.id)
        suffix = "".join(PurePath(stored.name).suffixes[-2:]) if stored else ""
        suffix = suffix if suffix.replace(".", "").isalnum() and suffix.isascii() else ""
        headers = {
            "content-disposition": f'attachment; filename="{record.id}{suffix}"',
            "content-security-policy": STRANGERS_POLICY,
            "cache-control": "no-store",
        }
        return Response(body, headers=headers, media_type="application/octet-stream")

    return router


def paper_changes(studio: Studio) -> APIRouter:
    """Routes that add files, correct fields, undo corrections and train."""
    router = APIRouter()

    @router.post("/papers")
    async def start(request: Request) -> Response:
        """Start a job: add files, read all files again, or train on corrections."""
        form = await read_form(studio, request)

        def act(workspace: Workspace) -> None:
            studio.background.refuse_second(workspace, JOB)
            studio.background.start(workspace, JOB, _arguments(workspace, form))

        await studio.run(act)
        return to("/papers")

    @router.post("/papers/undo")
    async def undo(request: Request) -> Response:
        name = (await read_form(studio, request)).text("paper")
        correction = await studio.run(lambda workspace: undo_correction(PaperLibrary(workspace), name))
        return to(f"/papers/{name}" if name else "/papers", format_correction_undo(correction))

    @router.post("/papers/{paper_id}/correct")
    async def correct(request: Request, paper_id: str) -> Response:
        form = await read_form(studio, request)
        field, values = form.text("field"), form.text("values").splitlines()

        def act(workspace: Workspace) -> str:
            library = PaperLibrary(workspace)
            if field == KIND:
                decided = decide_kind(library, paper_id, form.text("values"))
                return f"This file counts as a {decided.outcome} from now on."
            library.correct(paper_id, field, [value.strip() for value in values if value.strip()])
            return f"Corrected: {field}. It is kept whenever the file is read again."

        return to(f"/papers/{paper_id}", await studio.run(act))

    return router


def _arguments(workspace: Workspace, form: StudioForm) -> dict[str, object]:
    """Return the arguments of the job that a form starts. Raises BadRequest or UsageError if there is nothing to do."""
    match form.text("action"):
        case "files":
            lines = filter(None, map(str.strip, form.text("paths").splitlines()))
            paths = [workspace.folder / Path(line).expanduser() for line in lines]
            if not paths:
                raise BadRequest("Enter the path of a file or folder.")
            if missing := [path for path in paths if not path.exists()]:
                raise BadRequest(f"There is no file or folder {missing[0]} on this machine.")
            find_files(paths)  # raises if folders hold nothing to read
            return {"action": "add", "paths": list(map(str, paths)), "from_forage": False, "forage_run": None}
        case "forage":
            run_id = form.whole("run", 1, 10**9) if form.text("run") else None
            return {"action": "add", "paths": [], "from_forage": True, "forage_run": run_id}
        case "read" | "train" as action:
            return {"action": action}
        case _:
            raise BadRequest("There is no such action.")

"""The work of `wayhound papers`: read files with progress, list and show papers, correct and train."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from wayhound.app.papers.adding import (
    AddedFile,
    Intake,
    choose_workers,
    decide_kind,
    incoming_files,
    undo_correction,
)
from wayhound.app.papers.corrections import KIND
from wayhound.app.papers.grouping import regroup
from wayhound.app.papers.library import DOCUMENT, PAPER, PaperLibrary
from wayhound.app.papers.overview import overview, sorted_papers
from wayhound.app.papers.training import train as train_models
from wayhound.app.papers.works import fill_from_citations
from wayhound.app.topics import place_papers
from wayhound.cli.console import command_for, err, next_steps, out, plain_table, write_json, write_line
from wayhound.cli.paper_view import SHORT_ID, overview_parts, overview_to_json, record_to_json
from wayhound.config import FILE_NAME
from wayhound.errors import UsageError
from wayhound.papers.bibliography import FORMATS
from wayhound.papers.models import ModelName
from wayhound.papers.training_data import PaperData
from wayhound.record import Record
from wayhound.record_kinds import PAPERS_AND_DOCUMENTS
from wayhound.topics.tree import TREE_NAME, load_tree_text
from wayhound.wording.papers import (
    NO_TITLE,
    format_added,
    format_added_files,
    format_listed,
    format_other_files,
    format_regrouped,
    format_same,
    format_trained,
    format_unread,
    papers_and_documents,
    papers_placed,
)
from wayhound.wording.quantities import count
from wayhound.wording.undo import NOTHING, format_correction_undo
from wayhound.workspace import Workspace

STOPPED = 130
NOT_ALL = 1

# Reading files


def add(
    folder: Path,
    paths: Sequence[Path],
    workers: int | None,
    *,
    from_forage: bool,
    run_id: int | None,
    cluster: str | None = None,
    ocr: bool = False,
    as_json: bool,
) -> int:
    """Add files and return the exit code."""
    with Workspace.open(folder) as workspace:
        library = PaperLibrary(workspace)
        files = incoming_files(library, paths, from_forage=from_forage, run_id=run_id)
        if from_forage and (hidden := library.files.count_noindex(run_id)):
            err.print(f"Left out {count(hidden, 'fetched file')}: servers ask not to index them.")
        intake = Intake(library, choose_workers(workers, len(files)), cluster=cluster or "", ocr=ocr)
        return print_added(intake.add(files), len(files), _line(as_json))


def read(
    folder: Path,
    workers: int | None,
    *,
    cluster: str | None = None,
    again: bool,
    model: ModelName | None = None,
    as_json: bool,
) -> int:
    """Read files again and return the exit code."""
    with Workspace.open(folder) as workspace:
        library = PaperLibrary(workspace)
        if model is not None:
            library.models.choose(model)
        current = library.models.digest()
        files = [file for file in library.files.iterate() if again or file.read_with != current]
        if not files:
            err.print("All files have been read with the current models. To read them anyway: --again")
            return 0
        intake = Intake(library, choose_workers(workers, len(files)), cluster=cluster or "")
        return print_added(intake.read_again(files), len(files), _line(as_json))


def _line(as_json: bool) -> Callable[[AddedFile], str]:
    if not as_json:
        return format_added
    names = ("name", "state", "id", "outcome", "detail", "title", "references")

    def line(file: AddedFile) -> str:
        write_json({name: getattr(file, name) for name in names})
        return ""

    return line


def print_added(
    files: Generator[AddedFile, None, None], total: int, line: Callable[[AddedFile], str] = format_added
) -> int:
    """Print a line for each file as it is read, and a summary; return the exit code."""
    done, names = list[AddedFile](), dict[str, str]()
    with _stopping() as is_stopped, _bar(total) as advance:
        for file in files:
            done.append(file)
            text = line(file) or (format_same(file, names[file.id]) if file.id in names else "")
            if text:
                write_line(text)
            names.setdefault(file.id, file.name)
            advance()
            if is_stopped():
                files.close()
                break
    err.print(format_added_files(done), markup=False)
    if is_stopped() and len(done) < total:
        err.print("Stopped. The same command resumes it.")
        return STOPPED
    return 0 if all(file.has_text for file in done) else NOT_ALL


@contextmanager
def _stopping() -> Iterator[Callable[[], bool]]:
    """Finish the files under way at the first Ctrl-C; raise KeyboardInterrupt at the second."""
    signals: list[int] = []

    def ask(number: int, frame: FrameType | None) -> None:
        if signals:
            signal.default_int_handler(number, frame)
        signals.append(number)
        err.print("Stopping after the files under way…")

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: bool(signals)
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _bar(total: int) -> Iterator[Callable[[], None]]:
    """Show a bar on a terminal; elsewhere the lines themselves show progress."""
    columns = (BarColumn(30), MofNCompleteColumn(), TextColumn("files"), TimeRemainingColumn())
    shown = err.is_terminal and total > 1
    with Progress(
        *columns, console=err, transient=True, disable=not shown, redirect_stdout=sys.stdout.isatty()
    ) as progress:
        task = progress.add_task("", total=total)
        yield lambda: progress.advance(task)


def print_next_steps(folder: Path) -> None:
    """Print what can be done with papers, if there are any."""
    with Workspace.open(folder) as workspace:
        outcomes = PaperLibrary(workspace).files.outcomes()
    if any(outcomes.get(kind) for kind in PAPERS_AND_DOCUMENTS):
        next_steps(
            (command_for(folder, "papers list"), "what was read"),
            (command_for(folder, "papers export --out papers.bib"), "for reference managers and TeX"),
            (command_for(folder, "serve"), "search and browse them"),
        )


# Listing, showing and export


def list_papers(folder: Path, sort: str, limit: int, *, as_json: bool) -> None:
    with Workspace.open(folder) as workspace:
        library = PaperLibrary(workspace)
        papers = sorted_papers(library, sort)
        others = format_other_files(library.files.outcomes())
    if as_json:
        for record, cited in papers:
            write_json(record_to_json(record) | {"cited": cited})
        return
    if papers:
        out.print(_papers_table(papers[:limit]))
    err.print(format_listed(len(papers), limit), markup=False)
    if not papers:
        err.print(f"To add some: {command_for(folder, 'papers add FILES…')}", markup=False)
    if others:
        err.print(f"{others}: {command_for(folder, 'papers list --unread')}", markup=False)


def _papers_table(papers: Sequence[tuple[Record, int]]) -> Table:
    table = plain_table("id", "year", "cited", "title", "authors", right=("cited",))
    table.columns[0].no_wrap = True
    for record, cited in papers:
        authors = ", ".join(value.text for value in record.fields.get("author", ()))
        title = Text(record.first("title") or NO_TITLE)
        times = str(cited or "")
        table.add_row(record.id[:SHORT_ID], record.first("year"), times, title, Text(authors))
    return table


def list_unread(folder: Path, *, as_json: bool) -> None:
    with Workspace.open(folder) as workspace:
        for file in PaperLibrary(workspace).files.iterate():
            if file.outcome == PAPER:
                continue
            if as_json:
                write_json(asdict(file))
            else:
                write_line(format_unread(file))


def show(folder: Path, paper_id: str, *, as_json: bool) -> None:
    with Workspace.open(folder) as workspace:
        paper = overview(PaperLibrary(workspace), paper_id)
    if as_json:
        write_json(overview_to_json(paper), indent=1)
        return
    for part in overview_parts(paper):
        out.print(part, soft_wrap=False)  # wrapped to the width of the screen


def export(folder: Path, paper_ids: Sequence[str], file_format: str, path: Path | None) -> None:
    with Workspace.open(folder) as workspace:
        library = PaperLibrary(workspace)
        records = [library.find(name) for name in paper_ids] or [
            record for kind in PAPERS_AND_DOCUMENTS for record in workspace.stores.records.iterate(kind)
        ]
        text = FORMATS[file_format](fill_from_citations(library.papers, record) for record in records)
    if path:
        path.write_text(text, "utf-8")
    else:
        sys.stdout.write(text)
    papers = sum(record.kind == PAPER for record in records)
    written = papers_and_documents(papers, len(records) - papers)
    err.print(written + (f" in {path}" if path else ""), markup=False)


# Correcting and training


def correct(folder: Path, paper_id: str, field: str, values: Sequence[str], by: str) -> None:
    with Workspace.open(folder) as workspace:
        if field == KIND:
            decided = decide_kind(PaperLibrary(workspace), paper_id, " ".join(values), by)
            err.print(f"{decided.id} is a {decided.outcome} from now on. {decided.title}", markup=False)
            return
        done = PaperLibrary(workspace).correct(paper_id, field, values, by)
    for sign, texts in (("-", done.before), ("+", done.after)):
        for text in texts:
            write_line(f"{sign} {field}: {text}")
    train_command = command_for(folder, "papers train")
    err.print(f"Corrected in {done.record.id}. To learn from it: {train_command}", markup=False)


def undo(folder: Path, paper_id: str) -> None:
    with Workspace.open(folder) as workspace:
        correction = undo_correction(PaperLibrary(workspace), paper_id)
    if correction is None:
        raise UsageError(NOTHING)
    err.print(format_correction_undo(correction), markup=False)


def train(folder: Path, model: ModelName | None, data: Path | None, *, as_json: bool) -> None:
    with Workspace.open(folder) as workspace, err.status("Training…"):
        trained = train_models(PaperLibrary(workspace), model, PaperData(data) if data else None)
    if as_json:
        write_json(asdict(trained))
        return
    for line in format_trained(trained):
        out.print(line, markup=False)
    read_command = command_for(folder, "papers read")
    err.print(f"To read all papers with the new {trained.model.upper()}: {read_command}", markup=False)


def regroup_citations(folder: Path, *, as_json: bool) -> None:
    with Workspace.open(folder) as workspace, err.status("Comparing citations…") as status:
        done = regroup(
            workspace,
            lambda at, total: status.update(f"Comparing citations: {at:,} of {total:,} pairs…"),
        )
    if as_json:
        write_json(asdict(done))
    err.print(format_regrouped(done), markup=False)


def take_up_papers(folder: Path, paths: Sequence[Path], tree: str) -> None:
    """Create the workspace if there is none, read the papers that it lacks, and place all under topics.

    Papers are served even if none can be placed. Raises UsageError if `tree` is neither shipped nor a file.
    """
    default_tree = load_tree_text(tree)  # before the papers are read, which may take long
    if not (folder / FILE_NAME).exists():
        Workspace.create(folder).close()
        err.print(f"Created the workspace {folder}.", markup=False)
    add(folder, paths, None, from_forage=False, run_id=None, as_json=False)
    try:
        with Workspace.open(folder) as workspace, err.status("Placing papers under topics…"):
            placed, total = place_papers(workspace, default_tree)
            documents = workspace.stores.catalogue.counts().get(DOCUMENT, 0)
    except UsageError as error:
        where = folder / TREE_NAME
        err.print(f"No paper was placed under a topic. {error} The tree is in {where}.", markup=False)
        return
    err.print(papers_placed(placed, total - documents, documents))

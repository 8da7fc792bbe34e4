"""`trailmark papers`: from files to fields, references and a citation graph."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

import click

from trailmark.cli.console import count, err, out, workspace_option
from trailmark.cli.papers_progress import take_up
from trailmark.cli.papers_show import added_line, list_table, overview_data, record_data, show_overview
from trailmark.errors import UsageError
from trailmark.organise.bibliography import FORMATS
from trailmark.papers.adding import Intake, files_at, incoming_files, incoming_from_forage
from trailmark.papers.library import DOCUMENT, PAPER, PaperLibrary
from trailmark.papers.overview import as_cited, overview
from trailmark.papers.reading import cores
from trailmark.papers.training import train as train_models
from trailmark.record import Record
from trailmark.workspace import Workspace

FEW = 4  # files for which other processes are not worth their start

json_option = click.option("--json", "as_json", is_flag=True, help="As JSON.")
workers_option = click.option("--workers", type=click.IntRange(1, 64),
                              help="Processes that read.  [default: one a processor]")  # fmt: skip


@click.group()
def papers() -> None:
    """Read papers: fields with places, references, and who cites whom."""


@papers.command("add")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, exists=True))
@workspace_option
@click.option(
    "--from-forage", is_flag=True, help="Take the PDF, PostScript and text files that were fetched."
)
@click.option("--run", "run_id", type=int, help="With --from-forage: of one run only.")
@workers_option
@json_option
def add(
    paths: tuple[Path, ...],
    folder: Path,
    from_forage: bool,
    run_id: int | None,
    workers: int | None,
    as_json: bool,
) -> None:
    """Take up FILES and the files in FOLDERS, each once. The same command goes on where it was stopped."""
    if not paths and not from_forage:
        raise UsageError("Name files or folders, or give --from-forage.")
    if run_id is not None and not from_forage:
        raise UsageError("--run goes with --from-forage.")
    with Workspace.open(folder) as workspace:
        library = PaperLibrary(workspace)
        found = list(incoming_files(files_at(paths))) if paths else []
        if from_forage:
            found += incoming_from_forage(library, run_id)
        intake = Intake(library, _workers(workers, len(found)))
        raise SystemExit(
            take_up(intake.add(found), len(found), "file", lambda each: added_line(each, as_json))
        )


@papers.command("read")
@workspace_option
@click.option("--again", is_flag=True, help="All of them, also those that were read with the models of now.")
@workers_option
@json_option
def read(folder: Path, again: bool, workers: int | None, as_json: bool) -> None:
    """Read files again from the archive: those that were read with other models than there are now."""
    with Workspace.open(folder) as workspace:
        library = PaperLibrary(workspace)
        now = library.models.digest()
        files = [file for file in library.files.iterate() if again or file.read_with != now]
        if not files:
            err.print("All files were read with the models of now. To read them anyway: --again")
        intake = Intake(library, _workers(workers, len(files)))
        code = take_up(intake.read_again(files), len(files), "file", lambda each: added_line(each, as_json))
        raise SystemExit(code)


@papers.command("list")
@workspace_option
@click.option("--sort", type=click.Choice(["cited", "title", "year"]), default="cited", show_default=True,
              help="Most cited, by title, or newest first.")  # fmt: skip
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1), help="How many are shown.")
@click.option("--unread", is_flag=True, help="Files that are no papers or could not be read, and why.")
@json_option
def list_papers(folder: Path, sort: str, limit: int, unread: bool, as_json: bool) -> None:
    """List the papers of the workspace."""
    with Workspace.open(folder) as workspace:
        library = PaperLibrary(workspace)
        if unread:
            _list_unread(library, as_json)
            return
        cited = library.papers.times_cited()
        records = _sorted(workspace.records.iterate(PAPER), sort, cited)
        if as_json:
            for record in records:
                click.echo(
                    json.dumps(record_data(record) | {"cited": cited.get(record.id, 0)}, ensure_ascii=False)
                )
            return
        out.print(list_table(records[:limit], cited))
        err.print(_shown(len(records), limit, library.files.outcomes()), markup=False)


@papers.command("show")
@click.argument("paper_id", metavar="ID")
@workspace_option
@json_option
def show(paper_id: str, folder: Path, as_json: bool) -> None:
    """Show a paper: fields with confidence and place, references, and who cites it in which words.

    ID may be the beginning of one.
    """
    with Workspace.open(folder) as workspace:
        told = overview(PaperLibrary(workspace), paper_id)
    if as_json:
        click.echo(json.dumps(overview_data(told), ensure_ascii=False, indent=1))
    else:
        show_overview(out, told)


@papers.command("export")
@click.argument("paper_ids", nargs=-1, metavar="[ID]...")
@workspace_option
@click.option("--format", "file_format", type=click.Choice(list(FORMATS)), default="bibtex", show_default=True,
              help="What to write.")  # fmt: skip
@click.option(
    "--out", "path", type=click.Path(path_type=Path, dir_okay=False), help="A file.  [default: stdout]"
)
def export(paper_ids: tuple[str, ...], folder: Path, file_format: str, path: Path | None) -> None:
    """Write papers, all or some, for reference managers and TeX.

    What a paper does not say of itself, such as where it appeared, is taken from those that cite it.
    """
    with Workspace.open(folder) as workspace:
        library = PaperLibrary(workspace)
        records = [library.find(each) for each in paper_ids] or list(workspace.records.iterate(PAPER))
        text = FORMATS[file_format](as_cited(library, record) for record in records)
    if path:
        path.write_text(text, "utf-8")
    else:
        sys.stdout.write(text)
    err.print(count(len(records), "paper") + (f" in {path}" if path else ""), markup=False)


@papers.command("correct")
@click.argument("paper_id", metavar="ID")
@click.argument("field")
@click.argument("values", nargs=-1, metavar="[VALUE]...")
@workspace_option
@click.option("--none", "is_empty", is_flag=True, help="The paper has no such field.")
@click.option("--by", default="operator", show_default=True, help="Who says so.")
def correct(
    paper_id: str, field: str, values: tuple[str, ...], folder: Path, is_empty: bool, by: str
) -> None:
    """Say what FIELD of a paper is, one VALUE for each author, keyword and so on.

    A field of its third reference is 3.title. What is said holds whenever the paper is read again;
    `trailmark papers train` learns from it.
    """
    if is_empty == bool(values):
        raise UsageError("Give the values of the field, or --none if the paper has no such field.")
    with Workspace.open(folder) as workspace:
        done = PaperLibrary(workspace).correct(paper_id, field, values, by)
    for sign, texts in (("-", done.before), ("+", done.after)):
        for text in texts:
            click.echo(f"{sign} {field}: {text}")
    err.print(f"Corrected in {done.record.id}. To learn from it: trailmark papers train", markup=False)


@papers.command("train")
@workspace_option
@json_option
def train(folder: Path, as_json: bool) -> None:
    """Teach the models what was corrected; it takes seconds, and holds for this workspace."""
    with Workspace.open(folder) as workspace, err.status("Learning from corrections…"):
        trained = train_models(PaperLibrary(workspace))
    if as_json:
        click.echo(json.dumps(asdict(trained), ensure_ascii=False))
        return
    learned = [count(n, f"corrected {kind}") for kind, n in trained.lessons.items() if n]
    out.print(f"Learned from {' and '.join(learned) or 'nothing'} in {trained.seconds:.1f} s.")
    before, after, all_of_them = trained.right_before, trained.right_after, trained.fields
    out.print(f"Corrected fields read right: {before} of {all_of_them} before, {after} of {all_of_them} now.")
    for each in trained.not_found:
        out.print(f"Not learned from: {each}.", markup=False)
    err.print("To read the other papers with the new models: trailmark papers read")


def _workers(wanted: int | None, files: int) -> int:
    """Few files are not worth the start of other processes."""
    return wanted or (1 if files <= FEW else min(cores(), files))


def _sorted(records: Iterable[Record], sort: str, cited: Mapping[str, int]) -> list[Record]:
    by_title = sorted(records, key=lambda record: (record.first("title").casefold(), record.id))
    if sort == "cited":
        return sorted(by_title, key=lambda record: -cited.get(record.id, 0))
    return (
        sorted(by_title, key=lambda record: record.first("year"), reverse=True)
        if sort == "year"
        else by_title
    )


def _list_unread(library: PaperLibrary, as_json: bool) -> None:
    for file in library.files.iterate():
        if file.outcome == PAPER:
            continue
        if as_json:
            click.echo(json.dumps(asdict(file), ensure_ascii=False))
        else:
            reason = "no paper" if file.outcome == DOCUMENT else file.outcome.replace("_", " ")
            click.echo(f"{file.id}  {file.name}: {reason}. {file.detail}")


def _shown(papers: int, limit: int, outcomes: Mapping[str, int]) -> str:
    others = sum(outcomes.values()) - outcomes.get(PAPER, 0)
    if not papers:
        return "There are no papers yet. Next: trailmark papers add FILES…"
    more = f", {limit} of them shown" if papers > limit else ""
    rest = f"; {count(others, 'file')} else: trailmark papers list --unread" if others else ""
    return f"{count(papers, 'paper')}{more}{rest}."

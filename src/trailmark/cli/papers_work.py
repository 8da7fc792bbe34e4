"""What the commands of `trailmark papers` do."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from trailmark.cli.console import count, err, next_steps, out, typed
from trailmark.cli.papers_progress import take_up
from trailmark.cli.papers_show import added_line, list_table, overview_data, record_data, show_overview
from trailmark.organise.bibliography import FORMATS
from trailmark.papers.adding import Intake, files_at, incoming_files, incoming_from_forage, judge
from trailmark.papers.as_cited import as_cited
from trailmark.papers.corrections import KIND
from trailmark.papers.library import DOCUMENT, PAPER, PaperLibrary
from trailmark.papers.overview import overview
from trailmark.papers.reading import cores
from trailmark.papers.regrouping import regroup
from trailmark.papers.training import train as train_models
from trailmark.record import Record
from trailmark.workspace import Workspace

FEW = 4  # files for which other processes are not worth their start


def add(
    folder: Path,
    paths: Sequence[Path],
    workers: int | None,
    *,
    from_forage: bool,
    run_id: int | None,
    as_json: bool,
) -> int:
    with Workspace.open(folder) as workspace:
        library = PaperLibrary(workspace)
        found = list(incoming_files(files_at(paths))) if paths else []
        if from_forage:
            found += incoming_from_forage(library, run_id)
            _say_left_out(library.files.not_to_be_indexed(run_id))
        intake = Intake(library, _workers(workers, len(found)))
        return take_up(intake.add(found), len(found), lambda each: added_line(each, as_json=as_json))


def say_next(folder: Path) -> None:
    """What can be done with papers, where there are any."""
    with Workspace.open(folder) as workspace:
        outcomes = PaperLibrary(workspace).files.outcomes()
    if outcomes.get(PAPER):
        next_steps(
            (typed(folder, "papers list"), "what was read"),
            (typed(folder, "papers export --out papers.bib"), "for reference managers and TeX"),
            (typed(folder, "serve"), "search and browse them"),
        )


def _say_left_out(files: int) -> None:
    if files:
        err.print(f"{count(files, 'fetched file')} left out: servers ask not to index them.")


def read(folder: Path, workers: int | None, *, again: bool, as_json: bool) -> int:
    with Workspace.open(folder) as workspace:
        library = PaperLibrary(workspace)
        now = library.models.digest()
        files = [file for file in library.files.iterate() if again or file.read_with != now]
        if not files:
            err.print("All files were read with the models of now. To read them anyway: --again")
            return 0
        intake = Intake(library, _workers(workers, len(files)))
        return take_up(intake.read_again(files), len(files), lambda each: added_line(each, as_json=as_json))


def _workers(wanted: int | None, files: int) -> int:
    return wanted or (1 if files <= FEW else min(cores(), files))


def list_papers(folder: Path, sort: str, limit: int, *, as_json: bool) -> None:
    with Workspace.open(folder) as workspace:
        library = PaperLibrary(workspace)
        cited = library.papers.times_cited()
        records = _sorted(workspace.records.iterate(PAPER), sort, cited)
        outcomes = library.files.outcomes()
    if as_json:
        for record in records:
            data = record_data(record) | {"cited": cited.get(record.id, 0)}
            click.echo(json.dumps(data, ensure_ascii=False))
        return
    if records:
        out.print(list_table(records[:limit], cited))
    err.print(_shown(len(records), limit, outcomes), markup=False)


def _sorted(records: Iterable[Record], sort: str, cited: Mapping[str, int]) -> list[Record]:
    by_title = sorted(records, key=lambda record: (record.first("title").casefold(), record.id))
    if sort == "cited":
        return sorted(by_title, key=lambda record: -cited.get(record.id, 0))
    if sort == "year":
        return sorted(by_title, key=lambda record: record.first("year"), reverse=True)
    return by_title


def _shown(papers: int, limit: int, outcomes: Mapping[str, int]) -> str:
    others = sum(outcomes.values()) - outcomes.get(PAPER, 0)
    rest = f" {count(others, 'other file')}: trailmark papers list --unread" if others else ""
    if not papers:
        return f"There are no papers yet. Next: trailmark papers add FILES….{rest}"
    more = f", {limit} of them shown" if papers > limit else ""
    return f"{count(papers, 'paper')}{more}.{rest}"


def list_unread(folder: Path, *, as_json: bool) -> None:
    with Workspace.open(folder) as workspace:
        for file in PaperLibrary(workspace).files.iterate():
            if file.outcome == PAPER:
                continue
            reason = "no paper" if file.outcome == DOCUMENT else file.outcome.replace("_", " ")
            line = f"{file.id}  {file.name}: {reason}. {file.detail}"
            click.echo(json.dumps(asdict(file), ensure_ascii=False) if as_json else line)


def show(folder: Path, paper_id: str, *, as_json: bool) -> None:
    with Workspace.open(folder) as workspace:
        told = overview(PaperLibrary(workspace), paper_id)
    if as_json:
        click.echo(json.dumps(overview_data(told), ensure_ascii=False, indent=1))
    else:
        show_overview(out, told)


def export(folder: Path, paper_ids: Sequence[str], file_format: str, path: Path | None) -> None:
    with Workspace.open(folder) as workspace:
        library = PaperLibrary(workspace)
        records = [library.find(each) for each in paper_ids] or list(workspace.records.iterate(PAPER))
        text = FORMATS[file_format](as_cited(library.papers, record) for record in records)
    if path:
        path.write_text(text, "utf-8")
    else:
        sys.stdout.write(text)
    err.print(count(len(records), "paper") + (f" in {path}" if path else ""), markup=False)


def regroup_citations(folder: Path, *, as_json: bool) -> None:
    with Workspace.open(folder) as workspace, err.status("Comparing citations…") as status:
        done = regroup(
            PaperLibrary(workspace),
            lambda at, total: status.update(f"Comparing citations: {at:,} of {total:,} pairs…"),
        )
    if as_json:
        click.echo(json.dumps(asdict(done)))
    err.print(
        f"{count(done.citations, 'citation')}: {done.moved:,} moved to another group; "
        f"{count(done.groups_before, 'group')} before, {done.groups_after:,} now.",
        markup=False,
    )


def correct(folder: Path, paper_id: str, field: str, values: Sequence[str], by: str) -> None:
    with Workspace.open(folder) as workspace:
        if field == KIND:
            judged = judge(PaperLibrary(workspace), paper_id, " ".join(values), by)
            err.print(f"{judged.id} is a {judged.outcome} from now on. {judged.title}", markup=False)
            return
        done = PaperLibrary(workspace).correct(paper_id, field, values, by)
    for sign, texts in (("-", done.before), ("+", done.after)):
        for text in texts:
            click.echo(f"{sign} {field}: {text}")
    err.print(f"Corrected in {done.record.id}. To learn from it: trailmark papers train", markup=False)


def train(folder: Path, *, as_json: bool) -> None:
    with Workspace.open(folder) as workspace, err.status("Learning from corrections…"):
        trained = train_models(PaperLibrary(workspace))
    if as_json:
        click.echo(json.dumps(asdict(trained), ensure_ascii=False))
        return
    learned = [count(n, f"corrected {kind}") for kind, n in trained.lessons.items() if n]
    out.print(f"Learned from {' and '.join(learned) or 'nothing'} in {trained.seconds:.1f} s.")
    before, after, of = trained.right_before, trained.right_after, trained.fields
    out.print(f"Corrected fields read right: {before} of {of} before, {after} of {of} now.")
    if trained.watched:
        out.print(f"Of {trained.watched} other papers, {trained.unchanged} are read as before.")
    for each in trained.not_found:
        out.print(f"Not learned from: {each}.", markup=False)
    err.print("To read the other papers with the new models: trailmark papers read")

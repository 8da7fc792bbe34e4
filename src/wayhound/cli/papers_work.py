"""What the commands of `wayhound papers` do."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from wayhound.app.papers.adding import AddedFile, Intake, decide_kind, fetched_files, find_files, local_files
from wayhound.app.papers.corrections import KIND
from wayhound.app.papers.grouping import regroup
from wayhound.app.papers.library import DOCUMENT, PAPER, PaperLibrary
from wayhound.app.papers.overview import PaperCitation, PaperOverview, PaperReference, overview
from wayhound.app.papers.reading import n_cores
from wayhound.app.papers.training import train as train_models
from wayhound.app.papers.works import fill_from_citations
from wayhound.cli.console import command_for, err, next_steps, out
from wayhound.cli.papers_progress import take_up
from wayhound.papers.bibliography import FORMATS
from wayhound.papers.models import ModelName
from wayhound.papers.training_data import PaperData
from wayhound.record import Record, Value
from wayhound.record_kinds import spec_of
from wayhound.store.papers import PaperCorrection, StoredContext
from wayhound.wording.quantities import count
from wayhound.workspace import Workspace

_SHORT_ID = 8
_LONG_TEXT = 600  # characters of a value that are shown
_LONG_SENTENCE = 300


def added_line(each: AddedFile, *, as_json: bool) -> str:
    """One line a file: what was taken up, and of the rest what is the matter."""
    if as_json:
        names = ("name", "state", "id", "outcome", "detail", "title", "references")
        return json.dumps({name: getattr(each, name) for name in names}, ensure_ascii=False)
    if each.state == "known":
        return ""
    if each.outcome == "paper":
        return f"{each.id}  {each.title or '(no title)'}  [{count(each.references, 'reference')}]"
    return f"{each.id or '-' * 16}  {each.name}: {_reason(each)}"


def _reason(each: AddedFile) -> str:
    if each.outcome == "document":
        return f"no paper. {each.detail}"
    return each.detail if each.outcome == "refused" else f"{each.outcome.replace('_', ' ')}. {each.detail}"


def list_table(records: Sequence[Record], cited: Mapping[str, int]) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("id", no_wrap=True)
    table.add_column("year")
    table.add_column("cited", justify="right")
    table.add_column("title", overflow="fold")
    table.add_column("authors", overflow="fold")
    for record in records:
        authors = [value.text for value in record.fields.get("author", ())]
        table.add_row(
            record.id[:_SHORT_ID],
            record.first("year"),
            str(cited.get(record.id, "")),
            Text(record.first("title") or "(no title)"),
            Text(", ".join(authors)),
        )
    return table


def show_overview(console: Console, told: PaperOverview) -> None:
    """Wrapped to the width of the screen, for it is to be read."""
    for part in _parts(told):
        console.print(part, soft_wrap=False)


def _parts(told: PaperOverview) -> Iterator[RenderableType]:
    yield Text(told.record.first("title") or "(no title)", style="bold")
    yield _about_file(told)
    yield ""
    yield _fields_table(told.record)
    for heading, parts in (
        (f"References ({len(told.references)})", [_reference(each, told.titles) for each in told.references]),
        (f"Cited by ({told.n_cited_by})", [_citing(each) for each in told.cited_by]),
        ("Corrections", [_correction(each) for each in told.corrections]),
    ):
        if parts:
            yield ""
            yield Text(heading, style="bold")
            yield from parts


def _about_file(told: PaperOverview) -> Text:
    file = told.file
    lines = (
        [f"{told.record.id} · {file.name} · {count(file.page_count, 'page')} · {count(file.size, 'byte')}"]
        if file
        else []
    )
    if told.record.kind == "document" and file:
        lines.append(f"This is no paper: {file.detail}")
    for source in told.sources:
        path = " › ".join(click or "(no text)" for click in source.path)
        lines.append(f"found at {source.url}" + (f" by way of {path}" if path else ""))
    if told.versions:
        lines.append(f"The same work as {', '.join(told.versions)}")
    return Text("\n".join(lines), style="dim")


def _fields_table(record: Record) -> Table:
    table = Table(box=None, pad_edge=False, show_header=True, header_style="bold")
    table.add_column("field", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("sure", justify="right", no_wrap=True)
    table.add_column("where", no_wrap=True)
    spec = spec_of(record.kind, record.fields)
    order = [field.name for field in spec.fields]
    names = sorted(record.fields, key=lambda name: order.index(name) if name in order else len(order))
    for name in names:
        for number, value in enumerate(record.fields[name]):
            label = spec.field(name).shown if number == 0 else ""
            table.add_row(
                label, Text(_shortened(value.text, _LONG_TEXT)), f"{value.confidence:.2f}", where(value)
            )
    return table


def where(value: Value) -> str:
    """`p. 1 at 72,90`: the page, and the upper left corner of the box."""
    source = value.source
    if source is None:
        return ""
    page = f"p. {source.page}" if source.page else ""
    return f"{page} at {source.box[0]:.0f},{source.box[1]:.0f}" if source.box else page


def _reference(each: PaperReference, titles: Mapping[str, str]) -> Group:
    citation = each.citation
    about = Text(citation.citation.title or _shortened(citation.citation.text, 120), style="bold")
    authors = citation.citation.authors.replace(" and ", ", ")
    said = (authors, citation.citation.venue, citation.citation.year)
    about.append("  " + ". ".join(filter(None, said)), style="not bold")
    head = Table.grid(padding=(0, 2, 0, 0))
    head.add_column(justify="right", min_width=3)
    head.add_column(overflow="fold")
    head.add_row(str(citation.number), about)
    held = f"held as {each.held[:_SHORT_ID]} {titles.get(each.held, '')}" if each.held else "not held"
    below = Padding(Text(f"work {citation.group}, {held}", style="dim"), (0, 0, 0, 5))
    return Group(head, below, *_sentences(each.contexts))


def _citing(each: PaperCitation) -> Group:
    head = Text(f"  {each.paper.paper[:_SHORT_ID]}  ")
    head.append(each.paper.title or "(no title)", style="bold")
    return Group(head, *_sentences(each.contexts))


def _sentences(contexts: Sequence[StoredContext]) -> Iterator[Padding]:
    for each in contexts:
        text = Text(f"p. {each.page}: ", style="dim")
        text.append("“" + _around(each) + "”", style="italic")
        yield Padding(text, (0, 0, 0, 5))


def _around(context: StoredContext) -> str:
    """The sentence, or as much of it as stands around the call-out."""
    sentence = context.sentence
    if len(sentence) <= _LONG_SENTENCE:
        return sentence
    start = max(0, context.start - _LONG_SENTENCE // 2)
    return ("…" if start else "") + _shortened(sentence[start:], _LONG_SENTENCE)


def _correction(each: PaperCorrection) -> Text:
    return Text(
        f"  {each.field}: {' | '.join(each.before) or '—'} → {' | '.join(each.after) or '—'} ({each.by})"
    )


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def record_data(record: Record) -> dict[str, Any]:
    """A record as plain data."""
    return {
        "id": record.id,
        "kind": record.kind,
        "site": record.site,
        "visit": record.visit,
        "fields": {name: [value_data(value) for value in values] for name, values in record.fields.items()},
    }


def value_data(value: Value) -> dict[str, Any]:
    source = value.source
    data: dict[str, Any] = {"text": value.text, "confidence": round(value.confidence, 4)}
    if source:
        data |= {"page": source.page, "box": source.box, "start": source.start, "end": source.end}
    return data


def overview_data(told: PaperOverview) -> dict[str, Any]:
    """All that is known of a paper as plain data."""
    return {
        **record_data(told.record),
        "sources": [
            {"url": each.url, "site": each.site, "visit": each.visit, "path": list(each.path)}
            for each in told.sources
        ],
        "references": [_reference_data(each) for each in told.references],
        "cited_by": [
            {"paper": each.paper.paper, "title": each.paper.title, "sentences": _sentence_data(each.contexts)}
            for each in told.cited_by
        ],
        "same_work_as": list(told.versions),
        "corrections": [
            {"field": each.field, "before": each.before, "after": each.after, "by": each.by, "at": each.at}
            for each in told.corrections
        ],
    }


def _reference_data(each: PaperReference) -> dict[str, Any]:
    citation = each.citation
    return {
        "number": citation.number,
        "label": citation.label,
        "text": citation.citation.text,
        "fields": {name: [value_data(value) for value in values] for name, values in citation.fields.items()},
        "work": citation.group,
        "held": each.held,
        "sentences": _sentence_data(each.contexts),
    }


def _sentence_data(contexts: Sequence[StoredContext]) -> list[dict[str, Any]]:
    return [
        {"sentence": each.sentence, "start": each.start, "end": each.stop, "page": each.page, "box": each.box}
        for each in contexts
    ]


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
        found = list(local_files(find_files(paths))) if paths else []
        if from_forage:
            found += fetched_files(library, run_id)
            _say_left_out(library.files.count_noindex(run_id))
        intake = Intake(library, _workers(workers, len(found)))
        return take_up(intake.add(found), len(found), lambda each: added_line(each, as_json=as_json))


def say_next(folder: Path) -> None:
    """What can be done with papers, where there are any."""
    with Workspace.open(folder) as workspace:
        outcomes = PaperLibrary(workspace).files.outcomes()
    if outcomes.get(PAPER):
        next_steps(
            (command_for(folder, "papers list"), "what was read"),
            (command_for(folder, "papers export --out papers.bib"), "for reference managers and TeX"),
            (command_for(folder, "serve"), "search and browse them"),
        )


def _say_left_out(files: int) -> None:
    if files:
        err.print(f"{count(files, 'fetched file')} left out: servers ask not to index them.")


def read(
    folder: Path, workers: int | None, *, again: bool, model: ModelName | None = None, as_json: bool
) -> int:
    with Workspace.open(folder) as workspace:
        library = PaperLibrary(workspace)
        if model is not None:
            library.models.choose(model)
        now = library.models.digest()
        files = [file for file in library.files.iterate() if again or file.read_with != now]
        if not files:
            err.print("All files have been read with the current models. To read them anyway: --again")
            return 0
        intake = Intake(library, _workers(workers, len(files)))
        return take_up(intake.read_again(files), len(files), lambda each: added_line(each, as_json=as_json))


def _workers(wanted: int | None, files: int) -> int:
    return wanted or (1 if files <= FEW else min(n_cores(), files))


def list_papers(folder: Path, sort: str, limit: int, *, as_json: bool) -> None:
    with Workspace.open(folder) as workspace:
        library = PaperLibrary(workspace)
        cited = library.papers.times_cited()
        records = _sorted(workspace.stores.records.iterate(PAPER), sort, cited)
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
    rest = f" {count(others, 'other file')}: wayhound papers list --unread" if others else ""
    if not papers:
        return f"There are no papers yet. Next: wayhound papers add FILES….{rest}"
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
        records = [library.find(each) for each in paper_ids] or list(workspace.stores.records.iterate(PAPER))
        text = FORMATS[file_format](fill_from_citations(library.papers, record) for record in records)
    if path:
        path.write_text(text, "utf-8")
    else:
        sys.stdout.write(text)
    err.print(count(len(records), "paper") + (f" in {path}" if path else ""), markup=False)


def regroup_citations(folder: Path, *, as_json: bool) -> None:
    with Workspace.open(folder) as workspace, err.status("Comparing citations…") as status:
        done = regroup(
            workspace,
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
            judged = decide_kind(PaperLibrary(workspace), paper_id, " ".join(values), by)
            err.print(f"{judged.id} is a {judged.outcome} from now on. {judged.title}", markup=False)
            return
        done = PaperLibrary(workspace).correct(paper_id, field, values, by)
    for sign, texts in (("-", done.before), ("+", done.after)):
        for text in texts:
            click.echo(f"{sign} {field}: {text}")
    err.print(f"Corrected in {done.record.id}. To learn from it: wayhound papers train", markup=False)


def train(folder: Path, model: ModelName | None, data: Path | None, *, as_json: bool) -> None:
    with Workspace.open(folder) as workspace, err.status("Training…"):
        trained = train_models(PaperLibrary(workspace), model, PaperData(data) if data else None)
    if as_json:
        click.echo(json.dumps(asdict(trained), ensure_ascii=False))
        return
    learned = [*trained.trained_on.values()]
    learned += [count(n, f"corrected {kind}") for kind, n in trained.lessons.items() if n]
    out.print(f"Learned from {' and '.join(learned) or 'nothing'} in {trained.seconds:.1f} s.")
    before, after, of = trained.right_before, trained.right_after, trained.fields
    if of:
        out.print(f"Corrected fields read right: {before} of {of} before, {after} of {of} now.")
    if trained.watched:
        out.print(f"Of {trained.watched} other papers, {trained.unchanged} are read as before.")
    for each in trained.not_found:
        out.print(f"Not learned from: {each}.", markup=False)
    err.print(f"To read all papers with the new {trained.model.upper()}: wayhound papers read")

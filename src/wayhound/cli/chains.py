"""`wayhound chains`: relationships between pages, from a few example links."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from wayhound.app.chains.examples import read_examples
from wayhound.app.chains.exports import export_instances
from wayhound.app.chains.relationships import LinkChains
from wayhound.chains.ontology import read_ontology
from wayhound.cli.console import command_for, err, next_steps, out, plain_table, write_json
from wayhound.cli.language import Group, json_option, limit_option, out_option, run_option, workspace_option
from wayhound.errors import UsageError
from wayhound.wording.chains import (
    format_extracted,
    format_formal,
    format_learned,
    format_path,
    paths_in_order,
)
from wayhound.wording.quantities import count, short_url
from wayhound.workspace import Workspace

FORMATS = {".jsonl": "jsonl", ".csv": "csv", ".ttl": "turtle"}

recorded_option = click.option(
    "--recorded", "recorded", multiple=True, metavar="FOLDER", type=click.Path(path_type=Path, exists=True),
    help="Read pages from this recorded site alone. May be repeated.",
)  # fmt: skip
offline_option = click.option("--offline", is_flag=True, help="Use archived pages alone; fetch nothing.")


@click.group(cls=Group)
def chains() -> None:
    """Extract relationships between pages, from a few example links."""


@contextmanager
def _opened(folder: Path, recorded: tuple[Path, ...] = (), *, offline: bool = True) -> Iterator[LinkChains]:
    online = not offline and not recorded
    with Workspace.open(folder) as workspace, LinkChains.opened(workspace, recorded, online=online) as opened:
        yield opened


@chains.command("learn")
@click.argument("ontology", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("examples", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@workspace_option
@recorded_option
@offline_option
@json_option
def learn(
    ontology: Path, examples: Path, folder: Path, recorded: tuple[Path, ...], offline: bool, as_json: bool
) -> None:
    """Learn the relationships of an ONTOLOGY (TOML) from a file of EXAMPLES.

    A line of EXAMPLES is the name of a relationship and the addresses of the pages of one chain, source first.
    Examples replace those that the relationship had.
    """
    declared = read_ontology(_text(ontology), str(ontology))
    shown = read_examples(_text(examples), declared, str(examples))
    with _opened(folder, recorded, offline=offline) as opened:
        opened.store.save_ontology(declared)
        for name, chains_shown in shown.items():
            opened.store.clear_examples(name)
            opened.store.add_examples(name, chains_shown)
        _learn(opened, list(shown), as_json)
    if not as_json:
        next_steps((command_for(folder, f"chains extract {next(iter(shown))}"), "extract all instances"))


@chains.command("relearn")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@workspace_option
@recorded_option
@offline_option
@json_option
def relearn(
    names: tuple[str, ...], folder: Path, recorded: tuple[Path, ...], offline: bool, as_json: bool
) -> None:
    """Learn relationships again from their stored examples, for a site that has changed."""
    with _opened(folder, recorded, offline=offline) as opened:
        known = [each.relationship.name for each in opened.store.relationships()]
        _learn(opened, list(names) or known, as_json)


def _learn(opened: LinkChains, names: list[str], as_json: bool) -> None:
    for name in names:
        with err.status(f"Learning {name}…"):
            learned = opened.learn(name)
        if as_json:
            rules = learned.rules.to_json()
            write_json(
                {"relationship": name, "rules": rules, "taken": learned.taken, "seconds": learned.seconds}
            )
            continue
        err.print(format_learned(learned), markup=False)
        _print_rules(opened, name)


@chains.command("show")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@workspace_option
@limit_option(10, "instances")
@json_option
def show(names: tuple[str, ...], folder: Path, limit: int, as_json: bool) -> None:
    """Show relationships: their rules in readable form, and some of their instances."""
    with _opened(folder) as opened:
        store = opened.store
        known = [store.get(name) for name in names] or store.relationships()
        if not known:
            raise UsageError("There are no relationships yet. Learn one with: wayhound chains learn")
        for each in known:
            name = each.relationship.name
            if as_json:
                rules = each.rules.to_json() if each.rules else None
                ends = {"source": each.relationship.source, "target": each.relationship.target}
                write_json({"relationship": name, **ends, "rules": rules, "instances": store.count(name)})
                continue
            examples = store.examples(name)
            known_so_far = f"{count(len(examples), 'example')}, {count(store.count(name), 'instance')}"
            out.print(f"{each.relationship.signature}: {known_so_far}", style="bold", markup=False)
            _print_rules(opened, name)
            table = plain_table("source", "link", "target")
            for instance in store.instances(name, limit=limit):
                text = instance.steps[-1].text
                table.add_row(short_url(instance.source), text, short_url(instance.target))
            if table.row_count:
                out.print(table)


def _print_rules(opened: LinkChains, name: str) -> None:
    known = opened.store.get(name)
    for lead, path in paths_in_order(known.rules) if known.rules else ():
        out.print(f"  {lead}{format_path(path)}", markup=False)
        for line in format_formal(path):
            out.print(f"          {line}", style="dim", markup=False)


@chains.command("extract")
@click.argument("name")
@click.argument("sources", nargs=-1)
@workspace_option
@recorded_option
@offline_option
@click.option("--from-forage", "goals", is_flag=True, help="Take the goals of forages as source pages.")
@click.option("--label", default="", metavar="LABEL", help="With --from-forage, only goals with this label.")
@run_option
@click.option("--budget", default=10_000, metavar="N", type=click.IntRange(1), show_default=True,
              help="Read at most this many pages for each source page.")  # fmt: skip
@click.option("--again", is_flag=True, help="Also read source pages that were done before.")
@json_option
def extract(
    name: str, sources: tuple[str, ...], folder: Path, recorded: tuple[Path, ...], offline: bool, goals: bool,
    label: str, run_id: int | None, budget: int, again: bool, as_json: bool,
) -> None:  # fmt: skip
    """Extract the instances of the relationship NAME from SOURCES (addresses, or files of them).

    Without SOURCES, all pages at hand that are built like the examples' source pages are read. The same command
    resumes an extraction that was stopped.
    """
    with _opened(folder, recorded, offline=offline) as opened:
        urls = [url for source in sources for url in _addresses(source)]
        if goals:
            urls += opened.goal_sources(label, run_id)
            if not urls:
                raise UsageError("No forage has found goals that match. See: wayhound status")
        with _progress() as progress:
            task = progress.add_task("", total=None)
            outcome = opened.extract(
                name, urls, budget=budget, again=again,
                on_progress=lambda what, done, of: progress.update(task, description=what, completed=done, total=of),
            )  # fmt: skip
    if as_json:
        write_json({"relationship": name, "instances": outcome.instances, "pages": outcome.pages,
                    "uncovered": outcome.uncovered, "unread": outcome.unread, "ask_about": outcome.ask_about,
                    "stale": outcome.stale})  # fmt: skip
        return
    for line in format_extracted(outcome):
        err.print(line, markup=False)
    next_steps(
        (command_for(folder, f"chains export {name} --out {name}.csv"), "write a table"),
        (command_for(folder, "serve"), "browse concepts and relations"),
    )


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=err, transient=True, disable=not err.is_terminal)


def _addresses(source: str) -> list[str]:
    if "://" in source:
        return [source]
    if not Path(source).is_file():
        raise UsageError(f"{source} is neither a web address nor a file of them.")
    return [line.split()[0] for line in _text(Path(source)).splitlines() if line.strip() and line[0] != "#"]


@chains.command("export")
@click.argument("name", required=False)
@workspace_option
@out_option
@click.option("--format", "file_format", type=click.Choice(["jsonl", "csv", "turtle"]),
              help="The file format.  [default: by the file's ending, else jsonl]")  # fmt: skip
def export(name: str | None, folder: Path, path: Path | None, file_format: str | None) -> None:
    """Write relationship instances as JSON lines, CSV or RDF (Turtle)."""
    ending = path.suffix.lower() if path else ".jsonl"
    if not file_format and ending not in FORMATS:
        raise UsageError(f"{path} ends in {ending}, which cannot be written. Use .jsonl, .csv or .ttl.")
    chosen = file_format or FORMATS[ending]
    with _opened(folder) as opened:
        if name:
            opened.store.get(name)
        if path is None:
            written = export_instances(opened.store, name, sys.stdout, chosen)
        else:
            with path.open("w", encoding="utf-8", newline="") as file:
                written = export_instances(opened.store, name, file, chosen)
    err.print(count(written, "instance") + (f" in {path}" if path else ""), markup=False)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{path} cannot be read: it is not text in UTF-8.") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None

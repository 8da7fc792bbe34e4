"""`wayhound trails`: the trails that were taught, in and out of the workspace, and what they lack."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from wayhound.cli.console import err, next_steps, out, typed, workspace_option
from wayhound.cli.verbs import HelpfulGroup
from wayhound.errors import TeachingError, UsageError
from wayhound.files import atomic_file
from wayhound.paths.trail_check import Remark, check_trails
from wayhound.paths.trail_file import link_to_json, read_trails, write_trails
from wayhound.store.trails import Added, KeptTrail, TrailChange, TrailSummary
from wayhound.trail import FAIL, GOAL, Trail
from wayhound.wording.quantities import count, short_url
from wayhound.workspace import Workspace

_STYLES = {GOAL: "green", FAIL: "red"}
_WEIGHTS = {"stops": ("stops", "bold red"), "weak": ("weak", "yellow"), "hint": ("hint", "dim")}


def _plain_table(*columns: str, right: Sequence[str] = ()) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    return table


def trails_table(summaries: Sequence[TrailSummary]) -> Table:
    table = _plain_table("id", "site", "way", "ends at", "taught by", right=("id",))
    for trail in summaries:
        end = trail.end_title or trail.end_url
        table.add_row(
            str(trail.id),
            Text(short_url(trail.site)),
            labels_text(trail.labels),
            Text(end),
            Text(trail.taught_by),
        )
    return table


def labels_text(labels: Sequence[str]) -> Text:
    """`home › people › Goal`; a page without a label is a dot."""
    shown = [Text(label or "·", style=_STYLES.get(label, "")) for label in labels]
    return Text(" › ").join(shown)


def trail_table(kept: KeptTrail) -> Table:
    table = _plain_table("step", "link taken", "page", "title", "label", right=("step",))
    table.title = _title(kept)
    table.title_justify = "left"
    for number, step in enumerate(kept.trail.steps):
        link = "(start)" if step.link is None else step.link.text or "(no text)"
        label = labels_text([step.label])
        table.add_row(str(number), Text(link), Text(step.page.url), Text(step.page.title), label)
    return table


def _title(kept: KeptTrail) -> str:
    at = datetime.fromtimestamp(kept.taught_at, UTC).strftime("%Y-%m-%d %H:%M")
    by = f" by {kept.trail.taught_by}" if kept.trail.taught_by else ""
    source = f", from {kept.source}" if kept.source else ""
    return escape(f"Trail {kept.id} on {kept.trail.site}, taught{by} at {at} UTC{source}")


def trail_data(kept: KeptTrail) -> dict[str, Any]:
    """One trail without the insides of its pages; a trail file has those."""
    return {
        "id": kept.id,
        "site": kept.trail.site,
        "taught_by": kept.trail.taught_by,
        "taught_at": kept.taught_at,
        "source": kept.source,
        "steps": [
            {
                "url": step.page.url,
                "title": step.page.title,
                "label": step.label,
                "link": None if step.link is None else link_to_json(step.link),
            }
            for step in kept.trail.steps
        ],
    }


def remarks_list(remarks: Sequence[Remark]) -> Table:
    table = Table.grid(padding=(0, 1))
    for remark in remarks:
        word, style = _WEIGHTS[remark.weight]
        table.add_row(Text(word, style=style), Text(remark.sentence))
    return table


json_option = click.option("--json", "as_json", is_flag=True, help="As JSON lines.")
site_option = click.option("--site", help="Only those of the site with this start page.")
goal_option = click.option("--goal", required=True, help="The label of the goal pages.")
most_option = click.option("--trails", "most", default=15, type=click.IntRange(1), show_default=True,
                           help="Trails to goals a site, and as many that end elsewhere.")  # fmt: skip


@click.group(cls=HelpfulGroup)
def trails() -> None:
    """Keep the trails that were taught: the ways to goals, and the ways that lead nowhere."""


@trails.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@workspace_option
def import_(files: tuple[Path, ...], folder: Path) -> None:
    """Take the trails of FILES into the workspace: all of them, or none if a line cannot be read."""
    with Workspace.open(folder) as workspace:
        source = ", ".join(file.name for file in files)
        _tell(workspace, workspace.stores.trails.add_all(_of(files), time.time(), source))


def _of(files: tuple[Path, ...]) -> Iterator[Trail]:
    for file in files:
        yield from read_trails(file)


def _tell(workspace: Workspace, added: Added) -> None:
    known = f", {added.known} were there already" if added.known else ""
    sites = count(len(workspace.stores.trails.sites()), "site")
    err.print(
        f"{count(len(added.ids), 'trail')} added{known}. There are {len(workspace.stores.trails)} of {sites} now."
    )
    next_steps(
        (typed(workspace.folder, "trails check"), "what they lack, in words"),
        (typed(workspace.folder, "train"), "learn from them"),
    )


@trails.command("export")
@workspace_option
@click.option(
    "--out", "path", type=click.Path(path_type=Path, dir_okay=False), help="A file.  [default: stdout]"
)
@site_option
def export(folder: Path, path: Path | None, site: str | None) -> None:
    """Write the trails as a trail file, for another workspace or another person."""
    with Workspace.open(folder) as workspace:
        kept = (each.trail for each in workspace.stores.trails.iterate(site))
        if path is None:
            written = write_trails(kept, sys.stdout.buffer)
        else:
            with atomic_file(path) as stream:
                written = write_trails(kept, stream)
    err.print(count(written, "trail") + (f" in {path}" if path else ""))


@trails.command("list")
@workspace_option
@site_option
@json_option
def list_(folder: Path, site: str | None, as_json: bool) -> None:
    """List the trails: site, labels on the way, how each ended."""
    with Workspace.open(folder) as workspace:
        summaries = workspace.stores.trails.summaries(site)
    if as_json:
        for summary in summaries:
            click.echo(json.dumps(asdict(summary) | {"ending": summary.ending}, ensure_ascii=False))
    elif summaries:
        out.print(trails_table(summaries))
    else:
        _say_how_to_teach(folder, site)


def _say_how_to_teach(folder: Path, site: str | None) -> None:
    err.print(f"There are no trails{f' of {site}' if site else ''} yet.", markup=False)
    next_steps(
        (typed(folder, "teach https://one.example"), "show it the way in a browser"),
        (typed(folder, "trails import FILE"), "or take trails that somebody gave you"),
    )


@trails.command("show")
@click.argument("trail_id", metavar="ID", type=int)
@workspace_option
@json_option
def show(trail_id: int, folder: Path, as_json: bool) -> None:
    """Show one trail step by step: the link taken, the page reached, its label."""
    with Workspace.open(folder) as workspace:
        kept = workspace.stores.trails.get(trail_id)
    if as_json:
        click.echo(json.dumps(trail_data(kept), ensure_ascii=False))
    else:
        out.print(trail_table(kept))


@trails.command("check")
@workspace_option
@json_option
def check(folder: Path, as_json: bool) -> None:
    """Say what the trails lack: goals, wrong ways, sites, labels."""
    with Workspace.open(folder) as workspace:
        remarks = check_trails(workspace.stores.trails.trails())
    if as_json:
        for remark in remarks:
            click.echo(json.dumps(asdict(remark), ensure_ascii=False))
    elif remarks:
        out.print(remarks_list(remarks))
    else:
        out.print("The trails lack nothing that could be seen.")
        next_steps((typed(folder, "train"), "learn from them"))
    if any(remark.weight == "stops" for remark in remarks):
        raise TeachingError("Nothing can be learned from these trails yet.")


@trails.command("relabel")
@click.argument("trail_id", metavar="ID", type=int)
@click.argument("step", type=click.IntRange(0))
@click.argument("label")
@workspace_option
def relabel(trail_id: int, step: int, label: str, folder: Path) -> None:
    """Give step STEP of a trail (the start page is 0) another label; '' takes it away."""
    with Workspace.open(folder) as workspace:
        workspace.stores.trails.relabel(trail_id, step, label, time.time())
        out.print(trail_table(workspace.stores.trails.get(trail_id)))


@trails.command("delete")
@click.argument("trail_ids", metavar="ID…", nargs=-1, required=True, type=int)
@workspace_option
def delete(trail_ids: tuple[int, ...], folder: Path) -> None:
    """Delete trails; `trails undo` brings back one after the other."""
    with Workspace.open(folder) as workspace:
        for trail_id in trail_ids:
            workspace.stores.trails.get(trail_id)
        for trail_id in trail_ids:
            workspace.stores.trails.delete(trail_id, time.time())
    err.print(f"{count(len(trail_ids), 'trail')} deleted. To bring back: {typed(folder, 'trails undo')}")


@trails.command("undo")
@workspace_option
def undo(folder: Path) -> None:
    """Take back the last deletion or relabelling; again, the one before it."""
    with Workspace.open(folder) as workspace:
        change = workspace.stores.trails.undo()
    if change is None:
        raise UsageError("Nothing was deleted or relabelled that could be taken back.")
    err.print(_undone(change), markup=False)


def _undone(change: TrailChange) -> str:
    if change.kind == "delete":
        return f"Trail {change.trail_id} is back."
    return f"Step {change.step} of trail {change.trail_id} is {change.before or 'without a label'!r} again."


def _skipped(goal: str) -> Callable[[str], None]:
    return lambda site: err.print(f"{site} has no page labelled {goal!r} that links lead to.", markup=False)


@trails.command("from-labels")
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@workspace_option
@goal_option
@most_option
def from_labels(folders: tuple[Path, ...], folder: Path, goal: str, most: int) -> None:
    """Make trails from recorded and labelled sites: FOLDERS are site folders, or hold them.

    A teacher's clicks are made up: the shortest ways to goal pages, with the labels of the pages on them,
    and ways that end elsewhere.
    """
    from wayhound.app.evaluate.run import load_worlds  # noqa: PLC0415
    from wayhound.app.trails import trails_from  # noqa: PLC0415 - loads numpy and scipy

    with Workspace.open(folder) as workspace:
        made = trails_from(load_worlds(folders), goal, most, _skipped(goal))
        _tell(workspace, workspace.stores.trails.add_all(made, time.time(), "labels"))


@trails.command("from-samples")
@click.argument("names", nargs=-1, required=True)
@workspace_option
@goal_option
@most_option
def from_samples(names: tuple[str, ...], folder: Path, goal: str, most: int) -> None:
    """Make trails on sites of the sample web, to try all this out: NAMES such as physics and cs."""
    from wayhound.app.trails import sample_worlds, trails_from  # noqa: PLC0415 - loads numpy and scipy

    with Workspace.open(folder) as workspace:
        made = trails_from(sample_worlds(names), goal, most, _skipped(goal))
        _tell(workspace, workspace.stores.trails.add_all(made, time.time(), "samples"))

"""`wayhound trails`: the trails that were taught, in and out of the workspace, and their problems."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from wayhound.app.trails import (
    OnSkip,
    add_from_labels,
    add_from_samples,
    check,
    delete_trails,
    export_trails,
    import_trails,
)
from wayhound.cli.console import LABEL_STYLES, command_for, err, next_steps, out, plain_table, write_json
from wayhound.cli.language import (
    Group,
    goal_label_option,
    json_option,
    out_option,
    trails_option,
    workspace_option,
)
from wayhound.errors import TeachingError, UsageError
from wayhound.paths.trail_check import Remark
from wayhound.paths.trail_file import link_to_json
from wayhound.store.trails import AddedTrails, KeptTrail, TrailSummary
from wayhound.wording.quantities import count, short_url
from wayhound.wording.teaching import NO_PROBLEMS, format_added, format_origin
from wayhound.wording.undo import NOTHING, format_trail_undo
from wayhound.workspace import Workspace

_WEIGHT_STYLES = {"stops": "bold red", "weak": "yellow", "hint": "dim"}

site_option = click.option("--site", metavar="URL", help="Only the site with this start page.")


@click.group(cls=Group)
def trails() -> None:
    """List, check, import and export the trails that were taught: paths to goals, and paths that were rejected."""


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
            write_json(asdict(summary) | {"ending": summary.ending})
    elif summaries:
        out.print(_trails_table(summaries))
    else:
        err.print(f"There are no trails{f' of {site}' if site else ''} yet.", markup=False)
        next_steps(
            (command_for(folder, "teach https://one.example"), "show it the way in a browser"),
            (command_for(folder, "trails import FILE"), "or take trails that somebody gave you"),
        )


def _trails_table(summaries: Sequence[TrailSummary]) -> Table:
    table = plain_table("id", "site", "labels", "ends at", "taught by", right=("id",))
    for trail in summaries:
        end = Text(trail.end_title or trail.end_url)
        site = Text(short_url(trail.site))
        table.add_row(str(trail.id), site, _labels_text(trail.labels), end, Text(trail.taught_by))
    return table


def _labels_text(labels: Sequence[str]) -> Text:
    """Return `home › people › Goal`, as trail files spell labels; a page without a label is a dot."""
    return Text(" › ").join(Text(label or "·", style=LABEL_STYLES.get(label, "")) for label in labels)


@trails.command("show")
@click.argument("trail_id", metavar="ID", type=int)
@workspace_option
@json_option
def show(trail_id: int, folder: Path, as_json: bool) -> None:
    """Show one trail step by step: the link clicked, the page reached, its label."""
    with Workspace.open(folder) as workspace:
        kept = workspace.stores.trails.get(trail_id)
    if as_json:
        write_json(_trail_to_json(kept))
    else:
        out.print(_trail_table(kept))


def _trail_table(kept: KeptTrail) -> Table:
    table = plain_table("step", "link", "page", "title", "label", right=("step",))
    table.title = Text(format_origin(kept))
    table.title_justify = "left"
    for number, step in enumerate(kept.trail.steps):
        link = "(start)" if step.link is None else step.link.text or "(no text)"
        label = _labels_text([step.label])
        table.add_row(str(number), Text(link), Text(step.page.url), Text(step.page.title), label)
    return table


def _trail_to_json(kept: KeptTrail) -> dict[str, Any]:
    """Return one trail without the content of its pages; trail files have that."""
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


@trails.command("complete")
@click.argument("site", metavar="SITE")
@workspace_option
@click.option("--yes", is_flag=True, help="Ask nothing: the goals that the trails show are all.")
@click.option("--no", "incomplete", is_flag=True, help="Take it back: there may be more.")
def complete(site: str, folder: Path, yes: bool, incomplete: bool) -> None:
    """Say that you know all goals of the taught SITE, so that training takes its other pages for none.

    Pages that look like further goals are asked about first. They are found among the pages that were fetched
    beside the trails, so look around before (`wayhound train --look-around 60`).
    """
    from wayhound.app.look_around import shown_goals, suspected_goals  # noqa: PLC0415 - loads numpy

    with Workspace.open(folder) as workspace:
        shown = shown_goals(workspace, site)
        if incomplete:
            workspace.stores.site_notes.complete.remove(site)
            err.print(f"Taken back: {site} may have more goals.", markup=False)
            return
        suspects = {} if yes else suspected_goals(workspace, site)
        for title, url in [(title, url) for url, title in shown.items()]:
            err.print(f"  {title or '(no title)'}  {url}", markup=False)
        also = [
            url
            for url, title in suspects.items()
            if click.confirm(f"{title}  {url}\nIs this one too?", err=True)
        ]
        goals = [*shown, *also]
        if not yes and not click.confirm(f"Are these {len(goals)} all goals of {site}?", err=True):
            err.print("Nothing was changed. Show more of them: " + command_for(folder, f"teach {site}"))
            return
        workspace.stores.site_notes.complete.add(site, goals, time.time())
    err.print(f"Saved: {count(len(goals), 'goal')} of {site}, and no other.", markup=False)
    next_steps((command_for(folder, "train"), "learn from it"))


@trails.command("check")
@workspace_option
@json_option
def check_command(folder: Path, as_json: bool) -> None:
    """List what the trails lack: goals, rejected pages, sites, labels.

    Exits with code 6 if nothing can be learned from them.
    """
    with Workspace.open(folder) as workspace:
        remarks = check(workspace)
    if as_json:
        for remark in remarks:
            write_json(asdict(remark))
    elif remarks:
        out.print(remarks_list(remarks))
    else:
        out.print(NO_PROBLEMS)
        next_steps((command_for(folder, "train"), "learn from them"))
    if any(remark.weight == "stops" for remark in remarks):
        raise TeachingError("Nothing can be learned from these trails yet.")


def remarks_list(remarks: Sequence[Remark]) -> Table:
    """Return one row a remark, the gravest first."""
    table = Table.grid(padding=(0, 1))
    for remark in remarks:
        table.add_row(Text(remark.weight, style=_WEIGHT_STYLES[remark.weight]), Text(remark.sentence))
    return table


@trails.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@workspace_option
def import_(files: tuple[Path, ...], folder: Path) -> None:
    """Add the trails of FILES: all of them, or none if a line cannot be read.

    Trails that the workspace already has are not added again.
    """
    with Workspace.open(folder) as workspace:
        _print_added(workspace, import_trails(workspace, files))


def _print_added(workspace: Workspace, added: AddedTrails) -> None:
    store = workspace.stores.trails
    err.print(format_added(added, len(store), len(store.sites())))
    next_steps(
        (command_for(workspace.folder, "trails check"), "what they lack"),
        (command_for(workspace.folder, "train"), "learn from them"),
    )


@trails.command("export")
@workspace_option
@out_option
@site_option
def export(folder: Path, path: Path | None, site: str | None) -> None:
    """Write the trails as a trail file, for another workspace or another person."""
    with Workspace.open(folder) as workspace:
        written = export_trails(workspace, path, site)
    err.print(count(written, "trail") + (f" in {path}" if path else ""), markup=False)


@trails.command("relabel")
@click.argument("trail_id", metavar="ID", type=int)
@click.argument("step", type=click.IntRange(0))
@click.argument("label")
@workspace_option
def relabel(trail_id: int, step: int, label: str, folder: Path) -> None:
    """Give step STEP of a trail another label. The start page is step 0; '' removes the label."""
    with Workspace.open(folder) as workspace:
        workspace.stores.trails.relabel(trail_id, step, label, time.time())
        out.print(_trail_table(workspace.stores.trails.get(trail_id)))


@trails.command("delete")
@click.argument("trail_ids", metavar="ID…", nargs=-1, required=True, type=int)
@workspace_option
def delete(trail_ids: tuple[int, ...], folder: Path) -> None:
    """Delete trails. `trails undo` brings them back one by one."""
    with Workspace.open(folder) as workspace:
        delete_trails(workspace, trail_ids)
    err.print(
        f"Deleted {count(len(trail_ids), 'trail')}. To bring back: {command_for(folder, 'trails undo')}"
    )


@trails.command("undo")
@workspace_option
def undo(folder: Path) -> None:
    """Undo the last deletion or relabelling; called again, the one before it."""
    with Workspace.open(folder) as workspace:
        change = workspace.stores.trails.undo()
    if change is None:
        raise UsageError(NOTHING)
    err.print(format_trail_undo(change), markup=False)


# Trails made from something else than a teacher's clicks


@trails.command("from-labels")
@click.argument("folders", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@workspace_option
@goal_label_option()
@trails_option
def from_labels(folders: tuple[Path, ...], folder: Path, goal: str, trails_a_site: int) -> None:
    """Make trails from recorded and labelled sites. FOLDERS are site folders, or folders of them.

    The clicks are made up: the shortest paths to goal pages, with the labels of the pages on them, and paths
    that end elsewhere.
    """
    with Workspace.open(folder) as workspace:
        _print_added(workspace, add_from_labels(workspace, folders, goal, trails_a_site, _report_skip(goal)))


@trails.command("from-samples")
@click.argument("names", nargs=-1, required=True)
@workspace_option
@goal_label_option()
@trails_option
def from_samples(names: tuple[str, ...], folder: Path, goal: str, trails_a_site: int) -> None:
    """Make trails on sites of the sample web, to try Wayhound out: NAMES such as physics and cs."""
    with Workspace.open(folder) as workspace:
        _print_added(workspace, add_from_samples(workspace, names, goal, trails_a_site, _report_skip(goal)))


def _report_skip(goal: str) -> OnSkip:
    return lambda site: err.print(f"{site} has no page labelled {goal!r} that links lead to.", markup=False)


@trails.command("from-browsing")
@workspace_option
def from_browsing(folder: Path) -> None:
    """Make trails of free sessions (`teach --free`) that have none yet."""
    from wayhound.app.teach.teaching import save_free_trails  # noqa: PLC0415 - loads the browser

    with Workspace.open(folder) as workspace:
        made = save_free_trails(workspace)
        _print_added(workspace, AddedTrails(tuple(range(made)), 0))


@trails.command("from-script")
@click.argument("script", metavar="FILE")
@workspace_option
@click.option("--browser", default="", metavar="PATH", help="The Chromium to use.  [default: the system's]")
def from_script(script: str, folder: Path, browser: str) -> None:
    """Play a session back from FILE in a browser that nobody sees, or `sample` for the lesson of the demo.

    docs/teach.md describes such files.
    """
    from wayhound.app.teach.playback import Script, play, read_script  # noqa: PLC0415 - loads the browser
    from wayhound.cli.teach import print_session  # noqa: PLC0415
    from wayhound.net.browser import BrowserOptions  # noqa: PLC0415

    lesson = Script.sample() if script == "sample" else read_script(Path(script))
    with Workspace.open(folder) as workspace:
        err.print(f"{lesson.title}\n", style="bold")
        print_session(
            workspace, play(lesson, workspace, BrowserOptions(browser, headless=True), say=err.print)
        )


@trails.command("graph")
@workspace_option
def graph(folder: Path) -> None:
    """Print the web graph of the last free session (`teach --free`) as JSON."""
    from wayhound.app.teach.teaching import graph_data  # noqa: PLC0415 - loads the browser

    with Workspace.open(folder) as workspace:
        write_json(graph_data(workspace), indent=1)

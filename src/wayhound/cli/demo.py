"""`wayhound demo`: everything on the sample web, from teaching to the portal, without internet."""

from __future__ import annotations

import shutil
from pathlib import Path

import click
from rich.rule import Rule

from wayhound.cli.console import err, require_extra
from wayhound.cli.language import Command, port_option
from wayhound.errors import UsageError
from wayhound.samples import sample_web, serve_samples
from wayhound.wording.quantities import count
from wayhound.workspace import Workspace

MARK = ".wayhound-demo"  # in folders that the demo made, with the time when it had done so
NEEDED = ("fastapi", "jinja2", "multipart", "playwright", "pycrfsuite", "pypdfium2", "tantivy", "uvicorn")


@click.command(cls=Command)
@click.option("--workspace", "-w", "folder", metavar="FOLDER", default=Path("demo"), show_default=True,
              type=click.Path(path_type=Path, file_okay=False),
              help="The workspace of the demo, made anew each time; one that you worked in is kept under another "
                   "name.")  # fmt: skip
@port_option(8765)
@click.option("--by-hand", is_flag=True,
              help="Teach yourself, in a browser window; without a display, in a page of the studio.")  # fmt: skip
def demo(folder: Path, port: int, by_hand: bool) -> None:
    """Teach, train, forage, read papers, place them under topics and serve a portal, on the sample web.

    Without a terminal, the portal is asked for one page of each kind, and the demo ends.
    """
    require_extra("The demo, which shows everything,", "all", *NEEDED)
    from wayhound.cli import demo_steps as steps  # noqa: PLC0415 - loads everything

    _clear(folder)
    web = sample_web()
    with serve_samples(web) as server:
        with Workspace.create(folder) as workspace:
            (folder / MARK).touch()
            sites = count(len(web.sites), "sample site")
            err.print(f"Serving {sites} on this machine. No internet is used.")
            who = "you click" if by_hand else "watch clicks"
            _chapter(f"Teach: {who} through three departments, to their papers")
            with (steps.teach_by_hand if by_hand else steps.teach_by_lesson)(workspace, server):
                _chapter("Train: learn from these clicks what leads to a paper")
                steps.train_model(workspace)
                _chapter("Forage: eight departments, five of them never seen, 90 pages each")
                steps.forage_departments(workspace, web, server)
                _chapter("Facts without teaching: e-mail, phone and address of six companies")
                steps.find_contacts(workspace, web, server)
                _chapter("Relations: the actors of all films of a catalogue, from one example")
                steps.extract_relations(workspace, web, server)
                _chapter("Papers: titles, authors, abstracts and references")
                steps.add_papers(workspace)
                _chapter("Topics: papers placed in a tree, from a few keywords for each topic")
                steps.fill_topics(workspace)
        if not by_hand:
            _seal(folder)
        _chapter("Serve: a portal over papers, companies and films")
        steps.show_portal(folder, port)


def _chapter(title: str) -> None:
    """Print a heading over the width of the terminal, or in bold where that is narrow."""
    err.print()
    err.print(Rule(title, align="left") if len(title) + 4 <= err.width else f"[bold]{title}[/]")


def _seal(folder: Path) -> None:
    """Write down the state of a folder that nobody but the demo has worked in."""
    (folder / MARK).write_text(_state(folder))


def _state(folder: Path) -> str:
    """Return the number, sizes and last change of the files that hold what people make: settings, trails, models."""
    kept = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and path.name != MARK and "index" not in path.parts
    )
    return "\n".join(
        f"{path.relative_to(folder)} {path.stat().st_size} {path.stat().st_mtime_ns}" for path in kept
    )


def _clear(folder: Path) -> None:
    """Remove the last demo, or move it aside if somebody taught, changed or added something in it.

    Raises UsageError for a folder that the demo did not make.
    """
    if not folder.exists() or not any(folder.iterdir()):
        return
    mark = folder / MARK
    if not mark.exists():
        raise UsageError(f"{folder} was not made by the demo. Choose another folder with --workspace.")
    if (sealed := mark.read_text()) and sealed == _state(folder):
        shutil.rmtree(folder)
        return
    names = (folder.with_name(f"{folder.name}-{number}") for number in range(1, 1_000_000))
    kept = next(name for name in names if not name.exists())
    folder.rename(kept)
    err.print(f"The last demo may hold something of yours: it is kept as {kept}.", markup=False)

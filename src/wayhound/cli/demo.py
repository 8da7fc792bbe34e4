"""`wayhound demo`: the whole way on the sample web, from teaching to the portal, with no internet."""

from __future__ import annotations

import shutil
from pathlib import Path

import click
from rich.rule import Rule

from wayhound.cli.console import err, require_extra
from wayhound.errors import UsageError
from wayhound.samples import SampleServer, SampleWeb, sample_web, serve_samples
from wayhound.wording.quantities import count
from wayhound.workspace import Workspace

MARK = ".wayhound-demo"  # in folders that the demo made, and may make anew
NEEDED = ("fastapi", "jinja2", "multipart", "playwright", "pycrfsuite", "pypdfium2", "tantivy", "uvicorn")


@click.command()
@click.option("--workspace", "folder", type=click.Path(path_type=Path, file_okay=False), default=Path("demo"),
              show_default=True, help="Where the demo keeps what it finds; made anew each time.")  # fmt: skip
@click.option("--port", default=8765, type=click.IntRange(0, 65535), show_default=True,
              help="Of the portal at the end.")  # fmt: skip
@click.option("--by-hand", is_flag=True,
              help="Teach yourself, in a browser window; without a display, in a page of the studio.")  # fmt: skip
def demo(folder: Path, port: int, by_hand: bool) -> None:
    """Teach, learn, forage, read, order and serve, on the sample web."""
    require_extra("The demo, which shows everything,", "all", *NEEDED)
    from wayhound.cli.demo_portal import show_portal  # noqa: PLC0415 - after it is known to be there

    _clear(folder)
    web = sample_web()
    with serve_samples(web) as server:
        with Workspace.create(folder) as workspace:
            (folder / MARK).touch()
            sites = count(len(web.sites), "sample site")
            err.print(f"{sites} are served on this machine. No internet is used.\n")
            _all_steps(workspace, web, server, by_hand=by_hand)
        chapter("Serve: the portal")
        show_portal(folder, port)


def _all_steps(workspace: Workspace, web: SampleWeb, server: SampleServer, *, by_hand: bool) -> None:
    from wayhound.cli.demo_steps import (  # noqa: PLC0415  # noqa: PLC0415
        COMPANIES,
        DEPARTMENTS,
        add_papers,
        fill_topics,
        forage_sites,
        learn,
        taught_by_hand,
        taught_by_lesson,
    )

    chapter(f"Teach: {'you click' if by_hand else 'watch clicks'} through three departments, to their papers")
    with (taught_by_hand if by_hand else taught_by_lesson)(workspace, server):
        chapter("Learn: from these clicks, what leads to a paper")
        learn(workspace)
        chapter("Forage: eight departments, five of them never seen, 90 pages each")
        forage_sites(workspace, web, server, DEPARTMENTS)
        chapter("Forage without teaching: contact pages of six companies, by words")
        forage_sites(workspace, web, server, COMPANIES)
        chapter("Read: titles, authors, abstracts and references of the papers")
        add_papers(workspace)
        chapter("Order: papers into a tree of topics, from a few words for each")
        fill_topics(workspace)


def chapter(title: str) -> None:
    """A heading over the width of the terminal, or where that is narrow, in bold."""
    err.print()
    err.print(Rule(title, align="left") if len(title) + 4 <= err.width else f"[bold]{title}[/]")


def _clear(folder: Path) -> None:
    """Take the last demo away; never anything else."""
    if not folder.exists():
        return
    if not (folder / MARK).exists() and any(folder.iterdir()):
        raise UsageError(f"{folder} was not made by the demo. Choose another folder with --workspace.")
    shutil.rmtree(folder)

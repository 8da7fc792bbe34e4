"""`trailmark studio`: the operator's pages of a workspace, on this machine, until Ctrl-C."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import click

from trailmark.cli.console import err, needs, say, workspace_option
from trailmark.errors import UsageError
from trailmark.net.browser import has_display
from trailmark.workspace import Workspace

HOST = "127.0.0.1"
USUAL_PORT = 8766
NEEDED = ("fastapi", "jinja2", "multipart", "uvicorn")


@click.command()
@workspace_option
@click.option("--port", default=USUAL_PORT, type=click.IntRange(0, 65535), show_default=True,
              help="The port to listen at; 0 takes any that is free.")  # fmt: skip
def studio(folder: Path, port: int) -> None:
    """Teach, train, watch forages and review what they found, in a browser on this machine.

    The address that is printed holds a token: without it, nobody gets in.
    """
    with Workspace.open(folder) as workspace:
        folder = workspace.folder
    serve_studio(folder, port)


def teach_in_a_page(folder: Path) -> None:
    """For machines without a display: the studio, at its page for teaching, on the session that waits."""
    err.print("There is no display here to open a browser window on: teach in a page of the studio.")
    try:
        serve_studio(folder, USUAL_PORT, "teach")
    except UsageError:  # the usual port is taken, perhaps by another studio
        serve_studio(folder, 0, "teach")


def serve_studio(folder: Path, port: int, page: str = "") -> None:
    """Serve until Ctrl-C; the address that is printed leads to `page`."""
    needs("The studio", "portal", *NEEDED)
    from trailmark.serve.studio.access import new_token  # noqa: PLC0415
    from trailmark.serve.studio.app import make_studio  # noqa: PLC0415
    from trailmark.serve.web.server import address_of, make_server, open_socket  # noqa: PLC0415

    with open_socket(HOST, port) as listening:
        token = new_token()
        logging.basicConfig(format="%(message)s")
        server = make_server(make_studio(folder, token))
        say(f"The studio is at {address_of(listening)}{page}?token={token} until you press Ctrl-C.")
        say_how_to_open(listening.getsockname()[1])
        try:
            server.run(sockets=[listening])
        except KeyboardInterrupt:  # the server has ended in good order, and hands the signal on
            err.print("Stopped. Everything is saved; the same command opens the studio again.")


def say_how_to_open(port: int) -> None:
    """Where the browser is, and for machines that one reaches by SSH, how to get there."""
    err.print("Open this address in a browser: hold Ctrl and click on it, or copy it.")
    if not has_display() and sys.platform == "linux":
        err.print(
            f"From another machine: ssh -L {port}:{HOST}:{port} this-machine, and then the same address."
        )

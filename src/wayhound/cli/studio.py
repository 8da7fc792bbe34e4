"""`wayhound studio`: the operator's pages of a workspace, on this machine, until Ctrl-C."""

from __future__ import annotations

import logging
import socket
import sys
import threading
import webbrowser
from pathlib import Path

import click

from wayhound.cli.console import err, require_extra, write_line
from wayhound.cli.language import workspace_option
from wayhound.errors import UsageError
from wayhound.net.browser import has_display
from wayhound.workspace import Workspace

HOST = "127.0.0.1"
USUAL_PORT = 8766
NEEDED = ("fastapi", "jinja2", "multipart", "uvicorn")


@click.command()
@workspace_option
@click.option("--port", type=click.IntRange(0, 65535), metavar="PORT",
              help=f"The port to listen at.  [default: {USUAL_PORT}, or any that is free]")  # fmt: skip
@click.option("--no-browser", is_flag=True, help="Only print the address; open nothing.")
def studio(folder: Path, port: int | None, no_browser: bool) -> None:
    """Teach, train, watch forages and review what they found, in a browser on this machine.

    The address that is printed holds a token: without it, nobody gets in.
    """
    with Workspace.open(folder) as workspace:
        folder = workspace.folder
    serve_studio(folder, port, opens=not no_browser)


def teach_in_a_page(folder: Path) -> None:
    """For machines without a display: the studio, at its page for teaching, on the session that waits."""
    err.print("There is no display here to open a browser window on: teach in a page of the studio.")
    serve_studio(folder, None, "teach")


def serve_studio(folder: Path, port: int | None, page: str = "", *, opens: bool = False) -> None:
    """Serve until Ctrl-C; the address that is printed leads to `page`, and is opened where somebody sits."""
    require_extra("The studio", "portal", *NEEDED)
    from wayhound.studio.access import new_token  # noqa: PLC0415
    from wayhound.studio.app import make_studio  # noqa: PLC0415
    from wayhound.web.server import address_of, make_server  # noqa: PLC0415

    with _listening(port) as listening:
        token = new_token()
        logging.basicConfig(format="%(message)s")
        server = make_server(make_studio(folder, token))
        address = f"{address_of(listening)}{page}?token={token}"
        write_line(f"The studio is at {address} until you press Ctrl-C.")
        if not (opens and opened(address)):
            say_how_to_open(listening.getsockname()[1])
        try:
            server.run(sockets=[listening])
        except KeyboardInterrupt:  # the server has ended in good order, and hands the signal on
            err.print("Stopped. Everything is saved; the same command opens the studio again.")


def _listening(port: int | None) -> socket.socket:
    """At the port that was asked for; else at the usual one, or at another if a second studio has taken it."""
    from wayhound.web.server import open_socket  # noqa: PLC0415

    if port is not None:
        return open_socket(HOST, port)
    try:
        return open_socket(HOST, USUAL_PORT)
    except UsageError:
        return open_socket(HOST, 0)


def opened(address: str) -> bool:
    """Open the address in the browser of whoever sits at this terminal; tells whether anybody does."""
    if not (has_display() and sys.stdout.isatty()):
        return False
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
    err.print("It opens in your browser. If not: hold Ctrl and click on the address, or copy it.")
    return True


def say_how_to_open(port: int) -> None:
    """Where the browser is, and for machines that one reaches by SSH, how to get there."""
    err.print("Open this address in a browser: hold Ctrl and click on it, or copy it.")
    if not has_display() and sys.platform == "linux":
        err.print(
            f"From another machine: ssh -L {port}:{HOST}:{port} this-machine, and then the same address."
        )

"""`wayhound studio`: the pages of a workspace for its owner, on this machine."""

from __future__ import annotations

import html
import logging
import socket
import sys
import threading
import webbrowser
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from wayhound.cli.console import err, require_extra, write_line
from wayhound.cli.language import Command, port_option, workspace_option
from wayhound.errors import UsageError
from wayhound.net.browser import has_display
from wayhound.workspace import Workspace

HOST = "127.0.0.1"
DEFAULT_PORT = 8766
NEEDED = ("fastapi", "jinja2", "multipart", "uvicorn")


@click.command(cls=Command)
@workspace_option
@port_option(DEFAULT_PORT, or_free=True)
@click.option("--no-browser", is_flag=True, help="Print the address, and open no browser.")
def studio(folder: Path, port: int | None, no_browser: bool) -> None:
    """Teach, train, forage and review results, in a browser on this machine, until Ctrl-C.

    The address that is printed has a token in it, without which nobody gets in.
    """
    with Workspace.open(folder) as workspace:
        folder = workspace.folder
    serve_studio(folder, port, opens=not no_browser)


def teach_in_a_page(folder: Path) -> None:
    """Serve the studio at its page for teaching, on machines without a display."""
    err.print("There is no display to open a browser window on, so teach in a page of the studio.")
    serve_studio(folder, None, "teach")


def serve_studio(folder: Path, port: int | None, page: str = "", *, opens: bool = False) -> None:
    """Serve until Ctrl-C, and print the address of `page`. With `opens` it is opened in the user's browser."""
    require_extra("The studio", "portal", *NEEDED)
    from wayhound.studio.access import new_token, origin_name  # noqa: PLC0415
    from wayhound.studio.app import make_studio  # noqa: PLC0415
    from wayhound.web.app import make_server  # noqa: PLC0415

    with _listening(port) as listening:
        token = new_token()
        logging.basicConfig(format="%(message)s")
        server = make_server(make_studio(folder, token))
        port = listening.getsockname()[1]
        address = f"http://{origin_name(token)}:{port}/{page}?token={token}"
        write_line(f"The studio is at {address} until you press Ctrl-C.")
        with ExitStack() as stack:
            if not (opens and _open_in_browser(address, stack)):
                print_how_to_open(port)
            try:
                server.run(sockets=[listening])
            except KeyboardInterrupt:  # the server has shut down, and passes the signal on
                err.print("Stopped. Everything is saved; the same command opens the studio again.")


def _listening(port: int | None) -> socket.socket:
    """Listen at the given port; else at the default one, or at a free one if a second studio has taken it."""
    from wayhound.web.app import open_socket  # noqa: PLC0415

    if port is not None:
        return open_socket(HOST, port)
    try:
        return open_socket(HOST, DEFAULT_PORT)
    except UsageError:
        return open_socket(HOST, 0)


def _open_in_browser(address: str, stack: ExitStack) -> bool:
    """Open the address in the user's browser. Return False if there is no terminal or display.

    The browser is given a private file that leads to the address, which is removed with `stack`: everybody on this
    machine can read the arguments of a command, and the address lets in who has it.
    """
    if not (has_display() and sys.stdout.isatty()):
        return False
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="wayhound-")))  # for its owner alone
    page = folder / "open-studio.html"
    page.write_text(f'<!doctype html><meta http-equiv="refresh" content="0; url={html.escape(address)}">\n')
    threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()
    err.print("It opens in your browser. If it does not, hold Ctrl and click on the address, or copy it.")
    return True


def print_how_to_open(port: int) -> None:
    """Print how to open the address, also from another machine by SSH."""
    err.print(
        "Open this address in a browser: hold Ctrl and click on it, or copy it. If the browser does not find "
        f"it, put {HOST} in place of the name."
    )
    if not has_display() and sys.platform == "linux":
        err.print(
            f"From another machine: ssh -L {port}:{HOST}:{port} this-machine, and then the same address."
        )

"""`trailmark studio`: the operator's pages of a workspace, on this machine, until Ctrl-C."""

from __future__ import annotations

import logging
from pathlib import Path

import click

from trailmark.cli.console import err, needs, say, workspace_option
from trailmark.workspace import Workspace

HOST = "127.0.0.1"


@click.command()
@workspace_option
@click.option("--port", default=8766, type=click.IntRange(0, 65535), show_default=True,
              help="The port to listen at; 0 takes any that is free.")  # fmt: skip
def studio(folder: Path, port: int) -> None:
    """Teach, train, watch forages and review what they found, in a browser on this machine.

    The address that is printed holds a token: without it, nobody gets in.
    """
    needs("The studio", "portal", "fastapi", "jinja2", "multipart", "uvicorn")
    from trailmark.serve.studio.access import new_token  # noqa: PLC0415
    from trailmark.serve.studio.app import make_studio  # noqa: PLC0415
    from trailmark.serve.web.server import address_of, make_server, open_socket  # noqa: PLC0415

    with Workspace.open(folder) as workspace:
        folder = workspace.folder
    with open_socket(HOST, port) as listening:
        token = new_token()
        logging.basicConfig(format="%(message)s")
        server = make_server(make_studio(folder, token))
        say(f"The studio is at {address_of(listening)}?token={token} until you press Ctrl-C.")
        try:
            server.run(sockets=[listening])
        except KeyboardInterrupt:  # the server has ended in good order, and hands the signal on
            err.print("Stopped.")

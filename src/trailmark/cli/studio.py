"""`trailmark studio`: the operator's pages of a workspace, on this machine, until Ctrl-C."""

from __future__ import annotations

import importlib.util
import logging
from pathlib import Path

import click

from trailmark.cli.console import err, say, workspace_option
from trailmark.errors import UsageError
from trailmark.workspace import Workspace

HOST = "127.0.0.1"
_NEEDED = ("fastapi", "jinja2", "multipart", "uvicorn")


@click.command()
@workspace_option
@click.option("--port", default=8766, type=click.IntRange(0, 65535), show_default=True,
              help="The port to listen at; 0 takes any that is free.")  # fmt: skip
def studio(folder: Path, port: int) -> None:
    """Teach, train, watch forages and review what they found, in a browser on this machine.

    The address that is printed holds a token: without it, nobody gets in.
    """
    if missing := [each for each in _NEEDED if importlib.util.find_spec(each) is None]:
        raise UsageError(f"The studio needs {missing[0]}: pip install 'trailmark[portal]'")
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

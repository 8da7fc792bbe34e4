"""Several processes that serve one portal on one port, so that all cores of a machine are used.

Each inherits the listening socket, and ends when its standard input does: however this process ends, none is left
behind.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self

from wayhound.portal.app import make_portal
from wayhound.portal.library import WorkspaceAccess
from wayhound.portal.portal import PortalSettings
from wayhound.processes import python_command, start_process, wait_or_kill
from wayhound.web.app import WebSettings, make_server
from wayhound.web.guards import Buckets

log = logging.getLogger("wayhound.serve")

_POLL_SECONDS = 0.5
_END_SECONDS = 10.0
_LOOK_SECONDS = 0.01


@dataclass
class ServerProcesses:
    """Server processes of one portal. One that ends by itself is restarted."""

    access: WorkspaceAccess
    settings: PortalSettings
    web: WebSettings
    listening: socket.socket
    count: int
    _buckets: Buckets = field(default_factory=Buckets)
    _running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def __enter__(self) -> Self:
        self._running = [self._start() for _ in range(self.count)]
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running:
            assert process.stdin is not None
            process.stdin.close()
        for process in self._running:
            with process:  # which closes its pipes
                wait_or_kill(process, _END_SECONDS)

    def wait(self) -> None:
        """Wait until every process answers requests, or has ended."""
        for process in self._running:
            assert process.stdout is not None
            process.stdout.readline()

    def watch(self) -> None:
        """Restart processes that end, until an interrupt."""
        while True:
            time.sleep(_POLL_SECONDS)
            for place, process in enumerate(self._running):
                if process.poll() is not None:
                    log.error("A server process ended with code %s and is restarted.", process.returncode)
                    self._running[place] = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        handles = (self.listening.fileno(), self._buckets.handle)
        inbox = str(self.access.inbox) if self.access.inbox else ""
        arguments = {
            "access": [str(self.access.folder), self.access.read_only, inbox],
            "settings": asdict(self.settings),
            "web": asdict(self.web),
        }
        command = python_command("wayhound.portal.processes", *map(str, handles), json.dumps(arguments))
        return start_process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, handles=handles)


def main() -> None:
    """Serve on an inherited socket for as long as standard input is open; a line tells when requests are answered."""
    logging.basicConfig(format="%(message)s")
    arguments, buckets = json.loads(sys.argv[3]), Buckets(int(sys.argv[2]))
    web = WebSettings(**arguments["web"] | {"hosts": tuple(arguments["web"]["hosts"])})
    settings = PortalSettings(**arguments["settings"])
    folder, read_only, inbox = arguments["access"]
    access = WorkspaceAccess(Path(folder), read_only, Path(inbox) if inbox else None)
    server = make_server(make_portal(access, settings, web, buckets))

    def until_end() -> None:
        while not server.started:
            time.sleep(_LOOK_SECONDS)
        os.write(sys.stdout.fileno(), b"\n")
        sys.stdin.buffer.read()
        server.should_exit = True

    threading.Thread(target=until_end, daemon=True).start()
    with socket.socket(fileno=int(sys.argv[1])) as listening:
        server.run(sockets=[listening])


if __name__ == "__main__":
    main()

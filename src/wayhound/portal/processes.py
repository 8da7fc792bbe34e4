"""Several processes that serve one portal on one port, so that all cores of a machine answer.

Each inherits the listening socket, and ends when its standard input does: however this process ends, none is left
behind.
"""

from __future__ import annotations

import gc
import json
import logging
import socket
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Self

from wayhound.portal.app import make_portal
from wayhound.portal.portal import PortalSettings
from wayhound.processes import python_command, start_process, wait_or_kill
from wayhound.web.app import WebSettings
from wayhound.web.limits import Buckets
from wayhound.web.server import make_server

log = logging.getLogger("wayhound.serve")

_LOOK_SECONDS = 0.5
_END_SECONDS = 10.0


@dataclass
class Processes:
    """So many servers of one portal. One that ends unasked is started again."""

    folder: Path
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
            wait_or_kill(process, _END_SECONDS)

    def watch(self) -> None:
        """Look after them, until an interrupt."""
        while True:
            time.sleep(_LOOK_SECONDS)
            for place, process in enumerate(self._running):
                if process.poll() is not None:
                    log.error("A server ended with code %s and is started again.", process.returncode)
                    self._running[place] = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        handles = (self.listening.fileno(), self._buckets.handle)
        told = {"folder": str(self.folder), "settings": asdict(self.settings), "web": asdict(self.web)}
        command = python_command("wayhound.portal.processes", *map(str, handles), json.dumps(told))
        return start_process(command, stdin=subprocess.PIPE, handles=handles)


def main() -> None:
    """One of the processes: serve on the socket that was handed over, as long as standard input is open."""
    logging.basicConfig(format="%(message)s")
    told, buckets = json.loads(sys.argv[3]), Buckets(int(sys.argv[2]))
    web = WebSettings(**told["web"] | {"hosts": tuple(told["web"]["hosts"])})
    server = make_server(make_portal(Path(told["folder"]), PortalSettings(**told["settings"]), web, buckets))

    def until_end() -> None:
        sys.stdin.buffer.read()
        server.should_exit = True

    gc.freeze()  # what was loaded stays; looking through it for garbage again and again costs time
    threading.Thread(target=until_end, daemon=True).start()
    with socket.socket(fileno=int(sys.argv[1])) as listening:
        server.run(sockets=[listening])


if __name__ == "__main__":
    main()

"""A throw-away S3 server for tests and benches: s3rver, a program of Node, or moto's server."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

BUCKET = "crawl"


@cache
def _program() -> tuple[str, ...]:
    """Return the command of a server; empty if none is installed."""
    if found := os.environ.get("WAYHOUND_S3RVER") or shutil.which("s3rver"):
        return (found,)
    if find_spec("moto") and find_spec("flask"):
        return (sys.executable, "-m", "moto.server")
    return ()


def why_no_object_store() -> str:
    """Return why no server can be started here; empty if one can."""
    if not find_spec("obstore"):
        return "obstore is not installed (the extra s3)"
    return (
        ""
        if _program()
        else "no S3 server is installed (npm install -g s3rver, or pip install 'moto[server]')"
    )


@dataclass
class ObjectStoreServer:
    """A server with one bucket."""

    folder: Path
    address: str
    port: int
    process: subprocess.Popen[bytes] | None = None

    def url(self, prefix: str) -> str:
        return f"s3://{BUCKET}/{prefix}"

    def environment(self) -> dict[str, str]:
        """Return the variables by which clients find the server."""
        return {
            "AWS_ACCESS_KEY_ID": "S3RVER",
            "AWS_SECRET_ACCESS_KEY": "S3RVER",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://{self.address}:{self.port}",
        }

    def start(self) -> None:
        program = _program()
        if program[-1] == "moto.server":
            command = [*program, "-H", self.address, "-p", str(self.port)]
        else:
            command = [*program, "--silent", "-d", str(self.folder), "-a", self.address, "-p", str(self.port)]
            command += ["--configure-bucket", BUCKET]
        log = (self.folder / "log").open("ab")
        self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        log.close()
        self._await()

    def _await(self) -> None:
        for _ in range(1_200):
            try:
                make = Request(f"http://{self.address}:{self.port}/{BUCKET}", method="PUT")
                urlopen(make, timeout=10).close()
            except URLError as error:
                if getattr(error, "code", 0):
                    return  # it answers: the bucket is there
                if self.process is None or self.process.poll() is not None:
                    raise RuntimeError((self.folder / "log").read_text()[-2_000:]) from None
                time.sleep(0.05)
            else:
                return
        raise RuntimeError("the object store does not answer")

    def stop(self) -> None:
        """Stop it at once, as in an outage; s3rver keeps its files."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@contextmanager
def object_store(address: str = "127.0.0.1") -> Iterator[ObjectStoreServer]:
    """Start a server on a free port, and stop it after the block."""
    with tempfile.TemporaryDirectory(prefix="wayhound-s3-", ignore_cleanup_errors=True) as folder:
        with socket.socket() as probe:
            probe.bind((address, 0))
            port = int(probe.getsockname()[1])
        server = ObjectStoreServer(Path(folder), address, port)
        server.start()
        try:
            yield server
        finally:
            server.stop()

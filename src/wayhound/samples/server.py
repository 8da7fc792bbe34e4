"""Serve the sample web on loopback: all sites on one port, by the Host header."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from wayhound.samples.builder import SamplePage
from wayhound.samples.markup import fill, link, look
from wayhound.samples.web import Kind, SampleWeb, ServedSite


def index_page(web: SampleWeb, port: int) -> SamplePage:
    kinds = {kind: [site for site in web.sites if site.kind == kind] for kind in ("department", "company")}
    sections = (
        _section(kinds["department"], port, "Departments")
        + _section(kinds["company"], port, "Companies")
        + _section([web.films, *web.universities], port, "Beside them")
    )
    parts = {"count": str(len(web.sites)), "sections": sections, "css": look("index.css")}
    text = fill("index.html", **parts)
    return SamplePage(200, (("Content-Type", "text/html; charset=utf-8"),), text.encode())


def _section(sites: Sequence[ServedSite], port: int, heading: str) -> str:
    cards = "".join(_card(site, port) for site in sites)
    return f'<h2>{heading}</h2><div class="sites">{cards}</div>'


def _card(site: ServedSite, port: int) -> str:
    url = f"http://{site.host}:{port}{site.start}"
    return f"""<div class="site"><h3>{link(url, site.title)}</h3><code>{site.host} · {site.language}</code>
<p>{site.special[0].upper()}{site.special[1:]}.</p></div>"""


PLAIN_HOSTS = ("127.0.0.1", "localhost")
BUSY = SamplePage(503, (("Content-Type", "text/plain"), ("Retry-After", "1")), b"Busy, come back soon.\n")
UNKNOWN_HOST = SamplePage(404, (("Content-Type", "text/plain"),), b"No such site.\n")


class SampleServer(ThreadingHTTPServer):
    """Serves every site of a web and counts requests by host and path."""

    block_on_close = True
    daemon_threads = False
    request_queue_size = 128

    def __init__(self, web: SampleWeb, host: str, port: int) -> None:
        self.web = web
        self.counts: Counter[tuple[str, str]] = Counter()
        self._lock = Lock()
        self._open: set[socket.socket] = set()
        super().__init__((host, port), _Handler)  # last, because it closes the server if the port is taken

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def seeds(self, kind: Kind | None = None) -> list[str]:
        return self.web.seeds(self.port, kind)

    def answer(self, host: str, path: str) -> SamplePage:
        name = host.rpartition(":")[0] if ":" in host else host
        with self._lock:
            self.counts[name, path] += 1
            first_time = self.counts[name, path] == 1
        site = self.web.served(name)
        if site is None:
            return index_page(self.web, self.port) if name in PLAIN_HOSTS else UNKNOWN_HOST
        page = site.respond(path)
        return BUSY if page.busy_at_first and first_time else page

    def get_request(self) -> tuple[socket.socket, Any]:
        request, address = super().get_request()
        with self._lock:
            self._open.add(request)
        return request, address

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def server_close(self) -> None:
        """Close connections that clients keep open, then wait for the threads."""
        with self._lock:
            for request in self._open:
                _disconnect(request)
        super().server_close()


class _Handler(BaseHTTPRequestHandler):
    server: SampleServer
    protocol_version = "HTTP/1.1"
    server_version = "WayhoundSamples"
    sys_version = ""
    disable_nagle_algorithm = True
    wbufsize = -1  # headers and body leave in one write
    timeout = 60

    def do_GET(self) -> None:
        self._send(with_body=True)

    def do_HEAD(self) -> None:
        self._send(with_body=False)

    def _send(self, *, with_body: bool) -> None:
        page = self.server.answer(self.headers.get("Host", ""), self.path)
        self.send_response(page.status)
        for name, value in page.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(page.body)))
        self.end_headers()
        if with_body:
            self.wfile.write(page.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        """Log nothing; `counts` has the requests."""


def _disconnect(request: socket.socket) -> None:
    try:
        request.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # the client has closed it already


@contextmanager
def serve_samples(web: SampleWeb, host: str = "127.0.0.1", port: int = 0) -> Iterator[SampleServer]:
    """Serve until the block ends; port 0 takes any free port."""
    server = SampleServer(web, host, port)
    thread = Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="sample-web", daemon=True
    )
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

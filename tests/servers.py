"""Real web servers on loopback for tests: one that serves given pages and counts, one that misbehaves."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import trustme

from tests.bad_manners import BAD_MANNERS, response_head, say


@dataclass(frozen=True, slots=True)
class Answer:
    """A response in full, where a page's text alone does not say enough."""

    body: str | bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    delay_seconds: float = 0.0
    if_same: tuple[tuple[str, str], ...] | None = None
    """The headers of the 304 that says that the page is as the client knows it; None: it is always sent."""


Page = str | bytes | Answer
Pages = Mapping[str, Page] | Callable[[str], Page | None]


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it arrived; `target` is what stood in the request line."""

    host: str
    target: str
    headers: dict[str, str]


@dataclass
class Served:
    """A running server: `str()` is its base URL, without a slash at the end."""

    url: str
    port: int
    requests: Counter[str] = field(default_factory=Counter)
    seen: list[Request] = field(default_factory=list)
    connections: int = 0
    most_at_once: int = 0

    def __str__(self) -> str:
        return self.url

    def at(self, host: str) -> str:
        """The base URL under another name of this machine, such as ``physics.localhost``."""
        return f"{self.url.partition(':')[0]}://{host}:{self.port}"


@contextlib.contextmanager
def serve(pages: Pages, tls: ssl.SSLContext | None = None) -> Iterator[Served]:
    """Serves `pages` by path, or by ``//host/path`` for one host alone; everything else is 404.

    Without a page for it, ``/robots.txt`` is 404 too. HTML is the type of a page that does not name one.
    """
    server = _Server(("127.0.0.1", 0), _Handler)
    scheme = "https" if tls else "http"
    server.pages = pages
    server.served = Served(f"{scheme}://127.0.0.1:{server.server_port}", server.server_port)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server.served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    pages: Pages
    served: Served
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.lock = threading.Lock()
        self.running = 0

    def handle_error(self, *_: object) -> None:
        """A client that hangs up or refuses the certificate is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    wbufsize = 65536
    disable_nagle_algorithm = True
    timeout = 30

    def setup(self) -> None:
        super().setup()
        with self.server.lock:
            self.server.served.connections += 1

    def do_GET(self) -> None:
        host = (self.headers.get("Host") or "").partition(":")[0]
        with self.server.lock:
            self.server.running += 1
            served = self.server.served
            served.most_at_once = max(served.most_at_once, self.server.running)
            served.requests[self.path] += 1
            served.seen.append(Request(host, self.path, dict(self.headers.items())))
        try:
            self._answer(_as_answer(_look_up(self.server.pages, host, self.path)))
        finally:
            with self.server.lock:
                self.server.running -= 1

    def _answer(self, answer: Answer) -> None:
        time.sleep(answer.delay_seconds)
        if answer.if_same is not None and _is_known(answer.headers, dict(self.headers.items())):
            self._say_not_modified(answer.if_same)
            return
        body = answer.body.encode() if isinstance(answer.body, str) else answer.body
        phrase = HTTPStatus(answer.status).phrase if answer.status in HTTPStatus._value2member_map_ else ""
        self.send_response(answer.status, phrase)
        named = {name.lower() for name, _ in answer.headers}
        if "content-type" not in named:
            self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        for name, value in answer.headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def _say_not_modified(self, headers: tuple[tuple[str, str], ...]) -> None:
        self.send_response(304)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Tests are quiet."""


def _look_up(pages: Pages, host: str, path: str) -> Page | None:
    look = pages if callable(pages) else pages.get
    page = look(f"//{host}{path}")
    return look(path) if page is None else page


def _is_known(headers: tuple[tuple[str, str], ...], asked: dict[str, str]) -> bool:
    """Return true if a client has the page with these headers (RFC 9110, section 13.2.2)."""
    has = dict(headers)
    if "If-None-Match" in asked:
        known = [tag.removeprefix("W/") for tag in asked["If-None-Match"].split(", ")]
        return (
            "ETag" in has and has["ETag"].removeprefix("W/").replace("-gzip", "") in known
        )  # as Apache does
    return "If-Modified-Since" in asked and asked["If-Modified-Since"] == has.get("Last-Modified")


def _as_answer(page: Page | None) -> Answer:
    if page is None:
        return Answer("<title>Not here</title>", 404)
    return page if isinstance(page, Answer) else Answer(page)


@dataclass(frozen=True, slots=True)
class Certificates:
    """TLS for tests: a server's side, and clients' sides that do and do not trust it."""

    server: ssl.SSLContext
    trusting: ssl.SSLContext


def closed_port() -> int:
    """A port of 127.0.0.1 where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def certificates(*names: str) -> Certificates:
    """A fresh authority's certificate for `names` (127.0.0.1 when none is given)."""
    authority = trustme.CA()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*(names or ("127.0.0.1",))).configure_cert(server)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    return Certificates(server, trusting)


@contextlib.contextmanager
def misbehaving(robots: str = "") -> Iterator[Served]:
    """A server with one path for every way of misbehaving in `BAD_MANNERS`; ``/`` links to all of them.

    ``/say?`` followed by hexadecimal digits sends those bytes and nothing else.
    """
    served = Served("", 0)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def meet(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await _one_request(reader, writer, served, robots):
                pass
            writer.close()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            writer.transport.abort()

    server = asyncio.run_coroutine_threadsafe(asyncio.start_server(meet, "127.0.0.1", 0), loop).result()
    served.port = server.sockets[0].getsockname()[1]
    served.url = f"http://127.0.0.1:{served.port}"
    try:
        yield served
    finally:
        asyncio.run_coroutine_threadsafe(_stop(server), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _stop(server: asyncio.Server) -> None:
    server.close()
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await asyncio.sleep(0)  # lets the connections close


async def _one_request(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, served: Served, robots: str
) -> bool:
    """Answers one request; false when the connection is not to be used again."""
    first = await reader.readexactly(1)
    if first == b"\x16":  # a TLS handshake, answered as web servers do
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        return False
    head = (first + await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    target = head[0].split(" ")[1]
    headers = dict(line.split(": ", 1) for line in head[1:] if ": " in line)
    served.requests[target] += 1
    served.seen.append(Request(headers.get("Host", ""), target, headers))
    path = target.partition("?")[0]
    manners = say if path == "/say" else BAD_MANNERS.get(path)
    if manners is not None:
        await manners(writer, target)
        return False
    body = robots if target == "/robots.txt" else _index()
    writer.write(response_head(200, f"Content-Length: {len(body)}") + body.encode())
    await writer.drain()
    return True


def _index() -> str:
    links = "".join(f'<li><a href="{path}">{path}</a>' for path in BAD_MANNERS)
    return f"<title>Bad manners</title><ul>{links}</ul>"

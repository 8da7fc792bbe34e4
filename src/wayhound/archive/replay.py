"""Serves recorded sites through the same interface as the network, or to a browser.

What is not archived does not exist.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, KeysView, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from wayhound.archive.location import ArchiveFile
from wayhound.archive.reader import Position, StoredResponse, stored_response_at, stored_responses
from wayhound.errors import ArchiveError
from wayhound.fetched import Failed, Fetched, parse_content_type, redirect_target
from wayhound.url import host_of, normalise

CACHE_BYTES = 32 << 20
"""Bodies kept in memory, the latest first."""


@dataclass(frozen=True, slots=True)
class ArchivedResponse:
    """A response in an archive, without its body. `body_at` is set for a revisit: where the body is."""

    url: str
    path: ArchiveFile
    offset: int
    length: int
    status: int
    content_type: str
    location: str
    at: float
    body_at: Position | None = None

    @property
    def is_page(self) -> bool:
        return 200 <= self.status < 300

    @property
    def is_redirect(self) -> bool:
        return bool(self.location)

    def load(self) -> Fetched:
        return stored_response_at(self.path, self.offset, self.body_at).load()


class ReplayFetcher:
    """A `Fetcher` over WARC files, folders of them, or an index that was made before.

    The positions of all responses are read at once, the bodies when they are asked for. The same request always gets
    the same answer.
    """

    def __init__(self, source: Mapping[str, ArchivedResponse] | Path | Iterable[Path]) -> None:
        self._responses = _index(source)
        self._cache: OrderedDict[str, Fetched] = OrderedDict()
        self._cached_bytes = 0

    async def fetch(self, url: str) -> Fetched | Failed:
        return self.get(url)

    def get(self, url: str) -> Fetched | Failed:
        response = self._find(url)
        if response is None:
            return Failed(url, "not_archived", sent=False)
        cached = self._cache.get(response.url)
        if cached is None:
            return self._keep(response.load())
        self._cache.move_to_end(response.url)
        return cached

    def __contains__(self, url: object) -> bool:
        return isinstance(url, str) and self._find(url) is not None

    def __len__(self) -> int:
        return len(self._responses)

    def urls(self) -> KeysView[str]:
        """Return all URLs in normal form, in the order of the archive."""
        return self._responses.keys()

    def hosts(self) -> tuple[str, ...]:
        return hosts_of(self._responses)

    def _find(self, url: str) -> ArchivedResponse | None:
        return self._responses.get(url) or self._responses.get(normalise(url))

    def _keep(self, fetched: Fetched) -> Fetched:
        self._cache[fetched.url] = fetched
        self._cached_bytes += len(fetched.body)
        while self._cached_bytes > CACHE_BYTES:
            _, oldest = self._cache.popitem(last=False)
            self._cached_bytes -= len(oldest.body)
        return fetched


class ReplayServer(ThreadingHTTPServer):
    """Serves recorded sites on loopback, each under its own host name below `localhost`.

    Links to recorded hosts lead to their names here, so that a browser stays within the recording.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, fetcher: ReplayFetcher, port: int) -> None:
        self.fetcher = fetcher
        super().__init__(("127.0.0.1", port), _ReplayHandler)
        names = sorted(fetcher.hosts(), key=len, reverse=True)
        self._local = {host: f"{host.replace(':', '-')}.localhost:{self.server_port}" for host in names}
        self._recorded = {local: host for host, local in self._local.items()}
        self._links = re.compile(
            rb"(?:https?:)?//("
            + b"|".join(re.escape(name).encode() for name in names)
            + rb")(?=[/\"'?#\s<>&]|$)"
        )

    def address(self, url: str) -> str:
        """Return the address here of a recorded URL."""
        host = host_of(url)
        return f"http://{self._local[host]}/{url.partition('://')[2].partition('/')[2]}"

    def answer(self, host: str, path: str) -> tuple[int, str, str, bytes]:
        """Return status, media type, target of a redirect and body for a request."""
        recorded = self._recorded.get(host) or (next(iter(self._local)) if len(self._local) == 1 else "")
        answers = (self.fetcher.get(f"{scheme}://{recorded}{path}") for scheme in ("https", "http"))
        response = next((found for found in answers if isinstance(found, Fetched)), None)
        if response is None:
            return 404, "text/plain", "", b"This page was not recorded.\n"
        media = response.content_type or "text/html"
        charset = f"; charset={response.charset}" if response.charset else ""
        location = self.address(response.location) if host_of(response.location) in self._local else ""
        body = self._links.sub(self._link, response.body) if media.startswith("text/") else response.body
        return response.status, media + charset, location or response.location, body

    def _link(self, match: re.Match[bytes]) -> bytes:
        return f"http://{self._local[match[1].decode()]}".encode()


class _ReplayHandler(BaseHTTPRequestHandler):
    server: ReplayServer
    protocol_version = "HTTP/1.1"
    server_version = "WayhoundReplay"
    sys_version = ""
    timeout = 60

    def do_GET(self) -> None:
        status, media, location, body = self.server.answer(self.headers.get("Host", ""), self.path)
        self.send_response(status)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(body)))
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        """Log nothing."""


@contextmanager
def serve_replay(places: Iterable[Path], port: int = 0) -> Iterator[ReplayServer]:
    """Serve recorded sites until the block ends; port 0 takes any free port."""
    files = [file for place in places for file in warc_files(place)]
    server = ReplayServer(ReplayFetcher(files), port)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _index(source: Mapping[str, ArchivedResponse] | Path | Iterable[Path]) -> Mapping[str, ArchivedResponse]:
    if isinstance(source, Mapping):
        return source
    paths = [source] if isinstance(source, Path) else source
    return index_archive(file for path in paths for file in warc_files(path))


def index_archive(paths: Iterable[Path]) -> dict[str, ArchivedResponse]:
    """Return the response to serve for each URL, in the order of the archive.

    If a URL has several, a page is preferred to a redirect, a redirect to an error, and a later response to an earlier
    one. Two spellings may have one normal form, so that an old redirect between them would lead to itself: it counts as
    an error.
    """
    best: dict[str, ArchivedResponse] = {}
    for response in responses_in(paths):
        other = best.get(response.url)
        if other is None or _rank(response) >= _rank(other):
            best[response.url] = response
    return best


def responses_in(paths: Iterable[Path]) -> Iterator[ArchivedResponse]:
    """Yield all responses of some WARC files, including revisits of a body in any of them."""
    bodies: dict[str, Position] = {}
    for path in paths:
        yield from map(_archived, stored_responses(path, bodies))


def hosts_of(urls: Iterable[str]) -> tuple[str, ...]:
    """Return the hosts of some URLs, sorted."""
    return tuple(sorted({host for url in urls if (host := host_of(url))}))


def warc_files(path: Path) -> list[Path]:
    """Return a WARC file itself, or those of a folder by name. Raises ArchiveError if there are none."""
    if path.is_dir():
        files = [file for file in path.iterdir() if file.name.endswith((".warc", ".warc.gz"))]
        if files:
            return sorted(files)
        raise ArchiveError(f"{path} holds no WARC file.")
    if path.is_file():
        return [path]
    raise ArchiveError(f"There is no archive at {path}.")


def _archived(stored: StoredResponse) -> ArchivedResponse:
    record = stored.record
    head = stored.confirmed_response().head if stored.is_not_modified else stored.head
    url = record.url
    return ArchivedResponse(
        url=url,
        path=stored.path,
        offset=record.offset,
        length=record.length,
        status=head.status,
        content_type=parse_content_type(head.first("content-type"))[0],
        location=redirect_target(head.status, head.first("location"), url),
        at=record.at,
        body_at=stored.body_at,
    )


def _rank(response: ArchivedResponse) -> tuple[int, float]:
    if response.is_page:
        return 2, response.at
    return int(response.is_redirect and response.location != response.url), response.at

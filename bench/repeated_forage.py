"""Cost of a second forage of the same site: bytes sent by the server, CPU, and archive size.

One page in ten changes between the runs. The site is served twice: by a server that sends ETags, and by one that does
not, and so has to send everything again.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import PIPE, Popen

from bench.crawl_site import page_html
from bench.crawl_speed import ROOT, Cost, measure
from bench.report import Bar, Cell, Report, add_output_options, finish
from wayhound.workspace import Workspace

MOST_BYTES = 0.2  # of the first run's, if pages have ETags
MOST_ARCHIVED = 0.35  # of the first run's: requests and headers of every page are stored
MOST_CPU = 1.25  # of the first run's, per page
CHANGED = 10  # one page in so many


async def _serve(pages: int, with_tags: bool) -> None:
    """Serve a site. `/sent` returns the bytes sent for pages; `/next` changes one page in ten."""
    bodies = {number: page_html(number, pages) for number in range(pages)}
    version, sent = 1, 0

    def answer_to(path: str, request: bytes) -> bytes:
        nonlocal version
        if path == "/sent":
            return _response(b"", str(sent).encode())
        if path == "/next":
            version += 1
            return _response(b"", b"")
        if path == "/robots.txt":
            return _response(b"", b"User-agent: *\nAllow: /\n")
        number = 0 if path == "/" else int(path[3:-5])
        shown = version if number % CHANGED == 1 else 1
        tag = f'"{number}-{shown}"'.encode()
        if with_tags and b"If-None-Match: " + tag in request:
            return b"HTTP/1.1 304 Not Modified\r\nETag: " + tag + b"\r\n\r\n"
        header = b"ETag: " + tag + b"\r\n" if with_tags else b""
        return _response(header, bodies[number] + b"<!-- version %d -->" % shown)

    async def answer_all(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                answer = answer_to(request.split(b" ", 2)[1].decode(), request)
                sent += len(answer)
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer_all, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def _response(headers: bytes, body: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n" % len(body)
    return head + headers + b"\r\n" + body


@contextmanager
def _served(pages: int, *, with_tags: bool) -> Iterator[str]:
    command = [sys.executable, "-m", "bench.repeated_forage", "--serve", str(pages)]
    command += ["--tags"] if with_tags else []
    with Popen(command, stdin=PIPE, stdout=PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/"
        finally:
            process.kill()


def _get(url: str) -> int:
    with urllib.request.urlopen(url) as answer:  # our own server
        return int(answer.read() or 0)


def _two_runs(pages: int, *, with_tags: bool) -> list[tuple[Cost, int, int, int]]:
    """Return for each run its cost, the bytes sent and archived, and the pages that were not sent again."""
    runs = []
    with tempfile.TemporaryDirectory() as parent, _served(pages, with_tags=with_tags) as start:
        folder = Path(parent) / "workspace"
        Workspace.create(folder).close()
        for number in (1, 2):
            sent, archived = _get(f"{start}sent"), _archived_bytes(folder)
            forage = [
                sys.executable, "-c", _FORAGE, "forage", start, "-w", str(folder), "--budget", "1000000",
                "--delay", "0", "--allow-private", "--again",
            ]  # fmt: skip
            cost = measure(forage, ROOT)
            with Workspace.open(folder) as workspace:
                unchanged = workspace.stores.forage.not_modified(number)
            runs.append((cost, _get(f"{start}sent") - sent, _archived_bytes(folder) - archived, unchanged))
            _get(f"{start}next")
    return runs


_FORAGE = (
    "import sys; from pathlib import Path; from wayhound.cli import run; from wayhound.workspace import Workspace\n"
    "assert run(sys.argv[1:]) == 0\n"
    "store = Workspace.open(Path(sys.argv[4])).stores.forage\n"
    "print(store.progress(store.runs()[0].id).spent)"
)


def _archived_bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in (folder / "archive").glob("*.warc.gz"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--serve", type=int, metavar="PAGES", help=argparse.SUPPRESS)
    parser.add_argument("--tags", action="store_true", help=argparse.SUPPRESS)
    add_output_options(parser)
    arguments = parser.parse_args()
    if arguments.serve:
        asyncio.run(_serve(arguments.serve, arguments.tags))
        return 0
    rows: list[list[Cell]] = []
    bars: list[Bar] = []
    for with_tags in (True, False):
        name = "with tags" if with_tags else "without"
        first, second = runs = _two_runs(arguments.pages, with_tags=with_tags)
        rows += [_row(f"{name}, run {number}", *run) for number, run in enumerate(runs, 1)]
        if with_tags:
            bars.append(Bar("bytes sent, second run to first", second[1] / first[1], most=MOST_BYTES))
        bars += [
            Bar(f"room in the archive, {name}", second[2] / first[2], most=MOST_ARCHIVED),
            Bar(f"CPU a page, {name}", second[0].cpu_per_1000 / first[0].cpu_per_1000, most=MOST_CPU),
            Bar(f"pages of the second run, {name}", second[0].pages, arguments.pages, arguments.pages),
        ]
    header = ["site and run", "pages", "not modified", "MB sent", "MB archived", "CPU s per 1,000 pages"]
    return finish(Report("The same site foraged twice", header, rows, bars), arguments)


def _row(name: str, cost: Cost, sent: int, room: int, unchanged: int) -> list[Cell]:
    megabytes = [round(each / 1e6, 2) for each in (sent, room)]
    return [name, cost.pages, unchanged, *megabytes, round(cost.cpu_per_1000, 2)]


if __name__ == "__main__":
    sys.exit(main())

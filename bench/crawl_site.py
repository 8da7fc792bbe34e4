"""A generated site on loopback for the crawl benchmarks, served by a process of its own.

Every page has the size and the number of links of an ordinary page. Page n links to its children, to its neighbours
and, as navigation does, to the same few pages.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from subprocess import PIPE, Popen

PAGE_BYTES = 26_000
LINKS = 63
NAVIGATION = 12
WORDS = (
    "research group seminar paper model result student course project page people office library system data "
    "method theory analysis network language learning database software engineering report archive history "
    "department university faculty event news contact address publication conference journal workshop talk"
).split()


def children_of(number: int, pages: int, links: int = LINKS) -> list[int]:
    """Return the pages that page `number` links to: children in a wide tree, neighbours, and the navigation."""
    own = (links - NAVIGATION) // 2
    tree = [child for child in range(number * own + 1, number * own + own + 1) if child < pages]
    first = [*range(min(NAVIGATION, pages)), *tree]
    return [*first, *((number * 7 + step * step) % pages for step in range(links - len(first)))]


def path_of(number: int) -> str:
    return f"/p/{number}.html" if number else "/"


def page_html(number: int, pages: int, links: int = LINKS, size: int = PAGE_BYTES) -> bytes:
    draw = Random(number)
    parts = [
        f"<!doctype html><html lang=en><head><meta charset=utf-8><title>Page {number}</title>",
        f"<meta name=description content='About page {number}'></head><body class=page>",
        "<nav class='main menu'><ul>",
    ]
    targets = children_of(number, pages, links)
    parts += [f"<li class=item><a href='{path_of(to)}'>Section {to}</a></li>" for to in targets[:NAVIGATION]]
    parts.append(f"</ul></nav><main><h1>Page {number}</h1>")
    for to in targets[NAVIGATION:]:
        words = " ".join(draw.choices(WORDS, k=max(1, (size - 4000) // (len(targets) * 7))))
        parts.append(f"<p class=entry>{words} <a href='{path_of(to)}' title='to {to}'>item {to}</a>.</p>")
    parts.append("</main><footer><p>The end.</p></footer></body></html>")
    return "\n".join(parts).encode()


async def _serve(pages: int, links: int, size: int) -> None:
    """Serve without a framework: the server's cost must not hide what is measured. Page 0 is the start page."""
    seen: set[int] = set()
    cache: dict[int, bytes] = {}

    def body_of(path: str) -> tuple[int, str, bytes]:
        if path == "/robots.txt":
            return 200, "text/plain", b"User-agent: *\nDisallow: /private/\n"
        if path == "/count":
            return 200, "text/plain", str(len(seen)).encode()
        number = 0 if path == "/" else int(path[3:-5])
        if number >= pages:
            return 404, "text/html", b"<h1>Not found</h1>"
        seen.add(number)
        if number not in cache:
            cache[number] = page_html(number, pages, links, size)
        body = cache[number] if pages <= 5000 else cache.pop(number)
        return 200, "text/html; charset=utf-8", body

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await reader.readuntil(b"\r\n\r\n"):
                status, kind, body = body_of(request.split(b" ", 2)[1].decode())
                head = f"HTTP/1.1 {status} OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
                writer.write(head.encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


@contextmanager
def served_site(pages: int, links: int = LINKS, size: int = PAGE_BYTES) -> Iterator[str]:
    """Serve a site of so many pages until the block ends; yields its start URL."""
    command = [sys.executable, "-m", "bench.crawl_site", str(pages), str(links), str(size)]
    with Popen(command, stdin=PIPE, stdout=PIPE, text=True, cwd=Path(__file__).parent.parent) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/"
        finally:
            process.kill()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("pages", "links", "size"):
        parser.add_argument(name, type=int)
    arguments = parser.parse_args()
    asyncio.run(_serve(arguments.pages, arguments.links, arguments.size))

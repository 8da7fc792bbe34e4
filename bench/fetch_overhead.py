"""CPU overhead of `HttpFetcher` over aiohttp: 2,000 pages of 26 KB from loopback, CPU time of the client alone.

Three clients take turns in one process against a server in another. "bare" is one session with `get` and `read`. "by
hand" is the least code with the same duties: timeouts, a size limit, headers as sent, a robots.txt check for every
page. The bar compares with that one.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import multiprocessing
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from multiprocessing.connection import Connection

import aiohttp
from protego import Protego

from wayhound.fetched import Fetched
from wayhound.net.http import MAX_BODY_BYTES, HttpFetcher

PAGES = 2000
BATCH = 100
WORKERS = 4
PAGE_BYTES = 26_000
MOST_OVERHEAD = 1.15

ROBOTS = "User-agent: *\nDisallow: /private/\nDisallow: /*.cgi$\nAllow: /private/open\nCrawl-delay: 1\n"


Fetch = Callable[[str], Awaitable[None]]


class _PageServer(asyncio.Protocol):
    """Answers every request with the same page, except for robots.txt."""

    def __init__(self) -> None:
        self._page = _response(b"<p>lorem ipsum dolor</p>" * (PAGE_BYTES // 24))
        self._robots = _response(ROBOTS.encode())

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._transport.write(self._robots if data.startswith(b"GET /robots.txt ") else self._page)


def _response(body: bytes) -> bytes:
    head = (
        "HTTP/1.1 200 OK\r\nServer: bench\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\n"
        "Content-Type: text/html; charset=utf-8\r\nCache-Control: max-age=600\r\nVary: Accept-Encoding\r\n"
        f'ETag: "5e1f"\r\nContent-Length: {len(body)}\r\n\r\n'
    )
    return head.encode() + body


def _run_server(ready: Connection) -> None:
    async def run() -> None:
        server = await asyncio.get_running_loop().create_server(_PageServer, "127.0.0.1", 0)
        ready.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


async def _share_out(urls: list[str], fetch: Fetch) -> float:
    """Return the CPU seconds for fetching all URLs, a few at a time."""
    pending = iter(urls)

    async def work() -> None:
        for url in pending:
            await fetch(url)

    gc.collect()
    start = time.process_time()
    await asyncio.gather(*(work() for _ in range(WORKERS)))
    return time.process_time() - start


async def _take_turns(urls: list[str], rounds: int) -> dict[str, float]:
    """Return the CPU seconds of each client: the minimum of every batch, because noise only adds."""
    async with AsyncExitStack() as stack:
        clients = {
            "bare": await _bare(stack),
            "by hand": await _by_hand(stack),
            "HttpFetcher": await _ours(stack),
        }
        seconds = dict.fromkeys(clients, 0.0)
        for at in range(0, len(urls), BATCH):
            batch = urls[at : at + BATCH]
            turns = [
                {name: await _share_out(batch, get) for name, get in clients.items()} for _ in range(rounds)
            ]
            for name in clients:
                seconds[name] += min(turn[name] for turn in turns)
    return seconds


async def _bare(stack: AsyncExitStack) -> Fetch:
    session = await stack.enter_async_context(aiohttp.ClientSession())

    async def fetch(url: str) -> None:
        async with session.get(url) as response:
            await response.read()

    return fetch


async def _by_hand(stack: AsyncExitStack) -> Fetch:
    rules = Protego.parse(ROBOTS)
    timeout = aiohttp.ClientTimeout(total=60, connect=10, sock_read=20)
    session = await stack.enter_async_context(aiohttp.ClientSession(timeout=timeout))

    async def fetch(url: str) -> None:
        if not rules.can_fetch(url, "wayhound"):
            raise SystemExit(f"{url}: robots")
        async with session.get(url, allow_redirects=False) as response:
            chunks, size = [], 0
            async for chunk in response.content.iter_any():
                chunks.append(chunk)
                size += len(chunk)
                if size > MAX_BODY_BYTES:
                    raise SystemExit(f"{url}: too_big")
            headers = tuple((name.decode(), value.decode()) for name, value in response.raw_headers)
            Fetched(
                url, response.status, headers, b"".join(chunks), response.content_type, response.charset or ""
            )

    return fetch


async def _ours(stack: AsyncExitStack) -> Fetch:
    fetcher = await stack.enter_async_context(HttpFetcher(allow_private=True))

    async def fetch(url: str) -> None:
        answer = await fetcher.fetch(url)
        if not isinstance(answer, Fetched) or not answer.ok:
            raise SystemExit(f"{url}: {answer.outcome}")

    return fetch


def measure(rounds: int) -> dict[str, float]:
    """Return the CPU microseconds per page of each client."""
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=_run_server, args=(theirs,), daemon=True)
    server.start()
    base = f"http://127.0.0.1:{ours.recv()}"
    urls = [f"{base}/people/{number}/index.html" for number in range(PAGES)]
    seconds = asyncio.run(_take_turns(urls, rounds))
    server.terminate()
    server.join()
    return {name: spent * 1e6 / PAGES for name, spent in seconds.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    spent = measure(options.rounds)
    ratio = spent["HttpFetcher"] / spent["by hand"]
    if options.json:
        print(json.dumps({"cpu_us_per_page": spent, "ratio": ratio}))
    else:
        print(f"{'client':<14}{'CPU µs a page':>15}{'to bare':>10}")
        for name, microseconds in spent.items():
            print(f"{name:<14}{microseconds:>15.0f}{microseconds / spent['bare']:>10.2f}")
        print(f"HttpFetcher to by hand: {ratio:.3f} (at most {MOST_OVERHEAD})")
    return 0 if ratio <= MOST_OVERHEAD else 1


if __name__ == "__main__":
    sys.exit(main())

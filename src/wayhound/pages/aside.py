"""Reads large pages in a process of its own, so that other sites do not wait for them, within limits.

A page of up to `ASIDE_FROM` bytes is read where it was fetched: that takes less than passing it on and back would make
others wait. As `python -m wayhound.pages.aside`, this module is the process that reads.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import struct
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from dataclasses import asdict
from typing import Any, BinaryIO

from wayhound.fetched import Failed, Fetched
from wayhound.page import Link, Page, Unreadable
from wayhound.pages.head import RobotsTag
from wayhound.pages.reader import read_page
from wayhound.pages.sniff import sniff_kind
from wayhound.processes import allow_cpu, limit_process, python_command
from wayhound.sandbox import confine_process, sparse_environment

ASIDE_FROM = 200_000
"""Bytes of a body from which it is read aside. Of smaller ones, the worst known take 0.1 s of CPU."""

CPU_SECONDS = 10
WALL_SECONDS = 300.0  # a limit on silence only: on a busy machine ten CPU seconds take many others
MEMORY_BYTES = 2 << 30
_LENGTH = struct.Struct(">I")


def belongs_aside(response: Fetched | Failed) -> bool:
    """Return True for a response with a page that is so large that others would wait for its reading."""
    if isinstance(response, Failed) or len(response.body) < ASIDE_FROM or not response.ok:
        return False
    return sniff_kind(response.body, response.content_type, response.charset) in {"html", "text"}


class AsideReader:
    """Reads responses in one process, which is started when needed and replaced if a page is too much for it."""

    def __init__(self, cpu_seconds: int = CPU_SECONDS, memory_bytes: int = MEMORY_BYTES) -> None:
        self._limits = (cpu_seconds, memory_bytes)
        self._process: Process | None = None
        self._turn = asyncio.Lock()

    async def read(self, response: Fetched, product: str) -> Page | Unreadable | Failed:
        """Return the page of a response as `read_response` does; Failed if it cannot be read within the limits."""
        request = {
            "url": response.url,
            "content_type": response.content_type,
            "charset": response.charset,
            "tag": [response.robots_tag, product],
            "routes": response.source is not None,
        }
        async with self._turn:
            try:
                async with asyncio.timeout(WALL_SECONDS):
                    answer = await self._ask(json.dumps(request).encode(), response.body)
            except (asyncio.IncompleteReadError, ConnectionError, TimeoutError):
                return Failed(
                    response.url, "unreadable", await self._ended(), wait_seconds=response.wait_seconds
                )
            except BaseException:  # such as a cancelled task: the process is in the middle of something
                await self.close()
                raise
        return _content(answer)

    async def _ask(self, request: bytes, body: bytes) -> dict[str, Any]:
        process = self._process or await self._start()
        assert process.stdin
        assert process.stdout
        process.stdin.writelines((_LENGTH.pack(len(request)), request, _LENGTH.pack(len(body)), body))
        await process.stdin.drain()
        (length,) = _LENGTH.unpack(await process.stdout.readexactly(_LENGTH.size))
        answer: dict[str, Any] = json.loads(await process.stdout.readexactly(length))
        return answer

    async def _start(self) -> Process:
        command = python_command("wayhound.pages.aside", *map(str, self._limits))
        self._process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, env=sparse_environment(), start_new_session=True
        )
        return self._process

    async def _ended(self) -> str:
        """Close the process and return why it has ended."""
        process = self._process
        await self.close()
        is_slow = process is None or process.returncode in (-signal.SIGXCPU, -signal.SIGKILL)
        return "took too long to read" if is_slow else "could not be read"

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    # not process.kill(), which would take the exit code from asyncio
                    os.kill(process.pid, signal.SIGKILL)
            await process.wait()


def _content(answer: dict[str, Any]) -> Page | Unreadable:
    if "reason" in answer:
        return Unreadable(**answer)
    texts = {name: tuple(answer[name]) for name in ("keywords", "headings", "tokens")}
    texts |= {"feeds": tuple(answer["feeds"]), "sections": tuple(map(tuple, answer["sections"]))}
    return Page(**answer | texts | {"links": tuple([_link(link) for link in answer["links"]])})


def _link(values: dict[str, Any]) -> Link:
    return Link(**values | {"before": tuple(values["before"]), "after": tuple(values["after"])})


def main() -> None:
    """Read pages from stdin until it ends."""
    cpu_seconds, memory_bytes = map(int, sys.argv[1:])
    limit_process(memory_bytes)
    import numpy as np  # noqa: F401, PLC0415 - a large page needs it, and no file can be read from here on

    confine_process(readable=())
    source, target = sys.stdin.buffer, sys.stdout.buffer
    while request := _frame(source):
        body = _frame(source)
        allow_cpu(cpu_seconds)
        values = json.loads(request)
        page = read_page(**values | {"body": body, "tag": RobotsTag(*values["tag"])})
        answer = json.dumps(asdict(page)).encode()
        target.write(_LENGTH.pack(len(answer)) + answer)
        target.flush()


def _frame(source: BinaryIO) -> bytes:
    header = source.read(_LENGTH.size)
    return source.read(*_LENGTH.unpack(header)) if len(header) == _LENGTH.size else b""


if __name__ == "__main__":
    main()

"""Large pages, read by another process within limits."""

from __future__ import annotations

import asyncio
import re
import signal
from pathlib import Path

import pytest

from wayhound.fetched import Failed, Fetched
from wayhound.page import Page, Unreadable
from wayhound.pages.aside import ASIDE_FROM, AsideReader, belongs_aside
from wayhound.pages.reader import read_response

URL = "http://s.example/"


def response(body: bytes, content_type: str = "text/html", **more: object) -> Fetched:
    return Fetched(URL, 200, body=body, content_type=content_type, **more)  # type: ignore[arg-type]


def read_all(*responses: Fetched) -> list[Page | Unreadable | Failed]:
    async def read() -> list[Page | Unreadable | Failed]:
        aside = AsideReader()
        try:
            return [await aside.read(each, "Wayhound") for each in responses]
        finally:
            await aside.close()

    return asyncio.run(read())


def test_a_page_read_aside_is_the_page_read_here() -> None:
    responses = [
        response(
            b"<html lang=de><title>T\xe4</title><meta name=keywords content='a, b'><h1>One</h1>"
            b"<p>words before <a href=/x rel=nofollow>a link</a> and after <iframe src=/f></iframe>",
            charset="latin-1",
        ),
        response(b"plain words", "text/plain"),
        response(b"", "text/html"),
        response(b"<p>x", headers=(("X-Robots-Tag", "wayhound: noindex"),)),
    ]
    assert read_all(*responses) == [read_response(each) for each in responses]


@pytest.mark.parametrize(
    ("size", "content_type", "status", "aside"),
    [
        (ASIDE_FROM, "text/html", 200, True),
        (ASIDE_FROM - 1, "text/html", 200, False),
        (ASIDE_FROM, "text/plain", 200, True),
        (ASIDE_FROM, "application/pdf", 200, False),
        (ASIDE_FROM, "text/html", 404, False),
    ],
)
def test_only_large_pages_are_read_aside(size: int, content_type: str, status: int, aside: bool) -> None:
    assert belongs_aside(Fetched(URL, status, body=b"x" * size, content_type=content_type)) == aside


@pytest.mark.parametrize(
    ("end", "detail"),
    [(signal.SIGXCPU, "took too long to read"), (signal.SIGSEGV, "could not be read")],
)
def test_a_page_at_which_the_process_ends_is_given_up_and_the_next_one_read(
    end: signal.Signals, detail: str
) -> None:
    """The kernel sends the first signal when the CPU time is used up; the second is a crash of the parser."""
    well = response(b"<title>well</title>")

    async def read() -> list[Page | Unreadable | Failed]:
        aside = AsideReader()
        try:
            await aside.read(well, "Wayhound")
            assert aside._process
            aside._process.send_signal(signal.SIGSTOP)
            reading = asyncio.create_task(aside.read(response(b"<p>x", wait_seconds=7.0), "Wayhound"))
            await asyncio.sleep(0)
            aside._process.send_signal(end)
            aside._process.send_signal(signal.SIGCONT)
            return [await reading, await aside.read(well, "Wayhound")]
        finally:
            await aside.close()

    failed, page = asyncio.run(read())
    assert failed == Failed(URL, "unreadable", detail, wait_seconds=7.0)
    assert page == read_response(well)


def test_the_process_may_use_so_much_cpu_and_memory_and_no_more() -> None:
    """Seen in /proc, since no page is known that would reach a limit."""

    def limits_of(process: int) -> str:
        return Path(f"/proc/{process}/limits").read_text("ascii")

    async def limits() -> str:
        aside = AsideReader(cpu_seconds=100, memory_bytes=1 << 30)
        try:
            await aside.read(response(b"<p>x"), "Wayhound")
            assert aside._process
            return limits_of(aside._process.pid)
        finally:
            await aside.close()

    text = asyncio.run(limits())
    assert re.search(rf"Max address space +{1 << 30} +{1 << 30}", text)
    assert re.search(r"Max cpu time +1\d\d ", text)
    assert re.search(r"Max file size +0 +0", text)


def test_reading_that_is_cancelled_leaves_nothing_behind_for_the_next_page() -> None:
    async def cancel_and_read() -> Page | Unreadable | Failed:
        aside = AsideReader()
        endless = response("".join(f"<p><a href=/{n}>x</a>" for n in range(50_000)).encode())
        reading = asyncio.create_task(aside.read(endless, "Wayhound"))
        await asyncio.wait([reading], timeout=0.1)  # wherever it is by then
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        try:
            return await aside.read(response(b"<title>well</title>"), "Wayhound")
        finally:
            await aside.close()

    well = asyncio.run(cancel_and_read())
    assert isinstance(well, Page)
    assert well.title == "well"

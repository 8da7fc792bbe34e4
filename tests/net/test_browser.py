"""The browser is found or its absence explained; it is quiet, and can be seen and handled from elsewhere."""

from __future__ import annotations

import asyncio
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.app.teach.lessons import needs_browser
from tests.servers import serve
from wayhound.errors import UsageError, WayhoundError
from wayhound.net.browser import BrowserOptions, find_browser, open_browser
from wayhound.net.screencast import Screencast

in_browser, where_there_is_one = needs_browser


def test_a_browser_that_is_not_there_is_explained() -> None:
    with pytest.raises(UsageError, match="--browser PATH"):
        find_browser("/no/such/chromium")


def test_without_any_browser_the_sentence_says_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="apt install chromium"):
        find_browser()


def test_a_browser_is_found_by_name_on_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "google-chrome"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin-none")
    assert find_browser() == str(program)


def test_without_playwright_the_sentence_says_what_to_install(tmp_path: Path) -> None:
    program = tmp_path / "chromium"
    program.touch(mode=0o755)
    code = f"""
import asyncio, sys
sys.modules["playwright"] = None  # as if it were not installed
from wayhound.errors import UsageError
from wayhound.net.browser import BrowserOptions, open_browser
async def open_it():
    async with open_browser(BrowserOptions({str(program)!r}, headless=True)):
        pass
try:
    asyncio.run(open_it())
except UsageError as error:
    print(error)
"""
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert "pip install '.[teach]'" in said.stdout


def test_a_program_that_is_no_browser_gives_a_sentence(tmp_path: Path) -> None:
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)

    async def open_it() -> None:
        async with open_browser(BrowserOptions(str(program), headless=True)):
            pass

    with pytest.raises(WayhoundError, match="could not be started as a browser"):
        asyncio.run(open_it())


def test_without_a_display_no_window_is_opened(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    program = tmp_path / "chromium"
    program.touch(mode=0o755)

    async def open_it() -> None:
        async with open_browser(BrowserOptions(str(program))):
            pass

    with pytest.raises(UsageError, match="no display"):
        asyncio.run(open_it())


@contextmanager
def counting_proxy() -> Iterator[list[str]]:
    """A proxy that notes what it is asked for, and gives nothing."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_error(502)

        do_CONNECT = do_POST = do_GET  # noqa: N815 - the names that the server looks for

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    asked.append(f"127.0.0.1:{server.server_port}")
    try:
        yield asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@in_browser
@where_there_is_one
def test_nothing_goes_out_that_was_not_asked_for_and_the_profile_is_kept(tmp_path: Path) -> None:
    async def visit(proxy: str, url: str, wanted: str) -> str:
        options = BrowserOptions(
            headless=True, profile=tmp_path / "profile", more_flags=(f"--proxy-server={proxy}",)
        )
        async with open_browser(options) as context:
            page = context.pages[0]
            await page.goto(url)
            await page.evaluate("document.cookie = 'login=ann; max-age=10000'")
            await page.goto(wanted)
            await asyncio.sleep(2)  # what a browser does by itself, it does soon
            await page.goto(url)
            return str(await page.evaluate("document.cookie"))

    async def visit_again(url: str) -> str:
        async with open_browser(BrowserOptions(headless=True, profile=tmp_path / "profile")) as context:
            await context.pages[0].goto(url)
            return str(await context.pages[0].evaluate("document.cookie"))

    with serve({"/": "<p>Home"}) as site, counting_proxy() as asked:
        proxy = asked.pop()
        assert asyncio.run(visit(proxy, f"{site}/", "http://asked.example/page")) == "login=ann"
        assert [url for url in asked if not url.startswith("http://asked.example/")] == []
        assert "http://asked.example/page" in asked
        assert asyncio.run(visit_again(f"{site}/")) == "login=ann"


@in_browser
@where_there_is_one
def test_a_profile_that_is_in_use_is_explained(tmp_path: Path) -> None:
    async def open_twice() -> None:
        options = BrowserOptions(headless=True, profile=tmp_path / "profile")
        async with open_browser(options), open_browser(options):
            pass

    with pytest.raises(WayhoundError, match="in use by another browser"):
        asyncio.run(open_twice())


CASTING = """<body style='margin:0;background:#fff'><button style='width:300px;height:200px'
 onclick="document.title = 'clicked ' + event.isTrusted">Press</button><input style='display:block'>
<script>
addEventListener('keydown', (e) => { window.last = [e.code, e.altKey, e.shiftKey, e.isTrusted].join() })</script>"""


@in_browser
@where_there_is_one
def test_a_screencast_shows_the_page_and_takes_mouse_and_keys() -> None:
    async def watch(url: str) -> None:
        async with open_browser(BrowserOptions(headless=True, width=800, height=600)) as context:
            page = context.pages[0]
            await page.goto(url)
            async with Screencast(page, quality=50, max_width=400, max_height=300) as cast:
                frame = await asyncio.wait_for(anext(cast), 60)
                assert frame.jpeg.startswith(b"\xff\xd8")
                assert (frame.width, frame.height) == (800, 600)
                await cast.send_mouse("mousePressed", 100, 100, button="left", clicks=1)
                await cast.send_mouse("mouseReleased", 100, 100, button="left", clicks=1)
                await page.wait_for_function("document.title === 'clicked true'")
                await cast.send_key("keyDown", "G", "KeyG", modifiers=1 | 8, key_code=71)
                await cast.send_key("keyUp", "G", "KeyG", modifiers=1 | 8, key_code=71)
                assert await page.evaluate("last") == "KeyG,true,true,true"
                await page.locator("input").focus()
                for letter in "hi":
                    await cast.send_key("keyDown", letter, f"Key{letter.upper()}", text=letter)
                    await cast.send_key("keyUp", letter, f"Key{letter.upper()}")
                assert await page.locator("input").input_value() == "hi"
                await page.evaluate("document.body.style.background = '#123'")
                assert (await asyncio.wait_for(anext(cast), 60)).jpeg != frame.jpeg
                await context.new_page()
                await page.close()
                assert [last async for last in cast][1:] == []

    with serve({"/": CASTING}) as site:
        asyncio.run(watch(f"{site}/"))

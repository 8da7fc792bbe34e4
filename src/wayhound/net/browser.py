"""Opens the system's Chromium, with a window for teaching or headless for tests and servers."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from wayhound.errors import MissingExtra, UsageError, WayhoundError

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Dialog, Playwright

NAMES = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "brave-browser",
)

# Nothing is sent but what the person asks for. Playwright's own flags turn off most services; its list after
# `--disable-features` must stay the only one, because Chromium uses the last. Two services connect in spite of that,
# and are directed to a port where nothing listens.
_NOBODY = "http://127.0.0.1:9/"
_QUIET = (
    "--disable-client-side-phishing-detection",
    "--disable-domain-reliability",
    "--no-pings",
    f"--component-updater=url-source={_NOBODY}",
    f"--gaia-url={_NOBODY}",
)
_NO_NETWORK = (
    "--dns-prefetch-disable",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--blink-settings=imagesEnabled=false",
)


@dataclass(frozen=True, slots=True)
class BrowserOptions:
    """The browser to open, its profile folder (None: a new one each time), and whether it has a window."""

    program: str = ""
    profile: Path | None = None
    headless: bool = False
    width: int = 1280
    height: int = 800
    more_flags: tuple[str, ...] = ()


def has_display() -> bool:
    """Return True if a window can be opened: always on macOS and Windows, elsewhere if a display is set."""
    return sys.platform in ("darwin", "win32") or bool(
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    )


def find_browser(program: str = "") -> str:
    """Return the path of `program`, or of the first Chromium-like browser that is installed.

    Raises UsageError if there is none.
    """
    for name in (program,) if program else NAMES:
        if path := shutil.which(name):
            return path
    if program:
        raise UsageError(
            f"{program} is not a program that can be run. Give the path of your Chromium with --browser PATH."
        )
    raise UsageError(
        "No Chromium was found. Install one (Debian and Ubuntu: apt install chromium), or give the path of a "
        "Chromium-like browser with --browser PATH."
    )


@asynccontextmanager
async def open_browser(options: BrowserOptions) -> AsyncIterator[BrowserContext]:
    """Run a browser for the block. Raises UsageError without a display, WayhoundError if it cannot start."""
    program = find_browser(options.program)
    if not options.headless and not has_display():
        raise UsageError("There is no display to open a browser window on.")
    with _ProfileFolder(options.profile) as profile:
        async with _playwright() as playwright:
            context = await _launch(playwright, program, profile, options)
            if not options.headless:
                context.on("dialog", _leave_open)
            try:
                yield context
            finally:
                with suppress(playwright_error()):  # it may have been closed or killed already
                    await context.close()


@asynccontextmanager
async def launch_without_network(program: str) -> AsyncIterator[Browser]:
    """Run a headless browser without a profile for the block, whose connections all go to a dead port.

    Pages get what their routes answer and nothing else. Raises WayhoundError if it cannot start.
    """
    async with _playwright() as playwright:
        try:
            browser = await playwright.chromium.launch(
                executable_path=program,
                headless=True,
                args=[*_QUIET, *_NO_NETWORK],
                proxy={"server": _NOBODY, "bypass": "<-loopback>"},
                chromium_sandbox=not _is_root(),
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
        except playwright_error() as error:
            raise WayhoundError(_explain(str(error), program, Path())) from None
        try:
            yield browser
        finally:
            with suppress(playwright_error()):
                await browser.close()


def _leave_open(_: Dialog) -> None:
    """Keep Playwright from dismissing dialogs of pages, which it does unless there is a listener."""


@asynccontextmanager
async def _playwright() -> AsyncIterator[Playwright]:
    try:
        from playwright.async_api import async_playwright  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtra("Teaching in a browser", "Playwright", "teach") from None
    async with async_playwright() as playwright:
        yield playwright


def playwright_error() -> type[Exception]:
    """Return the class of Playwright's errors, which is an extra."""
    from playwright.async_api import Error  # noqa: PLC0415 - an extra

    return Error


class _ProfileFolder:
    """A given folder, or a new one that is deleted afterwards; Chromium may still write while it exits."""

    def __init__(self, profile: Path | None) -> None:
        self._is_temporary = profile is None
        self._path = profile or Path(tempfile.mkdtemp(prefix="wayhound-browser-"))

    def __enter__(self) -> Path:
        self._path.mkdir(parents=True, exist_ok=True)
        return self._path

    def __exit__(self, *_: object) -> None:
        if self._is_temporary:
            shutil.rmtree(self._path, ignore_errors=True)


async def _launch(
    playwright: Playwright, program: str, profile: Path, options: BrowserOptions
) -> BrowserContext:
    size = {"width": options.width, "height": options.height}
    try:
        return await playwright.chromium.launch_persistent_context(
            profile,
            executable_path=program,
            headless=options.headless,
            args=_flags(options),
            ignore_default_args=["--enable-automation"],  # it would show a notice above every page
            viewport=size if options.headless else None,  # type: ignore[arg-type]
            no_viewport=not options.headless,
            accept_downloads=False,
            chromium_sandbox=not _is_root(),
            handle_sigint=False,  # we handle Ctrl-C
        )
    except playwright_error() as error:
        raise WayhoundError(_explain(str(error), program, profile)) from None


def _flags(options: BrowserOptions) -> list[str]:
    window = f"--window-size={options.width},{options.height}"
    return [*_QUIET, window, *options.more_flags]


def _is_root() -> bool:
    """Chromium's sandbox refuses to run as root, as in containers."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def _explain(report: str, program: str, profile: Path) -> str:
    if "ProcessSingleton" in report or "existing browser session" in report:
        return f"The profile {profile} is in use by another browser window. Close it, or choose another --profile."
    if "shared libraries" in report:
        return f"{program} cannot start because libraries that it needs are missing. Try: {program} --version"
    first = report.strip().splitlines()[0][:200] if report.strip() else "no reason given"
    return f"{program} could not be started as a browser: {first}"

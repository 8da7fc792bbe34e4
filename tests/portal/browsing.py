"""A real browser for tests of pages, and what it complains about."""

from __future__ import annotations

import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), "")
FLAGS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]

needs_browser = [
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium: scripts/install-chromium"),
]


@dataclass
class Visit:
    """A page with what the browser said about it."""

    page: Page
    complaints: list[str] = field(default_factory=list)


@contextmanager
def visiting(browser: Browser, **options: object) -> Iterator[Visit]:
    """A fresh profile. What the console says, and every breach of the content policy, is a complaint."""
    context = browser.new_context(**options)  # type: ignore[arg-type]
    context.set_default_timeout(120_000)  # machines that run tests are busy
    visit = Visit(context.new_page())

    def heard(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            visit.complaints.append(message.text)

    def alarmed(dialog: Dialog) -> None:
        visit.complaints.append(dialog.message)
        dialog.dismiss()

    visit.page.on("console", heard)
    visit.page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    visit.page.on("dialog", alarmed)
    try:
        yield visit
    finally:
        context.close()


def axe_source() -> str:
    """The accessibility checker, fetched once from the registry and kept outside the project."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wayhound-tests"
    found = sorted(cache.glob("axe-core-*.tgz")) or _fetched(cache)
    with tarfile.open(found[-1]) as packed:
        source = packed.extractfile("package/axe.min.js")
        assert source is not None
        return source.read().decode()


def _fetched(cache: Path) -> list[Path]:
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("axe-core cannot be fetched: there is no npm")
    cache.mkdir(parents=True, exist_ok=True)
    ran = subprocess.run(
        [npm, "pack", "axe-core", "--silent"], cwd=cache, timeout=120, capture_output=True, check=False
    )
    found = sorted(cache.glob("axe-core-*.tgz"))
    if ran.returncode or not found:
        pytest.skip("axe-core cannot be fetched: the registry does not answer")
    return found

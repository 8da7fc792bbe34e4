"""A real browser for tests of pages, and what it complains about."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
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


@cache
def axe_source() -> str:
    """The accessibility checker, fetched once from the registry and kept outside the project."""
    with _one_at_a_time() as cache:
        if not (found := sorted(cache.glob("axe-core-*.tgz"))):
            _npm(cache, "pack", "--silent", "axe-core")
            found = sorted(cache.glob("axe-core-*.tgz"))
    with tarfile.open(found[-1]) as packed:
        source = packed.extractfile("package/axe.min.js")
        assert source is not None
        return source.read().decode()


def serious_barriers(page: Page) -> list[tuple[str, list[str]]]:
    """What keeps people from using a page that is open: rules of the checker, and elements that break them."""
    if not page.evaluate("'axe' in window"):  # the same page may be looked at in several colours
        page.evaluate(axe_source())
    # how large a target must be is a rule of WCAG 2.2, which the checker leaves out unless asked
    run = "axe.run(document, {resultTypes: ['violations'], iframes: false, rules: {'target-size': {enabled: true}}})"
    found = page.evaluate(run)["violations"]
    serious = [each for each in found if each["impact"] in {"serious", "critical"}]
    return [(each["id"], [node["html"] for node in each["nodes"]][:3]) for each in serious]


HTML_RULES = {
    "root": True,
    "extends": ["html-validate:standard", "html-validate:a11y"],
    "rules": {"no-implicit-button-type": "off"},  # ours submit forms, which is what the standard gives them
}


def html_faults(pages: Mapping[str, str], folder: Path) -> list[str]:
    """What html-validate says about pages, by their names: page, line, rule and message."""
    with _one_at_a_time() as cache:
        checker = cache / "node_modules" / "html-validate" / "bin" / "html-validate.mjs"
        if not checker.exists():
            _npm(cache, "install", "--silent", "--no-audit", "--no-fund", "--prefix", ".", "html-validate@10")
    names = {f"{number}.html": name for number, name in enumerate(pages)}
    for file, name in names.items():
        (folder / file).write_text(pages[name])
    (folder / ".htmlvalidate.json").write_text(json.dumps(HTML_RULES))
    ran = subprocess.run(
        ["node", checker, "--formatter", "json=faults.json", *names],
        cwd=folder, timeout=300, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (folder / "faults.json").exists(), ran.stderr
    return [
        f"{names[Path(report['filePath']).name]}:{message['line']} {message['ruleId']}: {message['message']}"
        for report in json.loads((folder / "faults.json").read_text())
        for message in report["messages"]
    ]


@contextmanager
def _one_at_a_time() -> Iterator[Path]:
    """The folder for fetched tools, which tests run beside each other."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wayhound-tests"
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield cache


def _npm(cache: Path, *arguments: str) -> None:
    """Fetch a package, or skip the test."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip(f"{arguments[-1]} cannot be fetched: there is no npm")
    ran = subprocess.run([npm, *arguments], cwd=cache, timeout=300, capture_output=True, check=False)
    if ran.returncode:
        pytest.skip(f"{arguments[-1]} cannot be fetched: the registry does not answer")

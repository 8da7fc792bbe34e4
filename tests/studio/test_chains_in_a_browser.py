"""Relationships in a real browser: mark a link, see what the rules take, correct one, extract the rest."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from tests.app.teach.lessons import needs_browser
from tests.studio.conftest import TOKEN
from wayhound.config import FILE_NAME
from wayhound.net.browser import find_browser
from wayhound.samples.films import FilmSite, person_path
from wayhound.samples.server import serve_samples
from wayhound.samples.web import sample_web
from wayhound.studio.app import make_studio
from wayhound.web.app import running
from wayhound.workspace import Workspace

pytestmark = needs_browser
SETTINGS = "[fetch]\nallow_private = true\ndelay_seconds = 0.0\n"
SLOW = 120_000  # milliseconds: machines that run tests are busy
SITE: FilmSite = sample_web().films


@pytest.fixture
def films() -> Iterator[str]:
    with serve_samples(sample_web()) as server:
        yield f"http://{SITE.host}:{server.port}"


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Page]:
    Workspace.create(tmp_path / "w").close()
    (tmp_path / "w" / FILE_NAME).write_text(SETTINGS)
    with running(make_studio(tmp_path / "w", TOKEN)) as address, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        opened = browser.new_page(base_url=address, viewport={"width": 1200, "height": 900})
        opened.set_default_timeout(SLOW)
        opened.goto(f"{address}?token={TOKEN}")
        yield opened
        browser.close()


def test_a_person_marks_one_link_and_gets_the_whole_table(page: Page, films: str) -> None:
    film = next(each for each in SITE.films if len(each.people["Starring"]) > 3)
    page.goto("/chains")
    for field, text in {
        "name": "ActorOf",
        "source": "film",
        "target": "actor",
        "url": films + film.path,
    }.items():
        page.fill(f"#{field}", text)
    page.click("button:has-text('Add')")
    page.click(".foreign button.mark:has-text('Cast and Credits') + button.follow")
    page.click(f".foreign button.mark:has-text('{film.people['Starring'][0]}')")
    page.wait_for_selector(".foreign button.example")
    # the other members of the list are highlighted on the page itself, and no one else
    taken = page.locator(".foreign button.taken").all_inner_texts()
    assert taken == list(film.people["Starring"][1:])
    assert "After “Starring:”" in page.inner_text("#rules + ul")
    # one that does not belong is taken back, and that is undone
    page.click(".foreign button.taken >> nth=0")
    page.wait_for_selector(".foreign button.refused")
    page.click(".foreign button.refused")
    page.wait_for_selector(".foreign:not(:has(.refused))")
    page.click("button:has-text('Extract all')")
    page.wait_for_selector("#instances")
    page.wait_for_selector(f"#instances .count:has-text('{len(SITE.chains('Starring'))}')")
    lines = page.request.get("/chains/ActorOf.csv").text().splitlines()
    assert len(lines) == len(SITE.chains("Starring")) + 1
    assert any(line.count(films + person_path(film.people["Starring"][0])) for line in lines)

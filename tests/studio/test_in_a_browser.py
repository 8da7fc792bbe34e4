"""The studio in a real browser: the whole way by clicks and keys, teaching in the picture, hostile pages."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.app.review.taught import GOAL_LABEL, forage, label_of, start_of, teach
from tests.app.teach.lessons import needs_browser
from tests.portal.browsing import html_faults, serious_barriers
from tests.servers import serve
from tests.studio.conftest import TOKEN, small_trails
from wayhound.app.teach.tab import BAR_HEIGHT
from wayhound.cli import run as run_command
from wayhound.config import FILE_NAME
from wayhound.net.browser import find_browser
from wayhound.samples.server import SampleServer, serve_samples
from wayhound.samples.web import sample_web
from wayhound.studio.app import make_studio
from wayhound.web.app import running
from wayhound.workspace import Workspace

pytestmark = needs_browser

SETTINGS = "[fetch]\nallow_private = true\ndelay_seconds = 0.0\n"
SLOW = 120_000  # milliseconds: machines that run tests are busy


@pytest.fixture(scope="module")
def web() -> Iterator[SampleServer]:
    with serve_samples(sample_web()) as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with Workspace.create(tmp_path / "workspace") as workspace:
        (workspace.folder / FILE_NAME).write_text(SETTINGS)
        return workspace.folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Closed with its module: as long as it is there, nothing else in this process may run an event loop."""
    with sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture
def page(folder: Path, browser: Browser) -> Iterator[Page]:
    """A visitor who came by the address of the studio; any request to elsewhere is a fault."""
    with running(make_studio(folder, TOKEN)) as address:
        opened = browser.new_page(base_url=address, viewport={"width": 1200, "height": 900})
        opened.set_default_timeout(SLOW)
        strayed: list[str] = []
        opened.on("request", lambda sent: None if sent.url.startswith(address) else strayed.append(sent.url))
        opened.goto(f"{address}?token={TOKEN}")
        yield opened
        opened.context.close()
    assert strayed == []


def apart(work: Callable[[], int]) -> int:
    """Playwright holds the event loop of this thread."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result()


def show(folder: Path, web: SampleServer, names: Sequence[str], budget: int, most: int) -> int:
    """Teach on these sample sites."""
    with Workspace.open(folder) as workspace:
        run = forage(workspace, [start_of(web, name) for name in names], budget)
        for name in names:
            teach(workspace, web, run, name, most)
    return run


def forage_apart(folder: Path, start: str) -> int:
    with Workspace.open(folder) as workspace:
        return forage(workspace, [start], 5)


def assert_no_barrier(page: Page) -> None:
    """Nothing that keeps people from using the page, in light and dark."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert serious_barriers(page) == []


def test_no_page_has_a_serious_barrier(page: Page, folder: Path) -> None:
    with Workspace.open(folder) as workspace:
        workspace.stores.trails.add_all(small_trails("http://one.example/"), 0.0, "test")
    answers = {}
    for path in ("/", "/trails", "/trails/1", "/train", "/runs", "/review", "/teach", "/facts", "/nowhere"):
        page.goto(path)
        assert_no_barrier(page)
        answers[path] = page.request.get(path).text()
    (folder / "html").mkdir()
    assert html_faults(answers, folder / "html") == []


def test_no_page_is_wider_than_a_phone(page: Page, folder: Path, web: SampleServer) -> None:
    """Tables scroll within their own frame."""
    with Workspace.open(folder) as workspace:
        workspace.stores.trails.add_all(small_trails("http://one.example/"), 0.0, "test")
    run = apart(lambda: forage_apart(folder, start_of(web, "lanterns")))
    page.set_viewport_size({"width": 390, "height": 800})
    for path in (
        "/",
        "/trails",
        "/trails/1",
        "/train",
        "/runs",
        f"/runs/{run}",
        f"/runs/{run}/goals",
        "/teach",
    ):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
    page.goto("/trails")
    # a shadow says that a table goes on: phones show no scroll bar
    shown = page.locator(".scroll").first.evaluate("table => getComputedStyle(table).backgroundAttachment")
    assert shown == "local, local, scroll, scroll"


def test_a_form_that_takes_seconds_says_so_at_once(page: Page) -> None:
    page.goto("/teach")
    page.fill("#urls", "http://one.example/")
    page.evaluate(
        "document.querySelector('form').addEventListener('submit', (sent) => sent.preventDefault())"
    )
    page.click("button:has-text('Open the browser')")
    page.wait_for_selector("button[disabled]:has-text('Opening the browser …')")


def test_from_trails_to_a_model_a_forage_answers_and_a_model_that_learned_from_them(
    page: Page, folder: Path, web: SampleServer
) -> None:
    apart(lambda: show(folder, web, ("physics", "cs"), 70, 5))
    page.goto("/train")
    page.click("button:has-text('Train')")
    page.wait_for_selector("text=Learned from 17 trails on 2 sites")
    page.wait_for_selector("text=breadth-first needed")

    page.goto("/runs")
    page.fill("#sites", start_of(web, "history"))
    page.fill("#budget", "50")
    page.click("button:has-text('Forage')")
    page.wait_for_selector(".job[data-state='done']")
    assert "by the model paths" in page.inner_text("h1")
    assert_no_barrier(page)
    page.click("a.button:has-text('Results')")
    assert_no_barrier(page)
    assert page.locator(".result").count() > 20

    page.goto("/review?run=2")
    page.click("button:has-text('Prepare')")
    page.wait_for_selector(".question")
    assert_no_barrier(page)
    with Workspace.open(folder) as workspace:
        before = len(workspace.stores.trails)
    for number in range(5):
        page.wait_for_selector(f"text={number} answer")
        url = page.locator(".question a[rel=noreferrer]").inner_text()
        page.keyboard.press("g" if label_of(web, url) == GOAL_LABEL else "x")
    page.wait_for_selector("text=5 answers so far")
    page.wait_for_selector("text=The model has learned from your answers")
    assert "What your answers change" in page.inner_text("main")
    with Workspace.open(folder) as workspace:
        assert len(workspace.stores.trails) == before + 5


def test_what_a_hostile_page_holds_cannot_run_in_the_view_of_its_ratings(page: Page, folder: Path) -> None:
    hostile = (
        "<title><script>document.title='owned'</script></title><body onload=\"top.document.title='owned'\">"
        "<script>top.document.title='owned';new Image().src='/stolen'</script>"
        "<img src=/stolen onerror=\"top.document.title='owned'\"><style>@import '/stolen';</style>"
        "<svg onload=\"top.document.title='owned'\"></svg><iframe srcdoc='<script>1</script>'></iframe>"
        "<a href=\"javascript:top.document.title='owned'\" onclick=\"top.document.title='owned'\">bad</a>"
        "<a href='/people' onmouseover=\"top.document.title='owned'\">\"><script>1</script>People</a>"
    )
    with serve({"/": hostile, "/people": "<title>People</title>x"}) as served:
        with Workspace.open(folder) as workspace:
            workspace.stores.trails.add_all(small_trails("http://one.example/"), 0.0, "test")
        train = ["train", "--strategy", "naive-bayes", "--settings", "default", "-w", str(folder)]
        assert apart(lambda: run_command(train)) == 0
        run = apart(lambda: forage_apart(folder, f"{served}/"))
        served.requests.clear()
        page.goto(f"/ratings?run={run}&site={served}/&visit=0")
        assert_no_barrier(page)
        frame = page.frame_locator("iframe.page-frame")
        frame.locator("text=People").hover()
        frame.locator("text=bad").click()
        time.sleep(0.5)
        assert "owned" not in page.title()
        assert not served.requests
        assert frame.locator("script, img, style[type], iframe, a, svg").count() == 0
        assert page.evaluate("document.querySelector('iframe').contentDocument") is None


def test_teaching_goes_on_in_the_picture_of_a_browser(page: Page, folder: Path, web: SampleServer) -> None:
    page.goto("/teach")
    page.fill("#urls", start_of(web, "physics"))
    page.click("button:has-text('Open the browser')")
    page.wait_for_selector("canvas.screen[data-number]")
    wait_for_pages(folder, 1)
    click_link_in_picture(page, start_of(web, "physics"), "People")
    wait_for_pages(folder, 2)
    page.keyboard.press("Alt+Shift+KeyG")
    wait_for_trails(folder, 1)
    page.keyboard.press("Alt+Shift+KeyD")
    page.wait_for_selector("text=You marked 1 goal and rejected 0 pages")
    with Workspace.open(folder) as workspace:
        [trail] = workspace.stores.trails.trails()
    assert trail.reached_goal
    assert trail.site == start_of(web, "physics")
    assert len(trail.steps) >= 2


def test_browsing_freely_in_the_picture_makes_trails_too(page: Page, folder: Path, web: SampleServer) -> None:
    page.goto("/teach")
    page.fill("#urls", start_of(web, "physics"))
    page.check("text=Browse freely and mark useful pages")
    page.fill("#keywords", "staff, research")
    page.click("button:has-text('Open the browser')")
    page.wait_for_selector("canvas.screen[data-number]")
    assert page.locator(".actions").count() == 0  # the bar in the picture is the only one
    assert_no_barrier(page)
    size = page.viewport_size
    assert size is not None
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.locator("canvas.screen").evaluate("each => each.clientWidth") > 700  # its bar can be hit
    page.set_viewport_size(size)
    wait_for_pages(folder, 1)
    click_link_in_picture(page, start_of(web, "physics"), "People")
    wait_for_pages(folder, 2)
    page.keyboard.press("Alt+Shift+KeyP")
    wait_for_trails(folder, 1)  # of the page that was left
    page.keyboard.press("Alt+Shift+KeyG")
    wait_for_trails(folder, 2)
    page.keyboard.press("Alt+Shift+KeyD")
    page.wait_for_selector("text=You marked 1 useful page and left 1 page that you visited unmarked")
    with Workspace.open(folder) as workspace:
        kept = workspace.stores.trails.summaries()
        assert workspace.stores.teaching.keywords() == ("staff", "research")
    assert sorted((each.ending, each.steps, each.source) for each in kept) == [
        ("Fail", 2, "free browsing"),
        ("Goal", 1, "free browsing"),
    ]


def test_without_scripts_one_browses_freely_by_forms(page: Page, folder: Path, web: SampleServer) -> None:
    browser = page.context.browser
    assert browser is not None
    plain = browser.new_context(java_script_enabled=False, base_url=page.url)
    plain.add_cookies(page.context.cookies())  # type: ignore[arg-type]
    without = plain.new_page()
    without.set_default_timeout(SLOW)
    without.goto("/teach")
    without.fill("#urls", start_of(web, "physics"))
    without.check("text=Browse freely and mark useful pages")
    without.click("button:has-text('Open the browser')")
    assert [each.inner_text() for each in without.locator(".actions button").all()] == [
        *("Useful", "Undo", "Back", "Next site", "Submit"),
    ]
    wait_for_pages(folder, 1)
    without.click("button:has-text('Useful')")
    wait_for_trails(folder, 1)
    without.click("button:has-text('Submit')")
    without.wait_for_selector("text=You marked 1 useful page")
    plain.close()


def pages_seen(folder: Path) -> int:
    """How many pages were shown and drawn."""
    with Workspace.open(folder) as workspace:
        store = workspace.stores.teaching
        return sum(bool(seen.digest) for session in store.sessions() for seen in store.pages(session.id))


def wait_for_pages(folder: Path, wanted: int) -> None:
    wait_until(lambda: pages_seen(folder) >= wanted, "a page")


def wait_for_trails(folder: Path, wanted: int) -> None:
    def enough() -> bool:
        with Workspace.open(folder) as workspace:
            return len(workspace.stores.trails) >= wanted

    wait_until(enough, "a trail")


def wait_until(come_true: Callable[[], bool], hope: str) -> None:
    end = time.monotonic() + SLOW / 1000
    while time.monotonic() < end:
        if come_true():
            return
        time.sleep(0.2)
    pytest.fail(f"{hope} was waited for in vain")


def click_link_in_picture(page: Page, url: str, text: str) -> None:
    """Click where a link of the menu stands, as another window of that size shows it under a bar."""
    screen = page.locator("canvas.screen")
    width, height = screen.evaluate("canvas => [canvas.width, canvas.height]")
    browser = page.context.browser
    assert browser is not None
    beside = browser.new_page(viewport={"width": width, "height": height})
    beside.goto(url)
    link = beside.locator("nav").get_by_text(text, exact=True).bounding_box()
    beside.close()
    shown = screen.bounding_box()
    assert link is not None
    assert shown is not None
    across = (link["x"] + link["width"] / 2) / width
    down = (link["y"] + link["height"] / 2 + BAR_HEIGHT) / height
    page.mouse.click(shown["x"] + across * shown["width"], shown["y"] + down * shown["height"])

"""The bar stands, hears and is safe on pages that make it hard: strict policies, scripts, frames, pop-ups."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from tests.app.teach.lessons import Classroom, Lesson, needs_browser, trails_of, walked
from tests.servers import Answer, serve
from wayhound.app.teach.hand import KEYS
from wayhound.archive.reader import iterate

pytestmark = needs_browser

NEXT = "<title>Next</title><h1>Next page</h1><a href='/end'>The end</a>"
END = "<title>End</title><p>Here it is."
STRICT = "default-src 'none'; script-src 'none'; style-src 'none'; require-trusted-types-for 'script'; trusted-types"

POLICIES: dict[str, str | Answer] = {
    "header": Answer("<h1>Strict</h1><a href='/next'>On</a>", headers=(("Content-Security-Policy", STRICT),)),
    "meta": f'<meta http-equiv="Content-Security-Policy" content="{STRICT}"><h1>Strict</h1><a href=/next>On</a>',
    "sandbox": Answer("<a href='/next'>On</a>", headers=(("Content-Security-Policy", "sandbox"),)),
    "trusted types": Answer(
        "<script>document.title = 'ran'</script><a href='/next'>On</a>",
        headers=(("Content-Security-Policy", "require-trusted-types-for 'script'; trusted-types 'none'"),),
    ),
    "quirks and no body": "<a href='/next'>On</a>",
    "xhtml": Answer(
        "<html xmlns='http://www.w3.org/1999/xhtml'><head><title>X</title></head>"
        "<body><a href='/next'>On</a></body></html>",
        headers=(("Content-Type", "application/xhtml+xml"),),
    ),
}


@pytest.mark.parametrize("policy", POLICIES)
def test_the_bar_works_under_any_policy(classroom: Classroom, tmp_path: Path, policy: str) -> None:
    async def story(lesson: Lesson) -> None:
        await lesson.hand.arrived()
        await lesson.one_bar()
        place = await lesson.answer("place('.bar')")
        assert place["height"] == 44  # its style came through
        await lesson.hand.point(".mark")
        await lesson.hand.tab.page.keyboard.type("start")
        await lesson.hand.tab.page.keyboard.press("Enter")
        await lesson.hand.until(lambda: lesson.session.labels() == ["start"], "the label")
        await lesson.hand.click("On")
        await lesson.hand.point(".goal")
        await lesson.hand.until(lesson.session.ends, "the goal")

    with serve({"/": POLICIES[policy], "/next": NEXT}) as site:
        classroom.teach(tmp_path, [f"{site}/"], story)
    [trail] = trails_of(tmp_path)
    assert walked(trail) == [("/", "start", ""), ("/next", "Goal", "On")]


HOSTILE = """<title>Hostile</title><a id=on href='/next'>On</a><script>
const heard = [];
for (const type of ['click', 'mousedown', 'pointerdown', 'keydown', 'keyup', 'input', 'beforeinput'])
  for (const target of [window, document]) target.addEventListener(type, (event) => heard.push(event.type), true);
Element.prototype.attachShadow = () => { throw new Error('no shadows'); };
JSON.stringify = () => '{"say": "do", "do": "done"}';
for (const name of Object.getOwnPropertyNames(window)) {
  const mine = /^(b|w|__).{8,}/.test(name) && typeof window[name] === 'function';
  try { if (mine) window[name]('{"say":"do","do":"goal"}'); } catch {}
}
const press = (code) => window.dispatchEvent(
  new KeyboardEvent('keydown', {code, altKey: true, shiftKey: true, bubbles: true}));
setInterval(() => {
  press('KeyG'); press('KeyD');
  document.getElementById('on').dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));
  for (const bar of document.querySelectorAll('wayhound-bar')) {
    bar.dispatchEvent(new MouseEvent('click', {bubbles: true, composed: true, clientX: 700, clientY: 20}));
    if (bar.shadowRoot) heard.push('saw inside');
    if (window.rude) bar.remove();
  }
}, 100);
document.getElementById('on').addEventListener('click', (event) => { if (!event.isTrusted) event.preventDefault(); });
</script>"""


def test_a_hostile_page_can_neither_press_the_bar_nor_see_what_is_done_in_it(
    classroom: Classroom, tmp_path: Path
) -> None:
    async def story(lesson: Lesson) -> None:
        await lesson.hand.arrived()
        page = lesson.hand.tab.page
        await page.wait_for_function("heard.length > 20")  # it has tried
        assert lesson.session.ends() == []
        assert lesson.session.clicked(1) is None
        await lesson.hand.mark("my own label")
        await lesson.hand.point(".undo")
        await lesson.hand.until(lambda: lesson.session.labels() == [], "the label to go")
        await lesson.hand.point(".mark")
        await page.keyboard.type("slowly")
        await page.keyboard.down("Enter")
        await lesson.hand.until(lambda: lesson.session.labels() == ["slowly"], "the label")
        await page.evaluate(
            "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))"
        )
        await page.keyboard.up("Enter")
        assert await page.evaluate("heard.filter((type) => type !== 'click' && type !== 'keydown')") == []
        untrusted = await page.evaluate("heard.length")
        await lesson.hand.point(".site")
        assert await page.evaluate("heard.includes('mousedown')") is False
        assert untrusted > 0
        await page.evaluate("window.rude = true")
        await asyncio.sleep(0.3)
        await page.evaluate("window.rude = false")
        await lesson.one_bar()
        assert not lesson.session.done

    with serve({"/": HOSTILE, "/next": NEXT}) as site:
        classroom.teach(tmp_path, [f"{site}/"], story)
    assert trails_of(tmp_path) == []


@pytest.mark.parametrize("position", ["fixed", "sticky"])
def test_the_page_makes_room_and_the_bar_gives_way_to_what_sticks_to_the_top(
    classroom: Classroom, tmp_path: Path, position: str
) -> None:
    sticky = (
        f"<style>nav {{position: {position}; top: 0; left: 0; right: 0; height: 60px}}</style>"
        "<nav><a href='/next'>On</a></nav><p>Text"
    )

    async def where(lesson: Lesson, side: str) -> None:
        for _ in range(3_000):
            at_top = (await lesson.answer("place('.bar')"))["y"] < 100
            if at_top == (side == "top"):
                return
            await asyncio.sleep(0.02)
        raise AssertionError(f"The bar is not at the {side}.")

    async def story(lesson: Lesson) -> None:
        await lesson.hand.arrived()
        await where(lesson, "bottom")
        await lesson.hand.click("On")
        await where(lesson, "top")
        heading = await lesson.hand.tab.page.locator("h1").bounding_box()
        assert heading is not None
        assert heading["y"] >= 44
        await lesson.hand.tab.page.keyboard.press("Alt+Shift+KeyB")
        await where(lesson, "bottom")
        await lesson.hand.point(".dock")
        await where(lesson, "top")

    with serve({"/": sticky, "/next": NEXT}) as site:
        classroom.teach(tmp_path, [f"{site}/"], story)


POPUPS = """<a href='/next' target=_blank>In a tab</a> <a href='/next?2' target=_blank rel=opener>With opener</a>
<a href='/next?3' onclick="window.open(this.href, 'w', 'width=600,height=400'); return false">In a window</a>"""


@pytest.mark.parametrize("text", ["In a tab", "With opener", "In a window"])
def test_a_trail_goes_on_in_a_pop_up(classroom: Classroom, tmp_path: Path, text: str) -> None:
    async def story(lesson: Lesson) -> None:
        await lesson.hand.arrived()
        await lesson.hand.click(text)
        await lesson.hand.until(lambda: len(lesson.way()) == 2, "the page in the pop-up")
        await lesson.hand.arrived()
        await lesson.one_bar()
        await lesson.hand.click("The end")
        await lesson.hand.press("goal")
        await lesson.hand.tab.page.close()
        await lesson.hand.until(lambda: len(lesson.recorder.tabs) == 1, "the tab to go")
        assert lesson.way() == ["/"]

    with serve({"/": POPUPS, "/next": NEXT, "/next?2": NEXT, "/next?3": NEXT, "/end": END}) as site:
        classroom.teach(tmp_path, [f"{site}/"], story)
    [trail] = trails_of(tmp_path)
    assert [said for _, _, said in walked(trail)] == ["", text, "The end"]


def test_two_windows_are_two_places_on_one_trail(classroom: Classroom, tmp_path: Path) -> None:
    async def story(lesson: Lesson) -> None:
        hand = lesson.hand
        await hand.arrived()
        other = await lesson.context.new_page()
        await hand.until(lambda: len(lesson.recorder.tabs) == 2, "the second window")
        await other.goto(str(site) + "/next")
        await hand.until(lambda: hand.here is not None, "its page")
        await hand.arrived()
        await hand.click("The end")
        await hand.press("goal")
        first = lesson.recorder.tabs[0]
        await first.page.get_by_text("Next").click()
        await hand.until(
            lambda: lesson.session.page_shown(first.id) != lesson.session.nodes[0], "the first window"
        )
        await lesson.drawn(first)
        await first.page.keyboard.press("Alt+Shift+KeyX")
        await hand.until(lambda: len(lesson.session.ends()) == 2, "its mark")

    with serve({"/": "<a href='/other'>Next</a>", "/next": NEXT, "/end": END, "/other": END}) as site:
        classroom.teach(tmp_path, [f"{site}/"], story)
    assert [walked(trail) for trail in trails_of(tmp_path)] == [
        [("/next", "", ""), ("/end", "Goal", "The end")],
        [("/", "", ""), ("/other", "Fail", "Next")],
    ]


FRAMES = {
    "/": "<h1>Frames</h1><iframe src='/inner'></iframe><iframe src='//HOST/far'></iframe>",
    "/inner": "<a href='/next'>Inside</a> <a href='/next' target=_top>Out of the frame</a>",
    "/far": "<a href='/end' target=_top>From far away</a>",
    "/next": NEXT,
    "/end": END,
}


@pytest.mark.parametrize(
    ("text", "way", "kinds"),
    [
        ("Inside", ["/", "/inner", "/next"], ["iframe", "a"]),
        ("Out of the frame", ["/", "/inner", "/next"], ["iframe", "a"]),
        ("From far away", ["/", "/far", "/end"], ["iframe", "a"]),
    ],
)
def test_clicks_in_frames_are_recorded(
    classroom: Classroom, tmp_path: Path, text: str, way: list[str], kinds: list[str]
) -> None:
    async def story(lesson: Lesson) -> None:
        await lesson.hand.arrived()
        await lesson.hand.click(text)
        await lesson.hand.press("goal")
        await lesson.one_bar()

    pages = dict(FRAMES)
    with serve(pages) as site:
        pages["/"] = pages["/"].replace("//HOST", site.at("far.localhost"))
        classroom.teach(tmp_path, [f"{site.at('near.localhost')}/"], story)
    [trail] = trails_of(tmp_path)
    assert [path for path, _, _ in walked(trail)] == way
    assert [step.link.kind for step in trail.steps if step.link] == kinds


SINGLE = """<title>App</title><div id=app><a href='/people' data-route>People</a></div><script>
addEventListener('click', (event) => {
  const link = event.target.closest('[data-route]');
  if (!link) return;
  event.preventDefault();
  history.pushState({}, '', link.href);
  draw();
});
addEventListener('popstate', draw);
function draw() {
  document.title = location.pathname;
  document.getElementById('app').innerHTML = location.pathname === '/'
    ? "<a href='/people' data-route>People</a>"
    : "<h1>People</h1><a href='/people?id=1' data-route>Ann</a> <a href='/people?id=2' data-route>Bob</a>";
}
</script>"""


def test_pages_that_change_without_loading_are_pages(classroom: Classroom, tmp_path: Path) -> None:
    async def story(lesson: Lesson) -> None:
        hand = lesson.hand
        await hand.arrived()
        await hand.click("People")
        await hand.click("Ann")
        await hand.back()
        assert lesson.way() == ["/", "/people"]
        await hand.click("Bob")
        await hand.press("goal")
        await lesson.one_bar()

    with serve(lambda path: SINGLE if path.startswith(("/people", "/?")) or path == "/" else None) as site:
        session = classroom.teach(tmp_path, [f"{site}/"], story)
    [trail] = trails_of(tmp_path)
    assert walked(trail) == [("/", "", ""), ("/people", "", "People"), ("/people?id=2", "Goal", "Bob")]
    assert trail.steps[1].page.headings == ("People",)
    assert len(session.paths_not_taken()) == 1


def test_a_reload_and_redirects_keep_the_place(classroom: Classroom, tmp_path: Path) -> None:
    pages: dict[str, str | Answer] = {
        "/": "<a href='/moved'>Moved</a> <a href='/refresh'>Refresh</a> <a href='#here'>Here</a>",
        "/moved": Answer(status=302, headers=(("Location", "/next"),)),
        "/refresh": "<meta http-equiv=refresh content='0; url=/end'>Wait",
        "/next": NEXT,
        "/end": END,
    }

    async def story(lesson: Lesson) -> None:
        hand = lesson.hand
        await hand.arrived()
        await hand.tab.page.get_by_text("Here").click()
        await hand.click("Moved")
        assert lesson.way() == ["/", "/next"]
        await hand.tab.page.reload()
        await hand.press("goal")
        await hand.back()
        await hand.click("Refresh")
        await hand.until(lambda: lesson.way() == ["/", "/refresh", "/end"], "the page refreshed to")
        await hand.arrived()
        await hand.press("goal")

    with serve(pages) as site:
        session = classroom.teach(tmp_path, [f"{site}/"], story)
    first, second = trails_of(tmp_path)
    assert walked(first) == [("/", "", ""), ("/next", "Goal", "Moved")]
    assert [step.link.kind for step in second.steps if step.link] == ["a", "refresh"]
    assert len(session.nodes) == 4


def test_what_is_typed_is_not_recorded(classroom: Classroom, tmp_path: Path) -> None:
    form = """<form method=post action='/next'><input name=who oninput="this.setAttribute('value', this.value)">
        <input type=password name=word><textarea oninput="this.textContent = this.value"></textarea>
        <input type=submit value='Send it'></form>"""

    async def story(lesson: Lesson) -> None:
        await lesson.hand.arrived()
        page = lesson.hand.tab.page
        await lesson.message("log in")
        for box in ("[name=who]", "[name=word]", "textarea"):
            await page.locator(box).click()
            await page.keyboard.type("secret-of-mine")
        await lesson.hand.press("reject")

    with serve({"/": form}) as site:
        classroom.teach(tmp_path, [f"{site}/"], story)
    bodies = [fetched.body for file in (tmp_path / "archive").glob("*.gz") for _, fetched, _ in iterate(file)]
    assert any(b"Send it" in body for body in bodies)
    assert not any(b"secret-of-mine" in body for body in bodies)
    assert b"secret-of-mine" not in (tmp_path / "wayhound.db").read_bytes()


def test_a_page_that_writes_itself_anew_keeps_its_one_bar(classroom: Classroom, tmp_path: Path) -> None:
    rewriting = """<p>Old<script>addEventListener('load', () => setTimeout(() => {
        document.open(); document.write("<h1>New</h1><a href='/next'>On</a>"); document.close(); }, 100))</script>"""

    async def story(lesson: Lesson) -> None:
        await lesson.hand.arrived()
        await lesson.hand.tab.page.get_by_text("On").wait_for()
        await lesson.one_bar()
        await lesson.hand.click("On")
        await lesson.hand.press("goal")

    with serve({"/": rewriting, "/next": NEXT}) as site:
        classroom.teach(tmp_path, [f"{site}/"], story)
    [trail] = trails_of(tmp_path)
    assert walked(trail) == [("/", "", ""), ("/next", "Goal", "On")]


def test_an_address_typed_in_begins_a_new_trail_and_a_crumb_leads_back(
    classroom: Classroom, tmp_path: Path
) -> None:
    async def story(lesson: Lesson) -> None:
        hand = lesson.hand
        await hand.arrived()
        await hand.click("On")
        await hand.point("ol li:first-child button")
        await hand.until(lambda: lesson.way() == ["/"], "the first page")
        await hand.tab.page.goto(str(site) + "/end")
        await lesson.message("has no link to this page")
        assert lesson.way() == ["/end"]

    with serve({"/": "<title>Start</title><a href='/next'>On</a>", "/next": NEXT, "/end": END}) as site:
        classroom.teach(tmp_path, [f"{site}/"], story)


def test_a_key_pressed_before_the_page_is_drawn_is_not_lost(classroom: Classroom, tmp_path: Path) -> None:
    pressed = threading.Event()

    async def story(lesson: Lesson) -> None:
        hand = lesson.hand
        await hand.until(lambda: hand.here and hand.tab.has_bar, "the bar")
        assert await lesson.ask("knowsPage()") is not True  # its head still waits for a script
        await hand.tab.page.keyboard.press(f"Alt+Shift+Key{KEYS['mark']}")
        pressed.set()
        await lesson.shown(".marks input")
        await hand.tab.page.keyboard.type("start")
        await hand.tab.page.keyboard.press("Enter")
        await hand.until(lambda: lesson.session.labels() == ["start"], "the label")

    def answer(path: str) -> str | Answer | None:
        if path.endswith("/slow.js"):
            pressed.wait(60)
            return Answer("", headers=(("Content-Type", "text/javascript"),))
        return "<head><title>Slow</title><script src='/slow.js'></script></head><body><h1>Here</h1>"

    with serve(answer) as site:
        session = classroom.teach(tmp_path, [f"{site}/"], story)
    assert session.labels() == ["start"]


def test_a_mark_given_before_the_page_is_drawn_is_not_lost(classroom: Classroom, tmp_path: Path) -> None:
    """As the studio gives it, whose buttons stand beside the picture of the page."""
    marked = threading.Event()

    async def story(lesson: Lesson) -> None:
        hand = lesson.hand
        await hand.arrived()
        await hand.tab.page.get_by_text("On").click(no_wait_after=True)
        await hand.until(lambda: lesson.way() == ["/", "/next"], "the address")
        await lesson.recorder.actions.mark(hand.tab, "list")
        await lesson.recorder.actions.undo(hand.tab)
        await lesson.recorder.actions.mark(hand.tab, "goal")
        number = lesson.session.ends()[0].number
        assert lesson.saver.is_pending(number)  # there is nothing yet that could be learned from
        marked.set()
        await hand.until(lambda: not lesson.saver.is_pending(number), "the trail")
        await lesson.message("Goal saved, 1 click from the start")

    def answer(path: str) -> str | Answer | None:
        if path.endswith("/slow.js"):
            marked.wait(60)
            return Answer("", headers=(("Content-Type", "text/javascript"),))
        if path.endswith("/next"):
            return "<head><title>Slow</title><script src='/slow.js'></script></head><body><h1>Here</h1>"
        return "<a href='/next'>On</a>"

    with serve(answer) as site:
        classroom.teach(tmp_path, [f"{site}/"], story)
    [trail] = trails_of(tmp_path)
    assert walked(trail) == [("/", "", ""), ("/next", "Goal", "On")]
    assert trail.steps[-1].page.headings == ("Here",)

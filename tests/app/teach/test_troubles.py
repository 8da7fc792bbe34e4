"""Whatever goes wrong in the browser, the bar says what it was and teaching goes on."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest

from tests.app.teach.lessons import Classroom, Lesson, needs_browser, teach_alone, trails_of, walked
from tests.servers import Answer, closed_port, serve
from wayhound.app.teach.bar import navigation_error, response_error

in_browser, where_there_is_one = needs_browser

DOOR = "<title>Door</title><a href='{}'>In</a> <a href='/good'>Good</a>"
GOOD = "<title>Good</title><p>Found."
BAD = {
    "down": ("http://127.0.0.1:{closed}/", None, "refused the connection"),
    "no such host": ("http://no-such-host.invalid/", None, "no site with the name"),
    "endless redirect": (
        "/loop",
        Answer(status=302, headers=(("Location", "/loop"),)),
        "redirects in a loop",
    ),
    "missing": ("/gone", Answer("<h1>Gone</h1>", 404), "does not exist"),
    "broken": ("/broken", Answer("<h1>Oops</h1>", 500), "error (500)"),
    "login wall": ("/login", Answer("<form><input type=password></form>"), "log in"),
    "forbidden": ("/no", Answer("<h1>No</h1>", 403), "log in"),
}


@pytest.mark.parametrize("what", BAD)
@in_browser
@where_there_is_one
def test_the_bar_says_what_is_wrong_and_teaching_goes_on(
    classroom: Classroom, tmp_path: Path, what: str
) -> None:
    address, answer, sentence = BAD[what]
    link = address.replace("{closed}", str(closed_port()))

    async def story(lesson: Lesson) -> None:
        await lesson.hand.arrived()
        await lesson.hand.tab.page.get_by_text("In", exact=True).click()
        await lesson.message(sentence)
        await lesson.one_bar()
        await lesson.hand.tab.back()
        await lesson.hand.until(lambda: lesson.way() == ["/"], "the door")
        await lesson.hand.click("Good")
        await lesson.hand.press("goal")

    pages: dict[str, str | Answer] = {"/": DOOR.format(link), "/good": GOOD}
    if answer is not None:
        pages[address] = answer
    with serve(pages) as site:
        classroom.teach(tmp_path, [f"{site}/"], story)
    [trail] = trails_of(tmp_path)
    assert walked(trail) == [("/", "", ""), ("/good", "Goal", "Good")]


@in_browser
@where_there_is_one
def test_a_first_site_that_is_down_leaves_the_next_one(classroom: Classroom, tmp_path: Path) -> None:
    async def story(lesson: Lesson) -> None:
        await lesson.hand.until(lambda: lesson.recorder.tabs, "a tab")
        await lesson.message("refused the connection")
        await lesson.hand.press("next")
        await lesson.hand.press("goal")

    with serve({"/": GOOD}) as site:
        classroom.teach(tmp_path, [f"http://127.0.0.1:{closed_port()}/", f"{site}/"], story)
    assert [walked(trail) for trail in trails_of(tmp_path)] == [[("/", "Goal", "")]]


@in_browser
@where_there_is_one
def test_a_crashed_tab_is_opened_again_where_it_was(classroom: Classroom, tmp_path: Path) -> None:
    async def story(lesson: Lesson) -> None:
        hand = lesson.hand
        await hand.arrived()
        await hand.click("In")
        crashed = hand.tab
        session = await lesson.context.new_cdp_session(crashed.page)
        with contextlib.suppress(Exception):
            await asyncio.wait_for(session.send("Page.crash"), 1)
        await hand.until(lambda: lesson.recorder.tabs and hand.tab is not crashed, "another tab")
        await hand.until(lambda: lesson.way() == ["/", "/in"], "the page again")
        await lesson.message("crashed")
        await hand.click("On")
        await hand.press("goal")

    pages = {"/": DOOR.format("/in"), "/in": "<a href='/good'>On</a>", "/good": GOOD}
    with serve(pages) as site:
        classroom.teach(tmp_path, [f"{site}/"], story)
    [trail] = trails_of(tmp_path)
    assert [path for path, _, _ in walked(trail)] == ["/", "/in", "/good"]


@in_browser
@where_there_is_one
def test_closing_the_window_ends_the_recording_with_all_kept(tmp_path: Path) -> None:
    async def story(lesson: Lesson) -> None:
        await lesson.hand.arrived()
        await lesson.hand.press("goal")
        await lesson.context.close()
        assert await lesson.recording == "closed"

    with serve({"/": GOOD}) as site:
        session = teach_alone(tmp_path, [f"{site}/"], story)
    assert not session.done
    assert len(trails_of(tmp_path)) == 1


@in_browser
@where_there_is_one
def test_a_label_that_cannot_be_one_is_refused_in_words(classroom: Classroom, tmp_path: Path) -> None:
    async def story(lesson: Lesson) -> None:
        await lesson.hand.arrived()
        await lesson.hand.point(".mark")
        await lesson.hand.tab.page.keyboard.type("<People")
        await lesson.hand.tab.page.keyboard.press("Enter")
        await lesson.message("may not begin")
        await lesson.hand.press("undo") if lesson.session.undo_count else None
        await lesson.hand.tab.page.keyboard.press("Alt+Shift+KeyN")
        await lesson.message("last site")

    with serve({"/": GOOD}) as site:
        classroom.teach(tmp_path, [f"{site}/"], story)


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        ("net::ERR_CERT_DATE_INVALID", "valid certificate"),
        ("net::ERR_SSL_PROTOCOL_ERROR", "valid certificate"),
        ("net::ERR_SOMETHING_NEW", "(ERR_SOMETHING_NEW)"),
        ("", "could not be opened."),
    ],
)
def test_every_failure_has_a_sentence_with_the_host(failure: str, words: str) -> None:
    sentence = navigation_error(failure, "https://down.example.org:81/page")
    assert "down.example.org:81" in sentence
    assert words in sentence


def test_a_page_with_nothing_wrong_needs_no_words() -> None:
    assert response_error(200, has_login=False) == ""

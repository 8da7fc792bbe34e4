"""A lesson on a site whose menu is made by a script, and the forage of a site like it, which is not told so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.app.teach.lessons import Classroom, Lesson, needs_browser, trails_of
from tests.cli.taught import LOOPBACK
from tests.servers import Page, serve
from wayhound.cli import run
from wayhound.workspace import Workspace

pytestmark = needs_browser

MENU = """<nav></nav><script>
for (const [path, name] of [['/contact', 'Contact'], ['/prices', 'Prices']]) {
  const entry = document.createElement('span');
  entry.textContent = name;
  entry.style.cursor = 'pointer';
  entry.addEventListener('click', () => location.assign(path));
  document.querySelector('nav').append(entry);
}
</script>"""


def firm(name: str) -> dict[str, Page]:
    """A site whose markup shows no need for a browser: it has words, links, and a script like any other."""
    words = f"<p>{f'{name} repairs clocks and watches of every kind and age in its workshop. ' * 8}</p>"
    news = "".join(f'<li><a href="/news/{n}">News of week {n}</a></li>' for n in range(1, 7))
    pages: dict[str, Page] = {
        "/": f"<title>{name}</title><h1>{name}</h1>{MENU}{words}<ul>{news}</ul>",
        "/contact": f"<title>Contact {name}</title><h1>Contact</h1><p>Phone 030 1234567</p>{words}",
        "/prices": f"<title>Prices</title><h1>Prices</h1>{words}",
    }
    for n in range(1, 7):
        pages[f"/news/{n}"] = f"<title>News of week {n}</title><h1>Week {n}</h1>{words}"
    return pages


async def press_words(lesson: Lesson, text: str) -> None:
    """Click what is no link, and wait for the page to which a script leads."""
    before = lesson.hand.here
    await lesson.hand.tab.page.get_by_text(text, exact=True).click()
    await lesson.hand.until(lambda: lesson.hand.here != before, f"the page behind {text}")
    await lesson.hand.arrived()


def test_a_forage_renders_what_the_lesson_needed_a_browser_for(
    classroom: Classroom, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async def story(lesson: Lesson) -> None:
        await lesson.hand.arrived()
        await press_words(lesson, "Contact")
        await lesson.hand.press("goal")
        await lesson.message("reject a page or two")
        await lesson.hand.back()
        await lesson.hand.click("News of week 1")
        await lesson.hand.press("reject")
        await lesson.hand.press("done")
        assert await lesson.recording == "done"

    folder = tmp_path / "w"
    with serve(firm("Ash")) as ash, serve(firm("Elm")) as elm:
        classroom.teach(folder, [f"{ash}/"], story)
        goal, rejected = trails_of(folder)
        assert [step.by_script for step in goal.steps] == [False, True]
        assert [step.by_script for step in rejected.steps] == [False, False]
        with Workspace.open(folder) as workspace:
            assert workspace.stores.site_notes.pages_by_script() == [(f"{ash}/", 0, f"{ash}/")]
        assert run(["trails", "check", "-w", str(folder)]) == 0
        assert "One click follows a link that a script makes" in " ".join(capsys.readouterr().out.split())
        assert run(["train", "--settings", "default", "-w", str(folder)]) == 0
        assert paths_visited(folder, f"{elm}/", capsys) >= {"/": "rendered", "/contact": ""}.items()
        # without the lesson nothing points to the menu
        assert run(["init", str(tmp_path / "other")]) == 0
        untaught = dict(paths_visited(tmp_path / "other", f"{elm}/", capsys, "--keyword", "contact"))
        assert "/contact" not in untaught


def paths_visited(
    folder: Path, start: str, capsys: pytest.CaptureFixture[str], *options: str
) -> set[tuple[str, str]]:
    """The paths of the pages that a forage read, and the part of a browser in each."""
    assert run(["forage", start, "-w", str(folder), *LOOPBACK, "--budget", "20", *options]) in (0, 1)
    capsys.readouterr()
    assert run(["export", "visits", "-w", str(folder)]) == 0
    visits = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    return {("/" + visit["url"].split("/", 3)[3], visit["rendering"]) for visit in visits}

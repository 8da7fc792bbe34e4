"""Real clicks and key presses on the sample sites become trails, whatever happens to the browser."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.app.teach.lessons import Classroom, Lesson, needs_browser, teach_alone, trails_of, walked
from tests.servers import serve
from wayhound.chains.construction import Extraction, construct_chains, learn_chains
from wayhound.chains.ontology import Ontology, Relationship
from wayhound.chains.tokens import TokenPage
from wayhound.page import Page
from wayhound.pages.reader import read_page
from wayhound.samples import SampleServer, sample_web
from wayhound.samples.films import person_path
from wayhound.workspace import Workspace

pytestmark = needs_browser


def site(server: SampleServer, name: str) -> str:
    return f"http://{name}.localhost:{server.port}/"


def test_two_sites_taught_by_clicks_and_keys_become_trails(
    classroom: Classroom, server: SampleServer, tmp_path: Path
) -> None:
    async def story(lesson: Lesson) -> None:
        hand = lesson.hand
        await hand.arrived()
        await hand.click("Faculty")
        await hand.mark("people")
        await hand.click("Lucy Brown")
        await hand.click("My papers")
        await hand.press("goal")
        await hand.press("next")
        await hand.click("People")
        await hand.press("reject")
        await hand.back()
        await hand.click("Publications")
        await hand.click("2024")
        await hand.point(".goal")
        await hand.until(lambda: len(lesson.session.ends()) == 3, "the goal by mouse")
        await hand.press("done")
        assert await lesson.recording == "done"

    classroom.teach(tmp_path / "w", [site(server, "cs"), site(server, "physics")], story)
    first, second, third = trails_of(tmp_path / "w")
    assert walked(first) == [
        ("/", "", ""),
        ("/faculty.html", "people", "Faculty"),
        ("/~brown/", "", "Lucy Brown"),
        ("/~brown/pubs.html", "Goal", "My papers"),
    ]
    assert walked(second) == [("/", "", ""), ("/people/", "Fail", "People")]
    assert walked(third)[-1] == ("/publications/2024/", "Goal", "2024")
    assert {first.taught_by, third.taught_by} == {"Ann"}
    assert first.site == site(server, "cs")
    assert first.steps[1].link in first.steps[0].page.links


def test_back_on_the_first_page_of_a_site_does_not_lead_into_the_site_before(
    classroom: Classroom, server: SampleServer, tmp_path: Path
) -> None:
    async def story(lesson: Lesson) -> None:
        hand = lesson.hand
        await hand.arrived()
        await hand.click("Faculty")
        await hand.press("next")
        await hand.tab.back()
        await hand.click("People")  # which is a link of the second site
        await hand.press("goal")
        await hand.back()
        await hand.press("done")
        assert await lesson.recording == "done"

    classroom.teach(tmp_path / "w", [site(server, "cs"), site(server, "physics")], story)
    [trail] = trails_of(tmp_path / "w")
    assert trail.site == site(server, "physics")
    assert walked(trail) == [("/", "", ""), ("/people/", "Goal", "People")]


def test_the_two_ends_of_a_relationship_are_marked_in_the_bar(
    classroom: Classroom, server: SampleServer, tmp_path: Path
) -> None:
    """The clicks between them are an example, from which all actors of the page are found."""
    actors = Relationship("ActorOf", "film", "actor")
    films = sample_web().films
    film = next(each for each in films.films if len(each.people["Starring"]) > 3)
    with Workspace.create(tmp_path / "w") as workspace:
        workspace.stores.chains.save_ontology(Ontology({}, {"ActorOf": actors}))

    async def story(lesson: Lesson) -> None:
        hand = lesson.hand
        await hand.arrived()
        await hand.mark(actors.source_label)
        await lesson.message("Now click the way to one actor")
        await hand.click("Cast and Credits")
        await hand.click(film.people["Starring"][0])
        await hand.mark(actors.target_label)
        await lesson.message("Example of ActorOf saved: Cast and Credits › ")
        await hand.press("done")
        assert await lesson.recording == "done"

    base = site(server, films.host.removesuffix(".localhost")).rstrip("/")
    classroom.teach(tmp_path / "w", [base + film.path], story)
    with Workspace.open(tmp_path / "w") as workspace:
        [example] = workspace.stores.chains.examples("ActorOf")

    def get_page(url: str) -> TokenPage | None:
        page = films.pages.get(url.removeprefix(base))
        return TokenPage(url, page.body.decode()) if page else None

    rules = learn_chains([example], get_page, [base + each.path for each in films.films])
    found = {chain.target for chain in construct_chains(rules, [base + film.path], get_page, Extraction())}
    assert found == {base + person_path(name) for name in film.people["Starring"]}


def test_links_and_words_are_those_that_a_forage_reads(
    classroom: Classroom, server: SampleServer, tmp_path: Path
) -> None:
    """The sample sites need no scripts, so what was seen must read as what was sent."""

    async def story(lesson: Lesson) -> None:
        await lesson.hand.arrived()
        for text in ("Faculty", "Lucy Brown"):
            await lesson.hand.click(text)
        await lesson.hand.press("goal")
        await lesson.hand.press("next")
        await lesson.hand.click("Publications")
        await lesson.hand.press("goal")

    classroom.teach(tmp_path / "w", [site(server, "cs"), site(server, "physics")], story)
    with Workspace.open(tmp_path / "w") as workspace:
        pages = workspace.stores.teaching.pages(1)
        reader = workspace.archive
        assert len(pages) == 5
        for page in pages:
            assert page.seen is not None
            assert page.original is not None
            sent, seen = reader.read(page.original), reader.read(page.seen)
            assert seen.url == f"urn:wayhound:seen:{page.url}"
            as_sent = read_page(page.url, sent.body, sent.content_type, sent.charset)
            as_seen = read_page(page.url, seen.body, seen.content_type, seen.charset)
            assert isinstance(as_sent, Page)
            assert isinstance(as_seen, Page)
            assert as_seen.links == as_sent.links
            assert as_seen.tokens == as_sent.tokens
            assert as_seen.title == as_sent.title


def test_going_back_and_taking_another_link_branches_the_trail(
    classroom: Classroom, server: SampleServer, tmp_path: Path
) -> None:
    async def story(lesson: Lesson) -> None:
        hand = lesson.hand
        await hand.arrived()
        await hand.click("Courses")
        await hand.back()
        await hand.click("Tech Reports")
        await hand.click("Reports of 1997")
        await hand.back()
        await hand.back()
        await hand.forward()
        assert lesson.way() == ["/", "/TR/"]
        await hand.click("Reports of 1996")
        await hand.press("goal")

    session = classroom.teach(tmp_path / "w", [site(server, "cs")], story)
    [trail] = trails_of(tmp_path / "w")
    assert [path for path, _, _ in walked(trail)] == ["/", "/TR/", "/TR/1996/"]
    left = [[node.url.split("/", 3)[3] for node in path] for path in session.paths_not_taken()]
    assert left == [["", "courses/"], ["", "TR/", "TR/1997/"]]


def test_a_frame_is_a_page_on_the_way(classroom: Classroom, server: SampleServer, tmp_path: Path) -> None:
    async def story(lesson: Lesson) -> None:
        await lesson.hand.arrived()
        await lesson.hand.click("Preprints")
        await lesson.hand.click("1998")
        await lesson.hand.press("goal")
        await lesson.one_bar()
        for frame in lesson.hand.tab.page.frames[1:]:
            assert await frame.locator("wayhound-bar").count() == 0

    classroom.teach(tmp_path / "w", [site(server, "math")], story)
    [trail] = trails_of(tmp_path / "w")
    paths = [path for path, _, _ in walked(trail)]
    assert paths[0] == "/"
    assert paths[2:] == ["/preprints/index.htm", "/preprints/y1998.htm"]
    assert [step.link.kind for step in trail.steps if step.link] == ["frame", "a", "a"]
    for before, after in zip(trail.steps, trail.steps[1:], strict=False):
        assert after.link in before.page.links


def test_killing_the_browser_loses_nothing_and_the_session_goes_on(
    server: SampleServer, tmp_path: Path
) -> None:
    profile = tmp_path / "profile"

    async def first(lesson: Lesson) -> None:
        await lesson.hand.arrived()
        await lesson.hand.click("Tech Reports")
        await lesson.hand.mark("publications")
        await lesson.hand.click("Reports of 1997")
        await lesson.hand.press("goal")
        await lesson.hand.back()
        os.kill(browser_process(profile), signal.SIGKILL)
        assert await lesson.recording == "closed"

    async def second(lesson: Lesson) -> None:
        await lesson.hand.arrived()
        assert lesson.way() == ["/", "/TR/"]
        await lesson.hand.click("Reports of 1996")
        await lesson.hand.press("goal")
        await lesson.hand.press("undo")
        await lesson.hand.press("goal")
        await lesson.hand.press("done")

    sites = [site(server, "cs")]
    assert not teach_alone(tmp_path / "w", sites, first, profile).done
    assert [walked(trail)[-1] for trail in trails_of(tmp_path / "w")] == [
        ("/TR/1997/", "Goal", "Reports of 1997")
    ]
    assert teach_alone(tmp_path / "w", [], second).done
    trails = trails_of(tmp_path / "w")
    assert [walked(trail)[1:] for trail in trails] == [
        [("/TR/", "publications", "Tech Reports"), ("/TR/1997/", "Goal", "Reports of 1997")],
        [("/TR/", "publications", "Tech Reports"), ("/TR/1996/", "Goal", "Reports of 1996")],
    ]


def browser_process(profile: Path) -> int:
    """The browser itself, of all the processes with that profile: the one that is of no type."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"--user-data-dir={profile}".encode() in words and not any(
            w.startswith(b"--type=") for w in words
        ):
            return int(folder.name)
    raise AssertionError("no browser has that profile")


def test_a_milestone_given_later_and_undo_reach_the_kept_trails(
    classroom: Classroom, server: SampleServer, tmp_path: Path
) -> None:
    async def story(lesson: Lesson) -> None:
        hand = lesson.hand
        await hand.arrived()
        await hand.click("Tech Reports")
        await hand.click("Reports of 1997")
        await hand.press("goal")
        await hand.back()
        await hand.mark("reports")
        await hand.click("Reports of 1996")
        await hand.press("reject")
        await hand.press("undo")

    classroom.teach(tmp_path / "w", [site(server, "cs")], story)
    [trail] = trails_of(tmp_path / "w")
    assert [label for _, label, _ in walked(trail)] == ["", "reports", "Goal"]


def test_a_label_used_before_is_one_digit_away(
    classroom: Classroom, server: SampleServer, tmp_path: Path
) -> None:
    async def story(lesson: Lesson) -> None:
        hand = lesson.hand
        await hand.arrived()
        await hand.click("Faculty")
        await hand.mark("people")
        await hand.back()
        await hand.click("Grad Students")
        await hand.point(".mark")
        await hand.tab.page.keyboard.press("Digit1")
        await hand.until(lambda: hand.here and hand.here.label == "people", "the label")

    classroom.teach(tmp_path / "w", [site(server, "cs")], story)


def test_browsing_freely_labels_pages_by_their_distance(
    classroom: Classroom, server: SampleServer, tmp_path: Path
) -> None:
    async def story(lesson: Lesson) -> None:
        hand = lesson.hand
        await hand.arrived()
        await hand.click("Courses")
        await hand.back()
        await hand.click("Tech Reports")
        await hand.click("Reports of 1997")
        await hand.press("goal")
        await hand.press("done")

    classroom.teach(tmp_path / "w", [site(server, "cs")], story, mode="free")
    left, useful = trails_of(tmp_path / "w")
    assert walked(left) == [("/", "", ""), ("/courses/", "Fail", "Courses")]
    assert walked(useful)[1:] == [("/TR/", "", "Tech Reports"), ("/TR/1997/", "Goal", "Reports of 1997")]
    with Workspace.open(tmp_path / "w") as workspace:
        store = workspace.stores.teaching
        hops = {page.url.split("/", 3)[3]: page.hops for page in store.pages(1)}
        links = {(source.split("/", 3)[3], target.split("/", 3)[3]) for source, target in store.links(1)}
    assert hops == {"": 2, "courses/": 2, "TR/": 1, "TR/1997/": 0}
    assert {("", "TR/"), ("TR/", "TR/1997/"), ("courses/", "")} <= links


def test_every_part_of_the_bar_has_a_name_for_screen_readers(
    classroom: Classroom, server: SampleServer, tmp_path: Path
) -> None:
    named: set[tuple[str, str]] = set()
    keys: set[str] = set()

    async def story(lesson: Lesson) -> None:
        await lesson.hand.arrived()
        await lesson.hand.point(".mark")
        session = await lesson.context.new_cdp_session(lesson.hand.tab.page)
        for node in (await session.send("Accessibility.getFullAXTree"))["nodes"]:
            named.add((node.get("role", {}).get("value", ""), node.get("name", {}).get("value", "")))
            keys.update(
                p["value"]["value"] for p in node.get("properties", []) if p["name"] == "keyshortcuts"
            )

    classroom.teach(tmp_path / "w", [site(server, "physics"), site(server, "cs")], story)
    assert {
        ("region", "Wayhound teaching bar"),
        ("navigation", "Trail so far"),
        ("toolbar", "Teaching"),
        ("button", "This page is a goal"),
        ("button", "Reject this page: it is not what you are looking for"),
        ("button", "Give this page a label of your own"),
        ("button", "Undo the last mark"),
        ("button", "Go to the next site"),
        ("button", "Finish teaching"),
        ("button", "Start"),
        ("dialog", "Mark this page as"),
        ("textbox", "A new label"),
    } <= named
    assert {f"Alt+Shift+{key}" for key in "GXMZNDB"} <= keys


def test_browsing_freely_has_no_trails_to_fail_or_to_name(
    classroom: Classroom, server: SampleServer, tmp_path: Path
) -> None:
    async def story(lesson: Lesson) -> None:
        await lesson.hand.arrived()
        for key in "XMG":
            await lesson.hand.tab.page.keyboard.press(f"Alt+Shift+Key{key}")
        await lesson.hand.until(lesson.session.ends, "the useful page")
        assert [node.label for node in lesson.session.nodes] == ["Goal"]
        assert lesson.session.undo_count == 1
        words = await lesson.answer("words()")
        assert "Useful" in words
        assert "Submit" in words
        assert "Reject" not in words

    classroom.teach(tmp_path / "w", [site(server, "cs")], story, mode="free")


def test_a_session_can_be_steered_and_ended_from_outside_the_browser(
    classroom: Classroom, server: SampleServer, tmp_path: Path
) -> None:
    async def story(lesson: Lesson) -> None:
        await lesson.hand.arrived()
        tab = lesson.recorder.tabs[-1]
        await lesson.recorder.actions.mark(tab, "start")
        await lesson.recorder.actions.undo(tab)
        await lesson.recorder.actions.next_site(tab)
        await lesson.hand.until(lambda: lesson.hand.here and lesson.hand.here.site == 1, "the next site")
        await lesson.hand.arrived()
        await lesson.recorder.actions.mark(tab, "Goal")
        lesson.recorder.actions.finish()
        lesson.recorder.actions.finish()  # once is enough
        assert await lesson.recording == "done"

    classroom.teach(tmp_path / "w", [site(server, "cs"), site(server, "physics")], story)
    [trail] = trails_of(tmp_path / "w")
    assert trail.site == site(server, "physics")


CONTACT = "<title>Contact</title><p>Founder: <b id=who>Ann Lee</b></p><p id=tel>+1 512 471 3434</p>"


def test_a_selected_text_is_marked_as_a_value_of_a_field(classroom: Classroom, tmp_path: Path) -> None:
    async def story(lesson: Lesson) -> None:
        await lesson.hand.arrived()
        page = lesson.hand.tab.page

        async def select(name: str) -> None:
            await page.evaluate(f"getSelection().selectAllChildren(document.getElementById('{name}'))")

        await select("who")
        await lesson.hand.press("mark")
        await lesson.hand.point(".marks input")  # waits until it is there
        await page.keyboard.type("founder")
        await page.keyboard.press("Enter")
        await lesson.hand.until(lambda: examples(tmp_path) == {("founder", "Ann Lee")}, "the founder")
        await select("tel")
        await lesson.hand.press("mark")
        await lesson.hand.point(".marks input")
        await page.keyboard.press("3")  # of the fields that are offered
        await lesson.hand.until(lambda: ("phone", "+1 512 471 3434") in examples(tmp_path), "the phone")
        assert lesson.session.labels() == []  # the page itself was not marked

    with serve({"/": CONTACT}) as site:
        classroom.teach(tmp_path, [f"{site}/"], story)


def examples(folder: Path) -> set[tuple[str, str]]:
    with Workspace.open(folder) as workspace:
        return {(name, text) for _, name, text in workspace.stores.facts.examples("organisation")}

"""A trail may end at a document: one that the browser shows, and one that it would save."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.app.teach.lessons import Classroom, Lesson, needs_browser, trails_of, walked
from tests.servers import Answer, serve
from wayhound.app.teach.playback import Script, play_by_fetching
from wayhound.app.teach.saver import Saver
from wayhound.app.teach.seen_pages import SeenPage
from wayhound.app.teach.session import Arrived, Clicked, DocumentLinked, Marked, Undone
from wayhound.app.teach.teaching import open_session
from wayhound.page import Link, Page
from wayhound.samples import SampleServer
from wayhound.trail import FAIL, GOAL
from wayhound.workspace import Workspace

in_browser, where_there_is_one = needs_browser

WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PDF = b"%PDF-1.4\n%%EOF"


def file(media_type: str, body: bytes = PDF, saved_as: str = "") -> Answer:
    headers = [("Content-Type", media_type)]
    if saved_as:
        headers.append(("Content-Disposition", f'attachment; filename="{saved_as}"'))
    return Answer(body, headers=tuple(headers))


PAGES: dict[str, str | Answer] = {
    "/": "<h1>Reports</h1> annual <a href='/shown.pdf'>Report 2023</a> or <a href='/saved'>Report 2022</a>, "
    "<a href='/moved'>Report 2021</a>, <a href='/old.doc' download>Report 2020</a>, "
    "<a href='/form.docx' target='_blank'>Form</a>, <a href='/data.zip'>Data</a>, <a href='/good'>Good</a>",
    "/shown.pdf": file("application/pdf"),
    "/saved": file("application/pdf", saved_as="annual.pdf"),
    "/moved": Answer(status=302, headers=(("Location", "/2021.pdf"),)),
    "/2021.pdf": file("application/octet-stream"),
    "/old.doc": file("application/msword", b"\xd0\xcf"),
    "/form.docx": file(WORD, b"PK\x03\x04"),
    "/data.zip": file("application/zip", b"PK\x03\x04"),
    "/good": "<title>Good</title><p>Found.",
}


@in_browser
@where_there_is_one
@pytest.mark.parametrize(
    ("text", "path", "name", "media_type"),
    [
        ("Report 2022", "/saved", "annual.pdf", "application/pdf"),
        ("Report 2021", "/2021.pdf", "2021.pdf", "application/pdf"),
        ("Report 2020", "/old.doc", "old.doc", "application/msword"),
        ("Form", "/form.docx", "form.docx", WORD),
        ("Data", "/data.zip", "data.zip", "application/zip"),
    ],
)
def test_a_document_that_would_be_saved_is_marked_where_its_link_was_clicked(
    classroom: Classroom, tmp_path: Path, text: str, path: str, name: str, media_type: str
) -> None:
    async def story(lesson: Lesson) -> None:
        hand = lesson.hand
        await hand.arrived()
        await hand.click(text)
        await lesson.message(f"{name} is a document. Alt+Shift+G marks it as a goal")
        assert lesson.way() == ["/", path]
        assert text in await lesson.answer("words()")
        await hand.press("goal")
        await lesson.message("Goal saved, 1 click from the start")
        await hand.press("undo")
        await hand.press("reject")
        await hand.click("Good")
        assert lesson.way() == ["/", "/good"]
        await hand.press("goal")

    with serve(PAGES) as site:
        classroom.teach(tmp_path, [f"{site}/"], story)
    document, page = trails_of(tmp_path)
    assert walked(document) == [("/", "", ""), (path, FAIL, text)]
    end = document.steps[-1]
    assert (end.page.is_document, end.page.content_type, end.page.tokens) == (True, media_type, ())
    assert end.link in document.steps[0].page.links  # with the words around it and where it stands
    assert walked(page) == [("/", "", ""), ("/good", GOAL, "Good")]


@in_browser
@where_there_is_one
def test_a_document_that_the_browser_shows_is_marked_in_its_viewer(
    classroom: Classroom, tmp_path: Path
) -> None:
    async def story(lesson: Lesson) -> None:
        hand = lesson.hand
        await hand.arrived()
        await hand.click("Report 2023")
        await lesson.message("shown.pdf is a document. Press Goal or Reject")
        await hand.point(".goal")  # the keys belong to the viewer of such documents
        await lesson.message("Goal saved")
        await hand.back()
        await hand.click("Good")
        await hand.press("reject")

    with serve(PAGES) as site:
        classroom.teach(tmp_path, [f"{site}/"], story)
    document, page = trails_of(tmp_path)
    assert walked(document) == [("/", "", ""), ("/shown.pdf", GOAL, "Report 2023")]
    assert document.steps[-1].page.kind == "document"
    assert page.steps[-1].label == FAIL
    with Workspace.open(tmp_path) as workspace:
        store = workspace.stores.teaching
        [session] = store.sessions()
        kept = {page.url.rpartition("/")[2]: page for page in store.pages(session.id)}["shown.pdf"]
        assert (kept.content_type, kept.seen) == ("application/pdf", None)
        if kept.original is not None:  # what is called a PDF in the archive is one
            assert workspace.archive.read(kept.original).body.startswith(b"%PDF")


@in_browser
@where_there_is_one
def test_a_click_on_the_page_in_the_crumbs_lets_go_of_the_document(
    classroom: Classroom, tmp_path: Path
) -> None:
    async def story(lesson: Lesson) -> None:
        hand = lesson.hand
        await hand.arrived()
        await hand.click("Report 2022")
        await hand.until(lambda: lesson.way() == ["/", "/saved"], "the document")
        await hand.point("[data-page='0']")
        await hand.until(lambda: lesson.way() == ["/"], "the page alone")
        await hand.arrived()
        await hand.press("goal")

    with serve(PAGES) as site:
        classroom.teach(tmp_path, [f"{site}/"], story)
    assert [walked(trail) for trail in trails_of(tmp_path)] == [[("/", GOAL, "")]]


@in_browser
@where_there_is_one
def test_a_download_that_no_link_leads_to_is_no_step(classroom: Classroom, tmp_path: Path) -> None:
    pages = {**PAGES, "/": "<button onclick=\"location = '/saved'\">Save</button>"}

    async def story(lesson: Lesson) -> None:
        await lesson.hand.arrived()
        await lesson.hand.tab.page.get_by_text("Save").click()
        await lesson.message("annual.pdf is a download that no link")
        assert lesson.way() == ["/"]

    with serve(pages) as site:
        classroom.teach(tmp_path, [f"{site}/"], story)


@in_browser
@where_there_is_one
def test_documents_can_be_useful_when_browsing_freely(classroom: Classroom, tmp_path: Path) -> None:
    async def story(lesson: Lesson) -> None:
        await lesson.hand.arrived()
        await lesson.hand.click("Report 2022")
        await lesson.message("Alt+Shift+G marks it as useful")
        await lesson.hand.press("goal")
        await lesson.hand.press("done")

    with serve(PAGES) as site:
        classroom.teach(tmp_path, [f"{site}/"], story, mode="free")
    with Workspace.open(tmp_path) as workspace:
        store = workspace.stores.teaching
        [session] = store.sessions()
        assert [page.hops for page in store.pages(session.id)] == [1, 0]


HOME, REPORT = "http://site.example/", "http://site.example/report.pdf"


def saver_at_document(workspace: Workspace) -> Saver:
    saver = Saver(workspace, open_session(workspace, (HOME,), "trails", "Ann"))
    saver.apply(Arrived(1, 1, HOME))
    saver.save_seen(0, SeenPage(HOME, "Home", "<a href='/report.pdf'>Report</a>", "text/html"))
    link = Link(REPORT, "Report", region="body>a")
    saver.apply(Clicked(1, link))
    saver.apply(DocumentLinked(1, REPORT, link, "application/pdf", "report.pdf"))
    return saver


def test_a_document_is_on_disk_at_once(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        first = saver_at_document(workspace)
        first.apply(Marked(1, GOAL))
        again = Saver(workspace, open_session(workspace, (), "trails"))  # the first was never closed
        assert again.session == first.session
        assert again.pages.records == first.pages.records
        [trail] = workspace.stores.trails.trails()
        assert trail.steps[-1].page == Page(REPORT, content_type="application/pdf")
        assert trail == again.trail(1)
        again.apply(Undone())
        assert workspace.stores.trails.trails() == []
        assert again.session.page_to_mark(1) == again.session.nodes[1]


def test_without_a_browser_a_document_is_opened_with_its_bytes(server: SampleServer, tmp_path: Path) -> None:
    papers = server.web.sites[0].truth.publications
    title = next(paper.title for paper in papers if paper.pdf and paper.year == 2024)
    lesson = Script(
        "papers",
        ("http://physics.localhost/",),
        (
            ("click", "Publications"),
            ("click", "2024"),
            ("click", title),
            ("click", "Full text (PDF)"),
            ("goal", ""),
            ("back", ""),
            ("reject", ""),
        ),
        samples=True,
    )
    with Workspace.create(tmp_path / "w") as workspace:
        asyncio.run(play_by_fetching(lesson, lesson.sites_at(server.port), workspace, lambda _: None))
        document, page = workspace.stores.trails.trails()
        store = workspace.stores.teaching
        kept = store.pages(store.sessions()[0].id)[-1]
        assert kept.original is not None
        body = workspace.archive.read(kept.original).body
    assert body.startswith(b"%PDF")
    assert (document.steps[-1].page.kind, document.steps[-1].label) == ("document", GOAL)
    assert (document.depth, page.depth, page.steps[-1].label) == (4, 3, FAIL)

"""Every event of a session is on disk at once, and a new saver continues where the last one stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from wayhound.app.teach.saver import Saver
from wayhound.app.teach.seen_pages import SeenPage
from wayhound.app.teach.session import Arrived, Clicked, Done, Marked, TeachMode, Undone, serialise
from wayhound.app.teach.teaching import graph_data, open_session, save_free_trails, start_urls
from wayhound.chains.construction import ExampleLink
from wayhound.chains.ontology import Ontology, Relationship
from wayhound.errors import UsageError
from wayhound.fetched import Fetched
from wayhound.page import Link
from wayhound.paths.trail_check import check_trails
from wayhound.trail import FAIL, GOAL
from wayhound.workspace import Workspace

HOME, LIST = "http://site.example/", "http://site.example/list"


def seen(url: str, html: str, content_type: str = "text/html") -> SeenPage:
    return SeenPage(url, "Title", html, content_type)


def saver_of(workspace: Workspace, way: TeachMode = "trails") -> Saver:
    return Saver(workspace, open_session(workspace, (HOME,), way, "Ann"))


def walk(saver: Saver) -> None:
    saver.apply(Arrived(1, 1, HOME))
    saver.save_seen(0, seen(HOME, "<a href='/list'>List</a>"))
    page = saver.pages.read(0)
    assert page is not None
    saver.apply(Clicked(1, page.links[0]))
    saver.apply(Arrived(1, 2, LIST, page.links[0]))
    saver.save_seen(1, seen(LIST, "<h1>List</h1>"))


def test_a_saver_opened_anew_stands_where_the_killed_one_stood(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        first = saver_of(workspace)
        walk(first)
        first.apply(Marked(1, GOAL))
        again = Saver(workspace, open_session(workspace, (), "trails"))  # the first was never closed
        assert again.session == first.session
        assert again.pages.records == first.pages.records
        assert again.trail(1) == first.trail(1)
        again.save_trails()
        assert len(workspace.stores.trails) == 1
        again.apply(Undone())
        assert len(workspace.stores.trails) == 0


def test_two_marked_ends_of_a_relationship_are_an_example_until_it_is_undone(tmp_path: Path) -> None:
    lists = Relationship("ListOf", "home", "list")
    with Workspace.create(tmp_path / "w") as workspace:
        workspace.stores.chains.save_ontology(Ontology({}, {"ListOf": lists}))
        saver = saver_of(workspace)
        assert saver.labels() == ["ListOf from home", "ListOf to list"]
        walk(saver)
        saver.apply(Marked(1, lists.target_label))
        assert workspace.stores.chains.examples("ListOf") == []
        saver.apply(Marked(0, lists.source_label))
        [example] = workspace.stores.chains.examples("ListOf")
        assert example.links == (ExampleLink(HOME, LIST, text="List"),)
        saver.apply(Undone())
        assert workspace.stores.chains.examples("ListOf") == []


def test_a_trail_whose_keeping_was_cut_short_is_kept_when_opened_again(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        first = saver_of(workspace)
        walk(first)
        workspace.stores.teaching.add_event(first.record.id, 0.0, "marked", {"page": 1, "label": GOAL})
        saver_of(workspace)
        [trail] = workspace.stores.trails.trails()
        assert [step.label for step in trail.steps] == ["", GOAL]


def test_a_page_whose_keeping_was_cut_short_is_there_when_opened_again(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        first = saver_of(workspace)
        kind, body = serialise(Arrived(1, 1, HOME))
        workspace.stores.teaching.add_event(first.record.id, 0.0, kind, body)
        again = saver_of(workspace)
        assert again.pages[0].url == HOME
        assert again.pages.read(0) is None


def test_a_page_is_kept_as_it_was_seen_last_and_once_if_nothing_changed(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        saver = saver_of(workspace)
        saver.apply(Arrived(1, 1, HOME))
        saver.save_seen(0, seen(HOME, "<p>first</p>"))
        before = saver.pages[0].seen
        saver.save_seen(0, seen(HOME, "<p>first</p>"))
        assert saver.pages[0].seen == before
        saver.save_seen(0, seen(HOME, "<p>second</p>"))
        page = saver.pages.read(0)
        assert page is not None
        assert page.tokens == ("second",)


def test_what_is_no_html_is_read_as_it_was_sent(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        saver = saver_of(workspace)
        saver.apply(Arrived(1, 1, HOME))
        saver.save_seen(0, seen(HOME, "<pre>plain words</pre>", "text/plain"))
        assert saver.pages.read(0) is None  # nothing is known of what was sent
        saver.save_original(
            0, Fetched(HOME, 200, (("Content-Type", "text/plain"),), b"plain words", "text/plain")
        )
        page = saver.pages.read(0)
        assert page is not None
        assert page.content_type == "text/plain"


def test_a_free_session_gives_a_graph_with_hops(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        with pytest.raises(UsageError, match="submitted"):
            graph_data(workspace)
        saver = saver_of(workspace, "free")
        walk(saver)
        saver.apply(Arrived(1, 1, HOME))
        saver.apply(Arrived(1, 3, HOME + "news", Link(HOME + "news")))
        saver.save_seen(2, seen(HOME + "news", "<p>News</p>"))
        saver.apply(Marked(1, GOAL))
        saver.apply(Done())
        data = graph_data(workspace)
    assert [(page["url"], page["label"], page["hops"], page["useful"]) for page in data["pages"]] == [
        (HOME, "T1", 1, False),
        (LIST, "T0", 0, True),
        (HOME + "news", "T4", None, False),
    ]
    assert data["links"] == [[HOME, LIST], [HOME, HOME + "news"]]


NEWS, PAPER = HOME + "news", HOME + "paper"


def browse(saver: Saver) -> None:
    """Look at the news, go back, and on over the list to a paper."""
    walk(saver)
    saver.apply(Arrived(1, 1, HOME))
    saver.apply(Arrived(1, 3, NEWS, Link(NEWS, "News")))
    saver.save_seen(2, seen(NEWS, "<h1>News</h1>"))
    saver.apply(Arrived(1, 1, HOME))
    saver.apply(Arrived(1, 2, LIST))
    saver.apply(Arrived(1, 4, PAPER, Link(PAPER, "Paper")))
    saver.save_seen(3, seen(PAPER, "<h1>Paper</h1>"))


def kept(workspace: Workspace) -> dict[tuple[str, ...], str]:
    """The last words of the addresses on each trail, and how it ends."""
    trails = workspace.stores.trails.trails()
    return {tuple(s.page.url.rpartition("/")[2] for s in t.steps): t.steps[-1].label for t in trails}


def test_free_browsing_makes_trails_as_it_goes_of_useful_pages_and_of_what_was_left(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        saver = saver_of(workspace, "free")
        browse(saver)
        assert kept(workspace) == {("", "news"): FAIL}
        saver.apply(Marked(3, GOAL))
        saver.apply(Marked(1, GOAL))
        assert kept(workspace) == {("", "news"): FAIL, ("", "list"): GOAL, ("", "list", "paper"): GOAL}
        labels = [[step.label for step in trail.steps] for trail in workspace.stores.trails.trails()]
        assert ["", GOAL, GOAL] in labels
        assert {summary.source for summary in workspace.stores.trails.summaries()} == {"free browsing"}
        saver.apply(Undone())
        saver.apply(Undone())
        assert kept(workspace) == {("", "news"): FAIL}
        assert workspace.stores.trails.history() == []  # nothing that `trails undo` would bring back


def test_what_is_shown_when_a_free_session_ends_was_looked_at_too(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        saver = saver_of(workspace, "free")
        browse(saver)
        saver.apply(Done())
        assert kept(workspace) == {("", "news"): FAIL, ("", "list", "paper"): FAIL}


def test_a_page_that_leads_to_a_useful_one_after_all_is_no_failure_any_more(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        saver = saver_of(workspace, "free")
        browse(saver)
        saver.apply(Arrived(1, 3, NEWS))
        saver.apply(Arrived(1, 5, PAPER, Link(PAPER, "In the news")))
        saver.save_seen(4, seen(PAPER, "<h1>Paper</h1>"))
        saver.apply(Marked(4, GOAL))
        saver.apply(Done())
        assert kept(workspace) == {("", "news", "paper"): GOAL}


def test_pages_that_nobody_saw_and_that_the_site_does_not_have_are_no_failures(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        saver = saver_of(workspace, "free")
        walk(saver)
        saver.save_original(1, Fetched(LIST, 404, (), b"<h1>Gone</h1>", "text/html"))
        saver.apply(Arrived(1, 1, HOME))
        saver.apply(Arrived(1, 3, NEWS, Link(NEWS, "News")))  # gone on from before it was drawn
        saver.apply(Arrived(1, 1, HOME))
        saver.apply(Done())
        assert kept(workspace) == {}


def test_a_free_session_opened_anew_keeps_what_the_killed_one_kept(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        first = saver_of(workspace, "free")
        browse(first)
        first.apply(Marked(3, GOAL))
        before = workspace.stores.trails.summaries()
        again = Saver(workspace, open_session(workspace, (), "trails"))  # the first was never closed
        assert again.session == first.session
        assert workspace.stores.trails.summaries() == before
        again.apply(Undone())
        again.apply(Done())
        assert kept(workspace) == {("", "news"): FAIL, ("", "list", "paper"): FAIL}


def test_free_sessions_from_before_they_made_trails_are_brought_up_once(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        saver = saver_of(workspace, "free")
        browse(saver)
        saver.apply(Marked(3, GOAL))
        saver.apply(Done())
        workspace.database.execute(
            "DELETE FROM trail"
        )  # as they were then: with their pages and events alone
        assert save_free_trails(workspace) == 2
        assert kept(workspace) == {("", "news"): FAIL, ("", "list", "paper"): GOAL}
        [useful] = [each.id for each in workspace.stores.trails.summaries() if each.ending == GOAL]
        workspace.stores.trails.delete(useful, 1.0)
        assert save_free_trails(workspace) == 0  # what a person deleted stays away


def test_what_free_browsing_lacks_is_told_in_its_own_words(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        saver = saver_of(workspace, "free")
        walk(saver)
        saver.apply(Marked(1, GOAL))
        saver.apply(Done())
        lacking = {remark.name: remark.sentence for remark in check_trails(workspace.stores.trails.trails())}
    assert "In free browsing" in lacking["no-negative"]
    assert not {"no-ending", "goal-and-fail", "goes-on-after-fail"} & set(lacking)


def test_a_page_that_was_useful_in_a_session_before_need_not_be_marked_again(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        first = saver_of(workspace, "free")
        browse(first)
        first.apply(Marked(3, GOAL))
        first.apply(Done())
        second = saver_of(workspace, "free")
        browse(second)
        second.apply(Done())
        assert second.record.id != first.record.id
        assert sorted(each.ending for each in workspace.stores.trails.summaries()) == [FAIL, FAIL, GOAL]
        assert kept(workspace) == {("", "news"): FAIL, ("", "list", "paper"): GOAL}


def test_a_mark_given_before_the_page_has_come_is_kept_when_it_has(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        saver = saver_of(workspace)
        walk(saver)
        saver.apply(Arrived(1, 3, NEWS, Link(NEWS, "News")))
        saver.apply(Marked(2, GOAL))
        assert saver.is_pending(2)
        assert saver.never_seen() == [NEWS]
        again = Saver(workspace, open_session(workspace, (), "trails"))  # the first was never closed
        assert kept(workspace) == {}
        again.save_seen(2, seen(NEWS, "<h1>News</h1>"))
        assert kept(workspace) == {("", "list", "news"): GOAL}
        assert again.never_seen() == []


def test_a_session_goes_on_for_the_same_sites_and_begins_for_others(tmp_path: Path) -> None:
    with Workspace.create(tmp_path / "w") as workspace:
        with pytest.raises(UsageError, match="Name the start pages"):
            open_session(workspace, (), "trails")
        first = open_session(workspace, (HOME,), "trails", "Ann")
        assert open_session(workspace, (HOME,), "trails").id == first.id
        assert open_session(workspace, (), "trails").id == first.id
        second = open_session(workspace, (LIST,), "trails")
        assert second.id != first.id
        workspace.stores.teaching.end(second.id, 1.0)
        assert open_session(workspace, (), "trails").id == first.id


def test_start_pages_may_be_bare_hosts_and_nonsense_is_told() -> None:
    assert start_urls(["site.example", "https://b.example/x"]) == (HOME, "https://b.example/x")
    with pytest.raises(UsageError, match="not a web address"):
        start_urls(["http://"])

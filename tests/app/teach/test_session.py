"""A session is a fold of its events: trees of pages, marks that can be taken back, trails without loops."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.app.teach.bar import what_is_missing
from wayhound.app.teach.session import (
    Arrived,
    Clicked,
    Closed,
    DocumentLinked,
    Done,
    Event,
    Marked,
    NavigationFailed,
    NextSite,
    PageNode,
    Session,
    TabOpened,
    Undone,
    deserialise,
    serialise,
    tidy_label,
)
from wayhound.app.teach.teaching import Taught
from wayhound.errors import TeachingError
from wayhound.page import Link
from wayhound.store.teaching import TeachSession
from wayhound.trail import FAIL, GOAL
from wayhound.wording.teaching import format_marks

A, B, C, D = (f"http://site.example/{name}" for name in "abcd")


def link(url: str) -> Link:
    return Link(url, "text", ("before",), ("after", "it"), "body>a")


def walk(*events: Event, sites: tuple[str, ...] = (A,)) -> Session:
    return Session.of(sites, "trails", events)


def urls(path: list[PageNode]) -> list[str]:
    return [node.url for node in path]


def test_pages_hang_below_the_pages_that_led_to_them() -> None:
    session = walk(Arrived(1, 1, A), Clicked(1, link(B)), Arrived(1, 2, B, link(B)))
    assert urls(session.path(1)) == [A, B]
    assert session.nodes[1].link == link(B)
    assert session.clicked(1) is None


def test_a_document_that_is_not_shown_is_at_hand_until_the_page_is_gone_on_from() -> None:
    session = walk(
        Arrived(1, 1, A),
        Clicked(1, link(B)),
        DocumentLinked(1, B, link(B), "application/pdf", "b.pdf"),
        Marked(1, GOAL),
    )
    document = session.page_to_mark(1)
    assert document is not None
    assert (document.url, document.label, document.media_type) == (B, GOAL, "application/pdf")
    assert session.page_shown(1) == session.nodes[0]
    assert [(node.url, label) for node, label in session.trail(1)] == [(A, ""), (B, GOAL)]
    session.apply(Undone())
    assert session.page_to_mark(1) == session.nodes[1]
    assert session.ends() == []
    session.apply(Clicked(1, link(C)))
    assert session.page_to_mark(1) == session.nodes[0]
    session.apply(Arrived(1, 2, C, link(C)))
    assert urls(session.path(2)) == [A, C]
    assert session.paths_not_taken() == [[session.nodes[0], session.nodes[1]]]


def test_a_document_clicked_for_again_is_the_same_page() -> None:
    led = DocumentLinked(1, B, link(B), "application/pdf", "b.pdf")
    session = walk(Arrived(1, 1, A), led, Marked(1, FAIL), Clicked(1, link(B)), led)
    assert len(session.nodes) == 2
    assert session.page_to_mark(1) == session.nodes[1]


def taught_with(*labels: str, sites: tuple[str, ...] = (A,)) -> Session:
    """A start page, from which pages were opened one after the other and marked."""
    events: list[Event] = [Arrived(1, 1, A)]
    for number, (url, label) in enumerate(zip((B, C, D), labels, strict=False), start=1):
        opened = Arrived(1, number + 1, url, link(url))
        events += [Clicked(1, link(url)), opened, Marked(number, label), Arrived(1, 1, A)]
    return walk(*events, sites=sites)


@pytest.mark.parametrize(
    ("labels", "sites", "message"),
    [
        ((FAIL,), (A,), "Now go back and find a page that you look for."),
        (
            (GOAL,),
            (A,),
            "Now reject a page or two that you do not look for, so that the difference can be learned.",
        ),
        ((GOAL, FAIL), (A,), "If the site has more goals, mark another one."),
        ((GOAL, FAIL, GOAL), (A,), "This site has enough: press Done."),
        ((GOAL, FAIL, GOAL), (A, "http://b.example/"), "This site has enough: go to the next site."),
    ],
)
def test_the_bar_says_what_a_site_lacks_until_it_has_enough(
    labels: tuple[str, ...], sites: tuple[str, ...], message: str
) -> None:
    session = taught_with(*labels, sites=sites)
    assert session.marks() == (labels.count(GOAL), labels.count(FAIL))
    assert what_is_missing(session) == message


@pytest.mark.parametrize(("way", "wanted"), [("trails", "goal"), ("free", "useful page")])
def test_a_session_that_ends_without_a_goal_says_that_nothing_can_be_learned(way: str, wanted: str) -> None:
    taught = Taught(TeachSession(1, way, (A,), "", 0.0), "done", walk(Arrived(1, 1, A), Done()), 0)
    assert format_marks(taught) == (
        f"No {wanted} was marked. There is nothing to learn from yet: teach the sites again, and mark a page that you "
        "look for."
    )


def test_going_back_and_on_elsewhere_branches() -> None:
    session = walk(
        Arrived(1, 1, A),
        Arrived(1, 2, B, link(B)),
        Arrived(1, 1, A),
        Arrived(1, 3, C, link(C)),
        Marked(2, GOAL),
    )
    assert urls(session.path(2)) == [A, C]
    assert [urls(path) for path in session.paths_not_taken()] == [[A, B]]


def test_a_link_to_a_page_of_the_path_leads_back_to_it() -> None:
    session = walk(
        Arrived(1, 1, A), Arrived(1, 2, B, link(B)), Arrived(1, 3, A, link(A)), Arrived(1, 4, C, link(C))
    )
    assert urls(session.path(2)) == [A, C]
    assert len(session.nodes) == 3


def test_the_same_link_taken_again_is_the_same_branch() -> None:
    session = walk(Arrived(1, 1, A), Arrived(1, 2, B, link(B)), Arrived(1, 1, A), Arrived(1, 5, B, link(B)))
    assert len(session.nodes) == 2


def test_a_page_that_was_typed_in_begins_a_trail_unless_it_is_known() -> None:
    session = walk(Arrived(1, 1, A), Arrived(1, 2, B, link(B)), Arrived(1, 3, C), Arrived(1, 4, B))
    assert session.nodes[2].parent is None
    assert session.page_shown(1) == session.nodes[1]


def test_a_new_tab_takes_the_click_along() -> None:
    session = walk(Arrived(1, 1, A), Clicked(1, link(B)), TabOpened(2, 1))
    assert session.clicked(2) == link(B)
    assert session.clicked(1) is None
    session.apply(Arrived(2, 1, B, link(B)))
    assert urls(session.path(1)) == [A, B]
    assert session.page_shown(1) == session.nodes[0]


def test_a_click_that_led_to_no_page_is_not_held_against_the_next_one() -> None:
    session = walk(Arrived(1, 1, A), Clicked(1, link(B)), NavigationFailed(1))
    assert session.clicked(1) is None
    assert session.page_shown(1) == session.nodes[0]


def test_a_failure_that_was_passed_is_none_of_the_trail() -> None:
    session = walk(
        Arrived(1, 1, A),
        Arrived(1, 2, B, link(B)),
        Marked(1, FAIL),
        Arrived(1, 3, C, link(C)),
        Marked(2, GOAL),
    )
    assert [label for _, label in session.trail(2)] == ["", "", GOAL]
    assert [label for _, label in session.trail(1)] == ["", FAIL]


def test_undo_takes_back_marks_and_changes_of_site_one_by_one() -> None:
    session = walk(Arrived(1, 1, A), Marked(0, "hall"), Marked(0, GOAL), NextSite(), sites=(A, D))
    assert session.resume_url() == D
    session.apply(Undone())
    assert (session.site, session.resume_url()) == (0, A)
    session.apply(Undone())
    assert session.nodes[0].label == "hall"
    session.apply(Undone())
    session.apply(Undone())  # nothing is left to take back
    assert (session.nodes[0].label, session.undo_count) == ("", 0)


def test_after_the_last_site_there_is_no_next() -> None:
    session = walk(NextSite())
    assert (session.site, session.has_next_site, session.undo_count) == (0, False, 0)


@pytest.mark.parametrize(
    ("text", "label"), [(" goal ", GOAL), ("FAIL", FAIL), ("the  people\n", "the people")]
)
def test_labels_are_tidied(text: str, label: str) -> None:
    assert tidy_label(text) == label


@pytest.mark.parametrize("text", ["<Goal", "a" * 1000, "bell\x07"])
def test_what_is_no_label_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="label"):
        tidy_label(text)


tabs = st.integers(1, 3)
addresses = st.sampled_from([A, B, C, D])
links = addresses.map(link)
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(Clicked, tabs, links),
    st.builds(NavigationFailed, tabs),
    st.builds(DocumentLinked, tabs, addresses, links, st.just("application/pdf"), st.just("a.pdf")),
    st.builds(TabOpened, tabs, tabs),
    st.builds(
        lambda tab, entry, url, led: Arrived(tab, entry, url, link(url) if led else None),
        tabs,
        st.integers(1, 4),
        addresses,
        st.booleans(),
    ),
    st.builds(Closed, tabs),
    st.builds(Marked, st.integers(0, 30), st.sampled_from([GOAL, FAIL, "people", ""])),
    st.just(Undone()),
    st.just(NextSite()),
    st.just(Done()),
)
stories = st.lists(events, max_size=40)


def told(story: list[Event]) -> tuple[Session, list[Event]]:
    """Only pages that were met can be marked."""
    session, happened = Session((A, D)), []
    for event in story:
        if isinstance(event, Marked):
            if not session.nodes:
                continue
            event = Marked(event.page % len(session.nodes), event.label)  # noqa: PLW2901
        session.apply(event)
        happened.append(event)
    return session, happened


@given(stories)
def test_a_session_read_back_is_the_session_that_was(story: list[Event]) -> None:
    session, happened = told(story)
    kept = [(kind, json.loads(json.dumps(body))) for kind, body in map(serialise, happened)]
    assert Session.of((A, D), "trails", [deserialise(kind, body) for kind, body in kept]) == session


@pytest.mark.parametrize("kind", ["clicked", "marked", "unheard of"])
def test_a_stored_event_with_missing_parts_is_refused_with_a_sentence(kind: str) -> None:
    with pytest.raises(TeachingError, match="teach the site again"):
        deserialise(kind, {"link": {"url": "http://a.example/"}})


@given(stories)
def test_paths_begin_without_a_link_never_loop_and_go_by_links(story: list[Event]) -> None:
    session, _ = told(story)
    for node in session.nodes:
        path = session.path(node.number)
        assert path[0].parent is None
        assert path[0].link is None
        assert all(step.link is not None for step in path[1:])
        assert len(set(urls(path))) == len(path)
        assert [step.number for step in path] == sorted(step.number for step in path)


@given(stories, events)
def test_pages_stay_where_they_were_met_and_arriving_shows_the_page(story: list[Event], last: Event) -> None:
    session, _ = told(story)
    before = [(node.url, node.parent, node.link) for node in session.nodes]
    if isinstance(last, Marked):
        return
    shown_before = session.page_shown(last.tab) if isinstance(last, DocumentLinked) else None
    session.apply(last)
    assert [(node.url, node.parent, node.link) for node in session.nodes][: len(before)] == before
    if isinstance(last, Arrived):
        shown = session.page_shown(last.tab)
        assert shown is not None
        assert shown.url == last.url
    if isinstance(last, DocumentLinked):
        at_hand = session.page_to_mark(last.tab)
        assert at_hand is not None
        assert at_hand.url == last.url
        assert session.page_shown(last.tab) == shown_before


@given(stories, st.lists(st.sampled_from([GOAL, FAIL, "people"]), min_size=1, max_size=5))
def test_as_many_undos_as_marks_change_nothing(story: list[Event], labels: list[str]) -> None:
    session, _ = told(story)
    if not session.nodes:
        return
    before = list(session.nodes)
    for number, label in enumerate(labels):
        session.apply(Marked(number % len(before), label))
    for _ in labels:
        session.apply(Undone())
    assert session.nodes == before


@given(stories)
def test_every_end_has_a_trail_that_fails_at_its_end_or_not_at_all(story: list[Event]) -> None:
    session, _ = told(story)
    for end in session.ends():
        labels = [label for _, label in session.trail(end.number)]
        assert labels[-1] in (GOAL, FAIL)
        assert FAIL not in labels[:-1]
    for path in session.paths_not_taken():
        assert path[-1].label == ""


@given(stories)
def test_browsing_freely_ends_at_useful_pages_and_at_pages_that_led_to_none(story: list[Event]) -> None:
    session, happened = told(
        [event for event in story if not isinstance(event, Marked) or event.label == GOAL]
    )
    free = Session.of((A, D), "free", happened)
    useful = [end.number for end in session.ends()]
    ends = [end.number for end in free.ends()]
    on_the_way = {(node.site, node.url) for number in useful for node in session.path(number)}
    assert [number for number in ends if free.nodes[number].label] == useful
    for number in ends:
        way = free.trail(number)
        assert way[-1][1] == (GOAL if number in useful else FAIL)
        if number not in useful:
            assert len(way) > 1
            assert (way[-1][0].site, way[-1][0].url) not in on_the_way


def test_what_is_shown_was_not_left_and_what_was_left_stays_so_when_it_is_shown_again() -> None:
    def ends(*more: Event) -> list[str]:
        events = (Arrived(1, 1, A), Arrived(1, 2, B, link(B)), *more)
        return [node.url for node in Session.of((A,), "free", events).ends()]

    assert ends() == []
    assert ends(Arrived(1, 1, A)) == [B]
    assert ends(Arrived(1, 1, A), Arrived(1, 2, B)) == [B]
    assert ends(Arrived(1, 3, C, link(C)), Closed(1)) == [C]
    assert ends(DocumentLinked(1, D, link(D), "application/pdf", "d.pdf"), Clicked(1, link(C))) == [D]
    assert ends(Done()) == [B]

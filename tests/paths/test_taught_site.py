from __future__ import annotations

from wayhound.page import Link, Page
from wayhound.paths.taught_site import TaughtSite
from wayhound.trail import FAIL, GOAL, Step, Trail


def page(name: str, *targets: str) -> Page:
    return Page(
        f"http://s/{name}", title=name, links=tuple(Link(f"http://s/{to}", text=to) for to in targets)
    )


HOME = page("home", "people", "news", "about")
PEOPLE = page("people", "p1", "p2", "p3")
NEWS = page("news", "n1", "people")
PERSONS = [page(f"p{n}") for n in (1, 2, 3)]
STORY = page("n1")


def trail(*pages: Page, labels: str, ending: str) -> Trail:
    named = [*labels.split(","), ending]
    links = [None, *(Link(each.url, text=each.title) for each in pages[1:])]
    steps = tuple(Step(each, link, name) for each, link, name in zip(pages, links, named, strict=True))
    return Trail("http://s/home", steps)


def taught() -> TaughtSite:
    good = [trail(HOME, PEOPLE, person, labels=",", ending=GOAL) for person in PERSONS]
    return TaughtSite.from_trails([*good, trail(HOME, NEWS, STORY, labels=",", ending=FAIL)])


def test_unlabelled_pages_take_the_state_before_their_goal() -> None:
    site = taught()
    assert site.state("http://s/p1") == GOAL
    assert site.state("http://s/people") == "<" + GOAL
    assert site.state("http://s/home") == "<<" + GOAL
    assert site.state("http://s/n1") == FAIL
    # a page of a failed trail that links to the path is on the path
    assert site.state("http://s/news") == "<<" + GOAL


def test_a_label_that_a_person_gave_is_kept() -> None:
    marked = TaughtSite.from_trails([trail(HOME, PEOPLE, PERSONS[0], labels=",people", ending=GOAL)])
    assert marked.state("http://s/people") == "people"


def test_pages_before_a_label_take_its_prefix_state_along_the_trail() -> None:
    good = trail(HOME, PEOPLE, PERSONS[0], labels=",people", ending=GOAL)
    bad = trail(HOME, NEWS, STORY, labels=",", ending=FAIL)
    site = TaughtSite.from_trails([bad, good], "prefix")
    assert site.states_along(good.steps) == ["<people", "people", GOAL]
    assert site.states_along(bad.steps) == ["<Fail", "<Fail", FAIL]
    assert site.state("http://s/home") == "<people"  # a way to the goal counts for more than one astray


def test_binary_states_are_goals_and_others() -> None:
    site = TaughtSite.from_trails([trail(HOME, PEOPLE, PERSONS[0], labels=",people", ending=GOAL)], "binary")
    assert [site.state(f"http://s/{name}") for name in ("home", "people", "p1")] == [FAIL, FAIL, GOAL]


def test_the_value_of_a_list_is_its_best_ratio_of_goals_per_page() -> None:
    site = taught()
    assert site.values["http://s/p1"] == 1.0
    assert site.values["http://s/people"] == 3 / 4
    assert site.values["http://s/home"] == 3 / 5
    assert "http://s/news" not in site.values


def test_links_that_no_trail_clicked_on_the_path_to_a_goal_are_unclicked() -> None:
    site = TaughtSite.from_trails([trail(HOME, PEOPLE, PERSONS[0], labels=",", ending=GOAL)])
    assert [link.text for link in site.unclicked_links(HOME.url)] == ["news", "about"]
    assert not site.unclicked_links(PERSONS[0].url)  # who has arrived looks no further


def test_with_few_goals_and_a_rejected_page_unclicked_links_are_ignored() -> None:
    good = [trail(HOME, PEOPLE, person, labels=",", ending=GOAL) for person in PERSONS]
    bad = trail(HOME, NEWS, STORY, labels=",", ending=FAIL)
    assert not TaughtSite.from_trails([*good[:2], bad]).unclicked_links(HOME.url)
    assert [link.text for link in TaughtSite.from_trails([*good, bad]).unclicked_links(HOME.url)] == ["about"]


def test_links_of_a_list_with_several_goals_are_not_unclicked() -> None:
    good = [trail(HOME, PEOPLE, person, labels=",", ending=GOAL) for person in PERSONS]
    assert [link.text for link in TaughtSite.from_trails(good[:1]).unclicked_links(PEOPLE.url)] == [
        "p2",
        "p3",
    ]
    assert not TaughtSite.from_trails(good[:2]).unclicked_links(PEOPLE.url)


def test_links_to_other_sites_are_not_unclicked() -> None:
    home = Page("http://a.example/", links=(Link("http://a.example/g"), Link("http://www.a.example/x"),
                                            Link("http://b.example/"), Link("http://www.a.example/x")))  # fmt: skip
    steps = (Step(home), Step(Page("http://a.example/g"), home.links[0], GOAL))
    unclicked = TaughtSite.from_trails([Trail(home.url, steps)]).unclicked_links(home.url)
    assert [link.url for link in unclicked] == ["http://www.a.example/x"]

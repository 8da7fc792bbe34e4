"""Links that were redirected point to the page that was reached, on every page of the site."""

from __future__ import annotations

from tests.paths.trails import TO_GOAL, TO_NOWHERE, trail
from wayhound.page import Link, Page
from wayhound.paths.settings import PathSettings
from wayhound.paths.taught_site import resolve_redirects
from wayhound.paths.trainers import TRAINERS
from wayhound.trail import FAIL, GOAL, Step, Trail

SITE, OTHER = "http://a.example/", "http://b.example/"
OLD = Link(f"{SITE}old", "People")
START = Page(SITE, "Start", links=(OLD, Link(f"{SITE}news", "News")))
PEOPLE = Page(f"{SITE}people/", "People", links=(OLD,))
NEWS = Page(f"{SITE}news", "News", links=(OLD,))

MOVED = Trail(SITE, (Step(START), Step(PEOPLE, OLD, GOAL)), "Ada")
ASTRAY = Trail(SITE, (Step(START), Step(NEWS, START.links[1], FAIL)))


def test_trails_without_redirects_stay_as_they_are() -> None:
    assert resolve_redirects([TO_GOAL, TO_NOWHERE]) == [TO_GOAL, TO_NOWHERE]


def test_a_redirected_link_has_its_target_on_every_page_of_the_site() -> None:
    moved, astray = resolve_redirects([MOVED, ASTRAY])
    assert moved.steps[1].link == Link(PEOPLE.url, "People")
    assert moved.taught_by == "Ada"
    for step in (*moved.steps, *astray.steps):
        assert OLD.url not in [link.url for link in step.page.links]


def test_pages_that_trails_share_stay_one_page() -> None:
    moved, astray = resolve_redirects([MOVED, ASTRAY])
    assert moved.steps[0].page is astray.steps[0].page


def test_the_same_url_on_another_site_stays() -> None:
    elsewhere = Trail(OTHER, (Step(START), Step(NEWS, START.links[1], FAIL)))
    assert resolve_redirects([MOVED, elsewhere])[1] == elsewhere


def test_trails_with_redirects_can_be_learned_from() -> None:
    trails = resolve_redirects([MOVED, ASTRAY, trail(OTHER, "", GOAL), trail(OTHER, "", "", FAIL)])
    model = TRAINERS["path-learner"](trails, PathSettings())
    assert GOAL in model.labels

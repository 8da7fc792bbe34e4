"""Small trails for tests of trail files, checks and stores."""

from __future__ import annotations

from wayhound.page import Link, Page
from wayhound.trail import FAIL, GOAL, Step, Trail

SITE = "http://physics.example/"

PEOPLE = Link(f"{SITE}people", "Our people", ("see",), ("and", "more"), "body>ul.nav>li>a")
NEWS = Link(f"{SITE}news", "News", region="body>ul.nav>li>a")
LISE = Link(f"{SITE}~lise/", "Lise Lind", kind="area", nofollow=True)

START = Page(
    SITE, "Physics", "All of it", ("physics",), ("Welcome",), ("welcome", "to", "physics"), (PEOPLE, NEWS)
)
STAFF = Page(f"{SITE}people", "People", tokens=("lise", "lind"), links=(LISE,), language="en", digest="d1")
HOME = Page(f"{SITE}~lise/", "Lise Lind", canonical=f"{SITE}~lise/", charset="utf-8", nofollow=True)
STORIES = Page(f"{SITE}news", "News – «neu»", tokens=("cake",))

TO_GOAL = Trail(
    SITE, (Step(START, None, "home"), Step(STAFF, PEOPLE, "people"), Step(HOME, LISE, GOAL)), "Ada"
)
TO_NOWHERE = Trail(SITE, (Step(START), Step(STORIES, NEWS, FAIL)))


def trail(site: str, *labels: str) -> Trail:
    """A trail of as many pages as labels, each linked from the one before."""
    links = [Link(f"{site}{number}", f"to {number}") for number in range(1, len(labels) + 1)]
    pages = [
        Page(f"{site}{number}" if number else site, f"Page {number}", links=(links[number],))
        for number in range(len(labels))
    ]
    steps = (Step(page, links[n - 1] if n else None, labels[n]) for n, page in enumerate(pages))
    return Trail(site, tuple(steps))

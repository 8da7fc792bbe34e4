"""Taught that documents are goals, a forage reads them by their path; taught on pages, it does not read them."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from wayhound.fetched import Fetched
from wayhound.forage.forager import Fetch, Forager
from wayhound.forage.politeness import Politeness
from wayhound.forage.scorer import StrategyInput, file_kinds
from wayhound.forage.scorers import SCORERS
from wayhound.page import Link, Page, Unreadable
from wayhound.paths.model import ForageModel, unpack
from wayhound.paths.settings import PathSettings
from wayhound.paths.trainers import TRAINERS
from wayhound.site import Site
from wayhound.trail import FAIL, GOAL, Step, Trail, goal_kinds
from wayhound.visit import Visit

REPORTS = {"s1": "Annual report", "s2": "Yearly report", "s3": "Report of the year"}
Read = Page | Unreadable


def document(url: str) -> Unreadable:
    return Unreadable(url, "binary", "application/pdf", digest=url)


def site_pages(host: str) -> dict[str, Read]:
    """Investors find reports and the minutes beside them, buyers find price lists: all are documents."""
    root = f"http://{host}.example"

    def link(path: str, text: str, region: str, *around: str) -> Link:
        return Link(f"{root}/{path}", text, around, around, region)

    investors = tuple(
        target
        for year in (2021, 2022, 2023)
        for target in (
            link(f"files/report-{year}.pdf", f"{REPORTS[host]} {year}", "body>ul>li>a", "report", "figures"),
            link(f"files/minutes-{year}.pdf", f"Minutes {year}", "body>ul>li>a", "meeting", "minutes"),
        )
    )
    prices = tuple(link(f"files/prices-{n}.pdf", f"Price list {n}", "body>p>a", "prices") for n in range(3))
    sections = (link("investors/", "Investors", "body>nav>a"), link("shop/", "Shop", "body>nav>a"))
    about = link("files/about.html", "Annual report, about", "body>ul>li>a", "report", "figures")
    pages = [
        Page(f"{root}/", title="Welcome", links=sections, tokens=("welcome",)),
        Page(f"{root}/investors/", title="Investors", links=(*investors, about), tokens=("reports",)),
        Page(f"{root}/shop/", title="Shop", links=prices, tokens=("buy",)),
        Page(about.url, title="Annual report", tokens=("what", "it", "is")),
    ]
    read: dict[str, Read] = {page.url: page for page in pages}
    return read | {target.url: document(target.url) for target in (*investors, *prices)}


def trails_of(host: str, ends: Sequence[tuple[str, str]]) -> list[Trail]:
    pages, root = site_pages(host), f"http://{host}.example"
    return [_trail(pages, root, end, label) for end, label in ends]


def _trail(pages: dict[str, Read], root: str, end: str, label: str) -> Trail:
    start = pages[f"{root}/"]
    assert isinstance(start, Page)
    for section in start.links:
        listing = pages[section.url]
        assert isinstance(listing, Page)
        for link in listing.links:
            if link.url == f"{root}/{end}":
                read = pages[link.url]
                last = read if isinstance(read, Page) else Page(link.url, content_type="application/pdf")
                return Trail(f"{root}/", (Step(start), Step(listing, section), Step(last, link, label)))
    raise AssertionError(end)


TO_DOCUMENTS = [
    ("files/report-2021.pdf", GOAL),
    ("files/report-2023.pdf", GOAL),
    ("files/minutes-2021.pdf", FAIL),
    ("files/minutes-2022.pdf", FAIL),
    ("files/prices-1.pdf", FAIL),
]
TO_PAGES = [("files/about.html", GOAL), ("files/prices-1.pdf", FAIL)]


def model_of(ends: Sequence[tuple[str, str]], strategy: str = "path-learner") -> ForageModel:
    trails = [trail for host in ("s1", "s2") for trail in trails_of(host, ends)]
    return TRAINERS[strategy](trails, PathSettings())


def foraged(model: ForageModel, budget: int = 100) -> tuple[list[Visit], Forager]:
    pages = site_pages("s3")
    scorer = SCORERS[model.strategy](StrategyInput(model=model))
    forager = Forager(Site("http://s3.example/"), scorer, politeness=Politeness(0.0))
    visits: list[Visit] = []
    while len(visits) < budget and isinstance(action := forager.next_action(0.0), Fetch):
        read = pages[action.link.url]
        answer = Fetched(action.link.url, 200, content_type=read.content_type)
        visits.append(forager.tell(action.link, answer, read, now=0.0, at=0.0))
    return visits, forager


def names(visits: list[Visit]) -> set[str]:
    return {visit.url.rpartition("/")[2] for visit in visits}


def test_documents_are_goals_by_the_path_to_them_and_others_beside_them_are_not() -> None:
    visits, _ = foraged(model_of(TO_DOCUMENTS))
    goals = [visit for visit in visits if visit.is_goal]
    assert names(goals) == {f"report-{year}.pdf" for year in (2021, 2022, 2023)}
    assert all(visit.label == GOAL and visit.goal >= 0.5 and visit.why for visit in goals)
    assert {visit.title for visit in goals} == {f"Report of the year {year}" for year in (2021, 2022, 2023)}
    assert names(visits[:5]) >= names(goals)
    passed = [visit for visit in visits if visit.url.endswith(("minutes-2021.pdf", "prices-0.pdf"))]
    assert all(visit.label in (FAIL, f"<{FAIL}") for visit in passed)  # a document leads nowhere


def test_no_page_is_a_goal_where_all_goals_shown_were_documents() -> None:
    visits, _ = foraged(model_of(TO_DOCUMENTS))
    [about] = [visit for visit in visits if visit.url.endswith("about.html")]
    assert about.goal < 0.01
    assert about.label != GOAL


def test_taught_on_pages_a_forage_does_not_read_documents() -> None:
    model = model_of(TO_PAGES)
    assert model.goal_kinds == ("page",)
    visits, _ = foraged(model)
    assert names([visit for visit in visits if visit.is_goal]) == {"about.html"}
    documents = [visit for visit in visits if visit.url.endswith(".pdf")]
    assert documents
    assert {(visit.label, visit.goal, visit.outcome) for visit in documents} == {("", 0.0, "ok")}


@pytest.mark.parametrize("strategy", sorted(TRAINERS))
def test_every_taught_strategy_takes_documents(strategy: str) -> None:
    model = model_of(TO_DOCUMENTS, strategy)
    assert file_kinds(SCORERS[strategy](StrategyInput(model=model))) == ("document",)
    visits, _ = foraged(model)
    assert all(visit.label for visit in visits)  # documents are read as pages are
    assert all(visit.url.endswith(".pdf") for visit in visits if visit.is_goal)


def test_replaying_saved_visits_restores_a_forage_of_documents() -> None:
    model = model_of(TO_DOCUMENTS)
    visits, before = foraged(model, budget=5)
    again = Forager(
        before.site, SCORERS[model.strategy](StrategyInput(model=model)), politeness=Politeness(0.0)
    )
    for visit in visits:
        again.replay(visit, site_pages("s3")[visit.url])
    assert (again.goals, again.spent) == (before.goals, before.spent)
    assert again.goals > 0
    ahead, ahead_again = before.next_action(0.0), again.next_action(0.0)
    assert isinstance(ahead, Fetch)
    assert isinstance(ahead_again, Fetch)
    assert (ahead.link.url, ahead.link.score) == (ahead_again.link.url, ahead_again.link.score)


def test_a_model_keeps_the_kinds_of_goals_it_was_taught() -> None:
    model = model_of(TO_DOCUMENTS)
    arrays, meta = model.pack()
    assert unpack(arrays, meta).goal_kinds == ("document",)
    del meta["goal_kinds"]  # as in models from before documents could be goals
    assert unpack(arrays, meta).goal_kinds == ("page",)


def test_pages_and_documents_may_both_be_goals() -> None:
    trails = trails_of("s1", [*TO_DOCUMENTS, *TO_PAGES])
    assert goal_kinds(trails) == ("document", "page")
    visits, _ = foraged(model_of([*TO_DOCUMENTS, *TO_PAGES]))
    assert {"about.html", "report-2022.pdf"} <= names([visit for visit in visits if visit.is_goal])


def test_without_rejected_documents_one_behind_other_words_is_a_goal_too() -> None:
    shown = [("files/report-2021.pdf", GOAL), ("files/report-2023.pdf", GOAL), ("files/about.html", FAIL)]
    chances = {visit.url.rpartition("/")[2]: visit.goal for visit in foraged(model_of(shown))[0]}
    assert chances["minutes-2022.pdf"] > 0.94  # being a document counts for much
    refused = [*shown, ("files/minutes-2021.pdf", FAIL), ("files/minutes-2023.pdf", FAIL)]
    chances_then = {visit.url.rpartition("/")[2]: visit.goal for visit in foraged(model_of(refused))[0]}
    assert chances_then["minutes-2022.pdf"] < 0.5 <= chances_then["report-2022.pdf"]

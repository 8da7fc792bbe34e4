from __future__ import annotations

from dataclasses import replace

import pytest

from trailmark.errors import TeachingError, UsageError
from trailmark.fetched import Fetched
from trailmark.forage.brief import Brief
from trailmark.forage.forager import Fetch, Forager
from trailmark.forage.politeness import Politeness
from trailmark.forage.scorers import SCORERS
from trailmark.forage.scorers.path_learner import PathLearner
from trailmark.page import Link, Page
from trailmark.site import Site
from trailmark.teach.path_training import PathTraining
from trailmark.teach.training import ForageModel, Settings
from trailmark.trail import FAIL, GOAL, Step, Trail

SECTIONS = ["news", "staff", "shop", "help"]
NAMES = {"s1": ["Ada Moor", "Ben Tal"], "s2": ["Cy Dunn", "Di Elm"], "s3": ["Ed Fox", "Flo Gray"]}


def site_pages(host: str) -> dict[str, Page]:
    """Every site lists its staff behind a link that says so, and stories behind one that says news."""
    root = f"http://{host}.example"
    sections = tuple(Link(f"{root}/{name}/", text=name.title(), region="body>nav>a") for name in SECTIONS)
    people = tuple(
        Link(f"{root}/staff/{n}.html", text=name, region="body>ul>li>a") for n, name in enumerate(NAMES[host])
    )
    stories = tuple(
        Link(f"{root}/news/{n}.html", text=f"story number {n}", region="body>p>a") for n in range(4)
    )
    pages = [
        Page(f"{root}/", title="Welcome", links=sections),
        *(Page(f"{root}/{name}/", title=name.title()) for name in ("shop", "help")),
        Page(f"{root}/staff/", title="Our staff", links=people),
        Page(f"{root}/news/", title="News", links=stories),
        *(Page(link.url, title=link.text, tokens=("office", "phone")) for link in people),
        *(Page(link.url, title=link.text, tokens=("today", "we")) for link in stories),
    ]
    return {page.url: replace(page, digest=page.url) for page in pages}


def trails_of(host: str) -> list[Trail]:
    pages = site_pages(host)
    root = f"http://{host}.example"

    def way(section: str, item: int, ending: str) -> Trail:
        start, listing = pages[f"{root}/"], pages[f"{root}/{section}/"]
        link = next(link for link in start.links if link.url == listing.url)
        end = listing.links[item]
        steps = (Step(start), Step(listing, link), Step(pages[end.url], end, ending))
        return Trail(f"{root}/", steps)

    return [way("staff", 0, GOAL), way("staff", 1, GOAL), way("news", 0, FAIL), way("news", 2, FAIL)]


@pytest.fixture(scope="module")
def model() -> ForageModel:
    return PathTraining(Settings(prior_variance=3.0)).fit([*trails_of("s1"), *trails_of("s2")])


def test_states_are_pairs_and_goals_are_worth_most(model: ForageModel) -> None:
    assert model.pack()[0]["state_weights"].shape[1] == 2 * model.n_labels
    assert model.labels[model.rewards.argmax()] == GOAL


def test_taught_on_two_sites_it_goes_straight_to_the_goals_of_a_third(model: ForageModel) -> None:
    pages = site_pages("s3")
    forager = Forager(Site("http://s3.example/"), PathLearner(model), politeness=Politeness(0.0))
    visits = []
    while isinstance(action := forager.next_action(0.0), Fetch):
        url = action.link.url
        visits.append(forager.tell(action.link, Fetched(url, 200), pages[url], now=0.0, at=0.0))
    assert [visit.url for visit in visits[1:4]] == [
        "http://s3.example/staff/",
        "http://s3.example/staff/0.html",
        "http://s3.example/staff/1.html",
    ]
    assert [visit.url for visit in visits if visit.is_goal] == [visit.url for visit in visits[2:4]]
    assert visits[2].label == GOAL


def test_scores_are_shares_of_a_goal_and_the_same_each_time(model: ForageModel) -> None:
    start = site_pages("s3")["http://s3.example/"]

    def rated() -> list[float]:
        scorer = PathLearner(model)
        reading = scorer.read(scorer.start(Site(start.url)), start)
        return [link.score for link in scorer.rate(reading, start.links)]

    assert rated() == rated()
    assert all(0.0 <= score <= 1.0 for score in rated())
    assert max(rated()) == rated()[SECTIONS.index("staff")]


def test_trails_without_a_goal_cannot_be_learned_from() -> None:
    with pytest.raises(TeachingError, match="No trail ends at a goal"):
        PathTraining().fit([trail for trail in trails_of("s1") if not trail.reached_goal])


def test_without_a_model_the_strategy_says_what_it_needs() -> None:
    with pytest.raises(UsageError, match="teach it"):
        SCORERS["path-learner"](Brief())

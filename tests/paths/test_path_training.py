from __future__ import annotations

import pytest

from tests.paths.small_sites import SECTIONS, site_pages, trails_of
from wayhound.errors import TeachingError
from wayhound.fetched import Fetched
from wayhound.forage.forager import Fetch, Forager
from wayhound.forage.politeness import Politeness
from wayhound.forage.scorers.path_learner import PathLearner
from wayhound.page import Link, Page
from wayhound.paths.model import ForageModel
from wayhound.paths.settings import PathSettings
from wayhound.paths.trainers import CrfTrainer
from wayhound.site import Site
from wayhound.trail import GOAL, Step, Trail


@pytest.fixture(scope="module")
def model() -> ForageModel:
    return CrfTrainer(PathSettings(prior_variance=3.0)).fit([*trails_of("s1"), *trails_of("s2")])


def test_states_are_pairs_and_goals_have_the_highest_reward(model: ForageModel) -> None:
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
        CrfTrainer().fit([trail for trail in trails_of("s1") if not trail.reached_goal])


def test_without_rejected_pages_unclicked_links_show_what_is_not_a_goal() -> None:
    """Every page of a small site may link to the goal, and a teacher of contact pages rejects nothing."""

    def pages(host: str) -> list[Page]:
        names = ["about", "contact", "news", "shop"]
        menu = tuple(Link(f"http://{host}/{name}", name.title(), region="body>nav>a") for name in names)
        return [Page(f"http://{host}/{name}", name.title(), links=menu, digest=name) for name in ("", *names)]

    def shown(host: str) -> Trail:
        home, _, contact, *_ = pages(host)
        return Trail(home.url, (Step(home), Step(contact, home.links[1], GOAL)))

    model = CrfTrainer().fit([shown(f"{name}.example") for name in ("a", "b", "c", "d")])
    by_url = {page.url: page for page in pages("z.example")}
    forager = Forager(Site("http://z.example/"), PathLearner(model), politeness=Politeness(0.0))
    visits = []
    while isinstance(action := forager.next_action(0.0), Fetch):
        url = action.link.url
        visits.append(forager.tell(action.link, Fetched(url, 200), by_url[url], now=0.0, at=0.0))
    assert len(visits) == len(by_url)
    assert [visit.url for visit in visits if visit.is_goal] == [visits[1].url] == ["http://z.example/contact"]

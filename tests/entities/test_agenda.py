"""The agenda: what a page is worth before it is extracted, and the order that follows from it."""

from __future__ import annotations

from random import Random

import pytest

from wayhound.entities.agenda import (
    Agenda,
    HostSuccess,
    LightPage,
    PageResult,
    PageScorer,
    Relevance,
    Strategy,
    run_agenda,
    segment,
    split_words,
)
from wayhound.entities.workload import AskedQuery, GraphValue, Workload


def page(number: int, title: str, *, host: str = "guide.example") -> LightPage:
    url = f"https://{host}/p{number}"
    body = f"<body><h1>{title}</h1></body>".encode()
    return LightPage(url, url, title, 1000, lambda: body)


def scorer(queries: list[AskedQuery], strategy: Strategy = "combined") -> PageScorer:
    workload = Workload.of(queries, ["restaurant"])
    return PageScorer(workload, GraphValue(workload), strategy)


def test_a_domain_is_split_into_known_words() -> None:
    known = frozenset({"timber", "lodge", "steak", "house", "steakhouse"})
    assert split_words("timberlodgesteakhouse", known) == ["timber", "lodge", "steakhouse"]


def test_relevance_is_learned_from_metadata() -> None:
    relevance = Relevance(prior=0.5)
    for _ in range(30):
        relevance.learn(["t:menu", "u:restaurants"], relevant=True)
        relevance.learn(["t:api", "u:docs"], relevant=False)
    assert relevance.probability(["t:menu"]) > 0.6
    assert relevance.probability(["t:api"]) < 0.4


def test_a_host_on_which_extraction_fails_is_expected_to_fail() -> None:
    success = HostSuccess()
    before = success.probability("a")
    for _ in range(10):
        success.learn("a", succeeded=False)
    assert success.probability("a") < 0.2 < before == success.probability("b")


@pytest.mark.parametrize("strategy", ["metadata", "content", "combined"])
def test_a_page_that_more_people_ask_for_is_worth_more(strategy: Strategy) -> None:
    rated = scorer([AskedQuery("blue door", count=50), AskedQuery("casa luna", count=2)], strategy)
    worth = [
        rated.utility(rated.see(page(n, title)))
        for n, title in enumerate(("Blue Door", "Casa Luna", "Nothing"))
    ]
    assert worth[0] > worth[1] > worth[2] > 0


def test_an_entity_already_in_the_graph_is_worth_little_unless_an_uncertain_one_is_to_be_confirmed() -> None:
    rated = scorer([AskedQuery("blue door", count=50)])
    seen = rated.see(page(1, "Blue Door"))
    before = rated.utility(seen)
    values = {"name": ["Blue Door"], "phone": ["+1"]}
    rated.value.update(1, values)
    rated.know(values)
    after = rated.utility(seen)
    rated.corroboration = 0.6
    uncertain = rated.utility(seen)
    assert after < 0.2 * before < uncertain < before
    rated.take_in({1: values}, {1: 0.5})
    assert after < rated.utility(seen) < uncertain
    rated.take_in({1: values}, {1: 0.0})
    assert rated.utility(seen) == after


def test_a_category_is_worth_less_with_every_entity_found() -> None:
    rated = scorer([AskedQuery("thai austin", "category", 50)], "metadata")
    worth = []
    for n in range(3):
        worth.append(rated.utility(rated.see(page(9, "Thai in Austin"))))
        rated.value.update(n, {"name": [f"Place{n}"], "cuisine": ["Thai"], "address": ["Austin"]})
    assert worth == sorted(worth, reverse=True)
    assert worth[0] > worth[-1]


def test_without_a_workload_relevance_and_novelty_decide() -> None:
    rated = scorer([])
    known, new = rated.see(page(1, "Blue Door")), rated.see(page(2, "Casa Luna"))
    rated.know({"name": ["Blue Door"]})
    assert rated.utility(new) > rated.utility(known) > 0


def test_an_endorsed_page_is_worth_more() -> None:
    rated = scorer([])
    plain = rated.utility(rated.see(page(1, "Blue Door")))
    rated.endorsed = {"https://guide.example/p1": 2.0}
    assert rated.utility(rated.see(page(1, "Blue Door"))) > plain


def run(
    strategy: Strategy,
    pages: list[LightPage],
    queries: list[AskedQuery],
    batch: int = 2,
    threshold: float = 0.0,
) -> list[str]:
    rated = scorer(queries, strategy)
    agenda = Agenda(rated, sample=len(pages), batch=batch, threshold=threshold, rescore=4)
    order: list[str] = []

    def extract(light: LightPage) -> PageResult:
        order.append(light.title)
        return PageResult(True, True, {len(order): {"name": [light.title], "phone": [str(len(order))]}})

    list(run_agenda(pages, agenda, extract, Random(0)))
    return order


PAGES = [page(n, f"Page {n}") for n in range(10)] + [page(10, "Blue Door"), page(11, "Casa Luna")]
ASKED = [AskedQuery("blue door", count=9), AskedQuery("casa luna", count=5)]


@pytest.mark.parametrize("strategy", ["random", "metadata", "content", "combined"])
def test_every_page_is_extracted_once_in_the_end(strategy: Strategy) -> None:
    assert sorted(run(strategy, PAGES, ASKED)) == sorted(light.title for light in PAGES)


def test_the_pages_asked_for_come_first() -> None:
    assert run("combined", PAGES, ASKED)[:2] == ["Blue Door", "Casa Luna"]


def test_pages_below_the_threshold_are_never_extracted() -> None:
    assert set(run("combined", PAGES, ASKED, threshold=1.0)) == {"Blue Door", "Casa Luna"}


def test_an_agenda_can_be_stopped_after_any_batch() -> None:
    rated = scorer(ASKED)
    agenda = Agenda(rated, sample=4, batch=3)
    done = list(run_agenda(PAGES, agenda, lambda _: PageResult(False, False), Random(1), most=6))
    assert done == [3, 6]


def test_noun_phrases_are_the_candidates_of_a_page_and_all_words_where_there_are_none() -> None:
    body = b"<body><p>dinner is served at the <b>Old Mill of Springfield</b> for guests</p></body>"
    assert segment(body, phrases=True)[0] == ["old", "mill", "of", "springfield"]
    assert "served" in segment(body)[0]
    assert (
        segment(b"<body><p>nothing but small letters</p>", phrases=True)[0]
        == "nothing but small letters".split()
    )

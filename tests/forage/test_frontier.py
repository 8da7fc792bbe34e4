from __future__ import annotations

from hypothesis import given
from hypothesis.strategies import floats, lists, sampled_from, tuples

from wayhound.forage.frontier import Frontier

SCORES = floats(0, 1, allow_nan=False)
OFFERS = lists(tuples(sampled_from([f"http://s/{n}" for n in range(12)]), SCORES))


def drain(frontier: Frontier) -> list[str]:
    taken = []
    while link := frontier.best():
        frontier.take(link)
        taken.append(link.url)
    return taken


@given(OFFERS)
def test_every_url_comes_out_once_however_often_it_was_added(offers: list[tuple[str, float]]) -> None:
    frontier = Frontier()
    for url, score in offers:
        frontier.add(url, score)
    taken = drain(frontier)
    assert sorted(taken) == sorted({url for url, _ in offers})
    assert len(frontier) == 0
    assert frontier.known == len(taken)


@given(OFFERS)
def test_links_come_out_best_first_and_of_ties_the_oldest(offers: list[tuple[str, float]]) -> None:
    frontier = Frontier()
    first: dict[str, float] = {}
    for url, score in offers:
        if frontier.add(url, score):
            first[url] = score
    assert drain(frontier) == sorted(first, key=lambda url: (-first[url], list(first).index(url)))


@given(OFFERS, OFFERS)
def test_a_score_that_changes_while_waiting_moves_the_link(
    offers: list[tuple[str, float]], changes: list[tuple[str, float]]
) -> None:
    frontier = Frontier()
    scores: dict[str, float] = {}
    for url, score in offers:
        if frontier.add(url, score):
            scores[url] = score
    for url, score in changes:
        if link := frontier.waiting(url):
            frontier.rescore(link, score)
            scores[url] = score
    taken = drain(frontier)
    assert [scores[url] for url in taken] == sorted(scores.values(), reverse=True)
    assert len(taken) == len(scores)


def test_a_taken_link_is_known_but_no_longer_queued() -> None:
    frontier = Frontier()
    frontier.add("http://s/", 0.5)
    link = frontier.best()
    assert link is not None
    frontier.take(link)
    assert "http://s/" in frontier
    assert frontier.waiting("http://s/") is None
    assert not frontier.add("http://s/", 0.9)


def test_scores_that_change_repeatedly_take_no_more_memory_and_keep_the_order() -> None:
    frontier = Frontier()
    for number in range(100):
        frontier.add(f"http://s/{number}", 0.5)
    for turn in range(200):
        for number in range(100):
            link = frontier.waiting(f"http://s/{number}")
            assert link is not None
            frontier.rescore(link, ((number * 7 + turn) % 100) / 100)
    assert len(frontier._heap) <= 1300
    last = {f"http://s/{number}": ((number * 7 + 199) % 100) / 100 for number in range(100)}
    assert drain(frontier) == sorted(last, key=lambda url: -last[url])

"""Which pages are shown to a browser, by what earlier ones of their template gained by it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.forage import world
from wayhound.fetched import Fetched
from wayhound.forage.forager import Fetch, ForageLimits, Forager
from wayhound.forage.frontier import QueuedLink
from wayhound.forage.politeness import Politeness
from wayhound.forage.rendering import RenderMemory, shows_more, template
from wayhound.forage.scorer import GoalPattern
from wayhound.forage.scorers.baselines import BreadthFirst
from wayhound.page import Link, Page
from wayhound.site import Site
from wayhound.visit import Rendering, Visit


def visit(url: str, rendering: Rendering) -> Visit:
    return Visit("http://s.example/", 0, url, "ok", 0.0, rendering=rendering)


def at(path: str) -> str:
    return f"http://s.example/{path}"


def test_pages_share_a_template_by_their_folders_and_parameters() -> None:
    assert template(at("people/ann")) == template(at("people/bob")) != template(at("people"))
    assert template(at("item?id=1")) == template(at("item?id=2")) != template(at("item"))
    assert template(at("")) != template(at("about"))
    assert template(at("#/people/1")) == template(at("#/people/2"))


def test_a_page_that_needs_a_browser_gets_it_until_that_brings_nothing() -> None:
    memory = RenderMemory()
    assert memory.wants(at("people/ann"), "needed")
    for name in ("ann", "bob"):
        memory.learn(visit(at(f"people/{name}"), "same"))
    assert not memory.wants(at("people/cid"), "needed")
    assert memory.wants(at("news/1"), "needed")
    # and now and then it is checked again
    assert sum(memory.wants(at(f"people/{n}"), "needed") for n in range(100)) == 5
    memory.learn(visit(at("people/dan"), "rendered"))
    assert memory.wants(at("people/eve"), "needed")


def test_pages_that_perhaps_need_one_wait_and_are_sampled_twice_a_site() -> None:
    memory = RenderMemory()
    for name in ("a/1", "b/1"):
        assert not memory.wants(at(name), "perhaps")
        assert memory.waits(at(name), "perhaps")
        memory.learn(visit(at(name), "perhaps"))
    for name in ("a/1", "b/1"):
        assert memory.wants_again(at(name))
        memory.learn(visit(at(name), "same"))
    assert not memory.waits(at("c/1"), "perhaps")
    assert not memory.wants_again(at("c/1"))
    assert not RenderMemory("never").wants_again(at("a/1"))  # such as in a run resumed without a browser


def test_after_a_gain_pages_that_perhaps_need_a_browser_are_rendered_at_once() -> None:
    memory = RenderMemory()
    memory.learn(visit(at("list"), "rendered"))
    assert memory.wants(at("other/1"), "perhaps")


def test_pages_like_those_taught_with_links_by_scripts_are_rendered_without_a_sign() -> None:
    memory = RenderMemory(taught_depths={0, 1})
    assert memory.wants(at(""), "", 0)
    assert not memory.wants(at("a/b"), "", 2)
    for name in ("", "people"):
        memory.learn(visit(at(name), "same"))
    assert not memory.wants(at("news"), "", 1)  # this site has none
    # on the taught site itself, the page is known
    taught = RenderMemory.of_site("auto", at(""), [(at(""), 1, at("people/ann"))], ())
    assert taught.wants(at("people/bob"), "")


def test_a_gain_makes_the_whole_template_rendered() -> None:
    memory = RenderMemory()
    memory.learn(visit(at("people/ann"), "rendered"))
    assert memory.wants(at("people/bob"), "")
    assert not memory.wants(at("news"), "")


def test_without_a_browser_a_site_made_by_scripts_says_so() -> None:
    memory = RenderMemory("never")
    assert not memory.wants(at(""), "needed")
    memory.learn(visit(at(""), "needed"))
    assert memory.lacks_browser
    assert RenderMemory("always").wants(at(""), "")


def page(words: int, *links: str) -> Page:
    return Page(at(""), tokens=("word",) * words, links=tuple(Link(at(link)) for link in links))


def test_more_is_clearly_more_words_or_several_new_links() -> None:
    assert shows_more(page(0), page(20))
    assert shows_more(page(50), page(50, "menu"))
    assert shows_more(page(50, *"abcdef"), page(50, *"abcdefghi"))
    assert not shows_more(page(50, *"abcdef"), page(52, *"abcdefg"))
    assert not shows_more(page(50), page(50))


def test_what_a_site_needed_is_taken_over_from_its_run_before() -> None:
    in_vain = [visit(at(f"news/{number}"), "same") for number in (1, 2)]
    memory = RenderMemory.of_site("auto", at(""), (), [visit(at("people/ann"), "rendered"), *in_vain])
    assert memory.wants(at("people/bob"), "")  # at once, without a sign in its markup
    assert not memory.wants(at("news/3"), "needed")
    assert not memory.wants(at("other/1"), "")


LIST, MORE = at("list"), tuple(at(f"list/{n}") for n in range(6, 9))
SHOWN = tuple(at(f"list/{n}") for n in range(6))
PLAIN_PAGES = {
    at(""): world.page(at(""), LIST, at("other"), at("third")),
    LIST: world.page(LIST, *SHOWN),
    at("other"): world.page(at("other"), at("deep")),
    at("deep"): world.page(at("deep"), at("deep/1")),
    at("deep/1"): world.page(at("deep/1")),
    **{url: world.page(url) for url in (at("third"), *SHOWN, *MORE)},
}


class GrowingSite:
    """A site with a list to which a browser adds entries, foraged as the crawl loop does it."""

    def __init__(self, budget: int = 100) -> None:
        goal = BreadthFirst(GoalPattern("list"))
        self.forager = Forager(Site(at("")), goal, ForageLimits(budget=budget), Politeness(0.0))
        self.visits: list[Visit] = []

    def run(self) -> GrowingSite:
        while isinstance(action := self.forager.next_action(0.0), Fetch):
            link = action.link
            rendering = self.rendering(link)
            answer = Fetched(link.url, 200, content_type="text/html")
            page = shown(link.url, rendering)
            self.visits.append(self.forager.tell(link, answer, page, now=0.0, at=0.0, rendering=rendering))
        return self

    def rendering(self, link: QueuedLink) -> Rendering:
        if link.first_look is not None:
            return "rendered"
        memory = self.forager.rendering
        return "perhaps" if link.url == LIST and memory.waits(link.url, "perhaps") else ""


def shown(url: str, rendering: Rendering) -> Page:
    page = PLAIN_PAGES[url]
    return replace(page, links=(*page.links, *map(Link, MORE))) if rendering == "rendered" else page


def test_a_list_that_may_grow_is_shown_to_a_browser_after_its_own_links() -> None:
    site = GrowingSite().run()
    urls = [visit.url for visit in site.visits]
    again = urls.index(LIST, urls.index(LIST) + 1)
    assert max(map(urls.index, SHOWN)) < again < urls.index(at("deep/1"))
    assert set(MORE) <= set(urls[again:])
    # it costs no request, and is no second goal
    assert site.forager.spent == len(PLAIN_PAGES) == len(urls) - 1
    assert [visit.url for visit in site.visits if visit.is_goal].count(LIST) == 1
    # where the budget ends with the links it has, no browser is needed
    assert "rendered" not in {visit.rendering for visit in GrowingSite(budget=9).run().visits}


@pytest.mark.parametrize("killed_after", range(len(PLAIN_PAGES) + 2))
def test_a_second_look_survives_the_end_of_the_process(killed_after: int) -> None:
    whole, resumed = GrowingSite().run(), GrowingSite()
    for known in whole.visits[:killed_after]:
        resumed.forager.replay(known, shown(known.url, known.rendering))
    resumed.run()
    assert whole.visits[killed_after:] == resumed.visits
    assert resumed.forager.spent == whole.forager.spent

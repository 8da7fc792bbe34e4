"""Which pages are shown to a browser, by what earlier ones of their template gained by it."""

from __future__ import annotations

from wayhound.forage.rendering import RenderMemory, shows_more, template
from wayhound.page import Link, Page
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


def test_pages_that_perhaps_need_one_are_sampled_twice_a_site() -> None:
    memory = RenderMemory()
    for name in ("a/1", "b/1"):
        assert memory.wants(at(name), "perhaps")
        memory.learn(visit(at(name), "same"))
    assert not memory.wants(at("c/1"), "perhaps")


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
    memory = RenderMemory()
    memory.recall(visit(at("people/ann"), "rendered"))
    for name in ("1", "2"):
        memory.recall(visit(at(f"news/{name}"), "same"))
    assert memory.wants(at("people/bob"), "")  # at once, without a sign in its markup
    assert not memory.wants(at("news/3"), "needed")
    assert not memory.wants(at("other/1"), "")

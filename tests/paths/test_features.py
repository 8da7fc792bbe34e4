from __future__ import annotations

from wayhound.page import Link, Page
from wayhound.paths.features import (
    PageContext,
    fold_word,
    link_tokens,
    own_link_tokens,
    page_tokens,
    token_scale,
)

HOME = "http://www.example.edu/~smith/index.html"
PAPERS = Link(
    "http://www.example.edu/~smith/papers/1997.html",
    text="My Papers",
    before=("see",),
    after=("since", "1990"),
    region="body>ul.list>li>a",
)
PAGE = Page(HOME, title="Jane Smith", headings=("Research",), tokens=("welcome", "students"), links=(PAPERS,))


def test_tokens_of_a_page_are_its_head_its_first_words_and_its_url() -> None:
    tokens = page_tokens(PAGE, body_tokens=1, depth=2)
    assert {"title jane", "heading research", "body welcome", "url ~", "url ~smith", "depth 2"} <= tokens
    assert "body student" not in tokens
    assert not any(token.startswith("body") for token in page_tokens(PAGE, body_tokens=0))


def test_words_of_a_link_have_a_larger_scale_than_others() -> None:
    assert token_scale("says papers") > token_scale("body papers") > token_scale("near papers")


def test_tokens_of_a_link_are_its_words_its_neighbours_its_url_and_its_position() -> None:
    tokens = link_tokens(PAPERS, PageContext.from_page(PAGE))
    assert {"says paper", "near see", "near 9", "to paper", "to html", "looks XX"} <= tokens
    assert {"on title jane", "on heading research", "way 0 2", "stands ul>li>a", "kind a"} <= tokens


def test_words_lose_numbers_and_plurals() -> None:
    spoken = ("papers", "studies", "cs314", "class", "classes", "bus")
    assert [fold_word(word) for word in spoken] == ["paper", "study", "cs9", "class", "class", "bus"]


def test_words_can_be_taken_as_they_stand() -> None:
    page = Page("http://a.example/papers/1997.html", "Papers of 1997", tokens=("studies",))
    link = Link("http://a.example/theses.html", "Theses", before=("all", "9", "our"))
    assert {"title papers", "title 1997", "body studies", "url 1997"} <= page_tokens(
        page, added=False, folded=False
    )
    tokens = own_link_tokens(link, PageContext.from_page(page), window=2, added=False, folded=False)
    assert tokens == {"says theses", "to theses", "to html", "near 9", "near our"}

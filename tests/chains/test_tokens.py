"""Hostile pages, which would take minutes or hours if anything were looked through again from every place."""

import pytest

from wayhound.chains.tokens import TokenPage, title_words

URL = "http://a.example/"


@pytest.mark.parametrize("opening", ["<!--", "<script>", "<STYLE ", "<template>x</style>", "<noscript>"])
def test_parts_that_are_never_closed_hide_nothing(opening: str) -> None:
    page = TokenPage(URL, '<!-- <a href="/no">no</a> -->' + opening * 150_000 + '<a href="/yes">yes</a>')
    assert [(anchor.target, anchor.text) for anchor in page.anchors] == [(f"{URL}yes", "yes")]


@pytest.mark.parametrize("opening", ["<h1>", "<title ", "<title>"])
def test_headings_that_are_never_closed_are_none(opening: str) -> None:
    page = TokenPage(URL, "<h1 class=a>One</h1><title>Two</title>" + opening * 150_000)
    assert title_words(page) == {"One", "Two"}


@pytest.mark.parametrize("attribute", ["a", "a-", " ", "a= "])
def test_attributes_without_a_value_are_passed_over(attribute: str) -> None:
    page = TokenPage(URL, f'<a download href="/yes" a{attribute * 100_000}>yes</a>')
    assert [anchor.target for anchor in page.anchors] == [f"{URL}yes"]


@pytest.mark.parametrize("tag", ["<p>", "<li>", "</x>"])
def test_elements_are_nested_as_deep_as_a_page_says(tag: str) -> None:
    depth = 40_000
    tree = TokenPage(URL, "<ul>" + "<b>" * depth + tag * depth + "</ul>after").tree
    assert tree.closed == {tree.elements[1].close: 1}
    assert tree.elements[depth + 1].close == tree.elements[1].close == 2 * depth + 1

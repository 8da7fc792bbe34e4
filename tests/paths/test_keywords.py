"""Keywords that a user gives, found in links and in the names of pages."""

from __future__ import annotations

import pytest

from wayhound.page import Link, Page
from wayhound.paths.traits import ON_MATCHING_PAGE, SYNONYM, Keywords, url_shape


def score(
    keyword: str, text: str = "", url: str = "http://s.example/x.html", *, use_urls: bool = True
) -> float:
    return Keywords.from_words([keyword], use_urls=use_urls).in_link(Link(url, text))


def test_a_keyword_is_found_inside_words_and_urls() -> None:
    assert score("faculty", url="http://s.example/facultylist.html") == 1.0
    assert score("contact", "Contacts") == 1.0


def test_a_keyword_is_found_in_any_folder_of_a_url() -> None:
    assert score("people", url="http://s.example/people/ada") == 1.0


@pytest.mark.parametrize("text", ["Kontakt", "Контакты", "お問い合わせ", "Nous joindre"])
def test_a_keyword_is_found_by_its_synonyms_in_other_languages(text: str) -> None:
    assert score("contact", text) == SYNONYM


def test_accents_and_case_do_not_matter() -> None:
    assert score("equipe", "L'Équipe") == score("ÉQUIPE", "equipe") == 1.0


def test_two_letters_match_whole_words_only() -> None:
    assert score("pi", "Shopping") == 0.0
    assert score("pi", "PI") == 1.0


def test_a_match_in_a_sentence_counts_less_than_one_in_a_menu() -> None:
    assert (
        0.0
        < score("contact", "If in doubt please contact the office of the dean")
        < score("contact", "Contact")
    )


def test_links_on_a_matching_page_score_more_than_others() -> None:
    keywords = Keywords.from_words(["people"])
    page = keywords.in_name(Page("http://s.example/p", title="Our people"))
    link = Link("http://s.example/ada.html", "Ada")
    assert keywords.in_link(link, page) == ON_MATCHING_PAGE
    assert keywords.in_link(link) == 0.0


def test_urls_are_not_looked_at_if_not_allowed() -> None:
    assert score("people", url="http://s.example/people/ada", use_urls=False) == 0.0


def test_keywords_without_a_word_are_none() -> None:
    assert not Keywords.from_words(["", "–"])


@pytest.mark.parametrize(
    ("url", "alike", "other"),
    [
        ("http://s/people/ada.html", "http://s/people/ben.html", "http://s/news/ben.html"),
        ("http://s/person.php?id=1", "http://s/person.php?id=2", "http://s/course.php?id=1"),
        ("http://s/?author=ada", "http://s/?author=ben", "http://s/?product=lamp"),
    ],
)
def test_urls_of_one_folder_or_of_one_query_have_one_shape(url: str, alike: str, other: str) -> None:
    assert url_shape(url) == url_shape(alike)
    assert url_shape(url) != url_shape(other)

"""Names of pages, compared by the runs of characters that they share."""

from __future__ import annotations

import pytest

from wayhound.page import Link, Page
from wayhound.paths.page_names import NO_MATCH, TaughtNames, learn_names, page_names
from wayhound.paths.traits import ReachedPage


def names(title: str, url: str = "http://x.example/", text: str = "", heading: str = "") -> tuple[str, ...]:
    page = Page(url, title=title, headings=(heading,) if heading else ())
    return page_names(ReachedPage(page, 1, Link(url, text)))


CONTACT = TaughtNames(
    [names("Contact us | The Firm"), names("联系我们", "http://x.example/contact")],
    [names("Products | The Firm"), names("News")],
)


@pytest.mark.parametrize(
    "title", ["Kontakt | Die Firma", "Contatti", "Contacto - Agua y Sal", "Kontakty", "Contactez-nous"]
)
def test_words_of_one_origin_are_alike_in_other_languages(title: str) -> None:
    assert CONTACT.match(names(title)).contrast > 0.3


@pytest.mark.parametrize("title", ["Produkte", "Aktuelles", "Die Firma", ""])
def test_other_names_are_less_like_goals(title: str) -> None:
    assert CONTACT.match(names(title)).contrast < 0.3


def test_a_word_that_only_begins_alike_is_less_like_goals_than_one_of_the_same_origin() -> None:
    assert CONTACT.match(names("Container")).goals < CONTACT.match(names("Kontakt")).goals - 0.3


def test_names_are_short_parts_of_titles_links_addresses_and_the_first_heading() -> None:
    found = names("Über uns | A Firm", "http://x.example/about-us.html", "Wer wir sind", "About")
    assert found == ("uber uns", "a firm", "about", "wer wir sind", "about us")
    assert names("A few words about the sauce of fish", heading="How it is made of old") == ()


def test_a_number_is_no_name() -> None:
    assert names("2026", "http://x.example/archive/3") == ()


def test_without_urls_an_address_is_no_name() -> None:
    page = Page("http://x.example/contact", title="Start")
    assert page_names(ReachedPage(page), use_urls=False) == ("start",)


def test_the_same_name_on_every_taught_site_is_a_full_match() -> None:
    taught = TaughtNames([["venue"], ["venue", "hotels"]], [["program"], []])
    assert taught.match(["venue"]).goals == 1.0
    assert taught.match(["program"]).others == 1.0
    assert taught.match(["xx"]) == taught.match([]) == NO_MATCH


def test_a_site_is_not_compared_with_itself() -> None:
    taught = TaughtNames([["venue"], ["hotels"]], [["program"], []])
    assert taught.match(["venue"], without=0).goals == 0.0
    assert taught.match(["program"], without=0).others == 0.0


def test_names_are_trusted_as_far_as_taught_sites_agree_on_them() -> None:
    others = [(site, False, (word,)) for site, word in (("a", "news"), ("b", "shop"), ("c", "blog"))]
    agreeing = [(site, True, (word,)) for site, word in (("a", "venue"), ("b", "venues"), ("c", "il venue"))]
    people = [(site, True, (word,)) for site, word in (("a", "ada"), ("b", "bo li"), ("c", "uwe"))]
    assert learn_names([*agreeing, *others])[1] == 1.0
    assert learn_names([*people, *others]) == (TaughtNames(), 0.0)


def test_names_of_one_or_two_sites_count_for_nothing() -> None:
    pages = [
        ("a", True, ("venue",)),
        ("b", True, ("venue",)),
        ("b", False, ("news",)),
        ("c", False, ("shop",)),
    ]
    taught, trust = learn_names(pages)
    assert taught.match(["venue"]) == NO_MATCH
    assert trust == 0.0

"""Web concepts named by words of many languages."""

from __future__ import annotations

import pytest

from wayhound.page import Page
from wayhound.paths.concepts import ConceptLexicon, page_contents, strip_accents, web_concepts
from wayhound.paths.traits import ReachedPage, without_language
from wayhound.text.words import words

MIN_LANGUAGES = 20


def named(text: str) -> frozenset[str]:
    return web_concepts().named_by(words(text))


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("Contact us", "contact"), ("Kontaktformular", "contact"), ("Nous contacter", "contact"),
        ("お問い合わせはこちら", "contact"), ("联系我们", "contact"), ("İletişim", "contact"), ("Контакты", "contact"),
        ("Über uns", "about"), ("ueber-uns", "about"), ("Qui sommes-nous ?", "about"), ("O nás", "about"),
        ("Öffnungszeiten", "hours"), ("Speisekarte", "menu"), ("Publicações", "publication"), ("Équipe", "team"),
        ("Mitarbeiterinnen", "people"), ("Faculty & Staff", "faculty"), ("Vacatures", "job"),
    ],
)  # fmt: skip
def test_a_concept_is_named_in_many_languages(text: str, concept: str) -> None:
    assert concept in named(text)


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("Gegründet wurde die Firma", "founded"), ("会社は東京に設立", "founded"), ("Nuestra misión", "founded"),
        ("Wir bieten Beratung", "offer"), ("мы предлагаем решения", "offer"), ("finansowany przez", "funding"),
        ("Il a obtenu son doctorat", "biography"), ("研究方向", "biography"), ("Kliknij plik", "steps"),
        ("majoitus ja ravintolat", "stay"), ("Geschäftsführerin", "position"),
        ("Die Sprecherin sagte heute", "said"), ("Τηλέφωνο", "telephone"),
    ],
)  # fmt: skip
def test_the_contents_of_a_text_are_found_in_many_languages(text: str, content: str) -> None:
    assert content in page_contents().named_by(words(text))


@pytest.mark.parametrize(
    ("url", "numbers"),
    [
        ("http://a.example:8765/", 0.0),
        ("http://127.0.0.1/", 0.0),
        ("http://a.example:8765/team", 0.0),
        ("http://a.example/team/3", 1.0),
        ("http://a.example/show.php?id=3", 1.0),
    ],
)
def test_only_the_end_of_the_path_has_a_number_and_not_the_host(url: str, numbers: float) -> None:
    assert ReachedPage(Page(url)).traits()["#number in address"] == numbers


def test_a_sentence_about_none_of_them_has_no_contents() -> None:
    assert not page_contents().named_by(words("the quick brown fox jumps over the lazy dog"))


@pytest.mark.parametrize(
    "text", ["Programming languages", "Second floor", "Bookmarks", "Reception", "Donald", "Pressure"]
)
def test_words_that_only_begin_like_a_term_name_nothing(text: str) -> None:
    assert not named(text)


def test_a_term_of_several_words_needs_all_of_them_in_order() -> None:
    lexicon = ConceptLexicon.from_terms({"hours": {"en": "opening hours"}, "join": {"en": "join us"}})
    assert lexicon.named_by(["our", "opening", "hours"]) == {"hours"}
    assert not lexicon.named_by(["hours", "opening"])
    assert not lexicon.named_by(["join"])


def test_only_a_star_matches_any_ending() -> None:
    lexicon = ConceptLexicon.from_terms({"a": {"de": "kontakt*"}, "b": {"en": "team"}})
    assert lexicon.named_by(["kontaktformular"]) == {"a"}
    assert not lexicon.named_by(["teamwork"])


def test_accents_do_not_matter_and_umlauts_may_be_spelled_out() -> None:
    lexicon = ConceptLexicon.from_terms({"about": {"de": "über uns"}})
    assert all(
        lexicon.named_by(spelling.split()) == {"about"} for spelling in ("über uns", "uber uns", "ueber uns")
    )
    assert strip_accents("Équipe") == "equipe"


def test_every_shipped_concept_is_there_in_twenty_languages() -> None:
    import tomllib
    from importlib.resources import files

    text = files("wayhound.paths").joinpath("data", "concepts.toml").read_text(encoding="utf-8")
    for concept, languages in tomllib.loads(text).items():
        assert len(languages) >= MIN_LANGUAGES, concept


def test_a_concept_counts_less_in_a_sentence_than_in_a_short_name() -> None:
    def share(title: str) -> float:
        return ReachedPage(Page("http://a.example/", title=title)).traits(use_urls=False)["@title about"]

    assert share("About us | A firm with a very long name in many words") == 1.0
    assert share("A few words about fish sauce and rice") < 0.3


@pytest.mark.parametrize(
    "url",
    ["http://a.example/de/people/1", "http://a.example/people/1", "http://a.example/pt-br/people/1"],
)
def test_translations_of_a_page_share_their_url_without_the_language(url: str) -> None:
    assert without_language(url) == "http://a.example/people/1"


def test_a_word_that_begins_like_a_language_stays_in_the_url() -> None:
    assert without_language("http://a.example/it-services/") == "http://a.example/it-services/"

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wayhound.chains.ontology import Concept, Ontology, Relationship, read_ontology, write_ontology
from wayhound.chains.rules import choose_pattern, has_anchor_text_pattern
from wayhound.errors import UsageError

TEXT = """
[concepts.film]
label = "film"
[relationships.ActorOf]
source = "film"
target = "actor"
inverse = "acted in"
"""
names = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,8}", fullmatch=True)
labels = st.text(st.characters(codec="utf-8"), max_size=12)


def test_concepts_that_only_relationships_name_need_no_section() -> None:
    ontology = read_ontology(TEXT)
    assert set(ontology.concepts) == {"film", "actor"}
    assert ontology.relationship("ActorOf").signature == "ActorOf(film, actor)"


@given(names, names, names, labels, labels)
def test_an_ontology_is_read_back_as_it_was_written(
    name: Any, source: Any, target: Any, label: Any, inverse: Any
) -> None:
    concepts = {each: Concept(each, label) for each in (source, target)}
    ontology = Ontology(concepts, {name: Relationship(name, source, target, label, inverse)})
    assert read_ontology(write_ontology(ontology)) == ontology


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[relationships", "is not TOML"),
        ("[concepts.film]", "has no relationship"),
        ("[relationships.A]\nsource='x'", "names no target"),
        ("[relationships.A]\nsource='x y'\ntarget='z'", "is no name"),
        ("[relationships.A]\nsource=1\ntarget='z'", "must be text"),
        ("[relationships.A]\nfrom='x'", "has from"),
        ("[things]", "has a section"),
        ("relationships=1", "must hold a section"),
    ],
)
def test_mistakes_in_an_ontology_are_explained(text: Any, message: Any) -> None:
    with pytest.raises(UsageError, match=message):
        read_ontology(text)


def test_an_unknown_relationship_is_named_with_those_that_exist() -> None:
    with pytest.raises(UsageError, match=r"no relationship B\. It has: ActorOf"):
        read_ontology(TEXT).relationship("B")


@pytest.mark.parametrize(
    ("texts", "pattern"),
    [
        (["Mandy Moore", "Glynis Johns"], "person name"),
        (["Jean-Luc Godard", "Ana de Armas", "Ludwig van Beethoven"], "person name"),
        (["王家卫 Wong", "Žižek Slavoj"], "person name"),
        (["2003", "(1999)"], "year"),
        (["2003", "17"], "number"),
        (["12 May 2003", "2003-05-12"], "date"),
        (["https://a.example/x", "www.b.example"], "url"),
        (["FileUtils", "IOCase"], "title case"),
        (["How to Deal", "away"], "any"),
        ([""], "any"),
    ],
)
def test_the_most_specific_pattern_that_fits_all_texts_is_chosen(texts: Any, pattern: Any) -> None:
    assert choose_pattern(texts) == pattern
    assert all(has_anchor_text_pattern(pattern, text) for text in texts)


@given(st.lists(st.text(max_size=20), max_size=5))
def test_the_chosen_pattern_fits_every_text(texts: Any) -> None:
    pattern = choose_pattern(texts)
    assert all(has_anchor_text_pattern(pattern, text) for text in texts)

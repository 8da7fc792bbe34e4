"""Fields taught on some sites and found on others."""

from __future__ import annotations

from wayhound.entities.tagger import TaughtPage, learn_tagger
from wayhound.entities.templates import lines_with_paths


def table(name: str, chef: str, seats: int) -> bytes:
    rows = {"Name": name, "Head chef": chef, "Seats": str(seats), "Parking": "Behind the house"}
    return (
        "".join(f"<tr><td>{label}<td>{text}</tr>" for label, text in rows.items())
        .join(("<h1>Guide</h1><table>", "</table><p>Write a review</p>"))
        .encode()
    )


def lines(name: str, chef: str, style: str) -> bytes:
    return (
        f"<div class=top><h2>{name}</h2></div><p>Style: {style}</p><p class=chef-name>Chef: {chef}</p>"
        "<p>Opening hours: daily</p><footer>All rights reserved</footer>"
    ).encode()


TAUGHT: list[TaughtPage] = [
    ("one.example", table("Blue Door", "Ann Lee", 40), "text/html", "", [("chef", "Ann Lee")]),
    ("one.example", table("Casa Luna", "Bo Diaz", 12), "text/html", "", [("chef", "Bo Diaz")]),
    ("two.example", lines("Old Mill", "Cy Stone", "French"), "text/html", "", [("chef", "Cy Stone")]),
    ("two.example", lines("The Barn", "Di Fox", "Thai"), "text/html", "", [("chef", "Di Fox")]),
]
OTHER = (
    b"<h1>Basil</h1><ul><li>Cuisine: Greek</li><li>Chef: Eva Gold</li><li>Price: 20</li></ul><p>Contact</p>"
)


def test_a_field_marked_on_two_sites_is_found_on_a_third_by_its_label() -> None:
    tagger = learn_tagger(TAUGHT)
    assert tagger is not None
    page, paths = lines_with_paths(OTHER, "text/html")
    (fact,) = tagger.find(page, paths, ["chef"])
    assert (fact.field, fact.text, fact.source) == ("chef", "Eva Gold", "tagger")
    assert page.text[fact.start : fact.end] == "Eva Gold"
    assert 0.5 < fact.confidence < 1


def test_a_page_without_the_field_has_no_value_of_it() -> None:
    tagger = learn_tagger(TAUGHT)
    assert tagger is not None
    page, paths = lines_with_paths(b"<p>Write a review</p><p>All rights reserved</p>", "text/html")
    assert tagger.find(page, paths, ["chef"]) == []
    assert tagger.find(*lines_with_paths(OTHER, "text/html"), []) == []
    assert tagger.find(*lines_with_paths(b"", "text/html"), ["chef"]) == []


def test_one_site_teaches_no_tagger_and_fields_of_extractors_need_none() -> None:
    assert learn_tagger(TAUGHT[:2]) is None
    assert learn_tagger([]) is None
    phones = [(*page[:4], [("phone", text) for _, text in page[4]]) for page in TAUGHT]
    assert learn_tagger(phones) is None

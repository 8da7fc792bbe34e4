"""Rules taught by example on pages of one template."""

from __future__ import annotations

from wayhound.entities.extract import read_facts, settle
from wayhound.entities.templates import learn_template, merge_taught
from wayhound.record_kinds import KINDS


def page(name: str, chef: str, street: str, number: int) -> bytes:
    return (
        f"<body><ul><li>Home</li><li>{name}</li></ul><div class=top><h2 class=n>{name}</h2></div>"
        f"<p class=i>Chef: {chef} | more</p><div class=a>{street}<br>Town, TX 7500{number}</div><p>Directions</p>"
    ).encode()


PAGES = [page("Blue Door", "Ann Lee", "1 Main St", 1), page("Casa Luna", "Bo Diaz", "22 Oak Ave", 2)]
EXAMPLES = [
    (PAGES[0], "text/html", "", "chef", "Ann Lee"),
    (PAGES[1], "text/html", "", "chef", "Bo Diaz"),
    (PAGES[0], "text/html", "", "name", "Blue Door"),
    (PAGES[1], "text/html", "", "name", "Casa Luna"),
    (PAGES[0], "text/html", "", "address", "1 Main St, Town, TX 75001"),
    (PAGES[1], "text/html", "", "address", "22 Oak Ave, Town, TX 75002"),
]
NEW = page("Old Mill", "Cy Stone", "333 Elm Rd", 3)


def test_any_field_that_a_person_names_is_found_on_the_other_pages() -> None:
    facts = {fact.field: fact.text for fact in learn_template(EXAMPLES).apply(NEW, "text/html")}
    assert facts == {"chef": "Cy Stone", "name": "Old Mill", "address": "333 Elm Rd, Town, TX 75003"}


def test_one_example_is_enough_where_a_label_stands_before_the_value() -> None:
    template = learn_template(EXAMPLES[:1])
    assert [fact.text for fact in template.apply(NEW, "text/html")] == ["Cy Stone"]


def test_a_text_that_is_not_on_the_page_teaches_nothing() -> None:
    assert learn_template([(PAGES[0], "text/html", "", "chef", "Nobody")]).rules == ()


def test_a_page_of_another_template_has_no_taught_values() -> None:
    assert learn_template(EXAMPLES).apply(b"<p>Something else</p>", "text/html") == []
    assert learn_template(EXAMPLES).apply(b"", "text/html") == []


def test_a_rule_decides_which_value_counts_and_the_extractor_where_it_ends() -> None:
    read = read_facts("https://x.example/", NEW, "text/html")
    kind = KINDS["restaurant"]
    merged = merge_taught(settle(read, kind), learn_template(EXAMPLES).apply(NEW), kind, read.countries)
    address = next(fact for fact in merged if fact.field == "address")
    assert (address.text, address.source) == ("333 Elm Rd, Town, TX 75003", "taught")


def test_landmarks_lead_to_a_value_whose_neighbours_and_number_differ_from_page_to_page() -> None:
    def listing(facts: dict[str, str]) -> bytes:
        return "".join(f"<dt>{label}</dt><dd>{text}</dd>" for label, text in facts.items()).encode()

    first = listing({"Owner": "Ann Lee", "Phone": "217 555 0101", "Seats": "40"})
    second = listing({"Phone": "217 555 0102", "Owner": "Bo Diaz"})
    marks = [(first, "text/html", "", "seller", "Ann Lee"), (second, "text/html", "", "seller", "Bo Diaz")]
    template = learn_template(marks)
    assert template.rules[0].landmarks is not None
    new = listing({"Opened": "1970", "Seats": "12", "Owner": "Cy Stone", "Phone": "217 555 0103"})
    assert [fact.text for fact in template.apply(new, "text/html")] == ["Cy Stone"]
    without = listing({"Opened": "1970", "Seats": "12"})
    assert template.apply(without, "text/html") == []

"""The true records of a site are on its pages, and nobody in them is real."""

from __future__ import annotations

import re
from html import unescape

import pytest

from tests.samples.walk import Walked
from wayhound.samples import SampleSite, SampleWeb
from wayhound.samples.department import make_department
from wayhound.samples.sites import DEPARTMENT_STYLES

FICTION = re.compile(r"555-01\d\d|030 23125 0\d\d|01 99 00 17 \d\d")


def page_text(site: SampleSite, path: str) -> str:
    page = site.respond(path)
    charset = "iso-8859-1" if site.name in {"math", "informatik"} else "utf-8"
    return " ".join(unescape(page.body.decode(charset)).split())


def test_each_person_stands_on_a_page_with_all_their_data(site: SampleSite) -> None:
    for person in site.truth.people:
        text = page_text(site, person.path)
        values = (person.name, person.position, person.group, person.phone, person.room)
        assert all(value in text for value in values)
        assert all(part in text for part in person.email.split("@"))


def test_each_persons_page_has_a_record_and_its_rank(site: SampleSite) -> None:
    recorded = {person.path: person.rank for person in site.truth.people}
    assert site.ranks().items() <= recorded.items()


def test_each_publication_stands_on_a_page_with_all_its_data(site: SampleSite) -> None:
    for paper in site.truth.publications:
        text = page_text(site, paper.path)
        assert all(value in text for value in (paper.title, paper.abstract, paper.venue, str(paper.year)))
        assert all(author in text for author in paper.authors)
        assert (site.pages[paper.pdf].label == "paper") if paper.pdf else True


def test_every_publication_page_and_file_has_a_record(site: SampleSite) -> None:
    labels = site.labels()
    assert {p.path for p in site.truth.publications} == {
        x for x, label in labels.items() if label == "publication"
    }
    assert {p.pdf for p in site.truth.publications} - {""} == {
        x for x, label in labels.items() if label == "paper"
    }


def test_authors_are_people_of_the_site(site: SampleSite) -> None:
    people = {person.name for person in site.truth.people}
    assert {author for paper in site.truth.publications for author in paper.authors} <= people


@pytest.mark.parametrize("name", DEPARTMENT_STYLES)
def test_the_parts_of_a_department_agree(name: str) -> None:
    dept = make_department(name, seed=7)
    years = {paper.number: paper.year for paper in dept.publications}
    for paper in dept.publications:
        assert all(author.since <= paper.year for author in paper.authors)
        assert all(years[cited] <= paper.year and cited < paper.number for cited in paper.cites)
        assert len({author.group for author in paper.authors}) == 1
    assert {course.teacher.rank for course in dept.courses} == {"faculty"}
    assert len({person.login for person in dept.people}) == len(dept.people)


def test_each_contact_stands_on_a_contact_page(site: SampleSite) -> None:
    for contact in site.truth.contacts:
        text = page_text(site, contact.path)
        assert site.pages[contact.path].label == "contact"
        assert all(value in text for value in (contact.street, contact.town, contact.country, contact.phone))
        assert all(part in text for part in contact.email.split("@"))


def test_every_contact_page_has_a_record(site: SampleSite) -> None:
    pages = {path for path, label in site.labels().items() if label == "contact"}
    assert {contact.path for contact in site.truth.contacts} == pages


def test_telephone_numbers_and_addresses_are_kept_for_fiction(web: SampleWeb) -> None:
    for site in web.sites:
        assert site.host.endswith(".localhost")
        truth = site.truth
        phones = [p.phone for p in truth.people] + [c.phone for c in truth.contacts]
        emails = [p.email for p in truth.people] + [c.email for c in truth.contacts]
        assert all(FICTION.fullmatch(phone) for phone in phones if phone)
        assert all(email.endswith(f"@{site.name}.example") for email in emails if email)


def test_sentences_are_filled_in_and_whole(site: SampleSite, walked: Walked) -> None:
    for path in walked.pages:
        text = page_text(site, path) if path in site.pages else ""
        assert not re.search(r"\$[a-z]|[{][a-z0-9.]+[}]|>None<", re.sub(r"<style.*?</style>", "", text)), path
        assert not re.search(r"\ba [aeio]\w+ing\b", text), path


def test_rows_are_plain_values_with_their_kind(site: SampleSite) -> None:
    kinds = {row["kind"] for row in site.truth.rows()}
    assert kinds == {"person"} | ({"publication"} if site.truth.publications else set()) | (
        {"contact"} if site.truth.contacts else set()
    )

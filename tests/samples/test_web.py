"""The sample web is deterministic, reachable, labelled and varied."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations
from typing import get_args

import pytest

from tests.samples.conftest import walked_site
from tests.samples.walk import Walked
from wayhound.samples import SampleSite, SampleWeb, sample_web
from wayhound.samples.builder import Label
from wayhound.url import normalise

DIGEST = """
from hashlib import sha256
from wayhound.samples import sample_web
digest = sha256()
for site in sample_web({seed}).sites:
    for path, page in [*site.pages.items(), *site.assets.items()]:
        digest.update(repr((site.name, path, page)).encode())
    digest.update(repr([*site.truth.rows()]).encode())
print(digest.hexdigest())
"""
GOALS = {"people", "person", "publications", "publication", "paper", "contact", "team", "course", "project"}


def digest(seed: int, hash_seed: str) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-c", DIGEST.format(seed=seed)]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def test_two_processes_make_the_same_web_whatever_their_hash_seeds() -> None:
    assert digest(7, "0") == digest(7, "12345")


def test_another_seed_makes_another_web() -> None:
    assert digest(7, "0") != digest(8, "0")


@pytest.mark.parametrize("seed", range(5))
def test_every_seed_makes_a_whole_web(seed: int) -> None:
    assert all(len(site.pages) > 60 for site in sample_web(seed).sites)


def test_there_are_at_least_twelve_sites_of_two_kinds_in_four_languages(web: SampleWeb) -> None:
    assert len(web.sites) >= 12
    assert {site.kind for site in web.sites} == {"department", "company"}
    assert {site.language for site in web.sites} == {"en", "de", "fr", "es"}
    assert len({site.host for site in web.sites}) == len(web.sites)


def test_between_60_and_200_pages_can_be_reached(site: SampleSite, walked: Walked) -> None:
    paths = [path for path, page in walked.answers.items() if page.status == 200 and page.label != "trap"]
    distinct = {normalise(f"http://{site.host}{path}") for path in paths}
    assert 60 <= len(distinct - {f"http://{site.host}{path}" for path in site.assets}) <= 200


def test_every_goal_page_can_be_reached(site: SampleSite, walked: Walked) -> None:
    goals = {path for path, label in site.labels().items() if label in GOALS}
    assert goals <= {
        normalise(f"http://{site.host}{p}").removeprefix(f"http://{site.host}") for p in walked.answers
    }


def test_links_of_ordinary_pages_answer_unless_they_are_promised_to_be_broken(
    site: SampleSite, walked: Walked
) -> None:
    for target, sources in walked.links.items():
        answer = walked.answers[target]
        bare = target.partition("?PHPSESSID")[0]
        if bare in site.broken:
            assert answer.status == 404
        else:
            assert answer.status in {200, 301, 302}, f"{sources} link to {target}"
            assert answer.body or answer.status != 200


def test_broken_links_are_linked_to(site: SampleSite, walked: Walked) -> None:
    assert site.broken <= {target.partition("?PHPSESSID")[0] for target in walked.links}


def test_paths_are_in_normal_form_so_that_labels_match_what_a_crawl_sees(site: SampleSite) -> None:
    for path in site.pages:
        assert normalise(f"http://{site.host}{path}") == f"http://{site.host}{path}"


def test_labels_cover_all_pages(site: SampleSite) -> None:
    labels = site.labels()
    assert labels.keys() == site.pages.keys()
    assert set(labels.values()) <= set(get_args(Label))
    assert "home" in labels.values()
    assert set(site.ranks()) == {path for path, label in labels.items() if label == "person"}


def test_what_is_promised_to_be_missing_is_missing_and_only_there(site: SampleSite) -> None:
    labels = set(site.labels().values())
    if site.kind == "department":
        assert {"people", "person", "course", "project", "contact"} <= labels
        assert ({"publications", "publication", "paper"} <= labels) == (site.name != "history")
    else:
        assert {"team", "about", "product", "news"} <= labels
        assert ("contact" in labels) == (site.name != "orchard")


def test_the_company_without_a_contact_page_gives_no_address_anywhere(web: SampleWeb) -> None:
    orchard = next(site for site in web.sites if site.name == "orchard")
    text = b"".join(page.body for page in orchard.pages.values())
    assert b"555-01" not in text
    assert b".example" not in text
    assert not orchard.truth.contacts


def regions(name: str) -> set[str]:
    return {link.region for page in walked_site(name).pages.values() for link in page.links}


def test_no_two_sites_share_much_of_the_structure_around_their_links(web: SampleWeb) -> None:
    regions_by_site = {site.name: regions(site.name) for site in web.sites}
    for one, other in combinations(regions_by_site, 2):
        shared = len(regions_by_site[one] & regions_by_site[other]) / len(
            regions_by_site[one] | regions_by_site[other]
        )
        assert shared < 0.25, f"{one} and {other} share {shared:.0%} of their link regions"


def test_the_way_to_people_is_worded_in_many_ways(web: SampleWeb) -> None:
    wordings = set()
    for site in web.sites:
        lists = {path for path, label in site.labels().items() if label in {"people", "team"}}
        home = walked_site(site.name).pages
        for page in home.values():
            wordings |= {k.text for k in page.links if k.url.removeprefix(f"http://{site.host}") in lists}
    assert {
        "People",
        "Faculty",
        "Who we are",
        "Équipe",
        "Directory",
        "The people",
        "Nuestro equipo",
    } <= wordings


def test_pages_ask_nothing_of_other_hosts(site: SampleSite) -> None:
    for page in [*site.pages.values(), *site.assets.values()]:
        text = page.body.replace(b"http://www.w3.org/", b"")  # names of document types, never fetched
        assert b"http://" not in text
        assert b"https://" not in text
        assert b"<script" not in text.lower()


def test_old_character_sets_are_named_in_one_place_and_read_right(web: SampleWeb) -> None:
    math, informatik = (next(s for s in web.sites if s.name == name) for name in ("math", "informatik"))
    assert math.pages["/"].content_type == "text/html; charset=iso-8859-1"
    assert all(b"charset" not in page.body.lower() for page in math.pages.values() if page.label != "paper")
    assert informatik.pages["/"].content_type == "text/html"
    assert b"charset=iso-8859-1" in informatik.pages["/"].body
    for site in (math, informatik):
        pages = walked_site(site.name).pages
        names = [person.name.lower() for person in site.truth.people if not person.name.isascii()]
        assert names
        for person in site.truth.people:
            assert person.name in pages[person.path].title


def test_seeds_are_start_urls(web: SampleWeb) -> None:
    assert web.seeds(8765, "department")[0] == "http://physics.localhost:8765/"
    assert len(web.seeds(8765)) == len(web.sites)
    assert set(web.seeds(1, "company")).isdisjoint(web.seeds(1, "department"))

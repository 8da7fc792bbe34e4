"""The traps of the sample web are endless and labelled as traps."""

from __future__ import annotations

import pytest
from protego import Protego

from wayhound.page import Page
from wayhound.pages.reader import read_page
from wayhound.samples import SampleSite, SampleWeb

STARTS = [
    ("linguistique", "/agenda/2024/12"),
    ("coast", "/calendar/2024/12/"),
    ("cs", "/~roberts/photos/"),
    ("biology", "/directory?role=faculty"),
    ("history", "/index.php?title=Main_Page&action=history"),
    ("lanterns", "/shop?colour=brass"),
    ("orchard", "/tags/?t=tools"),
    ("teahouse", "/archive/"),
]


def site_named(web: SampleWeb, name: str) -> SampleSite:
    return next(site for site in web.sites if site.name == name)


def trap_links(site: SampleSite, path: str) -> list[str]:
    answer = site.respond(path)
    assert (answer.status, answer.label) == (200, "trap")
    page = read_page(f"http://{site.host}{path}", answer.body, answer.content_type)
    assert isinstance(page, Page)
    targets = [link.url.removeprefix(f"http://{site.host}") for link in page.links]
    return [target for target in targets if target not in site.pages and site.respond(target).label == "trap"]


@pytest.mark.parametrize(("name", "start"), STARTS)
def test_a_trap_always_has_another_page(web: SampleWeb, name: str, start: str) -> None:
    site = site_named(web, name)
    if name == "cs":
        start = next(p.path for p in site.truth.people if b"photos/" in site.pages[p.path].body) + "photos/"
    seen, waiting = set[str](), [start]
    while waiting and len(seen) < 150:
        path = waiting.pop()
        if path not in seen:
            seen.add(path)
            waiting.extend(trap_links(site, path))
    assert len(seen) == 150


@pytest.mark.parametrize(("name", "start"), STARTS)
def test_an_ordinary_page_leads_into_the_trap(web: SampleWeb, name: str, start: str) -> None:
    site = site_named(web, name)
    href = 'href="photos/"' if name == "cs" else f'href="{start.replace("&", "&amp;")}"'
    assert any(href.encode() in page.body for page in site.pages.values())


def test_the_login_redirects_in_a_circle(web: SampleWeb) -> None:
    physics, path, seen = site_named(web, "physics"), "/login", list[str]()
    while path not in seen:
        seen.append(path)
        path = dict(physics.respond(path).headers)["Location"]
    assert seen == ["/login", "/login/check"]


@pytest.mark.parametrize("name", ["biology", "velas"])
def test_soft_404s_answer_200_and_are_labelled_as_traps(web: SampleWeb, name: str) -> None:
    answer = site_named(web, name).respond("/nothing/here?at=all")
    assert (answer.status, answer.label) == (200, "trap")


def test_other_sites_answer_404_to_what_they_do_not_know(site: SampleSite) -> None:
    if site.name not in {"biology", "velas"}:
        assert site.respond("/nothing/here?at=all").status == 404


def test_session_ids_change_nothing_but_the_address(web: SampleWeb) -> None:
    mapworks = site_named(web, "mapworks")
    assert b"PHPSESSID=" in mapworks.pages["/"].body
    for path in mapworks.pages:
        joint = "&" if "?" in path else "?"
        assert mapworks.respond(f"{path}{joint}PHPSESSID=0123abcd") == mapworks.pages[path]


def test_two_addresses_of_a_page_hold_the_same_bytes(web: SampleWeb) -> None:
    for name, one, other in (("physics", "/", "/index.html"), ("history", "/", "/wiki/Main_Page")):
        site = site_named(web, name)
        assert site.pages[one].body == site.pages[other].body


def test_one_page_is_very_long(web: SampleWeb) -> None:
    assert len(site_named(web, "pumpen").pages["/service/teileliste.html"].body) > 200_000


@pytest.mark.parametrize(("name", "forbidden"), [("physics", "/internal/rota.html"), ("lanterns", "/cart/")])
def test_robots_txt_forbids_a_folder_that_is_linked_to(web: SampleWeb, name: str, forbidden: str) -> None:
    site = site_named(web, name)
    rules = Protego.parse(site.respond("/robots.txt").body.decode())
    assert not rules.can_fetch(f"http://{site.host}{forbidden}", "wayhound")
    assert rules.can_fetch(f"http://{site.host}/", "wayhound")
    assert forbidden in site.pages


@pytest.mark.parametrize(
    "path", ["", "nonsense", "/%00", "/?", "/shop?colour=" + "x" * 5000, "/agenda/0/0", "/é"]
)
def test_any_path_is_answered(site: SampleSite, path: str) -> None:
    assert site.respond(path).status in {200, 301, 302, 404}

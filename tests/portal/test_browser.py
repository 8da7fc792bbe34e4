"""The portal as a visitor uses it, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.portal.browsing import needs_browser, serious_barriers, visiting
from tests.portal.collection import paper_id
from tests.portal.served import Served
from tests.portal.test_pages import CONTACT, PAGES, PAPER

pytestmark = needs_browser

HOSTILE = f"/records/paper/{paper_id(9)}"
PHONE = {"width": 360, "height": 740}


def results(page: Page) -> list[str]:
    return page.locator(".hit-title a").all_inner_texts()


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without script"])
def test_search_facets_and_details(portal: Served, browser: Browser, script: bool) -> None:
    with visiting(browser, java_script_enabled=script) as visit:
        page = visit.page
        page.goto(portal.url)
        page.get_by_label("Search the collection").fill("learning")
        page.get_by_role("button", name="Search").click()
        expect(page.locator(".reading")).to_contain_text("6 results")
        page.get_by_role("link", name="2004", exact=True).click()
        expect(page.locator(".reading")).to_contain_text("1 result")
        page.get_by_role("link", name="remove this filter").click()
        page.get_by_role("link", name="citations", exact=True).click()
        assert results(page)[0] == "Learning paths through websites"
        page.get_by_role("link", name="Learning paths through websites").click()
        expect(page.locator("h1")).to_have_text("Learning paths through websites")
        page.get_by_role("link", name="Béla Varga").first.click()
        expect(page.locator(".reading")).to_contain_text("2 results")
        assert visit.complaints == []


def test_topics_are_browsed_down_and_up(portal: Served, browser: Browser) -> None:
    with visiting(browser, java_script_enabled=False) as visit:
        page = visit.page
        page.goto(portal.url)
        page.get_by_role("link", name="Machine Learning").click()
        page.get_by_role("link", name="Reinforcement").first.click()
        assert "Spiders that earn a reward" in results(page)
        page.get_by_role("navigation", name="Breadcrumbs").get_by_role(
            "link", name="Machine Learning"
        ).click()
        page.get_by_role("link", name="seminal").click()
        assert results(page)[0] == "Learning paths through websites"
        assert visit.complaints == []


def test_the_citation_map_is_walked(portal: Served, browser: Browser) -> None:
    with visiting(browser) as visit:
        page = visit.page
        page.goto(portal.url + PAPER)
        page.get_by_role("link", name="Citation map").click()
        page.locator("svg a", has_text="Spiders that earn").click()
        expect(page.locator("h1")).to_have_text("Spiders that earn a reward")
        page.go_back()
        page.get_by_role("link", name="two", exact=True).click()
        assert page.locator("tbody tr").count() == page.locator("svg rect.node").count() > 5
        assert visit.complaints == []


def test_the_sentences_and_page_images_open_on_demand(portal: Served, browser: Browser) -> None:
    with visiting(browser) as visit:
        page = visit.page
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(portal.url + PAPER)
        page.wait_for_load_state("networkidle")
        assert not [url for url in asked if ".png" in url]
        page.locator(".references summary").first.click()
        expect(page.locator(".references blockquote").first).to_be_visible()
        page.locator("dl.fields details.evidence summary").first.click()
        image = page.locator("dl.fields details.evidence img").first
        expect(image).to_be_visible()
        page.wait_for_function(
            "image => image.complete && image.naturalWidth > 400", arg=image.element_handle()
        )
        assert visit.complaints == []


def test_bibtex_is_copied(portal: Served, browser: Browser) -> None:
    with visiting(browser, permissions=["clipboard-read", "clipboard-write"]) as visit:
        page = visit.page
        page.goto(portal.url + PAPER)
        page.get_by_role("button", name="Copy BibTeX").click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()").startswith("@article{salmi2003survey-")
    with visiting(browser, java_script_enabled=False) as visit:
        visit.page.goto(portal.url + PAPER)
        expect(visit.page.get_by_role("button", name="Copy BibTeX")).to_be_hidden()
        expect(visit.page.locator("#bibtex")).to_contain_text("@article{salmi2003survey-")


def test_suggestions_come_while_one_types_and_are_chosen_by_keys(portal: Served, browser: Browser) -> None:
    with visiting(browser) as visit:
        page = visit.page
        page.goto(portal.url)
        box = page.get_by_role("combobox")
        box.press_sequentially("hidden mar")
        option = page.get_by_role("option", name="Hidden Markov models of footpaths")
        expect(option).to_be_visible()
        box.press("Escape")
        expect(option).to_be_hidden()
        box.press_sequentially("k")
        expect(option).to_be_visible()
        box.press("ArrowDown")
        expect(box).to_have_attribute("aria-activedescendant", "q-suggestions-0")
        box.press("Enter")
        expect(page.locator("h1")).to_have_text("Hidden Markov models of footpaths")
        assert visit.complaints == []


def test_suggestions_that_come_after_the_list_was_closed_stay_away(portal: Served, browser: Browser) -> None:
    held: list[Route] = []
    with visiting(browser) as visit:
        page = visit.page
        page.goto(portal.url)
        box = page.get_by_role("combobox")
        box.press_sequentially("hidden mar")
        option = page.get_by_role("option", name="Hidden Markov models of footpaths")
        expect(option).to_be_visible()
        page.route("**/suggest.json?q=hidden%20mark", lambda route: held.append(route))  # noqa: PLW0108
        with page.expect_request("**/suggest.json?q=hidden%20mark"):
            box.press_sequentially("k")
        box.press("Escape")
        expect(option).to_be_hidden()
        while not held:
            page.wait_for_timeout(20)
        with page.expect_response("**/suggest.json?q=hidden%20mark"):
            held[0].continue_()
        page.evaluate("fetch('/suggest.json?q=later').then((answer) => answer.json())")
        expect(option).to_be_hidden()


def test_a_paper_is_submitted_and_a_private_address_is_refused(portal: Served, browser: Browser) -> None:
    with visiting(browser, java_script_enabled=False) as visit:
        page = visit.page
        page.goto(f"{portal.url}/submit")
        page.get_by_label("Address").fill("http://192.168.0.1/paper.pdf")
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_role("alert")).to_contain_text("cannot be visited")
        expect(page.get_by_label("Address")).to_have_value("http://192.168.0.1/paper.pdf")
        page.get_by_label("Address").fill("https://example.org/browser.pdf")
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_role("status")).to_contain_text("waits for the operator")


def test_everything_is_reached_by_keyboard(portal: Served, browser: Browser) -> None:
    with visiting(browser) as visit:
        page = visit.page
        page.goto(f"{portal.url}/search?q=learning")
        page.keyboard.press("Tab")
        expect(page.locator("a.skip")).to_be_focused()
        expect(page.locator("a.skip")).to_be_in_viewport()
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()
        for _ in range(30):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.closest('.hit-title') !== null"):
                break
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"
        page.keyboard.press("Enter")
        expect(page.locator("article.record h1")).to_be_visible()
        assert visit.complaints == []


def test_dark_and_light_follow_the_visitor(portal: Served, browser: Browser) -> None:
    shades = {}
    for scheme in ("light", "dark"):
        with visiting(browser, color_scheme=scheme) as visit:
            visit.page.goto(portal.url + PAPER)
            shades[scheme] = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert shades == {"light": "rgb(255, 255, 255)", "dark": "rgb(18, 23, 30)"}


@pytest.mark.parametrize("name", PAGES)
def test_every_page_fits_a_phone_and_breaks_no_rule_of_its_policy(
    portal: Served, browser: Browser, name: str
) -> None:
    with visiting(browser, viewport=PHONE) as visit:
        visit.page.goto(portal.url + PAGES[name])
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        assert visit.complaints == []


def test_hostile_records_run_nothing(portal: Served, browser: Browser) -> None:
    with visiting(browser) as visit:
        page = visit.page
        for path in (
            HOSTILE,
            f"{HOSTILE}/map",
            "/search?q=mallory",
            f"{HOSTILE}/correct",
            CONTACT,
            f"{CONTACT}/archived",
        ):
            page.goto(portal.url + path)
            page.wait_for_load_state("networkidle")
        assert "document.title" in page.inner_text("body")  # the archived page, as text
        assert page.title() != "owned"
        assert visit.complaints == []


def test_an_archived_paper_is_downloaded(portal: Served, browser: Browser, tmp_path: Path) -> None:
    with visiting(browser) as visit:
        visit.page.goto(portal.url + PAPER)
        with visit.page.expect_download() as waiting:
            visit.page.get_by_role("link", name="Archived copy (PDF)").click()
        waiting.value.save_as(tmp_path / "paper.pdf")
        assert (tmp_path / "paper.pdf").read_bytes().startswith(b"%PDF-")


def test_a_printed_page_leaves_out_what_cannot_be_clicked(portal: Served, browser: Browser) -> None:
    with visiting(browser) as visit:
        visit.page.goto(portal.url + PAPER)
        visit.page.emulate_media(media="print")
        expect(visit.page.locator("header.top")).to_be_hidden()
        expect(visit.page.locator(".actions")).to_be_hidden()
        expect(visit.page.locator("h1")).to_be_visible()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 390)])
def test_no_page_has_a_serious_barrier(portal: Served, browser: Browser, scheme: str, width: int) -> None:
    with visiting(browser, color_scheme=scheme, viewport={"width": width, "height": 800}) as visit:
        page = visit.page
        for name, path in {**PAGES, "error": "/nothing-here"}.items():
            page.goto(portal.url + path)
            page.evaluate("() => document.querySelectorAll('details').forEach(each => { each.open = true; })")
            assert serious_barriers(page) == [], name

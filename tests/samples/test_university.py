"""Made universities: all four needs are there, addresses say nothing, and pages of departments look alike."""

from __future__ import annotations

import re

import httpx
import pytest

from wayhound.app.evaluate.lessons import make_trails
from wayhound.app.trails import sample_worlds
from wayhound.samples import sample_web, serve_samples
from wayhound.samples.university import ALIKE, GOALS, UniversitySite


def text_of(site: UniversitySite, path: str) -> str:
    return site.pages[path].body.decode()


@pytest.mark.parametrize("seed", range(1, 4))
def test_every_goal_is_there_and_every_link_leads_somewhere(seed: int) -> None:
    site = UniversitySite(seed)
    assert set(GOALS) <= set(site.labels().values())
    assert site.labels().keys() == site.pages.keys()
    targets = {path for page in site.pages for path in re.findall(r'href="([^"]+)"', text_of(site, page))}
    assert targets <= set(site.pages)
    assert all(re.fullmatch(r"/|/\d+\.html", path) for path in site.pages)


def test_the_same_seed_makes_the_same_university() -> None:
    assert UniversitySite(1).pages == UniversitySite(1).pages
    assert UniversitySite(1).pages != UniversitySite(2).pages


def test_publications_of_one_department_look_like_those_of_another() -> None:
    site = UniversitySite(1)
    lists = {
        label: {
            word
            for path, own in site.labels().items()
            if own == label
            for word in re.findall(r"[a-z]+", re.sub(r"<[^>]+>", " ", text_of(site, path)).lower())
        }
        for label in ("cs-publications", "publications")
    }
    assert not {"computer", "computing", "science"} & lists["cs-publications"]
    assert len(lists["cs-publications"] - lists["publications"]) < 5


def test_universities_are_served_beside_the_other_sites() -> None:
    with serve_samples(sample_web()) as server:
        base = f"http://127.0.0.1:{server.port}/"
        site = server.web.universities[0]
        assert httpx.get(base, headers={"Host": site.host}).text == text_of(site, "/")
        assert httpx.get(f"{base}none", headers={"Host": site.host}).status_code == 404
        assert site.title in httpx.get(base).text


def test_trails_can_be_made_on_a_university() -> None:
    [world] = sample_worlds(["university1"])
    assert len(world.reachable_goals("cs-publications")) == 8
    assert {world.depths[url] for url in world.reachable_goals("cs-publications")} == {5}


def test_a_teacher_can_reject_the_pages_that_look_like_goals() -> None:
    [world] = sample_worlds(["university1"])
    for goal, alike in ALIKE.items():
        trails = make_trails(world, goal, 6, alike=alike)
        failing = [trail.steps[-1].page.url for trail in trails if not trail.reached_goal]
        assert sum(world.labels[url] == alike for url in failing) >= len(failing) // 2 > 0
        assert len(set(failing)) == len(failing) == len(trails) // 2


def test_only_the_way_to_the_publications_of_computing_has_milestones() -> None:
    [world] = sample_worlds(["university1"])
    trails = make_trails(world, "cs-publications", 6, alike="publications")
    ways = {tuple(step.label for step in trail.steps[2:-1]) for trail in trails if len(trail.steps) == 6}
    assert ways == {("cs-department", "cs-people", "cs-person"), ("department", "", "")}

"""Made universities: all four needs are there, addresses say nothing, and pages of departments look alike."""

from __future__ import annotations

import re

import pytest

from wayhound.samples.university import GOALS, University


@pytest.mark.parametrize("seed", range(3))
def test_every_goal_is_there_and_every_link_leads_somewhere(seed: int) -> None:
    made = University(seed)
    assert set(GOALS) <= set(made.labels.values())
    targets = {path for text in made.pages.values() for path in re.findall(r'href="([^"]+)"', text)}
    assert targets <= set(made.pages)
    assert all(re.fullmatch(r"/|/\d+\.html", path) for path in made.pages)


def test_the_same_seed_makes_the_same_university() -> None:
    assert University(1).pages == University(1).pages
    assert University(1).pages != University(2).pages


def test_publications_of_one_department_look_like_those_of_another() -> None:
    made = University(0)
    lists = {
        label: {
            word for path, own in made.labels.items() if own == label for word in words_of(made.pages[path])
        }
        for label in ("cs-publications", "publications")
    }
    assert not {"computer", "computing", "science"} & lists["cs-publications"]
    assert len(lists["cs-publications"] - lists["publications"]) < 5


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", re.sub(r"<[^>]+>", " ", text).lower()))

"""Taught on two English sample sites, goals are recognised on German, French and Spanish ones.

Means over pairs that are drawn at random are in docs/results.md. The pairs here guard against regressions.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from statistics import mean

import pytest

from wayhound.app.evaluate.evaluation import Evaluation
from wayhound.app.evaluate.lessons import LessonSize
from wayhound.app.evaluate.world import World
from wayhound.page import Page
from wayhound.pages.reader import read_page
from wayhound.samples.web import sample_web
from wayhound.site import Site


@cache
def world(name: str) -> World:
    """The finite pages of a sample site; its traps do not exist here."""
    site = next(site for site in sample_web().sites if site.name == name)
    base = f"http://{site.host}"
    pages = {}
    for path, answer in site.pages.items():
        page = read_page(base + path, answer.body, answer.content_type)
        if isinstance(page, Page):
            pages[base + path] = replace(page, digest=base + path)
    pages = {
        url: replace(page, links=tuple(link for link in page.links if link.url in pages))
        for url, page in pages.items()
    }
    labels = {base + path: label for path, label in site.labels().items()}
    start = next(url for url in (f"{base}/", f"{base}/index.html") if url in pages)
    return World(name, Site(start), pages, labels)


@pytest.mark.parametrize(
    ("goal", "taught", "tested"),
    [
        ("contact", ("physics", "lanterns"), ("informatik", "pumpen", "linguistique", "velas")),
        ("person", ("physics", "biology"), ("informatik", "linguistique")),
    ],
)
def test_goals_taught_in_english_are_recognised_in_other_languages(
    goal: str, taught: tuple[str, ...], tested: tuple[str, ...]
) -> None:
    evaluation = Evaluation(
        [world(name) for name in tested],
        [world(name) for name in taught],
        [goal],
        ["adaptive"],
        lesson=LessonSize(2, 3),
    )
    outcomes = list(evaluation.run())
    assert mean(run.recognition.f1 for run in outcomes if run.recognition) >= 0.8


def test_one_contact_page_here_and_many_offices_there_do_not_make_people_contacts() -> None:
    tested = [world(name) for name in ("informatik", "linguistique")]
    taught = [world(name) for name in ("history", "mapworks")]
    evaluation = Evaluation(tested, taught, ["contact"], ["adaptive"], lesson=LessonSize(2, 3))
    outcomes = [run.recognition for run in evaluation.run() if run.recognition]
    assert [found.reported for found in outcomes] == [1, 1]
    assert all(found.f1 > 0.6 for found in outcomes)

"""A taught site is held back and foraged again over what is known of it."""

from __future__ import annotations

import json

from tests.app.review.conftest import Taught
from tests.app.review.taught import TAUGHT, start_of
from wayhound.app.train.held_out import HELD_OUT_FILE, load_held_out, measure_held_out
from wayhound.app.train.material import known_world
from wayhound.trail import GOAL


def test_each_taught_site_is_measured_by_a_model_that_did_not_see_it(taught: Taught) -> None:
    workspace = taught.workspace
    assert load_held_out(workspace, "paths") == []
    measure_held_out(workspace, "paths", lambda *_: None)
    measured = load_held_out(workspace, "paths")
    assert [each.site for each in measured] == [start_of(taught.web, name) for name in TAUGHT]
    for each in measured:
        assert each.goals == 5
        assert each.wanted == 5
        taught_pages = {
            step.page.url for kept in workspace.stores.trails.iterate(each.site) for step in kept.trail.steps
        }
        assert each.known_pages > len(taught_pages)  # what the first forage visited counts as well
        assert each.pages is not None
        assert each.breadth_first is not None
        assert each.goals < each.pages <= each.known_pages
        assert each.goals < each.breadth_first <= each.known_pages


def test_numbers_of_a_model_that_was_trained_anew_are_not_shown(taught: Taught) -> None:
    workspace = taught.workspace
    measure_held_out(workspace, "paths", lambda *_: None)
    path = workspace.models_folder / "paths" / HELD_OUT_FILE
    told = json.loads(path.read_text())
    path.write_text(json.dumps(told | {"digest": "of another model"}))
    assert load_held_out(workspace, "paths") == []
    path.write_text("{")
    assert load_held_out(workspace, "paths") == []


def test_the_known_world_is_closed_and_its_goals_are_those_that_were_marked(taught: Taught) -> None:
    start = start_of(taught.web, TAUGHT[0])
    trails = [kept.trail for kept in taught.workspace.stores.trails.iterate(start)]
    world = known_world(taught.workspace, trails, start)
    assert all(target in world.pages for url in world.pages for target in world.targets(url))
    marked = {trail.steps[-1].page.url for trail in trails if trail.reached_goal}
    assert set(world.goals(GOAL)) == marked


def test_pages_beside_marked_goals_that_nobody_judged_are_left_out(taught: Taught) -> None:
    start = start_of(taught.web, TAUGHT[0])
    trails = [kept.trail for kept in taught.workspace.stores.trails.iterate(start)]
    goal = next(trail for trail in trails if trail.reached_goal)
    assert goal.steps[-1].link is not None
    region = goal.steps[-1].link.region
    beside = {link.url for link in goal.steps[-2].page.links if link.region == region}
    judged = {step.page.url for trail in trails for step in trail.steps}
    assert beside - judged
    assert not (beside - judged) & known_world(taught.workspace, trails, start).pages.keys()

"""Trails can be looked at, relabelled, deleted and undone without JavaScript; training shows its progress."""

from __future__ import annotations

from dataclasses import replace

from tests.studio.conftest import Visitor
from wayhound.page import Link, Page
from wayhound.trail import Step
from wayhound.workspace import Workspace


def test_trails_are_listed_by_site_with_what_they_lack(visitor: Visitor) -> None:
    page = visitor.get("/trails")
    assert "one.example" in page
    assert "two.example" in page
    assert "Only 2 trails reach a goal" in page


def test_a_trail_shows_every_step_with_its_link_and_label(visitor: Visitor) -> None:
    page = visitor.get("/trails/1")
    assert page.index("Home") < page.index("Our people") < page.index("Ann Example")
    assert "“People”" in page
    assert 'value="list"' in page


def test_a_trail_may_end_at_a_document(visitor: Visitor, workspace: Workspace) -> None:
    trail = workspace.stores.trails.get(1).trail
    report = Page(f"{trail.site}report.pdf", content_type="application/pdf")
    end = Step(report, Link(report.url, "Annual report"), "Goal")
    number = workspace.stores.trails.add(replace(trail, steps=(*trail.steps[:-1], end)), 0.0)
    page = visitor.get(f"/trails/{number}")
    assert "“Annual report”" in page
    assert "A document (application/pdf)" in page
    assert "report.pdf" in visitor.get("/trails")


def test_relabelling_and_deleting_can_be_undone(visitor: Visitor, workspace: Workspace) -> None:
    assert "Step 1 is labelled &#39;people&#39; now" in visitor.send(
        "/trails/1", "/trails/1/steps/1", label="people"
    )
    assert workspace.stores.trails.get(1).trail.steps[1].label == "people"
    visitor.send("/trails", "/trails/1/delete")
    assert len(workspace.stores.trails) == 3
    assert "Undone: the deletion of trail 1" in visitor.send("/trails", "/trails/undo")
    assert "from &#39;list&#39; to &#39;people&#39;" in visitor.send("/trails", "/trails/undo")
    assert workspace.stores.trails.get(1).trail.steps[1].label == "list"
    assert "nothing to undo" in visitor.send("/trails/1", "/trails/undo")


def test_what_cannot_be_done_is_told_in_a_sentence(visitor: Visitor) -> None:
    assert "is not in this workspace" in visitor.get("/trails/99", status=404)
    assert "has no step 9" in visitor.send("/trails/1", "/trails/1/steps/9", status=404, label="x")
    visitor.get("/trails/none", status=400)
    visitor.get("/nowhere", status=404)
    visitor.get("/jobs/7.json", status=404)
    assert "use letters, digits, - and _" in visitor.send(
        "/train", "/train", status=400, name="../x", strategy="path-learner", settings="default"
    )


def test_training_runs_in_the_background_and_its_report_is_in_words(visitor: Visitor) -> None:
    page = visitor.send("/train", "/train", name="paths", strategy="path-learner", settings="default")
    assert "data-job=" in page
    page = visitor.wait_for_job("/train")
    assert "Learned from 4 trails on 2 sites." in page
    assert "On one.example, held out: 1 of 1 goal within" in page
    assert "breadth-first needed" in page


def test_a_job_that_fails_says_why(visitor: Visitor, workspace: Workspace) -> None:
    for trail in workspace.stores.trails.summaries():
        workspace.stores.trails.delete(trail.id, 0.0)
    assert "no trails to learn from yet" in visitor.get("/train")
    visitor.send("/teach", "/train", name="paths", strategy="path-learner", settings="default")
    assert "There are no trails yet" in visitor.wait_for_job("/train")
    assert "Failed, " in visitor.get("/train")

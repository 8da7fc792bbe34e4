"""After answers: teach the model again, ask anew, and tell which sites' results would change."""

from __future__ import annotations

from collections.abc import Iterator

from trailmark.errors import UsageError
from trailmark.forage.scorer import Scorer
from trailmark.review.archived import walked_sites
from trailmark.review.committee import MEMBERS, candidates_of, scorer_of, teach_committee
from trailmark.review.walked import Walked
from trailmark.store.review import KeptCandidate, ReviewStore, SiteChange
from trailmark.teach.training import Settings
from trailmark.training import OnProgress, load_forage_model, report_of, train
from trailmark.workspace import Workspace

GOAL_AT = 0.5  # as a forage counts goals


def retrain(workspace: Workspace, run_id: int, *, at: float, on_progress: OnProgress) -> None:
    """Teach the model that was trained last again, with the settings it has, then prepare the next questions."""
    card = workspace.forage_models.last()
    settings = Settings.from_json(report_of(workspace, card.name).settings)
    train(workspace, card.name, card.strategy, settings=settings, at=at, on_progress=on_progress)
    prepare(workspace, run_id, on_progress=on_progress)


def prepare(workspace: Workspace, run_id: int, *, on_progress: OnProgress) -> None:
    """Read the visited pages of a run by the model of now and its committee: what to ask, what has changed."""
    card = workspace.forage_models.last()
    model = load_forage_model(workspace, card.name)
    trails = workspace.trails.trails()
    committee = teach_committee(
        model,
        trails,
        card.strategy,
        Settings.from_json(report_of(workspace, card.name).settings),
        lambda ready: on_progress("teaching a committee", ready, MEMBERS),
    )
    candidates: list[KeptCandidate] = []
    changes: list[SiteChange] = []
    total = workspace.forage_store.progress(run_id).sites
    for number, walked in enumerate(walked_sites(workspace, run_id)):
        on_progress("reading visited pages again", number, total)
        candidates += candidates_of(walked, committee)
        changes += change_of(run_id, walked, scorer_of(card.strategy, model))
    _keep(workspace, run_id, candidates, changes)


def _keep(
    workspace: Workspace, run_id: int, candidates: list[KeptCandidate], changes: list[SiteChange]
) -> None:
    if not candidates:
        raise UsageError("This run has no pages to ask about: its sites were not reached.")
    store = ReviewStore(workspace.database)
    store.replace_candidates(run_id, candidates)
    store.replace_changes(run_id, changes)


def change_of(run_id: int, walked: Walked, scorer: Scorer) -> Iterator[SiteChange]:
    """What the goals of a site would be now, against those that were found; nothing if they are the same."""
    readings = walked.readings_as_foraged(scorer)
    now = {number for number, reading in readings.items() if reading.goal >= GOAL_AT}
    then = {number for number in walked.pages if walked.visits[number].is_goal}
    if now != then:
        lost, gained = (
            tuple(walked.pages[number].url for number in sorted(numbers))
            for numbers in (then - now, now - then)
        )
        yield SiteChange(run_id, walked.site.start, lost, gained)

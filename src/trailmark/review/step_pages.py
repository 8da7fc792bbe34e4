"""Where the archive holds the pages of a trail: as the teacher saw them, or as a forage fetched them."""

from __future__ import annotations

from trailmark.errors import ArchiveError
from trailmark.fetched import Fetched
from trailmark.net.archive_reader import ArchiveReader
from trailmark.recording.saver import SEEN_PREFIX
from trailmark.store.review import ReviewStore
from trailmark.store.teaching import TeachingStore
from trailmark.visit import ArchiveRef
from trailmark.workspace import Workspace


def step_places(workspace: Workspace, trail_id: int) -> dict[str, ArchiveRef]:
    """By the URL of a page of the trail, where it is archived; trails from files have no such pages."""
    return _seen(workspace, trail_id) or _visited(workspace, trail_id)


def _seen(workspace: Workspace, trail_id: int) -> dict[str, ArchiveRef]:
    store = TeachingStore(workspace.database)
    for session in store.sessions():
        if trail_id in store.trails(session.id).values():
            pages = store.pages(session.id)
            return {page.url: place for page in pages if (place := page.seen or page.original)}
    return {}


def _visited(workspace: Workspace, trail_id: int) -> dict[str, ArchiveRef]:
    answer = ReviewStore(workspace.database).answer_of(trail_id)
    if answer is None:
        return {}
    visits = workspace.forage_store.visits_of(answer.run_id, answer.site)
    return {visit.url: visit.archived for visit in visits if visit.archived and visit.outcome == "ok"}


def step_page(workspace: Workspace, trail_id: int, step: int) -> Fetched | None:
    """What is archived of a step's page, under the address that it had."""
    steps = workspace.trails.get(trail_id).trail.steps
    place = step_places(workspace, trail_id).get(steps[step].page.url) if 0 <= step < len(steps) else None
    if place is None:
        return None
    try:
        answer = ArchiveReader(workspace.archive_folder).read(place)
    except ArchiveError:
        return None
    url = answer.url.removeprefix(SEEN_PREFIX)
    return Fetched(url, answer.status, body=answer.body, charset=answer.charset)

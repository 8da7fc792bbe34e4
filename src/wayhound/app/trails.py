"""Trails without a teacher: made from the labels of recorded sites, or of the sample web."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from wayhound.app.evaluate.strategies import make_trails
from wayhound.app.evaluate.world import World
from wayhound.app.teach.saver import OLD_SEEN_PREFIX, SEEN_PREFIX
from wayhound.archive.site_folder import write_site_folder
from wayhound.errors import ArchiveError, UsageError
from wayhound.fetched import Fetched
from wayhound.samples import sample_web
from wayhound.samples.builder import SamplePage
from wayhound.samples.web import SampleSite
from wayhound.trail import Trail
from wayhound.visit import ArchiveRef
from wayhound.workspace import Workspace


def step_places(workspace: Workspace, trail_id: int) -> dict[str, ArchiveRef]:
    """By the URL of a page of the trail, where it is archived; trails from files have no such pages."""
    return _seen(workspace, trail_id) or _visited(workspace, trail_id)


def _seen(workspace: Workspace, trail_id: int) -> dict[str, ArchiveRef]:
    store = workspace.stores.teaching
    for session in store.sessions():
        if trail_id in store.trails(session.id).values():
            pages = store.pages(session.id)
            return {page.url: place for page in pages if (place := page.seen or page.original)}
    return {}


def _visited(workspace: Workspace, trail_id: int) -> dict[str, ArchiveRef]:
    answer = workspace.stores.review.answer_of(trail_id)
    if answer is None:
        return {}
    visits = workspace.stores.forage.visits_of(answer.run_id, answer.site)
    return {visit.url: visit.archived for visit in visits if visit.archived and visit.outcome == "ok"}


def step_page(workspace: Workspace, trail_id: int, step: int) -> Fetched | None:
    """What is archived of a step's page, under the address that it had."""
    steps = workspace.stores.trails.get(trail_id).trail.steps
    place = step_places(workspace, trail_id).get(steps[step].page.url) if 0 <= step < len(steps) else None
    if place is None:
        return None
    try:
        answer = workspace.archive.read(place)
    except ArchiveError:
        return None
    url = answer.url.removeprefix(SEEN_PREFIX).removeprefix(OLD_SEEN_PREFIX)
    return Fetched(url, answer.status, body=answer.body, charset=answer.charset)


def trails_from(
    worlds: Sequence[World], goal: str, most: int, on_skip: Callable[[str], None] = lambda _: None
) -> list[Trail]:
    """Return at most `most` trails to goals of each site, and as many that end elsewhere.

    `on_skip` is called with the name of each site that has no goal. Raises UsageError if none has one.
    """
    made: list[Trail] = []
    for world in worlds:
        if world.reachable_goals(goal):
            made += [replace(trail, taught_by="labels") for trail in make_trails(world, goal, most)]
        else:
            on_skip(world.name)
    if not made:
        known = sorted({label for world in worlds for label in world.labels.values()})
        raise UsageError(f"No site has a page labelled {goal!r}. Labels are: {', '.join(known) or 'none'}.")
    return made


def sample_worlds(names: Sequence[str]) -> list[World]:
    """Sites of the sample web as closed worlds, by name."""
    sites = {site.name: site for site in sample_web().sites}
    for name in names:
        if name not in sites:
            raise UsageError(f"The sample web has no site {name!r}; choose of {', '.join(sites)}.")
    with TemporaryDirectory() as folder:
        return [_world(sites[name], Path(folder) / name) for name in dict.fromkeys(names)]


def _world(site: SampleSite, folder: Path) -> World:
    base = f"http://{site.host}"
    responses = [(_answer(base + path, site.respond(path)), 0.0) for path in site.pages]
    labels = {base + path: label for path, label in site.labels().items()}
    provenance = {"source": "the sample web", "labels_by": "the sample web"}
    write_site_folder(folder, base + site.start, responses, labels, provenance)
    return World.load(folder)


def _answer(url: str, page: SamplePage) -> Fetched:
    return Fetched(url, page.status, page.headers, page.body)

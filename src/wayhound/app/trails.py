"""Trails: imported and exported, checked, deleted, made from labels, and the pages of their steps.

Making trails loads numpy and scipy, so what needs them is imported where it is used.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from wayhound.archive.site_folder import write_site_folder
from wayhound.errors import ArchiveError, UsageError
from wayhound.fetched import Fetched
from wayhound.files import atomic_file
from wayhound.paths.trail_check import Remark, check_trails
from wayhound.paths.trail_file import read_trails, write_trails
from wayhound.store.trails import AddedTrails
from wayhound.trail import Trail
from wayhound.visit import ArchiveRef
from wayhound.workspace import Workspace

if TYPE_CHECKING:
    from wayhound.app.evaluate.world import World
    from wayhound.samples.builder import SamplePage
    from wayhound.samples.university import UniversitySite
    from wayhound.samples.web import SampleSite

OnSkip = Callable[[str], None]
"""Called with the name of a site that has no goal to make trails to."""


def import_trails(workspace: Workspace, paths: Sequence[Path]) -> AddedTrails:
    """Add the trails of trail files: all of them, or none if a line cannot be read."""
    source = ", ".join(path.name for path in paths)
    return workspace.stores.trails.add_all(_read(paths), time.time(), source)


def _read(paths: Sequence[Path]) -> Iterator[Trail]:
    for path in paths:
        yield from read_trails(path)


def export_trails(workspace: Workspace, path: Path | None = None, site: str | None = None) -> int:
    """Write the trails, or those of one site, as a trail file, by default to stdout; return how many."""
    trails = (kept.trail for kept in workspace.stores.trails.iterate(site))
    if path is None:
        return write_trails(trails, sys.stdout.buffer)
    with atomic_file(path) as stream:
        return write_trails(trails, stream)


def check(workspace: Workspace) -> list[Remark]:
    """Return what the trails of the workspace lack, the gravest first."""
    return check_trails(workspace.stores.trails.trails())


def delete_trails(workspace: Workspace, trail_ids: Sequence[int]) -> None:
    """Delete trails: all of them, or none if one does not exist (UsageError)."""
    store = workspace.stores.trails
    for trail_id in trail_ids:
        store.get(trail_id)
    for trail_id in trail_ids:
        store.delete(trail_id, time.time())


def add_from_labels(
    workspace: Workspace, folders: Sequence[Path], goal: str, most: int, on_skip: OnSkip = lambda _: None
) -> AddedTrails:
    """Add trails made from the labels of recorded sites. Raises UsageError if none has a page with that label."""
    from wayhound.app.evaluate.world import load_worlds  # noqa: PLC0415

    return _add(workspace, make_trails(load_worlds(folders), goal, most, on_skip), "labels")


def add_from_samples(
    workspace: Workspace, names: Sequence[str], goal: str, most: int, on_skip: OnSkip = lambda _: None
) -> AddedTrails:
    """Add trails made on sites of the sample web, by their names."""
    return _add(workspace, make_trails(sample_worlds(names), goal, most, on_skip), "samples")


def _add(workspace: Workspace, trails: Sequence[Trail], source: str) -> AddedTrails:
    return workspace.stores.trails.add_all(trails, time.time(), source)


def make_trails(
    worlds: Sequence[World], goal: str, most: int, on_skip: OnSkip = lambda _: None
) -> list[Trail]:
    """Return at most `most` trails to goals of each site, and as many that end elsewhere.

    The clicks of a teacher are made up: shortest paths to pages with the label `goal`. Raises UsageError if no
    site has such a page.
    """
    from wayhound.app.evaluate.lessons import make_trails  # noqa: PLC0415

    made: list[Trail] = []
    for world in worlds:
        if world.reachable_goals(goal):
            made += [replace(trail, taught_by="labels") for trail in make_trails(world, goal, most)]
        else:
            on_skip(world.name)
    if not made:
        labels = sorted({label for world in worlds for label in world.labels.values()})
        raise UsageError(f"No site has a page labelled {goal!r}. Labels are: {', '.join(labels) or 'none'}.")
    return made


def sample_worlds(names: Sequence[str]) -> list[World]:
    """Return sites of the sample web as closed worlds. Raises UsageError for a name that it does not have."""
    from wayhound.samples import sample_web  # noqa: PLC0415 - only these trails need it

    web = sample_web()
    known: tuple[SampleSite | UniversitySite, ...] = (*web.sites, *web.universities)
    sites = {site.name: site for site in known}
    for name in names:
        if name not in sites:
            raise UsageError(f"The sample web has no site {name!r}. Its sites are: {', '.join(sites)}.")
    with TemporaryDirectory() as folder:
        return [_world(sites[name], Path(folder) / name) for name in dict.fromkeys(names)]


def _world(site: SampleSite | UniversitySite, folder: Path) -> World:
    base = f"http://{site.host}"
    responses = [(_answer(base + path, site.respond(path)), 0.0) for path in site.pages]
    labels = {base + path: label for path, label in site.labels().items()}
    provenance = {"source": "the sample web", "labels_by": "the sample web"}
    write_site_folder(folder, base + site.start, responses, labels, provenance)
    from wayhound.app.evaluate.world import World  # noqa: PLC0415

    return World.load(folder)


def _answer(url: str, page: SamplePage) -> Fetched:
    return Fetched(url, page.status, page.headers, page.body)


def step_places(workspace: Workspace, trail_id: int) -> dict[str, ArchiveRef]:
    """Return, by URL, where the pages of a trail are archived; empty for trails that came from a file."""
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
    """Return the archived page of a step under its own address; None if there is none."""
    steps = workspace.stores.trails.get(trail_id).trail.steps
    place = step_places(workspace, trail_id).get(steps[step].page.url) if 0 <= step < len(steps) else None
    if place is None:
        return None
    try:
        answer = workspace.archive.read(place)
    except ArchiveError:
        return None
    from wayhound.app.teach.seen_pages import OLD_SEEN_PREFIX, SEEN_PREFIX  # noqa: PLC0415

    url = answer.url.removeprefix(SEEN_PREFIX).removeprefix(OLD_SEEN_PREFIX)
    return Fetched(url, answer.status, body=answer.body, charset=answer.charset)

"""Trails without a teacher: made from the labels of recorded sites, or of the sample web."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from trailmark.cli.console import err
from trailmark.errors import UsageError
from trailmark.evaluate.teaching import make_trails
from trailmark.evaluate.world import World
from trailmark.fetched import Fetched
from trailmark.net.site_folder import write_site_folder
from trailmark.samples import sample_web
from trailmark.samples.builder import SamplePage
from trailmark.samples.web import SampleSite
from trailmark.trail import Trail


def trails_from(worlds: Sequence[World], goal: str, most: int) -> list[Trail]:
    """At most so many trails to goals of each site, and as many that end elsewhere."""
    made: list[Trail] = []
    for world in worlds:
        if world.reachable_goals(goal):
            made += [replace(trail, taught_by="labels") for trail in make_trails(world, goal, most)]
        else:
            err.print(f"{world.name} has no page labelled {goal!r} that clicks lead to.", markup=False)
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

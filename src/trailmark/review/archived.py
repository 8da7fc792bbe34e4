"""A site of a run as it was walked, read again from the archive: nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator

from trailmark.crawl import read
from trailmark.errors import ArchiveError
from trailmark.net.archive_reader import ArchiveReader
from trailmark.page import Page, as_page
from trailmark.review.walked import Walked
from trailmark.site import Site
from trailmark.visit import Visit
from trailmark.workspace import Workspace


def walked_site(workspace: Workspace, run_id: int, start: str) -> Walked:
    """The visits of a site and their pages. Pages that the archive lost are left out."""
    reader = ArchiveReader(workspace.archive_folder)
    visits = list(workspace.forage_store.visits_of(run_id, start))
    product = workspace.config.agent.name
    found = ((visit.number, page_of(reader, visit, product)) for visit in visits if visit.outcome == "ok")
    return Walked(Site(start), visits, {number: page for number, page in found if page is not None})


def walked_sites(workspace: Workspace, run_id: int) -> Iterator[Walked]:
    """Every site of a run that has a page to show for it."""
    for summary in list(workspace.forage_store.sites(run_id)):
        if summary.visits and (walked := walked_site(workspace, run_id, summary.start)).pages:
            yield walked


def page_of(reader: ArchiveReader, visit: Visit, product: str) -> Page | None:
    if visit.archived is None:
        return None
    try:
        return as_page(read(reader.read(visit.archived), product))
    except ArchiveError:
        return None

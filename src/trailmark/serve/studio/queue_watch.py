"""How many links wait in a run, page after page: told by the same machine that forages, from the archive."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from itertools import islice

from trailmark.crawl import read
from trailmark.errors import ArchiveError
from trailmark.forage.brief import Brief
from trailmark.forage.forager import Forager
from trailmark.forage.scorers import SCORERS
from trailmark.net.archive_reader import ArchiveReader
from trailmark.site import Site
from trailmark.visit import Visit
from trailmark.workspace import Workspace

PAGES_AT_ONCE = 500  # a page of the studio waits for them
MOST_SITES = 50


@dataclass
class _Course:
    """A run as far as it was counted."""

    run_id: int
    foragers: dict[str, Forager] = field(default_factory=dict)
    sizes: list[int] = field(default_factory=list)


class QueueWatch:
    """Counts on where it stopped, a few pages at a time. Which links wait does not depend on their scores, so
    no model is needed. It keeps the run that was looked at last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._course = _Course(0)

    def sizes(self, workspace: Workspace, run_id: int) -> list[int]:
        """Links waiting after each page counted so far, over all sites of the run."""
        with self._lock:
            if self._course.run_id != run_id:
                self._course = _Course(run_id)
            self._count_on(workspace, self._course)
            return list(self._course.sizes)

    def _count_on(self, workspace: Workspace, course: _Course) -> None:
        reader = ArchiveReader(workspace.archive_folder)
        left = PAGES_AT_ONCE
        for summary in list(islice(workspace.forage_store.sites(course.run_id), MOST_SITES)):
            forager = course.foragers.get(summary.start)
            if forager is None:
                forager = Forager(Site(summary.start), SCORERS["breadth-first"](Brief()))
                course.foragers[summary.start] = forager
            if left <= 0 or summary.visits <= forager.visits:
                continue
            new = workspace.forage_store.visits_of(course.run_id, summary.start, forager.visits)
            for visit in islice(new, left):
                left -= 1
                _tell(forager, visit, reader, workspace.config.agent.name)
                course.sizes.append(sum(len(each.frontier) for each in course.foragers.values()))


def _tell(forager: Forager, visit: Visit, reader: ArchiveReader, product: str) -> None:
    try:
        page = read(reader.read(visit.archived), product) if visit.archived else None
    except ArchiveError:
        page = None
    forager.retell(visit, page)

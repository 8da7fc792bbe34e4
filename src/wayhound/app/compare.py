"""Compares two runs: goals that are new, changed, moved or gone, and those that were not seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from wayhound.archive.reader import ArchiveReader
from wayhound.errors import ArchiveError
from wayhound.page import Page
from wayhound.store.goals import ComparedSite, ComparedSites, SiteGoal
from wayhound.workspace import Workspace

ChangeKind = Literal["new", "changed", "moved", "gone", "unseen"]

NOT_A_GOAL = "not a goal any more"
NOT_FINISHED = "not finished"

_GONE = frozenset({"redirect", "http_404", "http_410"})
"""Outcomes that prove that a page is gone; after others, such as `timeout`, it may still be there."""


@dataclass(frozen=True, slots=True)
class GoalChange:
    """A goal that differs between the runs.

    `why` explains a goal that is gone (`http_404`, `redirect` or `not a goal any more`) or was not seen (a reason code,
    or why the site stopped). `was` is the earlier URL of a goal that moved. Words are counted in the text that a reader
    sees; for files they are 0.
    """

    site: str
    kind: ChangeKind
    url: str
    title: str
    why: str = ""
    was: str = ""
    words_added: int = 0
    words_removed: int = 0


def compare(workspace: Workspace, before: int, after: int) -> Iterator[GoalChange]:
    """Yield the changes from the run `before` to the run `after`, site by site.

    Sites that `after` does not have are left out: nobody looked. A page has changed if its title or its visible words
    have; markup that differs on every request does not count.
    """
    sites = ComparedSites(workspace.database)
    pages = _Pages(workspace.archive)
    for site in sites.pairs(before, after):
        yield from _changes(site, sites, pages)


def _changes(site: ComparedSite, sites: ComparedSites, pages: _Pages) -> Iterator[GoalChange]:
    for url, goal in site.after.items():
        if url in site.before:
            yield from pages.difference(site, site.before[url], goal)
    new = {url: goal for url, goal in site.after.items() if url not in site.before}
    missing = [goal for url, goal in site.before.items() if url not in site.after]
    outcomes = sites.outcomes(site.id) if missing else {}
    for goal in missing:
        change = _missing(site, goal, outcomes.get(goal.url), new)
        if change:
            yield change
    yield from (GoalChange(site.start, "new", goal.url, goal.title) for goal in new.values())


def _missing(
    site: ComparedSite, goal: SiteGoal, last: tuple[str, str] | None, new: dict[str, SiteGoal]
) -> GoalChange | None:
    """Return the change of a goal that is not at its URL any more. One found at another URL is removed from `new`."""
    moved = next((url for url, other in new.items() if goal.digest and other.digest == goal.digest), None)
    if moved:
        now = new.pop(moved)
        still_there = last is not None and last[0] == "duplicate"
        return None if still_there else GoalChange(site.start, "moved", moved, now.title, was=goal.url)
    if last is None:
        return GoalChange(site.start, "unseen", goal.url, goal.title, site.ending or NOT_FINISHED)
    outcome, digest = last
    if outcome == "duplicate" and any(digest == other.digest for other in site.after.values()):
        return None  # reported with the goal that has the same content
    if outcome in ("ok", "duplicate"):
        return GoalChange(site.start, "gone", goal.url, goal.title, NOT_A_GOAL)
    kind: ChangeKind = "gone" if outcome in _GONE else "unseen"
    return GoalChange(site.start, kind, goal.url, goal.title, outcome)


@dataclass(frozen=True, slots=True)
class _Pages:
    """Pages from the archive, compared by what a reader sees."""

    reader: ArchiveReader

    def difference(self, site: ComparedSite, was: SiteGoal, now: SiteGoal) -> Iterator[GoalChange]:
        """Yield one change, or none."""
        if was.digest == now.digest:
            return
        old, new = self._page(was), self._page(now)
        if old is None or new is None:
            yield GoalChange(site.start, "changed", now.url, now.title)
            return
        before, after = Counter(old.tokens), Counter(new.tokens)
        if (old.title, old.tokens) != (new.title, new.tokens):
            added, removed = (after - before).total(), (before - after).total()
            yield GoalChange(
                site.start, "changed", now.url, now.title, words_added=added, words_removed=removed
            )

    def _page(self, goal: SiteGoal) -> Page | None:
        try:
            page = self.reader.page(goal.archived)
        except ArchiveError:
            return None
        return page if isinstance(page, Page) else None

"""What changed between two runs: goals that are new, changed, moved or gone, and those that were not seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from wayhound.archive.reader import ArchiveReader
from wayhound.errors import ArchiveError
from wayhound.page import Page
from wayhound.store.compared_sites import ComparedSite, ComparedSites, SiteGoal
from wayhound.workspace import Workspace

ChangeKind = Literal["new", "changed", "moved", "gone", "unseen"]

NOT_A_GOAL = "not a goal any more"
NOT_FINISHED = "not finished"

_TELLS_OF_AN_END = frozenset({"redirect", "http_404", "http_410"})
"""Outcomes that say that a page is not there any more; of others, such as `timeout`, it cannot be known."""


@dataclass(frozen=True, slots=True)
class GoalChange:
    """One goal that is not as it was.

    `why` says of a goal that is gone what stands there now: `http_404`, `redirect` or `not a goal any more`; of one
    that was not seen, what kept the run from it: a reason code, or why the site stopped. `was` is the address
    before, of a goal that moved. The words are those that a reader sees; files have none that are counted.
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
    """The goals of the run `after` against those of the run `before`, site by site.

    Sites that `after` does not have are left out: nobody looked. A page has changed when its title or the words
    that a reader sees have; markup that differs on every request does not count.
    """
    sites = workspace.stores.comparison
    pages = _Pages(workspace.archive)
    for site in sites.of(before, after):
        yield from _changes(site, sites, pages)


def _changes(site: ComparedSite, sites: ComparedSites, pages: _Pages) -> Iterator[GoalChange]:
    for url, goal in site.after.items():
        if url in site.before:
            yield from pages.difference(site, site.before[url], goal)
    new = {url: goal for url, goal in site.after.items() if url not in site.before}
    missing = [goal for url, goal in site.before.items() if url not in site.after]
    answers = sites.answers(site.id) if missing else {}
    for goal in missing:
        change = _missing(site, goal, answers.get(goal.url), new)
        if change:
            yield change
    yield from (GoalChange(site.start, "new", goal.url, goal.title) for goal in new.values())


def _missing(
    site: ComparedSite, goal: SiteGoal, answer: tuple[str, str] | None, new: dict[str, SiteGoal]
) -> GoalChange | None:
    """What became of a goal. One that is found at another address now is taken out of the new ones."""
    moved = next((url for url, each in new.items() if goal.digest and each.digest == goal.digest), None)
    if moved:
        now = new.pop(moved)
        still_there = answer is not None and answer[0] == "duplicate"
        return None if still_there else GoalChange(site.start, "moved", moved, now.title, was=goal.url)
    if answer is None:
        return GoalChange(site.start, "unseen", goal.url, goal.title, site.ending or NOT_FINISHED)
    outcome, digest = answer
    if outcome == "duplicate" and any(digest == each.digest for each in site.after.values()):
        return None  # told with the goal that has the same content
    if outcome in ("ok", "duplicate"):
        return GoalChange(site.start, "gone", goal.url, goal.title, NOT_A_GOAL)
    kind: ChangeKind = "gone" if outcome in _TELLS_OF_AN_END else "unseen"
    return GoalChange(site.start, kind, goal.url, goal.title, outcome)


@dataclass(frozen=True, slots=True)
class _Pages:
    """Pages out of the archive, to see what a reader would."""

    reader: ArchiveReader

    def difference(self, site: ComparedSite, was: SiteGoal, now: SiteGoal) -> Iterator[GoalChange]:
        """One change, or none."""
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

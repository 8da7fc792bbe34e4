"""Groups of citations to the same work: kept in step with the store, and regrouped all at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from wayhound.citations.citation import Citation, NormalisedCitation, normalise
from wayhound.citations.grouping import CitationMatcher, group_citations
from wayhound.citations.pair_model import shipped_classifier
from wayhound.errors import UsageError
from wayhound.papers.paper import Fields
from wayhound.record import Record
from wayhound.workspace import Workspace

_NOTES = ("publisher", "institution", "tech", "editor", "location", "note")


def citation_of_paper(record: Record) -> Citation:
    """Return a paper's own description, which is matched like a citation of it."""
    return _citation(record.fields, _first(record.fields, "journal", "booktitle", "institution"))


def citation_of_reference(fields: Fields, text: str) -> Citation:
    return _citation(fields, _first(fields, "venue", "journal", "booktitle"), text)


def _citation(fields: Fields, venue: str, text: str = "") -> Citation:
    return Citation(
        title=_first(fields, "title"),
        authors=" and ".join(value.text for value in fields.get("author", ())),
        venue=venue,
        year=_first(fields, "year"),
        pages=_first(fields, "pages"),
        volume=_first(fields, "volume"),
        note=" ".join(value.text for name in _NOTES for value in fields.get(name, ())) if text else "",
        text=text,
    )


def _first(fields: Fields, *names: str) -> str:
    return next((fields[name][0].text for name in names if fields.get(name)), "")


class _ForgettingMatcher(CitationMatcher):
    """A matcher from which citations can be removed: papers are read again, and fields corrected."""

    def forget(self, citation: Citation, group: int, bibliography: str) -> None:
        """Remove a citation from its group. An empty group no longer matches anything."""
        normal = normalise(citation)
        for members in (self._members.get(group, []), self._listed.get((bibliography, group), [])):
            if normal in members:
                members.remove(normal)

    def _agreement(self, normal: NormalisedCitation, group: int) -> float:
        return super()._agreement(normal, group) if self._members[group] else 0.0


class CitationGroups:
    """The citation groups of a workspace, in step with its store whoever has written to that.

    Groups are numbered by the process that finds them, so two processes must not do so at the same time, nor
    without knowing what the other has done: all changes are made within `transaction`.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._database = workspace.database
        self._papers = workspace.stores.papers
        self._files = workspace.stores.documents
        self._matcher: _ForgettingMatcher | None = None
        self._matcher_change = -1  # last change that `_matcher` includes
        self._first_change = -1  # last change before the open transaction

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A database transaction in which groups may change."""
        try:
            with self._database.transaction():
                self._first_change = self._files.last_change()
                yield
                last_change = self._files.last_change()
        except BaseException:
            self._matcher = None
            raise
        if self._matcher_change == self._first_change:
            self._matcher_change = last_change

    def settle(self, citation: Citation, paper: str, before: tuple[Citation, int] | None = None) -> int:
        """Return the group of a citation in a paper.

        `before` is what it was and its group: unchanged, it stays there.
        """
        if before is not None and before[0] == citation:
            return before[1]
        if before is not None:
            self.forget(*before, paper)
        return self._current().add(citation, paper)

    def forget(self, citation: Citation, group: int, paper: str) -> None:
        """Remove a citation in a paper from its group."""
        self._current().forget(citation, group, paper)

    def _current(self) -> _ForgettingMatcher:
        """Return a matcher with all citations. Made when needed: 20,000 citations take about four seconds."""
        if self._matcher is None or self._matcher_change != self._first_change:
            self._matcher = _ForgettingMatcher()
            self._matcher.restore(
                (stored.citation, stored.group, stored.paper) for stored in self._papers.citations()
            )
            self._matcher_change = self._first_change
        return self._matcher


@dataclass(frozen=True, slots=True)
class RegroupReport:
    """Number of citations, of those that changed their group, and of groups before and after."""

    citations: int
    moved: int
    groups_before: int
    groups_after: int


def regroup(
    workspace: Workspace, on_progress: Callable[[int, int], None] = lambda _, __: None
) -> RegroupReport:
    """Group all citations at once, as a collection that has grown paper by paper needs now and then.

    Nothing is written before the end, and then everything or nothing, so that it may be stopped at any time.
    Raises UsageError if papers were added or corrected meanwhile.
    """
    papers, files = workspace.stores.papers, workspace.stores.documents
    last_change = files.last_change()
    citations = list(papers.citations())
    before = [stored.group for stored in citations]
    new = group_citations(
        [stored.citation for stored in citations],
        shipped_classifier(),
        on_progress=on_progress,
        bibliographies=[stored.paper for stored in citations],
    )
    after = keep_numbers(before, new)
    moved = [
        replace(stored, group=group)
        for stored, group in zip(citations, after, strict=True)
        if stored.group != group
    ]
    with workspace.database.transaction():
        if files.last_change() != last_change:
            raise UsageError("Papers were added or corrected meanwhile, so nothing was regrouped. Try again.")
        for stored in moved:
            papers.replace_citation(stored)
        for paper in {stored.paper for stored in moved}:
            files.touch(paper)
    return RegroupReport(len(citations), len(moved), len(set(before)), len(set(after)))


def keep_numbers(before: Sequence[int], new: Sequence[int]) -> list[int]:
    """Return the new groups, each under the number that most of its members had, or a fresh one.

    >>> keep_numbers([7, 7, 9, 9], [0, 0, 0, 1])
    [7, 7, 7, 9]
    """
    fresh = max(before, default=-1) + 1
    numbers: dict[int, int] = {}
    taken: set[int] = set()
    for (old, group), _ in Counter(zip(before, new, strict=True)).most_common():
        if group not in numbers and old not in taken:
            numbers[group] = old
            taken.add(old)
    for group in dict.fromkeys(new):
        if group not in numbers:
            numbers[group], fresh = fresh, fresh + 1
    return [numbers[group] for group in new]

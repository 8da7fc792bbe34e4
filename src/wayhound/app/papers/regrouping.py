"""All citations of a workspace grouped at once, as a collection that grew paper by paper now and then needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from wayhound.app.papers.library import PaperLibrary
from wayhound.citations.grouping import group_citations
from wayhound.citations.pair_model import shipped_classifier
from wayhound.errors import UsageError


@dataclass(frozen=True, slots=True)
class Regrouped:
    """How many citations there are, how many changed their group, and how many groups there were and are."""

    citations: int
    moved: int
    groups_before: int
    groups_after: int


def regroup(library: PaperLibrary, on_progress: Callable[[int, int], None] = lambda _, __: None) -> Regrouped:
    """Group anew, by what citations say now and so with all corrections; only groups change.

    Nothing is written before all is known, and then all of it or nothing: it may be stopped at any time.
    """
    seen = library.files.last_change()
    citations = list(library.papers.citations())
    before = [each.group for each in citations]
    found = group_citations(
        [each.citation for each in citations], shipped_classifier(), on_progress=on_progress
    )
    after = kept_names(before, found)
    moved = [
        replace(each, group=group)
        for each, group in zip(citations, after, strict=True)
        if each.group != group
    ]
    with library.workspace.database.transaction():
        if library.files.last_change() != seen:
            raise UsageError("Papers were added or corrected meanwhile, so nothing was regrouped. Try again.")
        for each in moved:
            library.papers.replace_citation(each)
        for paper in {each.paper for each in moved}:
            library.files.touch(paper)
    return Regrouped(len(citations), len(moved), len(set(before)), len(set(after)))


def kept_names(before: Sequence[int], found: Sequence[int]) -> list[int]:
    """The groups found, each under the number that most of its members had; new numbers where that is taken.

    >>> kept_names([7, 7, 9, 9], [0, 0, 0, 1])
    [7, 7, 7, 9]
    """
    fresh = max(before, default=-1) + 1
    names: dict[int, int] = {}
    taken: set[int] = set()
    for (old, new), _ in Counter(zip(before, found, strict=True)).most_common():
        if new not in names and old not in taken:
            names[new] = old
            taken.add(old)
    for new in dict.fromkeys(found):
        if new not in names:
            names[new], fresh = fresh, fresh + 1
    return [names[new] for new in found]

"""Check taught trails for problems, in sentences that tell a person what to show next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from wayhound.paths.features import fold_word
from wayhound.trail import FAIL, GOAL, Trail

Severity = Literal["stops", "weak", "hint"]  # nothing can be learned; it will be learned badly; worth a look

FEW_GOALS = 5
LARGE_SHARE = 0.6  # of all trails, on one site


@dataclass(frozen=True, slots=True)
class Remark:
    """A problem with the trails, under a stable name, and what to do about it."""

    name: str
    weight: Severity
    sentence: str


def check_trails(trails: Sequence[Trail]) -> list[Remark]:
    """Return the problems of the trails, most severe first; an empty list if there are none."""
    if not trails:
        return [Remark("no-trails", "stops", "There are no trails yet: walk a few sites and mark the goals.")]
    remarks = [remark for rule in _RULES for remark in rule(trails)]
    order: tuple[Severity, ...] = ("stops", "weak", "hint")
    return sorted(remarks, key=lambda remark: order.index(remark.weight))


def ended_trails(trails: Sequence[Trail]) -> list[Trail]:
    """Return the trails that can be learned from: those marked as Goal or Fail at the end."""
    return [trail for trail in trails if trail.steps and trail.steps[-1].label in (GOAL, FAIL)]


def _goals(trails: Sequence[Trail]) -> Iterator[Remark]:
    goals = [trail for trail in trails if trail.reached_goal]
    if not goals:
        sentence = "No trail ends at a goal, or at a useful page, so there is nothing to look for."
        yield Remark("no-goal", "stops", sentence)
    elif len(goals) < FEW_GOALS:
        count = "Only one trail reaches" if len(goals) == 1 else f"Only {len(goals)} trails reach"
        yield Remark("few-goals", "weak", f"{count} a goal: show some more, on different parts of the sites.")


def _fails(trails: Sequence[Trail]) -> Iterator[Remark]:
    if not any(step.label == FAIL for trail in trails for step in trail.steps[-1:]):
        yield Remark(
            "no-negative",
            "weak",
            "No trail ends as Fail, so the model has to guess what you do not want. Follow some links beside the "
            "right ones and mark where they end as Fail. In free browsing it is enough to look at such pages and "
            "leave them unmarked.",
        )


def _sites(trails: Sequence[Trail]) -> Iterator[Remark]:
    counts = Counter(trail.site for trail in trails)
    if len(counts) == 1:
        yield Remark(
            "one-site",
            "weak",
            f"All trails are from {trails[0].site}: the model may learn words of that site alone, and cannot be "
            "tested on another. Show a second site.",
        )
        return
    site, most = counts.most_common(1)[0]
    if most > LARGE_SHARE * len(trails) and most - counts.most_common(2)[1][1] > 2:
        sentence = (
            f"{most} of {len(trails)} trails are from {site}, which will dominate: show more of the others."
        )
        yield Remark("one-site-dominates", "hint", sentence)
    without = [site for site in counts if not any(t.reached_goal for t in trails if t.site == site)]
    for site in without if len(without) < len(counts) else []:
        yield Remark("site-without-goal", "hint", f"No trail on {site} reaches a goal.")


def _labels(trails: Sequence[Trail]) -> Iterator[Remark]:
    uses = Counter(step.label for trail in trails for step in trail.steps)
    sites: dict[str, set[str]] = {}
    for trail in trails:
        for step in trail.steps:
            sites.setdefault(step.label, set()).add(trail.site)
    several = len({trail.site for trail in trails}) > 1
    for label in sorted(set(uses) - {"", GOAL, FAIL}):
        if uses[label] == 1:
            sentence = f"The label {label!r} is used once: use it again where it fits, or remove it."
            yield Remark("label-once", "weak", sentence)
        elif several and len(sites[label]) == 1:
            sentence = f"The label {label!r} is used on one site only ({min(sites[label])})."
            yield Remark("label-one-site", "hint", sentence)


def _similar_labels(trails: Sequence[Trail]) -> Iterator[Remark]:
    spellings: dict[str, set[str]] = {}
    for label in {step.label for trail in trails for step in trail.steps} - {""}:
        key = " ".join(fold_word(word) for word in label.casefold().replace("-", " ").split())
        spellings.setdefault(key, set()).add(label)
    for labels in (sorted(names) for names in spellings.values() if len(names) > 1):
        names = " and ".join(map(repr, labels))
        sentence = f"The labels {names} look like one, but are learned as {len(labels)}: use one spelling."
        yield Remark("labels-alike", "weak", sentence)


def _endings(trails: Sequence[Trail]) -> Iterator[Remark]:
    open_ended = len(trails) - len(ended_trails(trails))
    if open_ended:
        count = "One trail has" if open_ended == 1 else f"{open_ended} trails have"
        sentence = f"{count} no ending and will be ignored: mark the last page as Goal or Fail."
        yield Remark("no-ending", "weak", sentence)
    for trail in trails:
        if any(step.label == FAIL for step in trail.steps[:-1]):
            end = trail.steps[-1].page.url
            sentence = f"A trail on {trail.site} continues after a page marked as Fail (to {end})."
            yield Remark("goes-on-after-fail", "weak", sentence)


def _starts(trails: Sequence[Trail]) -> Iterator[Remark]:
    for site in dict.fromkeys(trail.site for trail in trails if trail.reached_goal and trail.depth == 0):
        sentence = f"The start page {site} is itself marked as a goal, so there is no path to learn."
        yield Remark("goal-at-start", "weak", sentence)


def _contradictions(trails: Sequence[Trail]) -> Iterator[Remark]:
    labels: dict[str, set[str]] = {}
    for trail in trails:
        for step in trail.steps:
            labels.setdefault(step.page.url, set()).add(step.label)
    for url in (url for url, names in labels.items() if {GOAL, FAIL} <= names):
        yield Remark("goal-and-fail", "weak", f"{url} is Goal on one trail and Fail on another.")


def _pages(trails: Sequence[Trail]) -> Iterator[Remark]:
    pages = {step.page.url: step.page for trail in trails for step in trail.steps}
    texts = [page.tokens or page.title or page.headings for page in pages.values() if not page.is_document]
    empty = sum(not text for text in texts)
    if empty:
        count = "One page has" if empty == 1 else f"{empty} of {len(pages)} pages have"
        yield Remark("empty-pages", "hint", f"{count} no words at all: perhaps a script fills them in.")


def _scripts(trails: Sequence[Trail]) -> Iterator[Remark]:
    clicks = sum(step.by_script for trail in trails for step in trail.steps)
    if clicks:
        links = "One click follows a link" if clicks == 1 else f"{clicks} clicks follow links"
        sentence = (
            f"{links} that a script makes: a forage shows such pages to a browser, where one is installed."
        )
        yield Remark("by-script", "hint", sentence)


_RULES: tuple[Callable[[Sequence[Trail]], Iterator[Remark]], ...] = (
    _goals,
    _fails,
    _sites,
    _labels,
    _similar_labels,
    _endings,
    _starts,
    _contradictions,
    _pages,
    _scripts,
)

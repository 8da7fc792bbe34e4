"""Runs and goals in words: what is looked for, how far a run is, what it found by which clicks, what changed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from wayhound.app.compare import GoalChange
from wayhound.app.keep_up import KeptRound
from wayhound.app.order import Order
from wayhound.forage.rendering import template
from wayhound.store.goals import FoundGoal, PathStep
from wayhound.store.protocol import Progress, SiteSummary
from wayhound.store.site_notes import KeptProgram, WaitingQuestion
from wayhound.wording.faults import Surface, format_ending, format_fault
from wayhound.wording.quantities import (
    count,
    format_duration,
    format_label,
    format_probability,
    short_url,
    shorten,
)
from wayhound.wording.reasons import format_reasons, supporting

CHANGES: Mapping[str, str] = {
    "new": "new",
    "changed": "changed",
    "moved": "moved",
    "gone": "gone",
    "unseen": "not seen",
}
"""Kinds of `GoalChange` in the order in which they are counted."""

GOAL_REASONS = 5  # features that are shown for a goal
NO_GOALS = "Every page is kept, but none counts as a goal: nothing says what you are looking for."


def format_order(identity: Mapping[str, str]) -> str:
    """Return `by the model paths`, `by the words contact, visit`, `for facts: contact`, or a strategy and its goals."""
    try:
        order = Order.from_identity(identity)
    except (TypeError, ValueError):
        return "ordered by another version of Wayhound"
    if order.look_around:
        return "a look around taught sites"
    if order.model:
        words = f" and the words {', '.join(order.keywords)}" if order.keywords else ""
        return f"by the model {order.model}{words}"
    if order.wants_facts_alone:
        return f"for facts: {order.facts}"
    if order.keywords:
        return f"by the words {', '.join(order.keywords)}"
    return f"{order.strategy}, goals: {order.goal}" if order.goal else order.strategy


def format_start(identity: Mapping[str, str], sites: int, folder: str, repeats: int | None) -> str:
    """Return what a new run begins with. `repeats` is the number of the run that it repeats, if any."""
    unchanged = f" Pages unchanged since run {repeats} need not be sent again." if repeats else ""
    return f"Foraging {count(sites, 'site')} into {folder}, {format_order(identity)}.{unchanged}"


def format_one_goal(surface: Surface) -> str:
    """Return why sites end at one goal, and what makes them go on."""
    how = "--all-goals goes on." if surface == "command line" else "To go on, say how many goals you want."
    return f"One goal a site, as on the sites that were taught: a site ends when it is found. {how}"


def format_resumed(progress: Progress, retried: int = 0) -> str:
    """Return how far a run is that is resumed, and how many sites are tried again."""
    again = f" {count(retried, 'site')} that could not be fetched: trying again." if retried else ""
    return (
        f"Resuming: {progress.done:,} of {count(progress.sites, 'site')} done, "
        f"{format_pages(progress)} so far.{again}"
    )


def format_pages(counts: Progress | SiteSummary) -> str:
    """Return `60 pages`, or `60 pages (66 requests, 4 failed)` where not every request brought a page.

    Pages are those that were read, requests those that were sent for pages, and failed is what brought neither a page
    nor a redirect, whether it was sent or not.
    """
    pages = count(counts.pages, "page")
    if counts.spent == counts.pages and not counts.failures:
        return pages
    failed = f", {counts.failures:,} failed" if counts.failures else ""
    return f"{pages} ({count(counts.spent, 'request')}{failed})"


def format_time_left(about: float | None, most: float | None) -> str:
    """Return `about 4 min left`, or `at most 20 min left` while nobody knows better; empty if nothing is known."""
    if about is not None:
        return f"about {format_duration(about if most is None else min(about, most))} left"
    return f"at most {format_duration(most)} left" if most is not None else ""


def format_kept(done: KeptRound) -> Iterator[str]:
    """Yield lines on what a round of `serve --keep-up` did."""
    at = datetime.fromtimestamp(done.started, UTC).strftime("%Y-%m-%d %H:%M UTC")
    yield f"Kept up at {at}, in {done.seconds:,.0f} s{' (stopped before its end)' if done.stopped else ''}:"
    for step in done.steps:
        yield f"  {step.command}: {step.message or ('done.' if not step.code else f'failed (exit code {step.code}).')}"


def format_visitors(counts: Mapping[str, Mapping[str, int]], days: int = 7) -> Iterator[str]:
    """Yield a line on the pages that the portal sent on each of the last days."""
    for day, kinds in list(counts.items())[-days:]:
        parts = ", ".join(
            f"{number:,} {kind}" for kind, number in sorted(kinds.items(), key=lambda pair: -pair[1])
        )
        yield f"Portal, pages sent on {day}: {parts}."


def format_result(progress: Progress, sites: Iterable[SiteSummary]) -> str:
    """Return `3 of 3 sites done, 60 pages, 7 goals on 2 sites.`, and how many sites returned no page."""
    summaries = list(sites)
    with_goals = sum(site.goals > 0 for site in summaries)
    where = f" on {count(with_goals, 'site')}" if progress.goals else ""
    likely = f", {progress.likely:,} likely" if progress.likely else ""
    silent = sum(site.reason.startswith("start page failed") for site in summaries)
    result = (
        f"{progress.done:,} of {count(progress.sites, 'site')} done, {format_pages(progress)}, "
        f"{count(progress.goals, 'goal')}{where}{likely}."
    )
    return result + (f" {count(silent, 'site')} returned no page." if silent else "")


def format_verdict(site: SiteSummary) -> str:
    """Return `probably none (93% after 9 pages)` for a site without goals.

    Empty for others, and if nothing was read or judged.
    """
    could_read = site.pages and not site.reason.endswith("(needs_browser)")
    if site.goals or site.none_probability is None or not could_read:
        return ""
    if site.none_probability >= 0.5:
        return (
            f"probably none ({format_probability(site.none_probability)} after {count(site.pages, 'page')})"
        )
    one = format_probability(1 - site.none_probability)
    return f"none certain enough (probability that there is one: {one})"


def format_goals_left(goals: float | None) -> str:
    """Return `about 12 more expected`; empty if nobody knows, or hardly any."""
    if goals is None or goals < 0.5:
        return ""
    return f"about {goals:.0f} more expected"


QUESTION_KEYS = "  y yes   n no   s cannot say   q no more questions"


def format_question(question: WaitingQuestion, waiting: int) -> str:
    """Return a question to a person while a forage runs, with the number of questions that wait."""
    more = f"  ({waiting - 1} more wait)" if waiting > 1 else ""
    title = " ".join(question.title.split())
    return (
        f"Is this what you are looking for?{more}\n  {shorten(title, 100) or '(no title)'}\n  {question.url}"
    )


def format_sites_taught(sites: int) -> str:
    """Return how many sites answers about others have taught; empty if none."""
    return f"Your answers also taught {count(sites, 'site')} that came after them." if sites else ""


def format_program(kept: KeptProgram) -> str:
    """Return a program with a comment that says where it comes from."""
    origin = "edited by hand" if kept.edited else f"learned in run {kept.run}"
    return f"# {kept.start}, the way to what {kept.purpose!r} looks for, {origin}\n{kept.program}"


def format_progress(run_id: int, progress: Progress) -> str:
    """Return `Run 3: 7 goals on 60 pages`."""
    return f"Run {run_id}: {count(progress.goals, 'goal')} on {format_pages(progress)}"


def format_outcomes(outcomes: Mapping[str, int], most: int = 5) -> str:
    """Return reason codes with their counts, the most frequent first: `ok 120, http_404 3`."""
    return ", ".join(f"{outcome} {visits:,}" for outcome, visits in Counter(outcomes).most_common(most))


def format_unchanged(unchanged: int, spent: int) -> str:
    """Return how many pages the servers did not have to send again."""
    return f"{unchanged:,} of {count(spent, 'page')} had not changed and were not sent again."


def format_rendered(pages: Iterable[tuple[str, str]], most: int = 5) -> list[str]:
    """Return how many pages had more in a browser, and for the sites with most of them, which: one line each.

    `pages` are start pages and URLs. Returns nothing if there are none.
    """
    sites: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for start, url in pages:
        sites[start][f"/{template(url)}"] += 1
    if not sites:
        return []
    total = sum(templates.total() for templates in sites.values())
    lines = [
        f"Read in a browser, because scripts make them: {count(total, 'page')} of {count(len(sites), 'site')}"
    ]
    for start, templates in sorted(sites.items(), key=lambda site: -site[1].total())[:most]:
        kinds = ", ".join(f"{n:,} × {kind}" for kind, n in templates.most_common(most))
        lines.append(f"  {short_url(start)}: {kinds}{', …' * (len(templates) > most)}")
    return lines + [f"  and {count(len(sites) - most, 'more site')}"] * (len(sites) > most)


def format_changes(changes: Iterable[GoalChange]) -> str:
    """Return `3 goals new, 1 changed, 2 not seen.`"""
    kinds = Counter[str](change.kind for change in changes)
    counts = [(kinds[kind], words) for kind, words in CHANGES.items() if kinds[kind]]
    if not counts:
        return "no goal is new, changed or gone."
    (first, words), *others = counts
    return ", ".join([f"{count(first, 'goal')} {words}", *(f"{n:,} {word}" for n, word in others)]) + "."


def format_change(change: GoalChange) -> str:
    """Return what is known of one change, in brackets after a blank; empty if there is nothing to add."""
    if change.was:
        return f" (was {change.was})"
    if change.kind == "changed" and (change.words_added or change.words_removed):
        return f" (+{change.words_added} −{change.words_removed} words)"
    return f" ({format_fault(format_ending(change.why))})" if change.why else ""


def format_skipped(rows: Sequence[str], most: int = 5) -> str:
    """Return which lines of lists of sites were skipped, each named as `FILE, line 3`; empty if none was."""
    if not rows:
        return ""
    lines: dict[str, list[str]] = {}
    for row in rows[:most]:
        name, _, number = row.rpartition(", line ")
        lines.setdefault(name, []).append(number)
    where = "; ".join(
        f"line{'s' * (len(numbers) > 1)} {', '.join(numbers)} of {name}" for name, numbers in lines.items()
    )
    more = f" and {len(rows) - most:,} more" if len(rows) > most else ""
    return f"Skipped {count(len(rows), 'line')} without a usable web address: {where}{more}."


def format_path(goal: FoundGoal) -> list[str]:
    """Return one line per page from the start page to the goal: the link clicked, its score, the page's label."""
    return [_step(step) for step in goal.path]


def format_why(goal: FoundGoal) -> str:
    """Return the features that spoke most for the goal; empty for goals that a pattern decided."""
    return format_reasons(supporting(goal.why), GOAL_REASONS)


def _step(step: PathStep) -> str:
    label = f" [{format_label(step.label)}]" if step.label else ""
    if not step.link:
        return f"{step.url}{label}"
    return f"› {step.link} ({step.score:.2f}){label}"


def format_nodes(nodes: Iterable[tuple[str, int, float]]) -> str:
    """Return the machines of a cluster, each with its workers and pages a second, on one line."""
    return ", ".join(
        f"{name} {speed:.1f} pages/s" if workers else f"{name} gone" for name, workers, speed in nodes
    )

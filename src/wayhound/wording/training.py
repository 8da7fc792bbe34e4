"""Training in words: what a model learned from, how well it does on sites that it was not taught, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wayhound.paths.expectation import expected_recognition, measured_gains
from wayhound.paths.spiders import SPIDERS, default_settings, settings_to_json
from wayhound.trail import GOAL
from wayhound.url import host_of
from wayhound.wording.quantities import count

if TYPE_CHECKING:
    from wayhound.app.train.held_out import HeldOutSite
    from wayhound.app.train.models import LabelReport, TrainingReport


FEW_GOALS, FEW_SITES = 10, 3
"""With fewer, one page more or less would change a percentage by ten points and more."""


def format_training(report: TrainingReport) -> str:
    """Return what was learned from, and how well goals are recognised on held-out sites."""
    left_out = f" ({report.left_out:,} without an ending left out)" if report.left_out else ""
    sites = count(len(report.sites), "site")
    if report.strategy in SPIDERS and report.source.has_whole_sites:
        how = "with the papers found there as goals" if report.source.papers else "recorded whole"
        return f"Learned from {sites}, {how}. {_quality(report)}"
    beside = f", and from {count(report.unlabelled, 'other page')} there" if report.unlabelled else ""
    return f"Learned from {count(report.trails, 'trail')}{left_out} on {sites}{beside}. {_quality(report)}"


def format_outlook(report: TrainingReport) -> str:
    """Return what lessons of this size usually reach on a new site, and what more would bring; empty if unknown."""
    if report.strategy != "adaptive":
        return ""
    outlook = expected_recognition(len(report.sites))
    return (
        f"Expect an F1 of about {outlook.f1:.2f} on a new site, where 1 is every goal and no other page; half of the "
        f"sites lie between {outlook.low:.2f} and {outlook.high:.2f}. Answering three questions a site in the forage "
        f"makes it about {outlook.with_questions:.2f}, teaching one more site about {outlook.with_one_more_site:.2f}. "
        f"In trials, ten answers about other sites changed it by {_gain('ten answers')}, and confirming that all "
        f"goals of the taught sites are shown by {_gain('complete lists')}."
    )


def _gain(name: str) -> str:
    """Return the mean and the standard error of a gain in F1: `+0.03 ± 0.04`."""
    gain = measured_gains()[name]
    return f"{gain.mean:+.2f} ± {gain.error:.2f}"


def _quality(report: TrainingReport) -> str:
    goal = next((label for label in report.labels if label.label == GOAL), None)
    if report.strategy in SPIDERS:
        return "Held-out sites show how many pages it needs, not how well each state is recognised."
    if report.all_labels is None:
        return "With one site, none could be held out, so nothing shows how well it does on other sites."
    if goal is None or goal.recall is None or goal.precision is None:
        return "Each site was held out in turn; the table shows how well its pages were recognised."
    if goal.pages < FEW_GOALS or len(report.sites) < FEW_SITES:
        return _few(report, goal)
    return (
        f"On held-out sites, it recognises {goal.recall:.0%} of the goals (recall), and {goal.precision:.0%} of "
        "what it takes for goals are goals (precision)."
    )


def _few(report: TrainingReport, goal: LabelReport) -> str:
    """Return counts in place of percentages that so few pages cannot bear, and what to add."""
    found = round((goal.recall or 0.0) * goal.pages)
    missing = []
    if len(report.sites) < FEW_SITES:
        missing.append(count(FEW_SITES - len(report.sites), "more site"))
    if goal.pages < FEW_GOALS:
        missing.append(count(FEW_GOALS - goal.pages, "more goal"))
    return (
        f"With each site held out in turn, it recognises {found} of {count(goal.pages, 'goal page')} on "
        f"{count(len(report.sites), 'site')}: too few to trust. Teach {' and '.join(missing)} to know better."
    )


def format_settings(report: TrainingReport) -> str:
    """Return the strategy, the two settings that cross-validation chooses, and those that differ from the default."""
    how = "by cross-validation" if report.chosen else "given"
    default = settings_to_json(default_settings(report.strategy))
    shown = {"prior_variance", "body_tokens"} | {
        name for name, value in report.settings.items() if default.get(name) != value
    }
    values = ", ".join(f"{name} {report.settings[name]}" for name in sorted(shown & set(report.settings)))
    return f"Strategy: {report.strategy}. Settings ({how}): {values or 'the default ones'}."


def format_held_out(held: HeldOutSite) -> str:
    """Return `On physics.org, held out: 31 of 34 goals within 60 pages; breadth-first needed 240. …`"""
    pages = f"within {count(held.pages, 'page')}" if held.pages is not None else "not reached by the model"
    other = f"needed {held.breadth_first:,}" if held.breadth_first is not None else "did not reach them"
    goals = f"{held.wanted:,} of {count(held.goals, 'goal')}"
    return (
        f"On {host_of(held.site)}, held out: {goals} {pages}; breadth-first {other}. "
        f"Known pages: {held.known_pages:,}."
    )


_TRAINED_AS = {
    "q-future": "q-spider",
    "q-paper": "q-spider --settings paper",
    "q-focused": "q-spider --set gamma=0 --set bins=2 --set known_source=no --set within_site=no",
    "path-learner-literal": "path-learner --settings paper",
    "path-learner-10-words": "path-learner --set body_tokens=10",
}


def format_recommendation(strategy: str, tasks: int) -> str:
    """Return which strategy to take for sites like those that were compared, and how to train it."""
    untrained = strategy in ("breadth-first", "random", "best-first")
    command = "forage" if untrained else "train"
    name = _TRAINED_AS.get(strategy, strategy)
    return (
        f"For sites like these, {strategy} needed the fewest pages ({count(tasks, 'site')} with goals): "
        f"wayhound {command} --strategy {name}"
    )

"""A training as people read it in a terminal."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from trailmark.cli.console import count
from trailmark.cli.label_words import label_text
from trailmark.feature_words import reason_words
from trailmark.teach.training import Settings
from trailmark.trail import GOAL
from trailmark.training import LabelReport, TrainingReport


def summary(report: TrainingReport) -> str:
    left_out = f" ({report.left_out} without an ending left out)" if report.left_out else ""
    how = "chosen by holding back sites" if report.chosen else "given"
    sites = count(len(report.sites), "site")
    lines = [f"Learned from {count(report.trails, 'trail')}{left_out} of {sites} for {report.strategy}."]
    lines.append(f"Settings, {how}: {_settings(report)}.")
    if report.all_labels is None:
        lines.append("With one site none could be held back, so nothing tells how well it carries over.")
    else:
        lines.append(_how_well(report))
    return "\n".join(lines)


def _how_well(report: TrainingReport) -> str:
    """The figures of the goal in words: each site was held back in turn, and the model taught on the others."""
    goal = next((label for label in report.labels if label.label == GOAL), None)
    if goal is None or goal.recall is None or goal.precision is None:
        return "Each site was held back in turn; the table says how well its pages were told by the others."
    return (
        f"On sites that it was not taught on, it tells {goal.recall:.0%} of the goals (recall), and "
        f"{goal.precision:.0%} of what it takes for goals are goals (precision)."
    )


def _settings(report: TrainingReport) -> str:
    """What differs from the usual, and the two that are chosen."""
    usual = Settings().to_json()
    shown = {"prior_variance", "body_tokens"} | {
        name for name, value in report.settings.items() if usual.get(name) != value
    }
    return ", ".join(f"{name} {report.settings[name]}" for name in sorted(shown & set(report.settings)))


def labels_table(report: TrainingReport) -> Table:
    """Each label on sites held back, and what a link to such a page is worth."""
    table = Table(box=None, pad_edge=False, header_style="bold", title_justify="left")
    for name in ("label", "precision", "recall", "F1", "pages", "worth"):
        table.add_column(name, justify="left" if name == "label" else "right")
    for label in report.labels:
        figures = [_figure(label.precision), _figure(label.recall), _figure(label.f1)]
        table.add_row(label_text(label.label), *figures, str(label.pages or "–"), f"{label.reward:.3f}")
    if report.all_labels is not None:
        means = [_figure(figure) for figure in report.all_labels]
        table.add_section()
        table.add_row("all labels", *means, str(sum(label.pages for label in report.labels)), "")
    return table


def features_table(report: TrainingReport, most: int) -> Table:
    """What speaks for each label, of its pages and of the links to them."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("label")
    table.add_column("what speaks most for it", overflow="fold")
    for label in report.labels:
        table.add_row(label_text(label.label), Text(features_text(label, most)))
    return table


def features_text(label: LabelReport, most: int) -> str:
    return ", ".join(f"{reason_words(feature)} {weight:+.2f}" for feature, weight in label.strongest[:most])


def _figure(share: float | None) -> str:
    return "–" if share is None else f"{share:.2f}"

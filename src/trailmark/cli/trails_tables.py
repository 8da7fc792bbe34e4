"""Trails as people read them in a terminal, and as other programs read them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from trailmark.cli.console import short_url
from trailmark.store.trails import KeptTrail, TrailSummary
from trailmark.teach.page_json import link_data
from trailmark.teach.trail_check import Remark
from trailmark.trail import FAIL, GOAL

_STYLES = {GOAL: "green", FAIL: "red"}
_WEIGHTS = {"stops": ("stops", "bold red"), "weak": ("weak", "yellow"), "hint": ("hint", "dim")}


def _plain_table(*columns: str, right: Sequence[str] = ()) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    return table


def trails_table(summaries: Sequence[TrailSummary]) -> Table:
    table = _plain_table("id", "site", "way", "ends at", "taught by", right=("id",))
    for trail in summaries:
        end = trail.end_title or trail.end_url
        table.add_row(
            str(trail.id),
            Text(short_url(trail.site)),
            labels_text(trail.labels),
            Text(end),
            Text(trail.taught_by),
        )
    return table


def labels_text(labels: Sequence[str]) -> Text:
    """`home › people › Goal`; a page without a label is a dot."""
    shown = [Text(label or "·", style=_STYLES.get(label, "")) for label in labels]
    return Text(" › ").join(shown)


def trail_table(kept: KeptTrail) -> Table:
    table = _plain_table("step", "link taken", "page", "title", "label", right=("step",))
    table.title = _title(kept)
    table.title_justify = "left"
    for number, step in enumerate(kept.trail.steps):
        link = "(start)" if step.link is None else step.link.text or "(no text)"
        label = labels_text([step.label])
        table.add_row(str(number), Text(link), Text(step.page.url), Text(step.page.title), label)
    return table


def _title(kept: KeptTrail) -> str:
    at = datetime.fromtimestamp(kept.taught_at, UTC).strftime("%Y-%m-%d %H:%M")
    by = f" by {kept.trail.taught_by}" if kept.trail.taught_by else ""
    source = f", from {kept.source}" if kept.source else ""
    return escape(f"Trail {kept.id} on {kept.trail.site}, taught{by} at {at} UTC{source}")


def trail_data(kept: KeptTrail) -> dict[str, Any]:
    """One trail without the insides of its pages; a trail file has those."""
    return {
        "id": kept.id,
        "site": kept.trail.site,
        "taught_by": kept.trail.taught_by,
        "taught_at": kept.taught_at,
        "source": kept.source,
        "steps": [
            {
                "url": step.page.url,
                "title": step.page.title,
                "label": step.label,
                "link": None if step.link is None else link_data(step.link),
            }
            for step in kept.trail.steps
        ],
    }


def remarks_list(remarks: Sequence[Remark]) -> Table:
    table = Table.grid(padding=(0, 1))
    for remark in remarks:
        word, style = _WEIGHTS[remark.weight]
        table.add_row(Text(word, style=style), Text(remark.sentence))
    return table

"""`wayhound explain`: what a model makes of a page and its links, before anything is fetched by them."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from wayhound.app.explain import Way, explain_way, fetched_way, known_way
from wayhound.app.site_list import parse_site
from wayhound.cli.console import err, label_text, out
from wayhound.cli.language import workspace_option
from wayhound.forage.explain import Explanation
from wayhound.forage.scorer import Reason
from wayhound.wording.faults import format_fault
from wayhound.wording.quantities import count
from wayhound.wording.reasons import format_reasons
from wayhound.workspace import Workspace


@click.command()
@click.argument("urls", nargs=-1, required=True, metavar="URL…")
@workspace_option
@click.option("--model", default="", help="A trained model.  [default: the last one]")
@click.option("--fetch", "fresh", is_flag=True, help="Fetch the page, even if the workspace holds it.")
@click.option("--limit", default=20, type=click.IntRange(1), show_default=True, help="Links to show.")
@click.option(
    "--features", default=3, type=click.IntRange(0), show_default=True, help="Reasons to show of each."
)
@click.option("--allow-private", is_flag=True, help="Also fetch from loopback and private addresses.")
@click.option("--json", "as_json", is_flag=True, help="Everything as JSON.")
def explain(
    urls: tuple[str, ...],
    folder: Path,
    model: str,
    fresh: bool,
    limit: int,
    features: int,
    allow_private: bool,
    as_json: bool,
) -> None:
    """Show how the links of a page are rated, the best first, and why.

    A page that a run or a trail has passed is taken from the workspace, with the way that led there. Any
    other is fetched and read as a start page; name the pages before it to read it at the end of that way:
    explain START … PAGE.
    """
    with Workspace.open(folder) as workspace:
        card = workspace.forage_models.card(model) if model else workspace.forage_models.last()
        way = _way(workspace, [_normal(url) for url in urls], fresh=fresh, allow_private=allow_private)
        found = explain_way(workspace, card.name, way)
    if as_json:
        told = {"model": card.name, "strategy": card.strategy, "source": way.source, **_data(found)}
        click.echo(json.dumps(told, ensure_ascii=False))
        return
    err.print(f"{found.url} {way.source}, by the model {card.name} ({card.strategy})", markup=False)
    out.print(_page_text(found, features))
    out.print(_links_table(found, limit, features))
    err.print(_rest(found, limit))


def _normal(url: str) -> str:
    """An address as people type it: `acme.example` will do, as for a forage."""
    return parse_site(url, "explain URL").start


def _way(workspace: Workspace, urls: list[str], *, fresh: bool, allow_private: bool) -> Way:
    known = None if fresh or len(urls) > 1 else known_way(workspace, urls[0])
    if known is not None:
        return known
    config = workspace.config
    if allow_private:
        config = replace(config, fetch=replace(config.fetch, allow_private=True))
    return fetched_way(config, urls)


def _page_text(found: Explanation, features: int) -> Text:
    text = Text.assemble(("label ", "bold"), label_text(found.label), f", a goal by {found.goal:.0%}")
    if found.why and features:
        text.append(f": {format_reasons(found.why, features)}", style="dim")
    return text


def _links_table(found: Explanation, limit: int, features: int) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in ("score", "leads to", "link", "URL", *(["why"] if features else [])):
        table.add_column(name, justify="right" if name == "score" else "left", overflow="fold")
    for rated in found.links[:limit]:
        said = " ".join(rated.link.text.split()) or "(no text)"
        why = [Text(format_reasons(rated.why, features), style="dim")] if features else []
        table.add_row(
            f"{rated.score:.3f}",
            label_text(rated.label),
            escape(said),
            escape(_near(rated.link.url, found.url)),
            *why,
        )
    return table


def _near(url: str, page: str) -> str:
    """An address on the same host by its path alone, so that the table fits a terminal."""
    origin = "/".join(page.split("/", 3)[:3])
    return url.removeprefix(origin) if url.startswith(f"{origin}/") else url


def _rest(found: Explanation, limit: int) -> str:
    more = len(found.links) - limit
    said = [f"{count(more, 'link')} more" if more > 0 else "", _alone(found)]
    return "; ".join(filter(None, said)) or "These are all its links."


def _alone(found: Explanation) -> str:
    reasons: dict[str, int] = {}
    for _, reason in found.not_followed:
        reasons[reason] = reasons.get(reason, 0) + 1
    told = ", ".join(f"{number} ({format_fault(reason)})" for reason, number in sorted(reasons.items()))
    return f"not followed: {told}" if told else ""


def _data(found: Explanation) -> dict[str, Any]:
    return {
        "url": found.url,
        "title": found.title,
        "label": found.label,
        "probability": found.goal,
        "why": _why(found.why),
        "links": [
            {
                **asdict(rated.link),
                "score": rated.score,
                "label": rated.label,
                "probability": rated.goal,
                "why": _why(rated.why),
            }
            for rated in found.links
        ],
        "left_alone": [
            {"url": link.url, "text": link.text, "reason": reason} for link, reason in found.not_followed
        ],
    }


def _why(reasons: tuple[Reason, ...]) -> list[dict[str, Any]]:
    return [{"feature": feature, "weight": weight} for feature, weight in reasons]

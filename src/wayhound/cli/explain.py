"""`wayhound explain`: how a model rates the links of a page."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from wayhound.app.explain import PagePath, explain_page, fetch_path, find_path
from wayhound.app.site_list import parse_site
from wayhound.cli.console import err, label_text, out, plain_table, write_json
from wayhound.cli.language import (
    Command,
    allow_private_option,
    features_option,
    json_option,
    limit_option,
    workspace_option,
)
from wayhound.errors import UsageError
from wayhound.forage.explain import Explanation
from wayhound.forage.scorer import Reason
from wayhound.wording.reasons import (
    format_expectation,
    format_main_reason,
    format_other_links,
    format_reasons,
    format_tie,
)
from wayhound.workspace import Workspace


@click.command(cls=Command, renamed={"--fetch": "--again"})
@click.argument("urls", nargs=-1, required=True, metavar="URL…")
@workspace_option
@click.option("--model", default="", metavar="NAME", help="A trained model.  [default: the last one trained]")
@click.option("--again", is_flag=True, help="Fetch the page again, even if the workspace has it.")
@click.option("--facts", default="", metavar="FACTS",
              help="Show these facts of the page with their places, such as contact; no model is needed.")  # fmt: skip
@limit_option(20, "links")
@features_option(3, "link")
@allow_private_option
@json_option
def explain(
    urls: tuple[str, ...],
    folder: Path,
    model: str,
    again: bool,
    facts: str,
    limit: int,
    features: int,
    allow_private: bool,
    as_json: bool,
) -> None:
    """Show how a model rates the links of a page, the best first, and why. None of them is fetched.

    A page that a run or a trail has passed is taken from the workspace, with the path that led there. Any other
    is fetched and read as a start page. To read it at the end of a path, name the pages of the path before it:
    explain START … PAGE. With --facts, the facts of the page are shown instead: each value, how sure it is, what it was
    read from, and the text around it.
    """
    if facts:
        _explain_facts(folder, facts, urls, again=again, allow_private=allow_private, as_json=as_json)
        return
    with Workspace.open(folder) as workspace:
        card = workspace.forage_models.card(model) if model else workspace.forage_models.last()
        path = _path(workspace, list(map(_normalised, urls)), again=again, allow_private=allow_private)
        explanation = explain_page(workspace, card.name, path)
    if as_json:
        origin = {"model": card.name, "strategy": card.strategy, "source": path.source}
        write_json(origin | _to_json(explanation))
        return
    err.print(f"{explanation.url} {path.source}, by the model {card.name} ({card.strategy})", markup=False)
    out.print(_page_text(explanation, features))
    out.print(_links_table(explanation, limit, features))
    err.print(format_other_links(explanation, limit))
    if tie := format_tie(explanation.links):
        err.print(tie, markup=False)


def _explain_facts(
    folder: Path, facts: str, urls: tuple[str, ...], *, again: bool, allow_private: bool, as_json: bool
) -> None:
    from wayhound.app.facts.review import explain_facts  # noqa: PLC0415 - reads numbering plans
    from wayhound.app.facts.search import parse_wanted  # noqa: PLC0415

    with Workspace.open(folder) as workspace:
        wanted = parse_wanted(workspace, facts)
        path = _path(workspace, list(map(_normalised, urls)), again=again, allow_private=allow_private)
    if path.response is None:
        raise UsageError(f"{path.page.url} is not archived. Fetch it with --again.")
    found = explain_facts(path.response, wanted)
    if as_json:
        shown = [entry.fact._asdict() | {"before": entry.before, "after": entry.after} for entry in found]
        write_json({"url": path.page.url, "source": path.source, "facts": shown})
        return
    err.print(f"{path.page.url} {path.source}", markup=False)
    table = plain_table("field", "value", "sure", "read from", "on the page", right=("sure",))
    for entry in found:
        fact = entry.fact
        place = Text.assemble(
            (f"{entry.before} ", "dim"), (entry.printed, "bold"), (f" {entry.after}", "dim")
        )
        shown_place = place if entry.printed else Text("(stated for machines)", style="dim")
        table.add_row(fact.field, Text(fact.text), f"{fact.confidence:.2f}", fact.source, shown_place)
    out.print(table)
    missing = [name for name in wanted.fields if name not in {entry.fact.field for entry in found}]
    if missing:
        err.print(f"Not on this page: {', '.join(missing)}.", markup=False)


def _normalised(url: str) -> str:
    """Return the address in normal form; `acme.example` is enough, as in lists of sites."""
    return parse_site(url).start


def _path(workspace: Workspace, urls: list[str], *, again: bool, allow_private: bool) -> PagePath:
    known = None if again or len(urls) > 1 else find_path(workspace, urls[0])
    if known is not None:
        return known
    config = workspace.config
    if allow_private:
        config = replace(config, fetch=replace(config.fetch, allow_private=True))
    return fetch_path(config, urls)


def _page_text(explanation: Explanation, features: int) -> Text:
    text = Text.assemble(("page ", "bold"), format_expectation(explanation.label, explanation.goal))
    if main := format_main_reason(explanation.why):
        text.append(f". {main}")
    if explanation.why and features:
        text.append(f"\nReasons: {format_reasons(explanation.why, features)}", style="dim")
    return text


def _links_table(explanation: Explanation, limit: int, features: int) -> Table:
    table = plain_table("score", "leads to", "link", "URL", *(["why"] if features else []), right=("score",))
    for rated in explanation.links[:limit]:
        text = " ".join(rated.link.text.split()) or "(no text)"
        url = _path_on_host(rated.link.url, explanation.url)
        why = [Text(format_reasons(rated.why, features), style="dim")] if features else []
        table.add_row(f"{rated.score:.3f}", label_text(rated.label), Text(text), Text(url), *why)
    return table


def _path_on_host(url: str, page: str) -> str:
    """Return a URL on the page's host by its path alone, so that the table fits a terminal."""
    origin = "/".join(page.split("/", 3)[:3])
    return url.removeprefix(origin) if url.startswith(f"{origin}/") else url


def _to_json(explanation: Explanation) -> dict[str, Any]:
    return {
        "url": explanation.url,
        "title": explanation.title,
        "label": explanation.label,
        "probability": explanation.goal,
        "why": _why(explanation.why),
        "links": [
            {
                **asdict(rated.link),
                "score": rated.score,
                "label": rated.label,
                "probability": rated.goal,
                "why": _why(rated.why),
            }
            for rated in explanation.links
        ],
        "left_alone": [
            {"url": link.url, "text": link.text, "reason": reason}
            for link, reason in explanation.not_followed
        ],
    }


def _why(reasons: tuple[Reason, ...]) -> list[dict[str, Any]]:
    return [{"feature": feature, "weight": weight} for feature, weight in reasons]

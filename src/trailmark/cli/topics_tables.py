"""Topics as people read them in a terminal, and as other programs read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.markup import escape
from rich.table import Table

from trailmark.cli.console import count
from trailmark.organise.topics.placement import Placement
from trailmark.organise.topics.suggest import DoubtfulKeyword, NewKeyword, NewTopic
from trailmark.organise.topics.training import Training
from trailmark.organise.topics.tree import TopicTree

_BAR_WIDTH = 30


def training_table(training: Training) -> Table:
    """Coverage, every round of EM, and how sure the model may be."""
    told = training.history
    table = Table("round", "log-likelihood", "changed topic", title=_sentence(told), title_justify="left")
    for number, step in enumerate(told["rounds"]):
        name = "keywords alone" if number == 0 else str(number)
        table.add_row(name, f"{step['log_likelihood']:,.0f}", f"{step['moved']:.1%}")
    table.caption = _warning(told["empty"])
    table.caption_justify = "left"
    return table


def _sentence(told: Mapping[str, Any]) -> str:
    rounds = count(len(told["rounds"]) - 1, "round")
    ended = f"converged after {rounds}" if told["converged"] else f"{rounds} of EM"
    return (
        f"{told['documents']:,} documents, {told['coverage']:.0%} of them with a keyword; {ended}; "
        f"{told['nowhere']:,} fit nowhere"
    )


def _warning(empty: Sequence[str]) -> str:
    if not empty:
        return ""
    return "No document holds a keyword of: " + escape(", ".join(empty)) + ". These topics stay empty."


def training_data(training: Training) -> dict[str, Any]:
    return dict(training.history)


def placements_table(placements: Sequence[Placement], titles: Mapping[str, str]) -> Table:
    table = Table("document", "topic", "sure", "also", "words that decided")
    for placed in placements:
        name = titles.get(placed.document) or placed.document
        words = ", ".join(word for word, _ in placed.words)
        topic = f"{placed.title} (by hand)" if placed.corrected else placed.title
        table.add_row(
            *map(escape, (name, topic, f"{placed.confidence:.0%}", " › ".join(placed.second), words))
        )
    return table


def placement_data(placed: Placement, titles: Mapping[str, str]) -> dict[str, Any]:
    return asdict(placed) | {"title": titles.get(placed.document, "")}


def tree_table(tree: TopicTree, counts: Mapping[tuple[str, ...], int], told: Mapping[str, Any]) -> Table:
    """The tree with how many documents stand at each topic and below it."""
    title = _sentence(told) if told else None
    table = Table("topic", "documents", "here itself", "", title=title, title_justify="left")
    totals = {topic.path: _below(topic.path, counts) for topic in tree.topics}
    most = max(totals.values(), default=0) or 1
    for topic in tree.topics:
        total = totals[topic.path]
        own = counts.get(topic.path, 0)
        name = "  " * (len(topic.path) - 1) + topic.name
        table.add_row(escape(name), f"{total:,}", f"{own:,}", "▇" * round(_BAR_WIDTH * total / most))
    table.add_row("(nowhere)", f"{counts.get((), 0):,}", "", "")
    return table


def _below(path: tuple[str, ...], counts: Mapping[tuple[str, ...], int]) -> int:
    return sum(number for placed, number in counts.items() if placed[: len(path)] == path)


def suggestions_tables(
    added: Sequence[NewKeyword], doubted: Sequence[DoubtfulKeyword], missing: Sequence[NewTopic]
) -> list[Table]:
    more = Table("topic", "keyword", "here", "elsewhere", title="Keywords to add", title_justify="left")
    for new in added:
        more.add_row(
            escape(" › ".join(new.topic)), escape(new.keyword), str(new.documents), str(new.elsewhere)
        )
    fewer = Table("topic", "keyword", "documents", "support", "they look like", title="Keywords to doubt",
                  title_justify="left")  # fmt: skip
    for doubt in doubted:
        fewer.add_row(escape(" › ".join(doubt.topic)), escape(doubt.keyword), str(doubt.documents),
                      f"{doubt.support:.0%}", escape(" › ".join(doubt.instead)))  # fmt: skip
    topics = Table("under", "name", "keywords", "documents", title="Topics that may be missing",
                   title_justify="left")  # fmt: skip
    for topic in missing:
        parent = " › ".join(topic.parent) or "/"
        topics.add_row(
            *map(escape, (parent, topic.name, ", ".join(topic.keywords), str(len(topic.documents))))
        )
    return [more, fewer, topics]


def suggestions_data(
    added: Sequence[NewKeyword], doubted: Sequence[DoubtfulKeyword], missing: Sequence[NewTopic]
) -> dict[str, Any]:
    return {
        "keywords": [asdict(new) for new in added],
        "doubtful": [asdict(doubt) for doubt in doubted],
        "topics": [asdict(topic) for topic in missing],
    }

"""`wayhound topics`: fill a tree of topics with documents, from a few keywords a topic."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.markup import escape
from rich.table import Table

from wayhound.app.topics import TREE_NAME, Topics, documents_from
from wayhound.cli.console import err, next_steps, out, typed, workspace_option
from wayhound.errors import UsageError
from wayhound.topics.documents import TopicDocument, read_documents
from wayhound.topics.model import TopicPlacement
from wayhound.topics.suggest import (
    DoubtfulKeyword,
    NewKeyword,
    NewTopic,
    doubtful_keywords,
    new_keywords,
    new_topics,
)
from wayhound.topics.training import TopicSettings, TopicTraining
from wayhound.topics.training import train as train_topics
from wayhound.topics.tree import (
    TopicTree,
    parse_tree,
    read_tree,
    ready_trees,
    with_keywords,
    with_topic,
    without_keywords,
)
from wayhound.wording.quantities import count
from wayhound.workspace import Workspace

_BAR_WIDTH = 30


def training_table(training: TopicTraining) -> Table:
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


def training_data(training: TopicTraining) -> dict[str, Any]:
    return dict(training.history)


def placements_table(placements: Sequence[TopicPlacement], titles: Mapping[str, str]) -> Table:
    table = Table("document", "topic", "sure", "also", "words that decided")
    for placed in placements:
        name = titles.get(placed.document) or placed.document
        words = ", ".join(word for word, _ in placed.words)
        topic = f"{placed.title} (by hand)" if placed.corrected else placed.title
        table.add_row(
            *map(escape, (name, topic, f"{placed.confidence:.0%}", " › ".join(placed.second), words))
        )
    return table


def placement_data(placed: TopicPlacement, titles: Mapping[str, str]) -> dict[str, Any]:
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


READY = sorted(ready_trees())

json_option = click.option("--json", "as_json", is_flag=True, help="As JSON.")
files_argument = click.argument(
    "files", nargs=-1, type=click.Path(path_type=Path, dir_okay=False, exists=True)
)
citations_option = click.option(
    "--citations",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Who cites whom: two ids a line, with a tab between them.",
)
rounds_option = click.option("--rounds", default=TopicSettings().rounds, show_default=True,
                             type=click.IntRange(min=0), help="Rounds of EM at most.")  # fmt: skip
seed_option = click.option("--seed", default=0, show_default=True, help="For what is drawn by chance.")


@click.group()
def topics() -> None:
    """Fill a tree of topics with documents, from a few keywords a topic."""


@topics.command("init")
@workspace_option
@click.option("--tree", default="computer-science", show_default=True,
              help=f"A ready tree ({', '.join(READY)}) or a file.")  # fmt: skip
@click.option("--replace", is_flag=True, help="Write over the tree that is there.")
def init_tree(folder: Path, tree: str, replace: bool) -> None:
    """Put a topic tree into the workspace, as a text file to be changed."""
    text = ready_trees()[tree] if tree in READY else _tree_file(tree)
    leaves = parse_tree(text, tree).leaves
    with Workspace.open(folder) as workspace:
        target = workspace.folder / TREE_NAME
        if target.exists() and not replace:
            raise UsageError(f"{target} is there already. Change it with an editor, or give --replace.")
        target.write_text(text, "utf-8")
    click.echo(f"{target}: {len(leaves)} leaves.")
    next_steps(
        (typed(folder, "topics train"), "puts the papers of the workspace under them"),
        (typed(folder, "topics train documents.jsonl"), "or documents of your own"),
    )


def _tree_file(name: str) -> str:
    path = Path(name)
    if not path.exists():
        raise UsageError(f"There is no tree {name!r}: neither a file nor one of {', '.join(READY)}.")
    read_tree(path)
    return path.read_text("utf-8")


@topics.command("train")
@files_argument
@workspace_option
@citations_option
@rounds_option
@seed_option
@json_option
def train(
    files: tuple[Path, ...], folder: Path, citations: Path | None, rounds: int, seed: int, as_json: bool
) -> None:
    """Learn from keywords and documents, and place every document.

    FILES hold documents as JSON lines; without them, the papers of the workspace are taken. Corrections that
    were made by hand are kept to.
    """
    with Topics.open(folder) as place:
        documents, cited = documents_from(place, files, citations)
        with err.status(f"Training on {len(documents):,} documents…"):
            training = train_topics(
                place.tree(),
                documents,
                np.random.default_rng(seed),
                citations=cited,
                corrections=place.corrections_of(documents),
                settings=TopicSettings(rounds=rounds),
            )
        place.keep(training, documents)
    if as_json:
        click.echo(json.dumps(training_data(training), ensure_ascii=False))
        return
    out.print(training_table(training))
    next_steps(
        (typed(folder, "topics report"), "how the documents fall over the tree"),
        (typed(folder, "serve"), "browse them by topic"),
    )


@topics.command("place")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@workspace_option
@json_option
def place(file: Path, folder: Path, as_json: bool) -> None:
    """Place new documents with the trained model, without training again."""
    documents = read_documents(file)
    with Topics.open(folder) as opened:
        model = opened.model()
        placements = [model.place(document) for document in documents]
        opened.store.save(placements, {document.id: document.title for document in documents})
    _show(placements, documents, as_json)


def _show(placements: list[TopicPlacement], documents: list[TopicDocument], as_json: bool) -> None:
    titles = {document.id: document.title for document in documents}
    if not as_json:
        out.print(placements_table(placements, titles))
        return
    for placement in placements:
        click.echo(json.dumps(placement_data(placement, titles), ensure_ascii=False))


@topics.command("correct")
@click.argument("document")
@click.argument("topic", required=False)
@workspace_option
@click.option("--forget", is_flag=True, help="Take the correction back.")
def correct(document: str, topic: str | None, folder: Path, forget: bool) -> None:
    """Say where a document belongs; the next training learns from it."""
    if (topic is None) != forget:
        raise UsageError(
            "Give the topic that the document belongs to, or --forget to take a correction back."
        )
    with Topics.open(folder) as opened:
        if topic is None:
            if not opened.store.take_back(document):
                raise UsageError(f"There is no correction of {document}.")
        elif opened.store.get(document) is None:
            raise UsageError(f"There is no document {document} among those that were placed.")
        else:
            opened.store.correct(document, opened.tree().find(topic).path)
        waiting = len(opened.store.corrections())
    click.echo(f"{waiting} corrections in all. Next: wayhound topics train, with the same documents")


@topics.command("suggest")
@files_argument
@workspace_option
@citations_option
@seed_option
@click.option("--keywords", "per_topic", default=3, show_default=True, help="At most so many a topic.")
@json_option
def suggest(
    files: tuple[Path, ...], folder: Path, citations: Path | None, seed: int, per_topic: int, as_json: bool
) -> None:
    """Propose keywords to add, keywords to doubt, and topics that are missing.

    Takes the documents that the tree was trained with. Accept what is good with `topics accept`.
    """
    with Topics.open(folder) as place, err.status("Looking for what could be better…"):
        documents, cited = documents_from(place, files, citations)
        corrections = place.corrections_of(documents)
        training = train_topics(
            place.tree(), documents, np.random.default_rng(seed), citations=cited, corrections=corrections
        )
        found = (
            new_keywords(training, documents, per_topic),
            doubtful_keywords(training, documents),
            new_topics(training, documents),
        )
    if as_json:
        click.echo(json.dumps(suggestions_data(*found), ensure_ascii=False))
    else:
        for table in suggestions_tables(*found):
            out.print(table)


@topics.command("accept")
@click.argument("topic")
@click.argument("keywords", nargs=-1, required=True)
@workspace_option
@click.option("--new", "name", default="", help="The name of a new topic under TOPIC; / stands for the top.")
@click.option("--drop", is_flag=True, help="Take the keywords away instead.")
def accept(topic: str, keywords: tuple[str, ...], folder: Path, name: str, drop: bool) -> None:
    """Add keywords to a topic of the tree file, take some away, or make a new topic."""
    if name and drop:
        raise UsageError("A new topic has no keywords to drop: give --new or --drop.")
    with Topics.open(folder) as opened:
        text = opened.tree_path.read_text("utf-8")
        if name:
            text = with_topic(text, topic, name, keywords)
        else:
            text = (without_keywords if drop else with_keywords)(text, topic, keywords)
        opened.tree_path.write_text(text, "utf-8")
    click.echo("The tree is changed. Next: wayhound topics train, with the same documents")


@topics.command("report")
@click.argument("topic", required=False)
@workspace_option
@click.option("--limit", default=20, show_default=True, help="Documents to list.")
@json_option
def report(topic: str | None, folder: Path, limit: int, as_json: bool) -> None:
    """Show how the documents fall over the tree; with TOPIC, its documents and the words that decided."""
    with Topics.open(folder) as opened:
        tree, store = opened.tree(), opened.store
        if topic is not None:
            path = () if topic == "/" else tree.find(topic).path
            placements = list(store.under(path, limit))
            titles = {placement.document: store.title(placement.document) for placement in placements}
            _list(placements, titles, as_json)
            return
        counts = store.counts()
        if not counts:
            raise UsageError(f"No document has been placed yet. Next: {typed(folder, 'topics train')}")
        if as_json:
            click.echo(json.dumps({" › ".join(path): count for path, count in counts.items()}))
        else:
            out.print(tree_table(tree, counts, opened.history()))


def _list(placements: list[TopicPlacement], titles: dict[str, str], as_json: bool) -> None:
    if as_json:
        for placement in placements:
            click.echo(json.dumps(placement_data(placement, titles), ensure_ascii=False))
    else:
        table: Table = placements_table(placements, titles)
        out.print(table)

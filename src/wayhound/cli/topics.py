"""`wayhound topics`: place documents in a tree of topics, from a few keywords a topic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import click
from rich.bar import Bar
from rich.markup import escape
from rich.table import Column, Table

from wayhound.app.topics import TopicReport, Topics, read_corpus
from wayhound.cli.console import command_for, err, next_steps, out, write_json
from wayhound.cli.language import (
    Group,
    cluster_option,
    json_option,
    limit_option,
    seed_option,
    workspace_option,
)
from wayhound.errors import UsageError
from wayhound.topics.clusters import cluster_tree
from wayhound.topics.documents import read_documents
from wayhound.topics.model import NOWHERE, TopicPlacement
from wayhound.topics.suggest import PER_TOPIC, TopicSuggestions
from wayhound.topics.training import TopicSettings, TopicTraining
from wayhound.topics.tree import load_tree_text, shipped_trees
from wayhound.wording.papers import empty_topics_warning, training_summary
from wayhound.wording.undo import NOTHING
from wayhound.workspace import Workspace

_BAR_WIDTH = 30

files_argument = click.argument(
    "files", nargs=-1, type=click.Path(path_type=Path, dir_okay=False, exists=True)
)
citations_option = click.option(
    "--citations",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A file of citations: the citing id, a tab, the cited id.",
)
MOVED = {("correct", "--forget"): ("undo",), ("correct", "--undo"): ("undo",)}


@click.group(cls=Group, moved=MOVED)
def topics() -> None:
    """Place documents in a tree of topics, from a few keywords a topic."""


@contextmanager
def _opened(folder: Path) -> Iterator[Topics]:
    with Workspace.open(folder) as workspace:
        yield Topics(workspace)


@topics.command("init")
@files_argument
@workspace_option
@click.option(
    "--from-documents", is_flag=True, help="Propose a tree with keywords, by clustering the documents."
)
@click.option("--tree", default="computer-science", metavar="TREE", show_default=True,
              help=f"A shipped tree ({', '.join(sorted(shipped_trees()))}) or a file.")  # fmt: skip
@click.option("--replace", is_flag=True, help="Overwrite the tree of the workspace.")
@seed_option
def init_tree(
    files: tuple[Path, ...], folder: Path, from_documents: bool, tree: str, replace: bool, seed: int
) -> None:
    """Write a topic tree into the workspace, as a text file for you to edit.

    With --from-documents, it is made from the documents in FILES (JSON lines), or from the papers of the workspace.
    """
    if files and not from_documents:
        raise UsageError("FILES go with --from-documents.")
    with _opened(folder) as opened:
        if opened.tree_file.exists and not replace:
            raise UsageError(f"{opened.tree_file.path} is there already. Edit it, or give --replace.")
        if from_documents:
            text = cluster_tree(read_corpus(opened.workspace, files).documents, seed)
        else:
            text = load_tree_text(tree)
        leaves = opened.tree_file.write(text).leaves
        err.print(f"{opened.tree_file.path}: {len(leaves)} leaves.", markup=False)
    next_steps(
        (command_for(folder, "topics train"), "place the papers of the workspace"),
        (command_for(folder, "topics train documents.jsonl"), "or documents of your own"),
    )


@topics.command("train")
@files_argument
@workspace_option
@citations_option
@click.option("--rounds", default=TopicSettings().rounds, show_default=True, type=click.IntRange(min=0), metavar="N",
              help="Run at most this many rounds of EM.")  # fmt: skip
@seed_option
@json_option
def train(
    files: tuple[Path, ...], folder: Path, citations: Path | None, rounds: int, seed: int, as_json: bool
) -> None:
    """Learn from keywords and documents, and place every document.

    FILES hold documents as JSON lines; without them, the papers of the workspace are used. Corrections are kept.
    """
    with _opened(folder) as opened, err.status("Reading documents…") as status:
        training = opened.train(
            read_corpus(opened.workspace, files, citations),
            settings=TopicSettings(rounds=rounds),
            seed=seed,
            on_progress=lambda step, _, __: status.update(f"{step.capitalize()}…"),
        )
    if as_json:
        write_json(training.history)
        return
    out.print(training_table(training))
    next_steps(
        (command_for(folder, "topics report"), "see how the documents are distributed over the tree"),
        (command_for(folder, "serve"), "browse them by topic"),
    )


def training_table(training: TopicTraining) -> Table:
    history = training.history
    title = training_summary(history)
    table = Table("round", "log-likelihood", "changed topic", title=title, title_justify="left")
    for number, step in enumerate(history["rounds"]):
        name = "keywords alone" if number == 0 else str(number)
        table.add_row(name, f"{step['log_likelihood']:,.0f}", f"{step['moved']:.1%}")
    table.caption = escape(empty_topics_warning(history))
    table.caption_justify = "left"
    return table


@topics.command("place")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@workspace_option
@cluster_option
@json_option
def place(file: Path, folder: Path, cluster: str | None, as_json: bool) -> None:
    """Place new documents with the trained model, without training again."""
    documents = read_documents(file)
    with _opened(folder) as opened:
        placements = opened.place(documents, cluster or "")
    titles = (document.title for document in documents)
    _print_placements(zip(placements, titles, strict=True), as_json=as_json)


@topics.command("report")
@click.argument("topic", required=False)
@workspace_option
@limit_option(20, "documents")
@json_option
def report(topic: str | None, folder: Path, limit: int, as_json: bool) -> None:
    """Show how many documents each topic has, or with TOPIC the documents of one and the words that decided."""
    with _opened(folder) as opened:
        if topic is not None:
            _print_placements(opened.documents_under(topic, limit), as_json=as_json)
            return
        distribution = opened.report()
        if not distribution.documents:
            raise UsageError(f"No document has been placed yet. Next: {command_for(folder, 'topics train')}")
        if as_json:
            counts = opened.store.counts().items()
            write_json({" › ".join(path): count for path, count in counts})
        else:
            out.print(report_table(distribution))


def report_table(report: TopicReport) -> Table:
    """Return the tree with the number of documents at each topic and below it."""
    title = training_summary(report.history) if report.history else None
    numbers = (Column(name, justify="right") for name in ("documents", "here itself"))
    bars = Column(max_width=_BAR_WIDTH)  # a bar takes what the names leave of the line
    table = Table(Column("topic", no_wrap=True), *numbers, bars, title=title, title_justify="left")
    most = max((count.total for count in report.topics), default=0) or 1
    for count in report.topics:
        name = "  " * (len(count.topic.path) - 1) + count.topic.name
        table.add_row(escape(name), f"{count.total:,}", f"{count.own:,}", Bar(most, 0, count.total))
    table.add_row(NOWHERE, f"{report.nowhere:,}", "", "")
    return table


def _print_placements(placements: Iterable[tuple[TopicPlacement, str]], *, as_json: bool) -> None:
    """Print placements with the titles of their documents."""
    if as_json:
        for placed, title in placements:
            write_json(asdict(placed) | {"title": title})
        return
    table = Table("document", "topic", "confidence", "or", "deciding words")
    for placed, title in placements:
        words = ", ".join(word for word, _ in placed.words)
        topic = f"{placed.title} (by hand)" if placed.corrected else placed.title
        _add_row(table, title or placed.document, topic, f"{placed.confidence:.0%}", _others(placed), words)
    out.print(table)


def _others(placed: TopicPlacement) -> str:
    """Return the best leaves of a document whose topic is unsure, or else its second topic."""
    if placed.best and not placed.corrected:
        return ", ".join(f"{path[-1]} {share:.0%}" for path, share in placed.best)
    return " › ".join(placed.second)


def _add_row(table: Table, *cells: str) -> None:
    table.add_row(*map(escape, cells))


@topics.command("correct")
@click.argument("document")
@click.argument("topic")
@workspace_option
def correct(document: str, topic: str, folder: Path) -> None:
    """Record where a document belongs. The next training learns from it."""
    with _opened(folder) as opened:
        _print_corrections(opened.correct(document, topic), folder)


@topics.command("undo")
@click.argument("document", required=False)
@workspace_option
def undo(document: str | None, folder: Path) -> None:
    """Undo the correction of DOCUMENT, or the last one; called again, the one before it."""
    with _opened(folder) as opened:
        document = document or opened.store.last_corrected()
        if document is None:
            raise UsageError(NOTHING)
        remaining = opened.undo_correction(document)
    err.print(f"Undone: the correction of {document}.", markup=False)
    _print_corrections(remaining, folder)


def _print_corrections(corrections: int, folder: Path) -> None:
    train = command_for(folder, "topics train")
    err.print(f"{corrections} corrections in all. Next, with the same documents: {train}", markup=False)


@topics.command("suggest")
@files_argument
@workspace_option
@citations_option
@seed_option
@click.option("--keywords", "per_topic", default=PER_TOPIC, metavar="N", show_default=True,
              help="Suggest at most this many keywords for a topic.")  # fmt: skip
@json_option
def suggest(
    files: tuple[Path, ...], folder: Path, citations: Path | None, seed: int, per_topic: int, as_json: bool
) -> None:
    """Suggest keywords to add, keywords to drop, and topics to add.

    Give the documents that the tree was trained with. Accept a suggestion with `topics accept`.
    """
    with _opened(folder) as opened, err.status("Looking for suggestions…"):
        corpus = read_corpus(opened.workspace, files, citations)
        suggestions = opened.suggest(corpus, seed=seed, per_topic=per_topic)
    if as_json:
        write_json(suggestions.to_json())
    else:
        for table in suggestion_tables(suggestions):
            out.print(table)


def suggestion_tables(suggestions: TopicSuggestions) -> Iterator[Table]:
    keywords = Table("topic", "keyword", "here", "elsewhere", title="Keywords to add", title_justify="left")
    for new in suggestions.keywords:
        _add_row(keywords, " › ".join(new.topic), new.keyword, str(new.documents), str(new.elsewhere))
    yield keywords
    doubtful = Table("topic", "keyword", "documents", "support", "they look like", title="Keywords to drop",
                     title_justify="left")  # fmt: skip
    for old in suggestions.doubtful:
        support, instead = f"{old.support:.0%}", " › ".join(old.instead)
        _add_row(doubtful, " › ".join(old.topic), old.keyword, str(old.documents), support, instead)
    yield doubtful
    missing = Table("under", "name", "keywords", "documents", title="Topics to add", title_justify="left")
    for topic in suggestions.topics:
        parent = " › ".join(topic.parent) or "/"
        _add_row(missing, parent, topic.name, ", ".join(topic.keywords), str(len(topic.documents)))
    yield missing


@topics.command("accept")
@click.argument("topic")
@click.argument("keywords", nargs=-1, required=True)
@workspace_option
@click.option(
    "--new", "name", default="", metavar="NAME", help="Add a topic of this name under TOPIC; / is the top."
)
@click.option("--drop", is_flag=True, help="Remove the keywords instead.")
def accept(topic: str, keywords: tuple[str, ...], folder: Path, name: str, drop: bool) -> None:
    """Add keywords to a topic of the tree, remove some, or add a topic."""
    if name and drop:
        raise UsageError("A new topic has no keywords to drop: give --new or --drop.")
    with _opened(folder) as opened:
        if name:
            opened.tree_file.add_topic(topic, name, keywords)
        elif drop:
            opened.tree_file.drop_keywords(topic, keywords)
        else:
            opened.tree_file.add_keywords(topic, keywords)
    train = command_for(folder, "topics train")
    err.print(f"The tree is changed. Next, with the same documents: {train}", markup=False)

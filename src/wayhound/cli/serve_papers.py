"""From a folder of papers to a workspace that can be served: taken up, read, matched, put under topics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from wayhound.app.topics import TREE_NAME, Topics, documents_from
from wayhound.cli.console import err
from wayhound.cli.papers_work import add
from wayhound.config import FILE_NAME
from wayhound.errors import UsageError
from wayhound.topics.training import train as train_topics
from wayhound.topics.tree import parse_tree, ready_trees
from wayhound.wording.quantities import count
from wayhound.workspace import Workspace


def take_up_papers(folder: Path, paths: Sequence[Path], tree: str) -> None:
    """Make the workspace if there is none, read the papers that it lacks, and place all under topics."""
    text = _tree_text(tree)
    if not (folder / FILE_NAME).exists():
        Workspace.create(folder).close()
        err.print(f"{folder} is a workspace now.", markup=False)
    add(folder, paths, None, from_forage=False, run_id=None, as_json=False)
    _place(folder, text)


def _tree_text(tree: str) -> str:
    ready = ready_trees()
    if tree in ready:
        return ready[tree]
    try:
        text = Path(tree).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        raise UsageError(
            f"There is no tree {tree!r}: neither a file nor one of {', '.join(ready)}."
        ) from None
    parse_tree(text, tree)
    return text


def _place(folder: Path, tree: str) -> None:
    """A tree that is there already stays. Papers that no topic can be found for are served all the same."""
    path = folder / TREE_NAME
    if not path.exists():
        path.write_text(tree, "utf-8")
    try:
        with Topics.open(folder) as topics, err.status("Putting papers under topics…"):
            placed, of = _train(topics)
    except UsageError as error:
        err.print(f"No paper stands under a topic. {error} The tree is in {path}.", markup=False)
        return
    err.print(f"{count(placed, 'paper')} of {of:,} stand under a topic.")


def _train(topics: Topics) -> tuple[int, int]:
    """How many papers stand under a topic, and of how many; corrections made by hand are kept to."""
    documents, citations = documents_from(topics, (), None)
    training = train_topics(
        topics.tree(), documents, np.random.default_rng(0), citations=citations,
        corrections=topics.corrections_of(documents),
    )  # fmt: skip
    topics.keep(training, documents)
    return sum(1 for each in training.placements if each.topic), len(documents)

"""`wayhound serve PAPERS`: read papers into a workspace and place them under topics, before serving it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wayhound.app.topics import place_papers
from wayhound.cli.console import err
from wayhound.cli.papers_work import add
from wayhound.config import FILE_NAME
from wayhound.errors import UsageError
from wayhound.topics.tree import TREE_NAME, load_tree_text
from wayhound.wording.topics import papers_placed
from wayhound.workspace import Workspace


def take_up_papers(folder: Path, paths: Sequence[Path], tree: str) -> None:
    """Create the workspace if there is none, read the papers that it lacks, and place all under topics.

    Papers are served even if none can be placed. Raises UsageError if `tree` is neither shipped nor a file.
    """
    default_tree = load_tree_text(tree)  # before the papers are read, which may take long
    if not (folder / FILE_NAME).exists():
        Workspace.create(folder).close()
        err.print(f"Created the workspace {folder}.", markup=False)
    add(folder, paths, None, from_forage=False, run_id=None, as_json=False)
    try:
        with Workspace.open(folder) as workspace, err.status("Placing papers under topics…"):
            placed, papers = place_papers(workspace, default_tree)
    except UsageError as error:
        where = folder / TREE_NAME
        err.print(f"No paper was placed under a topic. {error} The tree is in {where}.", markup=False)
        return
    err.print(papers_placed(placed, papers))

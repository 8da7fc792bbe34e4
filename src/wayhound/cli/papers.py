"""`wayhound papers`: from files to fields, references and a citation graph.

The work is in `papers_work`, which loads the models of papers, so it is imported where it is used.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wayhound.cli.language import (
    Group,
    cluster_option,
    json_option,
    limit_option,
    out_option,
    run_option,
    workers_option,
    workspace_option,
)
from wayhound.errors import UsageError
from wayhound.papers.bibliography import FORMATS

if TYPE_CHECKING:
    from wayhound.papers.models import ModelName

model_option = click.option(
    "--model", type=click.Choice(["crf", "hmm"]),
    help="Read with a conditional random field (crf) or a hidden Markov model (hmm).  [default: the last choice, "
         "at first crf]",
)  # fmt: skip


@click.group(cls=Group)
def papers() -> None:
    """Read papers: fields with their places, references, and who cites whom."""


@papers.command("add")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, exists=True))
@workspace_option
@click.option(
    "--from-forage", is_flag=True, help="Add the PDF, PostScript and text files that runs have fetched."
)
@run_option
@click.option(
    "--ocr", is_flag=True, help="Recognise the text of scanned files with Tesseract; takes seconds a page."
)
@workers_option()
@cluster_option
@json_option
def add(
    paths: tuple[Path, ...],
    folder: Path,
    from_forage: bool,
    run_id: int | None,
    ocr: bool,
    workers: int | None,
    cluster: str | None,
    as_json: bool,
) -> None:
    """Read the files at PATHS, and those in folders there, each once. The same command resumes what was stopped.

    Exits with code 1 if a file could not be read.
    """
    from wayhound.cli import papers_work  # noqa: PLC0415

    if not paths and not from_forage:
        raise UsageError("Name files or folders, or give --from-forage.")
    if run_id is not None and not from_forage:
        raise UsageError("--run goes with --from-forage.")
    code = papers_work.add(
        folder,
        paths,
        workers,
        from_forage=from_forage,
        run_id=run_id,
        cluster=cluster,
        ocr=ocr,
        as_json=as_json,
    )
    if code != papers_work.STOPPED:
        papers_work.print_next_steps(folder)
    raise SystemExit(code)


@papers.command("read")
@workspace_option
@click.option("--again", is_flag=True, help="Also read files that have been read with the current models.")
@model_option
@workers_option()
@cluster_option
@json_option
def read(
    folder: Path,
    again: bool,
    model: ModelName | None,
    workers: int | None,
    cluster: str | None,
    as_json: bool,
) -> None:
    """Read files again from the archive, if they were read with other models than the current ones.

    With --model, this and every later command of the workspace reads papers with that model.
    """
    from wayhound.cli import papers_work  # noqa: PLC0415

    raise SystemExit(
        papers_work.read(folder, workers, cluster=cluster, again=again, model=model, as_json=as_json)
    )


@papers.command("list")
@workspace_option
@click.option("--sort", type=click.Choice(["cited", "title", "year"]), default="cited", show_default=True,
              help="Order by citations, by title, or newest first.")  # fmt: skip
@limit_option(50, "papers")
@click.option("--unread", is_flag=True, help="List files that are not papers or could not be read, and why.")
@json_option
def list_papers(folder: Path, sort: str, limit: int, unread: bool, as_json: bool) -> None:
    """List the papers of the workspace."""
    from wayhound.cli import papers_work  # noqa: PLC0415

    if unread:
        papers_work.list_unread(folder, as_json=as_json)
    else:
        papers_work.list_papers(folder, sort, limit, as_json=as_json)


@papers.command("show")
@click.argument("paper_id", metavar="ID")
@workspace_option
@json_option
def show(paper_id: str, folder: Path, as_json: bool) -> None:
    """Show a paper: fields with confidence and place, references, and the sentences that cite it."""
    from wayhound.cli import papers_work  # noqa: PLC0415

    papers_work.show(folder, paper_id, as_json=as_json)


@papers.command("export")
@click.argument("paper_ids", nargs=-1, metavar="[ID]...")
@workspace_option
@out_option
@click.option("--format", "file_format", type=click.Choice(list(FORMATS)), default="bibtex", show_default=True,
              help="The file format.")  # fmt: skip
def export(paper_ids: tuple[str, ...], folder: Path, file_format: str, path: Path | None) -> None:
    """Write papers and other documents, all or some, for reference managers and TeX.

    What a paper does not say about itself, such as where it appeared, is taken from papers that cite it.
    """
    from wayhound.cli import papers_work  # noqa: PLC0415

    papers_work.export(folder, paper_ids, file_format, path)


@papers.command("correct")
@click.argument("paper_id", metavar="ID")
@click.argument("field")
@click.argument("values", nargs=-1, metavar="[VALUE]...")
@workspace_option
@click.option("--none", "is_empty", is_flag=True, help="The paper has no such field.")
@click.option("--by", default="operator", metavar="NAME", show_default=True, help="Who corrects.")
def correct(
    paper_id: str, field: str, values: tuple[str, ...], folder: Path, is_empty: bool, by: str
) -> None:
    """Correct FIELD of a paper, with one VALUE for each author, keyword and so on.

    A field of its third reference is 3.title. FIELD kind with VALUE paper or document decides what the file is.
    Corrections are kept whenever the paper is read again, and `wayhound papers train` learns from them.
    """
    from wayhound.cli import papers_work  # noqa: PLC0415

    if is_empty == bool(values):
        raise UsageError("Give the values of the field, or --none if the paper has no such field.")
    papers_work.correct(folder, paper_id, field, values, by)


@papers.command("undo")
@click.argument("paper_id", metavar="ID", required=False, default="")
@workspace_option
def undo(paper_id: str, folder: Path) -> None:
    """Undo the last correction, or the last one of the paper ID; called again, the one before it."""
    from wayhound.cli import papers_work  # noqa: PLC0415

    papers_work.undo(folder, paper_id)


@papers.command("regroup")
@workspace_option
@json_option
def regroup(folder: Path, as_json: bool) -> None:
    """Find again which references are to the same work, over all papers at once.

    Each paper is matched when it is added, with those before it; a collection that has grown is matched better all
    at once. Corrections are kept. It may be stopped at any time: until it is done nothing changes.
    """
    from wayhound.cli import papers_work  # noqa: PLC0415

    papers_work.regroup_citations(folder, as_json=as_json)


@papers.command("train")
@workspace_option
@model_option
@click.option("--data", metavar="FOLDER", type=click.Path(path_type=Path, exists=True, file_okay=False),
              help="First train new models on the tagged texts in this folder.")  # fmt: skip
@json_option
def train(folder: Path, model: ModelName | None, data: Path | None, as_json: bool) -> None:
    """Train the models of this workspace from corrections; it takes seconds.

    With --data, new models are trained first: seconds for an HMM, minutes for a CRF. The folder is laid out as
    docs/data.md describes. Papers are read with the trained model from then on.
    """
    from wayhound.cli import papers_work  # noqa: PLC0415

    papers_work.train(folder, model, data, as_json=as_json)

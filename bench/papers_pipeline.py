"""Papers from PDF files to records, references and a citation graph: speed, and how many fields are found.

Adds `papers/pdf/aistats2007` of the data folder to a workspace, as `wayhound papers add` does, and then the PDF files
of the sample web, whose citation graph is known.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.pdf import cpu_seconds, described, describes, overlap, plain, same_authors
from bench.report import Bar, Cell, Report, add_data_option, add_output_options, finish
from wayhound.app.papers.adding import AddedFile, Intake, content_id, find_files, local_files
from wayhound.app.papers.library import PaperLibrary
from wayhound.app.papers.models import WorkspaceModels
from wayhound.documents.document import Document
from wayhound.documents.reader import DocumentReader
from wayhound.samples import sample_web
from wayhound.workspace import Workspace

FIELDS = ("title", "author", "affiliation", "email", "abstract", "year")
REFERENCE_FIELDS = ("author", "title", "year", "venue", "pages")
LEAST_PAPERS_A_SECOND = 2.0
LEAST_RIGHT = {"title": 0.95, "authors": 0.90, "abstract": 0.85}
LEAST_SAMPLE = 0.97


@dataclass(frozen=True, slots=True)
class Intakes:
    """The results for some files, and the CPU seconds that they took."""

    added: list[AddedFile]
    seconds: float

    @property
    def papers(self) -> int:
        return sum(file.outcome == "paper" for file in self.added)


def add_files(library: PaperLibrary, files: list[Path], workers: int) -> Intakes:
    """Add files, and measure the CPU seconds of all processes, including their start and loading models."""
    before = cpu_seconds()
    added = list(Intake(library, workers).add(local_files(files)))
    return Intakes(added, cpu_seconds() - before)


def speed_report(real: Intakes, sample: Intakes, again: Intakes) -> Report:
    rows: list[list[Cell]] = [
        [name, len(files.added), files.papers, files.seconds, len(files.added) / files.seconds]
        for name, files in (("real papers", real), ("sample papers", sample), ("real papers, again", again))
    ]
    header = ["files", "number", "papers", "CPU s", "files a CPU s"]
    bars = [Bar("real papers a CPU second", real.papers / real.seconds, least=LEAST_PAPERS_A_SECOND)]
    return Report("Speed of the whole pipeline", header, rows, bars)


def found_report(library: PaperLibrary, real: Intakes) -> Report:
    """Count the papers and references that have each field."""
    ids = dict.fromkeys(file.id for file in real.added if file.outcome == "paper")  # one file is there twice
    records = [library.find(paper) for paper in ids]
    rows: list[list[Cell]] = [
        ["paper", name, sum(name in record.fields for record in records) / len(records), _mean(
            value.confidence for record in records for value in record.fields.get(name, ()))]
        for name in FIELDS
    ]  # fmt: skip
    references = [
        citation for record in records for citation in library.papers.citations(record.id) if citation.number
    ]
    rows += [
        ["reference", name, sum(name in reference.fields for reference in references) / len(references), _mean(
            value.confidence for reference in references for value in reference.fields.get(name, ()))]
        for name in REFERENCE_FIELDS
    ]  # fmt: skip
    cited = {
        (record.id, context.number) for record in records for context in library.papers.contexts(record.id)
    }
    rows.append(["reference", "sentence that cites it", len(cited) / len(references), None])
    groups = {reference.group for reference in references}
    title = f"Found in {len(records)} papers with {len(references)} references to {len(groups)} works"
    return Report(title, ["of a", "field", "share that has it", "mean confidence"], rows)


def _mean(confidences: Iterator[float]) -> float | None:
    values = list(confidences)
    return sum(values) / len(values) if values else None


def right_report(library: PaperLibrary, files: list[Path]) -> Report:
    """Compare records with descriptions, except those that describe another paper."""
    right, counted = dict.fromkeys(LEAST_RIGHT, 0), 0
    with DocumentReader() as reader:
        for path in files:
            true, document = described(path.with_suffix(".md").read_text()), reader.read(path.read_bytes())
            record = library.record(content_id(path.read_bytes()))
            if record is None or not isinstance(document, Document) or not describes(true, document):
                continue
            counted += 1
            authors = tuple(value.text for value in record.fields.get("author", ()))
            right["title"] += plain(record.first("title")) == plain(true.title)
            right["authors"] += same_authors(authors, true.authors)
            right["abstract"] += overlap(record.first("abstract"), true.abstract) >= 0.95
    rows: list[list[Cell]] = [[name, counted, n / max(1, counted)] for name, n in right.items()]
    bars = [
        Bar(f"{name} right", right[name] / max(1, counted), least=least)
        for name, least in LEAST_RIGHT.items()
    ]
    return Report("Records of real papers, share right", ["field", "papers", "right"], rows, bars)


def sample_report(library: PaperLibrary) -> Report:
    """Compare the citation graph of the sample web with the true one."""
    true = set(_sample_links())
    samples = {paper for link in true for paper in link} | set(_sample_ids())
    links = {link for link in library.papers.links() if link[0] in samples}
    right = len(links & true)
    precision, recall = right / max(1, len(links)), right / max(1, len(true))
    bars = [
        Bar("citations of the sample web found", recall, least=LEAST_SAMPLE),
        Bar("citations found that are right", precision, least=LEAST_SAMPLE),
    ]
    rows: list[list[Cell]] = [[len(true), len(links), right, precision, recall]]
    return Report(
        "Citation graph of the sample web", ["true", "found", "right", "precision", "recall"], rows, bars
    )


def _sample_ids() -> Iterator[str]:
    for site in sample_web().sites:
        yield from (
            content_id(site.respond(paper.pdf).body) for paper in site.truth.publications if paper.pdf
        )


def _sample_links() -> Iterator[tuple[str, str]]:
    for site in sample_web().sites:
        papers = [paper for paper in site.truth.publications if paper.pdf]
        ids = {
            f"{', '.join(paper.authors)}. {paper.title}. {paper.venue}, {paper.year}.": content_id(
                site.respond(paper.pdf).body
            )
            for paper in papers
        }
        for paper, own in zip(papers, ids.values(), strict=True):
            yield from ((own, ids[cited]) for cited in paper.references if cited in ids)


def write_samples(folder: Path) -> list[Path]:
    for site in sample_web().sites:
        for paper in site.truth.publications:
            if paper.pdf:
                name = f"{site.name}-{paper.pdf.rpartition('/')[2]}"
                (folder / name).write_bytes(site.respond(paper.pdf).body)
    return sorted(folder.iterdir())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    add_data_option(parser)
    add_output_options(parser)
    parser.add_argument("--workers", type=int, default=1, help="processes that read")
    arguments = parser.parse_args()
    files = find_files([arguments.data / "papers" / "pdf" / "aistats2007"])
    with tempfile.TemporaryDirectory() as folder, Workspace.create(Path(folder) / "workspace") as workspace:
        library = PaperLibrary(workspace)
        WorkspaceModels(workspace.models_folder).load()  # so that the first file does not include it
        real = add_files(library, files, arguments.workers)
        samples = Path(folder) / "samples"
        samples.mkdir()
        sample = add_files(library, write_samples(samples), arguments.workers)
        again = add_files(library, files, arguments.workers)
        reports = [
            speed_report(real, sample, again),
            found_report(library, real),
            right_report(library, files),
            sample_report(library),
        ]
    return finish(reports, arguments)


if __name__ == "__main__":
    sys.exit(main())

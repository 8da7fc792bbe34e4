"""Papers for tests: small ones as plain text, those of the sample web, and unreadable files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.documents.pages import paragraph, pdf_of, scan_of
from wayhound.app.papers.adding import AddedFile, Intake, find_files, local_files
from wayhound.app.papers.library import PaperLibrary
from wayhound.samples import sample_web
from wayhound.workspace import Workspace

LOCK = b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >> /ID [<00><00>]" % (
    b"41" * 32,
    b"42" * 32,
)

HOPS = "Anna Lind. Hops to the distant goal. Journal of Trails, 5(2):12-19, 1999."
TREES = "Bo Wood and Carl Stone. Growing trees of many topics. Proceedings of the Forest Workshop, pages 3-9, 2001."
SEAS = "Dora Field. Tides and currents of northern seas. Annals of Water, 8:100-120, 1987."


def paper_text(title: str, authors: str, references: Sequence[str]) -> str:
    """A paper that cites its references in turn."""
    calls = [
        f"As was shown in [{n}], step {n} of the method is sound." for n in range(1, len(references) + 1)
    ]
    listed = [f"[{n}] {reference}" for n, reference in enumerate(references, start=1)]
    return "\n".join(
        [
            *(
                title,
                "",
                authors,
                "Department of Walking, University of Somewhere",
                "walker@somewhere.example",
                "",
            ),
            *("Abstract", "We walk along links and tell what we saw on the way to the goal, and why.", ""),
            *(
                "1 Introduction",
                "",
                "Much has been written about walking.",
                *calls,
                "We go on from there.",
                "",
            ),
            *("References", "", *(line for entry in listed for line in (entry, ""))),
        ]
    )


def write_papers(folder: Path) -> list[Path]:
    """Three papers: two cite the first, and two cite a work that is not held."""
    folder.mkdir(exist_ok=True)
    papers = {
        "hops.txt": paper_text("Hops to the distant goal", "Anna Lind", [TREES, SEAS]),
        "trees.txt": paper_text("Growing trees of many topics", "Bo Wood, Carl Stone", [HOPS, SEAS]),
        "rivers.txt": paper_text("Where do rivers begin in spring", "Eva Brook", [HOPS]),
    }
    for name, text in papers.items():
        (folder / name).write_text(text)
    return [folder / name for name in papers]


def write_unreadable(folder: Path) -> dict[str, str]:
    """Write unreadable files, and return the expected outcome of each."""
    folder.mkdir(exist_ok=True)
    bodies = {
        "encrypted": pdf_of(paragraph(["secret"]), trailer=LOCK),
        "broken": b"%PDF-1.4 and then nothing",
        "no_text": pdf_of([], []),
        "scanned": scan_of((8, 8, bytes(64))),
        "empty": b"",
    }
    for name, body in bodies.items():
        (folder / f"{name}.pdf").write_bytes(body)
    return {f"{name}.pdf": name for name in bodies}


def write_sample_pdfs(folder: Path, site: str) -> list[Path]:
    """The PDF files of one site of the sample web."""
    folder.mkdir(exist_ok=True)
    chosen = next(each for each in sample_web().sites if each.name == site)
    paths = [publication.pdf for publication in chosen.truth.publications if publication.pdf]
    for path in paths:
        (folder / path.rpartition("/")[2]).write_bytes(chosen.respond(path).body)
    return sorted(folder.iterdir())


def add(workspace: Workspace, *paths: Path, workers: int = 1) -> list[AddedFile]:
    return list(Intake(PaperLibrary(workspace), workers).add(local_files(find_files(paths))))


def dump(workspace: Workspace) -> dict[str, list[tuple[object, ...]]]:
    """Return everything that is stored about papers, without timestamps."""
    queries = {
        "record": "SELECT kind, id, site, visit, fields FROM record ORDER BY kind, id",
        "citation": "SELECT * FROM citation ORDER BY paper, number",
        "citation_group": "SELECT * FROM citation_group ORDER BY id",
        "citation_context": "SELECT * FROM citation_context ORDER BY paper, place",
        "correction": "SELECT paper, field, before, after, author FROM correction ORDER BY id",
        "document_file": "SELECT id, name, outcome, detail, kind, page_count, size, read_with FROM document_file "
        "ORDER BY id",
        "document_source": "SELECT * FROM document_source ORDER BY document, url, site_id",
    }
    return {name: workspace.database.execute(sql).fetchall() for name, sql in queries.items()}

"""A small collection of invented papers and contacts, saved through the stores, as a workspace for tests."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from tests.store.samples import lease
from wayhound.archive.writer import ArchiveWriter
from wayhound.citations.citation import Citation
from wayhound.fetched import Fetched
from wayhound.record import Record, Span, Value
from wayhound.samples.pdf import PdfLine, write_pdf
from wayhound.site import Site
from wayhound.store.document_files import DocumentSource, StoredFile
from wayhound.store.papers import StoredCitation, StoredContext
from wayhound.store.protocol import RunLimits
from wayhound.topics.model import TopicPlacement
from wayhound.visit import Visit
from wayhound.workspace import Workspace

HOSTILE_TITLE = "<script>alert('title')</script><img src=x onerror=alert(1)> & \"quoted\" </title>"
HOSTILE_URL = "javascript:alert('url')"
HOSTILE_PAGE = (
    b"<html><script>document.title='owned'</script><svg onload=alert(1)></svg>"
    b"<body onload=alert(2)><a href='javascript:alert(3)'>Contact</a> Harbour Lane 3</body></html>"
)
TREE = """Computer Science
  Machine Learning: learning, classifier
    Neural Networks: neural network
    Reinforcement: reward, reinforcement
  Information Retrieval: retrieval, index
    Crawling: crawl, spider
  C/C++ & <Compilers>: compiler
"""
ML, NN, RL = (
    ("Machine Learning",),
    ("Machine Learning", "Neural Networks"),
    ("Machine Learning", "Reinforcement"),
)
IR, CRAWL = ("Information Retrieval",), ("Information Retrieval", "Crawling")
COMPILERS = ("C/C++ & <Compilers>",)
START = "http://harbour.example/"
WITH_TEXT = 8  # the number of the paper whose body is searched

# Title, authors, year, venue, topic, numbers of the papers that it cites.
PAPERS: tuple[tuple[str, tuple[str, ...], str, str, tuple[str, ...], tuple[int, ...]], ...] = (
    ("Learning paths through websites", ("Ada Lindqvist", "Béla Varga"), "1998", "Journal of Trails", RL, ()),
    ("Hidden Markov models of footpaths", ("Béla Varga",), "1999", "Journal of Trails", ML, (0,)),
    ("Spiders that earn a reward", ("Chidi Okoro", "Ada Lindqvist"), "2000", "Proceedings of Foraging", RL, (0, 1)),
    ("Focused crawling with few examples", ("Dana Petrov",), "2001", "Proceedings of Foraging", CRAWL, (0, 2)),
    ("A survey of crawling", ("Eero Salmi", "Dana Petrov"), "2003", "Surveys of the Web", CRAWL, (0, 1, 2, 3)),
    ("Neural networks for page kinds", ("Fumiko Arai",), "2002", "Journal of Trails", NN, (1,)),
    ("Indexing what was found", ("Gita Rao", "Chidi Okoro"), "2002", "Surveys of the Web", IR, (3,)),
    ("Deep indexes and shallow crawls", ("Gita Rao",), "2004", "Proceedings of Foraging", IR, (6, 4)),
    ("A compiler for trails", ("Hugo Brandt",), "1997", "Tools", COMPILERS, ()),
    (HOSTILE_TITLE, ("<b>Mallory</b> \" onmouseover=alert(1)",), "2005", "<i>Journal</i>", NN, (0, 4)),
    ("Rewards along the path", ("Ada Lindqvist",), "2004", "Journal of Trails", RL, (0, 2)),
    ("Citation contexts as summaries", ("Ines Moreau", "Eero Salmi"), "2006", "Surveys of the Web", IR, (4, 7)),
)  # fmt: skip


def paper_id(number: int) -> str:
    return hashlib.sha256(f"paper {number}".encode()).hexdigest()[:16]


def root_of(path: tuple[str, ...]) -> tuple[str, ...]:
    return ("Computer Science", *path)


def make_collection(folder: Path) -> Path:
    """A workspace with papers, their originals, citations and topics; contacts; and a run that found them."""
    with Workspace.create(folder) as workspace:
        (folder / "topics.txt").write_text(TREE, "utf-8")
        workspace.stores.records.save(papers())
        _save_originals(workspace)
        _save_citations(workspace)
        _save_topics(workspace)
        _save_contact(workspace)
    return folder


def papers() -> Iterator[Record]:
    for number, (title, authors, year, venue, _, _) in enumerate(PAPERS):
        source = Span(f"{START}papers/{number}.pdf", page=1, box=(72.0, 60.0, 400.0, 90.0))
        abstract = (
            f"We study {title.lower()}. Websites are walked along learned paths, and the words of links tell "
            f"where to go. Experiment {number} shows that few fetches suffice."
        )
        yield Record(
            "paper",
            paper_id(number),
            {
                "title": (Value(title, 0.97, source),),
                "author": tuple(Value(name, 0.8, source) for name in authors),
                "year": (Value(year, 0.5),),
                "booktitle" if "Proceedings" in venue else "journal": (Value(venue, 0.92),),
                "pages": (Value("12-19"),),
                "abstract": (Value(abstract, 0.95, source),),
                "keyword": (Value("trails"), Value("websites")),
                **({"file_type": (Value("pdf"),)} if number == WITH_TEXT else {}),
                "url": (Value(HOSTILE_URL if title == HOSTILE_TITLE else f"{START}papers/{number}.pdf"),),
            },
            START,
        )


def _save_originals(workspace: Workspace) -> None:
    files = workspace.stores.documents
    with ArchiveWriter(workspace.archive_folder, "test", software="test") as archive:
        for number, (title, *_) in enumerate(PAPERS):
            url = f"{START}papers/{number}.pdf"
            body = write_pdf(
                [PdfLine(title.encode("ascii", "replace").decode(), size=16), PdfLine("Abstract", "F2", 12)],
                title,
            )
            ref = archive.write(
                Fetched(url, 200, body=body, headers=(("Content-Type", "application/pdf"),)), at=1e9
            )
            with workspace.database.transaction():
                stored = StoredFile(paper_id(number), f"{number}.pdf", "paper", "", "pdf", 1, len(body), ref)
                files.put(stored)
                if number == WITH_TEXT:
                    files.put_pages(stored.id, ["First page.", "Registers are <b>spilled</b> here & there."])
                source = DocumentSource(url, 1, 2, START, ("Publications", f"Paper <{number}>"))
                files.add_source(paper_id(number), source)


def _save_citations(workspace: Workspace) -> None:
    store = workspace.stores.papers
    for number, (title, authors, year, venue, _, cited) in enumerate(PAPERS):
        own = Citation(title, " and ".join(authors), venue, year)
        references = [StoredCitation(paper_id(number), 0, number + 1, own)]
        contexts = []
        for place, other in enumerate(cited, 1):
            named = PAPERS[other]
            known = Citation(named[0], " and ".join(named[1]), named[3], named[2])
            references.append(StoredCitation(paper_id(number), place, other + 1, known, f"[{place}]"))
            sentence = f"This was shown before for <em>paths</em> [{place}] and holds here."
            at = sentence.index("[")
            contexts.append(StoredContext(paper_id(number), place, sentence, at, at + 3, 2))
        place = len(cited) + 1
        elsewhere = Citation(title="A book that nobody holds", authors="K. Unknown", year="1990")
        references.append(StoredCitation(paper_id(number), place, 1000, elsewhere, f"[{place}]"))
        store.save_paper(paper_id(number), references, contexts)


def _save_topics(workspace: Workspace) -> None:
    placements = [
        TopicPlacement(
            paper_id(number),
            root_of(topic),
            0.83,
            root_of(topic),
            words=(("trail", 2.0), ("path", 1.0)),
            best=((root_of(PAPERS[1][4]), 0.31), (root_of(topic), 0.18)) if number == 0 else (),
        )
        for number, (_, _, _, _, topic, _) in enumerate(PAPERS)
    ]
    titles = {paper_id(number): paper[0] for number, paper in enumerate(PAPERS)}
    workspace.stores.topics.replace_all(placements, titles)


def _save_contact(workspace: Workspace) -> None:
    """A contact that a run found on a hostile page, two clicks from the start."""
    store = workspace.stores.forage
    run = store.open_run({"test": "portal"}, RunLimits(), [Site(START)], 1e9)
    job = lease(store, run, "test", 1e9)
    with ArchiveWriter(workspace.archive_folder, "pages", software="test") as archive:
        page = Fetched(f"{START}contact", 200, body=HOSTILE_PAGE, headers=(("Content-Type", "text/html"),))
        ref = archive.write(page, at=1e9)
    store.save_visit(job, Visit(START, 0, START, "ok", 1e9, title="Harbour <Home>", status=200))
    contact = Visit(START, 1, f"{START}contact", "ok", 1e9, parent=0, link_text="Contact <us>", link_kind="a",
                    depth=1, status=200, content_type="text/html", title="Contact", archived=ref)  # fmt: skip
    store.save_visit(job, contact)
    store.finish_site(job, "no links left")
    source = Span(f"{START}contact", 120, 134)
    fields: dict[str, tuple[Value, ...]] = {
        "organisation": (Value("Harbour <Works> Ltd", 0.9, source),),
        "street": (Value("Harbour Lane 3", 0.7, source),),
        "town": (Value("Port Example", 0.95),),
        "url": (Value(f"{START}contact"),),
    }
    odd: dict[str, tuple[Value, ...]] = {
        "name": (Value("An instance of a kind that nobody declared"),),
        "colour": (Value("green"),),
    }
    workspace.stores.records.save(
        [
            Record("contact", f"{START}contact#1", fields, START, 1),
            Record("link_chain", "odd id/with?signs&more", odd, START),
        ]
    )

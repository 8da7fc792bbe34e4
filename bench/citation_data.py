"""Labelled citations: two published sets, the references of mixed PDFs, and any number of generated ones."""

from __future__ import annotations

import csv
import gzip
import hashlib
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bench.pdf import unpacked
from wayhound.app.papers.grouping import citation_of_reference
from wayhound.app.papers.models import WorkspaceModels
from wayhound.citations.citation import Citation
from wayhound.documents.document import Document
from wayhound.documents.reader import DocumentReader
from wayhound.papers.paper import ReadReference, read_paper

CITED_WORKS = Path(__file__).with_name("cited_works.tsv")
"""Works that references of PDFs cite more than once, judged by eye.

`5=12` is reference 5 to work 12; `7=-` does not count, such as one to a yearly release of a program. A work has one
title and one set of authors, in whatever edition or version. A file is named as in the data folder, or by the beginning
of the SHA-256 of its content.
"""
_ENTRY = re.compile(r"^@", re.MULTILINE)
_FIELD = re.compile(r"^\s*(\w+)\s*=\s*\{(.*?)\},?\s*$", re.MULTILINE | re.DOTALL)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Labelled:
    """Citations, and the name of the paper that each cites."""

    citations: list[Citation]
    papers: list[str]


def read_cora(data: Path) -> Labelled:
    """Read Cora: 1,295 citations in 112 clusters."""
    with (data / "papers/citations/gokulk_cora1295/cora.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    return Labelled([_cora_citation(row) for row in rows], [row[1] for row in rows])


def _cora_citation(row: list[str]) -> Citation:
    rest = " ".join(filter(None, (row[5], row[7], row[8], *row[11:])))
    return Citation(
        title=row[4], authors=row[2], venue=row[6], year=row[9], pages=row[10], volume=row[3], note=rest
    )


def text_only(citation: Citation) -> Citation:
    """Return the citation as bare text, from which the fields must be guessed."""
    names = ("authors", "title", "venue", "volume", "pages", "year", "note")
    return Citation(text=" ".join(filter(None, (getattr(citation, name) for name in names))))


def read_dblp_acm(data: Path) -> tuple[Labelled, int]:
    """Read two bibliographies with their true matches; return them and the length of the first."""
    folder = data / "papers/citations/dblp_acm"
    first, second = (list(_bibliography(folder / name)) for name in ("dblp.csv", "acm.csv"))
    papers = [f"dblp {i}" for i in range(len(first))] + [f"acm {i}" for i in range(len(second))]
    with (folder / "gt.csv").open(newline="") as file:
        for left, right in list(csv.reader(file, delimiter="%"))[1:]:
            papers[len(first) + int(right)] = papers[int(left)]
    return Labelled(first + second, papers), len(first)


def _bibliography(path: Path) -> Iterator[Citation]:
    """Yield entries in order of their numbers, which start at 0."""
    with path.open(newline="") as file:
        for row in csv.DictReader(file, delimiter="%"):
            yield Citation(row["title"], row["authors"], row["venue"], row["year"])


@dataclass(frozen=True, slots=True)
class MixedReferences:
    """The references of PDFs, and the file that each is from; those of the work `-` do not count.

    `other` are files of the table that are missing, or whose list was cut into another number of references.
    """

    labelled: Labelled
    files: list[str]
    other: list[str]


def read_mixed(data: Path, folder: Path) -> MixedReferences:
    """Read the PDFs of `CITED_WORKS` from the data folder and from any place below another folder."""
    named = {path.stem: path for path in (data / "papers/pdf").rglob("*.pdf")}
    named |= {_digest(path): path for path in folder.rglob("*.pdf*") if path.is_file()}
    mixed = MixedReferences(Labelled([], []), [], [])
    models = WorkspaceModels(Path()).load()
    with DocumentReader() as reader, CITED_WORKS.open(newline="") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            name = row["file"]
            document = reader.read(named[name].read_bytes()) if name in named else None
            references = read_paper(document, models, "").references if isinstance(document, Document) else ()
            if len(references) == int(row["references"]):
                _add_mixed(mixed, name, references, dict(pair.split("=") for pair in row["works"].split()))
            else:
                mixed.other.append(name)
    return mixed


def _digest(path: Path) -> str:
    return hashlib.sha256(unpacked(path.read_bytes())).hexdigest()[:12]


def _add_mixed(
    mixed: MixedReferences, name: str, references: Sequence[ReadReference], works: Mapping[str, str]
) -> None:
    for number, reference in enumerate(references, 1):
        mixed.labelled.citations.append(citation_of_reference(reference.fields, reference.text))
        mixed.labelled.papers.append(works.get(str(number), f"{name} {number}"))
        mixed.files.append(name)


def generated_citations(data: Path, count: int, seed: int = 0) -> Labelled:
    """Generate citations with the variations of authors, four a paper on average, some papers far more often."""
    draw = random.Random(seed)
    records = list(_records(data))
    draw.shuffle(records)
    records = records[: max(1, count // 4)]
    shares = [1 / (rank + 20) ** 0.8 for rank in range(len(records))]
    chosen = draw.choices(range(len(records)), shares, k=count)
    return Labelled([_cited(records[at], draw) for at in chosen], [str(at) for at in chosen])


def _records(data: Path) -> Iterator[Citation]:
    yield from _bibliography(data / "papers/citations/dblp_acm/dblp.csv")
    folder = data / "papers/distant"
    texts = (
        gzip.decompress((folder / "acl.bib.gz").read_bytes()),
        (folder / "ir-anthology-sample.bib").read_bytes(),
    )
    for text in texts:
        for entry in _ENTRY.split(text.decode("utf-8"))[1:]:
            fields = {name.lower(): " ".join(value.split()) for name, value in _FIELD.findall(entry)}
            if "title" in fields and "author" in fields:
                yield _record(fields)


def _record(fields: dict[str, str]) -> Citation:
    venue = fields.get("journal") or fields.get("booktitle", "")
    numbers = (fields.get(name, "") for name in ("year", "pages", "volume"))
    return Citation(fields["title"], fields["author"].replace(" and ", ", "), venue, *numbers)


def _cited(record: Citation, draw: random.Random) -> Citation:
    """Return a record as one of many authors would cite it."""
    cited = replace(
        record,
        title=_mistyped(record.title, draw),
        authors=_authors(record.authors, draw),
        venue="" if draw.random() < 0.1 else _venue(record.venue, draw),
        year="" if draw.random() < 0.1 else _year(record.year, draw),
        pages=record.pages if draw.random() < 0.6 else "",
    )
    return cited if draw.random() < 0.5 else Citation(text=_printed(cited, draw))


def _mistyped(title: str, draw: random.Random) -> str:
    if draw.random() < 0.5:
        title = title.lower()
    for _ in range(draw.choice((0, 0, 0, 1, 1, 2))):
        at = draw.randrange(max(1, len(title)))
        title = title[:at] + draw.choice(("", " ", "- ", draw.choice(_LETTERS))) + title[at + 1 :]
    return title


def _authors(authors: str, draw: random.Random) -> str:
    names = [name.split() for name in authors.split(", ") if name.split()]
    if len(names) > 3 and draw.random() < 0.2:
        return _name(names[0], 1) + " et al."
    style = draw.randrange(3)
    joined = [_name(name, style) for name in names]
    return ", ".join(joined[:-1]) + " and " + joined[-1] if len(joined) > 1 else "".join(joined)


def _name(parts: list[str], style: int) -> str:
    initials = " ".join(part[0] + "." for part in parts[:-1])
    return (" ".join(parts), f"{initials} {parts[-1]}".strip(), f"{parts[-1]}, {initials}".strip(", "))[style]


def _venue(venue: str, draw: random.Random) -> str:
    if draw.random() < 0.5:
        return venue
    words = venue.replace("Proceedings of the", "Proc.").split()
    return " ".join(word[:4] + "." if len(word) > 6 and draw.random() < 0.7 else word for word in words)


def _year(year: str, draw: random.Random) -> str:
    return str(int(year) + draw.choice((-1, 1))) if year.isdigit() and draw.random() < 0.04 else year


def _printed(cited: Citation, draw: random.Random) -> str:
    pages = f", pages {cited.pages}" if cited.pages else ""
    if draw.random() < 0.5:
        return f"{cited.authors} ({cited.year}). {cited.title}. {cited.venue}{pages}."
    return f"{cited.authors}. {cited.title}. In {cited.venue}{pages}, {cited.year}."

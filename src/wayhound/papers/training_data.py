"""Layouts drawn by chance for tagged headers, which come as bare text.

Tagged headers with their layout are not to be had, and a model that never saw a layout cannot use one. So the
lines of a header are set as a printer might: the title larger than the rest, notes small and low on the page,
all of it centred or at the left. The draws are wide, so that the model relies on layout no more than on words.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median

import numpy as np

from wayhound.errors import TeachingError
from wayhound.papers.bibtex_read import BibEntry, read_bibtex
from wayhound.papers.distant import (
    BIBTEX_IN_HEADERS,
    BIBTEX_IN_REFERENCES,
    NAMES_IN_HEADERS,
    REFERENCES_IN_HEADERS,
    DistantWords,
)
from wayhound.papers.field_hmm import header_word, reference_word
from wayhound.papers.tagged import Tagged, read_nested_references, read_references
from wayhound.papers.tokens import Layout, TokenLine

NAME_LISTS = {
    "first": ("firstnames_female.txt", "firstnames_male.txt"),
    "last": ("surnames_american_common.txt", "surnames_european.txt"),
    "place": ("places_gazetteer.txt",),
    "publisher": ("publishers_wikipedia.txt",),
}


@dataclass(frozen=True)
class PaperData:
    """What is below a data folder; files are read when they are asked for."""

    folder: Path

    @property
    def headers(self) -> Path:
        return self.folder / "papers" / "headers" / "train.txt"

    @property
    def references(self) -> Path:
        return self.folder / "papers" / "references" / "cora.train.txt"

    @cached_property
    def nested_references(self) -> list[Tagged]:
        files = sorted((self.folder / "papers" / "references" / "umass").glob("*.docs"))
        return [one for file in files for one in read_nested_references(read_text(file))]

    @cached_property
    def bibtex(self) -> list[BibEntry]:
        files = sorted((self.folder / "papers" / "distant").glob("*.bib*"))
        return [entry for file in files for entry in read_bibtex(read_text(file))]

    @cached_property
    def names(self) -> dict[str, list[str]]:
        """Names in lower case by kind: first, last, place, publisher."""
        folder = self.folder / "papers" / "gazetteers"
        return {
            kind: [name for file in files for name in _names(folder / file)]
            for kind, files in NAME_LISTS.items()
        }

    def distant_for_headers(self) -> DistantWords:
        words = DistantWords(header_word)
        words.add_bibtex(self.bibtex, BIBTEX_IN_HEADERS)
        words.add_tagged(self.nested_references, REFERENCES_IN_HEADERS)
        words.add_tagged(read_references(read_text(self.references)), REFERENCES_IN_HEADERS)
        words.add_names(self.names, NAMES_IN_HEADERS)
        return words

    def distant_for_references(self) -> DistantWords:
        words = DistantWords(reference_word)
        words.add_bibtex(self.bibtex, BIBTEX_IN_REFERENCES)
        words.add_tagged(self.nested_references)
        return words


def read_text(path: Path) -> str:
    """The text of a file, packed or not; a sentence where it cannot be had."""
    try:
        body = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError) as error:
        raise TeachingError(f"{path} cannot be read: {error}.") from error
    return body.decode("utf-8", errors="replace")


def _names(path: Path) -> Iterator[str]:
    """One name a line, with its frequency after a tab; lines that begin with # are remarks."""
    for line in read_text(path).splitlines():
        name = line.split("\t")[0].strip().lower()
        if name and not line.startswith("#"):
            yield name


_BODY = 10.0  # points
_PAGE_HEIGHT = 790.0
_SAME_PRINT_AS = {"intro": "abstract", "web": "email", "phone": "address", "pubnum": "note", "degree": "note"}


@dataclass(frozen=True, slots=True)
class _Print:
    size: float
    bold: bool
    italic: bool
    off_centre: float


def with_layout(tagged: Tagged, rng: np.random.Generator) -> Tagged:
    """The same header on a page, set in a style that is drawn for it."""
    fields = _fields_of_lines(tagged)
    style = _style(rng)
    prints = [_print(style, field, line, rng) for field, line in zip(fields, tagged.lines, strict=True)]
    usual = median(each.size for each in prints)
    depths = _depths(fields, prints, rng)
    lines = [
        TokenLine(line.tokens, Layout(each.size / usual, depth, each.off_centre, each.bold, each.italic))
        for line, each, depth in zip(tagged.lines, prints, depths, strict=True)
    ]
    return Tagged(tuple(lines), tagged.labels)


def _fields_of_lines(tagged: Tagged) -> list[str]:
    labels = iter(tagged.labels)
    return [Counter(next(labels) for _ in line.tokens).most_common(1)[0][0] for line in tagged.lines]


def _style(rng: np.random.Generator) -> dict[str, _Print]:
    """How each field is set in one paper; what is not here is set like the body."""
    centred = rng.random() < 0.8
    middle = 0.0 if centred else float(rng.uniform(-0.25, -0.1))
    column = float(rng.choice([0.0, -0.22])) if centred else middle
    names = float(rng.uniform(0.95, 1.3)) * _BODY
    small = float(rng.uniform(0.7, 1.0)) * _BODY
    return {
        "title": _Print(max(names, _BODY * float(rng.uniform(1.15, 2.0))), rng.random() < 0.6, False, middle),
        "author": _Print(names, rng.random() < 0.35, rng.random() < 0.05, middle),
        "affiliation": _Print(min(names, _BODY), False, rng.random() < 0.25, middle),
        "address": _Print(min(names, _BODY), False, rng.random() < 0.25, middle),
        "email": _Print(min(names, _BODY), False, rng.random() < 0.1, middle),
        "date": _Print(_BODY, False, False, middle),
        "note": _Print(small, False, rng.random() < 0.2, float(rng.choice([middle, column]))),
        "keyword": _Print(_BODY, False, False, column),
        "abstract": _Print(_BODY, False, rng.random() < 0.1, column),
    }


def _print(style: dict[str, _Print], field: str, line: TokenLine, rng: np.random.Generator) -> _Print:
    base = style[_SAME_PRINT_AS.get(field, field)]
    heading = len(line) <= 3 and field in ("abstract", "intro")
    aside = float(rng.choice([0.0, -0.25, 0.25], p=[0.8, 0.1, 0.1])) if field in ("author", "email") else 0.0
    wobble = float(rng.normal(0.0, 0.01))
    size = base.size * (float(rng.choice([1.0, 1.2])) if heading else 1.0)
    return _Print(
        size, base.bold or (heading and rng.random() < 0.8), base.italic, base.off_centre + aside + wobble
    )


def _depths(fields: Sequence[str], prints: Sequence[_Print], rng: np.random.Generator) -> list[float]:
    """Line under line from near the top; in some papers the last notes stand at the foot of the page."""
    low = rng.random() < 0.5
    at, depths = float(rng.uniform(0.04, 0.2)), list[float]()
    for number, (field, each) in enumerate(zip(fields, prints, strict=True)):
        if low and field == "note" and number > len(fields) // 2:
            at = max(at, float(rng.uniform(0.8, 0.9)))
        depths.append(min(0.97, at))
        at += each.size * float(rng.uniform(1.1, 1.6)) / _PAGE_HEIGHT
    return depths

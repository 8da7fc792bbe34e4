"""Data that the field models are trained on: tagged texts, distant words, and random layouts for headers.

There are no tagged headers with layout, and a model trained without layout cannot use it. The lines of a header
therefore get a random layout that is typical of papers: a large title, small notes at the bottom, all of it
centred or on the left. The distributions are wide, so that the model does not rely on layout more than on words.
"""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median

import numpy as np

from wayhound.errors import TeachingError
from wayhound.papers.distant import (
    BIBTEX_IN_HEADERS,
    BIBTEX_IN_REFERENCES,
    NAMES_IN_HEADERS,
    REFERENCES_IN_HEADERS,
    BibEntry,
    DistantWords,
    parse_bibtex,
)
from wayhound.papers.field_hmm import header_word, reference_word
from wayhound.papers.tagged import TaggedText, parse_headers, parse_nested_references, parse_references
from wayhound.papers.tokens import LineLayout, TextKind, TokenLine

NAME_LISTS = {
    "first": ("firstnames_female.txt", "firstnames_male.txt"),
    "last": ("surnames_american_common.txt", "surnames_european.txt"),
    "place": ("places_gazetteer.txt",),
    "publisher": ("publishers_wikipedia.txt",),
}


@dataclass(frozen=True)
class PaperData:
    """The files below a data folder, laid out as in `docs/data.md`; they are read when needed."""

    folder: Path

    @property
    def headers(self) -> Path:
        return self.folder / "papers" / "headers" / "train.txt"

    @property
    def references(self) -> Path:
        return self.folder / "papers" / "references" / "cora.train.txt"

    def has_texts(self, kind: TextKind) -> bool:
        return (self.headers if kind == "header" else self.references).is_file()

    def tagged_texts(self, kind: TextKind) -> list[TaggedText]:
        """Return the tagged headers or references. Raises TeachingError if they cannot be read."""
        if kind == "header":
            return parse_headers(read_text(self.headers))
        return parse_references(read_text(self.references))

    @cached_property
    def nested_references(self) -> list[TaggedText]:
        files = sorted((self.folder / "papers" / "references" / "umass").glob("*.docs"))
        return [text for file in files for text in parse_nested_references(read_text(file))]

    @cached_property
    def bibtex(self) -> list[BibEntry]:
        files = sorted((self.folder / "papers" / "distant").glob("*.bib*"))
        return [entry for file in files for entry in parse_bibtex(read_text(file))]

    @cached_property
    def names(self) -> dict[str, list[str]]:
        """Names in lower case by kind: first, last, place, publisher; empty if there are no lists."""
        folder = self.folder / "papers" / "gazetteers"
        return {
            kind: [name for file in files if (folder / file).is_file() for name in _names(folder / file)]
            for kind, files in NAME_LISTS.items()
        }

    def distant_for_headers(self) -> DistantWords:
        words = DistantWords(header_word)
        words.add_bibtex(self.bibtex, BIBTEX_IN_HEADERS)
        words.add_tagged(self.nested_references, REFERENCES_IN_HEADERS)
        if self.has_texts("reference"):
            words.add_tagged(self.tagged_texts("reference"), REFERENCES_IN_HEADERS)
        words.add_names(self.names, NAMES_IN_HEADERS)
        return words

    def distant_for_references(self) -> DistantWords:
        words = DistantWords(reference_word)
        words.add_bibtex(self.bibtex, BIBTEX_IN_REFERENCES)
        words.add_tagged(self.nested_references)
        return words


def read_text(path: Path) -> str:
    """Return the text of a file, which may be compressed. Raises TeachingError if it cannot be read."""
    try:
        body = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise TeachingError(f"{path} cannot be read: {error}.") from error
    return body.decode("utf-8", errors="replace")


def _names(path: Path) -> Iterator[str]:
    """Yield one name a line; a frequency may follow after a tab, and lines that begin with # are comments."""
    for line in read_text(path).splitlines():
        name = line.split("\t")[0].strip().lower()
        if name and not line.startswith("#"):
            yield name


_BODY = 10.0  # points
_PAGE_HEIGHT = 790.0
_SET_LIKE = {"intro": "abstract", "web": "email", "phone": "address", "pubnum": "note", "degree": "note"}


@dataclass(frozen=True, slots=True)
class _LineStyle:
    size: float
    bold: bool
    italic: bool
    off_centre: float


def with_layout(tagged: TaggedText, rng: np.random.Generator) -> TaggedText:
    """Return the header with a layout in a random style."""
    fields = _fields_of_lines(tagged)
    styles = _field_styles(rng)
    prints = [_line_style(styles, field, line, rng) for field, line in zip(fields, tagged.lines, strict=True)]
    usual = median(style.size for style in prints)
    depths = _depths(fields, prints, rng)
    lines = [
        TokenLine(
            line.tokens, LineLayout(style.size / usual, depth, style.off_centre, style.bold, style.italic)
        )
        for line, style, depth in zip(tagged.lines, prints, depths, strict=True)
    ]
    return TaggedText(tuple(lines), tagged.labels)


def _fields_of_lines(tagged: TaggedText) -> list[str]:
    labels = iter(tagged.labels)
    return [Counter(next(labels) for _ in line.tokens).most_common(1)[0][0] for line in tagged.lines]


def _field_styles(rng: np.random.Generator) -> dict[str, _LineStyle]:
    """Return how each field is set in one paper."""
    centred = rng.random() < 0.8
    middle = 0.0 if centred else float(rng.uniform(-0.25, -0.1))
    column = float(rng.choice([0.0, -0.22])) if centred else middle
    names = float(rng.uniform(0.95, 1.3)) * _BODY
    small = float(rng.uniform(0.7, 1.0)) * _BODY
    return {
        "title": _LineStyle(
            max(names, _BODY * float(rng.uniform(1.15, 2.0))), rng.random() < 0.6, False, middle
        ),
        "author": _LineStyle(names, rng.random() < 0.35, rng.random() < 0.05, middle),
        "affiliation": _LineStyle(min(names, _BODY), False, rng.random() < 0.25, middle),
        "address": _LineStyle(min(names, _BODY), False, rng.random() < 0.25, middle),
        "email": _LineStyle(min(names, _BODY), False, rng.random() < 0.1, middle),
        "date": _LineStyle(_BODY, False, False, middle),
        "note": _LineStyle(small, False, rng.random() < 0.2, float(rng.choice([middle, column]))),
        "keyword": _LineStyle(_BODY, False, False, column),
        "abstract": _LineStyle(_BODY, False, rng.random() < 0.1, column),
    }


def _line_style(
    styles: dict[str, _LineStyle], field: str, line: TokenLine, rng: np.random.Generator
) -> _LineStyle:
    base = styles[_SET_LIKE.get(field, field)]
    heading = len(line) <= 3 and field in ("abstract", "intro")
    aside = float(rng.choice([0.0, -0.25, 0.25], p=[0.8, 0.1, 0.1])) if field in ("author", "email") else 0.0
    wobble = float(rng.normal(0.0, 0.01))
    size = base.size * (float(rng.choice([1.0, 1.2])) if heading else 1.0)
    return _LineStyle(
        size, base.bold or (heading and rng.random() < 0.8), base.italic, base.off_centre + aside + wobble
    )


def _depths(fields: Sequence[str], prints: Sequence[_LineStyle], rng: np.random.Generator) -> list[float]:
    """Return depths line by line from near the top; in some papers the last notes are at the bottom."""
    low = rng.random() < 0.5
    depth, depths = float(rng.uniform(0.04, 0.2)), list[float]()
    for number, (field, style) in enumerate(zip(fields, prints, strict=True)):
        if low and field == "note" and number > len(fields) // 2:
            depth = max(depth, float(rng.uniform(0.8, 0.9)))
        depths.append(min(0.97, depth))
        depth += style.size * float(rng.uniform(1.1, 1.6)) / _PAGE_HEIGHT
    return depths

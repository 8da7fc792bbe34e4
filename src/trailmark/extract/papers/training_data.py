"""The files that the models of papers are trained from, below one data folder.

papers/headers/*.txt                     tagged headers
papers/references/*.txt                  tagged references
papers/references/umass/*.docs           references with nested tags
papers/distant/*.bib, *.bib.gz           BibTeX
papers/gazetteers/*.txt                  names, places, publishers
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from trailmark.errors import TeachingError
from trailmark.extract.papers.bibtex_read import BibEntry, read_bibtex
from trailmark.extract.papers.distant import (
    BIBTEX_IN_HEADERS,
    BIBTEX_IN_REFERENCES,
    NAMES_IN_HEADERS,
    REFERENCES_IN_HEADERS,
    DistantWords,
)
from trailmark.extract.papers.hmm_words import header_word, reference_word
from trailmark.extract.papers.tagged import Tagged, read_nested_references, read_references

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

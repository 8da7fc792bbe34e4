"""Texts with their fields marked by tags: the format of the Cora sets of headers and references.

A header file holds headers that each begin with `<NEW_HEADER>`; a reference file holds one reference a line.
Fields are marked `<title> … </title>`; nothing else is markup, and words keep their lines. The few words between
two fields count as part of the field before them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from wayhound.errors import TeachingError
from wayhound.papers.tokens import TokenLine, all_words, token_line

HEADER_FIELDS = (
    "title", "author", "affiliation", "address", "note", "email", "date", "abstract", "intro", "phone",
    "keyword", "web", "degree", "pubnum", "page",
)  # fmt: skip
"""The fifteen classes of section 4.3. `page` marks the end of a page; no word of a text has it."""

REFERENCE_FIELDS = (
    "author", "title", "booktitle", "date", "journal", "pages", "institution", "location", "editor",
    "volume", "tech", "publisher", "note",
)  # fmt: skip

NESTED_FIELDS: Mapping[str, str] = {
    "authors": "author", "title": "title", "subtitle": "title", "chapter": "title", "date": "date",
    "booktitle": "booktitle", "series": "booktitle", "journal": "journal", "pages": "pages",
    "institution": "institution", "department": "institution", "school": "institution",
    "organization": "institution", "address": "location", "editor": "editor", "volume": "volume",
    "number": "volume", "tech": "tech", "thesis": "tech", "publisher": "publisher", "note": "note",
    "status": "note", "web": "note", "edition": "note",
}  # fmt: skip
"""Tag of the UMass citations → field of a Cora reference."""

_NEW_HEADER = "<NEW_HEADER>"
_TAG = re.compile(r"<(/?)([\w-]+)>")
_CLOSING = re.compile(r"[.,;:?!)\]}”]+")
_OPENING = re.compile(r"[(\[{“]+")
_OUTSIDE_REFERENCE = ("ref-marker", "reference_id")


@dataclass(frozen=True, slots=True)
class TaggedText:
    """A text and the field of each of its words."""

    lines: tuple[TokenLine, ...]
    labels: tuple[str, ...]

    @property
    def words(self) -> list[str]:
        return all_words(self.lines)


def parse_headers(text: str) -> list[TaggedText]:
    """Return the headers of a file. Raises TeachingError if it holds none, or one without tags."""
    _, *parts = text.split(_NEW_HEADER)
    if not parts:
        raise TeachingError(f"This is not a file of tagged headers: none begins with {_NEW_HEADER}.")
    return _not_empty([parse_tagged(part, HEADER_FIELDS) for part in parts])


def parse_references(text: str) -> list[TaggedText]:
    """Return the references of a file, one a line. Raises TeachingError if there are none."""
    return _not_empty([parse_tagged(line, REFERENCE_FIELDS) for line in text.splitlines()])


def parse_nested_references(text: str) -> list[TaggedText]:
    """Return references with nested tags (people in authors, year in date), with the fields of Cora."""
    return _not_empty([_parse_nested(line) for line in text.splitlines()])


def parse_tagged(text: str, fields: Sequence[str]) -> TaggedText:
    """Return one text. Words before the first field belong to it. Raises TeachingError without tags."""
    lines, labels, current = list[TokenLine](), list[str | None](), None
    for line in text.splitlines():
        plain = ""
        for piece in _pieces(line, fields):
            if isinstance(piece, str):
                labels += [current] * len(piece.split())
                plain += piece
            elif not piece[1]:
                current = piece[2]
        lines.append(token_line(plain))
    return TaggedText(tuple(line for line in lines if len(line)), _without_gaps(labels))


def _pieces(line: str, fields: Sequence[str]) -> Iterable[str | re.Match[str]]:
    """Yield the parts of the line between the tags of fields, and the tags."""
    position = 0
    for tag in _TAG.finditer(line):
        if tag[2] in fields:
            yield line[position : tag.start()] + " "
            yield tag
            position = tag.end()
    yield line[position:]


def _parse_nested(line: str) -> TaggedText:
    """Label each word by the innermost tag that has a field."""
    tags, words, labels = list[str](), list[str](), list[str | None]()
    for piece in re.split(r"(</?[\w-]+>)", line):
        tag = _TAG.fullmatch(piece)
        if tag is None:
            open_fields = [NESTED_FIELDS[name] for name in tags if name in NESTED_FIELDS]
            new = [] if tags and tags[-1] in _OUTSIDE_REFERENCE else piece.split()
            words += new
            labels += [open_fields[-1] if open_fields else None] * len(new)
        elif not tag[1]:
            tags.append(tag[2])
        elif tag[2] in tags:
            del tags[len(tags) - 1 - tags[::-1].index(tag[2]) :]
    words, complete = _with_punctuation(words, _without_gaps(_label_in(words, labels)))
    return TaggedText((token_line(" ".join(words)),) if words else (), tuple(complete))


def _label_in(words: Sequence[str], labels: Sequence[str | None]) -> list[str | None]:
    """Label an untagged `in`, and a colon after it, like the venue that follows, as Cora does."""
    filled, after = list(labels), None
    for place in range(len(words) - 1, -1, -1):
        if labels[place] is None and after and (words[place].lower() == "in" or words[place] == ":"):
            filled[place] = after
        else:
            after = labels[place]
    return filled


def _with_punctuation(words: Sequence[str], labels: Sequence[str]) -> tuple[list[str], list[str]]:
    """Join separate punctuation to the word before it, and opening brackets to the word after them."""
    joined, kept, opened = list[str](), list[str](), ""
    for word, label in zip(words, labels, strict=True):
        if joined and not opened and _CLOSING.fullmatch(word):
            joined[-1] += word
        elif _OPENING.fullmatch(word):
            opened += word
        else:
            joined.append(opened + word)
            kept.append(label)
            opened = ""
    return joined, kept


def _without_gaps(labels: Sequence[str | None]) -> tuple[str, ...]:
    """Label words without a field like the word before them, and those at the beginning like the first field."""
    current = next((label for label in labels if label), None)
    if labels and current is None:
        raise TeachingError("A text has no tagged field. Mark its words like this: <title> … </title>.")
    filled = []
    for label in labels:
        current = label or current
        filled.append(current or "")
    return tuple(filled)


def _not_empty(texts: Iterable[TaggedText]) -> list[TaggedText]:
    kept = [text for text in texts if text.labels]
    if not kept:
        raise TeachingError("The file holds no tagged texts.")
    return kept

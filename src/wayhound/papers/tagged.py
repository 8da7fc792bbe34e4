"""Texts with their fields marked by tags, as the Cora sets of headers and references are: read and written.

A header file holds headers that each begin with `<NEW_HEADER>`; a reference file holds one reference a line.
Fields are marked `<title> … </title>`, nothing else is markup, and words keep their lines. A few words of the
sets stand between two fields: they are counted to the field before them.
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
"""The fifteen classes of section 4.3. No word of a text is a `page`: so the end of a page is marked."""

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
"""Tags of the UMass citations and the field of a Cora reference that each stands for."""

_NEW_HEADER = "<NEW_HEADER>"
_TAG = re.compile(r"<(/?)([\w-]+)>")
_CLOSING = re.compile(r"[.,;:?!)\]}”]+")
_OPENING = re.compile(r"[(\[{“]+")
_NOT_OF_THE_REFERENCE = ("ref-marker", "reference_id")


@dataclass(frozen=True, slots=True)
class Tagged:
    """A text and the field of each of its words."""

    lines: tuple[TokenLine, ...]
    labels: tuple[str, ...]

    @property
    def words(self) -> list[str]:
        return all_words(self.lines)


def read_headers(text: str) -> list[Tagged]:
    """Headers of a file; a sentence says what is wrong with one that cannot be read."""
    _, *parts = text.split(_NEW_HEADER)
    if not parts:
        raise TeachingError(f"This is no file of tagged headers: no header begins with {_NEW_HEADER}.")
    return _not_empty([read_tagged(part, HEADER_FIELDS) for part in parts])


def read_references(text: str) -> list[Tagged]:
    """References of a file, one a line."""
    return _not_empty([read_tagged(line, REFERENCE_FIELDS) for line in text.splitlines()])


def read_nested_references(text: str) -> list[Tagged]:
    """References whose tags are nested (people in authors, year in date), with the fields of Cora."""
    return _not_empty([_read_nested(line) for line in text.splitlines()])


def read_tagged(text: str, fields: Sequence[str]) -> Tagged:
    """One text. Words before the first field belong to that."""
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
    return Tagged(tuple(line for line in lines if len(line)), _without_gaps(labels))


def write_tagged(tagged: Tagged) -> str:
    """The text with its tags, which `read_tagged` gives back word for word."""
    out, before, labels = list[str](), "", iter(tagged.labels)
    for line in tagged.lines:
        for word in line.words:
            label = next(labels)
            if label != before:
                out.append(f"</{before}> <{label}> " if before else f"<{label}> ")
            out.append(f"{word} ")
            before = label
        out.append("\n")
    return "".join(out).rstrip() + (f" </{before}>" if before else "")


def _pieces(line: str, fields: Sequence[str]) -> Iterable[str | re.Match[str]]:
    """The line, cut at the tags of fields."""
    at = 0
    for tag in _TAG.finditer(line):
        if tag[2] in fields:
            yield line[at : tag.start()] + " "
            yield tag
            at = tag.end()
    yield line[at:]


def _read_nested(line: str) -> Tagged:
    """The innermost tag that stands for a field gives a word its label."""
    tags, words, labels = list[str](), list[str](), list[str | None]()
    for piece in re.split(r"(</?[\w-]+>)", line):
        tag = _TAG.fullmatch(piece)
        if tag is None:
            known = [NESTED_FIELDS[name] for name in tags if name in NESTED_FIELDS]
            new = [] if tags and tags[-1] in _NOT_OF_THE_REFERENCE else piece.split()
            words += new
            labels += [known[-1] if known else None] * len(new)
        elif not tag[1]:
            tags.append(tag[2])
        elif tag[2] in tags:
            del tags[len(tags) - 1 - tags[::-1].index(tag[2]) :]
    words, whole = _glued(words, _without_gaps(_in_goes_forward(words, labels)))
    return Tagged((token_line(" ".join(words)),) if words else (), tuple(whole))


def _in_goes_forward(words: Sequence[str], labels: Sequence[str | None]) -> list[str | None]:
    """An untagged `in` belongs to the venue behind it, as in Cora, with the colon that may follow it."""
    filled, after = list(labels), None
    for place in range(len(words) - 1, -1, -1):
        if labels[place] is None and after and (words[place].lower() == "in" or words[place] == ":"):
            filled[place] = after
        else:
            after = labels[place]
    return filled


def _glued(words: Sequence[str], labels: Sequence[str]) -> tuple[list[str], list[str]]:
    """As it was printed: punctuation that stands alone goes to the word before it, a bracket to that behind."""
    glued, kept, opened = list[str](), list[str](), ""
    for word, label in zip(words, labels, strict=True):
        if glued and not opened and _CLOSING.fullmatch(word):
            glued[-1] += word
        elif _OPENING.fullmatch(word):
            opened += word
        else:
            glued.append(opened + word)
            kept.append(label)
            opened = ""
    return glued, kept


def _without_gaps(labels: Sequence[str | None]) -> tuple[str, ...]:
    """Words without a field belong to the field before them, those at the beginning to the first."""
    current = next((label for label in labels if label), None)
    if labels and current is None:
        raise TeachingError("A text has no tagged field: mark its words as in <title> … </title>.")
    filled = []
    for label in labels:
        current = label or current
        filled.append(current or "")
    return tuple(filled)


def _not_empty(texts: Iterable[Tagged]) -> list[Tagged]:
    kept = [text for text in texts if text.labels]
    if not kept:
        raise TeachingError("There are no tagged texts in this file.")
    return kept

"""Words whose field is known from other sources: BibTeX, tagged references, name lists (section 4.2.2).

Labels made for another purpose say nothing about the order of fields, but much about the words in them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from wayhound.learn.arrays import Floats
from wayhound.papers.tagged import TaggedText

_ENTRY = re.compile(r"@(\w+)\s*[{(]\s*([^\s,{}]*)\s*,")
_FIELD = re.compile(r"\s*([A-Za-z][\w-]*)\s*=\s*")
_ACCENT = re.compile(r"\\(?:[\"'`^~=.]\s*\{?|[Hcdbkruv](?:\s*\{|\s+))\\?([A-Za-z])\}?")
_BRACKETS = re.compile(r'[{}"]')
_COMMAND = re.compile(r"\\[A-Za-z]+\s*|\\(.)")


@dataclass(frozen=True, slots=True)
class BibEntry:
    """A BibTeX entry: its kind (`article`, …), its key, and its fields as plain text by lower-case name."""

    kind: str
    key: str
    fields: dict[str, str] = field(default_factory=dict)


def parse_bibtex(text: str) -> Iterator[BibEntry]:
    """Yield the entries of a file. Text between entries is ignored; a broken entry ends at the next one."""
    entries = list(_ENTRY.finditer(text))
    ends = [*(entry.start() for entry in entries[1:]), len(text)]
    for entry, end in zip(entries, ends, strict=False):  # without entries there is one end too many
        if entry[1].lower() not in ("string", "preamble", "comment"):
            yield BibEntry(entry[1].lower(), entry[2], dict(_fields(text, entry.end(), end)))


def _fields(text: str, at: int, end: int) -> Iterator[tuple[str, str]]:
    while (name := _FIELD.match(text, at, end)) is not None:
        value, at = _value(text, name.end(), end)
        yield name[1].lower(), _without_tex(value)
        at = _skip_comma(text, at, end)


def _value(text: str, at: int, end: int) -> tuple[str, int]:
    """Return a value in braces, in quotes or bare, and the offset of its end."""
    if at < end and text[at] in '{"':
        close = _closing(text, at, end)
        return text[at + 1 : close], min(close + 1, end)
    stop = at
    while stop < end and text[stop] not in ",}\n":
        stop += 1
    return text[at:stop].strip(), stop


def _closing(text: str, at: int, end: int) -> int:
    """Return the offset that closes the value opened by a brace or quote at `at`; `end` if none does."""
    depth, quoted = 0, text[at] == '"'
    for sign in _BRACKETS.finditer(text, at + quoted, end):
        depth += {"{": 1, "}": -1}.get(sign[0], 0)
        if depth == 0 and quoted == (sign[0] == '"'):
            return sign.start()
    return end


def _skip_comma(text: str, at: int, end: int) -> int:
    while at < end and text[at] in " \t\r\n,":
        at += 1
    return at


def _without_tex(value: str) -> str:
    """Return a value without braces and commands, with plain letters for accented ones."""
    value = _ACCENT.sub(r"\1", value)
    value = _COMMAND.sub(lambda command: command[1] or " ", value)
    return " ".join(re.sub(r"[{}]", "", value).replace("~", " ").split())


Classes = Mapping[str, Sequence[str]]
"""Field of the source → classes that its words count for."""

BIBTEX_IN_HEADERS: Classes = {
    "title": ("title", "keyword"), "author": ("author",), "editor": ("author",), "address": ("address",),
    "booktitle": ("note",), "journal": ("note",), "series": ("note",), "publisher": ("affiliation",),
    "institution": ("affiliation",), "school": ("affiliation",), "organization": ("affiliation",),
    "url": ("web",), "year": ("date",), "month": ("date",), "note": ("note",), "keywords": ("keyword",),
}  # fmt: skip
REFERENCES_IN_HEADERS: Classes = {
    "title": ("title", "keyword"), "author": ("author",), "editor": ("author",), "location": ("address",),
    "institution": ("affiliation",), "publisher": ("affiliation",), "booktitle": ("note",),
    "journal": ("note",), "date": ("date",), "note": ("note",), "tech": ("pubnum",),
}  # fmt: skip
BIBTEX_IN_REFERENCES: Classes = {
    "title": ("title",), "author": ("author",), "editor": ("editor",), "address": ("location",),
    "booktitle": ("booktitle",), "journal": ("journal",), "series": ("booktitle",), "year": ("date",),
    "publisher": ("publisher",), "institution": ("institution",), "school": ("institution",),
    "month": ("date",), "volume": ("volume",), "number": ("volume",), "pages": ("pages",),
    "note": ("note",),
}  # fmt: skip
NAMES_IN_HEADERS: Classes = {"first": ("author",), "last": ("author",), "place": ("address",)}


class DistantWords:
    """Word counts of each class, from labels made for another purpose."""

    def __init__(self, word: Callable[[str], str]) -> None:
        self._word = word
        self.counts: dict[str, Counter[str]] = {}

    def add_bibtex(self, entries: Iterable[BibEntry], classes: Classes) -> None:
        for entry in entries:
            for name, value in entry.fields.items():
                self._add(classes.get(name, ()), value.split())

    def add_tagged(self, texts: Iterable[TaggedText], classes: Classes | None = None) -> None:
        """Count the words of tagged texts; without `classes`, the labels are the classes."""
        for text in texts:
            for token, label in zip(text.words, text.labels, strict=True):
                self._add((label,) if classes is None else classes.get(label, ()), [token])

    def add_names(self, lists: Mapping[str, Iterable[str]], classes: Classes) -> None:
        for kind, names in lists.items():
            for name in names:
                self._add(classes.get(kind, ()), name.split())

    def vocabulary(self, min_count: int) -> set[str]:
        """Return the words that occur at least `min_count` times over all classes."""
        total: Counter[str] = Counter()
        for words in self.counts.values():
            total.update(words)
        return {word for word, times in total.items() if times >= min_count}

    def matrix(self, classes: Sequence[str], numbers: Mapping[str, int], n_words: int) -> Floats:
        """Return the counts (C, V) of the words in `numbers`."""
        counts = np.zeros((len(classes), n_words))
        for row, name in enumerate(classes):
            for word, times in self.counts.get(name, Counter[str]()).items():
                if word in numbers:
                    counts[row, numbers[word]] += times
        return counts

    def _add(self, classes: Sequence[str], tokens: Sequence[str]) -> None:
        words = [word for word in map(self._word, tokens) if word] if classes else []
        for name in classes:
            self.counts.setdefault(name, Counter()).update(words)

"""Words whose field is known from elsewhere: BibTeX, tagged references, lists of names (section 4.2.2).

Labels made for another purpose say nothing of the order of fields, but much of the words in them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from wayhound.learn.arrays import Floats
from wayhound.papers.bibtex_read import BibEntry
from wayhound.papers.tagged import Tagged

Classes = Mapping[str, Sequence[str]]
"""For a field of the source, the classes that it lends its words to."""

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
    """How often each class says each word, by labels made for another purpose."""

    def __init__(self, word: Callable[[str], str]) -> None:
        self._word = word
        self.counts: dict[str, Counter[str]] = {}

    def add_bibtex(self, entries: Iterable[BibEntry], classes: Classes) -> None:
        for entry in entries:
            for name, value in entry.fields.items():
                self._add(classes.get(name, ()), value.split())

    def add_tagged(self, texts: Iterable[Tagged], classes: Classes | None = None) -> None:
        """Words of tagged texts; without `classes` the labels are the classes."""
        for text in texts:
            for token, label in zip(text.words, text.labels, strict=True):
                self._add((label,) if classes is None else classes.get(label, ()), [token])

    def add_names(self, lists: Mapping[str, Iterable[str]], classes: Classes) -> None:
        for kind, names in lists.items():
            for name in names:
                self._add(classes.get(kind, ()), name.split())

    def vocabulary(self, min_count: int) -> set[str]:
        """Words seen `min_count` times, whatever the class."""
        total: Counter[str] = Counter()
        for words in self.counts.values():
            total.update(words)
        return {word for word, times in total.items() if times >= min_count}

    def matrix(self, classes: Sequence[str], numbers: Mapping[str, int], n_words: int) -> Floats:
        """Counts (C, V) of the words that have a number."""
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

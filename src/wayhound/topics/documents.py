"""Who cites whom, as evidence for topics: a paper is mostly about what its neighbours are about."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from wayhound.errors import UsageError
from wayhound.record import Record
from wayhound.topics.vocabulary import bag_of, even_bag, folded_words

_TEXTS = ("title", "abstract", "text")
_LISTS = ("title_words", "words")


@dataclass(frozen=True, slots=True)
class TopicDocument:
    """The words of one document, how often each, and in what order if that is known; and what it cites."""

    id: str
    bag: Mapping[str, float]
    sequence: tuple[str, ...] = ()
    title: str = ""
    cites: tuple[str, ...] = ()
    label: str = ""  # the topic that somebody gave it; read for measuring, never for training

    @classmethod
    def from_text(cls, document_id: str, title: str, *texts: str, cites: Iterable[str] = ()) -> TopicDocument:
        """From running text. An empty word stands between two texts, so that no phrase reaches across."""
        sequence: list[str] = []
        for text in (title, *texts):
            sequence += [*folded_words(text), ""]
        bag = bag_of(word for word in sequence if word)
        return cls(document_id, bag, tuple(sequence[:-1]), title, tuple(cites))


@dataclass(frozen=True, slots=True)
class _Line:
    """One JSON object and where it stands, so that every complaint can say so."""

    fields: Mapping[str, Any]
    place: str

    def text(self, name: str) -> str:
        value = self.fields.get(name) or ""
        if not isinstance(value, str):
            raise UsageError(f"{self.place}: {name!r} must be text.")
        return value

    def listed(self, name: str) -> list[str]:
        value = self.fields.get(name) or []
        if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
            raise UsageError(f"{self.place}: {name!r} must be a list of texts.")
        return value

    def weights(self, name: str) -> dict[str, float]:
        value = self.fields.get(name)
        if not isinstance(value, dict) or not all(_is_weight(weight) for weight in value.values()):
            raise UsageError(f"{self.place}: {name!r} must give each word a number from 0 up.")
        return value


def read_documents(path: Path) -> list[TopicDocument]:
    """Documents from JSON lines; ids must differ."""
    documents: dict[str, TopicDocument] = {}
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    document = parse_document(line, f"{path}, line {number}")
                    if document.id in documents:
                        raise UsageError(f"{path}, line {number}: the id {document.id!r} stands there twice.")
                    documents[document.id] = document
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text in UTF-8.") from None
    return list(documents.values())


def parse_document(text: str, place: str = "The document") -> TopicDocument:
    """A document from a JSON object with `id`, any of `title`, `abstract` and `text`, or words in no order.

    `title_words` and `words` are lists of words, or `words` gives each word a weight. `cites` lists ids.
    """
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError(f"{place} is not JSON.") from None
    if not isinstance(fields, dict) or not isinstance(fields.get("id"), str | int):
        raise UsageError(f"{place} must be a JSON object with an 'id'.")
    line = _Line(fields, place)
    identity, label, cites = str(fields["id"]), line.text("label"), tuple(line.listed("cites"))
    texts = [line.text(name) for name in _TEXTS]
    if not any(name in fields for name in _LISTS):
        ordered = TopicDocument.from_text(identity, *texts, cites=cites)
        return TopicDocument(identity, ordered.bag, ordered.sequence, ordered.title, cites, label)
    return TopicDocument(identity, _bag(line, texts), (), texts[0], cites, label)


def document_from_record(record: Record, cited_titles: Iterable[str] = ()) -> TopicDocument:
    """A paper that was extracted: title, abstract and the titles of its references, and the ids of what it cites."""
    texts = (record.first(name) for name in _TEXTS)
    cites = (value.text for value in record.fields.get("cites", ()))
    return TopicDocument.from_text(record.id, *texts, *cited_titles, cites=cites)


def _bag(line: _Line, texts: Iterable[str]) -> dict[str, float]:
    if isinstance(line.fields.get("words"), dict):
        return even_bag(line.weights("words"))
    listed = [word for name in _LISTS for word in line.listed(name)]
    return bag_of(word for text in (*texts, *listed) for word in folded_words(text))


def _is_weight(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")


@dataclass(frozen=True, slots=True)
class CitationLinks:
    """Who cites whom, by id. Papers of which no more is known than that they are cited count too."""

    pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def among(
        cls, documents: Iterable[TopicDocument], pairs: Iterable[tuple[str, str]] = ()
    ) -> CitationLinks:
        """Given pairs, and what the documents themselves say; each once."""
        own = ((document.id, cited) for document in documents for cited in document.cites)
        return cls(tuple(dict.fromkeys((*pairs, *own))))

    def rows(self, documents: Iterable[TopicDocument]) -> dict[str, int]:
        """A row for every document in order, then one for every other paper that is cited or cites."""
        ids = dict.fromkeys(document.id for document in documents)
        ids |= dict.fromkeys(end for pair in self.pairs for end in pair)
        return {identity: row for row, identity in enumerate(ids)}

    def links(self, rows: Mapping[str, int]) -> csr_array:
        """The weight of the link from each paper to each other one, both ways, (rows, rows)."""
        ends = np.array([(rows[citing], rows[cited]) for citing, cited in self.pairs], dtype=np.int64)
        ends = ends.reshape(-1, 2)[ends.reshape(-1, 2)[:, 0] != ends.reshape(-1, 2)[:, 1]]
        shape = (len(rows), len(rows))
        cited = csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=shape)
        return csr_array(cited + cited.T)


def read_citations(path: Path) -> Iterator[tuple[str, str]]:
    """Pairs of ids, citing and cited, parted by a tab; a first line `citing<TAB>cited` is a heading."""
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                pair = line.rstrip("\n").split("\t")
                if len(pair) != 2:
                    raise UsageError(f"{path}, line {number}: expected two ids with a tab between them.")
                if number > 1 or pair != ["citing", "cited"]:
                    yield pair[0], pair[1]
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text in UTF-8.") from None

"""Documents to be placed, the citations between them, and the files that hold both."""

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
from wayhound.topics.vocabulary import scale_weights, singular_words, word_counts

_TEXTS = ("title", "abstract", "text")
_LISTS = ("title_words", "words")


@dataclass(frozen=True, slots=True)
class TopicDocument:
    """One document: its word counts, its words in order if the order is known, and the ids that it cites."""

    id: str
    bag: Mapping[str, float]
    sequence: tuple[str, ...] = ()
    title: str = ""
    cites: tuple[str, ...] = ()
    label: str = ""  # the true topic; read by benchmarks, never by training

    @classmethod
    def from_text(cls, document_id: str, title: str, *texts: str, cites: Iterable[str] = ()) -> TopicDocument:
        """Make a document from running text. An empty word separates the texts, so no phrase spans two."""
        sequence: list[str] = []
        for text in (title, *texts):
            sequence += [*singular_words(text), ""]
        bag = word_counts(word for word in sequence if word)
        return cls(document_id, bag, tuple(sequence[:-1]), title, tuple(cites))


def document_from_record(record: Record, cited_titles: Iterable[str] = ()) -> TopicDocument:
    """Make a document from a paper's title, abstract, text and the titles of its references."""
    texts = (record.first(name) for name in _TEXTS)
    cites = (value.text for value in record.fields.get("cites", ()))
    return TopicDocument.from_text(record.id, *texts, *cited_titles, cites=cites)


@dataclass(frozen=True, slots=True)
class _Line:
    """One JSON object and its place in the file, which every error names."""

    fields: Mapping[str, Any]
    place: str

    def text(self, name: str) -> str:
        value = self.fields.get(name) or ""
        if not isinstance(value, str):
            raise UsageError(f"{self.place}: {name!r} must be text.")
        return value

    def texts(self, name: str) -> list[str]:
        value = self.fields.get(name) or []
        if not isinstance(value, list) or not all(isinstance(part, str) for part in value):
            raise UsageError(f"{self.place}: {name!r} must be a list of texts.")
        return value

    def weights(self, name: str) -> dict[str, float]:
        value = self.fields.get(name)
        if not isinstance(value, dict) or not all(_is_weight(weight) for weight in value.values()):
            raise UsageError(f"{self.place}: {name!r} must map each word to a number that is 0 or more.")
        return value


def _is_weight(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")


def read_documents(path: Path) -> list[TopicDocument]:
    """Read documents from JSON lines. Raises UsageError, with the line, for bad lines and repeated ids."""
    documents: dict[str, TopicDocument] = {}
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    document = parse_document(line, f"{path}, line {number}")
                    if document.id in documents:
                        raise UsageError(f"{path}, line {number}: the id {document.id!r} occurs twice.")
                    documents[document.id] = document
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not text in UTF-8.") from None
    return list(documents.values())


def parse_document(text: str, place: str = "The document") -> TopicDocument:
    """Parse a JSON object with `id`, any of `title`, `abstract` and `text`, or words in no order.

    `title_words` and `words` are lists of words, or `words` maps each word to a weight. `cites` lists ids.
    Raises UsageError for anything else.
    """
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        raise UsageError(f"{place} is not JSON.") from None
    if not isinstance(fields, dict) or not isinstance(fields.get("id"), str | int):
        raise UsageError(f"{place} must be a JSON object with an 'id'.")
    line = _Line(fields, place)
    identity, label, cites = str(fields["id"]), line.text("label"), tuple(line.texts("cites"))
    texts = [line.text(name) for name in _TEXTS]
    if not any(name in fields for name in _LISTS):
        ordered = TopicDocument.from_text(identity, *texts, cites=cites)
        return TopicDocument(identity, ordered.bag, ordered.sequence, ordered.title, cites, label)
    return TopicDocument(identity, _bag(line, texts), (), texts[0], cites, label)


def _bag(line: _Line, texts: Iterable[str]) -> dict[str, float]:
    if isinstance(line.fields.get("words"), dict):
        return scale_weights(line.weights("words"))
    listed = [word for name in _LISTS for word in line.texts(name)]
    return word_counts(word for text in (*texts, *listed) for word in singular_words(text))


@dataclass(frozen=True, slots=True)
class CitationLinks:
    """Pairs of ids, citing and cited. Works known only by being cited take part as well."""

    pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def among(
        cls, documents: Iterable[TopicDocument], pairs: Iterable[tuple[str, str]] = ()
    ) -> CitationLinks:
        """Combine `pairs` with what the documents themselves cite, each pair once."""
        own = ((document.id, cited) for document in documents for cited in document.cites)
        return cls(tuple(dict.fromkeys((*pairs, *own))))

    def rows(self, documents: Iterable[TopicDocument]) -> dict[str, int]:
        """Number the ids: the documents in order, then every other work that cites or is cited."""
        ids = dict.fromkeys(document.id for document in documents)
        ids |= dict.fromkeys(end for pair in self.pairs for end in pair)
        return {identity: row for row, identity in enumerate(ids)}

    def links(self, rows: Mapping[str, int]) -> csr_array:
        """Return the symmetric link weights (rows, rows); citations of oneself are left out."""
        ends = np.array([(rows[citing], rows[cited]) for citing, cited in self.pairs], dtype=np.int64)
        ends = ends.reshape(-1, 2)[ends.reshape(-1, 2)[:, 0] != ends.reshape(-1, 2)[:, 1]]
        shape = (len(rows), len(rows))
        cited = csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=shape)
        return csr_array(cited + cited.T)


def read_citations(path: Path) -> Iterator[tuple[str, str]]:
    """Yield pairs of ids, citing and cited, from a tab-separated file; a heading `citing<TAB>cited` is skipped.

    Raises UsageError, with the line, where a line is not two ids.
    """
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

"""Similar documents, found for all documents of an index at once.

A query for each takes as long as the rest of its page takes to read. As one product of sparse matrices, all of them
take a few seconds for 50,000 documents.
"""

from __future__ import annotations

import io
import math
import zlib
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from wayhound.files import write_file
from wayhound.search.query import terms
from wayhound.search.schema import CITED_ONLY, record_key, tantivy

if TYPE_CHECKING:
    from wayhound.search.snapshot import IndexSnapshot

SIMILAR = "similar.npz"
SIMILAR_TERMS = 12  # with 25, three of four similar documents are the same, at twice the cost
MOST_SIMILAR = 6  # that are kept for a document
MOST_DOCUMENTS = 100_000  # some 8 kB of memory each while they are compared; a larger index is queried
NEWS_SHARE = 0.1  # of documents that were added or removed, from which on all are compared again
_BATCH = 500  # documents
_K1, _B = 1.2, 0.75  # of BM25, as the search library has them
_FIELDS = ("title", "text")


def characteristic_words(snapshot: IndexSnapshot, shown: dict[str, Any]) -> list[tuple[float, str]]:
    """Return the words of a document with the largest tf · idf, and this as a negative number, the smallest first."""
    counts = Counter(terms(f"{shown['title']} {shown['title']} {shown['text']}"))
    weighted = [
        (-rarity if count == 1 else -rarity * (1 + math.log(count)), word)
        for (word, count), rarity in zip(counts.items(), snapshot.rarities(counts), strict=True)
    ]
    return sorted(weighted)[:SIMILAR_TERMS]


@dataclass(frozen=True, slots=True)
class SimilarDocuments:
    """For each document, the keys of those most similar to it, as they were when all were compared.

    Documents are in the order of the checksums of their keys, so that one is found by a binary search. `texts` are
    checksums of what was compared, by which a document that has changed since is recognised.
    """

    names: NDArray[np.uint64]  # (documents,)
    texts: NDArray[np.uint32]  # (documents,)
    similar: NDArray[np.int32]  # (documents, MOST_SIMILAR), -1 where there are fewer
    scores: NDArray[np.float32]  # of these
    ends: NDArray[np.int64]  # (documents,), of each key in `keys`
    keys: bytes

    def of(self, shown: dict[str, Any]) -> dict[str, float] | None:
        """Return the keys of the documents that are similar to one, with scores; None if that is not known."""
        key = record_key(shown["kind"], shown["id"])
        row = int(np.searchsorted(self.names, np.uint64(_name(key))))
        if row >= len(self.names) or self._key(row) != key or self.texts[row] != _text_sum(shown):
            return None
        pairs = zip(self.similar[row].tolist(), self.scores[row].tolist(), strict=True)
        found = {self._key(other): score for other, score in pairs if other >= 0}
        # where there are fewer, a query also finds documents that share only frequent words
        return found if len(found) == MOST_SIMILAR else None

    def _key(self, row: int) -> str:
        return self.keys[self.ends[row - 1] if row else 0 : self.ends[row]].decode()


def read_similar(build: Path) -> SimilarDocuments | None:
    """Return what was compared for a build; None if nothing was, or the file is damaged."""
    try:
        with (build / SIMILAR).open("rb") as file, np.load(file, allow_pickle=False) as read:
            arrays = {name: read[name] for name in ("names", "texts", "similar", "scores", "ends")}
            return SimilarDocuments(**arrays, keys=read["keys"].tobytes())
    except (OSError, EOFError, ValueError, KeyError, BadZipFile):
        return None


def write_similar(snapshot: IndexSnapshot) -> bool:
    """Compare all documents of the collection, unless few have changed since; return True if they were."""
    searcher, before = snapshot.searcher, read_similar(snapshot.build)
    count = searcher.num_docs - searcher.doc_freq("shelf", CITED_ONLY)
    known = len(before.names) if before else 0
    if count > MOST_DOCUMENTS or abs(count - known) <= NEWS_SHARE * known:
        return False
    shown = list(_all_shown(snapshot))
    keys = [record_key(document["kind"], document["id"]) for document in shown]
    order = np.argsort(np.array([_name(key) for key in keys], np.uint64), kind="stable")
    place = np.empty(len(order) + 1, np.int32)
    place[order], place[-1] = np.arange(len(order)), -1  # no document stays none
    similar, scores = _compared(snapshot, shown)
    encoded = [keys[row].encode() for row in order]
    file = io.BytesIO()
    np.savez(
        file,
        names=np.array([_name(keys[row]) for row in order], np.uint64),
        texts=np.array([_text_sum(shown[row]) for row in order], np.uint32),
        similar=place[similar][order],
        scores=scores[order],
        ends=np.cumsum([len(key) for key in encoded], dtype=np.int64),
        keys=np.frombuffer(b"".join(encoded), np.uint8),
    )
    write_file(snapshot.build / SIMILAR, file.getvalue())
    return True


def _all_shown(snapshot: IndexSnapshot) -> Iterator[dict[str, Any]]:
    everything = snapshot.in_collection(tantivy.Query.all_query())
    hits = snapshot.searcher.search(everything, max(1, snapshot.searcher.num_docs), count=False).hits
    for _, address in hits:
        shown = snapshot.shown(address)
        yield {name: shown[name] for name in ("kind", "id", *_FIELDS)}


def _name(key: str) -> int:
    encoded = key.encode()
    return zlib.crc32(encoded) << 32 | zlib.adler32(encoded)


def _text_sum(shown: dict[str, Any]) -> int:
    return zlib.crc32(f"{shown['title']}\n{shown['text']}".encode("utf-8", "replace"))


def _compared(
    snapshot: IndexSnapshot, shown: Sequence[dict[str, Any]]
) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """Return the rows of the documents most similar to each, and scores, (documents, MOST_SIMILAR).

    Rows are -1 where there are fewer.

    The score is that of a query for a document's characteristic words: their weights there times BM25 here, in title
    and text.
    """
    vocabulary: dict[str, int] = {}
    characteristic = (characteristic_words(snapshot, document) for document in shown)
    weights = (
        [(vocabulary.setdefault(word, len(vocabulary)), -weight) for weight, word in words]
        for words in characteristic
    )
    wanted = _sparse(weights, len(shown), vocabulary)
    found = sum((_bm25(snapshot, shown, name, vocabulary) for name in _FIELDS), start=csr_array(wanted.shape))
    by_word = csr_array(found.T)
    similar = np.full((len(shown), MOST_SIMILAR), -1, np.int32)
    best_scores = np.zeros(similar.shape, np.float32)
    for first in range(0, len(shown), _BATCH):
        scores = csr_array(wanted[first : first + _BATCH] @ by_word)
        for row in range(scores.shape[0]):
            some = slice(scores.indptr[row], scores.indptr[row + 1])
            best, its_scores = _best(scores.indices[some], scores.data[some], first + row)
            similar[first + row, : len(best)] = best
            best_scores[first + row, : len(best)] = its_scores
    return similar, best_scores


def _best(documents: NDArray[Any], scores: NDArray[Any], itself: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the documents with the largest scores, and these; of equals the first, and without the document itself."""
    if len(scores) > MOST_SIMILAR + 1:
        least = np.partition(scores, -MOST_SIMILAR - 1)[-MOST_SIMILAR - 1]
        documents, scores = documents[scores >= least], scores[scores >= least]
    order = np.lexsort((documents, -scores))
    order = order[documents[order] != itself][:MOST_SIMILAR]
    return documents[order], scores[order]


def _bm25(
    snapshot: IndexSnapshot, shown: Sequence[dict[str, Any]], name: str, vocabulary: dict[str, int]
) -> csr_array:
    """Return BM25 of the words in a field, (documents, words); lengths are rounded as the search library does."""
    lengths = np.zeros(len(shown), np.int64)

    def known() -> Iterator[list[tuple[int, float]]]:
        for row, document in enumerate(shown):
            words = terms(document[name])
            lengths[row] = len(words)
            yield [(vocabulary[word], float(n)) for word, n in Counter(words).items() if word in vocabulary]

    counts = _sparse(known(), len(shown), vocabulary)
    searcher = snapshot.searcher
    frequency = np.array([searcher.doc_freq(name, word) for word in vocabulary])
    rarity = np.log1p((searcher.num_docs - frequency + 0.5) / (frequency + 0.5))
    rounded = _LENGTHS[np.searchsorted(_LENGTHS, lengths, "right") - 1]
    norm = _K1 * (1 - _B + _B * rounded / max(lengths.mean(), 1e-9)) if len(lengths) else lengths
    rows = np.repeat(np.arange(len(shown)), np.diff(counts.indptr))
    counts.data = (_K1 + 1) * rarity[counts.indices] * counts.data / (counts.data + norm[rows])
    return counts


def _length_steps() -> Iterator[int]:
    """Yield the lengths of fields that the index tells apart, each in one byte: exact up to 40, then ever coarser."""
    yield from range(41)
    length, step = 40, 2
    while length < 2**31:
        for _ in range(8):
            length += step
            yield length
        step *= 2


_LENGTHS = np.array([*_length_steps()])


def _sparse(rows: Iterator[list[tuple[int, float]]], count: int, vocabulary: dict[str, int]) -> csr_array:
    """Return a matrix of words in documents, (documents, words); the vocabulary may grow while rows are read."""
    columns, values = array("i"), array("f")  # lists would take ten times the memory
    ends = np.zeros(count + 1, np.int64)
    for number, row in enumerate(rows, 1):
        columns.extend([column for column, _ in row])
        values.extend([value for _, value in row])
        ends[number] = len(columns)
    return csr_array((np.array(values), np.array(columns), ends), (count, len(vocabulary)))

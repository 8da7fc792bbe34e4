"""Reading of files: bytes in, a paper or a reason out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from wayhound.documents.document import Document, Unread
from wayhound.documents.reader import DocumentReader
from wayhound.papers.paper import PaperModels, ReadPaper, read_paper


@dataclass(frozen=True, slots=True)
class FileReading:
    """The result of reading a file: a paper or a reason, its file type and its number of pages."""

    outcome: ReadPaper | Unread
    kind: str = ""
    page_count: int = 0


@dataclass(frozen=True, slots=True)
class FileToRead:
    """The content of a file, its URL, the kind that a person decided on, and whether pictures are recognised."""

    body: bytes
    url: str
    kind: str = ""
    ocr: bool = False


class PaperReader:
    """Reads files one by one in this process, and PDFs in a child process."""

    def __init__(self, models: PaperModels) -> None:
        self.models = models
        self._documents = DocumentReader()

    def read(self, file: FileToRead) -> FileReading:
        document = self._documents.read(file.body, ocr=file.ocr)
        if isinstance(document, Unread):
            return FileReading(document, page_count=document.n_pages)
        return self.read_document(document, file.url, file.kind)

    def read_document(self, document: Document, url: str, kind: str = "") -> FileReading:
        return FileReading(read_paper(document, self.models, url, kind), document.kind, len(document.pages))

    def close(self) -> None:
        self._documents.close()


@contextmanager
def paper_reading(models: PaperModels) -> Iterator[Callable[[FileToRead], FileReading]]:
    """Open what reads files, in any process (`map_items`)."""
    reader = PaperReader(models)
    try:
        yield reader.read
    finally:
        reader.close()

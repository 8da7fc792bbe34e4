"""The files that papers are read from: their archive positions, what reading them gave, and where they were found."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from wayhound.store.database import Database
from wayhound.store.visits import clicked_texts, path_reader
from wayhound.visit import ArchiveRef

_COLUMNS = (
    "id, name, outcome, detail, kind, page_count, size, archive_file, archive_offset, archive_length, "
    "read_with, read_at"
)
_SELECT = f"SELECT {_COLUMNS} FROM document_file"  # noqa: S608
_UPSERT = (
    f"INSERT INTO document_file ({_COLUMNS}, change) "  # noqa: S608
    f"VALUES (?{', ?' * 11}, (SELECT coalesce(max(change), 0) + 1 FROM document_file)) "
    "ON CONFLICT (id) DO UPDATE SET "
    + ", ".join(f"{name} = excluded.{name}" for name in [*_COLUMNS.split(", ")[1:], "change"])
)
_PAGES = "SELECT pages FROM document_text WHERE document = ?"
# Files that a forage fetched: by their media type, or by name if the server does not send one.
_FETCHED = """
FROM site CROSS JOIN visit ON visit.site_id = site.id
WHERE (site.run_id = ?1 OR ?1 IS NULL) AND visit.archive_file IS NOT NULL AND visit.status BETWEEN 200 AND 299
  AND (visit.content_type IN (
         'application/pdf', 'application/x-pdf', 'application/postscript', 'application/x-postscript',
         'application/gzip', 'application/x-gzip', 'text/plain')
       OR (visit.content_type NOT LIKE '%html%'
           AND (visit.url LIKE '%.pdf' OR visit.url LIKE '%.ps' OR visit.url LIKE '%.ps.gz'
                OR visit.url LIKE '%.pdf.gz' OR visit.url LIKE '%.eps')))
  AND NOT EXISTS (SELECT 1 FROM document_source AS source
                  WHERE source.site_id = site.id AND source.visit = visit.number)
"""
_FOUND = f"""
SELECT site.id, site.start, visit.number, visit.url, visit.content_type, visit.archive_file, visit.archive_offset,
       visit.archive_length
{_FETCHED} AND visit.robots NOT LIKE 'noindex%' ORDER BY site.id, visit.number
"""
_COUNT_NOINDEX = f"SELECT count(*) {_FETCHED} AND visit.robots LIKE 'noindex%'"


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file by its content. `outcome` is `paper`, `document` or a reason; `detail` explains it."""

    id: str
    name: str
    outcome: str
    detail: str
    kind: str
    page_count: int
    size: int
    archived: ArchiveRef
    read_with: str = ""
    read_at: float = 0.0


@dataclass(frozen=True, slots=True)
class DocumentSource:
    """The place where a file was found: URL, site and visit, with the texts of the links clicked to it."""

    url: str
    site_id: int = 0  # 0 if a person added the file
    visit: int | None = None
    site: str = ""
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that a forage fetched and that has not been read yet."""

    source: DocumentSource
    content_type: str
    archived: ArchiveRef


class DocumentFileStore:
    """Files by id, each with its sources. Writes are part of the open transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, file: StoredFile) -> None:
        archived = file.archived
        row = (file.id, file.name, file.outcome, file.detail, file.kind, file.page_count, file.size,
               archived.file, archived.offset, archived.length, file.read_with, file.read_at)  # fmt: skip
        self._database.execute(_UPSERT, row)

    def add_source(self, document: str, source: DocumentSource) -> None:
        self._database.execute(
            "INSERT INTO document_source (document, url, site_id, visit, site, path) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (document, source.url, source.site_id, source.visit, source.site, json.dumps(source.path)),
        )

    def touch(self, document: str) -> None:
        """Mark a file as changed, so that other processes read it again."""
        self._database.execute(
            "UPDATE document_file SET change = (SELECT max(change) + 1 FROM document_file) WHERE id = ?",
            (document,),
        )

    def put_pages(self, document: str, pages: Sequence[str]) -> bool:
        """Save the text of each page; return False if it was saved before. Without any text, nothing is kept."""
        packed = (
            zlib.compress(json.dumps(pages, ensure_ascii=False).encode("utf-8", "replace"))
            if any(pages)
            else None
        )
        row = self._database.execute(_PAGES, (document,)).fetchone()
        if packed == (row[0] if row else None):
            return False
        self._database.execute("DELETE FROM document_text WHERE document = ?", (document,))
        if packed:
            self._database.execute(
                "INSERT INTO document_text (document, pages) VALUES (?, ?)", (document, packed)
            )
        return True

    def pages(self, document: str) -> list[str]:
        """Return the text of each page, without the list of references; nothing if it was not kept."""
        row = self._database.execute(_PAGES, (document,)).fetchone()
        return list(json.loads(zlib.decompress(row[0]))) if row else []

    def last_change(self) -> int:
        row = self._database.execute("SELECT coalesce(max(change), 0) FROM document_file").fetchone()
        return int(row[0])

    def get(self, document: str) -> StoredFile | None:
        row = self._database.execute(f"{_SELECT} WHERE id = ?", (document,)).fetchone()
        return _file(row) if row else None

    def iterate(self) -> Iterator[StoredFile]:
        """Yield all files in order of id."""
        yield from map(_file, self._database.stream(f"{_SELECT} ORDER BY id"))

    def ids_with_prefix(self, prefix: str) -> list[str]:
        """Return at most 10 ids with a prefix, for people who type only the first letters."""
        rows = self._database.execute(
            "SELECT id FROM document_file WHERE substr(id, 1, length(?1)) = ?1 ORDER BY id LIMIT 10",
            (prefix,),
        )
        return [row[0] for row in rows]

    def outcomes(self) -> dict[str, int]:
        rows = self._database.execute(
            "SELECT outcome, count(*) FROM document_file GROUP BY outcome ORDER BY 2 DESC, outcome"
        )
        return dict(rows.fetchall())

    def source_urls(self, outcome: str) -> set[str]:
        """Return the URLs from which files with this outcome were fetched."""
        rows = self._database.execute(
            "SELECT source.url FROM document_source AS source "
            "JOIN document_file AS file ON file.id = source.document WHERE file.outcome = ?",
            (outcome,),
        )
        return {url for (url,) in rows}

    def sources(self, document: str) -> list[DocumentSource]:
        rows = self._database.execute(
            "SELECT url, site_id, visit, site, path FROM document_source WHERE document = ? "
            "ORDER BY site_id = 0, site_id, visit NULLS FIRST, url",
            (document,),
        )
        return [
            DocumentSource(url, site_id, visit, site, tuple(json.loads(path)))
            for url, site_id, visit, site, path in rows
        ]

    def found_by_forage(self, run_id: int | None = None) -> Iterator[FoundFile]:
        """Yield the PDF, PostScript and text files of a run or of all that have not been read yet."""
        read_path = path_reader(self._database)
        rows = self._database.execute(_FOUND, (run_id,)).fetchall()
        for site_id, site, number, url, content_type, *place in rows:
            source = DocumentSource(url, site_id, number, site, clicked_texts(read_path(site_id, number)))
            yield FoundFile(source, content_type, ArchiveRef(*place))

    def count_noindex(self, run_id: int | None = None) -> int:
        """Return how many files `found_by_forage` leaves out because of their robots rules."""
        return int(self._database.execute(_COUNT_NOINDEX, (run_id,)).fetchone()[0])


def _file(row: tuple[Any, ...]) -> StoredFile:
    values = (*row[:7], ArchiveRef(*row[7:10]), *row[10:])
    return StoredFile(*values)

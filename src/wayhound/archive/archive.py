"""The archive of a workspace: every response as a standard WARC record, none lost by a crash.

A record is with the operating system when `write` returns, so that `kill -9` loses nothing that was
returned; `sync` also guards against a power cut. A process never appends to the file of another.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from wayhound.archive.earlier import Earlier
from wayhound.archive.warc_file import WarcFile
from wayhound.archive.warc_write import (
    Original,
    info_record,
    new_record_id,
    not_modified_record,
    request_record,
    response_record,
    revisit_record,
    sha1_digest,
)
from wayhound.errors import ArchiveError
from wayhound.fetched import Fetched
from wayhound.visit import ArchiveRef

_PLACE = struct.Struct("<IQd")  # number of the file, offset, time; the URL follows


class ArchiveWriter:
    """Writes responses to ``wayhound-TIME-NAME-NUMBER.warc.gz`` files in `folder`.

    A file is begun at the first `write`, so that an idle worker leaves none, and another one when it has
    grown past `max_bytes`. TIME is that of the file's first record.
    """

    def __init__(self, folder: Path, name: str, *, max_bytes: int = 1 << 30, software: str) -> None:
        self._folder = folder
        self._name = re.sub(r"[^A-Za-z0-9_.-]+", "_", name) or "archive"
        self._max_bytes = max_bytes
        self._software = software
        self._file: WarcFile | None = None
        self._bodies = BodyMemory()

    def write(
        self,
        fetched: Fetched,
        *,
        at: float,
        request_headers: Sequence[tuple[str, str]] | None = (),
        earlier: Earlier | None = None,
    ) -> ArchiveRef:
        """Store one response, and the request that it answers unless `request_headers` is None.

        A body that this writer has stored before, or that is still that of the `earlier` page at this URL, is
        not stored again: a revisit record refers to it.
        """
        file = self._file or self._begin_file(at)
        record_id = new_record_id()
        if earlier and earlier.is_confirmed_by(fetched):
            record = not_modified_record(fetched, at, earlier.digest, record_id, earlier.record)
            new_body = None
        else:
            record, new_body = self._with_body(fetched, at, record_id, earlier)
        request = b""
        if request_headers is not None:
            request = request_record(fetched.url, request_headers, at, concurrent_to=record_id)
        ref = ArchiveRef(file.path.name, file.append(record + request), len(record))
        if new_body:
            self._bodies.add(new_body, Original(ref.file, ref.offset, fetched.url, at))
        if file.size >= self._max_bytes:
            self.close()
        return ref

    def _with_body(
        self, fetched: Fetched, at: float, record_id: str, earlier: Earlier | None
    ) -> tuple[bytes, bytes | None]:
        """The record of a response, and the digest of its body where it is the first record that holds it."""
        digest = sha1_digest(fetched.body)
        if not fetched.body:
            return response_record(fetched, at, digest, record_id), None
        same = earlier.body if earlier and earlier.digest == digest else None
        original = self._bodies.find(digest) or same
        if original is None:
            return response_record(fetched, at, digest, record_id), digest
        self._bodies.add(digest, original)
        return revisit_record(fetched, at, digest, record_id, original), None

    def sync(self) -> None:
        """Bring all that was written to the disk itself."""
        if self._file:
            self._file.sync()

    def close(self) -> None:
        """End the current file; a later `write` begins another."""
        file, self._file = self._file, None
        if file:
            file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _begin_file(self, at: float) -> WarcFile:
        time = datetime.fromtimestamp(at, UTC).strftime("%Y%m%dT%H%M%S")
        file = WarcFile.create(self._folder, f"wayhound-{time}-{self._name}")
        try:
            file.append(info_record(file.path.name, self._software, at))
        except ArchiveError:
            file.discard()
            raise
        self._file = file
        return file


class BodyMemory:
    """Where bodies already stand in the archive, by digest, for at least the last `capacity` / 2 of them.

    Two generations bound it: when the young one is full, it takes the place of the old one, which is
    forgotten. What is found in the old one is young again. About 30 MB at 100,000 bodies.
    """

    def __init__(self, capacity: int = 100_000) -> None:
        self._half = max(capacity // 2, 1)
        self._young: dict[bytes, bytes] = {}
        self._old: dict[bytes, bytes] = {}
        self._files: dict[str, int] = {}

    def find(self, digest: bytes) -> Original | None:
        packed = self._young.get(digest) or self._old.get(digest)
        if packed is None:
            return None
        number, offset, at = _PLACE.unpack_from(packed)
        url = packed[_PLACE.size :].decode("utf-8", "surrogatepass")
        return Original(list(self._files)[number], offset, url, at)

    def add(self, digest: bytes, original: Original) -> None:
        if digest in self._young:
            return
        if len(self._young) >= self._half:
            self._old, self._young = self._young, {}
        number = self._files.setdefault(original.file, len(self._files))
        place = _PLACE.pack(number, original.offset, original.at)
        self._young[digest] = place + original.url.encode("utf-8", "surrogatepass")

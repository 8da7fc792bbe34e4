"""Responses to write, and other people's WARC readers as judges of what was written."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from warcio.archiveiterator import ArchiveIterator as WarcioIterator

from wayhound.archive.writer import ArchiveWriter
from wayhound.fetched import Fetched

with warnings.catch_warnings():  # its own old parts warn when it is imported
    warnings.simplefilter("ignore")
    from fastwarc.warc import ArchiveIterator as FastwarcIterator

NOON = 1_767_268_800.0  # 2026-01-01 12:00:00 UTC
SOFTWARE = "wayhound/test"


class Seen(NamedTuple):
    """A record as another reader sees it."""

    kind: str
    url: str
    status: str
    body: bytes
    fields: dict[str, str]


def html(url: str, body: bytes | str = b"<p>Hello</p>", status: int = 200, **more: Any) -> Fetched:
    """A page as the network gives it; `url` must be in normal form for it to come back the same."""
    body = body.encode() if isinstance(body, str) else body
    headers = (("Content-Type", "text/html; charset=UTF-8"), ("Content-Length", str(len(body))))
    given = {"headers": headers, "content_type": "text/html", "charset": "utf-8", "reason_phrase": "OK"}
    return Fetched(url, status, body=body, **{**given, **more})


def redirect(url: str, target: str) -> Fetched:
    headers = (("Location", target), ("Content-Length", "0"))
    return Fetched(url, 301, headers=headers, location=target, reason_phrase="Moved Permanently")


def writer(folder: Path, name: str = "test", **more: Any) -> ArchiveWriter:
    return ArchiveWriter(folder, name, software=SOFTWARE, **more)


def warc_of(folder: Path) -> Path:
    """The only WARC file of a folder."""
    (path,) = folder.glob("*.warc.gz")
    return path


def seen_by_warcio(path: Path) -> list[Seen]:
    with path.open("rb") as file:
        records = WarcioIterator(file, check_digests="raise")
        seen = [_seen_by_warcio(record) for record in records]
        assert records.err_count == 0
    return seen


def seen_by_fastwarc(path: Path) -> list[Seen]:
    return list(_seen_by_fastwarc(path))


def _seen_by_warcio(record: Any) -> Seen:
    fields = dict(record.rec_headers.headers)
    status = record.http_headers.get_statuscode() if record.http_headers else ""
    body = record.content_stream().read()
    return Seen(record.rec_type, fields.get("WARC-Target-URI", ""), status, body, fields)


def _seen_by_fastwarc(path: Path) -> Iterator[Seen]:
    for record in FastwarcIterator(str(path), parse_http=False):
        assert record.verify_block_digest()
        fields = dict(record.headers)
        if fields["WARC-Type"] in {"response", "request", "revisit"}:
            record.parse_http()
        status = str(record.http_headers.status_code or "") if record.http_headers else ""
        yield Seen(
            fields["WARC-Type"], fields.get("WARC-Target-URI", ""), status, record.reader.read(), fields
        )

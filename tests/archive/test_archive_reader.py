from __future__ import annotations

import gzip
import os
import re
import zlib
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from tests.archive.archives import NOON, html, writer
from wayhound.archive.reader import ArchiveReader, iterate
from wayhound.archive.warc import MAX_RECORD_BYTES, records, response_record, sha1_digest
from wayhound.errors import ArchiveError
from wayhound.fetched import Fetched
from wayhound.visit import ArchiveRef

CHUNKED = b"5\r\nHello\r\n7;x=y\r\n, world\r\n0\r\n\r\n"


def foreign(path: Path, responses: list[tuple[str, list[tuple[str, str]], bytes]], **more: bool) -> Path:
    """A WARC file as warcio writes it; each response has a URL, headers and the body as stored."""
    with path.open("wb") as file:
        warc = WARCWriter(file, **more)
        for url, headers, body in responses:
            head = StatusAndHeaders("200 OK", headers, protocol="HTTP/1.1")
            given = {"payload": BytesIO(body), "length": len(body), "http_headers": head}
            warc.write_record(warc.create_warc_record(url, "response", **given))
    return path


def plain(path: Path, *blocks: tuple[str, str, bytes], line: bytes = b"\r\n") -> Path:
    """A WARC file by hand: kind, target and block of every record."""
    out = b""
    for kind, target, block in blocks:
        head = f"WARC/1.0\nWARC-Type: {kind}\nWARC-Target-URI: {target}\nContent-Length: {len(block)}\n\n"
        out += head.encode().replace(b"\n", line) + block + line * 2
    path.write_bytes(out)
    return path


def bodies(path: Path) -> list[bytes]:
    return [fetched.body for _, fetched, _ in iterate(path)]


@pytest.mark.parametrize("packed", [True, False])
def test_files_of_other_tools_are_read_packed_or_plain(tmp_path: Path, packed: bool) -> None:
    wanted = [
        (f"http://a.example/{at}", [("Content-Type", "text/html")], os.urandom(at * 999)) for at in range(5)
    ]
    path = foreign(tmp_path / "any.warc", wanted, gzip=packed)
    found = list(iterate(path))
    assert [(fetched.url, list(fetched.headers), fetched.body) for _, fetched, _ in found] == wanted
    reader = ArchiveReader(tmp_path)
    assert [reader.read(ref) for ref, _, _ in found] == [fetched for _, fetched, _ in found]


@pytest.mark.parametrize(
    ("headers", "stored"),
    [
        ([("Transfer-Encoding", "chunked")], CHUNKED),
        ([("Transfer-Encoding", "chunked")], b"Hello, world"),  # header left over
        ([("Transfer-Encoding", "chunked")], CHUNKED[:-7]),  # broken off before the end
        ([("Content-Encoding", "gzip")], gzip.compress(b"Hello, world", mtime=0)),
        (
            [("Content-Encoding", "gzip")],
            gzip.compress(b"Hello", mtime=0) + gzip.compress(b", world", mtime=0),
        ),
        ([("Content-Encoding", "gzip")], b"Hello, world"),
        ([("Content-Encoding", "deflate")], zlib.compress(b"Hello, world")),
        ([("Content-Encoding", "deflate")], zlib.compress(b"Hello, world")[2:-4]),
        ([("Content-Encoding", "unheard-of")], b"Hello, world"),
        ([("X-Archive-Orig-Content-Encoding", "gzip")], b"Hello, world"),
    ],
)
def test_bodies_are_decoded_where_they_were_stored_as_sent(
    tmp_path: Path, headers: list[tuple[str, str]], stored: bytes
) -> None:
    path = foreign(tmp_path / "any.warc.gz", [("http://a.example/", headers, stored)])
    assert bodies(path) == [b"Hello, world"]


def test_chunked_and_packed_at_once(tmp_path: Path) -> None:
    packed = gzip.compress(b"Hello, world")
    stored = b"%x\r\n%s\r\n3\r\n%s\r\n0\r\n\r\n" % (len(packed) - 3, packed[:-3], packed[-3:])
    headers = [("Transfer-Encoding", "chunked"), ("Content-Encoding", "gzip")]
    assert bodies(foreign(tmp_path / "any.warc.gz", [("http://a.example/", headers, stored)])) == [
        b"Hello, world"
    ]


def test_only_responses_of_the_web_are_taken(tmp_path: Path) -> None:
    path = plain(
        tmp_path / "any.warc",
        ("warcinfo", "", b"software: x\r\n"),
        ("response", "dns:a.example", b"20260101\r\na.example. IN A 192.0.2.1\r\n"),
        ("request", "http://a.example/", b"GET / HTTP/1.1\r\n\r\n"),
        ("response", "<http://A.example:80/%7Eann>", b"HTTP/1.0 200 Fine\r\n\r\nbody"),
        ("resource", "http://a.example/picture", b"no HTTP here"),
        ("response", "http://a.example/odd", b"HTTP/1.0 banana\r\n\r\nbody"),
        ("response", "http://a.example/headless", b"HTTP/1.1 204 No Content"),
    )
    assert [(fetched.url, fetched.status, fetched.body) for _, fetched, _ in iterate(path)] == [
        ("http://a.example/~ann", 200, b"body"),
        ("http://a.example/headless", 204, b""),
    ]


def test_bare_line_feeds_and_folded_headers_are_understood(tmp_path: Path) -> None:
    block = b"HTTP/1.1 200 OK\nContent-Type: text/html;\n  charset=KOI8-R\nX: caf\xe9\n\nbody\r\n\r\nmore"
    path = plain(tmp_path / "any.warc", ("response", "http://a.example/", block), line=b"\n")
    ((_, fetched, at),) = iterate(path)
    assert (fetched.content_type, fetched.charset) == ("text/html", "koi8-r")
    assert dict(fetched.headers)["X"] == "café"
    assert fetched.body == b"body\r\n\r\nmore"
    assert at == 0.0


def test_revisits_of_other_tools_are_found_by_digest_or_left_out(tmp_path: Path) -> None:
    head = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
    path = tmp_path / "any.warc.gz"
    with path.open("wb") as file:
        warc = WARCWriter(file)
        given = {"payload": BytesIO(b"shared"), "length": 6, "http_headers": head}
        first = warc.create_warc_record("http://a.example/a", "response", **given)
        warc.write_record(first)
        digest = first.rec_headers.get_header("WARC-Payload-Digest")
        for url, known in (("http://a.example/b", digest), ("http://a.example/c", "sha1:" + "A" * 32)):
            args = (url, known, "http://a.example/a", "2026-01-01T12:00:00Z")
            warc.write_record(warc.create_revisit_record(*args, http_headers=head))
    assert [(fetched.url, fetched.body) for _, fetched, _ in iterate(path)] == [
        ("http://a.example/a", b"shared"),
        ("http://a.example/b", b"shared"),
    ]


def test_a_file_that_was_packed_at_once_is_refused_with_a_remedy(tmp_path: Path) -> None:
    path = foreign(
        tmp_path / "any.warc", [(f"http://a.example/{at}", [], b"body") for at in range(2)], gzip=False
    )
    path.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(ArchiveError, match="warcio recompress"):
        list(iterate(path))


def test_records_too_large_to_be_pages_are_passed_over(tmp_path: Path) -> None:
    one, three = (_record(f"http://a.example/{at}", b"HTTP/1.1 200 OK\r\n\r\n%d" % at) for at in (1, 3))
    size = MAX_RECORD_BYTES + (1 << 20)
    head = _record("http://a.example/2", b"", length=size).removesuffix(b"\r\n\r\n")
    large = tmp_path / "plain.warc"
    with large.open("wb") as file:
        file.write(one + head)
        file.seek(size, os.SEEK_CUR)  # a hole, which costs no disk
        file.write(b"\r\n\r\n" + three)
    assert bodies(large) == [b"1", b"3"]
    packer = zlib.compressobj(1, wbits=31)
    zeros = [packer.compress(head), *(packer.compress(bytes(1 << 20)) for _ in range(size >> 20))]
    packed = tmp_path / "packed.warc.gz"
    packed.write_bytes(gzip.compress(one) + b"".join(zeros) + packer.flush() + gzip.compress(three))
    assert bodies(packed) == [b"1", b"3"]


def test_a_broken_bit_anywhere_in_a_record_is_noticed_or_harmless(tmp_path: Path) -> None:
    with writer(tmp_path) as archive:
        ref = archive.write(html("http://a.example/", "<p>some words</p>" * 9), at=NOON, request_headers=None)
    path = tmp_path / ref.file
    good = path.read_bytes()
    noticed = 0
    for at in range(ref.offset, ref.offset + ref.length):
        path.write_bytes(good[:at] + bytes([good[at] ^ 4]) + good[at + 1 :])
        try:
            assert ArchiveReader(tmp_path).read(ref) == html("http://a.example/", "<p>some words</p>" * 9)
        except ArchiveError:
            noticed += 1
    assert noticed >= ref.length - 8  # of the gzip head, time, system and flags do not matter


def test_a_place_that_is_not_in_the_archive_is_told(tmp_path: Path) -> None:
    with writer(tmp_path) as archive:
        ref = archive.write(html("http://a.example/"), at=NOON)
    reader = ArchiveReader(tmp_path)
    assert reader.holds(ref)
    for wrong in (
        ArchiveRef("none.warc.gz", 0, 10),
        ArchiveRef(ref.file, ref.offset + 1, ref.length),
        ArchiveRef(ref.file, ref.offset, ref.length - 1),
        ArchiveRef(ref.file, 0, ref.offset),  # the warcinfo record
        ArchiveRef(ref.file, 1 << 40, 10),
    ):
        with pytest.raises(ArchiveError):
            reader.read(wrong)
    assert not reader.holds(ArchiveRef("none.warc.gz", 0, 10))
    assert not reader.holds(ArchiveRef(ref.file, ref.offset, 1 << 20))


def test_a_revisit_does_not_lead_out_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    outside, inside = tmp_path / "outside.warc.gz", tmp_path / "inside" / "any.warc.gz"
    _write_pair(outside)
    revisit = _raw(outside, 3).replace(b"Filename: ", b"Filename: ../")
    assert b"../outside.warc.gz" in revisit
    inside.write_bytes(gzip.compress(revisit))
    assert list(iterate(inside)) == []


@pytest.mark.parametrize("field", [b"File-Offset: " + b"9" * 5_000, b"Filename: " + b"n" * 300])
def test_a_revisit_of_a_place_that_cannot_be_is_left_out(tmp_path: Path, field: bytes) -> None:
    path = tmp_path / "any.warc.gz"
    _write_pair(path)
    name = field.partition(b" ")[0]
    revisit = re.sub(name + b" [^\r]*", field, _raw(path, 3))
    assert field in revisit
    path.write_bytes(gzip.compress(revisit))
    assert list(iterate(path)) == []


def test_a_revisit_whose_body_has_been_replaced_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "any.warc.gz"
    _write_pair(path)
    info, original, revisit = (_raw(path, number) for number in (0, 1, 3))
    other = original.replace(b"Payload-Digest: sha1:", b"Payload-Digest: sha1:Z")
    path.write_bytes(gzip.compress(info) + gzip.compress(other))
    offset = list(records(path))[1].offset
    revisit = revisit.replace(revisit.partition(b"File-Offset: ")[2].split(b"\r")[0], b"%d" % offset)
    path.write_bytes(path.read_bytes() + gzip.compress(revisit))
    with pytest.raises(ArchiveError, match="does not hold"):
        list(iterate(path))


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match="cannot be read: no such file"):
        list(iterate(tmp_path / "none.warc.gz"))


def test_an_empty_file_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty.warc.gz").touch()
    assert list(iterate(tmp_path / "empty.warc.gz")) == []


@settings(deadline=None, max_examples=200)
@given(data=st.binary(max_size=300), cut=st.integers(0, 400), at=st.integers(0, 400), packed=st.booleans())
def test_damaged_files_give_responses_or_a_clear_error_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, cut: int, at: int, packed: bool
) -> None:
    record = (
        b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\nContent-Length: 64\r\n\r\n"
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n\r\n\r\n"
    )
    hurt = record[:at] + data + record[at + cut :]
    path = tmp_path_factory.getbasetemp() / "hurt.warc"
    path.write_bytes((gzip.compress(record) + gzip.compress(hurt)) if packed else record + hurt)
    try:
        urls = [fetched.url for _, fetched, _ in iterate(path)]
    except ArchiveError as error:
        urls = [str(error)]
    assert urls[0] == "http://a.example/" or str(path) in urls[0]


def _record(url: str, block: bytes, length: int | None = None) -> bytes:
    head = (
        f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nContent-Length: {length or len(block)}"
    )
    return head.encode() + b"\r\n\r\n" + block + b"\r\n\r\n"


def _write_pair(path: Path) -> None:
    """Two URLs with one body: records are warcinfo, response, request, revisit, request."""
    with writer(path.parent) as archive:
        for number in range(2):
            name = archive.write(html(f"http://a.example/{number}", b"one"), at=NOON).file
    raw = gzip.decompress((path.parent / name).read_bytes())
    first, *rest = raw.replace(name.encode(), path.name.encode()).split(b"WARC/1.1\r\n")
    assert first == b""
    path.write_bytes(b"".join(gzip.compress(b"WARC/1.1\r\n" + each) for each in rest))


def _raw(path: Path, number: int) -> bytes:
    record = list(records(path))[number]
    return gzip.decompress(path.read_bytes()[record.offset : record.offset + record.length])


@pytest.mark.parametrize("sign", ["\n", "\r", "\r\n"])
def test_a_header_cannot_add_lines_of_its_own(sign: str) -> None:
    fetched = Fetched("http://a.example/", 200, (("X-A", f"b{sign}WARC-Type: request"),), b"body")
    record = gzip.decompress(response_record(fetched, NOON, sha1_digest(b"body"), "<urn:uuid:1>"))
    lines = re.split(rb"[\r\n]+", record)
    assert [line for line in lines if line.startswith(b"WARC-Type")] == [b"WARC-Type: response"]
    assert b"X-A: b WARC-Type: request" in lines


def test_a_record_that_is_shorter_than_it_says_is_damaged(tmp_path: Path) -> None:
    head = b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\n"
    path = tmp_path / "a.warc.gz"
    path.write_bytes(gzip.compress(head + b"Content-Length: 100\r\n\r\nshort\r\n\r\n"))
    with pytest.raises(ArchiveError, match="shorter than it says"):
        list(records(path))

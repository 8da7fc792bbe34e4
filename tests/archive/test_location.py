"""Places that machines share: whole files in, ranges out; closed segments on their way there."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.object_store import ObjectStoreServer, object_store, why_no_object_store
from wayhound.archive.location import BLOCK_BYTES, PART_BYTES, Location, open_location
from wayhound.archive.reader import ArchiveReader, iterate
from wayhound.archive.spool import Spool, waiting_segments
from wayhound.archive.writer import MARKER_SUFFIX, ArchiveWriter
from wayhound.errors import ArchiveError, ArchiveUnavailable, MissingExtra, SegmentMissing, UsageError
from wayhound.fetched import Fetched
from wayhound.visit import ArchiveRef

needs_s3 = pytest.mark.skipif(bool(why_no_object_store()), reason=why_no_object_store())


@pytest.fixture(scope="module")
def s3() -> Iterator[ObjectStoreServer]:
    with object_store() as server:
        yield server


@pytest.fixture(params=["folder", pytest.param("s3", marks=needs_s3)])
def location(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Location:
    if request.param == "folder":
        (tmp_path / "shared").mkdir()
        return open_location((tmp_path / "shared").as_uri())
    server: ObjectStoreServer = request.getfixturevalue("s3")
    for name, value in server.environment().items():
        monkeypatch.setenv(name, value)
    return open_location(server.url(tmp_path.name))


def page(number: int, text: str = "") -> Fetched:
    body = (text or f"<p>page {number} {'word ' * 200}").encode()
    return Fetched(f"http://one.example/{number}", 200, (("Content-Type", "text/html"),), body, "text/html")


def write(folder: Path, location: Location, *pages: Fetched, max_bytes: int = 1) -> list[ArchiveRef]:
    """Write each page to a segment of its own, and upload them."""
    spool = Spool(folder, location)
    with ArchiveWriter(folder, "w0", max_bytes=max_bytes, software="test", spool=spool) as writer:
        return [writer.write(fetched, at=1.7e9 + number) for number, fetched in enumerate(pages)]


def test_files_come_back_whole_and_in_parts(location: Location, tmp_path: Path) -> None:
    content = bytes(range(256)) * ((PART_BYTES + 3 * BLOCK_BYTES) // 256)  # more than one part of an upload
    (tmp_path / "large").write_bytes(content)
    location.check()
    location.put("archive/large", tmp_path / "large")
    assert location.size("archive/large") == len(content)
    assert location.sizes("archive") == {"archive/large": len(content)}
    with location.open("archive/large") as file:
        file.seek(BLOCK_BYTES - 5)
        assert file.read(10) == content[BLOCK_BYTES - 5 : BLOCK_BYTES + 5]
        file.seek(-3, 2)
        assert file.read() == content[-3:]
    location.delete("archive/large")
    assert location.read("archive/large") is None
    assert location.size("archive/large") is None


def test_what_is_not_there_is_no_error(location: Location) -> None:
    location.check()
    assert location.read("models/none") is None
    with pytest.raises(FileNotFoundError):
        location.open("archive/none")


def test_segments_are_uploaded_when_they_close_and_read_by_position(
    location: Location, tmp_path: Path
) -> None:
    folder = tmp_path / "spool"
    same = "<p>the same body " + "word " * 100
    refs = write(folder, location, page(1), page(2, same), page(3, same))
    assert not waiting_segments(folder)
    assert len(location.sizes("archive")) == 3
    reader = ArchiveReader(tmp_path / "elsewhere", location=location)
    assert [reader.read(ref).url for ref in refs] == [f"http://one.example/{number}" for number in (1, 2, 3)]
    assert reader.read(refs[2]).body == same.encode(), "the body is in another segment"
    assert reader.holds(refs[0])
    assert not reader.holds(ArchiveRef(refs[0].file, 0, 1 << 30))


def test_a_record_may_begin_with_the_last_byte_of_a_block(location: Location, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"." * (BLOCK_BYTES - 1) + b"\x1f\x8b" + b"." * 10)
    location.put("archive/file", tmp_path / "file")
    with location.open("archive/file") as file:
        file.seek(BLOCK_BYTES - 1)
        assert file.peek(2)[:2] == b"\x1f\x8b"


def test_the_name_of_an_uploaded_segment_is_not_given_again(location: Location, tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    spool = Spool(folder, location)
    with ArchiveWriter(folder, "w0", max_bytes=1, software="test", spool=spool) as writer:
        names = set()
        for number in range(3):
            names.add(writer.write(page(number), at=1.7e9).file)
            while waiting_segments(folder):
                threading.Event().wait(0.01)
    assert len(names) == len(location.sizes("archive")) == 3


def test_a_missing_segment_is_told_from_a_damaged_one(location: Location, tmp_path: Path) -> None:
    reader = ArchiveReader(tmp_path, location=location)
    location.check()
    with pytest.raises(SegmentMissing):
        reader.read(ArchiveRef("wayhound-gone-00000.warc.gz", 0, 10))
    with pytest.raises(ArchiveError):
        reader.read(ArchiveRef("../secret", 0, 10))


def test_segments_of_a_dead_process_are_repaired_and_uploaded(location: Location, tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    writer = ArchiveWriter(folder, "w1", software="test")
    ref = writer.write(page(1), at=1.7e9)
    (segment,) = waiting_segments(folder)
    torn = folder / "wayhound-20260101T000000-w9-00000.warc.gz"
    torn.write_bytes(segment.read_bytes() + b"\x1f\x8b\x08 torn")
    (folder / (torn.name + MARKER_SUFFIX)).write_bytes(b"%020d" % 0)
    write(folder, location, page(2))
    assert waiting_segments(folder) == [segment], "the one that is still written stays"
    reader = ArchiveReader(tmp_path / "elsewhere", location=location)
    assert reader.read(ArchiveRef(torn.name, ref.offset, ref.length)).url == "http://one.example/1"
    writer.close()


def test_a_folder_that_is_not_mounted_is_not_an_empty_archive(tmp_path: Path) -> None:
    location = open_location((tmp_path / "not-mounted").as_uri())
    for ask in (location.check, lambda: location.size("archive/a"), lambda: location.sizes("archive")):
        with pytest.raises(ArchiveUnavailable, match="is not there"):
            ask()


@pytest.mark.parametrize("url", ["", "ftp://one.example/", "s3://", "file://relative", "/folder"])
def test_other_addresses_are_refused(url: str) -> None:
    with pytest.raises(UsageError, match="no place for an archive"):
        open_location(url)


class Down:
    """A location that fails, for a while."""

    url = "s3://down/here"

    def __init__(self, location: Location) -> None:
        self._location = location
        self.is_up = threading.Event()
        self.asked = threading.Event()

    def put(self, name: str, path: Path) -> None:
        self.asked.set()
        if not self.is_up.is_set():
            raise ArchiveUnavailable("The object store does not answer.")
        self._location.put(name, path)

    def __getattr__(self, name: str) -> object:
        return getattr(self._location, name)


def test_during_an_outage_segments_wait_and_are_uploaded_after_it(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    inner = open_location((tmp_path / "shared").as_uri())
    location, folder = Down(inner), tmp_path / "spool"
    with ArchiveWriter(
        folder,
        "w0",
        max_bytes=1,
        software="test",
        spool=Spool(folder, location),  # type: ignore[arg-type]
    ) as writer:
        refs = [writer.write(page(number), at=1.7e9 + number) for number in range(3)]
        assert location.asked.wait(60)
        assert len(waiting_segments(folder)) == 3
        assert ArchiveReader(folder, location=inner).read(refs[0]).url == "http://one.example/0"
        location.is_up.set()
    assert not waiting_segments(folder)
    assert len(inner.sizes("archive")) == 3


def test_a_forage_says_so_when_too_much_waits(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    location = Down(open_location((tmp_path / "shared").as_uri()))
    folder = tmp_path / "spool"
    spool = Spool(folder, location, max_waiting_bytes=1)  # type: ignore[arg-type]
    writer = ArchiveWriter(folder, "w0", max_bytes=1, software="test", spool=spool)

    def fill() -> None:
        for number in range(10_000):
            location.asked.wait(60)
            writer.write(page(number), at=1.7e9 + number)
            location.asked.clear()

    location.asked.set()
    with pytest.raises(ArchiveUnavailable, match="Nothing is lost"):
        fill()
    with pytest.raises(ArchiveUnavailable, match="wait in"):
        spool.close(0.01)
    assert waiting_segments(folder)


def test_segments_may_close_while_those_of_dead_processes_are_uploaded(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    spool = Spool(tmp_path, open_location((tmp_path / "shared").as_uri()))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def close_many() -> None:
        for number in range(20_000):
            spool.add(tmp_path / f"wayhound-20260101T000000-w0-{number:05d}.warc.gz")

    try:
        with ThreadPoolExecutor(1) as threads:
            closing = threads.submit(close_many)
            while not closing.done():
                spool._adopt()
            closing.result()
    finally:
        sys.setswitchinterval(interval)


def test_an_object_store_without_its_library_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(MissingExtra, match="pip install"):
        open_location("s3://bucket/prefix")


@needs_s3
def test_a_bucket_that_is_not_there_is_named(s3: ObjectStoreServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in s3.environment().items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ArchiveUnavailable, match="There is no bucket"):
        open_location("s3://no-such-bucket/prefix").check()


class _Refusing(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = (
            b"<?xml version='1.0'?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"
        )
        self.send_response(403)
        self.send_header("Content-Type", "application/xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@needs_s3
def test_a_store_without_permission_says_what_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "someone")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
        with pytest.raises(ArchiveUnavailable, match="refuses access"):
            open_location("s3://crawl/prefix").check()
        server.shutdown()


def test_iterating_a_segment_needs_no_location(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    location = open_location((tmp_path / "shared").as_uri())
    write(tmp_path / "spool", location, page(1), page(2), max_bytes=1 << 20)
    (segment,) = (tmp_path / "shared/archive").iterdir()
    assert [fetched.url for _, fetched, _ in iterate(segment)] == [
        "http://one.example/1",
        "http://one.example/2",
    ]

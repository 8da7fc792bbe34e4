from __future__ import annotations

import errno
import fcntl
import gzip
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.archive.archives import NOON, html, redirect, seen_by_fastwarc, seen_by_warcio, warc_of, writer
from wayhound.archive.reader import ArchiveReader, iterate
from wayhound.archive.warc import Original
from wayhound.archive.writer import StoredBodies
from wayhound.errors import ArchiveError
from wayhound.fetched import Fetched
from wayhound.visit import ArchiveRef

token = st.text("ABCxyz-0189", min_size=1, max_size=12).map(lambda name: f"X{name}")
value = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"]), max_size=30).map(
    lambda text: " ".join(text.split())
)
responses = st.builds(
    Fetched,
    url=st.integers(0, 5).map(lambda number: f"http://a.example/{number}?q=1"),
    status=st.sampled_from([200, 204, 404, 503]),
    headers=st.lists(st.tuples(token, value), max_size=5).map(
        lambda pairs: (*pairs, ("Content-Length", "9"))
    ),
    body=st.one_of(
        st.sampled_from([b"", b"same", b"WARC/1.1\r\n\r\n", b"\r\n\r\n\x1f\x8b\x08"]), st.binary()
    ),
    reason_phrase=st.sampled_from(["", "OK", "Not Found"]),
    ip=st.sampled_from(["", "192.0.2.1", "2001:db8::1"]),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(given=st.lists(responses, min_size=1, max_size=8))
def test_what_was_written_is_read_back_the_same(
    tmp_path_factory: pytest.TempPathFactory, given: list[Fetched]
) -> None:
    folder = tmp_path_factory.mktemp("archive")
    with writer(folder) as archive:
        refs = [archive.write(fetched, at=NOON + at) for at, fetched in enumerate(given)]
    reader = ArchiveReader(folder)
    assert [reader.read(ref) for ref in refs] == given
    assert [(ref, fetched) for ref, fetched, _ in iterate(warc_of(folder))] == list(
        zip(refs, given, strict=True)
    )


def test_other_readers_find_every_record_and_digest_right(tmp_path: Path) -> None:
    page = html("http://a.example/", "<p>Grüße</p>" * 100, ip="192.0.2.7")
    with writer(tmp_path) as archive:
        archive.write(page, at=NOON, request_headers=[("User-Agent", "Wayhound"), ("Accept", "*/*")])
        archive.write(redirect("http://a.example/old", "http://a.example/"), at=NOON + 1)
    for seen in (seen_by_warcio(warc_of(tmp_path)), seen_by_fastwarc(warc_of(tmp_path))):
        assert [record.kind for record in seen] == ["warcinfo", "response", "request", "response", "request"]
        info, first, request, second, _ = seen
        assert b"software: wayhound/test\r\n" in info.body
        assert (first.url, first.status, first.body) == (page.url, "200", page.body)
        assert first.fields["WARC-IP-Address"] == "192.0.2.7"
        assert first.fields["WARC-Date"] == "2026-01-01T12:00:00.000000Z"
        assert request.fields["WARC-Concurrent-To"] == first.fields["WARC-Record-ID"]
        assert (second.url, second.status) == ("http://a.example/old", "301")


def test_the_request_is_stored_with_its_line_host_and_headers(tmp_path: Path) -> None:
    with writer(tmp_path) as archive:
        archive.write(html("http://a.example:8080/a?b=c"), at=NOON, request_headers=[("User-Agent", "me")])
        archive.write(html("http://a.example/"), at=NOON, request_headers=None)
    raw = _unpacked(warc_of(tmp_path))
    assert b"\r\n\r\nGET /a?b=c HTTP/1.1\r\nHost: a.example:8080\r\nUser-Agent: me\r\n\r\n" in raw
    assert raw.count(b"WARC-Type: request") == 1


def test_headers_that_no_longer_fit_the_decoded_body_are_renamed(tmp_path: Path) -> None:
    headers = (("Content-Encoding", "gzip"), ("transfer-encoding", "chunked"), ("Content-Length", "20"))
    page = html("http://a.example/", b"decoded", headers=headers, content_type="", charset="")
    with writer(tmp_path) as archive:
        ref = archive.write(page, at=NOON)
    raw = _unpacked(warc_of(tmp_path))
    assert (
        b"\r\nX-Archive-Orig-Content-Encoding: gzip\r\nX-Archive-Orig-transfer-encoding: chunked\r\n" in raw
    )
    assert b"\r\nX-Archive-Orig-Content-Length: 20\r\nContent-Length: 7\r\n\r\ndecoded" in raw
    assert seen_by_warcio(warc_of(tmp_path))[1].body == b"decoded"
    assert ArchiveReader(tmp_path).read(ref) == page


def test_a_body_met_again_is_stored_once(tmp_path: Path) -> None:
    body = os.urandom(50_000)
    with writer(tmp_path) as archive:
        first = archive.write(html("http://a.example/a", body), at=NOON)
        again = archive.write(html("http://a.example/b", body, status=404), at=NOON + 1)
    assert first.length > 50_000
    assert again.length < 1_000
    assert ArchiveReader(tmp_path).read(again) == html("http://a.example/b", body, status=404)
    revisit = seen_by_warcio(warc_of(tmp_path))[3]
    assert revisit.kind == "revisit"
    assert revisit.fields["WARC-Refers-To-Target-URI"] == "http://a.example/a"
    assert revisit.fields["WARC-Refers-To-Date"] == "2026-01-01T12:00:00.000000Z"
    assert revisit.fields["WARC-Profile"].endswith("/revisit/identical-payload-digest")


def test_a_revisit_finds_its_body_in_an_earlier_file(tmp_path: Path) -> None:
    body = os.urandom(2_000)
    with writer(tmp_path, max_bytes=1_000) as archive:
        refs = [archive.write(html(f"http://a.example/{at}", body), at=NOON) for at in range(3)]
    assert len({ref.file for ref in refs}) > 1
    assert [ArchiveReader(tmp_path).read(ref).body for ref in refs] == [body] * 3


def test_empty_bodies_are_not_worth_a_revisit(tmp_path: Path) -> None:
    with writer(tmp_path) as archive:
        for at in range(2):
            archive.write(
                redirect(f"http://a.example/{at}", "http://a.example/"), at=NOON, request_headers=None
            )
    assert [record.kind for record in seen_by_warcio(warc_of(tmp_path))] == [
        "warcinfo",
        "response",
        "response",
    ]


def test_the_memory_of_bodies_is_bounded_and_keeps_what_is_used() -> None:
    memory = StoredBodies(capacity=10)
    for number in range(100):
        place = Original("file", number, f"http://a.example/{number}", NOON)
        memory.add(bytes([number]), place)
        hot = memory.find(b"\x00")
        assert hot == Original("file", 0, "http://a.example/0", NOON)
        memory.add(b"\x00", hot)
    known = [number for number in range(100) if memory.find(bytes([number]))]
    assert known[0] == 0
    assert known[-5:] == [95, 96, 97, 98, 99]
    assert len(known) <= 10


def test_a_file_past_its_size_is_followed_by_another(tmp_path: Path) -> None:
    with writer(tmp_path, max_bytes=3_000) as archive:
        refs = [archive.write(html(f"http://a.example/{at}", os.urandom(1_000)), at=NOON) for at in range(9)]
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == sorted({ref.file for ref in refs})
    assert 3 <= len(names) <= 5
    assert names[0] == "wayhound-20260101T120000-test-00000.warc.gz"
    for name in names:
        assert seen_by_warcio(tmp_path / name)[0].kind == "warcinfo"


def test_an_idle_writer_leaves_no_file(tmp_path: Path) -> None:
    with writer(tmp_path / "archive") as archive:
        archive.sync()
    assert not (tmp_path / "archive").exists()


def test_two_writers_of_one_name_and_second_have_files_of_their_own(tmp_path: Path) -> None:
    with writer(tmp_path) as one, writer(tmp_path) as other:
        refs = [each.write(html("http://a.example/"), at=NOON) for each in (one, other)]
    assert refs[0].file != refs[1].file


def test_a_name_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    with writer(tmp_path / "archive", name="../up/and away") as archive:
        ref = archive.write(html("http://a.example/"), at=NOON)
    assert (tmp_path / "archive" / ref.file).is_file()


def test_a_file_is_locked_and_marked_while_it_is_written(tmp_path: Path) -> None:
    archive = writer(tmp_path)
    path = tmp_path / archive.write(html("http://a.example/"), at=NOON).file
    marker = path.with_name(path.name + ".open")
    with path.open("rb") as file:
        assert marker.exists()
        with pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        archive.close()
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert not marker.exists()


def test_a_record_can_be_read_as_soon_as_write_returns(tmp_path: Path) -> None:
    archive = writer(tmp_path)
    ref = archive.write(html("http://a.example/"), at=NOON)
    assert ArchiveReader(tmp_path).read(ref) == html("http://a.example/")
    archive.close()


@pytest.mark.parametrize(
    "poison", ["a\r\nWARC/1.1\r\n\r\n", "a\rb", "a\nb", "\r\n\r\nHTTP/1.1 200 OK", "\ud800"]
)
def test_a_server_cannot_add_lines_to_the_archive(tmp_path: Path, poison: str) -> None:
    page = html("http://a.example/", headers=(("X", poison), (poison, "x")), reason_phrase=poison, ip=poison)
    with writer(tmp_path) as archive:
        archive.write(page, at=NOON, request_headers=[("X", poison)])
    kinds = [record.kind for record in seen_by_warcio(warc_of(tmp_path))]
    assert kinds == ["warcinfo", "response", "request"]
    ((_, fetched, _),) = iterate(warc_of(tmp_path))
    assert fetched.body == page.body
    assert len(fetched.headers) == 3


def test_a_file_that_may_not_grow_ends_in_one_sentence_and_stays_readable(tmp_path: Path) -> None:
    """The kernel stops the write in the middle of a record, as a full disk does."""
    script = f"""
import resource, sys
from pathlib import Path
from tests.archive.archives import html, writer
from wayhound.errors import ArchiveError
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, {resource.RLIM_INFINITY}))
with writer(Path({str(tmp_path)!r})) as archive:
    try:
        for number in range(100):
            archive.write(html(f"http://a.example/{{number}}", str(number) + "x" * 40_000), at=0.0)
        for number in range(100):
            archive.write(html(f"http://b.example/{{number}}", bytes(range(256)) * number), at=0.0)
    except ArchiveError as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip().endswith("cannot be written: file too large.")
    path = warc_of(tmp_path)
    assert path.stat().st_size <= 20_000
    written = [fetched.url for _, fetched, _ in iterate(path)]
    assert written[:3] == ["http://a.example/0", "http://a.example/1", "http://a.example/2"]
    assert len(seen_by_warcio(path)) == 1 + 2 * len(written)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 256 KB, where this machine lets us have one."""
    folder = tmp_path / "small"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(folder)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"no file system can be mounted: {error}")
    if done.returncode:
        pytest.skip(f"no file system can be mounted: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_ends_in_one_sentence_and_the_archive_stays_whole(small_disk: Path) -> None:
    archive = writer(small_disk)
    refs: list[ArchiveRef] = []
    with pytest.raises(
        ArchiveError, match=r"the disk is full; free some space and run the same command again\.$"
    ):
        refs.extend(archive.write(html(url, os.urandom(30_000)), at=NOON) for url in many_urls())
    path = small_disk / refs[0].file
    assert path.stat().st_size < refs[-1].offset + refs[-1].length + 1_000
    small = archive.write(html("http://a.example/small"), at=NOON)  # what does fit is still taken
    archive.close()
    reader = ArchiveReader(small_disk)
    assert [reader.read(ref).url for ref in (*refs, small)] == [
        fetched.url for _, fetched, _ in iterate(path)
    ]


def test_a_disk_without_room_for_the_first_record_is_left_without_files(small_disk: Path) -> None:
    (small_disk / "filler").touch()
    with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
        (small_disk / "filler").write_bytes(bytes(1 << 20))
    with writer(small_disk) as archive, pytest.raises(ArchiveError, match="the disk is full"):
        archive.write(html("http://a.example/"), at=NOON)
    assert [path.name for path in small_disk.iterdir()] == ["filler"]


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with (
        writer(tmp_path / "file" / "archive") as archive,
        pytest.raises(ArchiveError, match="No archive file"),
    ):
        archive.write(html("http://a.example/"), at=NOON)


def test_times_are_kept_to_the_microsecond(tmp_path: Path) -> None:
    with writer(tmp_path) as archive:
        archive.write(html("http://a.example/"), at=NOON + 0.123456)
    ((_, _, at),) = iterate(warc_of(tmp_path))
    assert at == pytest.approx(NOON + 0.123456, abs=1e-6)


def many_urls() -> list[str]:
    return [f"http://a.example/{number}" for number in range(100)]


def _unpacked(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes())

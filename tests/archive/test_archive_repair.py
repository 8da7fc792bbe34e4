from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.archive.archives import NOON, html, seen_by_fastwarc, seen_by_warcio, warc_of, writer
from wayhound.archive.reader import ArchiveReader, iterate
from wayhound.archive.warc import records
from wayhound.archive.writer import Repaired, repair
from wayhound.errors import ArchiveError


def left_open(folder: Path, data: bytes, known_whole: int = 0) -> Path:
    """A file as a killed writer leaves it."""
    folder.mkdir(exist_ok=True)
    path = folder / "left.warc.gz"
    path.write_bytes(data)
    marker_of(path).write_bytes(b"%020d" % known_whole)
    return path


def marker_of(path: Path) -> Path:
    return path.with_name(path.name + ".open")


def written(folder: Path, pages: int = 3) -> tuple[bytes, list[int]]:
    """A good file, and where its records end."""
    with writer(folder) as archive:
        for number in range(pages):
            page = html(f"http://a.example/{number}", f"<p>page {number}</p>" * 5 + str(number // 2))
            archive.write(page, at=NOON)
    path = warc_of(folder)
    return path.read_bytes(), [record.offset + record.length for record in records(path)]


def test_a_file_cut_at_any_byte_is_mended_to_its_last_whole_record(tmp_path: Path) -> None:
    good, ends = written(tmp_path / "good")
    last_two = range(ends[-3], len(good) + 1)
    around_others = [end + more for end in (0, *ends[:-3]) for more in (-1, 0, 1, 12) if end + more >= 0]
    for size in (*around_others, *last_two):
        path = left_open(tmp_path / "cut", good[:size])
        whole = max((end for end in ends if end <= size), default=0)
        assert repair(path.parent) == [Repaired(path.name, whole, cut_bytes=size - whole)]
        assert not marker_of(path).exists()
        if whole == 0:
            assert not path.exists()
            continue
        assert path.read_bytes() == good[:whole]
        assert len(seen_by_warcio(path)) == ends.index(whole) + 1


def test_a_mended_file_is_read_to_its_end_by_other_readers(tmp_path: Path) -> None:
    good, ends = written(tmp_path / "good")
    path = left_open(tmp_path / "cut", good[: ends[-1] - 1])
    repair(path.parent)
    kinds = [record.kind for record in seen_by_warcio(path)]
    assert kinds == [record.kind for record in seen_by_fastwarc(path)]
    assert kinds == ["warcinfo", *["response", "request"] * 2, "response"]
    assert len(list(iterate(path))) == 3


@pytest.mark.parametrize(
    "tail", [bytes(5_000), b"\x1f\x8b\x08\x00", b"\xff" * 10, b"\x1f\x8b\x08" + bytes(999)]
)
def test_rubbish_behind_the_last_record_is_cut(tmp_path: Path, tail: bytes) -> None:
    good, _ = written(tmp_path / "good")
    path = left_open(tmp_path / "cut", good + tail)
    assert repair(path.parent) == [Repaired(path.name, len(good), cut_bytes=len(tail))]
    assert path.read_bytes() == good


def test_nothing_is_cut_when_whole_records_follow_the_damage(tmp_path: Path) -> None:
    good, ends = written(tmp_path / "good")
    hurt = bytearray(good)
    hurt[ends[2] + 30] ^= 0xFF
    path = left_open(tmp_path / "cut", bytes(hurt))
    assert repair(path.parent) == [Repaired(path.name, len(good), damaged_at=ends[2])]
    assert path.read_bytes() == bytes(hurt)
    assert not marker_of(path).exists()


def test_what_is_known_to_be_on_the_disk_is_not_read_again(tmp_path: Path) -> None:
    good, ends = written(tmp_path / "good")
    rubbish = bytes(ends[2]) + good[ends[2] :]  # would be damage, were it looked at
    path = left_open(tmp_path / "cut", rubbish[:-1], known_whole=ends[2])
    assert repair(path.parent) == [Repaired(path.name, ends[-2], cut_bytes=len(good) - ends[-2] - 1)]


@pytest.mark.parametrize("marker", [b"", b"rubbish", b"99999999999999999999"])
def test_a_marker_that_makes_no_sense_costs_a_full_look(tmp_path: Path, marker: bytes) -> None:
    good, _ = written(tmp_path / "good")
    path = left_open(tmp_path / "cut", good + b"\x1f")
    marker_of(path).write_bytes(marker)
    assert repair(path.parent) == [Repaired(path.name, len(good), cut_bytes=1)]


def test_sync_tells_the_repair_how_far_the_file_is_whole(tmp_path: Path) -> None:
    archive = writer(tmp_path)
    ref = archive.write(html("http://a.example/"), at=NOON, request_headers=None)
    path = tmp_path / ref.file
    assert int(marker_of(path).read_bytes()) == 0
    archive.sync()
    assert int(marker_of(path).read_bytes()) == ref.offset + ref.length
    archive.close()


def test_files_of_living_writers_are_left_alone(tmp_path: Path) -> None:
    with writer(tmp_path) as archive:
        ref = archive.write(html("http://a.example/1"), at=NOON)
        assert repair(tmp_path) == []
        again = archive.write(html("http://a.example/2", b"more"), at=NOON)
        assert [ArchiveReader(tmp_path).read(each).status for each in (ref, again)] == [200, 200]
    assert repair(tmp_path) == []


def test_files_that_were_closed_are_not_looked_at(tmp_path: Path) -> None:
    good, _ = written(tmp_path)
    warc_of(tmp_path).write_bytes(good[:-1])
    assert repair(tmp_path) == []
    assert warc_of(tmp_path).stat().st_size == len(good) - 1


def test_a_marker_without_a_file_is_taken_away(tmp_path: Path) -> None:
    marker = tmp_path / "gone.warc.gz.open"
    marker.touch()
    assert repair(tmp_path) == []
    assert not marker.exists()


def test_a_folder_that_is_not_there_needs_no_repair(tmp_path: Path) -> None:
    assert repair(tmp_path / "archive") == []


def test_a_file_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    (tmp_path / "odd.warc.gz").mkdir()
    (tmp_path / "odd.warc.gz.open").touch()
    with pytest.raises(ArchiveError, match="cannot be repaired: is a directory"):
        repair(tmp_path)


def test_repair_gives_up_its_files(tmp_path: Path) -> None:
    good, _ = written(tmp_path / "good")
    left_open(tmp_path / "cut", good[:-1])
    with (tmp_path / "probe").open("wb") as probe:
        first_free = os.dup(probe.fileno())
        os.close(first_free)
        repair(tmp_path / "cut")
        again = os.dup(probe.fileno())
        os.close(again)
    assert again == first_free

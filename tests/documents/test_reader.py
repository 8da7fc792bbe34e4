"""Reading of files of every kind, recognised by content."""

from __future__ import annotations

import gzip
import shutil
import stat
import zlib
from pathlib import Path

import pytest

from tests.documents.pages import Shown, drawn, needs_ocr, paragraph, pdf_of, scan_of
from wayhound.documents.document import Document, Unread
from wayhound.documents.limits import ReadingLimits
from wayhound.documents.reader import DocumentReader

PDF = pdf_of(paragraph(["a line of the PDF"]))
POSTSCRIPT = b"""%!PS-Adobe-3.0
/Times-Roman findfont 12 scalefont setfont
72 700 moveto (The first line of the page) show
72 680 moveto (and the second line of it) show
showpage
"""
needs_ghostscript = pytest.mark.skipif(shutil.which("gs") is None, reason="Ghostscript (gs) is not installed")


def reason(outcome: Document | Unread) -> str:
    assert isinstance(outcome, Unread), outcome
    return outcome.reason


def texts(outcome: Document | Unread) -> list[str]:
    assert isinstance(outcome, Document), outcome
    return [line.text for line in outcome.lines]


def program(folder: Path, script: str) -> str:
    """Write a program that replaces Ghostscript, and return its path."""
    path = folder / "gs"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_kinds_are_recognised_by_content_compressed_or_not() -> None:
    with DocumentReader() as reader:
        for body in (PDF, gzip.compress(PDF), b"\n\n" + PDF):
            assert texts(reader.read(body)) == ["a line of the PDF"]
        assert texts(reader.read(gzip.compress(b"a line of text"))) == ["a line of text"]


def test_many_files_come_back_in_order() -> None:
    bodies = [
        pdf_of(paragraph([f"file number {i}"])) if i % 2 else f"file number {i}".encode() for i in range(12)
    ]
    with DocumentReader(workers=2) as reader:
        assert [texts(outcome)[0] for outcome in reader.read_all(bodies)] == [
            f"file number {i}" for i in range(12)
        ]


def test_packed_files_that_are_damaged_or_swell_have_a_reason() -> None:
    with DocumentReader(ReadingLimits(max_bytes=10_000)) as reader:
        assert reason(reader.read(gzip.compress(PDF)[:-20])) == "broken"
        assert reason(reader.read(b"\x1f\x8b" + b"\0" * 30)) == "broken"
        assert reason(reader.read(gzip.compress(b"a" * 1_000_000))) == "too_big"


def test_closing_twice_or_unused_is_fine() -> None:
    reader = DocumentReader()
    reader.close()
    assert texts(reader.read(PDF)) == ["a line of the PDF"]
    reader.close()
    reader.close()


def test_the_converter_is_told_to_keep_away_from_files(tmp_path: Path) -> None:
    """PostScript is a program: without -dSAFER it could read and write files and start commands."""
    hanging_if_not = program(tmp_path, 'case " $* " in *" -dSAFER "*) exit 1;; esac; sleep 100')
    with DocumentReader(ReadingLimits(wall_seconds=30), ghostscript=hanging_if_not) as reader:
        assert reason(reader.read(POSTSCRIPT)) != "too_slow"


def test_without_ghostscript_postscript_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with DocumentReader() as reader:
        outcome = reader.read(POSTSCRIPT)
    assert reason(outcome) == "no_ghostscript"
    assert isinstance(outcome, Unread)
    assert "Ghostscript" in outcome.detail


def test_a_converter_that_hangs_is_stopped(tmp_path: Path) -> None:
    hanging = program(tmp_path, "sleep 100")
    with DocumentReader(ReadingLimits(wall_seconds=1), ghostscript=hanging) as reader:
        assert reason(reader.read(POSTSCRIPT)) == "too_slow"


def test_a_converter_that_fails_or_writes_nothing_is_an_outcome(tmp_path: Path) -> None:
    for script in ("exit 1", "exit 0"):
        with DocumentReader(ghostscript=program(tmp_path, script)) as reader:
            assert reason(reader.read(POSTSCRIPT)) == "broken"


def test_a_converter_that_writes_too_much_is_stopped(tmp_path: Path) -> None:
    writing = program(
        tmp_path, 'for a in "$@"; do case $a in -sOutputFile=*) cat /dev/zero > "${a#*=}";; esac; done'
    )
    with DocumentReader(ReadingLimits(max_bytes=100_000), ghostscript=writing) as reader:
        assert reason(reader.read(POSTSCRIPT)) == "broken"


@needs_ghostscript
def test_postscript_is_read_with_places() -> None:
    with DocumentReader() as reader:
        for body in (POSTSCRIPT, gzip.compress(POSTSCRIPT), b"\x04" + POSTSCRIPT):
            outcome = reader.read(body)
            assert texts(outcome) == ["The first line of the page", "and the second line of it"]
            assert isinstance(outcome, Document)
            assert outcome.kind == "postscript"
            assert outcome.lines[0].box
            assert outcome.lines[0].size == 12


@needs_ghostscript
def test_daggers_and_dashes_of_old_postscript_are_put_back() -> None:
    """Fonts of TeX have a dagger in the place of y and a dash in the place of a brace."""
    large, small = b"/Times-Roman findfont 12 scalefont setfont", b"/Times-Roman findfont 8 scalefont setfont"
    body = b"\n".join([
        b"%!PS-Adobe-2.0", large, b"72 720 moveto (Hans Gregory) show", small, b"0 4 rmoveto (y) show", large,
        b"72 700 moveto (by Anna Lux and Bo Fritz, who study history) show",
        b"72 680 moveto (Journal of Examples 3:41{59, 1993) show showpage",
    ])  # fmt: skip
    with DocumentReader() as reader:
        assert texts(reader.read(body)) == [
            "Hans Gregory†",
            "by Anna Lux and Bo Fritz, who study history",
            "Journal of Examples 3:41–59, 1993",
        ]


@needs_ghostscript
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"%!PS\nthis is no program", {"broken"}),
        (b"%!PS\n{} loop", {"too_slow"}),
        (b"%!PS\n(/etc/passwd) (r) file 100 string readstring pop show showpage", {"broken"}),
        (b"%!PS\nshowpage", {"no_text", "garbled", "broken"}),
    ],
)
def test_postscript_that_cannot_be_read_has_a_reason(body: bytes, expected: set[str]) -> None:
    with DocumentReader(ReadingLimits(wall_seconds=30, cpu_seconds=3)) as reader:
        assert reason(reader.read(body)) in expected


def test_a_gzip_that_goes_on_after_its_end_is_read() -> None:
    with DocumentReader() as reader:
        assert texts(reader.read(gzip.compress(b"a line") + b"\0" * 10)) == ["a line"]
    assert zlib.decompress(gzip.compress(b"a line"), 31) == b"a line"


def test_all_members_of_a_gzip_are_read_unless_there_are_far_too_many() -> None:
    member = gzip.compress(b"a line\n")
    with DocumentReader() as reader:
        assert texts(reader.read(member * 3)) == ["a line"] * 3
        assert reason(reader.read(member * 1000)) == "broken"


@needs_ocr
def test_ocr_reads_a_scan_with_its_positions_and_leaves_other_files_alone() -> None:
    page = [
        Shown("Rivers in spring", 200, 90, 20),
        *paragraph(["The water of the river", "comes from the hills."]),
    ]
    with DocumentReader() as reader:
        scan = scan_of(drawn(pdf_of(page)))
        assert reason(reader.read(scan)) == "scanned"
        recognised = reader.read(scan, ocr=True)
        assert isinstance(recognised, Document)
        assert recognised.kind == "scan"
        assert any("OCR" in note for note in recognised.notes)
        lines = {line.text: line for line in recognised.lines}
        assert {"Rivers in spring", "The water of the river", "comes from the hills."} <= lines.keys()
        title = lines["Rivers in spring"]
        assert title.box is not None
        assert title.box[0] == pytest.approx(200, abs=5)
        assert title.size > lines["The water of the river"].size
        plain = reader.read(PDF, ocr=True)
        assert isinstance(plain, Document)
        assert plain.kind == "pdf"


def test_without_tesseract_a_scan_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with DocumentReader() as reader:
        outcome = reader.read(scan_of((8, 8, bytes(64))), ocr=True)
    assert reason(outcome) == "no_tesseract"
    assert isinstance(outcome, Unread)
    assert "Tesseract" in outcome.detail

"""Damaged PDFs are outcomes, not errors; a reading process that crashes or hangs is replaced."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import wayhound
from tests.documents.pages import Shown, assembled, paragraph, pdf_of, scan_of, stream
from wayhound.documents.document import Document, Unread
from wayhound.documents.limits import MIB, ReadingLimits
from wayhound.documents.pdf import PdfReader

SOUND = pdf_of(paragraph([f"line {i} of a sound file" for i in range(10)]))
PROSE = """\
A spider collects documents starting from a few pages and follows the links that it finds there in some
order until it has spent what it may spend. What it brings home is of use only if the text of each document
can be had in the order in which a reader would read it, and so the columns of a page must be told apart
from each other, the words that were cut at the end of a line must be made whole, and everything that
stands at the edge of the page without being a part of the text must be set aside. None of this is hard by
itself, and yet a program that does it for every file does not exist, because files are written by programs
that nobody has heard of.
"""
# The time must be up before the memory.
SHORT = ReadingLimits(wall_seconds=60, cpu_seconds=1, memory_bytes=8_192 * MIB)


def reason(outcome: Document | Unread) -> str:
    assert isinstance(outcome, Unread), outcome
    assert outcome.detail.endswith(".")
    return outcome.reason


def worker_pid(reader: PdfReader) -> int:
    worker = reader._idle.get()
    reader._idle.put(worker)
    assert worker is not None
    return worker._process.pid


def forms_within_forms(depth: int, width: int) -> bytes:
    """Return a page whose drawing takes width ** depth steps."""
    calls, form = b"/X Do " * width, b"/Type /XObject /Subtype /Form /BBox [0 0 9 9]"
    forms = [
        stream(calls, form + b" /Resources << /XObject << /X %d 0 R >> >>" % (i + 1))
        for i in range(4, 4 + depth)
    ]
    leaf = stream(b"BT ET", form)
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R "
    page += b"/Resources << /XObject << /X 5 0 R >> >> >>"
    catalog, pages = b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>"
    return assembled([catalog, pages, page, *forms, leaf])


def test_an_empty_file_is_empty(pdf_reader: PdfReader) -> None:
    assert reason(pdf_reader.read(b"")) == "empty"


@pytest.mark.parametrize(
    "body", [b"%PDF-1.4", b"no PDF at all", SOUND[:200], SOUND[:-300], b"%PDF-1.7\n" + b"\0" * 999]
)
def test_what_cannot_be_opened_is_broken(pdf_reader: PdfReader, body: bytes) -> None:
    assert reason(pdf_reader.read(body)) == "broken"


def test_an_encrypted_file_is_reported(pdf_reader: PdfReader) -> None:
    lock = b"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <%s> /U <%s> >> /ID [<00><00>]" % (
        b"41" * 32,
        b"42" * 32,
    )
    assert reason(pdf_reader.read(pdf_of(paragraph(["secret"]), trailer=lock))) == "encrypted"


def test_pages_without_text_are_told_apart_by_their_pictures(pdf_reader: PdfReader) -> None:
    blank, scanned = (
        pdf_reader.read(pdf_of([], [])),
        pdf_reader.read(scan_of((8, 8, bytes(64)), (8, 8, bytes(64)))),
    )
    assert (reason(blank), reason(scanned)) == ("no_text", "scanned")
    assert isinstance(scanned, Unread)
    assert scanned.n_pages == 2
    assert "2 are pictures" in scanned.detail


def test_a_page_without_text_among_others_is_not_dropped(pdf_reader: PdfReader) -> None:
    outcome = pdf_reader.read(pdf_of(paragraph(["the first page"]), [], paragraph(["the third page"])))
    assert isinstance(outcome, Document)
    assert [page.trouble for page in outcome.pages] == [None, "no_text", None]
    assert outcome.notes == ("1 of 3 pages hold no text: 2.",)


def test_a_page_that_is_missing_is_not_dropped(pdf_reader: PdfReader) -> None:
    whole = pdf_of(
        paragraph(["the first page"]), paragraph(["the second page"]), paragraph(["the third page"])
    )
    outcome = pdf_reader.read(whole.replace(b"/Kids [6 0 R 8 0 R 10 0 R]", b"/Kids [6 0 R 99 0 R 8 0 R]"))
    assert isinstance(outcome, Document)
    assert [page.trouble for page in outcome.pages] == [None, "broken", None]
    assert outcome.pages[2].lines[0].text == "the second page"
    assert "could not be loaded" in outcome.notes[0]


def test_unreadable_letters_are_garbled(pdf_reader: PdfReader) -> None:
    """Text as from a font with its own codes."""
    shifted = ["".join(chr(ord(letter) + 1) for letter in line) for line in PROSE.splitlines()]
    outcome = pdf_reader.read(pdf_of(paragraph(shifted)))
    assert reason(outcome) == "garbled"


def test_pages_beyond_the_limit_are_named() -> None:
    with PdfReader(ReadingLimits(max_pages=2)) as reader:
        outcome = reader.read(pdf_of(*(paragraph([f"page number {i} of five"]) for i in range(5))))
    assert isinstance(outcome, Document)
    assert len(outcome.pages) == 2
    assert outcome.notes == ("Only the first 2 of 5 pages were read.",)


def test_too_many_bytes_are_refused_unread() -> None:
    with PdfReader(ReadingLimits(max_bytes=1_000)) as reader:
        assert reason(reader.read(SOUND + b"\0" * 1_000)) == "too_big"


def test_more_text_than_allowed_is_refused() -> None:
    with PdfReader(ReadingLimits(answer_bytes=500)) as reader:
        assert reason(reader.read(SOUND)) == "too_big"
        assert reason(reader.read(SOUND)) == "too_big"


def test_a_file_without_end_is_given_up_and_the_next_one_read() -> None:
    with PdfReader(SHORT) as reader:
        assert reason(reader.read(forms_within_forms(depth=12, width=30))) == "too_slow"
        assert isinstance(reader.read(SOUND), Document)


def test_a_file_that_swells_is_given_up_and_the_next_one_read() -> None:
    swollen = zlib.compress(b" " * 250 * MIB, 1)
    extra = [stream(swollen, b"/Filter /FlateDecode")]
    body = pdf_of([Shown("small")], extra=extra).replace(b"/Contents 7 0 R", b"/Contents 8 0 R")
    with PdfReader(ReadingLimits(memory_bytes=384 * MIB, wall_seconds=60)) as reader:
        assert reason(reader.read(body)) in {"too_big", "crashed", "no_text"}
        assert isinstance(reader.read(SOUND), Document)


def test_a_process_that_hangs_is_replaced() -> None:
    with PdfReader(ReadingLimits(wall_seconds=4)) as reader:
        reader.read(SOUND)
        first = worker_pid(reader)
        os.kill(first, signal.SIGSTOP)
        assert reason(reader.read(SOUND)) == "too_slow"
        assert isinstance(reader.read(SOUND), Document)
        assert worker_pid(reader) != first


@pytest.fixture
def many_open_files() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    yield
    for descriptor in opened:
        os.close(descriptor)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_open_files")
def test_a_program_with_many_open_files_can_read_one_more() -> None:
    with PdfReader() as reader:
        assert isinstance(reader.read(SOUND), Document)


def test_a_process_that_was_killed_costs_no_file() -> None:
    with PdfReader() as reader:
        reader.read(SOUND)
        os.kill(worker_pid(reader), signal.SIGKILL)
        assert isinstance(reader.read(SOUND), Document)


def test_a_process_that_crashes_on_its_first_file_is_reported() -> None:
    """With address space that is almost used up before the file is read."""
    with PdfReader(ReadingLimits(memory_bytes=1 * MIB)) as reader:
        assert reason(reader.read(pdf_of(*(paragraph(["page"] * 50) for _ in range(300))))) in {
            "crashed",
            "too_big",
        }


def test_processes_end_with_their_reader() -> None:
    with PdfReader() as reader:
        reader.read(SOUND)
        pid = worker_pid(reader)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def children() -> set[int]:
    return {
        int(pid) for file in Path("/proc/self/task").glob("*/children") for pid in file.read_text().split()
    }


def cpu_ticks(pid: int) -> int:
    return sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))


def test_a_first_read_that_is_interrupted_leaves_no_process() -> None:
    before, reads = children(), threading.main_thread().ident
    assert reads

    def interrupt() -> None:
        while not any(cpu_ticks(pid) > 20 for pid in children() - before):
            time.sleep(0.01)
        signal.pthread_kill(reads, signal.SIGINT)

    with PdfReader(ReadingLimits(wall_seconds=600, cpu_seconds=600)) as reader:
        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt):
            reader.read(forms_within_forms(depth=12, width=30))
        thread.join()
        assert children() == before
        assert isinstance(reader.read(SOUND), Document)


def test_a_worker_ends_when_its_caller_is_gone() -> None:
    command = [sys.executable, "-m", "wayhound.documents.pdf_worker", str(1024 * MIB)]
    done = subprocess.run(command, input=b"", capture_output=True, timeout=60, check=False)
    assert done.returncode == 0
    assert done.stdout.endswith(b'{"ready":true}')


def test_without_pdfium_the_error_says_what_to_install() -> None:
    """In an interpreter with no other packages."""
    code = "from wayhound.errors import UsageError\nfrom wayhound.documents.pdf import PdfReader\n"
    code += "try:\n    PdfReader()\nexcept UsageError as error:\n    print(error)\n"
    environment = {"PYTHONPATH": str(Path(wayhound.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert "pip install '.[papers]'" in done.stdout


def test_damaged_files_never_raise(pdf_reader: PdfReader) -> None:
    chance = random.Random(1)
    for _ in range(60):
        damaged = bytearray(SOUND)
        for _ in range(chance.choice((1, 5, 50))):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        del damaged[chance.randrange(len(damaged) // 2, len(damaged) + 1) :]
        assert isinstance(pdf_reader.read(bytes(damaged)), Document | Unread)
    assert isinstance(pdf_reader.read(SOUND), Document)

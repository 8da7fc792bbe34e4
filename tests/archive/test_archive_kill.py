"""Kills real writers at random moments: what `write` returned is in the archive, which is whole."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

from tests.archive.archives import seen_by_warcio
from wayhound.archive.reader import ArchiveReader
from wayhound.archive.writer import repair
from wayhound.visit import ArchiveRef

KILLS = 10

WRITER = """
import os, random, sys
from pathlib import Path
from wayhound.fetched import Fetched
from wayhound.archive.writer import ArchiveWriter
from wayhound.archive.writer import repair
folder, seed = Path(sys.argv[1]), int(sys.argv[2])
repair(folder)
chance = random.Random(seed)
archive = ArchiveWriter(folder, "victim", max_bytes=2_000_000, software="wayhound/test")
for number in range(1_000_000):
    body = chance.randbytes(chance.randrange(1, 200_000)) if number % 3 else b"again and again" * 999
    url = f"http://a.example/{seed}/{number}"
    ref = archive.write(Fetched(url, 200, body=body), at=1.7e9 + number)
    if number % 50 == 49:
        archive.sync()
    os.write(1, f"{url} {ref.file} {ref.offset} {ref.length} {len(body)}\\n".encode())
"""


def test_nothing_returned_is_lost_when_writers_are_killed(tmp_path: Path) -> None:
    chance = random.Random(20260101)
    told: list[str] = []
    for seed in range(KILLS):
        told += killed_after(chance.uniform(0.0, 0.08), tmp_path, seed)
    repair(tmp_path)
    reader = ArchiveReader(tmp_path)
    for line in told:
        url, file, offset, length, size = line.split()
        fetched = reader.read(ArchiveRef(file, int(offset), int(length)))
        assert (fetched.url, len(fetched.body)) == (url, int(size))
    kinds = [seen.kind for path in sorted(tmp_path.iterdir()) for seen in seen_by_warcio(path)]
    assert len(told) >= KILLS
    assert kinds.count("response") + kinds.count("revisit") >= len(told)


def killed_after(seconds: float, folder: Path, seed: int) -> list[str]:
    """Lines that a writer told before it was killed, `seconds` after the first of them."""
    command = [sys.executable, "-c", WRITER, str(folder), str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(seconds)
        process.kill()
        rest = process.stdout.read()
    whole_lines = (first + rest).rpartition(b"\n")[0]
    return whole_lines.decode().splitlines()

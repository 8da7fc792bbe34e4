"""Writes files so that a reader finds the old content or the new, never half of either."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Open a draft beside `path` that replaces it when the block ends without an error.

    The draft is on the disk before it is renamed, so this also holds for a power cut.
    """
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def write_file(path: Path, content: bytes) -> None:
    """Replace the content of a file, or create it."""
    with atomic_file(path) as stream:
        stream.write(content)

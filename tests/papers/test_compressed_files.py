"""Compressed files of words and of training data that are damaged."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from wayhound.errors import ModelError, TeachingError
from wayhound.papers.lexicon import Lexicon
from wayhound.papers.training_data import read_text

SOUND = gzip.compress(b"lind\tl\nwood\tl\n", mtime=0)
HEAD = 10  # bytes of the format before the compressed data


@pytest.mark.parametrize("place", range(HEAD, len(SOUND)))
def test_a_file_with_a_damaged_byte_is_refused(tmp_path: Path, place: int) -> None:
    damaged = bytes([*SOUND[:place], SOUND[place] ^ 0xFF, *SOUND[place + 1 :]])
    file = tmp_path / "words.bib.gz"
    file.write_bytes(damaged)
    with pytest.raises(TeachingError):
        read_text(file)
    with pytest.raises(ModelError):
        Lexicon.from_bytes(damaged)

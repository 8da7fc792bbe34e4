"""One reader for all tests that need no limits of their own: starting its process takes a while."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from wayhound.documents.pdf import PdfReader


@pytest.fixture(scope="session")
def pdf_reader() -> Iterator[PdfReader]:
    with PdfReader() as reader:
        yield reader

"""One reader for all tests without limits of their own, because its process takes a while to start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from wayhound.documents.pdf import PdfReader


@pytest.fixture(scope="session")
def pdf_reader() -> Iterator[PdfReader]:
    with PdfReader() as reader:
        yield reader

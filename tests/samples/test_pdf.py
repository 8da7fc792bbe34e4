"""The PDF files are valid: every offset points to its object, and the text can be read."""

from __future__ import annotations

import re

from wayhound.samples import SamplePage, SampleSite
from wayhound.samples.pdf import PdfLine, write_pdf


def files_of(site: SampleSite) -> dict[str, SamplePage]:
    return {path: page for path, page in site.pages.items() if page.label == "paper"}


def check_offsets(body: bytes) -> int:
    """Check the cross-reference table and return the number of objects."""
    table = int(body.rsplit(b"startxref\n", 1)[1].split()[0])
    assert body[table:].startswith(b"xref\n0 ")
    entries = re.findall(rb"(\d{10}) (\d{5}) n \n", body[table:])
    for number, (offset, _) in enumerate(entries, start=1):
        assert body[int(offset) :].startswith(b"%d 0 obj\n" % number)
    return len(entries)


def shown_text(body: bytes) -> str:
    parts = re.findall(rb"Td \((.*)\) Tj", body)
    text = b" ".join(parts).decode("cp1252")
    return re.sub(r"\\([\\()])", r"\1", text)


def test_every_file_is_well_formed_and_says_what_its_record_says(site: SampleSite) -> None:
    files = files_of(site)
    for paper in site.truth.publications:
        if paper.pdf:
            body = files[paper.pdf].body
            assert check_offsets(body) >= 8
            text = shown_text(body)
            assert all(
                value in text for value in (paper.title, paper.abstract, *paper.authors, *paper.references)
            )


def test_stream_lengths_are_right() -> None:
    body = write_pdf([PdfLine("One (two) \\ three"), PdfLine("Café", "F2", 12, centred=True)], "A title")
    for length, stream in re.findall(rb"/Length (\d+) >>\nstream\n(.*?)\nendstream", body, re.DOTALL):
        assert int(length) == len(stream)
    assert shown_text(body).startswith("One (two) \\ three Café")


def test_long_texts_go_on_to_more_pages() -> None:
    body = write_pdf([PdfLine(f"line {i}") for i in range(200)], "Long")
    check_offsets(body)
    assert b"/Count 4" in body
    assert all(f"line {i} " in shown_text(body) + " " for i in range(200))

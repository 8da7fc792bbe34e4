"""Word files and web pages: their paragraphs, what they state about themselves, and hostile ones."""

from __future__ import annotations

import io
import zipfile

import pytest

from wayhound.documents.document import Document, Unread, from_data, to_data
from wayhound.documents.reader import DocumentReader
from wayhound.papers.models import shipped_crf
from wayhound.papers.paper import PaperModels, read_paper

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
REFERENCES = (
    "Lind, A. (1999). Hops to the distant goal. Journal of Trails, 5(2), 12-19.",
    "Wood, B., and Stone, C. (2001). Growing trees of many topics. Annals of Forests, 7, 3-9.",
    "Field, D. (1987). Tides and currents of northern seas. Annals of Water, 8, 100-120.",
    "Brook, E. (1990). Where rivers begin in spring. Annals of Water, 11, 1-20.",
)


def docx(
    *paragraphs: tuple[str, str], name: str = "word/document.xml", head: str = "",
    encoding: str = "utf-8", compression: int = zipfile.ZIP_DEFLATED,
) -> bytes:  # fmt: skip
    """A Word file of paragraphs, each a style and a text."""
    inner = "".join(
        f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'
        for style, text in paragraphs
    )
    declaration = f'<?xml version="1.0" encoding="{encoding}"?>'
    xml = f'{declaration}{head}<w:document xmlns:w="{WORD}"><w:body>{inner}</w:body></w:document>'
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", compression) as archive:
        archive.writestr(name, xml)
    return file.getvalue()


def read(body: bytes) -> Document:
    outcome = DocumentReader().read(body)
    assert isinstance(outcome, Document), outcome
    return outcome


def refusal(body: bytes) -> Unread:
    outcome = DocumentReader().read(body)
    assert isinstance(outcome, Unread)
    return outcome


PAPER = docx(
    ("Title", "The walls of harbours in the northern provinces"),
    ("Normal", "Greta Hansen"),
    ("Normal", "Department of History, University of Bergen"),
    ("Heading1", "Abstract"),
    (
        "Normal",
        "We describe the walls of harbours, how they were built, and why some of them fell in storms.",
    ),
    ("Heading1", "Introduction"),
    ("Normal", "Walls were built early (Lind 1999). " * 8),
    ("berschrift1", "References"),
    *(("Normal", reference) for reference in REFERENCES),
)


def test_a_word_file_is_read_like_any_paper() -> None:
    document = read(PAPER)
    models = PaperModels(shipped_crf("header"), shipped_crf("reference"))
    paper = read_paper(document, models, "")
    assert (document.kind, paper.kind) == ("docx", "paper")
    assert paper.fields["title"][0].text == "The walls of harbours in the northern provinces"
    assert [value.text for value in paper.fields["author"]] == ["Greta Hansen"]
    assert [reference.text for reference in paper.references] == list(REFERENCES)
    assert paper.references[0].fields["year"][0].text == "1999"


LONG_REFERENCES = (
    "Lind, A. (1999). Hops to the distant goal, and what they tell about the paths that lead there. Journal of "
    "Distant Trails, 5(2), 12-19.",
    "Wood, B., and Stone, C. (2001). Growing trees of many topics. Annals of Forests, 7, 3-9.",
    "Field, D. (1987). Tides and currents of northern seas, as sailors of three centuries have known them. Annals of "
    "Water, 8, 100-120.",
)


def test_paragraphs_of_a_word_file_are_not_cut_and_not_joined() -> None:
    body = docx(
        ("Title", "The walls of harbours in the northern provinces"),
        ("Normal", "Greta Hansen"),
        ("Normal", "Department of History, University of Bergen"),
        ("Normal", "Journal of Old Harbours, vol. 12, no. 3, 2014, pp. 45-61"),
        ("Heading1", "Abstract"),
        ("Normal", "We describe the walls of harbours, and why some of them fell in storms."),
        ("Heading1", "Introduction"),
        ("Normal", "Walls were built early (Lind 1999). " * 8),
        ("Heading1", "References"),
        *(("Normal", reference) for reference in LONG_REFERENCES),
    )
    paper = read_paper(read(body), PaperModels(shipped_crf("header"), shipped_crf("reference")), "")
    assert [reference.text for reference in paper.references] == list(LONG_REFERENCES)
    assert [value.text for value in paper.fields["journal"]] == ["Journal of Old Harbours"]
    assert [value.text for value in paper.fields["pages"]] == ["45-61"]


def test_a_web_page_of_a_publisher_states_its_fields() -> None:
    page = """<!doctype html><html><head>
    <meta name="citation_title" content="Walls of harbours"><meta name="citation_author" content="Hansen, Greta">
    <meta name="citation_author" content="Bo Wood"><meta name="citation_journal_title" content="Annals of Stone">
    <meta name="citation_publication_date" content="2004/05/01"><meta name="citation_doi" content="10.1000/walls">
    <meta name="citation_firstpage" content="3"><meta name="citation_lastpage" content="9"></head>
    <body><nav>Home</nav><h1>Walls of harbours</h1><script>alert(1)</script>
    <h2>Abstract</h2><p>We describe <em>walls</em> of harbours.</p><h2>References</h2><ol>%s</ol></body></html>"""
    document = read((page % "".join(f"<li>{text}</li>" for text in REFERENCES)).encode())
    models = PaperModels(shipped_crf("header"), shipped_crf("reference"))
    paper = read_paper(document, models, "")
    texts = {name: [value.text for value in values] for name, values in paper.fields.items()}
    assert texts["title"] == ["Walls of harbours"]
    assert texts["author"] == ["Greta Hansen", "Bo Wood"]
    assert (texts["journal"], texts["year"], texts["doi"]) == (
        ["Annals of Stone"],
        ["2004"],
        ["10.1000/walls"],
    )
    assert texts["pages"] == ["3-9"]
    assert len(paper.references) == len(REFERENCES)
    assert "alert" not in document.text
    assert "Home" not in document.text
    assert from_data(to_data(document)) == document


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"<!DOCTYPE html><html><body><h1>404 not found</h1></body></html>", "not_a_document"),
        (docx(("Normal", "Text"), name="xl/workbook.xml"), "not_a_document"),
        (PAPER[: len(PAPER) // 2], "broken"),
        (b"PK\x03\x04" + bytes(100), "broken"),
        (docx(("Normal", "&a;"), head='<!DOCTYPE a [<!ENTITY a "aaaa">]>'), "broken"),
        (docx(("Normal", "<unclosed>")), "broken"),
        (docx(("Normal", "Text"), encoding="no-such-code"), "broken"),
        (docx(), "empty"),
    ],
)
def test_what_is_no_paper_is_refused_with_a_reason(body: bytes, reason: str) -> None:
    assert refusal(body).reason == reason
    assert refusal(body).detail.endswith(".")


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_a_word_file_with_any_damaged_byte_is_read_or_refused(compression: int) -> None:
    sound = docx(("Normal", "Walls of harbours"), compression=compression)
    for place in range(len(b"PK\x03\x04"), len(sound)):
        damaged = bytearray(sound)
        damaged[place] ^= 0xFF
        assert isinstance(DocumentReader().read(bytes(damaged)), Document | Unread)


def test_a_word_file_that_unpacks_to_too_much_is_refused() -> None:
    assert refusal(docx(("Normal", "a" * 21_000_000))).reason == "too_big"


def test_deeply_nested_pages_are_read() -> None:
    page = "<html><body><h2>Abstract</h2>" + "<div>" * 20_000 + "Deep text." + "</div>" * 20_000
    assert "Deep text." in read(page.encode()).text

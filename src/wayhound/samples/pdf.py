"""Write small valid PDF files: a paper's title, authors, abstract, text and references in Times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import wrap

from wayhound.samples.department import Publication

WIDTH, HEIGHT, MARGIN = 595, 842, 72  # A4 in points
FONTS = {"F1": "Times-Roman", "F2": "Times-Bold", "F3": "Times-Italic"}
GLYPH = 0.42  # mean width of a Times letter, in ems


@dataclass(frozen=True, slots=True)
class PdfLine:
    text: str
    font: str = "F1"
    size: int = 10
    centred: bool = False
    space_above: int = 0


def paper_pdf(paper: Publication, affiliation: str, language: str) -> bytes:
    return write_pdf(list(_paper_lines(paper, affiliation, language)), title=paper.title)


def write_pdf(lines: list[PdfLine], title: str) -> bytes:
    """Return a PDF of the lines, over as many pages as needed; uncompressed, so bytes depend on no library."""
    pages = [_content(page, number) for number, page in enumerate(_paginate(lines), start=1)]
    first_page = 4 + len(FONTS)
    kids = " ".join(f"{first_page + 2 * i} 0 R" for i in range(len(pages)))
    fonts = " ".join(f"/{name} {4 + i} 0 R" for i, name in enumerate(FONTS))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>".encode(),
        b"<< /Title (" + _escaped(title) + b") /Producer (Wayhound samples) >>",
        *(
            f"<< /Type /Font /Subtype /Type1 /BaseFont /{font} /Encoding /WinAnsiEncoding >>".encode()
            for font in FONTS.values()
        ),
    ]
    for i, content in enumerate(pages):
        box = f"/MediaBox [0 0 {WIDTH} {HEIGHT}] /Resources << /Font << {fonts} >> >>"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R {box} /Contents {first_page + 2 * i + 1} 0 R >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
    return _assemble(objects)


def _assemble(objects: list[bytes]) -> bytes:
    out, offsets = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"), list[int]()
    for number, content in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    start, size = len(out), len(objects) + 1
    out += b"xref\n0 %d\n0000000000 65535 f \n" % size
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer\n<< /Size %d /Root 1 0 R /Info 3 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, start)
    return bytes(out)


def _paper_lines(paper: Publication, affiliation: str, language: str) -> Iterator[PdfLine]:
    french = language == "fr"
    yield from _wrapped(paper.title, "F2", 16, centred=True)
    yield PdfLine(paper.by, "F1", 12, centred=True, space_above=10)
    yield PdfLine(affiliation, "F3", 10, centred=True, space_above=4)
    yield PdfLine(", ".join(author.email for author in paper.authors), "F1", 9, centred=True)
    yield PdfLine("Résumé" if french else "Abstract", "F2", 12, centred=True, space_above=14)
    yield from _wrapped(paper.abstract)
    yield PdfLine("1 Introduction", "F2", 12, space_above=14)
    yield from _wrapped(paper.introduction)
    yield PdfLine(
        "2 Résultats et discussion" if french else "2 Results and discussion", "F2", 12, space_above=14
    )
    yield from _wrapped(paper.discussion)
    yield PdfLine("Références" if french else "References", "F2", 12, space_above=14)
    for number, reference in enumerate(paper.references, start=1):
        yield from _wrapped(f"[{number}] {reference}", space_above=4)
    yield PdfLine(f"{paper.venue}, {paper.year}", "F3", 9, centred=True, space_above=24)


def _wrapped(
    text: str, font: str = "F1", size: int = 10, *, centred: bool = False, space_above: int = 0
) -> Iterator[PdfLine]:
    columns = int((WIDTH - 2 * MARGIN) / (size * GLYPH * 1.05))
    for i, line in enumerate(wrap(text, columns, break_on_hyphens=False)):
        yield PdfLine(line, font, size, centred, 0 if i else space_above)


def _paginate(lines: list[PdfLine]) -> Iterator[list[PdfLine]]:
    page, left = list[PdfLine](), HEIGHT - 2 * MARGIN
    for line in lines:
        need = line.space_above + line.size + 3
        if need > left:
            yield page
            page, left = [], HEIGHT - 2 * MARGIN
        page.append(line)
        left -= need
    yield page


def _content(lines: list[PdfLine], number: int) -> bytes:
    y, parts = HEIGHT - MARGIN, list[bytes]()
    for line in lines:
        y -= line.space_above + line.size + 3
        parts.append(_show(line, _left(line), y))
    parts.append(_show(PdfLine(str(number), size=9), WIDTH // 2, MARGIN // 2))
    return b"\n".join(parts)


def _left(line: PdfLine) -> int:
    if not line.centred:
        return MARGIN
    return max(MARGIN // 2, int((WIDTH - len(line.text) * line.size * GLYPH) / 2))


def _show(line: PdfLine, x: int, y: int) -> bytes:
    return f"BT /{line.font} {line.size} Tf {x} {y} Td (".encode() + _escaped(line.text) + b") Tj ET"


def _escaped(text: str) -> bytes:
    for special in "\\()":
        text = text.replace(special, f"\\{special}")
    return text.encode("cp1252", "replace")

"""Word files (DOCX) and web pages as documents: paragraphs become lines, and headings have larger sizes."""

from __future__ import annotations

import io
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any
from xml.etree import ElementTree as ET

from selectolax.lexbor import LexborHTMLParser, LexborNode

from wayhound.documents.document import Document, DocumentKind, DocumentPage, Line, Unread
from wayhound.documents.headings import is_abstract_heading, is_references_heading
from wayhound.documents.letters import repair_text
from wayhound.documents.limits import ReadingLimits
from wayhound.pages.sniff import decode

MAX_MARKUP = 20_000_000  # bytes of the text of a Word file, and of a web page
MAX_LINES = 200_000
_LINE = 96  # characters; lines of a page are as long, and the models expect lines
_BODY_SIZE, _TITLE_SIZE = 10.0, 18.0  # points; only their order counts
_HEADING_SIZES = {"h1": 16.0, "h2": 14.0, "h3": 12.0, "h4": 11.0, "h5": 11.0, "h6": 11.0}

_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
# What `zipfile` lets through: errors of each compression, and of offsets and names that cannot be.
_DAMAGED_ARCHIVE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, struct.error, RuntimeError,
)  # fmt: skip
_HEADING_STYLE = re.compile(r"(?:heading|berschrift|titre|rubrik|kop)\D*([1-6])", re.IGNORECASE)
_TITLE_STYLE = re.compile(r"(?:title|titel|titre)$", re.IGNORECASE)

_NO_TEXT = "script, style, noscript, template, nav, svg, math annotation, form, iframe, button, select"
_BLOCKS = frozenset(
    "address article aside blockquote dd div dl dt figcaption figure footer h1 h2 h3 h4 h5 h6 header hr li main ol p "
    "pre section table td th tr ul br body".split()
)
_TAGS = {
    "citation_title": "title", "citation_author": "author", "citation_doi": "doi", "citation_journal_title": "journal",
    "citation_conference_title": "booktitle", "citation_inbook_title": "booktitle", "citation_volume": "volume",
    "citation_issue": "number", "citation_publisher": "publisher", "citation_keywords": "keyword",
    "citation_technical_report_institution": "institution", "citation_dissertation_institution": "institution",
}  # fmt: skip
"""Tags that publishers write for Google Scholar, and the fields that they name."""
_DATES = ("citation_publication_date", "citation_date", "citation_year", "citation_online_date")


@dataclass(frozen=True, slots=True)
class _Paragraph:
    text: str
    size: float = _BODY_SIZE
    bold: bool = False


def read_docx(body: bytes, limits: ReadingLimits) -> Document | Unread:
    """Read the paragraphs of a Word file, in the order of the text; a break of pages begins a new page."""
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            part = archive.getinfo("word/document.xml")
            if part.file_size > MAX_MARKUP:
                return limits.too_big(part.file_size)
            with archive.open(part) as file:
                xml = file.read(MAX_MARKUP + 1)
    except KeyError:
        return Unread("not_a_document", "The file is an archive, but not a Word file.")
    except _DAMAGED_ARCHIVE:
        return Unread("broken", "The Word file is damaged, or needs a password.")
    if b"<!DOCTYPE" in xml[:2_000] or b"<!ENTITY" in xml or len(xml) > MAX_MARKUP:
        return Unread("broken", "The Word file has parts that no word processor writes.")
    try:
        pages = list(_docx_pages(xml))
    except (ET.ParseError, LookupError, ValueError):  # LookupError: an encoding that Python does not know
        return Unread("broken", "The Word file is damaged.")
    return _document("docx", pages, limits)


def _docx_pages(xml: bytes) -> Iterator[list[_Paragraph]]:
    page: list[_Paragraph] = []
    for _, element in ET.iterparse(io.BytesIO(xml)):  # noqa: S314 - entities are refused above
        if element.tag != f"{_WORD}p":
            continue
        breaks = [node for node in element.iter(f"{_WORD}br") if node.get(f"{_WORD}type") == "page"]
        if page and (breaks or element.find(f".//{_WORD}lastRenderedPageBreak") is not None):
            yield page
            page = []
        page.append(_docx_paragraph(element))
        element.clear()
    yield page


def _docx_paragraph(element: ET.Element) -> _Paragraph:
    style = element.find(f"{_WORD}pPr/{_WORD}pStyle")
    name = "" if style is None else style.get(f"{_WORD}val", "")
    text, sizes, bold = [], list[float](), 0
    for run in element.iter(f"{_WORD}r"):
        letters = "".join(_docx_text(node) for node in run)
        text.append(letters)
        size = run.find(f"{_WORD}rPr/{_WORD}sz")
        if size is not None and letters.strip() and (points := size.get(f"{_WORD}val", "")).isdecimal():
            sizes.append(min(100.0, int(points) / 2))
        if run.find(f"{_WORD}rPr/{_WORD}b") is not None:
            bold += len(letters)
    whole = "".join(text)
    if _TITLE_STYLE.search(name):
        return _Paragraph(whole, _TITLE_SIZE)
    if match := _HEADING_STYLE.search(name):
        return _Paragraph(whole, _HEADING_SIZES[f"h{match[1]}"], bold=True)
    return _Paragraph(whole, max(sizes, default=_BODY_SIZE), bold=2 * bold > len(whole))


def _docx_text(node: ET.Element) -> str:
    if node.tag == f"{_WORD}t":
        return node.text or ""
    if node.tag in {f"{_WORD}br", f"{_WORD}cr"}:
        return "\n"
    return {f"{_WORD}tab": " ", f"{_WORD}noBreakHyphen": "-"}.get(node.tag, "")


def read_html(body: bytes, limits: ReadingLimits) -> Document | Unread:
    """Read a web page that is a paper: one with tags for scholars, or a heading of an abstract or of references."""
    if len(body) > MAX_MARKUP:
        return limits.too_big(len(body))
    text, _ = decode(body)
    tree = LexborHTMLParser(text)
    stated = _stated(tree)
    for node in tree.css(_NO_TEXT):
        node.decompose()
    paragraphs = list(_html_paragraphs(tree.body)) if tree.body else []
    headings = [paragraph.text for paragraph in paragraphs if paragraph.size > _BODY_SIZE or paragraph.bold]
    if "title" not in stated and not any(
        is_abstract_heading(heading) or is_references_heading(heading) for heading in headings
    ):
        return Unread("not_a_document", "The file is a web page, not a document.")
    return _document("html", [paragraphs], limits, stated)


def _stated(tree: LexborHTMLParser) -> dict[str, tuple[str, ...]]:
    """Return the fields that the page states about itself."""
    tags: dict[str, list[str]] = {}
    for node in tree.css("meta[name][content]"):
        name = (node.attributes.get("name") or "").lower().replace("dc.", "dc_")
        tags.setdefault(name, []).append(" ".join((node.attributes.get("content") or "").split()))
    fields: dict[str, tuple[str, ...]] = {}
    for tag, field in _TAGS.items():
        values = [text for text in tags.get(tag, ()) if text]
        if values and field not in fields:
            fields[field] = tuple(map(_name_in_order, values) if field == "author" else values)
    years = (match[0] for tag in _DATES for text in tags.get(tag, ()) if (match := re.search(r"\d{4}", text)))
    if year := next(years, ""):
        fields["year"] = (year,)
    first, last = (next(iter(tags.get(f"citation_{end}page", ())), "") for end in ("first", "last"))
    if first:
        fields["pages"] = (f"{first}-{last}" if last else first,)
    return fields


def _name_in_order(name: str) -> str:
    last, comma, first = name.partition(",")
    return f"{first.strip()} {last.strip()}" if comma else name


def _html_paragraphs(root: LexborNode) -> Iterator[_Paragraph]:
    """Yield the text between the edges of blocks, with the size of the heading that it is in."""
    texts: list[str] = []
    size, bold = _BODY_SIZE, False
    for node in _walk(root):
        if isinstance(node, str):
            texts.append(node)
            continue
        name, opens = node
        if name in {"b", "strong"}:
            bold = bold or opens
        elif name in _BLOCKS:
            if text := " ".join("".join(texts).split()):
                yield _Paragraph(text, size, bold=bold and len(text) < 200)
            texts, bold = [], False
            size = _HEADING_SIZES.get(name, _BODY_SIZE) if opens else _BODY_SIZE
    if text := " ".join("".join(texts).split()):
        yield _Paragraph(text, size)


def _walk(root: LexborNode) -> Iterator[str | tuple[str, bool]]:
    """Yield texts, and the names of elements as they open and close, without recursion: pages may be deep."""
    stack: list[Any] = [root]
    while stack:
        item = stack.pop()
        if isinstance(item, tuple):
            yield item
        elif item.tag == "-text":
            yield item.text_content or ""
        elif item.tag and not item.tag.startswith(("-", "_", "!")):
            yield (item.tag, True)
            stack.append((item.tag, False))
            stack.extend(reversed(list(item.iter(include_text=True))))


def _document(
    kind: DocumentKind,
    pages: Sequence[Iterable[_Paragraph]],
    limits: ReadingLimits,
    stated: dict[str, tuple[str, ...]] | None = None,
) -> Document | Unread:
    made = [
        DocumentPage(number, lines=tuple(_lines(paragraphs, number)))
        for number, paragraphs in enumerate(pages[: limits.max_pages], start=1)
    ]
    if not any(line.text for page in made for line in page.lines):
        return Unread("empty", "The file has no text.")
    return Document(kind, tuple(made), stated=tuple((stated or {}).items()))


def _lines(paragraphs: Iterable[_Paragraph], page: int) -> Iterator[Line]:
    """Yield lines as long as those of a page, and a blank one after each paragraph."""
    count = 0
    for paragraph in paragraphs:
        for part in paragraph.text.split("\n"):
            for text in wrap(repair_text(part), _LINE, break_long_words=False, break_on_hyphens=False):
                yield Line(text, page, size=paragraph.size, bold=paragraph.bold)
                count += 1
        yield Line("", page)
        if count > MAX_LINES:
            return

"""Plain text as a document: pages by form feeds, lines with their indent."""

from __future__ import annotations

import re

from trailmark.extract.charset import decode
from trailmark.extract.documents.document import Document, DocumentKind, DocumentPage, Line, Unread
from trailmark.extract.documents.limits import DEFAULT_LIMITS, Limits
from trailmark.extract.documents.margins import set_margins_aside
from trailmark.extract.documents.quality import is_garbled
from trailmark.extract.documents.repair import repaired

MOST_CHARS = 10_000_000
MOST_LINES = 200_000
"""Together some thousand full pages. A few kilobytes can unpack to a hundred million lines, and each is an object."""

_BLANK = 0.5  # ems: what a blank of the indent counts
_MARKUP = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\ufffd]")


def read_plain(
    body: bytes,
    limits: Limits = DEFAULT_LIMITS,
    kind: DocumentKind = "text",
) -> Document | Unread:
    """The document in these bytes; blank lines are kept, since they part paragraphs and references."""
    if not body.strip():
        return Unread("empty", "The file is empty.")
    if len(body) > limits.most_bytes:
        return limits.too_big(len(body))
    text, _ = decode(body[: 4 * MOST_CHARS + 4])  # four bytes a character at most, and a mark
    if refusal := _refusal(text):
        return refusal
    sheets = text[:MOST_CHARS].split("\f")
    if len(sheets) > 1 and not sheets[-1].strip():
        sheets = sheets[:-1]
    pages = _pages(sheets[: limits.most_pages])
    return Document(kind, set_margins_aside(pages), _notes(text, len(sheets), pages, limits))


def _pages(sheets: list[str]) -> list[DocumentPage]:
    pages: list[DocumentPage] = []
    room = MOST_LINES
    for number, sheet in enumerate(sheets, start=1):
        if room <= 0:
            break
        pages.append(_page(number, sheet, room))
        room -= len(pages[-1].lines)
    return pages


def _notes(text: str, n_sheets: int, pages: list[DocumentPage], limits: Limits) -> tuple[str, ...]:
    if n_sheets > limits.most_pages:
        return (f"Only the first {limits.most_pages} of {n_sheets} pages were read.",)
    if len(text) > MOST_CHARS or sum(len(page.lines) for page in pages) >= MOST_LINES:
        return ("Only the beginning was read: the file is longer than a thousand pages.",)
    return ()


def _refusal(text: str) -> Unread | None:
    if len(_CONTROLS.findall(text, 0, 20_000)) > 0.02 * min(len(text), 20_000):
        return Unread("not_a_document", "The file is neither PDF, PostScript nor text.")
    if _MARKUP.match(text[:4_000]):
        return Unread("not_a_document", "The file is a web page, not a document.")
    if is_garbled(text):
        return Unread("garbled", "The text is not readable: its letters form no language.")
    return None


def _page(number: int, sheet: str, most_lines: int) -> DocumentPage:
    lines = tuple(_line(line, number) for line in sheet.expandtabs().splitlines()[:most_lines])
    return DocumentPage(number, lines=lines, trouble=None if any(line.text for line in lines) else "no_text")


def _line(raw: str, page: int) -> Line:
    text = repaired(raw).rstrip()
    return Line(text.strip(), page, indent=_BLANK * (len(raw) - len(raw.lstrip(" "))))

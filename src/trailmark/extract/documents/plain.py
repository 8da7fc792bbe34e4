"""Plain text as a document: pages by form feeds, lines with their indent."""

from __future__ import annotations

import re

from trailmark.extract.charset import decode
from trailmark.extract.documents.document import Document, DocumentKind, DocumentPage, Line, Unread
from trailmark.extract.documents.limits import DEFAULT_LIMITS, Limits
from trailmark.extract.documents.margins import set_margins_aside
from trailmark.extract.documents.quality import is_garbled
from trailmark.extract.documents.repair import repaired

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
    text, _ = decode(body)
    if refusal := _refusal(text):
        return refusal
    sheets = text.split("\f")
    if len(sheets) > 1 and not sheets[-1].strip():
        sheets = sheets[:-1]
    notes: tuple[str, ...] = ()
    if len(sheets) > limits.most_pages:
        notes = (f"Only the first {limits.most_pages} of {len(sheets)} pages were read.",)
    pages = [_page(number, sheet) for number, sheet in enumerate(sheets[: limits.most_pages], start=1)]
    return Document(kind, set_margins_aside(pages), notes)


def _refusal(text: str) -> Unread | None:
    if len(_CONTROLS.findall(text, 0, 20_000)) > 0.02 * min(len(text), 20_000):
        return Unread("not_a_document", "The file is neither PDF, PostScript nor text.")
    if _MARKUP.match(text[:4_000]):
        return Unread("not_a_document", "The file is a web page, not a document.")
    if is_garbled(text):
        return Unread("garbled", "The text is not readable: its letters form no language.")
    return None


def _page(number: int, sheet: str) -> DocumentPage:
    lines = tuple(_line(line, number) for line in sheet.expandtabs().splitlines())
    return DocumentPage(number, lines=lines, trouble=None if any(line.text for line in lines) else "no_text")


def _line(raw: str, page: int) -> Line:
    text = repaired(raw).rstrip()
    return Line(text.strip(), page, indent=_BLANK * (len(raw) - len(raw.lstrip(" "))))

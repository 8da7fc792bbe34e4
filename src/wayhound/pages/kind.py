"""Sniff the kind of a body before it is parsed: web page, plain text, or something else."""

from __future__ import annotations

import re
from typing import Literal

from wayhound.pages.charset import sixteen_bit_codec

Kind = Literal["html", "text", "empty", "not_html", "binary"]

_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
_XML_TYPES = frozenset({"application/xml", "text/xml"})
_UNSURE_TYPES = frozenset({"", "application/octet-stream", "application/unknown", "unknown/unknown", "*/*"})
_READ_TYPES = _HTML_TYPES | _XML_TYPES | _UNSURE_TYPES | {"text/plain"}
_BINARY_TYPES = (
    "image/",
    "audio/",
    "video/",
    "font/",
    "application/pdf",
    "application/zip",
    "application/gzip",
)

_MAGIC = (
    b"%PDF-",
    b"PK\x03\x04",
    b"\x89PNG",
    b"GIF8",
    b"\xff\xd8\xff",
    b"\x1f\x8b",
    b"BZh",
    b"7z\xbc\xaf",
    b"RIFF",
)
# Control characters that do not occur in text: WHATWG MIME Sniffing, section 3, "binary data byte".
_CONTROLS = bytes([*range(0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20)])
_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_HTML_SIGN = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|title|meta|link|script|style|frameset|table|div|h[1-6]|p|br|ul|font|b|a)[\s/>]",
    re.IGNORECASE,
)
_HTML_ROOT = re.compile(rb"<(?:!doctype\s+)?html[\s/>]", re.IGNORECASE)
_HEAD_BYTES = 2_048


# The first bytes of documents. Office documents are ZIP files whose first member identifies them.
_DOCUMENTS = (
    (b"%PDF-", "application/pdf"),
    (b"%!PS", "application/postscript"),
    (b"{\\rtf", "application/rtf"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/msword"),
)
_OFFICE = re.compile(
    rb"PK\x03\x04.{26}(?:mimetype(application/(?:vnd\.oasis\.opendocument\.[a-z]+|epub\+zip))"
    rb"|\[Content_Types\]\.xml|_rels/\.rels)",
    re.DOTALL,
)
_OPEN_XML = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def sniff_media_type(body: bytes) -> str:
    """Return the media type of a document by its first bytes, or an empty string."""
    for beginning, media_type in _DOCUMENTS:
        if body.startswith(beginning):
            return media_type
    match = _OFFICE.match(body)
    if match is None:
        return ""
    return match[1].decode("ascii") if match[1] else _OPEN_XML


def sniff_kind(body: bytes, media_type: str, charset: str) -> Kind:
    """Return the kind of a body, by its media type where that can be trusted, and by its first bytes."""
    if not body or body.isspace():
        return "empty"
    if media_type.startswith(_BINARY_TYPES):
        return "binary"
    if media_type not in _READ_TYPES:
        return "not_html"
    if _is_binary(body, charset):
        return "binary"
    return _kind_of_text(body[:_HEAD_BYTES].replace(b"\0", b""), media_type)


def _kind_of_text(head: bytes, media_type: str) -> Kind:
    if media_type in _HTML_TYPES:
        return "html"
    if media_type == "text/plain":
        return "text"
    if media_type in _XML_TYPES or head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<?xml"):
        return "html" if _HTML_ROOT.search(head) else "not_html"
    return "html" if _HTML_SIGN.search(head) else "text"


def _is_binary(body: bytes, charset: str) -> bool:
    if body.startswith(_MAGIC):
        return True
    if body.startswith(_MARKS) or charset.lower().startswith(("utf-16", "utf-32")):
        return False
    head = body[:_HEAD_BYTES]
    controls = len(head) - len(head.translate(None, _CONTROLS))
    return controls * 30 > len(head) and not sixteen_bit_codec(body)

"""Sniffing of a body before it is parsed: its character set and its kind, whatever its headers say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from charset_normalizer import from_bytes
from w3lib.encoding import html_body_declared_encoding, read_bom, resolve_encoding

_LABEL = re.compile(r"[\w.:-]{1,40}", re.ASCII)
# Python has codecs that no page should be able to choose: punycode, unicode_escape.
_WEB_CODECS = re.compile(
    r"utf-8|utf-(?:16|32)(?:-[lb]e)?|cp125\d|iso8859-\d+|koi8-[rtu]|cp(?:866|874|932|949)|mac-(?:roman|cyrillic)"
    r"|gb18030|big5(?:hkscs)?|euc_(?:jp|kr)|iso2022_jp"
)
_DETECTABLE = ["cp1251", "koi8_r", "gb18030", "big5hkscs", "cp932", "euc_jp", "cp949"]
_DETECTABLE += ["cp1253", "cp1255", "cp1256", "cp1254", "cp1250", "cp874", "cp1252"]
_TAG = re.compile(rb"<[^<>]*>")
_HIGH = re.compile(rb"[\x80-\xff]")
_HIGH_ALONE = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
_SAMPLE_BYTES = 8_192


def decode(body: bytes, declared: str = "") -> tuple[str, str]:
    """Return the text and the name of its codec.

    Tried in order: byte order mark, the charset that the header `declared`, that of the page itself, UTF-8, and
    detection. A declaration that does not fit the bytes is ignored.
    """
    codec, mark = read_bom(body)
    if codec and mark:
        return body[len(mark) :].decode(codec, "replace"), codec
    tried = []
    for codec in _candidates(body, declared):
        try:
            return body.decode(codec), codec
        except UnicodeDecodeError:
            tried.append(codec)
    if _mostly_fits(text := body.decode(tried[0], "replace")):
        return text, tried[0]
    codec = _detected(body)
    return body.decode(codec, "replace"), codec


def sixteen_bit_codec(body: bytes) -> str:
    """Return the codec of UTF-16 text in a Latin script without a byte order mark, by its zeros; else ""."""
    head = body[:512]
    enough = len(head) // 2 * 0.7
    if len(head) >= 8 and head[1::2].count(0) >= enough and head[::2].count(0) < enough / 2:
        return "utf-16-le"
    if len(head) >= 8 and head[::2].count(0) >= enough and head[1::2].count(0) < enough / 2:
        return "utf-16-be"
    return ""


def _candidates(body: bytes, declared: str) -> Iterator[str]:
    if by_header := _codec(declared):
        yield by_header
    by_page = _web_codec(html_body_declared_encoding(body))
    if by_page.startswith(("utf-16", "utf-32")):
        by_page = "utf-8"  # the declaration itself was readable as bytes (WHATWG HTML, 13.2.3.2)
    if by_page := by_page or sixteen_bit_codec(body):
        yield by_page
    yield "utf-8"


def _codec(label: str) -> str:
    label = label.strip(" \t'\"")
    return _web_codec(resolve_encoding(label)) if _LABEL.fullmatch(label) else ""


def _web_codec(codec: str | None) -> str:
    return codec if codec and _WEB_CODECS.fullmatch(codec) else ""


def _mostly_fits(text: str) -> bool:
    """Return True if a few bytes are damaged, rather than the declaration wrong."""
    beyond_ascii = len(text) - len(text.encode("ascii", "ignore"))
    return text.count("\ufffd") * 4 <= beyond_ascii


def _detected(body: bytes) -> str:
    """Guess the codec: Western text has single accents between plain letters; the rest is up to statistics."""
    text = _TAG.sub(b" ", body)
    first = _HIGH.search(text)
    start = max(0, first.start() - 200) if first else 0
    sample = text[start : start + _SAMPLE_BYTES]
    if len(_HIGH_ALONE.findall(sample)) * 2 > len(_HIGH.findall(sample)):
        return "cp1252"
    best = from_bytes(sample, cp_isolation=_DETECTABLE).best()
    return best.encoding if best else "cp1252"


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

"""Media types: which are pages, which are documents, and the type of a file by its name.

Servers often send no type for a file, or a meaningless one; then the extension in its URL decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

PAGE = "page"
DOCUMENT = "document"
"""Kinds of link targets. The kind of a file that is not a document is its media type."""

UNKNOWN = "application/octet-stream"

_PAGE_TYPES = frozenset(
    {
        "text/html",
        "application/xhtml+xml",
        "application/vnd.wap.xhtml+xml",
        "text/plain",
        "text/xml",
        "application/xml",
    }
)
_DOCUMENT_TYPES = (
    "application/pdf",
    "application/x-pdf",
    "application/postscript",
    "application/x-postscript",
    "application/x-dvi",
    "application/msword",
    "application/vnd.ms-",
    "application/vnd.openxmlformats-officedocument.",
    "application/vnd.oasis.opendocument.",
    "application/rtf",
    "text/rtf",
    "application/epub+zip",
    "image/vnd.djvu",
    "image/x-djvu",
)
# Types for files that servers do not know, that they want to be saved, or that are compressed.
_UNSURE_TYPES = (
    UNKNOWN,
    "binary/octet-stream",
    "application/x-download",
    "application/download",
    "application/force-download",
    "application/x-force-download",
    "application/gzip",
    "application/x-gzip",
    "application/x-compress",
)
_TYPES_BY_EXTENSION = {
    "pdf": "application/pdf",
    "ps": "application/postscript",
    "eps": "application/postscript",
    "dvi": "application/x-dvi",
    "doc": "application/msword",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "odt": "application/vnd.oasis.opendocument.text",
    "rtf": "application/rtf",
    "xls": "application/vnd.ms-excel",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "ppt": "application/vnd.ms-powerpoint",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "epub": "application/epub+zip",
    "djvu": "image/vnd.djvu",
    "zip": "application/zip",
    "csv": "text/csv",
}
_EXTENSION = re.compile(r"\.([a-z0-9]+)(?:\.(?:gz|z))?\Z")


def is_page_type(media_type: str) -> bool:
    """Return True if responses of this type are parsed as pages; those without a type are."""
    return not media_type or media_type in _PAGE_TYPES


def file_kind(media_type: str, url: str) -> str:
    """Return the kind of a file: `document` for PDF, Word and the like, else the media type."""
    media_type = resolve_type(media_type, url)
    return DOCUMENT if media_type.startswith(_DOCUMENT_TYPES) else media_type


def resolve_type(media_type: str, name: str) -> str:
    """Return the type that the server named; if that is meaningless, the type for the extension of `name`.

    `name` is a file name or a URL.
    """
    if media_type and media_type not in _UNSURE_TYPES:
        return media_type
    match = _EXTENSION.search(name.partition("?")[0].rpartition("/")[2].lower())
    return _TYPES_BY_EXTENSION.get(match[1] if match else "", media_type or UNKNOWN)


def accepted_types(kinds: Iterable[str]) -> tuple[str, ...]:
    """Return prefixes of the media types that files of these kinds may be sent with."""
    files = [kind for kind in kinds if kind != PAGE]
    media_types = [kind for kind in files if kind != DOCUMENT]
    documents = _DOCUMENT_TYPES if DOCUMENT in files else ()
    return (*documents, *media_types, *(_UNSURE_TYPES if files else ()))

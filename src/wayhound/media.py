"""Pages and files by their media type: what is read word by word, and what is known by its name and way alone.

Servers often name no type for a file, or one that says nothing; then the ending of its address tells.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

PAGE = "page"
DOCUMENT = "document"
"""Kinds of what a link leads to. A file that is no document for reading has its media type as its kind."""

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
# What servers say of files that they do not know, or that they want to be saved; and of packed ones.
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
_TYPE_OF_ENDING = {
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
_ENDING = re.compile(r"\.([a-z0-9]+)(?:\.(?:gz|z))?\Z")


def is_page_type(media_type: str) -> bool:
    """Whether answers of this type are read as pages; those without a type are."""
    return not media_type or media_type in _PAGE_TYPES


def file_kind(media_type: str, url: str) -> str:
    """The kind of a file: PDF and Word are one kind to somebody who wants reports, a picture is another."""
    media_type = resolve_type(media_type, url)
    return DOCUMENT if media_type.startswith(_DOCUMENT_TYPES) else media_type


def resolve_type(media_type: str, name: str) -> str:
    """The type that a server names; where it says nothing, that of the ending of a file's name or address."""
    if media_type and media_type not in _UNSURE_TYPES:
        return media_type
    found = _ENDING.search(name.partition("?")[0].rpartition("/")[2].lower())
    return _TYPE_OF_ENDING.get(found[1] if found else "", media_type or UNKNOWN)


def accepted_types(kinds: Iterable[str]) -> tuple[str, ...]:
    """How the media types begin that files of these kinds may come as."""
    files = [kind for kind in kinds if kind != PAGE]
    named = [kind for kind in files if kind != DOCUMENT]
    documents = _DOCUMENT_TYPES if DOCUMENT in files else ()
    return (*documents, *named, *(_UNSURE_TYPES if files else ()))

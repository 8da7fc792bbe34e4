"""Statements of a PDF about itself: its document information, and the XMP packet that publishers write into it.

Publishers name journal, volume, pages and DOI in the vocabulary PRISM. Titles are written by many programs, and some
write a file name; whoever uses a title therefore compares it with what the pages print.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping

_MAX_PACKET = 200_000  # bytes
_MAX_PACKETS = 20  # pictures within a file have packets of their own
_MAX_VALUE = 500  # characters
_PACKET = re.compile(rb"<x:xmpmeta\b")
_PACKET_END = b"</x:xmpmeta>"
_ELEMENT = re.compile(r"<((?:prism|dc|pdfx|crossmark):\w+)\b[^<>/]*>(.{1,4000}?)</\1>", re.DOTALL)
_ATTRIBUTE = re.compile(r'\b((?:prism|pdfx|crossmark):\w+)\s*=\s*"([^"<>]{1,500})"')
_ITEM = re.compile(r"<rdf:li\b[^>]*>(.*?)</rdf:li>", re.DOTALL)
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]{2,200}")
_DOI_NAMES = ("prism:doi", "crossmark:doi", "pdfx:doi", "dc:identifier")
_DATE_NAMES = ("prism:coverdate", "prism:publicationdate", "prism:coverdisplaydate")
_YEAR = re.compile(r"(?!1970-01-01)\b(?:19|20)\d\d\b")  # but the beginning of Unix's time is no date


def stated_fields(information: Mapping[str, str], body: bytes) -> dict[str, tuple[str, ...]]:
    """Return title, journal or booktitle, volume, number, pages, year and DOI, as far as a file states them."""
    packet = _packet_values(body)
    kind = packet.get("prism:aggregationtype", "")
    venue = "booktitle" if re.search(r"book|proceeding|conference", kind, re.IGNORECASE) else "journal"
    first = packet.get("prism:startingpage", "")
    last = packet.get("prism:endingpage", "")
    dates = (match[0] for name in _DATE_NAMES if (match := _YEAR.search(packet.get(name, ""))))
    dois = (match[0] for name in _DOI_NAMES if (match := _DOI.search(packet.get(name, ""))))
    found = {
        "title": _text(information.get("Title", "")) or packet.get("dc:title", ""),
        venue: packet.get("prism:publicationname", ""),
        "volume": packet.get("prism:volume", ""),
        "number": packet.get("prism:number", ""),
        "pages": f"{first}-{last}" if first and last else packet.get("prism:pagerange", first),
        "year": next(dates, ""),
        "doi": next(dois, "").rstrip(".,;)]"),
    }
    return {name: (text,) for name, text in found.items() if text}


def _packet_values(body: bytes) -> dict[str, str]:
    """Return the first value of each name in the packets of a file, by its name in lower case."""
    values: dict[str, str] = {}
    for packet in _packets(body):
        for name, text in [*_ELEMENT.findall(packet), *_ATTRIBUTE.findall(packet)]:
            items = _ITEM.findall(text)
            if value := _text(items[0] if items else text):
                values.setdefault(name.lower(), value)
    return values


def _packets(body: bytes) -> Iterator[str]:
    for number, match in enumerate(_PACKET.finditer(body)):
        if number == _MAX_PACKETS:
            return
        end = body.find(_PACKET_END, match.start(), match.start() + _MAX_PACKET)
        if end > 0:
            yield body[match.start() : end].decode("utf-8", "replace")


def _text(value: str) -> str:
    """Return a value without markup and control characters; empty if it is too long to be one."""
    plain = html.unescape(re.sub(r"<[^<>]{0,200}>", " ", value))
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in plain).split())
    return text if len(text) <= _MAX_VALUE else ""

"""What machines read in the head of a record's page: `citation_*` tags, COinS and JSON-LD."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from trailmark.record import Record
from trailmark.serve.portal.addresses import record_url

_YEAR = re.compile(r"\d{4}")
_TAGS = {"journal": "citation_journal_title", "booktitle": "citation_conference_title",
         "institution": "citation_technical_report_institution", "volume": "citation_volume",
         "number": "citation_issue", "publisher": "citation_publisher", "doi": "citation_doi",
         "abstract": "citation_abstract"}  # fmt: skip
_COINS = {"journal": "rft.jtitle", "booktitle": "rft.btitle", "volume": "rft.volume", "number": "rft.issue",
          "pages": "rft.pages", "publisher": "rft.pub"}  # fmt: skip


def meta_tags(record: Record, base_url: str, pdf_url: str) -> list[tuple[str, str]]:
    """As Google Scholar and Zotero read them."""
    tags = [("citation_title", record.first("title"))]
    tags += [("citation_author", value.text) for value in record.fields.get("author", ())]
    tags += [("citation_publication_date", _year(record))]
    tags += [(tag, record.first(name)) for name, tag in _TAGS.items()]
    tags += zip(("citation_firstpage", "citation_lastpage"), _pages(record), strict=False)
    tags += [("citation_keywords", value.text) for value in record.fields.get("keyword", ())]
    tags += [("citation_abstract_html_url", base_url + record_url(record.kind, record.id))]
    tags += [("citation_pdf_url", base_url + pdf_url if pdf_url else "")]
    return [(name, " ".join(text.split())) for name, text in tags if text.strip()]


def coins(record: Record) -> str:
    """OpenURL context object for a span's title (Z39.88), which reference managers pick up."""
    is_book = bool(record.first("booktitle"))
    parts = [("ctx_ver", "Z39.88-2004"), ("rft_val_fmt", "info:ofi/fmt:kev:mtx:" + ("book" if is_book else "journal")),
             ("rft.genre", "proceeding" if is_book else "article"), ("rft.atitle", record.first("title")),
             ("rft.date", _year(record))]  # fmt: skip
    parts += [("rft.au", value.text) for value in record.fields.get("author", ())]
    parts += [(tag, record.first(name)) for name, tag in _COINS.items()]
    if doi := record.first("doi"):
        parts.append(("rft_id", f"info:doi/{doi}"))
    return urlencode([(name, text) for name, text in parts if text])


def json_ld(record: Record, base_url: str) -> dict[str, Any]:
    """schema.org's description of a paper."""
    url = base_url + record_url(record.kind, record.id)
    told: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": "ScholarlyArticle",
        "@id": url,
        "url": url,
        "name": record.first("title"),
        "author": [{"@type": "Person", "name": value.text} for value in record.fields.get("author", ())],
        "datePublished": _year(record),
        "abstract": record.first("abstract"),
        "keywords": [value.text for value in record.fields.get("keyword", ())],
        "isPartOf": _part_of(record),
        "sameAs": [value.text for value in record.fields.get("url", ())],
    }
    return {name: value for name, value in told.items() if value}


def as_data_block(data: dict[str, Any]) -> Markup:
    """JSON that may stand in a script element of type application/ld+json, which no browser runs.

    Content policies do not speak of such data blocks. No text in it can end the element, since the letters
    that could are written as escapes.
    """
    text = json.dumps(data, ensure_ascii=True)
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return Markup(safe)  # noqa: S704 - escaped above, in the way that JSON has


def _part_of(record: Record) -> dict[str, str]:
    name = record.first("journal") or record.first("booktitle")
    return {"@type": "Periodical" if record.first("journal") else "Book", "name": name} if name else {}


def _year(record: Record) -> str:
    found = _YEAR.search(record.first("year") or record.first("date"))
    return found[0] if found else ""


def _pages(record: Record) -> list[str]:
    return [part for part in re.split(r"\s*[-–—]+\s*", record.first("pages")) if part][:2]

"""Records of papers in the formats of reference managers: BibTeX, RIS and CSL-JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal
from zlib import crc32

from wayhound.papers.normalise_fields import venue_kind
from wayhound.record import Record
from wayhound.text.person_names import PersonName, split_name
from wayhound.text.words import plain_words

# Field of a record → name or tag in each format.
_BIBTEX = {"title": "title", "year": "year", "volume": "volume", "number": "number", "publisher": "publisher",
           "location": "address", "doi": "doi", "url": "url", "abstract": "abstract"}  # fmt: skip
_RIS = {"title": "TI", "year": "PY", "volume": "VL", "number": "IS", "publisher": "PB", "location": "CY",
        "doi": "DO", "url": "UR", "abstract": "AB"}  # fmt: skip
_CSL = {"title": "title", "volume": "volume", "number": "issue", "publisher": "publisher",
        "location": "publisher-place", "doi": "DOI", "url": "URL", "abstract": "abstract"}  # fmt: skip
_VENUES = ("journal", "booktitle", "institution")
_TEX = {"\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#",
        "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}  # fmt: skip
_TEX_CHARACTER = re.compile(r"[\\{}&%$#_~^]")
_VERBATIM = frozenset({"doi", "url"})  # BibTeX styles print these as they are
_UNSAFE_VERBATIM = re.compile(r"[{}\\\s]")
_YEAR = re.compile(r"\d{4}")
_DASHES = re.compile(r"\s*[-–—]+\s*")
_WORD = re.compile(r"[^\W_]+")
_CAPITAL = re.compile(r"[A-Z]")


def to_bibtex(records: Iterable[Record]) -> str:
    """Return one entry for each record. Its key, such as `lind1999hops-4f1a`, is the same wherever it is exported."""
    return "\n".join(_bibtex_entry(record, key) for record, key in _keyed(records))


def to_ris(records: Iterable[Record]) -> str:
    return "\n".join("".join(f"{tag}  - {text}\n" for tag, text in _ris_lines(record)) for record in records)


def to_csl_json(records: Iterable[Record]) -> str:
    items = [_csl_item(record, key) for record, key in _keyed(records)]
    return json.dumps(items, ensure_ascii=False, indent=1) + "\n"


FORMATS: dict[str, Callable[[Iterable[Record]], str]] = {
    "bibtex": to_bibtex,
    "ris": to_ris,
    "csl-json": to_csl_json,
}


def _keyed(records: Iterable[Record]) -> Iterator[tuple[Record, str]]:
    taken: dict[str, int] = {}
    for record in records:
        key = _key(record)
        taken[key] = taken.get(key, 0) + 1
        yield record, key if taken[key] == 1 else f"{key}-{taken[key]}"


def _key(record: Record) -> str:
    """Return the first author's last name, the year, and the first long word of the title, in ASCII, and the record.

    Two papers of one author, year and word would have one key otherwise, in files that were saved one by one.
    """
    authors, title = _authors(record), plain_words(record.first("title"))
    last = "".join(plain_words(split_name(authors[0]).last)) if authors else ""
    word = next((word for word in title if len(word) > 3), "")
    key = f"{last}{year_of(record)}{word}"
    plain = "".join(letter for letter in key if letter.isascii() and letter.isalnum()) or "paper"
    return f"{plain}-{crc32(f'{record.kind} {record.id}'.encode()) & 0xFFFF:04x}"


EntryKind = Literal["journal", "meeting", "chapter", "report", "doctoral", "thesis", "book", "other"]
_ENTRY_TYPES: dict[EntryKind, tuple[str, str, str]] = {  # in BibTeX, RIS and CSL
    "journal": ("article", "JOUR", "article-journal"),
    "meeting": ("inproceedings", "CPAPER", "paper-conference"),
    "chapter": ("incollection", "CHAP", "chapter"),
    "report": ("techreport", "RPRT", "report"),
    "doctoral": ("phdthesis", "THES", "thesis"),
    "thesis": ("mastersthesis", "THES", "thesis"),
    "book": ("book", "BOOK", "book"),
    "other": ("misc", "GEN", "document"),
}
_DOCTORAL = re.compile(r"\bph\.?\s?d|doct|dissertation|promotion|habilitation", re.IGNORECASE)
_THESIS = re.compile(r"\bthesis\b|\bmaster|\bdiplom|\bbachelor|\bm\.?\s?sc", re.IGNORECASE)
_REPORT = re.compile(
    r"\breports?\b|\bmemo|working paper|discussion paper|arbeitspapier|\bTR\b", re.IGNORECASE
)


def entry_kind(record: Record) -> EntryKind:
    """Return the kind of publication, by the venue of a record, its degree, and the number that it was given."""
    degree, number = record.first("degree"), record.first("pubnum")
    if degree and (_DOCTORAL.search(degree) or _THESIS.search(degree)):
        return "doctoral" if _DOCTORAL.search(degree) else "thesis"
    if record.first("journal"):
        return "journal"
    if record.first("booktitle"):
        names = ("booktitle", "publisher", "editor")
        return (
            "chapter" if venue_kind({name: record.first(name) for name in names}) == "chapter" else "meeting"
        )
    if record.first("institution") or _REPORT.search(number):
        return "report"
    return "book" if record.first("publisher") else "other"


def _bibtex_entry(record: Record, key: str) -> str:
    fields = {name: _one_line(record.first(field)) for field, name in _BIBTEX.items()}
    venue, text = _venue(record)
    fields |= {venue: text, "pages": _DASHES.sub("--", _pages(record)), "year": year_of(record)}
    written = {"author": " and ".join(map(_bibtex_name, _authors(record)))}
    fields["keywords"] = ", ".join(_keywords(record))
    written |= {name: _tex(name, text) for name, text in fields.items() if text}
    lines = [f"  {name} = {{{text}}},\n" for name, text in written.items() if text]
    return f"@{_ENTRY_TYPES[entry_kind(record)][0]}{{{key},\n{''.join(lines)}}}\n"


def _tex(name: str, text: str) -> str:
    if name in _VERBATIM:
        return _UNSAFE_VERBATIM.sub(lambda match: "".join(f"%{byte:02X}" for byte in match[0].encode()), text)
    written = _TEX_CHARACTER.sub(lambda match: _TEX[match[0]], text)
    if (
        name == "title" and not text.isupper()
    ):  # BibTeX styles lower the case of titles, except in braces: {MCMC}
        return _WORD.sub(lambda word: f"{{{word[0]}}}" if _CAPITAL.search(word[0], 1) else word[0], written)
    return written


def _bibtex_name(name: str) -> str:
    """Return `von Last, Jr, First`, in braces if it contains `and`, which would separate two names."""
    parts = split_name(name)
    written = _tex("author", ", ".join(filter(None, (parts.last, parts.suffix, parts.given))))
    return f"{{{written}}}" if re.search(r"\band\b", written, re.IGNORECASE) else written


def _ris_lines(record: Record) -> Iterator[tuple[str, str]]:
    venue, text = _venue(record)
    yield "TY", _ENTRY_TYPES[entry_kind(record)][1]
    for name in _authors(record):
        parts = split_name(name)
        yield "AU", ", ".join(filter(None, (parts.last, parts.given, parts.suffix)))
    for field, tag in _RIS.items():
        value = year_of(record) if field == "year" else _one_line(record.first(field))
        yield from ((tag, value),) if value else ()
    yield from (("KW", word) for word in _keywords(record))
    if text:
        yield {"journal": "JO", "institution": "PB"}.get(venue, "T2"), text
    if venue == "journal":
        yield "T2", text  # some programs read the journal from T2, others from JO
    yield from zip(("SP", "EP"), page_ends(record), strict=False)
    yield "ER", ""


def _csl_item(record: Record, key: str) -> dict[str, Any]:
    venue, text = _venue(record)
    item: dict[str, Any] = {"id": key, "type": _ENTRY_TYPES[entry_kind(record)][2]}
    names = [split_name(name) for name in _authors(record)]
    if names:
        item["author"] = [_csl_name(name) for name in names]
    item |= {name: value for field, name in _CSL.items() if (value := _one_line(record.first(field)))}
    if text:
        item["publisher" if venue == "institution" else "container-title"] = text
    if words := _keywords(record):
        item["keyword"] = ", ".join(words)
    if year := year_of(record):
        item["issued"] = {"date-parts": [[int(year)]]}
    if pages := _pages(record):
        item["page"] = _DASHES.sub("-", pages)
    return item


def _csl_name(name: PersonName) -> dict[str, str]:
    parts = {"family": name.last, "given": name.given, "suffix": name.suffix}
    return {part: text for part, text in parts.items() if text} if name.given else {"literal": name.last}


def _keywords(record: Record) -> list[str]:
    return [text for value in record.fields.get("keyword", ()) if (text := _one_line(value.text))]


def _authors(record: Record) -> list[str]:
    return [text for value in record.fields.get("author", ()) if (text := _one_line(value.text))]


def _venue(record: Record) -> tuple[str, str]:
    for name in _VENUES:
        if text := _one_line(record.first(name)):
            return name, text
    return "", ""


def year_of(record: Record) -> str:
    """Return the year of a record as four digits, or an empty string."""
    match = _YEAR.search(record.first("year") or record.first("date"))
    return match[0] if match else ""


def page_ends(record: Record) -> list[str]:
    """Return the first and the last page of a record, or a single page, or nothing."""
    return [part for part in _DASHES.split(_pages(record)) if part][:2]


def _pages(record: Record) -> str:
    return _one_line(record.first("pages"))


def _one_line(text: str) -> str:
    """Return the text on one line without control characters: a line break would begin a new tag in RIS."""
    if not text.isprintable():
        text = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(text.split())

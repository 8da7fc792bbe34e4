"""A document read as a paper: its fields and references with their places, and the sentences that cite."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from wayhound.documents.document import Document, Line
from wayhound.documents.flow import flow, whole_words
from wayhound.papers.contexts import CitationContext, find_contexts
from wayhound.papers.fields import mended
from wayhound.papers.fields import read_reference as read_reference_fields
from wayhound.papers.header_reader import FrontField, FrontMatter, read_front, read_layout
from wayhound.papers.lexicon import Lexicon
from wayhound.papers.normalise_fields import mail_addresses, normalise_reference, tidy
from wayhound.papers.reference_cut import RawReference, cut_references
from wayhound.papers.sections import find_sections, reference_lines
from wayhound.papers.spans import SpanMaker, find_words
from wayhound.papers.tokens import FieldModel
from wayhound.record import Span, Value
from wayhound.text.numbers import parse_year
from wayhound.text.person_names import parse_names

Fields = dict[str, tuple[Value, ...]]

PEOPLE = frozenset({"author", "editor"})
DERIVED = ("year", "volume", "number", "pages", "venue", "venue_kind")
"""Fields of a reference that are worked out from others, in one spelling."""

_SAID = "Somebody said so."
_BEGINNING = 2_000  # characters that are kept of a document that is no paper
_LONGEST_TITLE = 300
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>]{2,200}")
_BY_PATTERN = 0.9  # how sure of an identifier that looks like one
_BY_LAYOUT = 0.3  # how sure of a title is what the model does not take for one
_WORD = re.compile(r"\S+")
_KEYWORD_HEADING = re.compile(
    r"^(?:key\s?-?\s?words?(?: and phrases)?|index terms|mots[- ]cl[ée]s|schlagw[öo]rter)\s*[:.—–-]*\s*",
    re.IGNORECASE,
)
_FOOTNOTE = re.compile(r"\s*(?:(?<!A)[∗⋆]|[†‡§¶])+\s*$")  # after a title; but IDA∗ is called so
_MARK = re.compile(
    r"^\s*(?:[*∗⋆†‡§¶]+|\(\d{1,2}\)(?=\s)|\d(?=\s+[^\W\d_a-z]))\s*"
)  # that ties a line to names above it
_BETWEEN_KEYWORDS = re.compile(r"\s*[;,•·]\s*|\s[–—-]\s")
_NAMES_A_YEAR = ("date", "pubnum", "note")  # fields in which the year of a paper is looked for, best first


@dataclass(frozen=True, slots=True)
class PaperModels:
    """What fields are found with."""

    header: FieldModel
    reference: FieldModel
    lexicon: Lexicon | None = None


@dataclass(frozen=True, slots=True)
class ReadReference:
    """A reference as printed, and its fields with confidence and place."""

    text: str
    label: str
    fields: Fields


@dataclass(frozen=True, slots=True)
class ReadPaper:
    """What a document says. One that is no paper has a reason, and neither references nor contexts."""

    kind: Literal["paper", "document"]
    reason: str
    fields: Fields
    references: tuple[ReadReference, ...] = ()
    contexts: tuple[CitationContext, ...] = ()


def read_paper(document: Document, models: PaperModels, url: str, kind: str = "") -> ReadPaper:
    """All that a document says; `url` is the name under which the places of its fields are kept.

    `kind` is what a person says it is, `paper` or `document`, whatever its parts say.
    """
    sections, about = find_sections(document), _about(document)
    reason = _SAID if kind else sections.reason
    if (kind or sections.verdict) != "paper":
        return ReadPaper("document", reason, _as_document(document, reason) | about)
    spans = SpanMaker(document, url)
    raw = cut_references(reference_lines(document), whole_words(document.lines))
    references = tuple(_read_reference(each, models, spans) for each in raw)
    front = _front_fields(read_front(document, models.header, sections), spans, models)
    fields = front | _doi(spans, sections.header) | about
    return ReadPaper("paper", reason, fields, references, find_contexts(document, raw, sections))


def derived_fields(fields: Fields, lexicon: Lexicon | None = None) -> Fields:
    """Year, volume, pages and venue of a reference in one spelling, each as sure as what it was taken from."""
    said = {
        name: (" and " if name in PEOPLE else " ").join(value.text for value in values)
        for name, values in fields.items()
    }
    normal = normalise_reference(said, lexicon.is_first_name if lexicon else None)
    derived = {
        "year": (str(normal.year or ""), ("date", "booktitle", "note")),
        "volume": (normal.volume, ("volume",)),
        "number": (normal.number, ("volume",)),
        "pages": (str(normal.pages), ("pages",)),
        "venue": (normal.venue, ("journal", "booktitle", "tech")),
        "venue_kind": (normal.venue_kind, ("journal", "booktitle", "tech", "publisher", "note")),
    }
    return {
        name: (_as_from(fields, origins, text),)
        for name, (text, origins) in derived.items()
        if text and text != "unknown"
    }


def _as_from(fields: Fields, origins: Iterable[str], text: str) -> Value:
    origin = next((fields[name][0] for name in origins if fields.get(name)), Value("", 0.5))
    return replace(origin, text=text)


def _read_reference(raw: RawReference, models: PaperModels, spans: SpanMaker) -> ReadReference:
    fields: dict[str, list[Value]] = {}
    for found in mended(raw.text, read_reference_fields(raw.text, models.reference)):
        value = Value(found.text, found.confidence, spans.in_reference(raw, found.start, found.end))
        fields.setdefault(found.field, []).extend(_parted(found.field, value, models.lexicon))
    kept = {name: tuple(values) for name, values in fields.items() if values}
    return ReadReference(raw.text, raw.label, kept | derived_fields(kept, models.lexicon))


def _parted(field: str, value: Value, lexicon: Lexicon | None) -> Iterator[Value]:
    """People one by one; any other field as it is, tidied."""
    if field in PEOPLE:
        texts = [
            name.full for name in parse_names(value.text, lexicon.is_first_name if lexicon else None).names
        ]
    else:
        texts = [tidy(value.text, field)]
    yield from (replace(value, text=text) for text in texts if text)


def _front_fields(front: FrontMatter, spans: SpanMaker, models: PaperModels) -> Fields:
    fields: dict[str, list[Value]] = {}
    for found in _worth_keeping(front):
        for value in _front_values(found, spans, models.lexicon):
            known = fields.setdefault(found.field, [])
            if value.text.casefold() not in {each.text.casefold() for each in known}:
                known.append(value)
    kept = {name: tuple(values) for name, values in fields.items()}
    if "title" not in kept:
        kept |= _layout_title(spans.document)
    return kept | _year(kept)


def _layout_title(document: Document) -> Fields:
    """For a paper in which the model sees no title: what is printed largest, or first."""
    title = tidy(read_layout(document).title, "title")[:_LONGEST_TITLE]
    return {"title": (Value(title, _BY_LAYOUT),)} if title else {}


def _worth_keeping(front: FrontMatter) -> Iterator[FrontField]:
    """Every field; of titles and abstracts the best alone, for a paper has one."""
    for found in front.fields:
        best = {"title": front.title, "abstract": front.abstract}.get(found.field, found)
        if found is best:
            yield found


def _front_values(found: FrontField, spans: SpanMaker, lexicon: Lexicon | None) -> Iterator[Value]:
    whole = Value(found.text, found.confidence, spans.in_text(found.start, found.end))
    match found.field:
        case "author":
            for person in _parted("author", whole, lexicon):
                yield _placed(person, found, spans)
        case "keyword":
            words = _KEYWORD_HEADING.sub("", " ".join(found.text.split()))
            for word in _BETWEEN_KEYWORDS.split(words):
                yield from _parted("keyword", replace(whole, text=word.rstrip(".")), None)
        case "abstract":
            yield whole
        case "title":
            yield from _parted("title", replace(whole, text=_FOOTNOTE.sub("", found.text)), None)
        case "email":
            for address in mail_addresses(found.text) or [tidy(found.text)]:
                yield _placed(replace(whole, text=address), found, spans)
        case "affiliation" | "note":
            yield from _parted(found.field, replace(whole, text=_MARK.sub("", found.text)), None)
        case _:
            yield from _parted(found.field, whole, None)


def _placed(person: Value, found: FrontField, spans: SpanMaker) -> Value:
    """With the place of the name itself, where its words stand together in the field."""
    words = list(_WORD.finditer(spans.document.text, found.start, found.end))
    at = find_words([word[0] for word in words], person.text)
    if not at:
        return person
    return replace(person, source=spans.in_text(words[at[0]].start(), words[at[-1]].end()))


def _year(fields: Fields) -> Fields:
    for name in _NAMES_A_YEAR:
        for value in fields.get(name, ()):
            if year := parse_year(value.text):
                return {"year": (replace(value, text=str(year)),)}
    return {}


def _doi(spans: SpanMaker, header: range) -> Fields:
    """Of the paper itself: before its body, or in the margin of its first page."""
    document = spans.document
    margin = [line for line in document.pages[0].lines if line.role == "margin"]
    for line in (*document.lines[: header.stop], *margin):
        if found := _DOI.search(line.text):
            place = Span(spans.url, page=line.page, box=line.box)
            return {"doi": (Value(found[0].rstrip(".,;"), _BY_PATTERN, place),)}
    return {}


def _about(document: Document) -> Fields:
    """What is known of the file, whatever it says."""
    about = {
        "file_type": (document.kind,),
        "page_count": (str(len(document.pages)),),
        "remark": document.notes,
    }
    return {name: tuple(map(Value, texts)) for name, texts in about.items() if texts}


def _as_document(document: Document, reason: str) -> Fields:
    first = next((line.text for line in document.lines if line.text.strip()), "")
    title = (read_layout(document).title or first)[:_LONGEST_TITLE]
    texts = {"title": title, "reason": reason, "text": _beginning(document)}
    return {name: (Value(text),) for name, text in texts.items() if text}


def _beginning(document: Document) -> str:
    """The first lines, with words that were cut at their ends whole."""
    lines, at = list[Line](), 0
    for line in document.lines:
        if at > _BEGINNING:
            break
        lines.append(line)
        at += len(line.text) + 1
    running = flow(lines, whole_words(document.lines))
    ends = [*running.offsets[1:], len(running.text) + 1]
    parts = (running.text[start:end] for start, end in zip(running.offsets, ends, strict=True))
    return "".join(f"{part[:-1]}\n" if part.endswith(" ") else part for part in parts)[:_BEGINNING]

"""Fields of headers and references as spans of text, and repair of their ends by punctuation.

A closing bracket belongs to the field that opened it, a title in quotation marks ends with them, and no name
after "editors," is an editor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from wayhound.papers.models import shipped_crf
from wayhound.papers.tokens import (
    FieldModel,
    Labelling,
    Segment,
    Token,
    TokenLine,
    reference_line,
    token_line,
    truncated,
)

MAX_WORDS = 2_000
"""Words of a header or reference that are read; those after them belong to no field."""

_WITHOUT_VALUE = frozenset({"intro", "page"})  # labels for the models alone


@dataclass(frozen=True, slots=True)
class FieldSpan:
    """A field: the characters [start, end) of the text that was read.

    `text` is on one line, with words cut at line ends rejoined; `confidence` is the probability that all its
    words belong to the field.
    """

    field: str
    text: str
    start: int
    end: int
    confidence: float


def read_header(lines: Sequence[str], model: FieldModel | None = None) -> list[FieldSpan]:
    """Return the fields of a header given as plain lines; offsets are those of the lines joined by line ends.

    For a document with layout, see `header_reader.read_front_matter`.
    """
    offsets, offset = list[int](), 0
    for line in lines:
        offsets.append(offset)
        offset += len(line) + 1
    words = truncated([token_line(line) for line in lines], MAX_WORDS)
    return field_spans(words, offsets, (model or shipped_crf("header")).label(words))


def read_reference(text: str, model: FieldModel | None = None) -> list[FieldSpan]:
    """Return the fields of a single reference without its label."""
    words = truncated([reference_line(text)], MAX_WORDS)
    return field_spans(words, [0], (model or shipped_crf("reference")).label(words))


def field_spans(lines: Sequence[TokenLine], offsets: Sequence[int], labelling: Labelling) -> list[FieldSpan]:
    """Return the fields of labelled lines in order; line i begins at `offsets[i]` of the text."""
    tokens = [(offsets[number], token) for number, line in enumerate(lines) for token in line.tokens]
    segments = [segment for segment in labelling.segments if segment.field not in _WITHOUT_VALUE]
    return [_span(segment, tokens[segment.first : segment.last]) for segment in segments]


def texts_by_field(fields: Sequence[FieldSpan]) -> Mapping[str, str]:
    """Return the text of each field for `normalise_reference`; the texts of repeated fields are joined."""
    texts: dict[str, str] = {}
    for span in fields:
        texts[span.field] = f"{texts[span.field]} {span.text}" if span.field in texts else span.text
    return texts


def _span(segment: Segment, tokens: Sequence[tuple[int, Token]]) -> FieldSpan:
    text, before = "", None
    for line, token in tokens:
        text = _joined(text, token.text, new_line=line != before)
        before = line
    (first, begins), (last, ends) = tokens[0], tokens[-1]
    return FieldSpan(segment.field, text, first + begins.start, last + ends.end, segment.confidence)


def _joined(text: str, word: str, *, new_line: bool) -> str:
    """Return the text with one more word; a word cut at the end of a line is rejoined."""
    cut = new_line and len(text) > 2 and text.endswith("-") and text[-2].isalpha() and word[0].islower()
    return text[:-1] + word if cut else f"{text} {word}".strip()


_OPEN_DATE = re.compile(r"\(\s*\d{4}[a-z]?\s*,?\s*$")
_REST_OF_DATE = re.compile(r"[^\W\d_][^()]{0,20}\)[.,:;]*\s*")
_OPEN_REPORT = re.compile(r"\s*\(\s*(?:Tech\w*|Working|Unpublished)\.?\s*$", re.IGNORECASE)
_ROLE = re.compile(r"[(\[]?\b(?:eds?|editors?)\b[.)\]]*\s*,?\s*(?=\w)", re.IGNORECASE)
_QUOTED = re.compile(r"[“\"][^“”\"]{8,}[”\"][,.]?\s*(?!URL\b|https?:|www\.)(?=\S\S)")
_NAME = re.compile(r"\b(?!in\b)[^\W\d_]{2,}", re.IGNORECASE)
_IN = re.compile(r"in\b", re.IGNORECASE)
_VENUES = frozenset({"journal", "booktitle", "tech"})


def repair_fields(text: str, fields: Sequence[FieldSpan]) -> list[FieldSpan]:
    """Return the fields of the reference `text` with their ends moved to where its punctuation puts them."""
    spans = list(fields)
    for at in range(len(spans) - 1):
        spans[at], spans[at + 1] = _repair_border(text, spans[at], spans[at + 1])
    parts = [part for span in spans for part in _cut(text, span, spans)]
    return [span for span in parts if span.text]


def _repair_border(text: str, left: FieldSpan, right: FieldSpan) -> tuple[FieldSpan, FieldSpan]:
    """Keep brackets together: `(2006 | May). Title` and `Title (Tech. | Rep. 7)`."""
    rest = _REST_OF_DATE.match(right.text) if left.field == "date" and _OPEN_DATE.search(left.text) else None
    if rest:
        cut = right.start + rest.end()
        return _moved(text, left, left.start, cut), _moved(text, right, cut, right.end)
    opened = _OPEN_REPORT.search(left.text) if right.field == "tech" else None
    if opened:
        cut = left.start + opened.start()
        return _moved(text, left, left.start, cut), _moved(text, right, cut, right.end)
    return left, right


def _cut(text: str, span: FieldSpan, spans: Sequence[FieldSpan]) -> list[FieldSpan]:
    """Cut a title or list of editors that continues with a venue, if no other venue is named."""
    end = _real_end(span)
    if not end or any(other.field in _VENUES for other in spans):
        return [span]
    cut = span.start + end.end()
    journal = span.field == "title" and not _IN.match(span.text, end.end())
    venue = replace(span, field="journal" if journal else "booktitle")
    return [_moved(text, span, span.start, cut), _moved(text, venue, cut, span.end)]


def _real_end(span: FieldSpan) -> re.Match[str] | None:
    """Match a title up to its closing quotation mark, or editors up to the role after their names."""
    if span.field == "title":
        return _QUOTED.match(span.text)
    role = _ROLE.search(span.text) if span.field == "editor" else None
    return role if role and _NAME.search(span.text, 0, role.start()) else None


def _moved(text: str, span: FieldSpan, start: int, end: int) -> FieldSpan:
    return replace(span, text=text[start:end].strip(), start=start, end=end)

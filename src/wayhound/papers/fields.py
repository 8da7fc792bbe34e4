"""Ends of fields that punctuation settles, whatever a model makes of the words.

A closing bracket belongs to the field that opened it, a title in quotation marks ends with them, and nobody
behind "editors," is an editor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from wayhound.papers.shipped import shipped_crf
from wayhound.papers.tokens import (
    FieldModel,
    Labelling,
    Segment,
    Token,
    TokenLine,
    first_words,
    reference_line,
    token_line,
)

MOST_WORDS = 2_000
"""Of a header or reference; words beyond them belong to no field."""

NOT_SHOWN = frozenset({"intro", "page"})


@dataclass(frozen=True, slots=True)
class FieldSpan:
    """A field as found: the characters [start, end) of the text that was read.

    `text` is what they say, on one line and with cut words whole; `confidence` is the probability that all
    its words belong to the field.
    """

    field: str
    text: str
    start: int
    end: int
    confidence: float


def read_header(lines: Sequence[str], model: FieldModel | None = None) -> list[FieldSpan]:
    """The fields of a header of bare lines; spans count in the lines joined by line ends.

    For a document, whose layout tells more, see `header_reader.read_front`.
    """
    starts, at = list[int](), 0
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    words = first_words([token_line(line) for line in lines], MOST_WORDS)
    return spans_of(words, starts, (model or shipped_crf("header")).label(words))


def read_reference(text: str, model: FieldModel | None = None) -> list[FieldSpan]:
    """The fields of a single reference, given without its label."""
    words = first_words([reference_line(text)], MOST_WORDS)
    return spans_of(words, [0], (model or shipped_crf("reference")).label(words))


def spans_of(lines: Sequence[TokenLine], starts: Sequence[int], labelling: Labelling) -> list[FieldSpan]:
    """The fields of labelled lines in order, where `starts` is where each line begins in the text."""
    tokens = [(starts[number], token) for number, line in enumerate(lines) for token in line.tokens]
    shown = [segment for segment in labelling.segments if segment.field not in NOT_SHOWN]
    return [_span(segment, tokens[segment.first : segment.last]) for segment in shown]


def by_name(fields: Sequence[FieldSpan]) -> Mapping[str, str]:
    """The text of each field, as `normalise_reference` takes it; where a field comes twice, both."""
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
    """The text and one more word; a word that was cut at the end of a line is whole again."""
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


def mended(text: str, fields: Sequence[FieldSpan]) -> list[FieldSpan]:
    """The fields of the reference `text` with their ends where its punctuation says."""
    spans = list(fields)
    for at in range(len(spans) - 1):
        spans[at], spans[at + 1] = _between(text, spans[at], spans[at + 1])
    whole = [part for span in spans for part in _cut(text, span, spans)]
    return [span for span in whole if span.text]


def _between(text: str, left: FieldSpan, right: FieldSpan) -> tuple[FieldSpan, FieldSpan]:
    """`(2006 | May). Title` and `Title (Tech. | Rep. 7)`: the bracket stays whole."""
    rest = _REST_OF_DATE.match(right.text) if left.field == "date" and _OPEN_DATE.search(left.text) else None
    if rest:
        return _placed(text, left, left.start, right.start + rest.end()), _placed(
            text, right, right.start + rest.end(), right.end
        )
    opened = _OPEN_REPORT.search(left.text) if right.field == "tech" else None
    if opened:
        cut = left.start + opened.start()
        return _placed(text, left, left.start, cut), _placed(text, right, cut, right.end)
    return left, right


def _cut(text: str, span: FieldSpan, spans: Sequence[FieldSpan]) -> list[FieldSpan]:
    """A title or list of editors that runs on into a venue, where no other venue is named."""
    found = _runs_on(span)
    if not found or any(each.field in _VENUES for each in spans):
        return [span]
    cut = span.start + found.end()
    journal = span.field == "title" and not _IN.match(span.text, found.end())
    venue = replace(span, field="journal" if journal else "booktitle")
    return [_placed(text, span, span.start, cut), _placed(text, venue, cut, span.end)]


def _runs_on(span: FieldSpan) -> re.Match[str] | None:
    """A title behind its closing quotation mark, editors behind the role that stands after their names."""
    if span.field == "title":
        return _QUOTED.match(span.text)
    found = _ROLE.search(span.text) if span.field == "editor" else None
    return found if found and _NAME.search(span.text, 0, found.start()) else None


def _placed(text: str, span: FieldSpan, start: int, end: int) -> FieldSpan:
    return replace(span, text=text[start:end].strip(), start=start, end=end)

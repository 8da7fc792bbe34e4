"""Ends of fields that punctuation settles, whatever a model makes of the words.

A closing bracket belongs to the field that opened it, a title in quotation marks ends with them, and nobody
behind "editors," is an editor.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from trailmark.extract.papers.fields import FieldSpan

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

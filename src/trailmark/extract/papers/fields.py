"""From labelled words to fields: their text as a reader would give it, where it stands, and how sure it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trailmark.extract.papers.labelling import FieldModel, Labelling, Segment
from trailmark.extract.papers.shipped import header_model, reference_model
from trailmark.extract.papers.tokens import Token, TokenLine, first_words, reference_line, token_line

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
    return spans_of(words, starts, (model or header_model()).label(words))


def read_reference(text: str, model: FieldModel | None = None) -> list[FieldSpan]:
    """The fields of a single reference, given without its label."""
    words = first_words([reference_line(text)], MOST_WORDS)
    return spans_of(words, [0], (model or reference_model()).label(words))


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

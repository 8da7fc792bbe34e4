"""From labelled words to fields: their text as a reader would give it, and where in the lines they stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trailmark.extract.papers.labelling import Labelling, Segment
from trailmark.extract.papers.tokens import Token, TokenLine

_NOT_SHOWN = frozenset({"intro", "page"})


@dataclass(frozen=True, slots=True)
class Part:
    """The characters [start, end) of the line with that number."""

    line: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class FoundField:
    """A field as found: its name, text, the probability that all its words belong to it, and its parts."""

    name: str
    text: str
    confidence: float
    parts: tuple[Part, ...]


def fields_of(lines: Sequence[TokenLine], labelling: Labelling) -> list[FoundField]:
    """The fields of a text in order; headings of what follows are none."""
    tokens = [(number, token) for number, line in enumerate(lines) for token in line.tokens]
    shown = [segment for segment in labelling.segments if segment.field not in _NOT_SHOWN]
    return [_field(segment, tokens[segment.first : segment.last]) for segment in shown]


def by_name(fields: Sequence[FoundField]) -> Mapping[str, str]:
    """The text of each field; where a reference has a field twice, both."""
    texts: dict[str, str] = {}
    for field in fields:
        texts[field.name] = f"{texts[field.name]} {field.text}" if field.name in texts else field.text
    return texts


def _field(segment: Segment, tokens: Sequence[tuple[int, Token]]) -> FoundField:
    parts: list[Part] = []
    text = ""
    for line, token in tokens:
        new_line = not parts or parts[-1].line != line
        text = _joined(text, token.text, new_line=new_line)
        start = token.start if new_line else parts.pop().start
        parts.append(Part(line, start, token.end))
    return FoundField(segment.field, text, segment.confidence, tuple(parts))


def _joined(text: str, word: str, *, new_line: bool) -> str:
    """The text and one more word; a word that was cut at the end of a line is whole again."""
    cut = new_line and len(text) > 2 and text.endswith("-") and text[-2].isalpha() and word[0].islower()
    return text[:-1] + word if cut else f"{text} {word}".strip()

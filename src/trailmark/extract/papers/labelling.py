"""What a token model answers, whichever it is: a field for every word, and how sure it is of each run of
words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from trailmark.errors import ModelError
from trailmark.extract.papers.tokens import TokenLine

Kind = Literal["header", "reference"]


@dataclass(frozen=True, slots=True)
class Segment:
    """Words [first, last) that are one field, and the probability that all of them are."""

    field: str
    first: int
    last: int
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Labelling:
    """The field of every word, and the runs of words of one field."""

    labels: tuple[str, ...]
    segments: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Hint:
    """What is known of a word from elsewhere: the log of how many times likelier it makes the field."""

    word: int
    field: str
    weight: float


class FieldModel(Protocol):
    """Finds the fields of headers, or of references."""

    def label(self, lines: Sequence[TokenLine], hints: Sequence[Hint] = ()) -> Labelling: ...


def checked_kind(said: object) -> Kind:
    """What a model file says that it is for."""
    if said == "header":
        return "header"
    if said == "reference":
        return "reference"
    raise ModelError(f"This model is neither for headers nor for references, but for {said!r}.")


def runs(labels: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """The label, beginning and end of each run of equal labels."""
    first = 0
    for place in range(1, len(labels) + 1):
        if place == len(labels) or labels[place] != labels[first]:
            yield labels[first], first, place
            first = place

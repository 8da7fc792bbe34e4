"""Extracted facts, each with the place it came from."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Span:
    """Where a value stands: a page of the archive or a document, and the characters or box in it."""

    url: str
    start: int = 0
    end: int = 0
    page: int = 0  # page of a document, from 1; 0 where there are no pages
    box: tuple[float, float, float, float] | None = None  # left, top, right, bottom in points


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a field, how sure we are of it, and where it was read."""

    text: str
    confidence: float = 1.0
    source: Span | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """Facts of one kind (`paper`, `contact`, …) about one thing. Fields may hold several values."""

    kind: str
    id: str
    fields: dict[str, tuple[Value, ...]] = field(default_factory=dict)
    site: str = ""
    visit: int | None = None

    def first(self, name: str) -> str:
        values = self.fields.get(name, ())
        return values[0].text if values else ""

"""Extracted facts, each with the place that it was read from."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Span:
    """A place in an archived page or a document: a range of characters, or a box on a page."""

    url: str
    start: int = 0
    end: int = 0
    page: int = 0  # of a document, from 1; 0 for what has no pages
    box: tuple[float, float, float, float] | None = None  # left, top, right, bottom in points


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a field, with the confidence in it from 0 to 1 and its source."""

    text: str
    confidence: float = 1.0
    source: Span | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """Facts of one kind (`paper`, `page`, …) about one thing. A field may have several values.

    `site` is the start URL of the site it was found on, and `visit` the number of the visit in `run`.
    """

    kind: str
    id: str
    fields: dict[str, tuple[Value, ...]] = field(default_factory=dict)
    site: str = ""
    visit: int | None = None
    run: int | None = None

    def first(self, name: str) -> str:
        """Return the first value of a field; empty if there is none."""
        values = self.fields.get(name, ())
        return values[0].text if values else ""

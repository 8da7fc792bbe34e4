"""A plugin for Wayhound: a scorer, an extractor and the kind of record that it makes; and some that are broken."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from wayhound import (
    FactRequest,
    FieldSpec,
    FoundFact,
    GoalContent,
    KindSpec,
    Rated,
    Reading,
    Record,
    StrategyInput,
    Value,
)

PHONE = KindSpec(
    "phone",
    "Phone number",
    "Phone numbers",
    (FieldSpec("number", "title"), FieldSpec("company", "facet"), FieldSpec("url", "link", "Page")),
)

_NUMBER = re.compile(r"\d{3}[- ]\d{4,5}(?: \d{3})?")


def find_phones(goal: GoalContent) -> Iterator[Record]:
    """Make a record of every phone number on a goal page."""
    company = goal.title.split("·")[-1].strip()
    for number in dict.fromkeys(_NUMBER.findall(goal.text)):
        texts = {"number": number, "company": company, "url": goal.url}
        yield Record("phone", f"{goal.url}#{number}", {name: (Value(text),) for name, text in texts.items()})


class HarbourFirst:
    """Follows links with a keyword in their text first; a page is a goal if its title has one."""

    def __init__(self, given: StrategyInput) -> None:
        self._words = tuple(word.lower() for word in given.keywords)

    def start(self, site: object) -> None:
        return None

    def read(self, state: object, page: object) -> Reading:
        return Reading(label="harbour", goal=float(self._says(getattr(page, "title", ""))))

    def rate(self, reading: Reading, links: Sequence[object]) -> list[Rated]:
        return [Rated(0.9 if self._says(getattr(link, "text", "")) else 0.1) for link in links]

    def combine(self, known: float, new: float) -> float:
        return max(known, new)

    def _says(self, text: str) -> bool:
        return any(word in text.lower() for word in self._words)


class MoodyScorer(HarbourFirst):
    """Fails in the middle of a forage."""

    def rate(self, reading: Reading, links: Sequence[object]) -> list[Rated]:
        raise RuntimeError("not today")


def shapeless(given: StrategyInput) -> object:
    """Makes something that is not a scorer."""
    return object()


def fail_on_every_page(goal: GoalContent) -> Iterator[Record]:
    raise ValueError("no harbour here")


def refuse(page: FactRequest) -> list[FoundFact]:
    """An extractor of facts that always fails."""
    raise TimeoutError("the oracle sleeps")


class _Oracle:
    """An extractor of facts that costs ten cents a page."""

    money_per_page = 0.1

    def __call__(self, page: FactRequest) -> list[FoundFact]:
        return [FoundFact("registration", f"HRB {len(page.url)}", 0.7)]


Oracle = _Oracle()

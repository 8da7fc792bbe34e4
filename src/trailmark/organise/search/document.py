"""A record as the index takes it: the same few places for any kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256

from trailmark.organise.hubs import HubScores

TOPIC_SEPARATOR = " › "
LONGEST_KEY = 1_000  # characters
SCORE_DIGITS = 4  # of scores from 0 to 1: what differs by less changes no order that anybody sees


@dataclass(frozen=True, slots=True)
class IndexDocument:
    """What is searched, shown, counted and sorted by of one record.

    `text` is shown in snippets. `fields` are searched by their names and among all words; `facets` are
    counted by their values and only that.
    """

    kind: str
    id: str
    title: str = ""
    people: tuple[str, ...] = ()
    venue: str = ""
    topics: tuple[tuple[str, ...], ...] = ()  # paths from the top
    site: str = ""  # host name
    date: int | None = None  # year, month and day as one number: 19990700 is July 1999
    text: tuple[str, ...] = ()
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    facets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    cited: int = 0
    scores: HubScores = HubScores()  # noqa: RUF009 - frozen
    topic_scores: Mapping[tuple[str, ...], HubScores] = field(default_factory=dict)  # among a topic's papers
    change: int = 0  # of the store when it was read: larger is newer
    held: bool = True  # False: no more is known of it than what others say who cite it

    @property
    def year(self) -> int | None:
        return None if self.date is None else self.date // 10_000

    @property
    def key(self) -> str:
        return key_of(self.kind, self.id)


def key_of(kind: str, record_id: str) -> str:
    """One text for kind and id: the unit separator stands in no kind. The index takes no endless ones."""
    key = storable(f"{kind}\x1f{record_id}")
    return key if len(key) <= LONGEST_KEY else sha256(key.encode()).hexdigest()


def storable(text: str) -> str:
    """Without lone surrogates: hostile pages hold them, and UTF-8 has no place for them."""
    return text.encode("utf-8", "replace").decode("utf-8")

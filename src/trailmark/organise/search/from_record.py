"""Makes a document of the index from a record of any kind, by what its fields are declared to be good for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from trailmark.organise.hubs import HubScores
from trailmark.organise.search.document import IndexDocument
from trailmark.record import Record
from trailmark.record_kinds import KINDS, KindSpec, Role, spec_of

VENUE_FIELDS = ("journal", "booktitle", "institution", "venue")
"""Where a record appeared, whatever the field is called; the first that has a value counts."""

_ROLES: tuple[Role, ...] = ("title", "people", "date", "text")
_DATE = re.compile(r"(?<!\d)(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?!\d)")


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of a record beside its own fields."""

    topics: tuple[tuple[str, ...], ...] = ()
    cited: int = 0
    scores: HubScores = HubScores()  # noqa: RUF009 - frozen
    topic_scores: Mapping[tuple[str, ...], HubScores] = field(default_factory=dict)
    change: int = 0


_UNKNOWN = Standing()


def document_of(
    record: Record, standing: Standing = _UNKNOWN, kinds: Mapping[str, KindSpec] = KINDS
) -> IndexDocument:
    spec = spec_of(record.kind, record.fields, kinds)
    texts = {name: _texts(record, name) for name in record.fields}
    roles = {name: spec.field(name).role for name in texts}
    by_role = {role: _joined(roles, texts, role) for role in _ROLES}
    venue = next((texts[name][0] for name in VENUE_FIELDS if texts.get(name)), "")
    return IndexDocument(
        record.kind,
        record.id,
        _title(by_role["title"], texts),
        by_role["people"],
        venue,
        standing.topics,
        host_of(record.site),
        date_of(by_role["date"] or texts.get("date", ())),
        by_role["text"],
        {name: values for name, values in texts.items() if _is_searched(name, roles[name])},
        {name: values for name, values in texts.items() if _is_facet(name, roles[name])},
        standing.cited,
        standing.scores,
        standing.topic_scores,
        standing.change,
    )


def _texts(record: Record, name: str) -> tuple[str, ...]:
    return tuple(text for value in record.fields[name] if (text := value.text.strip()))


def _joined(roles: Mapping[str, Role], texts: Mapping[str, tuple[str, ...]], role: Role) -> tuple[str, ...]:
    return tuple(text for name, values in texts.items() if roles[name] == role for text in values)


def _title(titles: tuple[str, ...], texts: Mapping[str, tuple[str, ...]]) -> str:
    """Its title, or else the first thing it says of itself, on one line."""
    first = next((values[0] for values in (titles, *texts.values()) if values), "")
    return " ".join(first.split())[:500]


def _is_searched(name: str, role: Role) -> bool:
    """Fields that have no place of their own; the parts of an address would only be noise."""
    return role in ("facet", "plain") and name not in VENUE_FIELDS


def _is_facet(name: str, role: Role) -> bool:
    return role == "facet" and name not in VENUE_FIELDS


def date_of(texts: tuple[str, ...]) -> int | None:
    """Year, month and day as one number: of `1999-07` 19990700. The first year that can be read counts."""
    for text in texts:
        if found := _DATE.search(text):
            year, month, day = (int(part or 0) for part in found.groups())
            return year * 10_000 + month * 100 + day
    return None


def host_of(site: str) -> str:
    """The name of the site's host; of what is no address, the text itself."""
    try:
        return urlsplit(site).hostname or site
    except ValueError:
        return site

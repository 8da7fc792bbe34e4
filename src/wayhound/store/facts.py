"""Facts of pages with their provenance, and what people decided: corrections, examples, splits and merges."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from wayhound.entities.fact import Fact
from wayhound.entities.graph import Claim, Description
from wayhound.record import Record
from wayhound.store.database import Database
from wayhound.store.records import RecordStore
from wayhound.store.visits import archive_ref
from wayhound.visit import ArchiveRef

_PAGES = (
    "SELECT site.id, start, run_id, number, url, content_type, digest, tier <> '', depth, archive_file, "
    "archive_offset, archive_length, title, about FROM site CROSS JOIN visit ON visit.site_id = site.id "
    "WHERE (run_id = ?1 OR ?1 IS NULL) AND (start = ?2 OR ?2 IS NULL) AND outcome = 'ok' AND archive_file IS NOT NULL "
    "ORDER BY run_id, site.id, number"
)


@dataclass(frozen=True, slots=True)
class ArchivedPage:
    """A page of a forage that facts can be read from."""

    site_id: int
    site: str
    run: int
    number: int
    url: str
    content_type: str
    digest: str
    is_goal: bool
    depth: int
    archived: ArchiveRef
    title: str = ""
    about: str = ""  # the rest of the row of the table that named the site


@dataclass(frozen=True, slots=True)
class FactReading:
    """The facts that an extractor which costs time or money found on a page, and the cost."""

    extractor: str
    url: str
    digest: str
    facts: tuple[Fact, ...]
    seconds: float = 0.0
    money: float = 0.0


class FactStore:
    """Descriptions by kind and key; saving one again replaces it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._records = RecordStore(database)

    # Pages to read

    def sites(
        self, run_id: int | None = None, start: str | None = None
    ) -> Iterator[tuple[str, list[ArchivedPage]]]:
        """Yield the start page of each site, or of one, with its archived pages; of several runs, the newest."""
        rows = self._database.stream(_PAGES, (run_id, start))
        newest: dict[str, int] = {}
        pages: dict[str, list[ArchivedPage]] = {}
        for row in rows:
            page = _page(row)
            if newest.get(page.site) != page.site_id:
                newest[page.site], pages[page.site] = page.site_id, []
            pages[page.site].append(page)
        yield from pages.items()

    def outcomes(self, run_id: int | None = None) -> dict[str, tuple[str, str, int]]:
        """Return state, reason and number of requests of each site, by start page; of several runs, the newest."""
        rows = self._database.execute(
            "SELECT start, state, reason, spent FROM site WHERE run_id = ?1 OR ?1 IS NULL ORDER BY run_id",
            (run_id,),
        )
        return {start: (state, reason or "", spent) for start, state, reason, spent in rows}

    # Descriptions

    def states(self, kind: str) -> dict[str, str]:
        """Return the digest of what each description was made from, by key."""
        return dict(
            self._database.execute(
                "SELECT key, state FROM fact_page WHERE kind = ? ORDER BY key", (kind,)
            ).fetchall()
        )

    def save(self, kind: str, description: Description, site: str, run: int | None, state: str) -> None:
        """Save what a page says, in one transaction."""
        with self._database.transaction():
            self._database.execute(
                "INSERT INTO fact_page (kind, key, site, domain, run, state) VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (kind, key) DO UPDATE SET site = excluded.site, domain = excluded.domain, "
                "run = excluded.run, state = excluded.state, entity = ''",
                (kind, description.key, site, description.domain, run, state),
            )
            self._database.execute("DELETE FROM fact WHERE kind = ? AND key = ?", (kind, description.key))
            for number, claim in enumerate(description.claims):
                place = claim.url, claim.start, claim.end, claim.source
                self._database.execute(
                    'INSERT INTO fact (kind, key, number, field, text, confidence, url, start, "end", source) '
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (kind, description.key, number, claim.field, claim.text, claim.confidence, *place),
                )

    def place(self, kind: str, entities: Mapping[str, str]) -> None:
        """Keep the record of the entity that each description belongs to, by key."""
        with self._database.transaction():
            for key, entity in entities.items():
                self._database.execute(
                    "UPDATE fact_page SET entity = ?1 WHERE kind = ?2 AND key = ?3 AND entity <> ?1",
                    (entity, kind, key),
                )

    def companions(self, kind: str, key: str) -> tuple[str, ...]:
        """Return the keys of the other descriptions of the same entity."""
        rows = self._database.execute(
            "SELECT other.key FROM fact_page JOIN fact_page AS other "
            "ON other.kind = fact_page.kind AND other.entity = fact_page.entity AND other.key <> fact_page.key "
            "WHERE fact_page.kind = ? AND fact_page.key = ? AND fact_page.entity <> '' ORDER BY other.key",
            (kind, key),
        )
        return tuple(other for (other,) in rows)

    def descriptions(self, kind: str) -> Iterator[tuple[str, int | None, Description]]:
        """Yield start page of the site, run and description, in order of key."""
        pages = {
            key: (site, domain, run)
            for key, site, domain, run in self._database.execute(
                "SELECT key, site, domain, run FROM fact_page WHERE kind = ? ORDER BY key", (kind,)
            )
        }
        rows = self._database.stream(
            'SELECT key, field, text, confidence, url, start, "end", source FROM fact WHERE kind = ? '
            "ORDER BY key, number",
            (kind,),
        )
        for key, group in groupby(rows, itemgetter(0)):
            site, domain, run = pages[key]
            yield site, run, Description(key, tuple(Claim(*row[1:]) for row in group), domain)

    # Readings of extractors that cost time or money

    def save_reading(self, kind: str, reading: FactReading) -> None:
        """Save the facts that an extractor found on a page, and the cost, in place of an earlier reading."""
        with self._database.transaction():
            self._database.execute(
                "INSERT INTO fact_reading (kind, extractor, url, digest, facts, seconds, money) "
                "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (kind, extractor, url) DO UPDATE SET "
                "digest = excluded.digest, facts = excluded.facts, seconds = excluded.seconds, "
                "money = excluded.money",
                (kind, reading.extractor, reading.url, reading.digest,
                 json.dumps([fact._asdict() for fact in reading.facts], ensure_ascii=False),
                 reading.seconds, reading.money),
            )  # fmt: skip

    def readings(self, kind: str) -> Iterator[FactReading]:
        """Yield all readings of a kind, in order of extractor and URL."""
        rows = self._database.stream(
            "SELECT extractor, url, digest, facts, seconds, money FROM fact_reading WHERE kind = ? "
            "ORDER BY extractor, url",
            (kind,),
        )
        for extractor, url, digest, facts, seconds, money in rows:
            found = tuple(Fact(**fact) for fact in json.loads(facts))
            yield FactReading(extractor, url, digest, found, seconds, money)

    # What people decided

    def correct(self, kind: str, key: str, field: str, texts: Iterable[str], at: float) -> None:
        """Keep a person's values of a field; without any, the field stays empty."""
        with self._database.transaction():
            self._database.execute(
                "INSERT INTO fact_correction (kind, key, field, texts, at) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (kind, key, field) DO UPDATE SET texts = excluded.texts, at = excluded.at",
                (kind, key, field, json.dumps(list(texts), ensure_ascii=False), at),
            )

    def corrections(self, kind: str) -> dict[str, dict[str, tuple[str, ...]]]:
        """Return the corrected values by key and field."""
        result: dict[str, dict[str, tuple[str, ...]]] = {}
        for key, field, texts in self._database.execute(
            "SELECT key, field, texts FROM fact_correction WHERE kind = ? ORDER BY key, field", (kind,)
        ):
            result.setdefault(key, {})[field] = tuple(json.loads(texts))
        return result

    def pair(self, kind: str, one: str, other: str, *, same: bool) -> None:
        """Keep that two descriptions are of one thing, or of two."""
        first, second = sorted((one, other))
        with self._database.transaction():
            self._database.execute(
                "INSERT INTO fact_pair (kind, one, other, same) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (kind, one, other) DO UPDATE SET same = excluded.same",
                (kind, first, second, same),
            )

    def pairs(self, kind: str) -> list[tuple[str, str, bool]]:
        """Return the pairs that people decided on, and whether each is one thing."""
        rows = self._database.execute(
            "SELECT one, other, same FROM fact_pair WHERE kind = ? ORDER BY one, other", (kind,)
        )
        return [(one, other, bool(same)) for one, other, same in rows]

    def teach(self, kind: str, url: str, field: str, text: str) -> None:
        """Keep a value that a person marked on a page."""
        with self._database.transaction():
            self._database.execute(
                "INSERT INTO fact_example (kind, url, field, text) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (kind, url, field, text),
            )

    def examples(self, kind: str) -> list[tuple[str, str, str]]:
        """Return URL, field and text of the values that people marked."""
        rows = self._database.execute(
            "SELECT url, field, text FROM fact_example WHERE kind = ? ORDER BY url, field, text", (kind,)
        )
        return list(rows.fetchall())

    # Records

    def replace_records(self, kind: str, records: Mapping[str, Record]) -> int:
        """Make these the records of a kind, by id, and return how many were written: equal ones are left alone."""
        before = {record.id: record for record in self._records.iterate(kind)}
        changed = [record for record_id, record in records.items() if before.get(record_id) != record]
        with self._database.transaction():
            for record_id in before.keys() - records.keys():
                self._records.delete(kind, record_id)
            for record in changed:
                self._records.put(record)
        return len(changed)


def _page(row: tuple[Any, ...]) -> ArchivedPage:
    (
        site_id,
        site,
        run,
        number,
        url,
        content_type,
        digest,
        is_goal,
        depth,
        file,
        offset,
        length,
        title,
        about,
    ) = row
    archived = archive_ref(file, offset, length)
    assert archived is not None
    return ArchivedPage(
        site_id=site_id, site=site, run=run, number=number, url=url, content_type=content_type, digest=digest,
        is_goal=bool(is_goal), depth=depth, archived=archived, title=title, about=about,
    )  # fmt: skip

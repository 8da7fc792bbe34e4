"""Relationships with their rules and examples, and the instances that were extracted."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from wayhound.chains.construction import ChainRules, ExampleChain, ExampleLink
from wayhound.chains.ontology import LinkChain, Ontology, Relationship
from wayhound.errors import NotInWorkspace
from wayhound.record import Record
from wayhound.store.database import NO_LIMIT, Database
from wayhound.store.records import RecordStore
from wayhound.visit import ArchiveRef

_PUT = (
    "INSERT INTO relationship (name, source, target, label, inverse) VALUES (?, ?, ?, ?, ?) ON CONFLICT (name) "
    "DO UPDATE SET source = excluded.source, target = excluded.target, label = excluded.label, "
    "inverse = excluded.inverse"
)
_VISITED = (
    "SELECT archive_file, archive_offset, archive_length FROM visit WHERE url = ? AND outcome = 'ok' "
    "AND archive_file IS NOT NULL ORDER BY at DESC LIMIT 1"
)
_COLUMNS = "name, source, target, label, inverse, rules, learned_at"


@dataclass(frozen=True, slots=True)
class ChainStep:
    """A link of a stored chain: the page that it stands on, its offset and text, and where it leads."""

    page: str
    pos: int
    text: str
    target: str


@dataclass(frozen=True, slots=True)
class ChainInstance:
    """A relationship instance with both pages and the chain between them."""

    relationship: str
    source: str
    target: str
    steps: tuple[ChainStep, ...]


@dataclass(frozen=True, slots=True)
class KnownRelationship:
    """A relationship, its rules if it was learned, and when."""

    relationship: Relationship
    rules: ChainRules | None
    learned_at: float | None


class ChainStore:
    """Relationships by name; saving one again keeps its examples and instances."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._records = RecordStore(database)

    # Relationships and examples

    def save_ontology(self, ontology: Ontology) -> None:
        with self._database.transaction():
            for each in ontology.relationships.values():
                values = (each.name, each.source, each.target, each.label, each.inverse)
                self._database.execute(_PUT, values)

    def relationships(self) -> list[KnownRelationship]:
        rows = self._database.execute(f"SELECT {_COLUMNS} FROM relationship ORDER BY name")  # noqa: S608
        return [_known(row) for row in rows]

    def get(self, name: str) -> KnownRelationship:
        """Return a relationship. Raises NotInWorkspace if there is none of that name."""
        sql = f"SELECT {_COLUMNS} FROM relationship WHERE name = ?"  # noqa: S608
        row = self._database.execute(sql, (name,)).fetchone()
        if row is None:
            names = ", ".join(known.relationship.name for known in self.relationships())
            known_ones = f"It has these: {names}." if names else "It has none yet."
            raise NotInWorkspace(f"There is no relationship {name!r} in this workspace. {known_ones}")
        return _known(row)

    def save_rules(self, name: str, rules: ChainRules, at: float) -> None:
        text = json.dumps(rules.to_json(), ensure_ascii=False)
        self._database.execute(
            "UPDATE relationship SET rules = ?, learned_at = ? WHERE name = ?", (text, at, name)
        )

    def examples(self, name: str) -> list[ExampleChain]:
        """Return the examples of a relationship, oldest first; each is named by its number."""
        sql = "SELECT id, chain, wanted FROM chain_example WHERE relationship = ? ORDER BY id"
        return [
            ExampleChain(
                tuple(ExampleLink(*link) for link in json.loads(chain)), bool(wanted), f"Example {number}"
            )
            for number, chain, wanted in self._database.execute(sql, (name,))
        ]

    def add_examples(self, name: str, examples: Iterable[ExampleChain]) -> None:
        """Save examples; one with the same links replaces the earlier one, also where it says the opposite."""
        with self._database.transaction():
            for example in examples:
                key = name, _example_json(example)
                changed = self._database.execute(
                    "UPDATE chain_example SET wanted = ? WHERE relationship = ? AND chain = ?",
                    (int(example.wanted), *key),
                ).rowcount
                if not changed:
                    self._database.execute(
                        "INSERT INTO chain_example (relationship, chain, wanted) VALUES (?, ?, ?)",
                        (*key, int(example.wanted)),
                    )

    def remove_example(self, name: str, example: ExampleChain) -> None:
        self._database.execute(
            "DELETE FROM chain_example WHERE relationship = ? AND chain = ?", (name, _example_json(example))
        )

    def clear_examples(self, name: str) -> None:
        self._database.execute("DELETE FROM chain_example WHERE relationship = ?", (name,))

    # Instances

    def replace_source(
        self, name: str, source: str, chains: Iterable[LinkChain], links: int | None, title: str = ""
    ) -> int:
        """Replace the instances of a source page, and return how many there are; `links` None: it was not read."""
        steps = {
            chain.target: [
                [item.page, item.link.pos, item.link.text, item.link.target] for item in chain.elements
            ]
            for chain in chains
        }
        with self._database.transaction():
            where = "WHERE relationship = ? AND source = ?"
            self._database.execute(f"DELETE FROM chain_instance {where}", (name, source))  # noqa: S608
            for target, chain in steps.items():
                self._database.execute(
                    "INSERT INTO chain_instance VALUES (?, ?, ?, ?)",
                    (name, source, target, json.dumps(chain, ensure_ascii=False)),
                )
            self._database.execute(
                "INSERT INTO chain_source (relationship, url, links, title) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (relationship, url) DO UPDATE SET links = excluded.links, title = excluded.title",
                (name, source, links, title),
            )
        return len(steps)

    def forget_sources(self, name: str) -> None:
        """Delete all instances of a relationship, before it is extracted with other rules."""
        with self._database.transaction():
            self._database.execute("DELETE FROM chain_instance WHERE relationship = ?", (name,))
            self._database.execute("DELETE FROM chain_source WHERE relationship = ?", (name,))

    def sources(self, name: str) -> dict[str, int | None]:
        """Return the source pages of the last extraction with the number of links that the rules took from each."""
        rows = self._database.execute("SELECT url, links FROM chain_source WHERE relationship = ?", (name,))
        return dict(rows.fetchall())

    def titles(self) -> dict[str, str]:
        """Return the titles of all source pages that have one."""
        rows = self._database.execute("SELECT url, title FROM chain_source WHERE title != ''")
        return dict(rows.fetchall())

    def instances(
        self, name: str | None = None, *, limit: int = NO_LIMIT, offset: int = 0
    ) -> Iterator[ChainInstance]:
        """Yield instances in order of relationship, source and target."""
        where, values = ("", ()) if name is None else (" WHERE relationship = ?", (name,))
        sql = f"SELECT * FROM chain_instance{where} ORDER BY relationship, source, target LIMIT ? OFFSET ?"  # noqa: S608
        yield from map(_instance, self._database.stream(sql, (*values, limit, offset)))

    def count(self, name: str) -> int:
        sql = "SELECT count(*) FROM chain_instance WHERE relationship = ?"
        return int(self._database.execute(sql, (name,)).fetchone()[0])

    def of_page(self, url: str, limit: int) -> list[ChainInstance]:
        """Return the instances that a page is the source or the target of."""
        sql = "SELECT * FROM chain_instance WHERE source = ? OR target = ? ORDER BY 1, 2, 3 LIMIT ?"
        return [_instance(row) for row in self._database.execute(sql, (url, url, limit))]

    def save_records(self, records: Iterable[Record], kinds: tuple[str, ...]) -> None:
        """Replace all records of some kinds: those that are as they were are not touched."""
        wanted = {(record.kind, record.id): record for record in records}
        known = {(kind, record.id): record for kind in kinds for record in self._records.iterate(kind)}
        with self._database.transaction():
            for key, record in wanted.items():
                if known.get(key) != record:
                    self._records.put(record)
            for kind, record_id in known.keys() - wanted.keys():
                self._records.delete(kind, record_id)

    # Pages

    def page_ref(self, url: str) -> ArchiveRef | None:
        """Return where the archive has a page that was fetched for chains, or that a run archived last."""
        own = self._database.execute(
            'SELECT file, "offset", length FROM chain_page WHERE url = ?', (url,)
        ).fetchone()
        row = own or self._database.execute(_VISITED, (url,)).fetchone()
        return ArchiveRef(*row) if row else None

    def visited(self, prefix: str, limit: int) -> list[str]:
        """Return addresses below a prefix that runs have archived, in order."""
        sql = (
            "SELECT DISTINCT url FROM visit WHERE url >= ? AND url < ? AND outcome = 'ok' "
            "AND archive_file IS NOT NULL ORDER BY url LIMIT ?"
        )
        return [row[0] for row in self._database.execute(sql, (prefix, prefix + chr(0x10FFFF), limit))]

    def save_page(self, url: str, ref: ArchiveRef) -> None:
        self._database.execute(
            'INSERT INTO chain_page (url, file, "offset", length) VALUES (?, ?, ?, ?) ON CONFLICT (url) '
            'DO UPDATE SET file = excluded.file, "offset" = excluded."offset", length = excluded.length',
            (url, ref.file, ref.offset, ref.length),
        )


def _known(row: tuple[Any, ...]) -> KnownRelationship:
    name, source, target, label, inverse, rules, learned_at = row
    learned = ChainRules.from_json(json.loads(rules)) if rules else None
    return KnownRelationship(Relationship(name, source, target, label, inverse), learned, learned_at)


def _instance(row: tuple[Any, ...]) -> ChainInstance:
    name, source, target, chain = row
    return ChainInstance(name, source, target, tuple(ChainStep(*step) for step in json.loads(chain)))


def _example_json(example: ExampleChain) -> str:
    links = [[link.page, link.target, link.pos, link.text] for link in example.links]
    return json.dumps(links, ensure_ascii=False)

"""Facts as tables: one row a description, or beside a person's own table, in several formats."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from wayhound.app.facts.extraction import build_graph, corrected, record_of
from wayhound.app.facts.search import Wanted, fact_kinds
from wayhound.app.site_list import SiteTable
from wayhound.entities.graph import Claim, relationships
from wayhound.errors import UsageError
from wayhound.files import write_file
from wayhound.store.table_files import FORMATS, ColumnType, write_rows
from wayhound.workspace import Workspace


@dataclass(frozen=True, slots=True)
class FactRow:
    """One description for a table: the values of each field, where they were read, and the outcome of its site."""

    key: str
    site: str
    values: Mapping[str, tuple[Claim, ...]] = field(default_factory=dict)
    state: str = ""
    reason: str = ""
    requests: int = 0

    def texts(self, name: str) -> list[str]:
        return [claim.text for claim in self.values.get(name, ())]

    def missing(self, fields: Iterable[str]) -> list[str]:
        return [name for name in fields if not self.values.get(name)]


def fact_rows(workspace: Workspace, wanted: Wanted, run_id: int | None = None) -> list[FactRow]:
    """Return a row for each description of a kind, with corrections, in order of key; of a run, those of its sites."""
    store = workspace.stores.facts
    corrections = store.corrections(wanted.kind.kind)
    outcomes = store.outcomes(run_id)
    rows = []
    for site, _, plain in store.descriptions(wanted.kind.kind):
        if run_id is not None and site not in outcomes:
            continue
        description = corrected(plain, corrections.get(plain.key, {}))
        values: dict[str, list[Claim]] = {}
        for claim in description.claims:
            values.setdefault(claim.field, []).append(claim)
        outcome = outcomes.get(site, ("", "", 0))
        rows.append(FactRow(plain.key, site, {k: tuple(v) for k, v in values.items()}, *outcome))
    return rows


FACT_FORMATS = ("csv", "jsonl", "xlsx", "vcf", "geojson")


@dataclass(frozen=True, slots=True)
class WideRow:
    """One row of a person's own table, and the facts found on the site that it names."""

    cells: tuple[str, ...]
    start: str  # empty for a row without an address
    facts: FactRow | None


def wide_rows(table: SiteTable, rows: Iterable[FactRow]) -> list[WideRow]:
    """Return the rows of a table in their order with the facts of their sites."""
    by_site = {row.site: row for row in rows}
    return [WideRow(cells, start, by_site.get(start)) for cells, start in table.rows]


def write_facts(
    rows: Sequence[FactRow],
    wanted: Wanted,
    file_format: str,
    out: Path | BinaryIO,
    status: Callable[[FactRow], str],
) -> int:
    """Write one row for each description, and return how many. `status` says how each went."""
    if file_format == "vcf":
        return _write_text("".join(vcard(row) for row in rows), len(rows), out)
    if file_format == "geojson":
        features = [feature for row in rows if (feature := geo_feature(row, wanted.fields))]
        collection = {"type": "FeatureCollection", "features": features}
        return _write_text(json.dumps(collection, ensure_ascii=False) + "\n", len(features), out)
    names = list(dict.fromkeys([wanted.kind.title or "name", *wanted.fields]))
    columns: dict[str, ColumnType] = dict.fromkeys((*names, "status", "site", "source"), "text")
    table = (
        (*(_cell(row, name) for name in names), status(row), row.site, _source(row, wanted.fields))
        for row in rows
    )
    return write_rows(columns, table, file_format, out)


def write_relationships(
    workspace: Workspace, wanted: Wanted, file_format: str, out: Path | BinaryIO, run_id: int | None = None
) -> int:
    """Write the relationships between entities, of a kind to any, and return how many; of a run, those of its sites.

    A row has the entity, the label, the name of the other and its record if it has one, and the page that says so.
    """
    if file_format not in FORMATS:
        raise UsageError(f"Relationships cannot be written as {file_format}; choose csv, jsonl or xlsx.")
    kinds = fact_kinds(workspace)
    needed = {wanted.kind.kind, *(spec.names for spec in wanted.kind.fields)} & kinds.keys()
    graphs = {name: build_graph(workspace, kinds[name]) for name in sorted(needed)}
    graph = graphs[wanted.kind.kind]
    keys = {row.key for row in fact_rows(workspace, wanted, run_id)}
    columns: dict[str, ColumnType] = dict.fromkeys(
        ("name", "record", "relationship", "to", "kind", "to_record"), "text"
    )
    columns |= {"confidence": "number", "source": "text"}
    rows = (
        (
            next(iter(graph.entities[link.entity].texts(wanted.kind.title)), ""),
            record_of(graph, link.entity),
            link.label,
            link.claim.text,
            wanted.kind.field(link.label).names,
            record_of(graphs[link.target[0]], link.target[1]) if link.target else "",
            link.claim.confidence,
            link.claim.url,
        )
        for link in relationships(graph, graphs)
        if wanted.kind.field(link.label).names and (run_id is None or link.description in keys)
    )
    return write_rows(columns, rows, file_format, out)


def write_wide(
    table: SiteTable, rows: Sequence[WideRow], wanted: Wanted, file_format: str, out: Path | BinaryIO,
    status: Callable[[WideRow], str],
) -> int:  # fmt: skip
    """Write a person's own table with the facts beside its columns, and return the number of rows."""
    if file_format not in FORMATS:
        raise UsageError(
            f"A table beside your own cannot be written as {file_format}; choose csv, jsonl or xlsx."
        )
    taken = set(table.headings)
    added = [name if name not in taken else f"{name} found" for name in (*wanted.fields, "status", "source")]
    columns: dict[str, ColumnType] = {
        heading or f"column {number}": "text" for number, heading in enumerate([*table.headings, *added], 1)
    }
    empty = FactRow("", "")
    lines = (
        (*row.cells, *(_cell(row.facts or empty, name) for name in wanted.fields), status(row),
         _source(row.facts or empty, wanted.fields))
        for row in rows
    )  # fmt: skip
    return write_rows(columns, lines, file_format, out)


def _cell(row: FactRow, name: str) -> str:
    return "; ".join(row.texts(name))


def _source(row: FactRow, fields: Iterable[str]) -> str:
    """Return the pages that the wanted fields were read from."""
    return " ".join(
        dict.fromkeys(claim.url for name in fields for claim in row.values.get(name, ()) if claim.url)
    )


def _write_text(text: str, count: int, out: Path | BinaryIO) -> int:
    if isinstance(out, Path):
        write_file(out, text.encode("utf-8", "replace"))
    else:
        out.write(text.encode("utf-8", "replace"))
    return count


_VCARD_FIELDS = {
    "phone": "TEL;TYPE=voice",
    "fax": "TEL;TYPE=fax",
    "email": "EMAIL",
    "address": "ADR",
    "social": "URL",
}


def vcard(row: FactRow) -> str:
    """Return a description as a vCard 4.0 (RFC 6350)."""
    name = _escaped(next(iter(row.texts("name")), row.site))
    lines = ["BEGIN:VCARD", "VERSION:4.0", f"FN:{name}", "KIND:org", f"ORG:{name}"]
    for field_name, prefix in _VCARD_FIELDS.items():
        for text in row.texts(field_name):
            value = f";;{_escaped(text)};;;;" if field_name == "address" else _escaped(text)
            lines.append(f"{prefix}:{value}")
    lines += [f"GEO:geo:{text}" for text in row.texts("coordinates")]
    lines += [f"SOURCE:{url}" for url in _source(row, row.values).split()[:1]]
    return "".join(f"{_folded(line)}\r\n" for line in [*lines, "END:VCARD"])


def _escaped(text: str) -> str:
    return re.sub(r"([\\,;])", r"\\\1", " ".join(text.split()))


def _folded(line: str) -> str:
    """Return a line in pieces of at most 75 bytes, as the format demands."""
    pieces, current = [], ""
    for letter in line:
        if len((current + letter).encode("utf-8", "replace")) > 74:
            pieces.append(current)
            current = ""
        current += letter
    return "\r\n ".join([*pieces, current])


def geo_feature(row: FactRow, fields: Iterable[str]) -> dict[str, Any] | None:
    """Return a description as a GeoJSON feature; None where no coordinates are stated."""
    stated = row.texts("coordinates")
    if not stated:
        return None
    latitude, longitude = map(float, stated[0].split(","))
    properties = {name: _cell(row, name) for name in ("name", *fields) if row.texts(name)}
    return {"type": "Feature", "geometry": {"type": "Point", "coordinates": [longitude, latitude]},
            "properties": {**properties, "site": row.site}}  # fmt: skip

"""Instances of relationships as JSON lines, CSV or Turtle."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from typing import IO
from urllib.parse import quote

from wayhound.chains.ontology import Relationship
from wayhound.store.chains import ChainInstance, ChainStore


def export_instances(store: ChainStore, name: str | None, file: IO[str], file_format: str) -> int:
    """Write instances as `jsonl`, `csv` or `turtle`, and return how many."""
    relationships = {known.relationship.name: known.relationship for known in store.relationships()}
    writers = {"jsonl": _write_jsonl, "csv": _write_csv, "turtle": _write_turtle}
    return writers[file_format](store.instances(name), relationships, file)


def _write_jsonl(
    instances: Iterable[ChainInstance], relationships: dict[str, Relationship], file: IO[str]
) -> int:
    written = 0
    for each in instances:
        relationship = relationships[each.relationship]
        chain = [
            {"page": step.page, "pos": step.pos, "text": step.text, "target": step.target}
            for step in each.steps
        ]
        row = {
            "relationship": each.relationship, "source": each.source, "target": each.target,
            "source_concept": relationship.source, "target_concept": relationship.target, "chain": chain,
        }  # fmt: skip
        file.write(json.dumps(row, ensure_ascii=False) + "\n")
        written += 1
    return written


def _write_csv(
    instances: Iterable[ChainInstance], relationships: dict[str, Relationship], file: IO[str]
) -> int:
    rows = csv.writer(file)
    rows.writerow(
        ["relationship", "source concept", "source", "target concept", "target", "link text", "via"]
    )
    written = 0
    for each in instances:
        relationship = relationships[each.relationship]
        via = " ".join(step.page for step in each.steps[1:])
        row = [each.relationship, relationship.source, each.source, relationship.target, each.target]
        rows.writerow([_safe_cell(cell) for cell in (*row, each.steps[-1].text, via)])
        written += 1
    return written


def _safe_cell(text: str) -> str:
    """Keep spreadsheets from reading fetched text as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _write_turtle(
    instances: Iterable[ChainInstance], relationships: dict[str, Relationship], file: IO[str]
) -> int:
    file.write("@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n")
    file.write("@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n")
    file.write("@prefix o: <urn:wayhound:ontology:> .\n\n")
    for relationship in relationships.values():
        file.write(
            f"o:{relationship.name} a rdf:Property ; rdfs:domain o:{relationship.source} ; "
            f"rdfs:range o:{relationship.target} ; rdfs:label {_literal(relationship.shown)} .\n"
        )
    written, typed = 0, set()
    for each in instances:
        relationship = relationships[each.relationship]
        source, target = _iri(each.source), _iri(each.target)
        for subject, concept in ((source, relationship.source), (target, relationship.target)):
            if (subject, concept) not in typed:
                typed.add((subject, concept))
                file.write(f"{subject} a o:{concept} .\n")
        if each.steps[-1].text:
            file.write(f"{target} rdfs:label {_literal(each.steps[-1].text)} .\n")
        file.write(f"{source} o:{relationship.name} {target} .\n")
        written += 1
    return written


def _iri(url: str) -> str:
    return f"<{quote(url, safe=':/?#[]@!$&()*+,;=%~-._' + chr(39))}>"


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=True)

"""Concepts, relationships between them, and the chains of links that connect their pages (section 3 of the paper)."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wayhound.chains.tokens import Anchor
from wayhound.errors import UsageError

_NAME = re.compile(r"[^\W\d][\w-]{0,63}")


@dataclass(frozen=True, slots=True)
class Concept:
    """A kind of page, such as `actor`."""

    name: str
    label: str = ""

    @property
    def shown(self) -> str:
        return self.label or self.name.replace("_", " ")


@dataclass(frozen=True, slots=True)
class Relationship:
    """R(source concept, target concept). `inverse` is its name when read from the target."""

    name: str
    source: str
    target: str
    label: str = ""
    inverse: str = ""

    @property
    def shown(self) -> str:
        return self.label or self.name

    @property
    def signature(self) -> str:
        return f"{self.name}({self.source}, {self.target})"

    @property
    def source_label(self) -> str:
        """The label by which a teacher marks a source page; that of a target page is `target_label`."""
        return f"{self.name} from {self.source}"

    @property
    def target_label(self) -> str:
        return f"{self.name} to {self.target}"


@dataclass(frozen=True, slots=True)
class Ontology:
    """The concepts and relationships of a project, by name."""

    concepts: Mapping[str, Concept] = field(default_factory=dict)
    relationships: Mapping[str, Relationship] = field(default_factory=dict)

    def relationship(self, name: str) -> Relationship:
        """Return a relationship by name. Raises UsageError if there is none."""
        if name not in self.relationships:
            known = ", ".join(self.relationships) or "none"
            raise UsageError(f"The ontology has no relationship {name}. It has: {known}.")
        return self.relationships[name]


@dataclass(frozen=True, slots=True)
class LinkElement:
    """A page and the link on it that leads to the next page: (p, l) of Definition 2."""

    page: str
    link: Anchor


@dataclass(frozen=True, slots=True)
class LinkChain:
    """The link elements from a source page to a target page; a chain of one element is a direct link."""

    elements: tuple[LinkElement, ...]

    @property
    def source(self) -> str:
        return self.elements[0].page

    @property
    def target(self) -> str:
        return self.elements[-1].link.target

    @property
    def urls(self) -> tuple[str, ...]:
        """The addresses of all pages of the chain, source and target included."""
        return (*(element.page for element in self.elements), self.target)


def read_ontology(text: str, where: str = "The ontology") -> Ontology:
    """Read an ontology from TOML; concepts that only relationships name need no section of their own.

    [concepts.film]
    label = "film"
    [relationships.ActorOf]
    source = "film"
    target = "actor"
    inverse = "acted in"

    Raises UsageError if the text is not TOML or a part is missing.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{where} is not TOML: {error}.") from None
    if unknown := set(data) - {"concepts", "relationships"}:
        raise UsageError(
            f"{where} has a section [{min(unknown)}]; it may have [concepts] and [relationships]."
        )
    declared = _tables(data.get("concepts", {}), f"{where}, [concepts]")
    tables = _tables(data.get("relationships", {}), f"{where}, [relationships]")
    relationships = {name: _relationship(name, table, where) for name, table in tables.items()}
    if not relationships:
        raise UsageError(
            f"{where} has no relationship. Add, for example: [relationships.ActorOf] with source and target."
        )
    ends = [
        end for relationship in relationships.values() for end in (relationship.source, relationship.target)
    ]
    concepts = {
        name: Concept(name, str(declared.get(name, {}).get("label", ""))) for name in (*declared, *ends)
    }
    return Ontology(concepts, relationships)


def write_ontology(ontology: Ontology) -> str:
    """Return an ontology as TOML that `read_ontology` reads back."""
    lines: list[str] = []
    for concept in ontology.concepts.values():
        lines += [f"[concepts.{concept.name}]", f"label = {_quoted(concept.label)}", ""]
    for each in ontology.relationships.values():
        lines += [f"[relationships.{each.name}]"]
        parts = {"source": each.source, "target": each.target, "label": each.label, "inverse": each.inverse}
        lines += [f"{key} = {_quoted(value)}" for key, value in parts.items()]
        lines.append("")
    return "\n".join(lines)


def check_name(name: str, where: str) -> str:
    """Return a name of a concept or relationship. Raises UsageError if it has spaces or signs."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{where}: {name!r} is no name. Use letters, digits, - and _, beginning with a letter."
        )
    return name


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return (
        '"'
        + "".join(f"\\u{ord(char):04x}" if ord(char) < 32 or ord(char) == 127 else char for char in escaped)
        + '"'
    )


def _tables(data: Any, where: str) -> dict[str, dict[str, Any]]:
    if not isinstance(data, dict) or not all(isinstance(table, dict) for table in data.values()):
        raise UsageError(f"{where} must hold a section for each name.")
    return {check_name(name, where): table for name, table in data.items()}


def _relationship(name: str, table: Mapping[str, Any], where: str) -> Relationship:
    place = f"{where}, [relationships.{name}]"
    if unknown := set(table) - {"source", "target", "label", "inverse"}:
        raise UsageError(f"{place} has {min(unknown)}; it may have source, target, label and inverse.")
    values = {key: table.get(key, "") for key in ("source", "target", "label", "inverse")}
    if not all(isinstance(value, str) for value in values.values()):
        raise UsageError(f"{place}: source, target, label and inverse must be text.")
    for end in ("source", "target"):
        if not values[end]:
            raise UsageError(f"{place} names no {end} concept.")
        check_name(values[end], place)
    return Relationship(name, **values)


def chain_of(pages: Sequence[str], links: Sequence[Anchor]) -> LinkChain:
    """Return the chain of pages and the links that leave them; there are as many of each."""
    return LinkChain(tuple(LinkElement(page, link) for page, link in zip(pages, links, strict=True)))

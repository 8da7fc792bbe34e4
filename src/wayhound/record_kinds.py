"""What each kind of record holds and what its fields are good for, so that lists, pages and searches need no
code of their own for a kind.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from wayhound.errors import ConfigError

FILE_NAME = "kinds.toml"

Role = Literal["title", "people", "date", "facet", "text", "link", "plain"]
"""`title` names the record, `people` are names, `date` sorts, `facet` can be chosen from a list, `text` is
long, `link` is an address, `plain` is any other value."""


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """A field of a kind: what it is good for, what people call it, and whether it may have several values."""

    name: str
    role: Role = "plain"
    label: str = ""
    many: bool = False

    @property
    def shown(self) -> str:
        return self.label or self.name.replace("_", " ").capitalize()


@dataclass(frozen=True, slots=True)
class KindSpec:
    """A kind of record, and its fields in the order in which they are shown."""

    kind: str
    label: str
    plural: str
    fields: tuple[FieldSpec, ...] = ()

    def with_role(self, role: Role) -> tuple[FieldSpec, ...]:
        return tuple(field for field in self.fields if field.role == role)

    def field(self, name: str) -> FieldSpec:
        """The field of that name; one that was not declared is plain and may have several values."""
        known = next((field for field in self.fields if field.name == name), None)
        return known or FieldSpec(name, many=True)

    @property
    def title(self) -> str:
        """The name of the field that names a record; "" where none was declared."""
        named = self.with_role("title")
        return named[0].name if named else ""


_PAPER = KindSpec(
    "paper",
    "Paper",
    "Papers",
    (
        FieldSpec("title", "title"),
        FieldSpec("author", "people", "Authors", many=True),
        FieldSpec("affiliation", "facet", many=True),
        FieldSpec("year", "date"),
        FieldSpec("journal", "facet"),
        FieldSpec("booktitle", "facet", "In"),
        FieldSpec("institution", "facet"),
        FieldSpec("volume"),
        FieldSpec("number"),
        FieldSpec("pages"),
        FieldSpec("publisher", "facet"),
        FieldSpec("location"),
        FieldSpec("abstract", "text"),
        FieldSpec("keyword", "facet", "Keywords", many=True),
        FieldSpec("date"),
        FieldSpec("email", many=True),
        FieldSpec("address", many=True),
        FieldSpec("phone", many=True),
        FieldSpec("web", "link", "Web pages", many=True),
        FieldSpec("degree"),
        FieldSpec("pubnum", label="Publication number"),
        FieldSpec("note", many=True),
        FieldSpec("doi", label="DOI"),
        FieldSpec("url", "link", "Found at", many=True),
        FieldSpec("file"),
        FieldSpec("file_type", "facet", "Type of file"),
        FieldSpec("page_count", label="Number of pages"),
        FieldSpec("remark", label="Remarks", many=True),
    ),
)

_DOCUMENT = KindSpec(
    "document",
    "Document",
    "Documents",
    (
        FieldSpec("title", "title"),
        FieldSpec("reason", "facet", "Why it is no paper"),
        FieldSpec("text", "text", "Beginning"),
        FieldSpec("url", "link", "Found at", many=True),
        FieldSpec("file"),
        FieldSpec("file_type", "facet", "Type of file"),
        FieldSpec("page_count", label="Number of pages"),
        FieldSpec("remark", label="Remarks", many=True),
    ),
)

_PAGE = KindSpec(
    "page",
    "Page",
    "Pages",
    (
        FieldSpec("title", "title"),
        FieldSpec("label", "facet"),
        FieldSpec("description", "text"),
        FieldSpec("text", "text"),
        FieldSpec("language", "facet"),
        FieldSpec("url", "link", "Address"),
    ),
)

_PERSON = KindSpec(
    "person",
    "Person",
    "People",
    (
        FieldSpec("name", "title"),
        FieldSpec("position", "facet"),
        FieldSpec("group", "facet"),
        FieldSpec("organisation", "facet"),
        FieldSpec("email"),
        FieldSpec("phone"),
        FieldSpec("room"),
        FieldSpec("url", "link", "Home page"),
    ),
)

_CONTACT = KindSpec(
    "contact",
    "Contact",
    "Contacts",
    (
        FieldSpec("organisation", "title"),
        FieldSpec("street"),
        FieldSpec("town", "facet"),
        FieldSpec("country", "facet"),
        FieldSpec("phone", many=True),
        FieldSpec("email", many=True),
        FieldSpec("url", "link", "Page"),
    ),
)

KINDS: dict[str, KindSpec] = {spec.kind: spec for spec in (_PAPER, _DOCUMENT, _PAGE, _PERSON, _CONTACT)}
"""The kinds that Wayhound itself makes; `read_kinds` adds those of a workspace."""

_USUAL_ROLES: Mapping[str, Role] = {
    "url": "link", "text": "text", "abstract": "text", "date": "date", "year": "date",
}  # fmt: skip


def spec_of(kind: str, field_names: Iterable[str] = (), kinds: Mapping[str, KindSpec] = KINDS) -> KindSpec:
    """What is known of a kind. Of one that nobody declared, `title`, `name` or else the first field names it.

    `field_names` are those that records of the kind have, which a kind that nobody declared is made of.
    """
    if kind in kinds:
        return kinds[kind]
    names = list(dict.fromkeys(field_names))
    title = next((name for name in ("title", "name", *names) if name in names), "")
    fields = (FieldSpec(name, _guessed_role(name, title), many=True) for name in names)
    label = kind.replace("_", " ").capitalize()
    return KindSpec(kind, label, f"{label}s", tuple(fields))


def read_kinds(path: Path) -> dict[str, KindSpec]:
    """All kinds: ours, and those that the file declares or changes, if there is one.

    [talk]
    label = "Talk"
    plural = "Talks"
    [talk.fields]
    title = "title"
    speaker = {role = "people", label = "Speakers", many = true}
    """
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return dict(KINDS)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}.") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}.") from None
    return KINDS | {kind: _declared(kind, table, f"{path}, [{kind}]") for kind, table in tables.items()}


def _guessed_role(name: str, title: str) -> Role:
    return "title" if name == title else _USUAL_ROLES.get(name, "plain")


def _declared(kind: str, table: Any, where: str) -> KindSpec:
    if not isinstance(table, dict) or not set(table) <= {"label", "plural", "fields"}:
        raise ConfigError(f"{where} must be a section with label, plural and fields.")
    label = str(table.get("label", kind.replace("_", " ").capitalize()))
    fields = table.get("fields", {})
    if not isinstance(fields, dict):
        raise ConfigError(f"{where}: fields must be a section.")
    specs = tuple(_declared_field(name, told, where) for name, told in fields.items())
    return KindSpec(kind, label, str(table.get("plural", f"{label}s")), specs)


def _declared_field(name: str, told: Any, where: str) -> FieldSpec:
    """A role alone, or a table with role, label and many."""
    table = {"role": told} if isinstance(told, str) else told
    if not isinstance(table, dict) or not set(table) <= {"role", "label", "many"}:
        raise ConfigError(f"{where}: {name} must be a role, or have role, label and many.")
    role: Role = table.get("role", "plain")
    if role not in get_args(Role):
        raise ConfigError(f"{where}: the role of {name} must be one of {', '.join(get_args(Role))}.")
    return FieldSpec(name, role, str(table.get("label", "")), bool(table.get("many", False)))

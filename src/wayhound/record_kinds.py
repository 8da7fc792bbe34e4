"""Declarations of the kinds of records: their fields, and what lists, pages and searches do with each field.

Code that shows or searches records follows the roles declared here and needs nothing of its own for a kind.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from wayhound.errors import ConfigError
from wayhound.plugins import RECORD_KINDS, load_plugins

FILE_NAME = "kinds.toml"

Role = Literal["title", "people", "date", "facet", "text", "link", "data", "plain"]
"""The use of a field:

- `title` names the record, `people` are names of people, `date` is sorted by.
- `facet` can be searched and chosen from a list of values. `text` is long, searched, and quoted in results.
- `link` is a web address. `data` is shown and exported, and not searched.
- `plain` is any other value; it is searched.
"""

Compare = Literal["text", "name", "phone", "email", "address", "url", "coordinates"]
"""The rule by which two values of a field are compared and merged when records of one thing are brought together."""

Scope = Literal["page", "site"]
"""A kind that a page describes, such as a restaurant in a guide, or that a whole site belongs to."""


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """A field of a kind: its role, what people call it, and whether it may have several values.

    A `fact` comes from the file or the visit itself: there is nothing in it that a visitor could correct. `labels` are
    the words before its value on pages ("Cuisine: …"), by which it is extracted. A field that `names` a kind is a
    relationship: its value is the name of another entity, of that kind.
    """

    name: str
    role: Role = "plain"
    label: str = ""
    many: bool = False
    fact: bool = False
    compare: Compare = "text"
    labels: tuple[str, ...] = ()
    names: str = ""

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
    scope: Scope = "page"

    def with_role(self, role: Role) -> tuple[FieldSpec, ...]:
        return tuple(field for field in self.fields if field.role == role)

    def field(self, name: str) -> FieldSpec:
        """Return the field of that name; an undeclared one is plain and may have several values."""
        declared = next((field for field in self.fields if field.name == name), None)
        return declared or FieldSpec(name, many=True)

    @property
    def title(self) -> str:
        """The name of the field that names a record; empty if none was declared."""
        titles = self.with_role("title")
        return titles[0].name if titles else ""


PAPERS_AND_DOCUMENTS = ("paper", "document")
"""The kinds of records that are read from files. They have the same fields, are placed in topics and can be cited."""

_BIBLIOGRAPHIC = (
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
)
_OF_THE_FILE = (
    FieldSpec("url", "link", "Found at", many=True, fact=True),
    FieldSpec("file", fact=True),
    FieldSpec("file_type", "facet", "Type of file", fact=True),
    FieldSpec("page_count", label="Number of pages", fact=True),
    FieldSpec("paper_certainty", "facet", "A paper", fact=True),
    FieldSpec("paper_probability", "data", "Probability of a paper", fact=True),
    FieldSpec("remark", label="Remarks", many=True, fact=True),
)
_PAPER = KindSpec("paper", "Paper", "Papers", (*_BIBLIOGRAPHIC, *_OF_THE_FILE))
_DOCUMENT = KindSpec(
    "document",
    "Document",
    "Documents",
    (
        *_BIBLIOGRAPHIC,
        FieldSpec("reason", "facet", "Why it is not a paper", fact=True),
        FieldSpec("text", "text", "Beginning"),
        *_OF_THE_FILE,
    ),
)

_PAGE = KindSpec(
    "page",
    "Page",
    "Pages",
    (
        FieldSpec("title", "title"),
        FieldSpec("snippet", "text", "Summary"),
        FieldSpec("label", "facet"),
        FieldSpec("certainty", "facet", fact=True),
        FieldSpec("probability", "data", "Probability of a goal", fact=True),
        FieldSpec("why", "data", "Reasons", many=True, fact=True),
        FieldSpec("path", label="Clicks", fact=True),
        FieldSpec("language", "facet"),
        FieldSpec("found", "data", "Last found", fact=True),
        FieldSpec("first_found", "data", fact=True),
        FieldSpec("run", "data", fact=True),
        FieldSpec("url", "link", "Address", fact=True),
        FieldSpec("text", "text", "Rest of the text", fact=True),
        FieldSpec("around", label="Menus, headers and footers", fact=True),
    ),
)

_INSTANCE = KindSpec(
    "instance",
    "Concept page",
    "Concept pages",
    (
        FieldSpec("title", "title"),
        FieldSpec("concept", "facet", "Is a", many=True),
        FieldSpec("snippet", "text", "Summary"),
        FieldSpec("url", "link", "Address", fact=True),
    ),
)

_RELATION = KindSpec(
    "relation",
    "Relation",
    "Relations",
    (
        FieldSpec("title", "title"),
        FieldSpec("relationship", "facet", fact=True),
        FieldSpec("source", "plain", "From", fact=True),
        FieldSpec("target", "plain", "To", fact=True),
        FieldSpec("guide", "plain", "Links to click", many=True, fact=True),
        FieldSpec("source_url", "link", "Source page", fact=True),
        FieldSpec("target_url", "link", "Target page", fact=True),
    ),
)

_SOURCES = FieldSpec("url", "link", "Sources", many=True, fact=True)
_CONTACT = (
    FieldSpec("email", label="E-mail", many=True, compare="email"),
    FieldSpec("phone", many=True, compare="phone"),
    FieldSpec("fax", many=True, compare="phone"),
    FieldSpec("address", many=True, compare="address"),
)
_ABOUT = (
    FieldSpec("hours", label="Opening hours", many=True),
    FieldSpec("social", "link", "Social profiles", many=True, compare="url"),
    FieldSpec("registration", label="VAT or register number", many=True),
    FieldSpec("country", "facet"),
    FieldSpec("coordinates", "data", compare="coordinates"),
)
_ORGANISATION = KindSpec(
    "organisation",
    "Organisation",
    "Organisations",
    (
        FieldSpec("name", "title", compare="name"),
        *_CONTACT,
        *_ABOUT,
        FieldSpec("part_of", "facet", many=True, compare="name", names="organisation"),
        FieldSpec("parts", many=True, compare="name", names="organisation"),
        FieldSpec("people", "people", many=True, compare="name", names="person"),
        _SOURCES,
    ),
    scope="site",
)
_PERSON = KindSpec(
    "person",
    "Person",
    "People",
    (
        FieldSpec("name", "title", compare="name"),
        *_CONTACT,
        *_ABOUT,
        FieldSpec(
            "works_for",
            "facet",
            many=True,
            compare="name",
            labels=("organisation", "organization", "company", "employer", "affiliation"),
            names="organisation",
        ),
        _SOURCES,
    ),
)
_RESTAURANT = KindSpec(
    "restaurant",
    "Restaurant",
    "Restaurants",
    (
        FieldSpec("name", "title", compare="name"),
        FieldSpec("address", compare="address"),
        FieldSpec("phone", compare="phone"),
        FieldSpec(
            "cuisine",
            "facet",
            many=True,
            labels=("cuisine", "cuisines", "cuisine type", "food type", "küche"),
        ),
        FieldSpec("price", "facet", labels=("price range", "price", "prices", "cost", "average price")),
        FieldSpec("email", label="E-mail", many=True, compare="email"),
        *_ABOUT,
        _SOURCES,
    ),
)

FACT_KINDS = {spec.kind: spec for spec in (_ORGANISATION, _PERSON, _RESTAURANT)}
"""The kinds that are extracted from pages."""

KINDS: dict[str, KindSpec] = {
    spec.kind: spec for spec in (_PAPER, _DOCUMENT, _PAGE, _INSTANCE, _RELATION)
} | FACT_KINDS
"""The kinds that Wayhound itself makes; `read_kinds` adds those of plugins and of a workspace."""

_USUAL_ROLES: Mapping[str, Role] = {
    "url": "link", "text": "text", "abstract": "text", "date": "date", "year": "date",
}  # fmt: skip


def spec_of(kind: str, field_names: Iterable[str] = (), kinds: Mapping[str, KindSpec] = KINDS) -> KindSpec:
    """Return the declaration of a kind, or guess one from the names of the fields that its records have.

    In a guess, `title`, `name` or else the first field names the record.
    """
    if kind in kinds:
        return kinds[kind]
    names = list(dict.fromkeys(field_names))
    title = next((name for name in ("title", "name", *names) if name in names), "")
    fields = (FieldSpec(name, _guess_role(name, title), many=True) for name in names)
    label = kind.replace("_", " ").capitalize()
    return KindSpec(kind, label, f"{label}s", tuple(fields))


def read_kinds(path: Path) -> dict[str, KindSpec]:
    """Return all kinds: built in, of plugins, and those that a workspace's file declares or changes.

    [talk]
    label = "Talk"
    plural = "Talks"
    [talk.fields]
    title = "title"
    speaker = {role = "people", label = "Speakers", many = true}

    Raises ConfigError if the file cannot be read. A plugin that cannot be loaded is left out.
    """
    kinds = KINDS | {spec.kind: spec for spec in _plugin_kinds()}
    try:
        tables = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return kinds
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}.") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}.") from None
    return kinds | {kind: _declared(kind, table, f"{path}, [{kind}]") for kind, table in tables.items()}


def _plugin_kinds() -> list[KindSpec]:
    loaded, _ = load_plugins(RECORD_KINDS)
    return [spec for spec in loaded.values() if isinstance(spec, KindSpec) and spec.kind not in KINDS]


def _guess_role(name: str, title: str) -> Role:
    return "title" if name == title else _USUAL_ROLES.get(name, "plain")


def _declared(kind: str, table: Any, where: str) -> KindSpec:
    if not isinstance(table, dict) or not set(table) <= {"label", "plural", "fields", "scope"}:
        raise ConfigError(f"{where} must be a section with scope, label, plural and fields.")
    scope: Scope = table.get("scope", "page")
    if scope not in get_args(Scope):
        raise ConfigError(f"{where}: scope must be one of {', '.join(get_args(Scope))}.")
    label = str(table.get("label", kind.replace("_", " ").capitalize()))
    fields = table.get("fields", {})
    if not isinstance(fields, dict):
        raise ConfigError(f"{where}: fields must be a section.")
    specs = tuple(_declared_field(name, declaration, where) for name, declaration in fields.items())
    return KindSpec(kind, label, str(table.get("plural", f"{label}s")), specs, scope)


def _declared_field(name: str, declaration: Any, where: str) -> FieldSpec:
    """Read a role alone, or a table with role, label, many, compare, labels and names."""
    table = {"role": declaration} if isinstance(declaration, str) else declaration
    if not isinstance(table, dict) or not set(table) <= {
        "role",
        "label",
        "many",
        "compare",
        "labels",
        "names",
    }:
        raise ConfigError(
            f"{where}: {name} must be a role, or have role, label, many, compare, labels and names."
        )
    compare: Compare = table.get("compare", "text")
    if compare not in get_args(Compare):
        raise ConfigError(f"{where}: compare of {name} must be one of {', '.join(get_args(Compare))}.")
    labels = table.get("labels", [])
    if not isinstance(labels, list):
        raise ConfigError(f"{where}: labels of {name} must be a list of words.")
    role: Role = table.get("role", "plain")
    if role not in get_args(Role):
        raise ConfigError(f"{where}: the role of {name} must be one of {', '.join(get_args(Role))}.")
    label, many = str(table.get("label", "")), bool(table.get("many", False))
    names = str(table.get("names", ""))
    return FieldSpec(name, role, label, many, compare=compare, labels=tuple(map(str, labels)), names=names)

"""Facts that are looked for: how a person names them, and the search of a site while it is walked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from wayhound.entities.contacts import is_personal
from wayhound.entities.extract import read_facts, settle
from wayhound.entities.fact import Fact
from wayhound.errors import UsageError
from wayhound.fetched import Fetched
from wayhound.record_kinds import FACT_KINDS, FILE_NAME, KindSpec, read_kinds
from wayhound.workspace import Workspace

CONTACT = "contact"
CONTACT_FIELDS = ("email", "phone", "address")
CONTACT_WORDS = ("contact", "imprint", "offices", "visit", "find us")
"""Words by which pages with contact details are called; taken as keywords where nothing else is asked for."""

ENOUGH = 0.6  # confidence from which a forage takes a fact for found
PATIENCE, PATIENCE_AFTER_SOME = 4, 1  # pages of a site without any new fact, until one was found and after


@dataclass(frozen=True, slots=True)
class Wanted:
    """A kind, and the fields of it that are looked for."""

    kind: KindSpec
    fields: tuple[str, ...]
    persons: bool = True


def fact_kinds(workspace: Workspace) -> dict[str, KindSpec]:
    """Return the kinds that can be extracted: those built in, and those that the workspace or plugins declare."""
    kinds = read_kinds(workspace.folder / FILE_NAME)
    return {name: spec for name, spec in kinds.items() if name in FACT_KINDS or name not in _MADE_ELSEWHERE}


_MADE_ELSEWHERE = frozenset({"paper", "document", "page"})


def parse_wanted(workspace: Workspace, text: str) -> Wanted:
    """Return what `contact`, a kind, or a kind with fields (`restaurant:phone,address`) asks for.

    Raises UsageError for an unknown kind or field, and for people where the settings keep them out.
    """
    kinds = fact_kinds(workspace)
    persons = workspace.config.facts.persons
    name, _, listed = text.partition(":")
    fields = tuple(filter(None, (part.strip() for part in listed.split(","))))
    if name == CONTACT:
        name, fields = "organisation", fields or CONTACT_FIELDS
    if name not in kinds:
        raise UsageError(f"There is no kind {name!r}. Choose one of {', '.join(sorted({CONTACT, *kinds}))}.")
    if name == "person" and not persons:
        raise UsageError(
            "The settings keep persons out (persons in [facts] of wayhound.toml), so none are extracted."
        )
    taught = [field for _, field, _ in workspace.stores.facts.examples(name)]
    known = list(dict.fromkeys([*(spec.name for spec in kinds[name].fields if not spec.fact), *taught]))
    if unknown := [part for part in fields if part not in known]:
        raise UsageError(f"{kinds[name].label} has no field {unknown[0]!r}. Choose from {', '.join(known)}.")
    return Wanted(kinds[name], fields or tuple(known), persons)


def parse_mark(name: str, text: str) -> tuple[str, str, str]:
    """Return kind, field and value of what a person marked; `phone` is one of organisations, `talk:room` of talks.

    Raises UsageError for an empty value and for what is not a word.
    """
    value = " ".join(text.split())
    kind, _, field_name = name.strip().lower().rpartition(":")
    if not value or not re.fullmatch(r"[^\W\d]\w{0,39}", field_name):
        raise UsageError("Select a text, and name its field with one word, such as phone.")
    return kind or "organisation", field_name, value


# While a forage walks


class FactSearch:
    """The facts of one site while it is walked.

    It ends when every wanted field has been found, or when pages bring nothing new: the links that look most like
    contact pages are followed first, so after a few of them without news the rest of the site has none either.
    """

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._missing = set(wanted.fields)
        self._without_news = 0
        self._found: tuple[str, dict[str, list[str]]] = "", {}

    def read(self, response: Fetched, /) -> bool:
        page = read_facts(response.url, response.body, response.content_type, response.charset)
        facts = allowed(settle(page, self._wanted.kind), self._wanted)
        new = self._missing & {fact.field for fact in facts if fact.confidence >= ENOUGH}
        self._missing -= new
        if self._wanted.kind.scope == "page":
            self._found = response.url, {}
        for fact in facts:
            if fact.text not in self._found[1].setdefault(fact.field, []):
                self._found[1][fact.field].append(fact.text)
        self._without_news = 0 if new else self._without_news + 1
        return bool(new)

    @property
    def found(self) -> tuple[str, Mapping[str, Sequence[str]]]:
        return self._found

    @property
    def end_reason(self) -> str:
        if not self._missing:
            return "facts found"
        patience = PATIENCE if len(self._missing) == len(self._wanted.fields) else PATIENCE_AFTER_SOME
        return "further pages have no new facts" if self._without_news >= patience else ""


def allowed(facts: Iterable[Fact], wanted: Wanted) -> list[Fact]:
    """Leave out names of persons, and e-mail addresses with one, where persons are to be kept out."""
    if wanted.persons:
        return list(facts)
    named = {spec.name for spec in wanted.kind.fields if spec.names == "person"}
    return [
        fact
        for fact in facts
        if fact.field not in named and (fact.field != "email" or not is_personal(fact.text))
    ]

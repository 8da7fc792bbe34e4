"""Decisions of people about facts: corrections, values marked on pages, entities merged and split."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from wayhound.app.facts.extraction import pages_to_read, reread_site, sync_entities
from wayhound.app.facts.search import Wanted, parse_mark
from wayhound.app.facts.sites import read_archived, settled_facts
from wayhound.entities.extract import FactPage, SiteProfile, read_facts
from wayhound.entities.fact import Fact
from wayhound.entities.templates import lines_with_paths, locate
from wayhound.errors import UsageError
from wayhound.fetched import Fetched
from wayhound.record_kinds import KindSpec
from wayhound.workspace import Workspace


def correct_fact(
    workspace: Workspace, wanted: Wanted, key: str, name: str, texts: Sequence[str]
) -> tuple[str, ...]:
    """Keep a person's values of one field of a description, and bring the records in line.

    Values that stand on a page of the site also teach its template; the URLs of these pages are returned. Raises
    UsageError for an unknown description.
    """
    store, kind = workspace.stores.facts, wanted.kind
    site = next((site for site, _, known in store.descriptions(kind.kind) if known.key == key), None)
    if site is None:
        raise UsageError(f"There are no facts of {key}. Extract them first.")
    said = [text.strip() for text in texts if text.strip()]
    store.correct(kind.kind, key, name, said, time.time())
    taught = _taught_by(workspace, kind, site, key, said[:1])
    for url, text in taught:
        store.teach(kind.kind, url, name, text)
    reread_site(workspace, wanted, site)
    return tuple(url for url, _ in taught)


def _taught_by(
    workspace: Workspace, kind: KindSpec, site: str, key: str, texts: Sequence[str]
) -> list[tuple[str, str]]:
    """Return the first page of a description with each text on it."""
    pages = [
        page for _, pages in workspace.stores.facts.sites(start=site) for page in pages_to_read(pages, kind)
    ]
    if kind.scope == "page":
        pages = [page for page in pages if page.url == key]
    found = []
    for text in texts:
        for page in pages:
            if (answer := read_archived(workspace, page)) and _stands_on(answer, text):
                found.append((page.url, text))
                break
    return found


def _stands_on(answer: Fetched, text: str) -> bool:
    return locate(*lines_with_paths(answer.body, answer.content_type, answer.charset), text) is not None


def mark_value(workspace: Workspace, wanted: Wanted, site: str, url: str, name: str, text: str) -> None:
    """Keep a value that a person marked on a page, and read the site again with it.

    Any field can be taught, also one that the kind does not declare. Raises UsageError if the page is not archived or
    the text does not stand on it.
    """
    _, name, text = parse_mark(name, text)
    if not _stands_on(_page_of(workspace, site, url), text):
        raise UsageError(f"“{text[:80]}” does not stand on {url}. Select it on the page.")
    workspace.stores.facts.teach(wanted.kind.kind, url, name, text)
    reread_site(workspace, wanted, site)


def _page_of(workspace: Workspace, site: str, url: str) -> Fetched:
    for _, pages in workspace.stores.facts.sites(start=site):
        for page in pages:
            if page.url == url and (answer := read_archived(workspace, page)):
                return answer
    raise UsageError(f"{url} is not archived. Forage its site again.")


CONTEXT = 40  # characters before and after a value


@dataclass(frozen=True, slots=True)
class ExplainedFact:
    """A fact of a page with the visible text around it: before, the value as printed, and after.

    All three are empty for what the page states for machines alone.
    """

    fact: Fact
    before: str = ""
    printed: str = ""
    after: str = ""


def explain_facts(response: Fetched, wanted: Wanted) -> list[ExplainedFact]:
    """Return the wanted facts that a page has by itself, each with its place."""
    page = read_facts(response.url, response.body, response.content_type, response.charset)
    text = page.lines.text
    explained = []
    for fact in settled_facts(page, response, wanted, SiteProfile(), None):
        if fact.field not in (*wanted.fields, wanted.kind.title):
            continue
        if not fact.end:
            explained.append(ExplainedFact(fact))
            continue
        around = text[max(0, fact.start - CONTEXT) : fact.start], text[fact.end : fact.end + CONTEXT]
        before, after = (" ".join(part.split()) for part in around)
        explained.append(ExplainedFact(fact, before, " ".join(text[fact.start : fact.end].split()), after))
    return explained


@dataclass(frozen=True, slots=True)
class MarkedLine:
    """One line of a page in pieces: text, and the fact that it is, if any."""

    pieces: tuple[tuple[str, Fact | None], ...]


def marked_page(
    workspace: Workspace, wanted: Wanted, site: str, url: str
) -> tuple[FactPage, list[MarkedLine]]:
    """Return a page with the facts found on it in their places. Raises UsageError if it is not archived."""
    answer = _page_of(workspace, site, url)
    page = read_facts(url, answer.body, answer.content_type, answer.charset)
    facts = sorted(settled_facts(page, answer, wanted, SiteProfile(), None), key=lambda fact: fact.start)
    lines = []
    for line_start, line in zip(page.lines.starts, page.lines.lines, strict=False):
        pieces: list[tuple[str, Fact | None]] = []
        at, line_end = line_start, line_start + len(line)
        for fact in facts:
            start, end = max(fact.start, at), min(fact.end, line_end)
            if start < end:
                pieces += [(page.lines.text[at:start], None), (page.lines.text[start:end], fact)]
                at = end
        pieces.append((page.lines.text[at:line_end], None))
        lines.append(MarkedLine(tuple(piece for piece in pieces if piece[0])))
    return page, lines


def merge_entities(workspace: Workspace, kind: KindSpec, one: str, other: str) -> None:
    """Make the entities of two descriptions one for good. Raises UsageError for an unknown description."""
    known = workspace.stores.facts.states(kind.kind)
    if unknown := [key for key in (one, other) if key not in known]:
        raise UsageError(
            f"There are no facts of {unknown[0] or 'an empty address'}, so nothing can be merged."
        )
    workspace.stores.facts.pair(kind.kind, one, other, same=True)
    sync_entities(workspace, kind)


def split_entity(workspace: Workspace, kind: KindSpec, key: str) -> None:
    """Make a description an entity of its own for good, apart from the others of its entity."""
    for other in workspace.stores.facts.companions(kind.kind, key):
        workspace.stores.facts.pair(kind.kind, key, other, same=False)
    sync_entities(workspace, kind)

"""What may be meant by the beginning of a name, a topic or a title, while it is typed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from trailmark.organise.search.answer import Suggestion
from trailmark.organise.search.engine import tantivy
from trailmark.organise.search.opened import Opened
from trailmark.organise.search.terms import terms

SHORTEST_TITLE = 2  # letters from which titles are looked for: with one, nearly all would match
MOST_SUGGESTIONS = 50
MOST_BEGINNINGS = 200  # titles that begin so, among which the most cited are looked for
LONGEST_TYPED = 100


def suggest(opened: Opened, typed: str, count: int) -> list[Suggestion]:
    """Up to a third authors and a third topics, the commonest first; the rest titles."""
    found = terms(typed[:LONGEST_TYPED])
    count = min(count, MOST_SUGGESTIONS)
    if not found or count < 1:
        return []
    share = max(1, count // 3)
    people = list(_names(opened, "author", " ".join(found), share))
    topics = list(_names(opened, "topic", " ".join(found), share))
    titles = _titles(opened, found, count) if len(typed.strip()) >= SHORTEST_TITLE else []
    return [*topics, *people, *titles][:count]


def _names(opened: Opened, kind: Literal["author", "topic"], typed: str, count: int) -> Iterator[Suggestion]:
    """Names stand in the index from each of their words on, so the same one may come twice."""
    field = "person_key" if kind == "author" else "topic_key"
    known: dict[str, int] = {}
    for key, documents in opened.searcher.terms_with_prefix(field, typed, limit=4 * count):
        known.setdefault(key.partition("\x1f")[2], documents)
    ordered = sorted(known.items(), key=lambda entry: (-entry[1], entry[0]))
    for name, documents in ordered[:count]:
        yield Suggestion(name, kind, documents)


def _titles(opened: Opened, found: list[str], count: int) -> list[Suggestion]:
    """Titles that begin with what was typed, then others that have the words; the most cited first."""
    searcher = opened.searcher
    keys = searcher.terms_with_prefix("title_key", " ".join(found), limit=MOST_BEGINNINGS)
    begun = tantivy.Query.term_set_query(
        opened.index.schema, "key", [key.partition("\x1f")[2] for key, _ in keys]
    )
    titles: dict[str, Suggestion] = {}
    for query in (begun, opened.held(_title_query(opened, found))):
        if len(titles) < count:
            for _, address in searcher.search(query, count, count=False, order_by_field="cited").hits:
                shown = opened.shown(address)
                titles.setdefault(shown["title"], _title(shown))
    return list(titles.values())[:count]


def _title(shown: dict[str, Any]) -> Suggestion:
    return Suggestion(shown["title"], "title", 1, shown["id"], shown["kind"])


def _title_query(opened: Opened, found: list[str]) -> tantivy.Query:
    make, occur = tantivy.Query, tantivy.Occur
    schema = opened.index.schema
    *whole, begun = found
    queries = [(occur.Must, make.term_query(schema, "title", word, "freq")) for word in whole]
    queries.append((occur.Must, make.fuzzy_term_query(schema, "title", begun, 0, prefix=True)))
    return make.boolean_query(queries)

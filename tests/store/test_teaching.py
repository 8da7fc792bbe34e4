"""Keywords that a teacher names are kept with the session."""

from __future__ import annotations

from wayhound.store.database import Database
from wayhound.store.teaching import TeachingStore


def test_keywords_of_submitted_sessions_are_pooled(database: Database) -> None:
    store = TeachingStore(database)
    first = store.begin("free", ["http://a.example/"], "Ada", 1.0)
    store.set_keywords(first.id, ["professor", "tea"])
    assert store.sessions()[0].keywords == ("professor", "tea")
    assert store.keywords() == ()  # not submitted yet
    store.end(first.id, 2.0)
    second = store.begin("free", ["http://b.example/"], "Ada", 3.0)
    store.set_keywords(second.id, ["tea", "papers"])
    store.end(second.id, 4.0)
    assert store.keywords() == ("tea", "papers", "professor")

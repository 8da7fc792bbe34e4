"""Ordering what was found: topics, citations, the search index."""

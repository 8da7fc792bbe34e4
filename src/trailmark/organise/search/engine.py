"""The search library, or a sentence that says how to get it: it is an extra."""

from __future__ import annotations

from trailmark.errors import UsageError

try:
    import tantivy
except ImportError:
    raise UsageError("The search index needs tantivy: pip install 'trailmark[portal]'") from None

__all__ = ["count_of", "tantivy"]


def count_of(result: tantivy.SearchResult) -> int:
    """How many documents match; the library's own types leave it out."""
    return int(result.count)  # type: ignore[attr-defined]

"""Addresses on the portal: one for each record, topic and search."""

from __future__ import annotations

import re
import unicodedata
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from functools import lru_cache
from itertools import chain, count
from urllib.parse import quote, quote_plus, urlsplit

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,199}")
_CODED = re.compile(r"=[A-Za-z0-9_-]{0,4000}")
_NOT_WORD = re.compile(r"[^a-z0-9]+")


def to_key(text: str) -> str:
    """Return the text itself if it is plain, else `=` and its base64: never a slash, a dot or a space."""
    if _PLAIN.fullmatch(text):
        return text
    return "=" + urlsafe_b64encode(text.encode("utf-8", "replace")).decode().rstrip("=")


def from_key(key: str) -> str | None:
    """Return the text of a key; None for anything else, a second spelling of a key included."""
    if _PLAIN.fullmatch(key):
        return key
    if not _CODED.fullmatch(key):
        return None
    try:
        text = urlsafe_b64decode(key[1:] + "=" * (-len(key[1:]) % 4)).decode()
    except ValueError:
        return None
    return text if to_key(text) == key else None


def slugs(names: Iterable[str]) -> list[str]:
    """Return a short word for each of some sibling names, all different: `machine-learning`."""
    taken: dict[str, None] = {}
    for name in names:
        slug = _slug(name)
        candidates = chain([slug], (f"{slug}-{number}" for number in count(2)))
        taken[next(candidate for candidate in candidates if candidate not in taken)] = None
    return list(taken)


def _slug(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    return _NOT_WORD.sub("-", plain).strip("-") or "topic"


def record_url(kind: str, record_id: str) -> str:
    return f"/records/{to_key(kind)}/{to_key(record_id)}"


quoted = lru_cache(maxsize=20_000)(quote_plus)
"""A value as a part of a query string. A page of results has a hundred of them, and most recur on the next."""


def search_url(query: str, **options: str | int | None) -> str:
    """Return a search, with those of its options that differ from the defaults."""
    changed = {name: value for name, value in options.items() if value not in (None, "", 1)}
    return "/search?" + "&".join(
        f"{name}={quoted(str(value))}" for name, value in {"q": query, **changed}.items()
    )


def field_query(field: str, text: str) -> str:
    """Return a search for a value in a field, as a person would type it."""
    plain = " ".join(text.replace('"', " ").split())
    return f'{field}:"{plain}"' if not plain.isalnum() else f"{field}:{plain}"


def outside_url(text: str) -> str:
    """Return a web address that is safe in a link; empty for anything else."""
    parts = urlsplit(text) if len(text) < 4000 and text.isprintable() else urlsplit("")
    return text if parts.scheme in {"http", "https"} and parts.netloc else ""


def doi_url(doi: str) -> str:
    name = doi.strip().lower().removeprefix("https://doi.org/").removeprefix("doi:").strip()
    return f"https://doi.org/{quote(name, safe='/()')}" if name.startswith("10.") else ""

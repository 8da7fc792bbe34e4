"""Where things stand on the portal: one address for a record, a topic, a search."""

from __future__ import annotations

import re
import unicodedata
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from itertools import count
from urllib.parse import quote, urlencode, urlsplit

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,199}")
_CODED = re.compile(r"=[A-Za-z0-9_-]{0,4000}")
_APART = re.compile(r"[^a-z0-9]+")


def to_key(text: str) -> str:
    """The text itself where it is plain, else `=` and its code: never a slash, a dot or a blank."""
    if _PLAIN.fullmatch(text):
        return text
    return "=" + urlsafe_b64encode(text.encode("utf-8", "replace")).decode().rstrip("=")


def from_key(key: str) -> str | None:
    """The text of a key; none for what is no key, or a second spelling of one."""
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
    """A short word for each of some sibling names, no two alike: `machine-learning`."""
    found: dict[str, None] = {}
    for name in names:
        slug = _slug(name)
        numbered = (f"{slug}-{number}" for number in count(2))
        found[slug if slug not in found else next(each for each in numbered if each not in found)] = None
    return list(found)


def _slug(name: str) -> str:
    plain = unicodedata.normalize("NFKD", name.casefold()).encode("ascii", "ignore").decode()
    return _APART.sub("-", plain).strip("-") or "topic"


def record_url(kind: str, record_id: str) -> str:
    return f"/records/{to_key(kind)}/{to_key(record_id)}"


def search_url(query: str, **options: str | int | None) -> str:
    """A search with those of its options that differ from the usual."""
    chosen = {name: value for name, value in options.items() if value not in (None, "", 1)}
    return "/search?" + urlencode({"q": query, **chosen})


def field_query(field: str, text: str) -> str:
    """A search for a value in a field, as a person would type it."""
    plain = " ".join(text.replace('"', " ").split())
    return f'{field}:"{plain}"' if not plain.isalnum() else f"{field}:{plain}"


def outside_url(text: str) -> str:
    """An address that may stand in a link of ours; "" for what is no web address."""
    parts = urlsplit(text) if len(text) < 4000 and text.isprintable() else urlsplit("")
    return text if parts.scheme in {"http", "https"} and parts.netloc else ""


def doi_url(doi: str) -> str:
    found = doi.strip().lower().removeprefix("https://doi.org/").removeprefix("doi:").strip()
    return f"https://doi.org/{quote(found, safe='/()')}" if found.startswith("10.") else ""

"""Ids of records and names of topics as they stand in addresses, whatever characters they hold."""

from __future__ import annotations

import re
import unicodedata
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable
from itertools import count

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

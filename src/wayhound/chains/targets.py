"""Target rules: patterns that the text of a link may follow (Definition 8 and Algorithm 4)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_PARTICLES = frozenset(
    """al ben bin d da das de del della den der di dos du e el ibn la le los of san st ten ter und van vel von y
    zu""".split()
)
_NOT_IN_NAMES = re.compile(r"[\d@/:;!?#%=<>|]")
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}"
    r"|(?:[^\W\d_]{3,9}\.? )?\d{1,2}(?:st|nd|rd|th|\.)?,? (?:[^\W\d_]{3,10}\.?,? )?\d{4}"
)
_NUMBER = re.compile(r"[-+]?\d[\d.,  ]*%?")
_URL = re.compile(r"(?:https?://|www\.)\S+|[\w-]+(?:\.[\w-]+)+/\S*", re.IGNORECASE)
_YEAR = re.compile(r"\(?(?:1[5-9]|20|21)\d\d\)?")


def _is_person(text: str) -> bool:
    parts = text.replace(",", " ").split()
    if not 1 <= len(parts) <= 6 or _NOT_IN_NAMES.search(text):
        return False
    # names have particles, initials, nicknames in quotes and odd letters: most parts must be capitalised, not all
    named = [
        word for part in parts if part.lower() not in _PARTICLES and (word := part.strip("()[]\"'“”‘’.-"))
    ]
    return bool(named) and 2 * sum(map(_is_capital, named)) >= len(named)


def _is_capital(word: str) -> bool:
    # letters without case, as in Chinese or Arabic names, count as capitals
    return word[:1].isupper() or not (word[:1].islower() or word[:1].isdigit())


def _is_title_case(text: str) -> bool:
    words = [word for word in re.findall(r"[^\W_]+", text) if len(word) > 3]
    return bool(words) and all(_is_capital(word) or word[0].isdigit() for word in words)


PATTERNS: dict[str, Callable[[str], bool]] = {
    "year": lambda text: bool(_YEAR.fullmatch(text)),
    "number": lambda text: bool(_NUMBER.fullmatch(text)),
    "date": lambda text: bool(_DATE.fullmatch(text)),
    "url": lambda text: bool(_URL.fullmatch(text)),
    "person name": _is_person,
    "title case": _is_title_case,
    "any": lambda _text: True,
}
"""The patterns by name, the most specific first. Add to it to make another one known."""


def has_anchor_text_pattern(name: str, text: str) -> bool:
    """Return True if a link's text follows a pattern (the predicate HasAnchorTextPattern)."""
    return PATTERNS[name](text.strip())


def choose_pattern(texts: Sequence[str]) -> str:
    """Return the most specific pattern that all texts follow (Algorithm 4); `any` if no other matches all.

    Algorithm 4 takes the pattern with the highest match count. `any` always has the highest, so a tie goes to the
    more specific pattern, and a pattern that misses a text is behind `any`. Single capitalised words are names only
    among names of several words.
    """
    counts = {name: sum(has_anchor_text_pattern(name, text) for text in texts) for name in PATTERNS}
    if 2 * sum(" " in text for text in texts) < len(texts):
        counts["person name"] = 0
    most = max(counts.values(), default=0)
    return next(name for name, count in counts.items() if count == most)

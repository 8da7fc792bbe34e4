"""Singulars of English nouns by their endings, without a dictionary."""

from __future__ import annotations

ENDINGS_OF_SINGULARS = ("ss", "us", "is", "ics")


def singular(word: str, singular_endings: tuple[str, ...] = ENDINGS_OF_SINGULARS) -> str:
    """Return the singular of a lower-case English plural; other words are returned unchanged.

    Words with one of `singular_endings` count as singulars.

    >>> [singular(word) for word in ("studies", "classes", "papers", "campus", "gas")]
    ['study', 'class', 'paper', 'campus', 'gas']
    """
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith("sses"):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(singular_endings):
        return word[:-1]
    return word

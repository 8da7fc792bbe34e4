"""Numbers, durations, addresses and long texts in the short form that people read."""

from __future__ import annotations


def count(number: int, noun: str, plural: str = "") -> str:
    """Return `1 site`, `2 sites` or `1,200 pages`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def format_duration(seconds: float) -> str:
    """Return `40 s`, `12 min` or `3.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def short_url(url: str) -> str:
    """Return the URL without scheme and final slash, so that tables fit a narrow terminal."""
    return url.partition("://")[2].removesuffix("/") or url


def shorten(text: str, most: int) -> str:
    """Return at most `most` characters of the text, with an ellipsis where it was cut."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"

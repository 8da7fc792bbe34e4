"""Labels, numbers, durations, addresses and long texts in the short form that people read."""

from __future__ import annotations

from wayhound.trail import FAIL, GOAL


def count(number: int, noun: str, plural: str = "") -> str:
    """Return `1 site`, `2 sites` or `1,200 pages`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def format_probability(probability: float) -> str:
    """Return `93%`; `<1%` and `>99%` for what would be rounded to impossible or certain and is not."""
    rounded = f"{probability:.0%}"
    if rounded == "0%" and probability > 0:
        return "<1%"
    return ">99%" if rounded == "100%" and probability < 1 else rounded


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


_CLICKS = ("", "one click", "two clicks", "three or more clicks")
_RESERVED = {GOAL: "a goal", FAIL: "a rejected page"}


def format_label(label: str) -> str:
    """Return a label or state in words; labels that people gave stay as they are.

    A state is a label after one `<` for each click before it (PathLearner, section 1.2): `<<Goal` is two clicks
    before a goal, `<people` is on the way to people.
    """
    name = label.lstrip("<")
    clicks = len(label) - len(name)
    words = _RESERVED.get(name, name)
    if not clicks:
        return words
    if name == GOAL:
        return f"{_CLICKS[min(clicks, 3)]} before {words}"
    return f"on the way to {words}"

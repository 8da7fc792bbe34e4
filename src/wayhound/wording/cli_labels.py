"""Labels and states as people read them."""

from __future__ import annotations

from rich.text import Text

from wayhound.cli.console import count
from wayhound.trail import FAIL, GOAL


def label_text(label: str) -> Text:
    """A label as a person reads it: states before a goal say how many clicks are left."""
    return Text(in_words(label), style={GOAL: "green", FAIL: "red"}.get(label, ""))


def in_words(label: str) -> str:
    """`<<Goal` is two clicks before a goal; `<people` is on the way to people (section 1.2)."""
    name = label.lstrip("<")
    before = len(label) - len(name)
    if not before:
        return label
    if name == GOAL:
        return f"{count(before, 'click')} before {name}"
    return f"on the way to {name}"

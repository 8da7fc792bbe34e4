"""Labels of pages, and the states of a path model, in words."""

from __future__ import annotations

from wayhound.trail import FAIL, GOAL

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

"""Labels and reasons of models in words for people."""

from __future__ import annotations

from collections.abc import Sequence

from wayhound.trail import FAIL, GOAL
from wayhound.wording.faults import ending_words, fault_words
from wayhound.wording.reasons import reason_words

_CLICKS = ("", "one click", "two clicks", "three or more clicks")
REASONS_SHOWN = 4
_LETS = ("--allow-private lets it", "allow_private = true in wayhound.toml lets it")


def label_words(label: str) -> str:
    """`one click before a goal` for `<Goal`; labels that people gave stay as they are."""
    name = label.lstrip("<")
    clicks = len(label) - len(name)
    if clicks and name == GOAL:
        return f"{_CLICKS[min(clicks, 3)]} before a goal"
    if clicks and name == FAIL:
        return "on a way that leads nowhere"
    if clicks:
        return f"before {name}"
    return {GOAL: "a goal", FAIL: "not this way"}.get(name, name)


def reasons(why: Sequence[tuple[str, float]]) -> str:
    return ", ".join(f"{reason_words(name)} {weight:+.2f}" for name, weight in why[:REASONS_SHOWN])


def said_here(sentence: str) -> str:
    """A sentence in which what would let a request through is said as it is done here, not by a command."""
    return sentence.replace(*_LETS)


def fault_told(reason: str) -> str:
    """Why a request failed."""
    return said_here(fault_words(reason))


def ending_told(reason: str) -> str:
    """Why a site ended."""
    return said_here(ending_words(reason))


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 page`, `2 pages`, `1,200 pages`."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"

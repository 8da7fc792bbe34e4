"""Sentences about topics: how training went, and what a topic tree lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from wayhound.wording.quantities import count


def training_summary(history: Mapping[str, Any]) -> str:
    """Return one line about a training, from the history in its model file."""
    rounds = count(len(history["rounds"]) - 1, "round")
    ending = f"converged after {rounds}" if history["converged"] else f"{rounds} of EM"
    return (
        f"{count(history['documents'], 'document')}, {history['coverage']:.0%} of them with a keyword; "
        f"{ending}; {history['nowhere']:,} fit nowhere"
    )


def empty_topics_warning(history: Mapping[str, Any]) -> str:
    """Return a warning about topics that no document has a keyword of, or an empty text."""
    if not history.get("empty"):
        return ""
    return f"No document contains a keyword of: {', '.join(history['empty'])}. These topics stay empty."


def papers_placed(placed: int, papers: int) -> str:
    return f"{count(placed, 'paper')} of {papers:,} placed under a topic."

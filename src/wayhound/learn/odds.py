"""Log odds of probabilities, without numpy: what a forage loads at start uses them too."""

from __future__ import annotations

import math


def log_odds(probability: float, least: float) -> float:
    """Return the log odds of a probability, which is kept at least so far from 0 and 1 that they are finite."""
    bounded = min(max(probability, least), 1 - least)
    return math.log(bounded / (1 - bounded))

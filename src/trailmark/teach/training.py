"""From trails to a model, by the name of the strategy that it is for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from trailmark.learn.path_model import ForageModel, unpack
from trailmark.learn.path_settings import LITERAL, Settings
from trailmark.teach.apart_training import focused, maxent, naive_bayes
from trailmark.teach.path_training import PathTraining
from trailmark.trail import Trail, goal_kinds

__all__ = ["LITERAL", "TRAINERS", "ForageModel", "Settings", "Trainer", "unpack"]

Trainer = Callable[[Sequence[Trail], Settings], ForageModel]


def _knowing_kinds(train: Trainer) -> Trainer:
    """A model knows what kinds of goals it was taught, whatever else it learns."""
    return lambda trails, settings: replace(train(trails, settings), goal_kinds=goal_kinds(trails))


TRAINERS: dict[str, Trainer] = {
    "path-learner": _knowing_kinds(lambda trails, settings: PathTraining(settings).fit(trails)),
    "maxent": _knowing_kinds(maxent),
    "naive-bayes": _knowing_kinds(naive_bayes),
    "focused": _knowing_kinds(focused),
}

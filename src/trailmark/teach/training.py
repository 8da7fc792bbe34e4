"""From trails to a model, by the name of the strategy that it is for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trailmark.learn.path_model import ForageModel, unpack
from trailmark.learn.path_settings import LITERAL, Settings
from trailmark.teach.apart_training import focused, maxent, naive_bayes
from trailmark.teach.path_training import PathTraining
from trailmark.trail import Trail

__all__ = ["LITERAL", "TRAINERS", "ForageModel", "Settings", "Trainer", "unpack"]

Trainer = Callable[[Sequence[Trail], Settings], ForageModel]

TRAINERS: dict[str, Trainer] = {
    "path-learner": lambda trails, settings: PathTraining(settings).fit(trails),
    "maxent": maxent,
    "naive-bayes": naive_bayes,
    "focused": focused,
}

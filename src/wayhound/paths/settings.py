"""The settings of a path model: how it learns from trails and how it is used, saved with the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self, get_args

from wayhound.errors import ModelError

Topology = Literal["pairs", "labels"]
States = Literal["clicks", "prefix", "binary"]
Lessons = Literal["links", "trails"]
Rewards = Literal["harvest", "discounted"]
Combine = Literal["max", "sum"]
Words = Literal["all", "paper", "literal"]

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "topology": get_args(Topology),
    "states": get_args(States),
    "lessons": get_args(Lessons),
    "rewards": get_args(Rewards),
    "combine": get_args(Combine),
    "features": get_args(Words),
}


@dataclass(frozen=True, slots=True)
class PathSettings:
    """Section and equation numbers are those of Vydiswaran & Sarawagi (2005)."""

    # the number of words of a page's body that are used: 0, 10 and 100 in 4.3.1
    body_tokens: int = 100
    # the number of words before and after a link that are used, ten at most (4.2)
    window: int = 10
    # "paper": words of pages, links and URLs (4.2), without plurals and with one digit for all numbers; "literal":
    # the same as they stand; "all": as "paper", and the position of a link and the page it is on
    features: Words = "all"
    # the least number of taught sites that a token must occur on: a word of one site says nothing about others
    min_sites: int = 2
    # the variance of the Gaussian prior on the weights
    prior_variance: float = 0.3
    # the same for transitions from label to label, tighter: the paths of a few taught sites are not those of all
    step_variance: float = 0.1
    # "pairs": a page state and a link state for each label (2.4.2); "labels": one state each, with the words of
    # a link as features of the transition (2.4.1)
    topology: Topology = "pairs"
    # the states of unlabelled pages: "clicks" by their distance to a goal; "prefix" by the label that follows on
    # their trail (1.2); "binary" has goals and others alone (4.3.2)
    states: States = "clicks"
    # "trails": whole trails, each once (2.3); "links": every taught link with the path to it, and the links
    # between taught pages that no trail clicked
    lessons: Lessons = "links"
    # the reward of a state: "harvest", the goals per page that were really behind it; "discounted", the expected
    # end of a taught trail from there (Eq. 3 to 5)
    rewards: Rewards = "harvest"
    # the power to which harvests are raised: the larger, the more a goal now counts against a goal later. The
    # best of hundreds of links in a frontier is often an overrated one, and distant rewards suffer most from it
    sharpness: float = 2.0
    # the discount per position in Eq. 4
    gamma: float = 0.9
    # the score of a link that is met on several paths: the best, or the sum (3.3)
    combine: Combine = "max"
    # the share of a link's score that is the mean over the links of its page
    neighbours: float = 0.5
    # whether the outcomes of fetched links revise the scores of links in the same list
    within_site: bool = True

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Return the settings of a model file. Raises ModelError if one is missing, unknown or of another type."""
        types = {setting.name: type(setting.default) for setting in fields(cls)}
        if not isinstance(data, Mapping) or data.keys() != types.keys():
            raise ModelError("The model's settings are not those that this version knows: train it again.")
        for name, expected in types.items():
            value = data[name]
            fits = isinstance(value, (int, float)) if expected is float else type(value) is expected
            if not fits or value not in _CHOICES.get(name, (value,)):
                raise ModelError(f"The model's setting {name} cannot be {value!r}.")
        return cls(**data)


LITERAL = PathSettings(
    features="literal",
    min_sites=1,
    prior_variance=10.0,
    step_variance=10.0,
    states="prefix",
    lessons="trails",
    rewards="discounted",
    combine="sum",
    neighbours=0.0,
    within_site=False,
)
"""The method of the paper to the letter, for comparison."""

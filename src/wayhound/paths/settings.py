"""How a model is learned from trails and used: all that can be chosen, in one value that is kept with it."""

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
Words = Literal["all", "paper"]

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
    """Section numbers are those of Vydiswaran & Sarawagi (2005)."""

    # how many words of a page's body are looked at: 0, 10 and 100 in 4.3.1
    body_tokens: int = 100
    # how many words before and after a link are looked at, ten at most (4.2)
    window: int = 10
    # "paper": words of pages, links and URLs alone (4.2); "all": also where a link stands and on what page
    features: Words = "all"
    # a token must come on so many taught sites, for a word of one site tells of no other
    min_sites: int = 2
    # how far weights may go from 0: the variance of the Gaussian prior
    prior_variance: float = 0.3
    # the same for the steps from label to label: the ways of a few taught sites are not those of all
    step_variance: float = 0.1
    # "pairs": a page state and a link state for each label (2.4.2); "labels": one state each, with the words
    # of a link as features of the step (2.4.1)
    topology: Topology = "pairs"
    # what pages without a label are: "clicks", how many clicks before a goal they are; "prefix", before which
    # label they come on their trail (1.2); "binary" knows nothing but goals and others (4.3.2)
    states: States = "clicks"
    # "trails": whole trails, each once (2.3); "links": every taught link with the path to it, and the links
    # between taught pages that no trail took
    lessons: Lessons = "links"
    # what a state is worth: "harvest", the goals per page that were really behind it; "discounted", the
    # expected end of a taught trail from there (Eq. 3 to 5)
    rewards: Rewards = "harvest"
    # the power to which harvests are raised: the larger, the more a goal at hand counts against a promise. The
    # best of hundreds of waiting links is often one whose chance is overrated, and promises suffer most from it
    sharpness: float = 2.0
    # how much less a goal counts one position farther away, in Eq. 4
    gamma: float = 0.9
    # the score of a link that is met on several paths: the best, or the sum of all (3.3)
    combine: Combine = "max"
    # how much of a link's score is the mean over the links of its page
    neighbours: float = 0.5
    # whether links that turned out to be worth little or much revise those that stand beside them
    within_site: bool = True

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Settings as a model file holds them; what is missing, unknown or of another type is an error."""
        kinds = {each.name: type(each.default) for each in fields(cls)}
        if not isinstance(data, Mapping) or data.keys() != kinds.keys():
            raise ModelError("The model's settings are not those that this version knows: train it again.")
        for name, kind in kinds.items():
            value = data[name]
            fits = isinstance(value, (int, float)) if kind is float else type(value) is kind
            if not fits or value not in _CHOICES.get(name, (value,)):
                raise ModelError(f"The model's setting {name} cannot be {value!r}.")
        return cls(**data)


LITERAL = PathSettings(
    features="paper",
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
"""The method as the paper has it, for comparison."""

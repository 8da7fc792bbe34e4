"""The models of all strategies behind one door: their settings by name, training, and unpacking.

Path models learn from trails; `q-spider` learns from whole recorded sites, `hop-hmm` and `hop-crf` from the pages
that a person visited and marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, Protocol

from wayhound.errors import ModelError, TeachingError, UsageError
from wayhound.learn.arrays import Floats
from wayhound.learn.model_file import Arrays
from wayhound.paths.hops import (
    CRF_STRATEGY,
    HMM_STRATEGY,
    HopSettings,
    browsed_sites,
    train_hops,
    unpack_hop_model,
)
from wayhound.paths.model import ADAPTIVE_STRATEGY, unpack
from wayhound.paths.q_model import Q_STRATEGY, QSettings, train_q_spider, unpack_q_model
from wayhound.paths.rollout import RecordedSite
from wayhound.paths.settings import PathSettings
from wayhound.paths.trainers import TRAINERS, CompleteLists, UnlabelledPages, train_adaptive
from wayhound.trail import Trail

Settings = PathSettings | QSettings | HopSettings

SPIDERS: Mapping[str, QSettings | HopSettings] = {
    Q_STRATEGY: QSettings(),
    HMM_STRATEGY: HopSettings(),
    # the scores of the CRF are no probabilities of paths, so its most probable last step says less than its marginals
    CRF_STRATEGY: HopSettings(order="marginals"),
}
"""The strategies that learn from visited or recorded sites, with their default settings."""

STRATEGY_NAMES = tuple(sorted([*TRAINERS, *SPIDERS]))
"""All strategies that can be trained."""


class TrainedModel(Protocol):
    """The parts that the model of every strategy has: names of states or bins, the worth of each, and its reasons."""

    @property
    def strategy(self) -> str: ...

    @property
    def labels(self) -> tuple[str, ...]: ...

    @property
    def rewards(self) -> Floats: ...

    @property
    def goal_kinds(self) -> tuple[str, ...]: ...

    def strongest(self, label: str, n: int) -> list[tuple[str, float]]: ...

    def pack(self) -> tuple[dict[str, Any], dict[str, Any]]: ...


@dataclass(frozen=True)
class Material:
    """The material of training: trails, and for spiders whole sites (by default, the pages on the trails).

    `unlabelled` pages of the taught sites help the strategy `adaptive`, and `complete` lists of the goals of some.
    """

    trails: Sequence[Trail] = ()
    sites: Sequence[RecordedSite] = ()
    keywords: tuple[str, ...] = ()
    unlabelled: UnlabelledPages = field(default_factory=dict)
    complete: CompleteLists = field(default_factory=dict)

    def without(self, site: str) -> Material:
        """Return the material of the other sites."""
        return replace(
            self,
            trails=[trail for trail in self.trails if trail.site != site],
            sites=[recorded for recorded in self.sites if recorded.name != site],
            unlabelled={name: pages for name, pages in self.unlabelled.items() if name != site},
        )


def train_strategy(strategy: str, material: Material, settings: Settings) -> TrainedModel:
    """Return the model of any strategy. Raises TeachingError if the material does not suffice."""
    if strategy not in SPIDERS:
        assert isinstance(settings, PathSettings)
        if strategy == ADAPTIVE_STRATEGY:
            return train_adaptive(material.trails, settings, material.unlabelled, complete=material.complete)
        return TRAINERS[strategy](material.trails, settings)
    sites = material.sites or browsed_sites(material.trails)
    if not sites:
        raise TeachingError(
            f"The strategy {strategy} has nothing to learn from. Name recorded sites with labels (--teach FOLDER "
            "--goal LABEL), or browse some sites and mark useful pages: wayhound teach --free."
        )
    if isinstance(settings, QSettings):
        return train_q_spider(sites, settings)
    assert isinstance(settings, HopSettings)
    return train_hops(strategy, sites, material.trails, settings, material.keywords)


def unpack_model(arrays: Arrays, meta: Mapping[str, Any]) -> TrainedModel:
    """Return the packed model of any strategy. Raises ModelError if it is damaged or of an unknown one."""
    strategy = meta.get("strategy")
    if strategy == Q_STRATEGY:
        return unpack_q_model(arrays, meta)
    if strategy in SPIDERS:
        return unpack_hop_model(arrays, meta)
    return unpack(arrays, meta)


def default_settings(strategy: str) -> Settings:
    return SPIDERS.get(strategy) or PathSettings()


def settings_to_json(settings: Settings) -> dict[str, Any]:
    return asdict(settings)


def settings_from_json(strategy: str, data: Any) -> Settings:
    """Return the settings of a report. Raises ModelError if they are not those of the strategy."""
    default = SPIDERS.get(strategy)
    if default is None:
        return PathSettings.from_json(data)
    try:
        return type(default)(**data)
    except (TypeError, UsageError):
        raise ModelError(
            "The model's settings are not those that this version knows: train it again."
        ) from None


def change_settings(settings: Settings, changes: Iterable[str]) -> Settings:
    """Return settings with changes such as `topology=labels`. Raises UsageError for a name or value that is none."""
    known = {setting.name: getattr(settings, setting.name) for setting in fields(settings)}
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals or name not in known:
            raise UsageError(
                f"{change!r} is no setting. Write NAME=VALUE; the names are {', '.join(sorted(known))}."
            )
        known[name] = _parse(name, text, known[name])
    try:
        return settings_from_values(settings, known)
    except ModelError as error:
        raise UsageError(str(error).replace("The model's setting", "The setting")) from None


def settings_from_values(settings: Settings, values: Mapping[str, Any]) -> Settings:
    """Return settings of the same kind with these values, checked."""
    if isinstance(settings, PathSettings):
        return PathSettings.from_json(dict(values))
    return type(settings)(**values)


def _parse(name: str, text: str, example: Any) -> Any:
    """Read a value of the type of the example."""
    if isinstance(example, bool):
        choices = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        if text.lower() not in choices:
            raise UsageError(f"The setting {name} is yes or no, not {text!r}.")
        return choices[text.lower()]
    try:
        return type(example)(text)
    except ValueError:
        raise UsageError(f"The setting {name} is a number, not {text!r}.") from None

"""What can happen while a person teaches, and how it is written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from wayhound.page import Link


@dataclass(frozen=True, slots=True)
class Clicked:
    """A link was clicked on the page that the tab shows."""

    tab: int
    link: Link


@dataclass(frozen=True, slots=True)
class Stayed:
    """What was clicked led to nothing: the page did not come."""

    tab: int


@dataclass(frozen=True, slots=True)
class Led:
    """What was clicked led to a document that the tab does not show: its page stays, and the document is at
    hand to be marked."""

    tab: int
    url: str
    link: Link
    media_type: str = ""
    name: str = ""  # of the file


@dataclass(frozen=True, slots=True)
class TabOpened:
    """A page opened another tab or window, and what was clicked last may lead there."""

    tab: int
    opener: int


@dataclass(frozen=True, slots=True)
class Arrived:
    """A tab shows a page. `entry` is the browser's own number for this place in the tab's history; `link` is
    the link that led here from the page before, and none leads to pages that were typed in."""

    tab: int
    entry: int
    url: str
    link: Link | None = None


@dataclass(frozen=True, slots=True)
class Closed:
    """A tab is gone."""

    tab: int


@dataclass(frozen=True, slots=True)
class Marked:
    """A person gave the page a label; the empty one takes it away."""

    page: int
    label: str


@dataclass(frozen=True, slots=True)
class Undone:
    """The last mark or change of site is taken back."""


@dataclass(frozen=True, slots=True)
class NextSite:
    """The next site's turn."""


@dataclass(frozen=True, slots=True)
class Done:
    """The teacher has finished."""


Event = Clicked | Stayed | Led | TabOpened | Arrived | Closed | Marked | Undone | NextSite | Done

_KINDS: dict[str, type[Event]] = {
    "clicked": Clicked,
    "stayed": Stayed,
    "led": Led,
    "tab_opened": TabOpened,
    "arrived": Arrived,
    "closed": Closed,
    "marked": Marked,
    "undone": Undone,
    "next_site": NextSite,
    "done": Done,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def written(event: Event) -> tuple[str, dict[str, Any]]:
    """The kind of an event and its body, as they are kept."""
    return _NAMES[type(event)], asdict(event)


def read(kind: str, body: Mapping[str, Any]) -> Event:
    values = dict(body)
    if values.get("link"):
        link = dict(values["link"])
        values["link"] = Link(**link | {"before": tuple(link["before"]), "after": tuple(link["after"])})
    return _KINDS[kind](**values)

"""Events of a teaching session, and how they are serialised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from wayhound.errors import TeachingError
from wayhound.page import Link


@dataclass(frozen=True, slots=True)
class Clicked:
    """A link was clicked on the page that the tab shows."""

    tab: int
    link: Link


@dataclass(frozen=True, slots=True)
class NavigationFailed:
    """The page behind the clicked link did not load."""

    tab: int


@dataclass(frozen=True, slots=True)
class DocumentLinked:
    """The clicked link led to a document that the tab does not show: the page stays, the document can be marked."""

    tab: int
    url: str
    link: Link
    media_type: str = ""
    name: str = ""  # of the file


@dataclass(frozen=True, slots=True)
class TabOpened:
    """A page opened another tab or window; the link clicked last may lead there."""

    tab: int
    opener: int


@dataclass(frozen=True, slots=True)
class Arrived:
    """A tab shows a page.

    `entry` is the browser's id of this entry in the tab's history. `link` led here from the page before; it is
    None for addresses that were typed in.
    """

    tab: int
    entry: int
    url: str
    link: Link | None = None


@dataclass(frozen=True, slots=True)
class Closed:
    """A tab was closed."""

    tab: int


@dataclass(frozen=True, slots=True)
class Marked:
    """A person labelled a page; an empty label removes the mark."""

    page: int
    label: str


@dataclass(frozen=True, slots=True)
class Undone:
    """The last mark or change of site was undone."""


@dataclass(frozen=True, slots=True)
class NextSite:
    """The teacher moved on to the next site."""


@dataclass(frozen=True, slots=True)
class Done:
    """The teacher finished the session."""


Event = (
    Clicked
    | NavigationFailed
    | DocumentLinked
    | TabOpened
    | Arrived
    | Closed
    | Marked
    | Undone
    | NextSite
    | Done
)

_KINDS: dict[str, type[Event]] = {  # these names are stored: they never change
    "clicked": Clicked,
    "stayed": NavigationFailed,
    "led": DocumentLinked,
    "tab_opened": TabOpened,
    "arrived": Arrived,
    "closed": Closed,
    "marked": Marked,
    "undone": Undone,
    "next_site": NextSite,
    "done": Done,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


def serialise(event: Event) -> tuple[str, dict[str, Any]]:
    """Return the kind of an event and its body, as they are stored."""
    return _NAMES[type(event)], asdict(event)


def deserialise(kind: str, body: Mapping[str, Any]) -> Event:
    """Return a stored event. Raises TeachingError if a part of it is missing or unknown to this version."""
    try:
        values = dict(body)
        if values.get("link"):
            link = dict(values["link"])
            values["link"] = Link(**link | {"before": tuple(link["before"]), "after": tuple(link["after"])})
        return _KINDS[kind](**values)
    except (KeyError, TypeError, ValueError) as error:
        raise TeachingError(
            f"A stored step of this teaching session cannot be read: {kind} lacks or has an unknown part ({error}). "
            "Trails that were saved before are kept; teach the site again."
        ) from None

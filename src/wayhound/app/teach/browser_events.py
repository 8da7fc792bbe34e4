"""What a browser can let the recorder know, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from wayhound.app.teach.tab import Moved, Said, Tab

if TYPE_CHECKING:
    from playwright.async_api import Frame, Page


@dataclass(frozen=True, slots=True)
class NewPage:
    """A tab or window has opened."""

    page: Page


@dataclass(frozen=True, slots=True)
class Gone:
    """A tab was closed."""

    tab: Tab


@dataclass(frozen=True, slots=True)
class Crashed:
    """What a tab shows has crashed."""

    tab: Tab


@dataclass(frozen=True, slots=True)
class Download:
    """A click led to a file that the browser would save instead of showing it."""

    tab: Tab
    url: str
    name: str


@dataclass(frozen=True, slots=True)
class FrameMoved:
    """A frame shows another document, perhaps in another process than before."""

    tab: Tab
    frame: Frame


@dataclass(frozen=True, slots=True)
class BrowserGone:
    """The last window was closed, or the browser killed."""


@dataclass(frozen=True, slots=True)
class Finished:
    """The teacher is done."""


Signal = Said | Moved | NewPage | Gone | Crashed | Download | FrameMoved | BrowserGone | Finished

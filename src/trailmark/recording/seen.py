"""A page as the teacher saw it: its markup after scripts have run, without what was typed into it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from trailmark.url import normalise

# As browsers write elements out: every attribute with its value in double quotes. Nothing here goes back over
# what it has read, so that no page can make it slow.
_ATTRIBUTES = r'(?:\s++[^\s=<>"]++(?:="[^"]*+")?+)*+\s*+'
_INPUT = re.compile(rf"<input{_ATTRIBUTES}/?>", re.IGNORECASE)
_TEXTAREA = re.compile(rf"(<textarea{_ATTRIBUTES}>)[^<]*+", re.IGNORECASE)
_VALUE = re.compile(r'\svalue="[^"]*+"', re.IGNORECASE)
_PRESSED = re.compile(r'\stype="(?:submit|button|reset|image)"', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SeenPage:
    """What the bar tells of the document that it stands in."""

    url: str
    title: str
    html: str
    content_type: str
    asks_to_log_in: bool = False

    @classmethod
    def told(cls, message: dict[str, Any]) -> SeenPage | None:
        """From a message of the bar; None if it holds no page that could be fetched."""
        url = normalise(str(message.get("url", "")))
        if not url or "html" not in message:
            return None
        return cls(
            url,
            str(message.get("title", ""))[:1000],
            without_typing(str(message["html"])),
            str(message.get("type", "text/html")),
            bool(message.get("login")),
        )


def without_typing(html: str) -> str:
    """Some pages write what is typed back into their markup; what a person types is never recorded."""
    return _TEXTAREA.sub(r"\1", _INPUT.sub(_without_value, html))


def _without_value(found: re.Match[str]) -> str:
    return found[0] if _PRESSED.search(found[0]) else _VALUE.sub("", found[0])

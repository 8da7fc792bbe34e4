"""What a person's mouse and keys did on the picture of a browser, read from JSON with care."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from wayhound.net.screencast import KeyKind, MouseButton, MouseKind
from wayhound.web.errors import BadRequest

MOST_EVENTS = 200
MOST_WHEEL = 5000.0
MOST_NAME = 40

_MOUSE: Mapping[str, MouseKind] = {
    "press": "mousePressed",
    "release": "mouseReleased",
    "move": "mouseMoved",
    "wheel": "mouseWheel",
}
_KEYS: Mapping[str, KeyKind] = {"down": "keyDown", "up": "keyUp"}
_BUTTONS: tuple[MouseButton, ...] = ("left", "middle", "right")


@dataclass(frozen=True, slots=True)
class MouseEvent:
    """`x` and `y` are shares of the picture, from 0 to 1."""

    kind: MouseKind
    x: float
    y: float
    button: MouseButton = "none"
    clicks: int = 0
    modifiers: int = 0
    wheel_x: float = 0.0
    wheel_y: float = 0.0


@dataclass(frozen=True, slots=True)
class KeyEvent:
    kind: KeyKind
    key: str
    code: str
    text: str = ""
    modifiers: int = 0
    key_code: int = 0


TeachEvent = MouseEvent | KeyEvent


def read_events(told: Any) -> list[TeachEvent]:
    if not isinstance(told, list) or len(told) > MOST_EVENTS:
        raise BadRequest("That is not a list of what mouse and keys did.")
    return [_event(each) for each in told]


def _event(told: Any) -> TeachEvent:
    if isinstance(told, dict) and told.get("do") in _MOUSE:
        return MouseEvent(
            _MOUSE[told["do"]],
            _number(told, "x", 0, 1),
            _number(told, "y", 0, 1),
            _BUTTONS[int(_number(told, "button", 0, 2))] if told["do"] in ("press", "release") else "none",
            int(_number(told, "clicks", 0, 3)),
            int(_number(told, "modifiers", 0, 15)),
            _number(told, "wheelX", -MOST_WHEEL, MOST_WHEEL),
            _number(told, "wheelY", -MOST_WHEEL, MOST_WHEEL),
        )
    if isinstance(told, dict) and told.get("do") in _KEYS:
        return KeyEvent(
            _KEYS[told["do"]],
            _text(told, "key"),
            _text(told, "code"),
            _text(told, "text"),
            int(_number(told, "modifiers", 0, 15)),
            int(_number(told, "keyCode", 0, 255)),
        )
    raise BadRequest("That is nothing that mouse or keys can do.")


def _number(told: Mapping[str, Any], name: str, least: float, most: float) -> float:
    value = told.get(name, 0)
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise BadRequest(f"{name} is not a number.")
    return min(max(float(value), least), most)


def _text(told: Mapping[str, Any], name: str) -> str:
    value = told.get(name, "")
    if not isinstance(value, str) or len(value) > MOST_NAME:
        raise BadRequest(f"{name} is not a short text.")
    return value

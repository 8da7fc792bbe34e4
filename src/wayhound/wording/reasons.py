"""What speaks for a page or a link, in words for people: `“people” in the link` for `says people`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

_PLACES = {
    "title": "in its title",
    "heading": "in a heading",
    "body": "in its text",
    "url": "in its address",
    "says": "in the link",
    "near": "beside the link",
    "to": "in the link's address",
    "to last": "at the end of the link's address",
    "on title": "in the title of the page around it",
    "on heading": "in a heading of the page around it",
    "on url": "in the address of the page around it",
}
_SHARES = ("no", "some", "many", "only")


def reason_words(name: str) -> str:
    """What a feature of a model says; names that are words already stay as they are."""
    place, _, word = name.rpartition(" ")
    if place in _PLACES:
        return f"“{word}” {_PLACES[place]}"
    kind, _, value = name.partition(" ")
    told = _OTHERS[kind](value) if kind in _OTHERS else ""
    return told or name


def _number(told: Callable[[int], str]) -> Callable[[str], str]:
    """For values that are numbers; what is none is left as it is."""
    return lambda value: told(int(value)) if value.isdigit() else ""


def _clicks(number: int) -> str:
    return "the start page" if number == 0 else f"{number}{' or more' if number >= 4 else ''} from the start"


def _about(number: int) -> str:
    """Sizes are told in powers of two: 4 stands for 16 to 31."""
    return str(1 << number) if number < 2 else f"about {1 << number}"


def _length(words: int) -> str:
    return (
        "one word in the link"
        if words == 1
        else f"{words}{' or more' if words >= 6 else ''} words in the link"
    )


def _way(value: str) -> str:
    """Folders between the address of a page and that of a link on it."""
    match value.split():
        case ["up", up] if up.isdigit():
            return f"its address lies {_folders(up)} up"
        case ["down", down] if down.isdigit():
            return f"its address lies {_folders(down)} down"
        case [up, down] if up.isdigit() and down.isdigit():
            return f"its address lies {_folders(up)} up and {down} down"
    return ""


def _folders(number: str) -> str:
    return f"{number} folder{'' if number == '1' else 's'}"


_OTHERS: Mapping[str, Callable[[str], str]] = {
    "depth": _number(lambda number: f"clicks: {_clicks(number)}"),
    "alike": _number(lambda number: f"{_about(number)} links stand like it"),
    "homes": _number(lambda number: f"{_SHARES[min(number, 3)]} personal pages beside it"),
    "links": _number(lambda number: f"the page around it has {_about(number)} links"),
    "length": _number(_length),
    "looks": lambda shape: f"a link that looks like “{shape}”" if shape else "a link without words",
    "stands": lambda place: f"its place, {place}",
    "kind": lambda kind: f"a link of the kind {kind}",
    "is": lambda kind: "it is a document" if kind == "document" else f"it is a file of the type {kind}",
    "way": _way,
}

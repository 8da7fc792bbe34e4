"""The fields of BibTeX files, as a source of words whose field is known (distant labels, section 4.2.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_ENTRY = re.compile(r"@(\w+)\s*[{(]\s*([^\s,{}]*)\s*,")
_FIELD = re.compile(r"\s*([A-Za-z][\w-]*)\s*=\s*")
_ACCENT = re.compile(r"\\(?:[\"'`^~=.]\s*\{?|[Hcdbkruv](?:\s*\{|\s+))\\?([A-Za-z])\}?")
_BRACKETS = re.compile(r'[{}"]')
_COMMAND = re.compile(r"\\[A-Za-z]+\s*|\\(.)")


@dataclass(frozen=True, slots=True)
class BibEntry:
    """One entry: its kind (`article`, …), key, and fields in lower case as plain text."""

    kind: str
    key: str
    fields: dict[str, str] = field(default_factory=dict)


def read_bibtex(text: str) -> Iterator[BibEntry]:
    """The entries of a file. What is no entry is passed over, and a broken one ends where the next begins."""
    found = list(_ENTRY.finditer(text))
    ends = [entry.start() for entry in found[1:]] + [len(text)]
    for entry, end in zip(found, ends, strict=True):
        if entry[1].lower() not in ("string", "preamble", "comment"):
            yield BibEntry(entry[1].lower(), entry[2], dict(_fields(text, entry.end(), end)))


def _fields(text: str, at: int, end: int) -> Iterator[tuple[str, str]]:
    while (name := _FIELD.match(text, at, end)) is not None:
        value, at = _value(text, name.end(), end)
        yield name[1].lower(), plain(value)
        at = _skip_comma(text, at, end)


def _value(text: str, at: int, end: int) -> tuple[str, int]:
    """A value in braces or quotes, or a bare word; and where it ends."""
    if at < end and text[at] in '{"':
        close = _closing(text, at, end)
        return text[at + 1 : close], min(close + 1, end)
    stop = at
    while stop < end and text[stop] not in ",}\n":
        stop += 1
    return text[at:stop].strip(), stop


def _closing(text: str, at: int, end: int) -> int:
    """Where the value that opens with a brace or quote at `at` is closed; `end` if it is not."""
    depth, quoted = 0, text[at] == '"'
    for sign in _BRACKETS.finditer(text, at + quoted, end):
        depth += {"{": 1, "}": -1}.get(sign[0], 0)
        if depth == 0 and quoted == (sign[0] == '"'):
            return sign.start()
    return end


def _skip_comma(text: str, at: int, end: int) -> int:
    while at < end and text[at] in " \t\r\n,":
        at += 1
    return at


def plain(value: str) -> str:
    """A value without braces and commands, accented letters bare, spaces single."""
    value = _ACCENT.sub(r"\1", value)
    value = _COMMAND.sub(lambda command: command[1] or " ", value)
    return " ".join(re.sub(r"[{}]", "", value).replace("~", " ").split())
